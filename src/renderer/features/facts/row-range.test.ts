import { expect, test } from 'vitest';
import { clampedRanges } from './row-range.ts';

const range = (first: number, last: number) => ({ first, last });

test('ranges within the limit are taken as they are', () => {
  const ranges = [range(3, 6), range(8, 10)];
  expect(clampedRanges([], ranges, 5)).toBe(ranges);
});

test('of more rows those next to where the range began are taken', () => {
  expect(clampedRanges([], [range(3, 20)], 5)).toEqual([range(3, 8)]);
  expect(clampedRanges([range(18, 20)], [range(3, 20)], 5)).toEqual([range(15, 20)]);
});

test('what has gaps and is too much stays as it was', () => {
  const before = [range(3, 6), range(8, 10)];
  expect(clampedRanges(before, [range(3, 6), range(8, 20)], 5)).toBe(before);
});
