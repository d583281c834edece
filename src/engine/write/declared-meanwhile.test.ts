import { expect, test } from 'vitest';
import { declarationInputSchema } from '../contract/declarations.ts';
import { openSession, type Session } from '../testing/engine-fixtures.ts';

/** Facts that are told while their predicate is declared: the declaration that was written first counts. */

function declare({ engine, caller }: Session, fields: object): Promise<unknown> {
  return engine.declare(caller, { ...declarationInputSchema.parse(fields), name: 'lives_in', arity: 2 });
}

const named = [{ name: 'person' }, { name: 'city', type: { oneOf: ['oslo', 'bergen'] } }];

test.each([
  [
    'a key',
    { arguments: named, key: ['person'], onConflict: 'reject' },
    'lives_in(ida, bergen)',
    'KeyConflict',
  ],
  ['a type', { arguments: named, check: 'reject' }, 'lives_in(ola, mars)', 'ShapeViolation'],
])('%s that is declared while a fact waits refuses it', async (_what, declaration, fact, code) => {
  const session = await openSession();
  await session.tell('lives_in(ida, oslo)');
  const [declared, one, many] = await Promise.allSettled([
    declare(session, declaration),
    session.tell(fact),
    session.tellAll([fact]),
  ]);
  expect(declared.status).toBe('fulfilled');
  for (const told of [one, many]) expect(told).toMatchObject({ status: 'rejected', reason: { code } });
  expect(await session.results('lives_in(?x, ?y)')).toEqual(['lives_in(ida, oslo)']);
});
