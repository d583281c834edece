import { expect, test } from 'vitest';
import { Prng } from '../base/prng.ts';
import { SeenBindings } from './seen-bindings.ts';

/** Looks at so many random pairs of numbers below `range`. Returns how often one was said to be seen. */
function look(seen: SeenBindings, values: Int32Array, prng: Prng, count: number, range: number): number {
  const met = new Set<number>();
  let again = 0;
  for (let index = 0; index < count; index++) {
    values[0] = prng.below(range);
    values[1] = prng.below(1 << 20);
    values[2] = prng.below(range);
    const key = (values[0] as number) * range + (values[2] as number);
    if (seen.isNew()) met.add(key);
    else {
      again++;
      expect(met.has(key), 'what was said to be seen').toBe(true);
    }
  }
  return again;
}

test('a binding is said to be seen only where one with the same values that count was', () => {
  const values = new Int32Array(3);
  const seen = new SeenBindings([0, 2], values);
  const prng = new Prng(5);
  for (const range of [3, 30, 300, 2000])
    for (let round = 0; round < 3; round++) {
      seen.begin();
      look(seen, values, prng, 20_000, range);
      seen.end();
    }
});

test('of bindings that come again most are seen', () => {
  const values = new Int32Array(3);
  const seen = new SeenBindings([0, 2], values);
  seen.begin();
  expect(look(seen, values, new Prng(6), 100_000, 100)).toBeGreaterThan(60_000);
});

test('where bindings hardly come again nothing is looked up until another reader comes', () => {
  const values = new Int32Array(3);
  const seen = new SeenBindings([0, 2], values);
  const prng = new Prng(7);
  seen.begin();
  look(seen, values, prng, 8192, 10_000);
  expect(look(seen, values, prng, 2000, 2)).toBe(0);
  seen.reset();
  seen.begin();
  expect(look(seen, values, prng, 1000, 2)).toBeGreaterThan(900);
});

test('bindings of which nothing is needed are gone on from once', () => {
  const seen = new SeenBindings([], new Int32Array(0));
  seen.begin();
  expect([seen.isNew(), seen.isNew()]).toEqual([true, false]);
  seen.begin();
  expect(seen.isNew()).toBe(true);
});
