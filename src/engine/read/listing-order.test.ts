import { expect, test } from 'vitest';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Pacer } from '../datalog/tables/evaluation.ts';
import { argumentRanks } from './listing-order.ts';

test('looks at its limits again and again while it ranks a few long arguments', async () => {
  let looks = 0;
  const signal = {
    get aborted() {
      looks++;
      return false;
    },
  };
  const limits = {
    timeoutMs: 60_000,
    maxDerivations: Number.POSITIVE_INFINITY,
    memory: new MemoryBudget(Number.POSITIVE_INFINITY),
    signal,
  };
  const valueAt = (at: number): string => `${'x'.repeat(30_000)}${1000 + ((at * 7919) % 1000)}`;
  const ranks = await argumentRanks(200, valueAt, new Pacer(limits, () => Promise.resolve()));
  const values = Array.from({ length: 200 }, (_, at) => valueAt(at));
  const sorted = values.toSorted();
  expect([...ranks]).toEqual(values.map((value) => sorted.indexOf(value)));
  // About 1,500 comparisons of 30,000 characters: a look for each million.
  expect(looks).toBeGreaterThan(20);
});
