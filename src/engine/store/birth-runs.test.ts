import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { BirthRuns } from './birth-runs.ts';

test('births are those of a list, whatever the lengths of the runs and the order of look-ups', () => {
  for (const longest of [1, 3, 400]) {
    const prng = new Prng(longest);
    const runs = new BirthRuns();
    const births: number[] = [];
    const wrong: string[] = [];
    for (let generation = 1; births.length < 12_000; generation += prng.below(3)) {
      for (let rows = prng.below(longest) + 1; rows > 0; rows--) {
        runs.add(births.length, generation);
        births.push(generation);
      }
      const row = prng.below(births.length);
      if (runs.of(row) !== births[row]) wrong.push(`row ${row}`);
      const asked = prng.below(generation + 2);
      const rows = births.findLastIndex((birth) => birth <= asked) + 1;
      for (let again = 0; again < 2; again++)
        if (runs.rowsThrough(asked, births.length) !== rows) wrong.push(`generation ${asked}`);
    }
    expect(wrong).toEqual([]);
    expect(births.every((birth, row) => runs.of(row) === birth)).toBe(true);
  }
});

test('the rows of one write take no memory of their own', () => {
  const runs = new BirthRuns();
  const { bytes } = runs;
  for (let row = 0; row < 100_000; row++) runs.add(row, 7);
  expect(runs.bytes).toBe(bytes);
  expect(runs.of(99_999)).toBe(7);
  expect(runs.rowsThrough(6, 100_000)).toBe(0);
});
