import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { Boundaries } from './validity-boundaries.ts';

test('has no next instant if it is empty', () => {
  const boundaries = new Boundaries();
  expect(boundaries.next).toBe(Number.POSITIVE_INFINITY);
  expect([...boundaries.takeUntil(Number.MAX_SAFE_INTEGER)]).toEqual([]);
});

test('makes an instant due exactly at its time, not a millisecond before', () => {
  const boundaries = new Boundaries();
  boundaries.add(1000, 7);
  expect([...boundaries.takeUntil(999)]).toEqual([]);
  expect(boundaries.next).toBe(1000);
  expect([...boundaries.takeUntil(1000)]).toEqual([7]);
  expect(boundaries.next).toBe(Number.POSITIVE_INFINITY);
});

test('takes all instants up to a time at once', () => {
  const boundaries = new Boundaries();
  for (const [time, fact] of [
    [5, 1],
    [3, 0],
    [4, 0],
    [9, 0],
    [-2, 2],
  ] as const)
    boundaries.add(time, fact);
  expect(boundaries.takeUntil(5).sort((a, b) => a - b)).toEqual([0, 0, 1, 2]);
  expect(boundaries.next).toBe(9);
});

test('returns instants in the order of time, whatever the order of insertion', () => {
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
      expect(new Set(boundaries.takeUntil(now))).toEqual(due);
      left.splice(0, left.length, ...left.filter((time) => time > now));
    }
    expect(boundaries.next).toBe(Math.min(Number.POSITIVE_INFINITY, ...left));
  }
});

test('takes a great many instants in one pass, and keeps the others in order', () => {
  const prng = new Prng(5);
  const boundaries = new Boundaries();
  const times = Array.from({ length: 20_000 }, () => prng.below(1000));
  for (const [fact, time] of times.entries()) boundaries.add(time, fact);
  const due = (from: number, to: number): number[] =>
    [...times.keys()].filter((fact) => (times[fact] as number) > from && (times[fact] as number) <= to);
  const taken = (to: number): number[] => boundaries.takeUntil(to).sort((a, b) => a - b);
  expect(taken(600)).toEqual(due(-1, 600));
  expect(boundaries.next).toBe(601);
  for (let time = 601; time < 700; time++) expect(taken(time)).toEqual(due(time - 1, time));
  expect(taken(1000)).toEqual(due(699, 1000));
  expect(boundaries.next).toBe(Number.POSITIVE_INFINITY);
});
