import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import { clampedRanges } from './row-choice.ts';

const range = (first: number, last: number) => ({ first, last });

test('keeps ranges within the limit unchanged', () => {
  const ranges = [range(3, 6), range(8, 10)];
  expect(clampedRanges([], ranges, 5)).toBe(ranges);
});

test('cuts a longer range at the end that moved', () => {
  expect(clampedRanges([], [range(3, 20)], 5)).toEqual([range(3, 8)]);
  expect(clampedRanges([range(18, 20)], [range(3, 20)], 5)).toEqual([range(15, 20)]);
});

test('leaves the selection unchanged for several ranges beyond the limit', () => {
  const before = [range(3, 6), range(8, 10)];
  expect(clampedRanges(before, [range(3, 6), range(8, 20)], 5)).toBe(before);
});
