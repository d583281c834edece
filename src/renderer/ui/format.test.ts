import { expect, test } from 'vitest';
import { formatBytes } from './format.ts';

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
