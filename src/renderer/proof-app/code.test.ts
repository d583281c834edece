import { expect, test } from 'vitest';
import { clipped } from './code.ts';

test('text is cut where it is too long, never within a character', () => {
  expect(clipped('abc', 3)).toBe('abc');
  expect(clipped('abcd', 3)).toBe('abc…');
  expect(clipped('ab😀c', 3)).toBe('ab…');
  expect(clipped('ab😀c', 4)).toBe('ab😀…');
});
