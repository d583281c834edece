import { expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { NumberMap } from './number-map.ts';

it('answers like a Map, whatever comes and in whatever order', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const prng = new Prng(seed);
    const numbers = new NumberMap<number>();
    const model = new Map<number, number>();
    for (let step = 0; step < 3000; step++) {
      const number = prng.below(prng.chance(0.5) ? 100 : 1_000_000);
      if (prng.chance(0.001)) {
        numbers.clear();
        model.clear();
      } else if (prng.chance(0.7)) {
        numbers.set(number, step);
        model.set(number, step);
      }
      expect(numbers.get(number)).toBe(model.get(number));
      expect(numbers.has(number)).toBe(model.has(number));
    }
    expect(numbers.size).toBe(model.size);
    expect(new Map(numbers.entries())).toEqual(model);
    expect(new Set(numbers.keys())).toEqual(new Set(model.keys()));
  }
});
