import { expect, test } from 'vitest';
import type { ContextWindow } from '../../../engine/contract/context.ts';
import { goalInWords, goalsTitle } from './words.ts';

type WindowGoal = ContextWindow['goals'][number];

function goal(part: Partial<WindowGoal>): WindowGoal {
  return {
    goal: 'p(?x)',
    status: 'proved',
    answers: { found: 3, whole: 3, premises: 0, omitted: 0 },
    atoms: ['p(a)', 'p(b)', 'p(c)'],
    needs: { facts: 2, chars: 12, tokens: null },
    reason: null,
    ...part,
  };
}

const left = { found: 1, whole: 0, premises: 0, omitted: 1 };

test('the title counts the goals, and the proved ones unless all are', () => {
  expect(goalsTitle([])).toBe('Goals (0)');
  expect(goalsTitle([goal({})])).toBe('Goals (1)');
  expect(goalsTitle([goal({}), goal({ status: 'no_answer' })])).toBe('Goals (1 of 2 proved)');
});

test('a goal says how much of it the window contains', () => {
  expect(goalInWords(goal({}))).toBe('3 answers, each with its whole proof.');
  const some = { found: 3, whole: 1, premises: 0, omitted: 2 };
  expect(goalInWords(goal({ answers: some }))).toBe('3 answers: 1 with a whole proof, 2 without.');
  expect(goalInWords(goal({ status: 'no_answer', needs: null }))).toMatch(/^No known fact/);
});

test('a goal that does not fit says what it needs, and why it was left out', () => {
  expect(goalInWords(goal({ status: 'does_not_fit', answers: left, reason: 'bucket' }))).toBe(
    '1 answer, none with a whole proof. The first one needs 2 facts and 12 characters. Its bucket had no room left.',
  );
  expect(goalInWords(goal({ status: 'premises', answers: { ...left, premises: 1, omitted: 0 } }))).toMatch(
    /All stored facts behind it are in the window\.$/,
  );
});
