import { expect, test } from 'vitest';
import { Generations, TextColumn } from './generations.ts';

test('stores time and request of every generation', () => {
  const generations = new Generations();
  for (let at = 1; at <= 500; at++) expect(generations.advance(at * 10, `request ${at}`)).toBe(at);
  expect(generations.last).toBe(500);
  expect([generations.timeOf(1), generations.requestOf(1)]).toEqual([10, 'request 1']);
  expect([generations.timeOf(377), generations.requestOf(500)]).toEqual([3770, 'request 500']);
});

test('a generation that was judged a moment before the last one counts as made at its time', () => {
  const generations = new Generations();
  for (const time of [100_000, 160_000, 100_000]) generations.advance(time, 'request');
  expect([1, 2, 3].map((generation) => generations.timeOf(generation))).toEqual([100_000, 160_000, 160_000]);
  // More than a minute before it: the clock was ahead.
  generations.advance(99_999, 'request');
  expect([1, 3, 4].map((generation) => generations.timeOf(generation))).toEqual([99_999, 99_999, 99_999]);
});

test('continues counting after the initial generation', () => {
  const generations = new Generations(41);
  expect([generations.last, generations.advance(7, 'first')]).toEqual([41, 42]);
  expect([generations.timeOf(42), generations.requestOf(42)]).toEqual([7, 'first']);
  expect([generations.find(41), generations.timeOf(41), generations.requestOf(41)]).toEqual([-1, 0, '']);
});

test('finds the existing generations among gaps, before and after others are added', () => {
  const requests = new TextColumn();
  for (const request of ['three', '\ufeffé', 'nine']) requests.add(request);
  const numbers = Float64Array.of(3, 7, 9);
  const generations = new Generations(12, { numbers, times: Float64Array.of(30, 70, 90), requests });
  expect(generations.advance(130, 'thirteen')).toBe(13);
  expect([3, 7, 9, 13].map((generation) => generations.timeOf(generation))).toEqual([30, 70, 90, 130]);
  expect([7, 13].map((generation) => generations.requestOf(generation))).toEqual(['\ufeffé', 'thirteen']);
  expect([0, 1, 8, 10, 12, 14].map((generation) => generations.find(generation))).toEqual(Array(6).fill(-1));
  expect(() => generations.timeOf(8)).toThrow('assertion failed');
});
