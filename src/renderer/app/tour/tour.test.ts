import '../../api/testing/browser.ts';
import { expect, test } from 'vitest';
import { parseAtom, parseBody, parseProgram } from '../../../engine/language/parse.ts';
import { readProgress } from './tour-store.ts';
import { type Call, type ShownPage, type StepId, tourSteps } from './tour-steps.ts';

const progress = {
  isOpen: true,
  step: 2,
  database: 'default',
  tenant: 'default',
  before: { facts: [0], rules: ['r1'] },
};

test('reads progress back as stored', () => {
  expect(readProgress(JSON.parse(JSON.stringify(progress)))).toEqual(progress);
});

test('ignores stored values that are not progress of the tour', () => {
  for (const other of [
    null,
    'tour',
    {},
    { ...progress, step: -1 },
    { ...progress, before: { facts: ['0'] } },
  ])
    expect(readProgress(other), JSON.stringify(other)).toBeNull();
});

test('can parse everything that the tour asks the user to type', () => {
  const text = (id: StepId) => tourSteps.find((step) => step.id === id)?.text ?? '';
  expect(parseProgram(text('assert')).errors).toEqual([]);
  expect(parseProgram(text('teach')).errors).toEqual([]);
  expect(parseBody(text('ask'))).toHaveLength(1);
  expect(parseAtom(text('window'), 'goal').predicate).toBe('grandparent');
});

/** For steps that check the screen first: if it shows something else, they ask nothing. */
const neverAsks: Call = () => Promise.reject(new Error('the service was asked'));

test.each<[StepId, ShownPage]>([
  ['ask', { path: '/facts', search: {} }],
  ['ask', { path: '/ask', search: { question: 'parent(alice, ?who)' } }],
  ['ask', { path: '/ask', search: { question: 'grandparent(alice,' } }],
  ['ask', { path: '/ask', search: { question: 'grandparent(alice, ?who)', stored: 'true' } }],
  ['why', { path: '/ask', search: { question: 'grandparent(alice, ?who)' } }],
  ['why', { path: '/proof', search: { question: 'parent(alice, bob)' } }],
  ['window', { path: '/context', search: { goals: 'parent(alice, ?who)' } }],
  ['window', { path: '/context', search: { goals: 'grandparent(alice' } }],
])('does not count the step %s as done by what is on screen: %j', async (id, shown) => {
  const step = tourSteps.find((one) => one.id === id);
  expect(await step?.isDone(neverAsks, shown)).toBe(false);
});
