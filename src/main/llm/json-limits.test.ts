import { expect, it } from 'vitest';
import { isWithinJsonLimits, maxJsonValues } from './json-limits.ts';

it('counts the values of arrays and objects, not the punctuation in texts', () => {
  expect(isWithinJsonLimits(JSON.stringify(Array.from({ length: maxJsonValues - 2 }, () => 1)))).toBe(true);
  expect(isWithinJsonLimits(JSON.stringify(Array.from({ length: maxJsonValues }, () => 1)))).toBe(false);
  const members = Array.from({ length: maxJsonValues }, (_, index) => [`k${index}`, 1]);
  expect(isWithinJsonLimits(JSON.stringify(Object.fromEntries(members)))).toBe(false);
  expect(isWithinJsonLimits(JSON.stringify({ text: '\\",[{'.repeat(1_000_000) }))).toBe(true);
});

it('limits the depth', () => {
  expect(isWithinJsonLimits(`${'['.repeat(100)}${']'.repeat(100)}`)).toBe(true);
  expect(isWithinJsonLimits(`${'['.repeat(101)}${']'.repeat(101)}`)).toBe(false);
});
