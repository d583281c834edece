import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import { ruleTrialRequestOf, triedOf } from './try-panel.tsx';

test('previews a text with its facts and rules, in its scope, in place of its original rule', () => {
  const request = ruleTrialRequestOf({
    text: 'p(a). q(?x) :- p(?x).',
    scope: { scope: 'draft' },
    instead: 'r1',
  });
  expect(request).toEqual({
    assert: [{ predicate: 'p', args: ['a'], truthVal: true, scope: 'draft' }],
    rules: [{ text: 'q(?x) :- p(?x)', scope: 'draft' }],
    withoutRules: ['r1'],
    scope: 'draft',
    timeoutMs: 20_000,
  });
  for (const text of ['q(?x) :-', '% nothing', 'q(?x) :- p(?y).'])
    expect(ruleTrialRequestOf({ text, scope: {}, instead: null })).toBeNull();
});

test('counts what several goals show once, and lists losses first', () => {
  const goal = { goal: 'q(?x)', before: ['q(a)'], after: ['q(b)'], gained: ['q(b)'], lost: ['q(a)'] };
  expect(triedOf({ goals: [goal, { ...goal, goal: 'q(b)', before: [], lost: [] }] })).toEqual({
    lines: [
      { change: 'lost', atom: 'q(a)' },
      { change: 'gained', atom: 'q(b)' },
    ],
    gained: 1,
    lost: 1,
  });
});
