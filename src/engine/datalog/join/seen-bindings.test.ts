import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { SeenBindings } from './seen-bindings.ts';

/**
 * Tests `count` random pairs below `range`. Returns how many were reported as seen, and how many of them
 * wrongly.
 */
function look(
  seen: SeenBindings,
  values: Int32Array,
  prng: Prng,
  count: number,
  range: number,
): { readonly again: number; readonly wrong: number } {
  const met = new Set<number>();
  let [again, wrong] = [0, 0];
  for (let index = 0; index < count; index++) {
    values[0] = prng.below(range);
    values[1] = prng.below(1 << 20);
    values[2] = prng.below(range);
    const key = values[0] * range + values[2];
    const isNew = seen.isNew();
    if (!isNew) again++;
    if (!isNew && !met.has(key)) wrong++;
    met.add(key);
  }
  return { again, wrong };
}

test('reports a binding as seen only if one with the same relevant values was', () => {
  const values = new Int32Array(3);
  const seen = new SeenBindings([0, 2], values);
  const prng = new Prng(5);
  const wrong: number[] = [];
  for (const range of [3, 30, 300, 2000, 3, 30, 300]) {
    seen.begin();
    wrong.push(look(seen, values, prng, 20_000, range).wrong);
    seen.end();
  }
  expect(wrong).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

test('reports most repeated bindings as seen', () => {
  const values = new Int32Array(3);
  const seen = new SeenBindings([0, 2], values);
  seen.begin();
  expect(look(seen, values, new Prng(6), 100_000, 100).again).toBeGreaterThan(60_000);
});

test('looks nothing up if bindings rarely repeat, until another reader comes', () => {
  const values = new Int32Array(3);
  const seen = new SeenBindings([0, 2], values);
  const prng = new Prng(7);
  seen.begin();
  look(seen, values, prng, 8192, 10_000);
  expect(look(seen, values, prng, 2000, 2).again).toBe(0);
  seen.reset();
  seen.begin();
  expect(look(seen, values, prng, 1000, 2).again).toBeGreaterThan(900);
});

test('continues once from bindings of which nothing is needed', () => {
  const seen = new SeenBindings([], new Int32Array(0));
  seen.begin();
  expect([seen.isNew(), seen.isNew()]).toEqual([true, false]);
  seen.begin();
  expect(seen.isNew()).toBe(true);
});
