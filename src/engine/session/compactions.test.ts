import { expect, test } from 'vitest';
import { Scheduler } from '../base/scheduler.ts';
import { DatabaseState } from '../state/state.ts';
import { Compactions } from './compactions.ts';

test('forgets the uses of the facts of a large write after its turn', async () => {
  const scheduler = new Scheduler({ poll: () => Promise.resolve() });
  const database = new DatabaseState('main', 0);
  const tenant = database.tenantOrNew('tenant', 0);
  const facts = Array.from({ length: 20_000 }, (_, at) =>
    tenant.facts.store({ predicate: 'p', args: [String(at)], truthVal: true, scope: null }, 1, 0),
  );
  for (const fact of facts) tenant.uses.note(fact, 0, 1);
  const bugs: unknown[] = [];
  const compactions = new Compactions({
    scheduler,
    droppableThrough: () => 0,
    onBug: (error) => bugs.push(error),
  });
  tenant.uses.drop(facts.map(({ relation, row }) => relation.number[row] as number));
  compactions.goOn(database, 'tenant', tenant);
  expect(tenant.uses.count).toBe(facts.length);
  await expect.poll(() => tenant.uses.isDropping).toBe(false);
  await compactions.close();
  expect(tenant.uses.count).toBe(0);
  expect(bugs).toEqual([]);
});
