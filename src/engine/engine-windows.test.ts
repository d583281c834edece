import { expect, test } from 'vitest';
import { optimizeInputSchema, type ContextWindow } from './contract/context.ts';
import { renderAtom } from './logic/print.ts';
import { type Fields, openSession, type Session } from './testing/engine-fixtures.ts';

function windowOf(session: Session, fields: Fields = {}): Promise<ContextWindow> {
  return session.engine.optimizeContext(session.caller, optimizeInputSchema.parse(fields));
}

function atomsOf({ entries }: ContextWindow): string[] {
  return entries.map(renderAtom);
}

test('smoke', async () => {
  const session = await openSession();
  await session.tellAll([
    'parent(alice, bob)',
    'parent(bob, carol)',
    'parent(dan, eve)',
    'likes(bob, tea)',
    'likes(zed, tea)',
  ]);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?z)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)');
  const window = await windowOf(session, {
    goals: [{ predicate: 'ancestor', args: ['alice', '?who'] }],
    explainOmitted: true,
    maxFacts: 4,
  });
  console.log(JSON.stringify(window, null, 1));
  console.log(atomsOf(await windowOf(session, { includeInferred: true })));
  expect(1).toBe(1);
});
