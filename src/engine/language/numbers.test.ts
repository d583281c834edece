import { expect, test } from 'vitest';
import { compareConstants, equalConstants, holdsComparison, isNumber, parseNumber } from './numbers.ts';

test('reads as numbers what the JSON grammar accepts, and all else as text', () => {
  for (const text of ['0', '-0', '3', '-3', '1.5', '1e5', '1E+5', '1.25e-7', '1e400'])
    expect(isNumber(text), text).toBe(true);
  for (const text of [
    '007',
    '+5',
    '.5',
    '5.',
    'NaN',
    'Infinity',
    '0x10',
    '1_000',
    '',
    ' 1',
    '1 ',
    '-',
    '1e',
    '--1',
    '٣',
  ])
    expect(isNumber(text), text).toBe(false);
});

test('keeps integers exact at any size, else reads a double', () => {
  expect(parseNumber('9007199254740991')).toBe(9007199254740991);
  expect(parseNumber('9007199254740993')).toBe(9007199254740993n);
  expect(parseNumber('-9007199254740993')).toBe(-9007199254740993n);
  expect(parseNumber('9007199254740993.0')).toBe(9007199254740992);
  expect(Object.is(parseNumber('-0'), 0)).toBe(true);
  expect(parseNumber('1e400')).toBe(Infinity);
  expect(parseNumber('x')).toBeNull();
});

test('compares numerically if both sides are numbers, else by code point', () => {
  expect(equalConstants('1', '1.0')).toBe(true);
  expect(equalConstants('-0', '0.0')).toBe(true);
  expect(equalConstants('1', '01')).toBe(false);
  expect(compareConstants('9', '10')).toBeLessThan(0);
  expect(compareConstants('9', '10x')).toBeGreaterThan(0);
  expect(compareConstants('\uffff', '😀')).toBeLessThan(0);
  expect(compareConstants('a', 'B')).toBeGreaterThan(0);
});

test('compares large integers exactly, with each other and with doubles', () => {
  const great = `1${'0'.repeat(400)}`;
  expect(compareConstants(`${great}`, `${great.slice(0, -1)}1`)).toBeLessThan(0);
  expect(compareConstants(`-${great}`, `-${great.slice(0, -1)}1`)).toBeGreaterThan(0);
  expect(compareConstants('9007199254740993', '9007199254740992')).toBeGreaterThan(0);
  expect(compareConstants('9007199254740993', '9007199254740992.0')).toBeGreaterThan(0);
  expect(compareConstants(great, '1e308')).toBeGreaterThan(0);
  expect(compareConstants(`-${great}`, '-1e308')).toBeLessThan(0);
  expect(compareConstants(great, '1e400')).toBeLessThan(0);
  expect(compareConstants('1e400', great)).toBeGreaterThan(0);
  expect(compareConstants('-1e400', great)).toBeLessThan(0);
  expect(compareConstants('1e400', '1e500')).toBe(0);
});

test('evaluates every comparison operator', () => {
  const holding: Record<string, string[]> = {
    '<': ['1 2'],
    '<=': ['1 2', '1 1.0'],
    '>': ['2 1'],
    '>=': ['2 1', '1 1.0'],
    '=': ['1 1.0'],
    '!=': ['1 2', '2 1'],
  };
  for (const [sign, pairs] of Object.entries(holding))
    for (const pair of ['1 2', '2 1', '1 1.0']) {
      const [left = '', right = ''] = pair.split(' ');
      expect(holdsComparison(sign, left, right), `${left} ${sign} ${right}`).toBe(pairs.includes(pair));
    }
});
