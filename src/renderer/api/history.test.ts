import { expect, test } from 'vitest';
import {
  type Act,
  historyOf,
  move,
  nextStep,
  noSteps,
  record,
  recordStuck,
  type HistoryStep,
  type Steps,
  withoutStaged,
  withStep,
} from './history.ts';
import { ApiError } from './problem.ts';

let spaces = 0;
const space = () => ({ database: 'd', tenant: `t${(spaces += 1)}` });

/** A value, and the acts that set it to another and back. */
function cell(value: string) {
  const at = { value };
  const set = (wanted: string): Act => {
    return () => {
      const before = at.value;
      at.value = wanted;
      return Promise.resolve(set(before));
    };
  };
  return { at, set };
}

const step = (label: string, kind: HistoryStep['kind'] = 'stored'): HistoryStep => ({
  kind,
  label,
  act: () => Promise.reject(new Error('not to be taken')),
  stuck: null,
});
const labels = ({ done, undone }: Steps) => [
  done.map(({ label }) => label),
  undone.map(({ label }) => label),
];

test('a step that is asked for while another is under way waits for its turn', async () => {
  const here = space();
  const { at, set } = cell('c');
  record(here, 'b', set('a'));
  record(here, 'c', set('b'));
  const store = historyOf(here);
  const both = await Promise.all([move(store, 'undo'), move(store, 'undo')]);
  expect(both.map((step) => step?.label)).toEqual(['c', 'b']);
  expect(at.value).toBe('a');
  expect(store.getState().running).toBeNull();
});

test('steps of all kinds go back and forth in one order, each with what takes it back', async () => {
  const here = space();
  const { at, set } = cell('c');
  record(here, 'b', set('a'), 'staged');
  record(here, 'c', set('b'));
  const store = historyOf(here);
  await move(store, 'undo');
  await move(store, 'undo');
  expect(at.value).toBe('a');
  expect(await move(store, 'undo')).toBeNull();
  expect(labels(store.getState())).toEqual([[], ['c', 'b']]);
  await move(store, 'redo');
  await move(store, 'redo');
  expect(at.value).toBe('c');
  expect(labels(store.getState())).toEqual([['b', 'c'], []]);
});

test('a new step ends what could be done again, and what is stored takes the place of its staging', () => {
  const undone: Steps = { done: [step('a')], undone: [step('b')] };
  expect(withStep(undone, step('c')).undone).toEqual([]);
  const staged = withStep(withStep(withStep(noSteps, step('a')), step('b', 'staged')), step('c', 'staged'));
  expect(labels(withoutStaged(staged))).toEqual([['a'], []]);
});

test('a step that somebody else stands against says why, and makes way for the one before it', async () => {
  const here = space();
  const { at, set } = cell('b');
  record(here, 'first', set('a'));
  record(here, 'second', () =>
    Promise.reject(new ApiError({ status: 409, code: 'Conflict', detail: 'it was changed since' } as never)),
  );
  const store = historyOf(here);
  expect(await move(store, 'undo')).toBeNull();
  expect(store.getState().failure?.detail).toBe('it was changed since');
  expect(store.getState().done.at(-1)).toMatchObject({ label: 'second', stuck: 'it was changed since' });
  expect((await move(store, 'undo'))?.label).toBe('first');
  expect(at.value).toBe('a');
});

test('a step that was refused for now stays where it is', async () => {
  const here = space();
  record(here, 'only', () => Promise.reject(new Error('away')));
  expect(await move(historyOf(here), 'undo')).toBeNull();
  expect(nextStep(historyOf(here).getState(), 'undo')?.label).toBe('only');
});

test('what cannot be undone is told and passed over', () => {
  const here = space();
  record(here, 'first', () => Promise.reject(new Error('away')));
  recordStuck(here, 'deleted the scope draft', 'a scope is deleted with all that is in it');
  expect(nextStep(historyOf(here).getState(), 'undo')?.label).toBe('first');
});

test('steps are bounded', () => {
  let steps = noSteps;
  for (let number = 0; number < 250; number += 1) steps = withStep(steps, step(String(number)));
  expect(steps.done).toHaveLength(100);
});
