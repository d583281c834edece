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

/** A value, and the actions that change it and change it back. */
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

test('queues a step that is requested during another', async () => {
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

test('undoes and redoes steps of all kinds in one order, each with its inverse', async () => {
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

test('ends redo at a new step, and replaces staged steps by the stored one', () => {
  const undone: Steps = { done: [step('a')], undone: [step('b')] };
  expect(withStep(undone, step('c')).undone).toEqual([]);
  const staged = withStep(withStep(withStep(noSteps, step('a')), step('b', 'staged')), step('c', 'staged'));
  expect(labels(withoutStaged(staged))).toEqual([['a'], []]);
});

test("explains a step that another user's change blocks, and continues with the one before it", async () => {
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

test('keeps a step that was refused for now', async () => {
  const here = space();
  record(here, 'only', () => Promise.reject(new Error('away')));
  expect(await move(historyOf(here), 'undo')).toBeNull();
  expect(nextStep(historyOf(here).getState(), 'undo')?.label).toBe('only');
});

test('reports and skips what cannot be undone', () => {
  const here = space();
  record(here, 'first', () => Promise.reject(new Error('away')));
  recordStuck(here, 'deleted the scope draft', 'a scope is deleted with all that is in it');
  expect(nextStep(historyOf(here).getState(), 'undo')?.label).toBe('first');
});

test('limits the number of steps', () => {
  let steps = noSteps;
  for (let number = 0; number < 250; number += 1) steps = withStep(steps, step(String(number)));
  expect(steps.done).toHaveLength(100);
});
