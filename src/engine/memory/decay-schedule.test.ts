import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { DecaySchedule } from './decay.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A schedule whose runs end on command. */
let isTrusted = true;

function scheduled(intervalMs: number) {
  const clock = new ManualClock(0);
  const runs: { readonly at: number; readonly signal: AbortSignal; readonly end: () => void }[] = [];
  const schedule = new DecaySchedule({
    clock,
    intervalMs,
    mayRun: () => isTrusted,
    run: (signal) => new Promise((end) => void runs.push({ at: clock.now(), signal, end })),
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await vi.advanceTimersByTimeAsync(100);
    }
  };
  const end = async (at: number): Promise<void> => {
    runs[at]?.end();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { schedule, clock, runs, pass, end, begun: () => runs.map(({ at }) => at) };
}

test('begins a run each time the interval has passed since the last one began', async () => {
  const { pass, end, begun } = scheduled(1000);
  await pass(900);
  expect(begun()).toEqual([]);
  await pass(100);
  await end(0);
  await pass(1000);
  await end(1);
  await pass(1000);
  expect(begun()).toEqual([1000, 2000, 3000]);
});

test('never runs twice at once, and pauses after a long run as long as it took', async () => {
  const { pass, end, begun } = scheduled(1000);
  await pass(6000);
  expect(begun()).toEqual([1000]);
  await end(0);
  await pass(4900);
  expect(begun()).toEqual([1000]);
  await pass(100);
  expect(begun()).toEqual([1000, 11_000]);
});

test('makes one run for all that were missed during sleep', async () => {
  const { clock, pass, end, begun } = scheduled(1000);
  clock.advance(10_000);
  await pass(1000);
  expect(begun()).toHaveLength(1);
  await end(0);
  await pass(500);
  expect(begun()).toHaveLength(1);
});

test('delays a run by at most one interval if the clock is set back', async () => {
  const { clock, pass, begun } = scheduled(1000);
  clock.step(-1_000_000);
  await pass(2000);
  expect(begun()).toEqual([-999_000 + 1000]);
});

test('waits while the clock is not to be trusted', async () => {
  const { pass, begun } = scheduled(1000);
  isTrusted = false;
  await pass(5000);
  expect(begun()).toEqual([]);
  isTrusted = true;
  await pass(1000);
  expect(begun()).toHaveLength(1);
});

test('aborts and awaits the current run at the end, and begins no other', async () => {
  const { schedule, runs, pass, end } = scheduled(1000);
  await pass(1000);
  let isClosed = false;
  const closed = schedule.close().then(() => (isClosed = true));
  await pass(5000);
  expect([runs.length, runs[0]?.signal.aborted, isClosed]).toEqual([1, true, false]);
  await end(0);
  await closed;
  await pass(5000);
  expect(runs).toHaveLength(1);
});
