import { expect, test } from 'vitest';
import { formatBytes, formatShortCount } from './format.ts';

test('writes bytes in the largest unit with at least one', () => {
  expect([0, 1, 1023, 1024, 1_536, 1024 ** 2 - 1, 512 * 1024 ** 2, 3 * 1024 ** 4].map(formatBytes)).toEqual([
    '0 B',
    '1 B',
    '1,023 B',
    '1.00 KiB',
    '1.50 KiB',
    '1,024 KiB',
    '512 MiB',
    '3.00 TiB',
  ]);
});

test('writes counts of a million and more in three digits where room is short', () => {
  expect([0, 998_000, 1_000_300, 12_345_678].map(formatShortCount)).toEqual(['0', '998,000', '1M', '12.3M']);
});
