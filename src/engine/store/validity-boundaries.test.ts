import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { Boundaries } from './validity-boundaries.ts';

test('without instants the next one never comes', () => {
  const boundaries = new Boundaries();
  expect(boundaries.next).toBe(Number.POSITIVE_INFINITY);
  expect([...boundaries.takeUntil(Number.MAX_SAFE_INTEGER)]).toEqual([]);
});

test('an instant is due exactly when its time has come, not a millisecond before', () => {
  const boundaries = new Boundaries();
  boundaries.add(1000, 7);
  expect([...boundaries.takeUntil(999)]).toEqual([]);
  expect(boundaries.next).toBe(1000);
  expect([...boundaries.takeUntil(1000)]).toEqual([7]);
  expect(boundaries.next).toBe(Number.POSITIVE_INFINITY);
});

test('all instants up to a time are taken at once, each fact named once', () => {
  const boundaries = new Boundaries();
  for (const [time, fact] of [
    [5, 1],
    [3, 0],
    [4, 0],
    [9, 0],
    [-2, 2],
  ] as const)
    boundaries.add(time, fact);
  expect([...boundaries.takeUntil(5)].sort((a, b) => a - b)).toEqual([0, 1, 2]);
  expect(boundaries.next).toBe(9);
});

test('instants come out in the order of time, in whatever order they went in', () => {
  const prng = new Prng(11);
  const boundaries = new Boundaries();
  const left: number[] = [];
  let now = 0;
  for (let round = 0; round < 3000; round++) {
    if (prng.chance(0.7)) {
      const time = now + prng.below(500);
      left.push(time);
      boundaries.add(time, time);
    } else {
      now += prng.below(40);
      const due = new Set(left.filter((time) => time <= now));
      expect(boundaries.takeUntil(now)).toEqual(due);
      left.splice(0, left.length, ...left.filter((time) => time > now));
    }
    expect(boundaries.next).toBe(Math.min(Number.POSITIVE_INFINITY, ...left));
  }
});
