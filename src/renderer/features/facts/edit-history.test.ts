import { expect, test } from 'vitest';
import {
  type EditHistory,
  emptyHistory,
  stepBack,
  stepForth,
  withApplied,
  withoutStep,
  withStaged,
} from './edit-history.ts';
import { type FactContent, type FactChange, stageAdded } from './staged-edits.ts';

const fact = (arg: string): FactContent => ({
  predicate: 'p',
  args: [arg],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: {},
});
const add = (history: EditHistory, arg: string) =>
  withStaged(history, `added ${arg}`, stageAdded(history.edits, fact(arg)));
const changes: FactChange[] = [{ before: null, after: fact('a') }];

test('staging is undone and done again step by step', () => {
  const one = add(emptyHistory, 'a');
  const two = add(one, 'b');
  const back = stepBack(stepBack(two));
  expect(back.edits).toEqual([]);
  expect(stepBack(back)).toBe(back);
  expect(stepForth(back).edits).toEqual(one.edits);
  expect(stepForth(stepForth(back))).toEqual(two);
});

test('the same edits are no step, and a new step ends what could be done again', () => {
  const one = add(emptyHistory, 'a');
  expect(withStaged(one, 'nothing', one.edits)).toBe(one);
  expect(add(stepBack(one), 'b').undone).toEqual([]);
});

test('to apply leaves one step in place of those that led there', () => {
  const applied = withApplied(add(add(emptyHistory, 'a'), 'b'), 'applied 2 added', changes, 7);
  expect(applied.edits).toEqual([]);
  expect(applied.done).toEqual([{ kind: 'applied', label: 'applied 2 added', changes, generation: 7 }]);
  expect(withApplied(add(applied, 'c'), 'applied', changes, 9).done).toHaveLength(2);
  expect(withApplied(add(emptyHistory, 'a'), 'applied', [], 0).done).toEqual([]);
});

test('an applied step goes back and forth with the generation of each transaction', () => {
  const applied = withApplied(add(emptyHistory, 'a'), 'applied', changes, 7);
  expect(stepBack(applied)).toBe(applied);
  const back = stepBack(applied, 8);
  expect(back).toMatchObject({ edits: [], done: [], undone: [{ generation: 8 }] });
  expect(stepForth(back, 9)).toMatchObject({ done: [{ generation: 9 }], undone: [] });
});

test('a step that can no longer be undone makes way for the one before it', () => {
  const first = withApplied(emptyHistory, 'first', changes, 1);
  const second = withApplied(first, 'second', changes, 2);
  const [, step] = second.done;
  if (step === undefined) throw new Error('no second step');
  expect(withoutStep(second, step)).toEqual(first);
});

test('steps are bounded', () => {
  let history = emptyHistory;
  for (let number = 0; number < 250; number += 1) history = add(history, String(number));
  expect(history.done).toHaveLength(100);
  expect(history.edits).toHaveLength(250);
});
