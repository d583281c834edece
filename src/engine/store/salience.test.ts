import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { activation, breakdown, isWeighted, keptUses, salienceOf, used, type Uses } from './salience.ts';

const day = 86_400_000;
const now = Date.UTC(2024, 0, 1);

function usedOnce(at: number): Uses {
  return { count: 1, first: at, latest: [at] };
}

/** The uses at these times, which are in order. */
function usedAt(times: readonly number[]): Uses {
  const [first = 0, ...others] = times;
  return others.reduce(used, usedOnce(first));
}

function salience(uses: Uses, metadata = {}, at = now): number {
  return breakdown(uses, metadata, at).salience;
}

test('gives a fact used once 0.5 after a day', () => {
  expect(salience(usedOnce(now - day))).toBe(0.5);
});

test('gives a fact used once 0.15 after a month', () => {
  expect(salience(usedOnce(now - 30 * day))).toBeCloseTo(0.15, 2);
});

test('gives a fact used once less than 0.05 after 361 days', () => {
  expect(salience(usedOnce(now - 361 * day))).toBeCloseTo(0.05, 12);
  expect(salience(usedOnce(now - 361 * day - 1))).toBeLessThan(0.05);
  expect(salience(usedOnce(now - 361 * day + 60_000))).toBeGreaterThan(0.05);
});

test('gives 0 for importance 0, and squares the difference to 1 for importance 1', () => {
  const uses = usedOnce(now - 9 * day);
  expect(salience(uses)).toBeCloseTo(0.25, 12);
  expect(salience(uses, { importance: 0 })).toBe(0);
  expect(salience(uses, { importance: 1 })).toBeCloseTo(1 - 0.75 ** 2, 12);
  expect(salience(uses, { importance: 0.5 })).toBe(salience(uses));
});

test('multiplies by confidence', () => {
  const uses = usedOnce(now - day);
  expect(salience(uses, { confidence: 0.4 })).toBeCloseTo(0.2, 12);
  expect(salience(uses, { confidence: 0 })).toBe(0);
  expect(salience(uses, { confidence: 1, importance: 1 })).toBeCloseTo(0.75, 12);
});

test('ignores an importance or confidence that is not a number from 0 to 1', () => {
  const uses = usedOnce(now - day);
  for (const value of [-0.1, 1.1, '0.9', true, null, [0.9], { value: 1 }, Number.NaN])
    expect(salience(uses, { importance: value, confidence: value }), JSON.stringify(value)).toBe(0.5);
});

test('counts an age as at least a second', () => {
  const atOnce = salience(usedOnce(now));
  expect(atOnce).toBe(salience(usedOnce(now - 1000)));
  expect(salience(usedOnce(now - 1001))).toBeLessThan(atOnce);
  expect(atOnce).toBeLessThan(1);
});

test('counts the eight latest uses exactly', () => {
  const times = [20, 16, 9, 8, 4, 3, 2, 1].map((days) => now - days * day);
  const sum = [20, 16, 9, 8, 4, 3, 2, 1].reduce((total, days) => total + days ** -0.5, 0);
  expect(activation(usedAt(times), now)).toBeCloseTo(sum / (1 + sum), 12);
});

test('approximates uses before the eight latest by 2(n - 8) / (sqrt(L) + sqrt(t))', () => {
  const days = [100, 81, 64, 49, 36, 25, 16, 9, 8, 4, 2, 1];
  const uses = usedAt(days.map((age) => now - age * day));
  expect(uses.count).toBe(12);
  expect(uses.latest).toHaveLength(keptUses);
  const exact = days.slice(-8).reduce((total, age) => total + age ** -0.5, 0);
  const sum = exact + (2 * 4) / (Math.sqrt(100) + Math.sqrt(36));
  expect(activation(uses, now)).toBeCloseTo(sum / (1 + sum), 12);
});

test('counts a use from its time on', () => {
  const uses = usedAt([now - day, now + day]);
  expect(salience(uses, {}, now)).toBe(0.5);
  expect(salience(uses, {}, now + 2 * day)).toBeGreaterThan(0.5);
  // Only a clock that was ahead asserts a fact in the future.
  expect(salience(usedOnce(now + day), {}, now)).toBe(salience(usedOnce(now), {}, now));
});

test('increases with a use and decreases with time', () => {
  let uses = usedOnce(now - 100 * day);
  for (let age = 90; age >= 0; age -= 10) {
    const before = activation(uses, now);
    uses = used(uses, now - age * day);
    expect(activation(uses, now)).toBeGreaterThan(before);
  }
  expect(activation(uses, now + day)).toBeLessThan(activation(uses, now));
});

test('is from 0 to 1, however often a fact is used', () => {
  let uses = usedOnce(now);
  for (let round = 0; round < 100_000; round++) uses = used(uses, now);
  for (const importance of [0, 0.5, 1]) {
    const value = salience(uses, { importance });
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThanOrEqual(1);
  }
});

test('shows the parts of salience in the breakdown', () => {
  const uses = usedAt([now - 4 * day, now - day]);
  const active = 1.5 / 2.5;
  const shown = breakdown(uses, { importance: 1, confidence: 0.5 }, now);
  expect(shown).toMatchObject({ uses: 2, lastUsedAt: now - day, importance: 1, confidence: 0.5 });
  expect(shown.activation).toBeCloseTo(active, 12);
  expect(shown.salience).toBeCloseTo((1 - (1 - active) ** 2) * 0.5, 12);
});

test('accepts uses in any order', () => {
  const times = [100, 50, 30, 20, 10, 9, 8, 7, 6, 5, 4].map((age) => now - age * day);
  const late = [...times.slice(0, 5), ...times.slice(6), times[5] as number];
  expect(usedAt(late)).toEqual(usedAt(times));
});

test('weighs a fact by metadata only if they set importance or confidence', () => {
  for (const metadata of [{}, { importance: 0.5, confidence: 1 }, { importance: 2 }, { source: 'x' }])
    expect(isWeighted(metadata), JSON.stringify(metadata)).toBe(false);
  for (const metadata of [{ importance: 0.6 }, { confidence: 0 }])
    expect(isWeighted(metadata), JSON.stringify(metadata)).toBe(true);
});

/** Uses at random times, some of them simultaneous, the latest at `now` or before. */
function randomUses(prng: Prng): Uses {
  const span = prng.pick([1, 1000, day, 30 * day, 3000 * day]);
  const times = Array.from({ length: 1 + prng.below(30) }, () => now - prng.below(span));
  return usedAt(times.sort((left, right) => left - right));
}

const rounds = 3000;
/** For a number from 0 to 1, more than its rounding error. */
const rounding = 1e-12;

test('increases with a further use, decreases with time, and stays from 0 to 1, whatever the uses', () => {
  const prng = new Prng(5);
  for (let round = 0; round < rounds; round++) {
    const uses = randomUses(prng);
    const metadata = { importance: prng.below(101) / 100, confidence: prng.below(101) / 100 };
    const at = now + prng.below(prng.pick([1, 1000, day, 400 * day]));
    const before = salience(uses, metadata, at);
    expect(before).toBeGreaterThanOrEqual(0);
    expect(before).toBeLessThanOrEqual(1);
    const again = used(uses, at);
    expect(salience(again, metadata, at)).toBeGreaterThanOrEqual(before - rounding);
    const later = at + prng.below(prng.pick([1000, day, 400 * day]));
    expect(salience(uses, metadata, later)).toBeLessThanOrEqual(before + rounding);
    expect(salience(again, metadata, later)).toBeLessThanOrEqual(salience(again, metadata, at) + rounding);
  }
});

test('increases with importance and confidence', () => {
  const prng = new Prng(6);
  for (let round = 0; round < rounds; round++) {
    const uses = randomUses(prng);
    const [low = 0, high = 0] = [prng.below(1001) / 1000, prng.below(1001) / 1000].sort((a, b) => a - b);
    const other = prng.below(1001) / 1000;
    const byImportance = (importance: number) => salience(uses, { importance, confidence: other });
    const byConfidence = (confidence: number) => salience(uses, { importance: other, confidence });
    expect(byImportance(high)).toBeGreaterThanOrEqual(byImportance(low) - rounding);
    expect(byConfidence(high)).toBeGreaterThanOrEqual(byConfidence(low) - rounding);
  }
});

test('keeps X for uses at equal intervals within 1% of the exact sum, and never below it', () => {
  const strength = (active: number): number => active / (1 - active);
  for (const interval of [1000, 3_600_000, day, 40 * day])
    for (const age of [1000, interval / 2, interval, 10 * interval, 1000 * interval])
      for (const count of [9, 10, 20, 50, 200, 1000]) {
        const times = Array.from({ length: count }, (_, at) => now - age - (count - 1 - at) * interval);
        const exact = times.reduce((sum, time) => sum + (Math.max(1000, now - time) / day) ** -0.5, 0);
        const ratio = strength(activation(usedAt(times), now)) / exact;
        expect(ratio, `${count} uses every ${interval} ms`).toBeLessThan(1.01);
        expect(ratio, `${count} uses every ${interval} ms`).toBeGreaterThan(1 - 1e-9);
      }
});

test('keeps the contribution of older uses between those at the age of the first and of the eighth latest', () => {
  const prng = new Prng(8);
  for (let round = 0; round < rounds; round++) {
    const uses = randomUses(prng);
    const older = uses.count - uses.latest.length;
    const strength = (of: Uses): number => {
      const active = activation(of, now);
      return active / (1 - active);
    };
    const part = strength(uses) - strength({ ...uses, count: uses.latest.length });
    const age = (time: number): number => Math.max(1000, now - time) / day;
    expect(part).toBeGreaterThanOrEqual(older * age(uses.first) ** -0.5 * (1 - 1e-6) - 1e-6);
    expect(part).toBeLessThanOrEqual(older * age(uses.latest[0] as number) ** -0.5 * (1 + 1e-6) + 1e-6);
  }
});

test('equals the salience of the breakdown', () => {
  const prng = new Prng(9);
  for (let round = 0; round < rounds; round++) {
    const uses = randomUses(prng);
    const metadata = prng.chance(0.5)
      ? {}
      : { importance: prng.below(11) / 10, confidence: prng.below(11) / 10 };
    expect(salienceOf(uses, metadata, now)).toBe(breakdown(uses, metadata, now).salience);
  }
});
