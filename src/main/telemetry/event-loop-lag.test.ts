import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { lagSummaryOf, watchLag } from './metrics.ts';

it('summarizes the observed delays, and is 0 without any', () => {
  expect(new Set(Object.values(lagSummaryOf([], 0)))).toEqual(new Set([0]));
  const values = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(lagSummaryOf(values, 7)).toMatchObject({
    last: 7,
    min: 1,
    max: 100,
    mean: 50.5,
    p50: 50,
    p90: 90,
    p99: 99,
  });
  expect(lagSummaryOf([2, 4], 4).stddev).toBe(1);
});

it('observes a blocked thread, until it is stopped', async () => {
  const seen: number[] = [];
  const watch = watchLag((lag) => seen.push(lag));
  expect(watch.summary().max).toBe(0);
  const until = performance.now() + 200;
  while (performance.now() < until);
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  watch.stop();
  expect(watch.summary().max).toBeGreaterThan(0.05);
  const { length } = seen;
  await wait(120);
  expect(seen).toHaveLength(length);
});
