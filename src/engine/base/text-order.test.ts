import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { compareText, compareTexts } from './text-order.ts';

const bytes = new TextEncoder();

/** The order of the UTF-8 bytes, computed from the bytes. */
function compareBytes(left: string, right: string): number {
  return Buffer.compare(bytes.encode(left), bytes.encode(right));
}

const awkward = [
  '',
  '\u0000',
  ' ',
  'A',
  'a',
  'aa',
  'ab',
  'é',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\ufeff',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
];

test('orders by code point like the UTF-8 bytes, even where UTF-16 units differ', () => {
  for (const left of awkward)
    for (const right of awkward)
      expect(Math.sign(compareText(left, right)), JSON.stringify([left, right])).toBe(
        compareBytes(left, right),
      );
});

test('decides at the first difference, however long the common prefix', () => {
  const prng = new Prng(7);
  for (let round = 0; round < 2000; round++) {
    const text = (): string => Array.from({ length: prng.below(6) }, () => prng.pick(awkward)).join('');
    const before = text();
    const [left, right] = [before + text(), before + text()];
    expect(Math.sign(compareText(left, right)), JSON.stringify([left, right])).toBe(
      compareBytes(left, right),
    );
  }
});

test('orders lists of texts element by element, a prefix before the longer list', () => {
  expect(compareTexts([], [])).toBe(0);
  expect(compareTexts(['a'], ['a', 'b'])).toBeLessThan(0);
  expect(compareTexts(['a', 'b'], ['a'])).toBeGreaterThan(0);
  expect(compareTexts(['a', 'c'], ['a', 'b', 'z'])).toBeGreaterThan(0);
  expect(compareTexts(['ab'], ['a', 'b'])).toBeGreaterThan(0);
});
