import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { ChainIndex } from './chain-index.ts';
import { Dictionary } from './dictionary.ts';
import { TupleBatch, Tuples } from './tuples.ts';

/** Structures that are rebuilt in steps, held against a Map at every moment of a rebuilding. */

const count = 400_000;

test.each([1, 2, 3])('a set of tuples finds what a Map finds (seed %i)', (seed) => {
  const prng = new Prng(seed);
  const tuples = new Tuples(2, seed === 3);
  const rows = new Map<number, number>();
  const batch = new TupleBatch();
  const wrong: string[] = [];
  const pair = new Int32Array(2);
  const find = (key: number): number => {
    pair[0] = key >> 10;
    pair[1] = key & 1023;
    return tuples.find(pair);
  };
  for (let round = 0; rows.size < count; round++) {
    const key = prng.below(count * 2);
    const known = rows.get(key);
    if (prng.chance(0.2) && find(key) !== (known ?? -1)) wrong.push(`find ${key} in round ${round}`);
    if (seed === 2) {
      if (!batch.take(Int32Array.of(key >> 10, key & 1023), Int32Array.of(0, 1))) continue;
      batch.insertInto(tuples, 2);
      for (let at = 0; at < batch.count; at++) {
        const of = ((batch.values[2 * at] as number) << 10) | (batch.values[2 * at + 1] as number);
        if (batch.rows[at] !== (rows.has(of) ? -1 : rows.size)) wrong.push(`insert ${of} in a batch`);
        if (!rows.has(of)) rows.set(of, rows.size);
      }
      batch.count = 0;
      continue;
    }
    const row = tuples.insert(Int32Array.of(key >> 10, key & 1023), round);
    if (row !== (known === undefined ? rows.size : -1)) wrong.push(`insert ${key} in round ${round}`);
    if (known === undefined) rows.set(key, rows.size);
  }
  for (const [key, row] of rows) if (find(key) !== row) wrong.push(`find ${key}`);
  expect(wrong.slice(0, 10)).toEqual([]);
});

test('a set keeps the heights that were lowered while its columns were copied', () => {
  const prng = new Prng(9);
  const tuples = new Tuples(1, true);
  const heights: number[] = [];
  for (let row = 0; row < count; row++) {
    heights.push(1000);
    tuples.insert(Int32Array.of(row), 1000);
    const lowered = prng.below(row + 1);
    const height = prng.below(1000);
    tuples.insert(Int32Array.of(lowered), height);
    heights[lowered] = Math.min(heights[lowered] as number, height);
  }
  expect(Array.from(tuples.heights?.of.subarray(0, count) ?? [])).toEqual(heights);
});

test.each([
  ['one position, dense ids', 1, 300_000],
  ['one position, sparse ids', 1, 2 ** 29],
  ['two positions', 2, 300_000],
])('an index has the chains that a Map has: %s', (_, width, values) => {
  const prng = new Prng(width + values);
  const columns = [new Int32Array(count), new Int32Array(count)];
  const positions = width === 1 ? [0] : [0, 1];
  const index = new ChainIndex(columns, positions, 16);
  const newest = new Map<string, number>();
  const wrong: string[] = [];
  const keyOf = (row: number): Int32Array => Int32Array.from(positions, (at) => columns[at]?.[row] as number);
  for (let row = 0; row < count; row++) {
    (columns[0] as Int32Array)[row] = prng.chance(0.3) && row > 0 ? prng.below(row) : prng.below(values);
    (columns[1] as Int32Array)[row] = prng.below(2);
    const key = keyOf(row);
    const before = newest.get(key.join()) ?? 0;
    if (prng.chance(0.2) && index.first(key) !== before) wrong.push(`find ${key.join()} at row ${row}`);
    index.add(row);
    if (index.next[row] !== before) wrong.push(`next of row ${row}`);
    newest.set(key.join(), row + 1);
  }
  for (const [key, row] of newest)
    if (index.first(Int32Array.from(key.split(','), Number)) !== row) wrong.push(`find ${key}`);
  expect(index.keys).toBe(newest.size);
  expect(wrong.slice(0, 10)).toEqual([]);
});

test('an index over two columns built of many rows is the one built row by row', () => {
  const prng = new Prng(17);
  const rows = 60_000;
  const columns = [0, 1].map(() => Int32Array.from({ length: rows }, () => prng.below(300)));
  const one = new ChainIndex(columns, [0, 1], 16);
  const other = new ChainIndex(columns, [0, 1], 16);
  for (let row = 0; row < rows; row++) one.add(row);
  while (other.rows < rows) {
    const end = Math.min(rows, other.rows + 1 + prng.below(prng.chance(0.5) ? 100 : 9000));
    const most = 1 + prng.below(3000);
    while (!other.takeIn(end, most)) expect(other.rows).toBeLessThan(end);
  }
  expect(other.keys).toBe(one.keys);
  const bytesOf = ({ next }: ChainIndex): Buffer => Buffer.from(next.buffer, 0, rows * 4);
  expect(bytesOf(other).equals(bytesOf(one))).toBe(true);
  const keys = Array.from({ length: 2000 }, () => Int32Array.of(prng.below(310), prng.below(310)));
  expect(keys.map((key) => other.first(key))).toEqual(keys.map((key) => one.first(key)));
});

test('a dictionary has the ids that a Map has, with texts of all lengths', () => {
  const prng = new Prng(5);
  const dictionary = new Dictionary();
  const ids = new Map<string, number>();
  const wrong: string[] = [];
  while (ids.size < 200_000) {
    const number = prng.below(400_000);
    const text = `${number}${prng.chance(0.001) ? 'é'.repeat(prng.below(20_000)) : ''}`;
    const known = ids.get(text);
    if (prng.chance(0.2) && dictionary.find(text) !== (known ?? -1)) wrong.push(`find ${number}`);
    if (dictionary.intern(text) !== (known ?? ids.size)) wrong.push(`intern ${number}`);
    if (known === undefined) ids.set(text, ids.size);
  }
  for (const [text, id] of ids)
    if (dictionary.find(text) !== id || dictionary.text(id) !== text) wrong.push(text.slice(0, 20));
  expect(wrong.slice(0, 10)).toEqual([]);
});
