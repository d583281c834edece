import { expect, test } from 'vitest';
import { expiryOf } from './key-text.ts';

const day = 86_400_000;

test('a key is good until the instant at which it ends', () => {
  const key = { createdAt: 0, expiresAt: 100 * day };
  expect(expiryOf(key, 100 * day - 1)).toBe('soon');
  expect(expiryOf(key, 100 * day)).toBe('over');
  expect(expiryOf({ createdAt: 0, expiresAt: null }, 1)).toBe('never');
});

test('the end is near in its last week; of a short life, in its last fifth', () => {
  expect(expiryOf({ createdAt: 0, expiresAt: 100 * day }, 93 * day - 1)).toBe('later');
  expect(expiryOf({ createdAt: 0, expiresAt: 100 * day }, 93 * day)).toBe('soon');
  expect(expiryOf({ createdAt: 0, expiresAt: 5 * day }, 4 * day - 1)).toBe('later');
  expect(expiryOf({ createdAt: 0, expiresAt: 5 * day }, 4 * day)).toBe('soon');
  expect(expiryOf({ createdAt: null, expiresAt: 5 * day }, 0)).toBe('soon');
});
