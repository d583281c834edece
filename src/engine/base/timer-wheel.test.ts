import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MAX_TICKS, TimerWheel } from './timer-wheel.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a wheel visits what is due, and nothing else', () => {
  const wheel = new TimerWheel(1000);
  const visits: string[] = [];
  const often = wheel.add(() => visits.push('often') && 1);
  const seldom = wheel.add(() => visits.push('seldom') && MAX_TICKS);
  vi.advanceTimersByTime(3000);
  expect(visits).toEqual(['often', 'seldom', 'often', 'often']);
  often.end();
  vi.advanceTimersByTime((MAX_TICKS - 3) * 1000);
  expect(visits).toHaveLength(4);
  vi.advanceTimersByTime(1000);
  expect(visits.slice(4)).toEqual(['seldom']);
  seldom.soon();
  vi.advanceTimersByTime(1000);
  expect(visits.slice(5)).toEqual(['seldom']);
  seldom.end();
  seldom.soon();
  expect(vi.getTimerCount()).toBe(0);
});
