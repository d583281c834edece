import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { TextMap, TextSet } from './text-map.ts';

const long = (number: number): string => `${'x'.repeat(20_000)}${String(number).padStart(6, '0')}`;

/** Short texts, long ones of one length, and long ones that look like what others are padded with. */
const texts = [
  '',
  'a',
  'a\0 ',
  'x'.repeat(16_383),
  'x'.repeat(16_384),
  ...Array.from({ length: 20 }, (_, number) => long(number)),
  ...Array.from({ length: 20 }, (_, number) => `${long(number)}\0`),
  ...Array.from({ length: 20 }, (_, number) => `${long(number)}\0 `),
];

test('a map and a set of texts behave as those of the language do, in any order of calls', () => {
  const prng = new Prng(5);
  const [map, plain] = [new TextMap<number, string | null>(), new Map<string | null, number>()];
  const [set, plainSet] = [new TextSet(), new Set<string>()];
  const visits: [string | null, number][] = [];
  for (let step = 0; step < 2000; step++) {
    const text = prng.pick(texts);
    const key = prng.below(20) === 0 ? null : text;
    if (prng.below(3) === 0) {
      expect(map.delete(key)).toBe(plain.delete(key));
      expect(set.delete(text)).toBe(plainSet.delete(text));
    } else {
      map.set(key, step);
      plain.set(key, step);
      set.add(text);
      plainSet.add(text);
    }
    expect([map.has(key), map.get(key), map.size]).toEqual([plain.has(key), plain.get(key), plain.size]);
    expect([set.has(text), set.size]).toEqual([plainSet.has(text), plainSet.size]);
  }
  expect([...map]).toEqual([...plain]);
  expect([...map.keys()]).toEqual([...plain.keys()]);
  map.forEach((value, text) => visits.push([text, value]));
  expect(visits).toEqual([...plain]);
  expect([...set]).toEqual([...plainSet]);
  expect([...set.entries()]).toEqual([...plainSet.entries()]);
  expect([...new TextSet(plainSet)]).toEqual([...plainSet]);
});

test('long texts of one length are kept under keys of many lengths, since V8 hashes long texts by their length', () => {
  const set = new TextSet();
  for (let number = 0; number < 500; number++) set.add(long(number));
  const lengths = new Set(
    Array.from(Set.prototype.values.call(set) as Iterable<string>, (key) => key.length),
  );
  expect(lengths.size).toBeGreaterThan(300);
});
