import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import { openGoalsOf } from './words-view.tsx';

const predicates = [
  { name: 'grandparent', arity: 2 },
  { name: 'grandparent', arity: 3 },
  { name: 'raining', arity: 0 },
  { name: 'born', arity: 2 },
];

function mention(constants: string[], names: string[]) {
  return { start: 0, end: 1, text: 'x', constants, predicates: names };
}

test('words that name only predicates become goals with variables, for each arity', () => {
  expect(openGoalsOf([mention([], ['grandparent']), mention(['ann'], [])], predicates)).toEqual([
    'grandparent(?x1, ?x2)',
    'grandparent(?x1, ?x2, ?x3)',
  ]);
  expect(openGoalsOf([mention([], ['raining'])], predicates)).toEqual(['raining()']);
  expect(openGoalsOf([mention(['ann'], [])], predicates)).toEqual([]);
});
