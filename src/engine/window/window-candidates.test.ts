import { expect, test } from 'vitest';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Pacer } from '../datalog/tables/evaluation.ts';
import type { Candidate } from './open-window.ts';
import { sortedByPrecedence } from './window-candidates.ts';

test('looks at its limits again and again while it sorts a few long candidates', async () => {
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
  const candidates = Array.from({ length: 200 }, (_, at): Candidate => {
    const atom = `p(${'x'.repeat(30_000)}${1000 + ((at * 7919) % 1000)})`;
    return { atom, predicate: 'p', args: [], scope: null, salience: 0.5, fact: null, by: null };
  });
  const sorted = await sortedByPrecedence(candidates, new Pacer(limits, () => Promise.resolve()));
  const atoms = candidates.map(({ atom }) => atom);
  expect(sorted.map(({ atom }) => atom)).toEqual(atoms.toSorted());
  expect(looks).toBeGreaterThan(20);
});
