import { expect, test } from 'vitest';
import { type MemoryHolder, MemoryBudget } from './memory-budget.ts';

interface Kept extends MemoryHolder {
  isThere: boolean;
}

function kept(bytes: number, isBusy = false): Kept {
  return {
    bytes,
    isThere: true,
    evict() {
      if (!isBusy) this.isThere = false;
      return !isBusy;
    },
  };
}

test('evicts the least recently used first, and no more than necessary', () => {
  const budget = new MemoryBudget(100);
  const [oldest, older, newest] = [kept(40), kept(30), kept(20)];
  for (const each of [older, oldest, newest]) budget.use(each);
  budget.use(older);
  expect(budget.fits(40, null)).toBe(true);
  expect([oldest, older, newest].map(({ isThere }) => isThere)).toEqual([false, true, true]);
  expect(budget.fits(50, null)).toBe(true);
  expect([older, newest].map(({ isThere }) => isThere)).toEqual([true, true]);
  expect(budget.fits(51, null)).toBe(true);
  expect([older, newest].map(({ isThere }) => isThere)).toEqual([true, false]);
});

test('keeps and counts what is in use', () => {
  const budget = new MemoryBudget(100);
  const busy = kept(60, true);
  budget.use(busy);
  expect(budget.fits(40, null)).toBe(true);
  expect(budget.fits(41, null)).toBe(false);
  budget.forget(busy);
  expect(budget.fits(41, null)).toBe(true);
});

test('does not count growth against its owner, and evicts nothing if it could never fit', () => {
  const budget = new MemoryBudget(100);
  const [own, other] = [kept(10, true), kept(30)];
  budget.use(other);
  budget.use(own);
  expect(budget.fits(70, own)).toBe(true);
  expect(budget.fits(101, own)).toBe(false);
  expect(other.isThere).toBe(true);
  expect(budget.fits(71, own)).toBe(true);
  expect(other.isThere).toBe(false);
});
