import { expect, test } from 'vitest';
import { FactStore } from './fact-store.ts';
import { Prng } from '../testing/prng.ts';
import { FactUses, UseColumns } from './fact-uses.ts';
import { used, type Uses } from './salience.ts';

const fact = { predicate: 'p', args: ['a'], truthVal: true, scope: null };

test("counts the assertion as a fact's first use", () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const stored = store.store(fact, 1, 1000);
  expect(uses.of(stored, 1000)).toEqual({ count: 1, first: 1000, latest: [1000] });
});

test('keeps uses over an update, since it is the same fact', () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const stored = store.store(fact, 1, 1000);
  uses.note(stored, 1000, 2000);
  const updated = store.store({ ...fact, metadata: { source: 'test' } }, 2, 3000);
  expect(updated.status).toBe('updated');
  expect(uses.of(updated, 1000)).toEqual({ count: 2, first: 1000, latest: [1000, 2000] });
});

test('starts again for a fact retracted and asserted again', () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const stored = store.store(fact, 1, 1000);
  uses.note(stored, 1000, 2000);
  store.retract(stored, 2);
  uses.drop(stored);
  const again = store.store(fact, 3, 5000);
  expect(uses.of(again, 5000)).toEqual({ count: 1, first: 5000, latest: [5000] });
});

test('counts uses in columns like in objects, whatever is recorded, restored and dropped', () => {
  const prng = new Prng(7);
  const columns = new UseColumns();
  const objects = new Map<number, Uses>();
  for (let step = 0; step < 4000; step++) {
    const number = prng.below(60) * 97;
    const time = prng.below(1000);
    const kind = prng.below(20);
    if (kind === 0) expect(columns.delete(number)).toBe(objects.delete(number));
    else if (kind === 1) {
      const uses = { count: 3, first: time, latest: [time, time + 1, time + 5] };
      columns.set(number, uses);
      objects.set(number, uses);
    } else {
      const before = objects.get(number) ?? { count: 1, first: time, latest: [time] };
      const at = prng.below(1000);
      columns.note(number, time, at);
      objects.set(number, used(before, at));
    }
    expect(columns.get(number)).toEqual(objects.get(number) ?? null);
  }
  expect(columns.count).toBe(objects.size);
});
