import { expect, test } from 'vitest';
import { type BudgetLimits, WindowBudget } from './open-window.ts';

const open: BudgetLimits = {
  maxFacts: 10,
  maxChars: null,
  maxTokens: null,
  maxFactsPerPredicate: null,
  predicates: null,
  relevanceBuckets: null,
};

function bucket(name: string, predicates: string[], weight: number, maxFacts: number | null = null) {
  return { name, predicates, weight, maxFacts };
}

const p = { predicate: 'p', charCount: 4, tokens: 0 };
const q = { predicate: 'q', charCount: 4, tokens: 0 };

test('accepts what fits, and nothing beyond maxFacts or maxChars', () => {
  const budget = new WindowBudget({ ...open, maxFacts: 2, maxChars: 11 });
  expect(budget.add(p)).toBeNull();
  expect(budget.add({ predicate: 'p', charCount: 8, tokens: 0 })).toBe('budget');
  expect(budget.add({ predicate: 'p', charCount: 7, tokens: 0 })).toBeNull();
  expect(budget.isFull).toBe(true);
  expect(budget.add(q)).toBe('budget');
  budget.remove(p);
  expect(budget.add(q)).toBeNull();
});

test('accepts nothing beyond maxTokens', () => {
  const budget = new WindowBudget({ ...open, maxTokens: 10 });
  expect(budget.countsTokens).toBe(true);
  expect(budget.add({ ...p, tokens: 6 })).toBeNull();
  expect(budget.add({ ...q, tokens: 5 })).toBe('budget');
  expect(
    budget.refusalOf([
      { ...q, tokens: 2 },
      { ...q, tokens: 3 },
    ]),
  ).toBe('budget');
  expect(
    budget.refusalOf([
      { ...q, tokens: 2 },
      { ...q, tokens: 2 },
    ]),
  ).toBeNull();
  expect(budget.add({ ...q, tokens: 4 })).toBeNull();
  expect(budget.isFull).toBe(true);
});

test('accepts several entries together or not at all', () => {
  const budget = new WindowBudget({ ...open, maxFactsPerPredicate: 1, predicates: ['p', 'q'] });
  expect(budget.refusalOf([p, q])).toBeNull();
  expect(budget.refusalOf([p, p])).toBe('predicate_cap');
  expect(budget.refusalOf([p, p, { predicate: 'r', charCount: 4, tokens: 0 }])).toBe('filtered');
  const small = new WindowBudget({ ...open, maxFacts: 1 });
  expect(small.refusalOf([p, q])).toBe('budget');
});

test('counts a fact in the first bucket that names its predicate', () => {
  const relevanceBuckets = [bucket('a', ['p'], 1, 1), bucket('b', ['p', 'q'], 1)];
  const budget = new WindowBudget({ ...open, relevanceBuckets });
  expect([budget.bucketOf('p'), budget.bucketOf('q'), budget.bucketOf('r')]).toEqual([0, 1, -1]);
  expect(budget.add(p)).toBeNull();
  expect(budget.add(p)).toBe('bucket');
  expect(budget.isClosed('p')).toBe(true);
  expect(budget.isClosed('q')).toBe(false);
});

test("computes maxAllocation as the least of the bucket's maxFacts and max(1, floor(weight / total weight * maxFacts))", () => {
  const relevanceBuckets = [bucket('a', ['p'], 3), bucket('b', ['q'], 6, 2), bucket('c', ['r'], 0.001)];
  expect(new WindowBudget({ ...open, relevanceBuckets }).maxAllocations).toEqual([3, 2, 1]);
});
