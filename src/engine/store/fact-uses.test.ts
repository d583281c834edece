import { expect, test } from 'vitest';
import { present } from '../base/assert.ts';
import { type FactRow, FactStore } from './fact-store.ts';
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
  uses.drop([stored.relation.number[stored.row] as number]);
  const again = store.store(fact, 3, 5000);
  expect(uses.of(again, 5000)).toEqual({ count: 1, first: 5000, latest: [5000] });
});

test('forgets the uses of the facts of a large write in steps, after whoever read their moment', () => {
  const store = new FactStore(0);
  const uses = new FactUses(store);
  const facts = Array.from({ length: 10_000 }, (_, at) =>
    store.store({ ...fact, args: [`a${at}`] }, 1, 1000),
  );
  for (const each of facts) uses.note(each, 1000, 2000);
  const numbers = facts.map(({ relation, row }) => relation.number[row] as number);
  uses.pin();
  uses.drop(numbers.slice(1));
  expect(uses.count).toBe(facts.length);
  expect(uses.isDropping).toBe(false);
  expect(uses.pinnedOf(numbers[1] as number)).toEqual({ count: 2, first: 1000, latest: [1000, 2000] });
  uses.unpin();
  const left = [uses.count];
  for (; uses.isDropping; left.push(uses.count)) uses.dropMore();
  expect(left.length).toBeGreaterThan(3);
  expect(left.at(-1)).toBe(1);
});

test('does not restore the uses of facts that had left', () => {
  const store = new FactStore(0);
  const stored = (name: string): FactRow => store.store({ ...fact, args: [name] }, 1, 1000);
  const [alive, gone, past] = [stored('a'), stored('b'), stored('c')];
  const uses = new FactUses(store);
  const numberOf = ({ relation, row }: FactRow): number => relation.number[row] as number;
  store.retract(gone, 2);
  store.leavePresent([numberOf(past)]);
  for (const each of [alive, gone, past])
    uses.restore(numberOf(each), { count: 2, first: 1000, latest: [1000, 2000] });
  expect([...uses.numbers()]).toEqual([numberOf(alive)]);
});

test('uses that are noted later count for whoever reads them, as if they had been noted at once', () => {
  const prng = new Prng(11);
  const store = new FactStore(0);
  const facts = Array.from({ length: 40 }, (_, at) =>
    store.store({ ...fact, args: [`a${at}`] }, 1, 1000 + at),
  );
  const times = { assertedAtOf: (_: FactStore, number: number): number => 1000 + number };
  const [later, atOnce] = [new FactUses(store), new FactUses(store)];
  const noted = (number: number): Uses | null =>
    atOnce.isNoted(number) ? atOnce.of(present(facts[number], 'it is one of them'), 0) : null;
  let pinned: (Uses | null)[] | null = null;
  for (let step = 0, time = 2000; step < 6000; step++, time += prng.below(3)) {
    const number = prng.below(facts.length);
    const used = present(facts[number], 'it is one of them');
    const kind = prng.below(80);
    if (kind < 3) for (const uses of [later, atOnce]) uses.drop([used.relation.number[used.row] as number]);
    else if (kind === 3) for (const uses of [later, atOnce]) uses.turnBack(time - 20);
    else if (kind === 4) for (const uses of [later, atOnce]) uses.note(used, 1000 + number, time);
    else if (kind === 5) expect(later.isNoted(number)).toBe(atOnce.isNoted(number));
    else if (kind === 6) expect(later.of(used, 1000 + number)).toEqual(atOnce.of(used, 1000 + number));
    else if (kind === 7) expect(later.count).toBe(atOnce.count);
    else if (kind === 8 && pinned === null) {
      for (const uses of [later, atOnce]) uses.pin();
      pinned = facts.map((_, each) => noted(each));
    } else if (kind === 9 && pinned !== null) {
      for (const uses of [later, atOnce]) expect(facts.map((_, each) => uses.pinnedOf(each))).toEqual(pinned);
      for (const uses of [later, atOnce]) uses.unpin();
      pinned = null;
    } else {
      later.noteLater(used, times, time);
      atOnce.note(used, 1000 + number, time);
    }
    expect(later.version).toBe(atOnce.version);
  }
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
