import { expect, test } from 'vitest';
import { recallInputSchema } from '../contract/memory.ts';
import { openSession } from '../testing/engine-fixtures.ts';

/** The entries of memory and windows. */

test('an entry has the id by which its whole fact can be read, and none if it is derived', async () => {
  const { engine, caller, tell, teach } = await openSession();
  await tell('parent(ada, bob)');
  await tell('parent(ada, bob)', { scope: 'draft' });
  await teach('child(?x, ?y) :- parent(?y, ?x)');
  const input = recallInputSchema.parse({ includeInferred: true });
  const { facts } = await engine.recall(caller, input);
  const ids = facts.map(({ id }) => id);
  expect(facts.map(({ predicate, scope }) => `${predicate} ${scope ?? '-'}`).sort()).toEqual([
    'child -',
    'parent -',
    'parent draft',
  ]);
  expect(ids.filter((id) => id === null)).toHaveLength(1);
  for (const { id, predicate, args, scope } of facts)
    if (id !== null) expect(await engine.fact(caller, id)).toMatchObject({ id, predicate, args, scope });
});
