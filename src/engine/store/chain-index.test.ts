import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { ChainIndex, Indexes, lastWithKey } from './chain-index.ts';

/** The rows of a chain, in its order. */
function chain(index: ChainIndex, first: number): number[] {
  const rows: number[] = [];
  for (let next = first; next !== 0; next = index.next[next - 1] as number) rows.push(next - 1);
  return rows;
}

test('chains the rows of a key, the newest first', () => {
  const columns = [Int32Array.of(7, 8, 7, 7, 8)];
  const index = new ChainIndex(columns, [0], 5);
  for (let row = 0; row < 5; row++) index.add(row);
  expect(chain(index, index.first(Int32Array.of(7)))).toEqual([3, 2, 0]);
  expect(chain(index, index.firstOf(8))).toEqual([4, 1]);
  expect(index.firstOf(9)).toBe(0);
  expect(index.keys).toBe(2);
});

test('matches a key of several columns only if all of them match', () => {
  const columns = [Int32Array.of(1, 1, 2, 1), Int32Array.of(9, 9, 9, 9), Int32Array.of(5, 6, 5, 5)];
  const index = new ChainIndex(columns, [0, 2], 4);
  for (let row = 0; row < 4; row++) index.add(row);
  expect(chain(index, index.first(Int32Array.of(1, 5)))).toEqual([3, 0]);
  expect(chain(index, index.first(Int32Array.of(5, 1)))).toEqual([]);
});

test('follows its owner to larger columns', () => {
  const columns = [Int32Array.of(1, 2)];
  const index = new ChainIndex(columns, [0], 2);
  index.add(0);
  index.add(1);
  const larger = new Int32Array(64);
  larger.set(columns[0] as Int32Array);
  larger.fill(1, 2);
  columns[0] = larger;
  for (let row = 2; row < 64; row++) index.add(row);
  expect(chain(index, index.firstOf(1))).toHaveLength(63);
  expect(chain(index, index.firstOf(2))).toEqual([1]);
});

test('finds many rows by every one of their keys', () => {
  const prng = new Prng(5);
  const count = 20_000;
  const columns = [0, 1].map(() => Int32Array.from({ length: count }, () => prng.below(100)));
  const index = new ChainIndex(columns, [0, 1], 16);
  const expected = new Map<string, number[]>();
  for (let row = 0; row < count; row++) {
    index.add(row);
    const key = `${columns[0]?.[row]},${columns[1]?.[row]}`;
    expected.set(key, [row, ...(expected.get(key) ?? [])]);
  }
  expect(index.keys).toBe(expected.size);
  const wrong = [...expected].filter(
    ([key, rows]) =>
      chain(index, index.first(Int32Array.from(key.split(','), Number))).join() !== rows.join(),
  );
  expect(wrong).toEqual([]);
});

test('finds a key of one column whether its ids lie close together, far apart, or both in turn', () => {
  const prng = new Prng(11);
  const ranges = [
    [0, 50],
    [0, 3000],
    [900_000, 900_400],
    [0x4000_0000, 0x4000_0100],
    [0, 6000],
  ] as const;
  for (const order of [ranges, ranges.toReversed(), ranges.slice(0, 2), ranges.slice(2, 4)]) {
    const column = Int32Array.from({ length: order.length * 4000 }, (_, row) => {
      const [from, to] = order[Math.floor(row / 4000)] as (typeof ranges)[number];
      return from + prng.below(to - from);
    });
    const index = new ChainIndex([column], [0], 16);
    const newest = new Map<number, number>();
    const wrong: number[] = [];
    for (const [row, id] of column.entries()) {
      index.add(row);
      if (index.next[row] !== (newest.get(id) ?? 0)) wrong.push(row);
      newest.set(id, row + 1);
      const other = column[prng.below(row + 1)] as number;
      if (index.firstOf(other) !== newest.get(other)) wrong.push(row);
    }
    for (const id of [1, 2999, 6001, 900_401, 0x4000_0101])
      if (index.firstOf(id) !== (newest.get(id) ?? 0)) wrong.push(id);
    expect(wrong).toEqual([]);
    expect(index.keys).toBe(newest.size);
  }
});

test('rows taken in together make the chains of rows added one by one', () => {
  const prng = new Prng(13);
  for (const greatest of [40, 3000, 30_000, 2_000_000]) {
    const column = Int32Array.from({ length: 9000 }, (_, row) =>
      row % 3000 === 0 ? 5000 : greatest < 50 ? prng.below(greatest) * 700 : prng.below(greatest),
    );
    const index = new ChainIndex([column], [0], prng.pick([9000, 16]));
    const expected = new ChainIndex([column], [0], 16);
    const wrong: number[] = [];
    while (index.rows < column.length) {
      if (prng.chance(0.3)) index.add(index.rows);
      else index.takeIn(prng.pick([index.rows + 1, column.length]), prng.pick([1, 255, 256, 700, 4000]));
      while (expected.rows < index.rows) expected.add(expected.rows);
      for (const id of [...column.subarray(0, 50), ...column.subarray(index.rows, index.rows + 50)])
        if (index.firstOf(id) !== expected.firstOf(id)) wrong.push(id);
    }
    expect(wrong).toEqual([]);
    expect(index.keys).toBe(expected.keys);
    expect(index.next.subarray(0, 9000)).toEqual(expected.next.subarray(0, 9000));
  }
});

test('the first few look-ups by some positions scan the rows, later ones use an index', () => {
  const columns = [Int32Array.of(1, 2, 1, 1), Int32Array.of(5, 5, 6, 5)];
  const indexes = new Indexes(columns);
  const looked = [...Array(6)].map(() => indexes.toUse([0, 1], 4));
  expect(looked.map((index) => index === null)).toEqual([true, true, true, true, false, false]);
  expect(indexes.toUse([0], 4)).toBeNull();
  indexes.over([1], 4, 4);
  expect(indexes.toUse([1], 4)?.rows).toBe(4);
});

test('a scan for a key finds its rows newest first, and none outside its bounds', () => {
  const columns = [Int32Array.of(1, 2, 1, 1, 1), Int32Array.of(5, 5, 6, 5, 5)];
  const key = Int32Array.of(1, 5, 0);
  const found: number[] = [];
  for (
    let at = lastWithKey(columns, [0, 1], key, 4, 0);
    at > 0;
    at = lastWithKey(columns, [0, 1], key, at - 1, 0)
  )
    found.push(at - 1);
  expect(found).toEqual([3, 0]);
  expect(lastWithKey(columns, [0, 1], key, 3, 1)).toBe(1);
});
