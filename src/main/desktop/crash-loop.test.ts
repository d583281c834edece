import { expect, it } from 'vitest';
import { CrashLoop } from './window-state.ts';

it('three ends of a page in a minute are a loop, and no fewer', () => {
  const loop = new CrashLoop();
  expect([0, 20_000, 59_999].map((now) => loop.note(now))).toEqual([false, false, true]);
});

it('ends that lie further apart are none', () => {
  const loop = new CrashLoop();
  const ends = [0, 30_000, 60_000, 90_000, 120_000];
  expect(ends.map((now) => loop.note(now))).toEqual([false, false, false, false, false]);
});

it('a loop that goes on stays one', () => {
  const loop = new CrashLoop();
  expect([0, 1, 2, 3].map((now) => loop.note(now))).toEqual([false, false, true, true]);
});
