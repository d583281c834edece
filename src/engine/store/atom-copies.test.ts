import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { AtomCopies } from './atom-copies.ts';

/** The rows of an atom in chain order. */
function rowsOf(copies: AtomCopies, atom: number): number[] {
  const rows: number[] = [];
  while (!copies.link(1));
  for (let next = (copies.oldest[atom] as number) + 1; next !== 0; next = copies.youngerThan(next - 1))
    rows.push(next - 1);
  return rows;
}

test('has every atom once, with its rows from the oldest to the youngest', () => {
  const copies = new AtomCopies([Int32Array.of(7, 8, 7, 7, 8), Int32Array.of(0, 0, 1, 2, 3)]);
  expect(copies.takeIn(5, 100)).toBe(true);
  expect([...(copies.atoms.columns[0] as Int32Array).subarray(0, copies.atoms.count)]).toEqual([7, 8]);
  expect([rowsOf(copies, 0), rowsOf(copies, 1)]).toEqual([
    [0, 2, 3],
    [1, 4],
  ]);
});

test('reads rows piece by piece, and none beyond the requested ones', () => {
  const copies = new AtomCopies([Int32Array.of(1, 1, 2, 1), Int32Array.of(0, 1, 0, 2)]);
  expect(copies.takeIn(3, 2)).toBe(false);
  expect(copies.atoms.count).toBe(1);
  expect(copies.takeIn(3, 2)).toBe(true);
  expect([copies.through, copies.atoms.count]).toEqual([3, 2]);
  expect(rowsOf(copies, 0)).toEqual([0, 1]);
  expect(copies.takeIn(2, 2)).toBe(true);
  expect(copies.takeIn(4, 2)).toBe(true);
  expect(rowsOf(copies, 0)).toEqual([0, 1, 3]);
});

test('treats facts without arguments as one atom', () => {
  const copies = new AtomCopies([Int32Array.of(0, 1, 2)]);
  expect(copies.takeIn(3, 100)).toBe(true);
  expect(copies.atoms.count).toBe(1);
  expect(rowsOf(copies, 0)).toEqual([0, 1, 2]);
});

test('chains and indexes many copies by atom while the columns grow', () => {
  const prng = new Prng(3);
  const values = Array.from({ length: 20_000 }, () => [prng.below(40), prng.below(40)] as const);
  const columns = [0, 1, 2].map(() => new Int32Array(0));
  const copies = new AtomCopies(columns);
  const expected = new Map<string, number[]>();
  for (let count = 0; count < values.length; ) {
    const to = Math.min(values.length, count + 1 + prng.below(3_000));
    for (const position of [0, 1])
      columns[position] = Int32Array.from(values.slice(0, to), (each) => each[position] as number);
    for (; count < to; count++) {
      const key = (values[count] as readonly number[]).join();
      expected.set(key, [...(expected.get(key) ?? []), count]);
    }
    while (!copies.takeIn(to, 700));
  }
  expect(copies.atoms.count).toBe(expected.size);
  const wrong = [...expected].filter(([key, rows]) => {
    const atom = copies.atoms.find(Int32Array.from(key.split(','), Number));
    return rowsOf(copies, atom).join() !== rows.join();
  });
  expect(wrong).toEqual([]);
});

test('takes forks in, whole or in part, in any order of their atoms', () => {
  const prng = new Prng(5);
  const source = Array.from({ length: 50 }, (_, at) => [at % 7, at] as const);
  const rows: (readonly [number, number])[] = [];
  for (let fork = 0; fork < 40; fork++) {
    const from = prng.below(50);
    rows.push(
      ...source.slice(from, from + prng.below(60)),
      source[prng.below(50)] as readonly [number, number],
    );
  }
  const columns = [0, 1, 2].map((position) => Int32Array.from(rows, (row) => row[position] ?? 0));
  const copies = new AtomCopies(columns);
  while (!copies.takeIn(rows.length, 1 + prng.below(90))) if (prng.below(20) === 0) copies.link(100);
  const expected = new Map<string, number[]>();
  for (const [at, row] of rows.entries()) expected.set(row.join(), [...(expected.get(row.join()) ?? []), at]);
  expect(copies.atoms.count).toBe(expected.size);
  for (const [key, found] of expected)
    expect(rowsOf(copies, copies.atoms.find(Int32Array.from(key.split(','), Number)))).toEqual(found);
});
