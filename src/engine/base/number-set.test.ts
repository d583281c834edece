import { expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { NumberList } from './number-list.ts';
import { NumberSet } from './number-set.ts';

it('answers like a Set, whatever comes and goes, and lists its numbers in ascending order', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const prng = new Prng(seed);
    const numbers = new NumberSet();
    const model = new Set<number>();
    for (let step = 0; step < 3000; step++) {
      const number = prng.below(prng.chance(0.5) ? 100 : prng.chance(0.9) ? 1_000_000 : 0x7fff_ffff);
      if (prng.chance(0.001)) {
        numbers.clear();
        model.clear();
      } else if (prng.chance(0.3)) expect(numbers.delete(number)).toBe(model.delete(number));
      else {
        expect(numbers.add(number)).toBe(!model.has(number));
        model.add(number);
      }
      expect(numbers.has(number)).toBe(model.has(number));
    }
    expect(numbers.size).toBe(model.size);
    expect([...numbers.toArray()]).toEqual([...model].sort((left, right) => left - right));
  }
});

it('a list of numbers has what was added and not taken away again, in its order', () => {
  const [numbers, model, prng]: [NumberList, number[], Prng] = [new NumberList(), [], new Prng(1)];
  for (const chance of [0.9, 0.2, 0.9])
    for (let step = 0; step < 30_000; step++)
      if (prng.chance(chance)) {
        const number = prng.below(0x7fff_ffff);
        numbers.push(number);
        model.push(number);
      } else expect(numbers.pop()).toBe(model.pop());
  expect(numbers).toHaveLength(model.length);
  const listed: number[] = [];
  numbers.forEach((number) => listed.push(number));
  expect(listed).toEqual(model);
  expect(Array.from(model, (_, place) => numbers.at(place))).toEqual(model);
});
