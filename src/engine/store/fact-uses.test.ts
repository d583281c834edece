import { expect, test } from 'vitest';
import { FactStore } from './fact-store.ts';
import { FactUses } from './fact-uses.ts';

const fact = { predicate: 'p', args: ['a'], truthVal: true, scope: null };

test('its assertion is the first use of a fact', () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const stored = store.store(fact, 1, 1000);
  expect(uses.of(stored, 1000)).toEqual({ count: 1, first: 1000, latest: [1000] });
});

test('uses outlive an update, since it is the same fact', () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const stored = store.store(fact, 1, 1000);
  uses.note(stored, 1000, 2000);
  const updated = store.store({ ...fact, metadata: { source: 'test' } }, 2, 3000);
  expect(updated.status).toBe('updated');
  expect(uses.of(updated, 1000)).toEqual({ count: 2, first: 1000, latest: [1000, 2000] });
});

test('a fact retracted and asserted again begins anew', () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const stored = store.store(fact, 1, 1000);
  uses.note(stored, 1000, 2000);
  store.retract(stored, 2);
  uses.drop(stored);
  const again = store.store(fact, 3, 5000);
  expect(uses.of(again, 5000)).toEqual({ count: 1, first: 5000, latest: [5000] });
});
