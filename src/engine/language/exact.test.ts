import { expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { ExactSum, nearestDouble } from './exact.ts';

/** A number as a multiple of 2^-1100, which every double is. */
const inUnits = (mantissa: bigint, exponent: number): bigint => mantissa << BigInt(exponent + 1100);

it('a sum and a mean are those of the exact numbers, rounded once, in any order and after subtractions', () => {
  const random = new Prng(61);
  for (let round = 0; round < 3000; round++) {
    const sum = new ExactSum();
    const spread = random.pick([2, 60, 400, 900]);
    const isWhole = random.chance(0.3);
    let expected = 0n;
    let count = 0;
    const numbers: { value: number; units: bigint; isInteger: boolean }[] = [];
    for (let left = 1 + random.below(12); left > 0; left--) {
      const most = random.pick([8, 2 ** 20, 2 ** 53]);
      const mantissa = ((random.below(2 ** 21) * 2 ** 32 + random.next()) % most) * random.pick([1, -1]);
      const isInteger = isWhole || random.chance(0.3);
      const exponent = isInteger ? 0 : random.below(2 * spread) - spread;
      const value = mantissa * 2 ** exponent;
      if (!Number.isFinite(value)) continue;
      numbers.push({ value, units: inUnits(BigInt(mantissa), exponent), isInteger });
    }
    for (const number of numbers) {
      sum.add(number.value, number.isInteger);
      expected += number.units;
      count++;
    }
    for (const number of numbers.slice(1)) {
      if (!random.chance(0.4)) continue;
      sum.add(number.value, number.isInteger, -1);
      expected -= number.units;
      count--;
    }
    if (count === 0) continue;
    expect(Number(sum.sum()), `round ${round}`).toBe(nearestDouble(expected, 1n, -1100));
    expect(Number(sum.mean()), `round ${round}`).toBe(nearestDouble(expected, BigInt(count), -1100));
  }
});

it('a tie is rounded to the even neighbour unless smaller parts decide it', () => {
  const of = (...values: number[]): number => {
    const sum = new ExactSum();
    for (const value of values) sum.add(value, false);
    return Number(sum.sum());
  };
  expect(of(1, 2 ** -53)).toBe(1);
  expect(of(1, 2 ** -53, 2 ** -200)).toBe(1 + 2 ** -52);
  expect(of(1 + 2 ** -52, 2 ** -53, -(2 ** -200))).toBe(1 + 2 ** -52);
  expect(of(0.1, 0.2, -0.3)).toBe(2 ** -55);
  expect(of(2 ** 1023, 2 ** 1023, -(2 ** 1023))).toBe(2 ** 1023);
});

it('integers are summed exactly past the safe ones', () => {
  const sum = new ExactSum();
  for (let at = 0; at < 3; at++) sum.add(Number.MAX_SAFE_INTEGER, true);
  sum.add(12345678901234567890n, true);
  expect(sum.sum()).toBe(3n * BigInt(Number.MAX_SAFE_INTEGER) + 12345678901234567890n);
  sum.add(12345678901234567890n, true, -1);
  for (let at = 0; at < 2; at++) sum.add(Number.MAX_SAFE_INTEGER, true, -1);
  expect(Number(sum.sum())).toBe(Number.MAX_SAFE_INTEGER);
});
