import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { StoredRelation } from '../../store/stored-relation.ts';
import { Selectivity } from './selectivity.ts';

test.each([
  ['a key each', 20_000, 20_000],
  ['one value', 5000, 1],
  ['few values', 5000, 40],
  ['hundreds of values', 50_000, 700],
  ['thousands of values', 50_000, 9000],
  ['fewer rows than are sampled', 300, 60],
])('how often a value comes is estimated within a third (%s)', (_, rows, values) => {
  const prng = new Prng(5);
  const relation = new StoredRelation('p', 2, false);
  for (let row = 0; row < rows; row++)
    relation.append(
      Int32Array.of(row, rows === values ? row : prng.below(values), 0),
      1,
      row,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      null,
    );
  const ratio = new Selectivity().of(relation, 1) / (rows / values);
  expect(ratio).toBeGreaterThan(2 / 3);
  expect(ratio).toBeLessThan(3 / 2);
});

test('an empty relation has no rows for a value', () => {
  expect(new Selectivity().of(new StoredRelation('p', 1, false), 0)).toBe(0);
});
