import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { Dictionary } from './dictionary.ts';

const hostile = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ufeff',
  '\ufeffwith a mark in front',
  'with a mark \ufeff inside',
  '\ufffd',
  'e\u0301',
  'é',
  '\u202e right to left',
  '\u{10ffff}',
  '👩‍👩‍👧‍👦',
  '"quoted", (and) \\ more',
  '\n\r\t\u2028\u2029',
  '1',
  '1.0',
  '__proto__',
  'x'.repeat(48),
  'x'.repeat(49),
  'é'.repeat(24),
  'é'.repeat(25),
  'x'.repeat(47) + 'é',
  'long '.repeat(20_000),
  '😀'.repeat(5_000),
];

test('returns any text as it was interned, whatever its code points', () => {
  const dictionary = new Dictionary();
  const ids = hostile.map((text) => dictionary.intern(text));
  expect(ids).toEqual(hostile.map((_, index) => index));
  expect(ids.map((id) => dictionary.text(id))).toEqual(hostile);
  expect(hostile.map((text) => dictionary.find(text))).toEqual(ids);
});

test('gives a text one id, and similar texts different ones', () => {
  const dictionary = new Dictionary();
  const composed = dictionary.intern('é');
  const decomposed = dictionary.intern('e\u0301');
  expect(decomposed).not.toBe(composed);
  expect(dictionary.intern('é')).toBe(composed);
  expect(dictionary.intern('1')).not.toBe(dictionary.intern('1.0'));
  expect(dictionary.size).toBe(4);
});

test('looks up a text without interning it', () => {
  const dictionary = new Dictionary();
  expect(dictionary.find('a')).toBe(-1);
  expect(dictionary.find('')).toBe(-1);
  dictionary.intern('a');
  expect(dictionary.find('b')).toBe(-1);
  expect(dictionary.size).toBe(1);
});

test('keeps the ids of many texts while the arena, the offsets and the table grow', () => {
  const dictionary = new Dictionary();
  const count = 200_000;
  const text = (index: number): string => `constant number ${index}${index % 7 === 0 ? ' é😀' : ''}`;
  for (let index = 0; index < count; index++) dictionary.intern(text(index));
  expect(dictionary.size).toBe(count);
  const prng = new Prng(3);
  const some = Array.from({ length: 20_000 }, () => prng.below(count));
  expect(some.filter((index) => dictionary.find(text(index)) !== index)).toEqual([]);
  expect(some.filter((index) => dictionary.text(index) !== text(index))).toEqual([]);
});

test('gives texts that are interned together the ids they get one by one', () => {
  const prng = new Prng(11);
  const [one, other] = [new Dictionary(), new Dictionary()];
  for (let round = 0; round < 400; round++) {
    const texts = Array.from({ length: prng.below(300) }, () =>
      prng.chance(0.02) ? prng.pick(hostile) : `${prng.pick(['', 'é', 'key_'])}${prng.below(30_000)}`,
    );
    const count = prng.below(texts.length + 1);
    const ids = new Int32Array(texts.length).fill(-7);
    other.internAll(texts, count, ids);
    expect(Array.from(ids)).toEqual(texts.map((text, at) => (at < count ? one.intern(text) : -7)));
  }
  expect(other.size).toBe(one.size);
  for (let id = 0; id < one.size; id++) expect(other.text(id)).toBe(one.text(id));
});

test('finds few long texts while their slots are rebuilt in steps', () => {
  const dictionary = new Dictionary();
  const texts = Array.from({ length: 300 }, (_, at) => `${at} `.padEnd(20_000, 'long '));
  let steps = 0;
  for (const [at, text] of texts.entries()) {
    const before = dictionary.slotTables;
    expect(dictionary.intern(text)).toBe(at);
    if (dictionary.slotTables === 2 && before === 2) steps++;
    expect(dictionary.find(texts[at >> 1] as string)).toBe(at >> 1);
  }
  // Rebuilding reads every text: not all of them in one step.
  expect(steps).toBeGreaterThan(0);
});

test('keeps two dictionaries independent', () => {
  const [one, other] = [new Dictionary(), new Dictionary()];
  one.intern('a');
  expect(other.intern('b')).toBe(0);
  expect(one.find('b')).toBe(-1);
});
