import { expect, it } from 'vitest';
import { CrashLoop } from './window-state.ts';

it('reports a loop at three crashes of a page within a minute', () => {
  const loop = new CrashLoop();
  expect([0, 20_000, 59_999].map((now) => loop.note(now))).toEqual([false, false, true]);
});

it('reports no loop for crashes further apart', () => {
  const loop = new CrashLoop();
  const ends = [0, 30_000, 60_000, 90_000, 120_000];
  expect(ends.map((now) => loop.note(now))).toEqual([false, false, false, false, false]);
});

it('keeps reporting a loop that continues', () => {
  const loop = new CrashLoop();
  expect([0, 1, 2, 3].map((now) => loop.note(now))).toEqual([false, false, true, true]);
});
