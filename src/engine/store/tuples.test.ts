import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { TupleBatch, Tuples } from './tuples.ts';

test('stores a tuple once, in its first row', () => {
  const tuples = new Tuples(2);
  expect(tuples.insert(Int32Array.of(1, 2))).toBe(0);
  expect(tuples.insert(Int32Array.of(2, 1))).toBe(1);
  expect(tuples.insert(Int32Array.of(1, 2))).toBe(-1);
  expect(tuples.count).toBe(2);
  expect(tuples.find(Int32Array.of(2, 1))).toBe(1);
  expect(tuples.find(Int32Array.of(2, 2))).toBe(-1);
});

test('stores the empty tuple at most once', () => {
  const tuples = new Tuples(0);
  expect(tuples.find(new Int32Array(0))).toBe(-1);
  expect(tuples.insert(new Int32Array(0))).toBe(0);
  expect(tuples.insert(new Int32Array(0))).toBe(-1);
  expect(tuples.find(new Int32Array(0))).toBe(0);
});

test('finds many tuples of every arity, and no others', () => {
  const prng = new Prng(2);
  for (const arity of [1, 2, 3, 5]) {
    const tuples = new Tuples(arity);
    const rows = new Map<string, number>();
    const wrong: string[] = [];
    for (let round = 0; round < 30_000; round++) {
      const tuple = Int32Array.from({ length: arity }, () => prng.below(arity === 1 ? 20_000 : 60));
      const key = tuple.join(',');
      const row = rows.get(key);
      if (tuples.insert(tuple) !== (row === undefined ? rows.size : -1)) wrong.push(key);
      if (row === undefined) rows.set(key, rows.size);
    }
    expect(tuples.count).toBe(rows.size);
    for (const [key, row] of rows)
      if (tuples.find(Int32Array.from(key.split(','), Number)) !== row) wrong.push(key);
    expect(wrong).toEqual([]);
    expect(tuples.find(new Int32Array(arity).fill(-7))).toBe(-1);
  }
});

test('lowers a known tuple to a lesser height and reports it, and ignores an equal or greater one', () => {
  const tuples = new Tuples(1, true);
  tuples.insert(Int32Array.of(4), 3);
  expect(tuples.insert(Int32Array.of(4), 3)).toBe(-1);
  expect(tuples.improved).toBe(-1);
  tuples.insert(Int32Array.of(4), 5);
  expect(tuples.improved).toBe(-1);
  tuples.insert(Int32Array.of(4), 2);
  expect(tuples.improved).toBe(0);
  expect(tuples.heights?.of[0]).toBe(2);
  tuples.insert(Int32Array.of(5), 9);
  expect(tuples.improved).toBe(-1);
});

test('a small set that is used again has only the rows inserted since, and their heights; a large one is replaced', () => {
  const tuples = new Tuples(2, true);
  for (const count of [3, 100, 5]) {
    for (let row = 0; row < count; row++) tuples.insert(Int32Array.of(row, count), row);
    expect(tuples.count).toBe(count);
    expect(tuples.insert(Int32Array.of(2, count), 1)).toBe(-1);
    expect(tuples.heights?.of[2]).toBe(1);
    expect(tuples.reused()).toBe(tuples);
    expect(tuples.count).toBe(0);
    expect(tuples.find(Int32Array.of(2, count))).toBe(-1);
  }
  for (let row = 0; row < 5000; row++) tuples.insert(Int32Array.of(row, row), row);
  const replaced = tuples.reused();
  expect(replaced).not.toBe(tuples);
  expect(replaced.insert(Int32Array.of(7, 7), 2)).toBe(0);
  const indexed = new Tuples(1);
  indexed.index([0]);
  expect(indexed.reused()).not.toBe(indexed);
});

test('includes earlier and later rows in an index that is built late', () => {
  const tuples = new Tuples(2);
  for (let row = 0; row < 100; row++) tuples.insert(Int32Array.of(row % 10, row));
  const index = tuples.index([0]);
  for (let row = 100; row < 200; row++) tuples.insert(Int32Array.of(row % 10, row));
  const found: number[] = [];
  for (let next = index.firstOf(3); next !== 0; next = index.next[next - 1] as number) found.push(next - 1);
  expect(found).toEqual(Array.from({ length: 20 }, (_, at) => 193 - 10 * at));
  expect(tuples.index([0])).toBe(index);
});

test('keeps heights while it grows', () => {
  const tuples = new Tuples(1, true);
  for (let value = 0; value < 1000; value++) tuples.insert(Int32Array.of(value), value % 13);
  expect(Array.from({ length: 1000 }, (_, row) => tuples.heights?.of[row])).toEqual(
    Array.from({ length: 1000 }, (_, row) => row % 13),
  );
});

test('gives tuples inserted together the rows they get one by one', () => {
  const prng = new Prng(7);
  for (const arity of [0, 1, 2, 3]) {
    const [together, oneByOne] = [new Tuples(arity), new Tuples(arity)];
    const index = arity === 0 ? null : together.index([arity - 1]);
    const batch = new TupleBatch();
    // One value follows every tuple and is not inserted.
    const from = Int32Array.from({ length: arity + 1 }, (_, at) => at);
    const wrong: string[] = [];
    for (let round = 0; round < 30; round++) {
      const expected: number[] = [];
      for (let isFull = false; !isFull && !prng.chance(0.002); ) {
        const values = Int32Array.from({ length: arity + 1 }, () => prng.below(arity === 1 ? 9000 : 90));
        expected.push(oneByOne.insert(values.subarray(0, arity)));
        isFull = batch.take(values, from);
      }
      const fresh = batch.insertInto(together, arity + 1);
      if (fresh !== expected.filter((row) => row >= 0).length) wrong.push(`${arity}: ${fresh}`);
      if (batch.rows.subarray(0, batch.count).join() !== expected.join()) wrong.push(`round ${round}`);
      batch.count = 0;
    }
    expect(wrong).toEqual([]);
    expect(together.columns.map((column) => column.subarray(0, together.count))).toEqual(
      oneByOne.columns.map((column) => column.subarray(0, oneByOne.count)),
    );
    const last = (together.columns[arity - 1] ?? [])[together.count - 1];
    if (index !== null) expect(index.firstOf(last as number)).toBe(together.count);
  }
});

test('tuples appended without a look-up are found later, and in indexes, whatever is inserted between', () => {
  const prng = new Prng(41);
  for (const most of [3, 400, 70_000]) {
    const tuples = new Tuples(2);
    let next = 0;
    const wrong: string[] = [];
    const holds = (id: number): boolean => tuples.find(Int32Array.of(id, id >> 3)) === id;
    for (let round = 0; round < 12; round++) {
      const ids = Int32Array.from({ length: 1 + prng.below(most) }, () => next++);
      tuples.appendDistinct([ids, ids.map((id) => id >> 3)], 0, ids.length);
      if (prng.chance(0.3) && !holds(prng.below(next))) wrong.push(`${round}`);
      if (prng.chance(0.5) && tuples.insert(Int32Array.of(next, next >> 3)) !== next++)
        wrong.push(`${round}`);
      if (prng.chance(0.5) && tuples.insert(Int32Array.of(0, 0)) >= 0) wrong.push(`again ${round}`);
      if (round === 6) tuples.index([1]);
    }
    for (let id = 0; id < next; id++) if (!holds(id)) wrong.push(`${id}`);
    expect(wrong).toEqual([]);
    expect(tuples.count).toBe(next);
    const index = tuples.index([1]);
    const group: number[] = [];
    for (let row = index.first(Int32Array.of(1)); row !== 0; row = index.next[row - 1] as number)
      group.push(row - 1);
    expect(group).toEqual(
      Array.from({ length: Math.min(8, next - 8) }, (_, at) => Math.min(15, next - 1) - at),
    );
  }
});
