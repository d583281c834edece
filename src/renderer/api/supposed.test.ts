import { expect, test } from 'vitest';
import { withoutSupposedAway } from './supposed.ts';

test('does not count a fact supposed to be retracted as a lost conclusion', () => {
  const goal = { goal: 'p(?x1)', before: ['-p(a)', 'p(a)', 'p(b)'], after: [], gained: [] };
  const result = { goals: [{ ...goal, lost: ['-p(a)', 'p(a)', 'p(b)'] }] };
  const lostOf = (retracted: Parameters<typeof withoutSupposedAway>[1]) =>
    withoutSupposedAway(result, retracted).goals[0]?.lost;
  expect(lostOf([{ predicate: 'p', args: ['a'], truthVal: true }])).toEqual(['-p(a)', 'p(b)']);
  expect(lostOf([{ predicate: 'p', args: ['a'], truthVal: null }])).toEqual(['p(b)']);
  expect(lostOf([])).toEqual(['-p(a)', 'p(a)', 'p(b)']);
});
