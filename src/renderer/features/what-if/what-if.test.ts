import '../../api/testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { whatIfInputSchema } from '../../../engine/contract/explanation.ts';
import { readChanges, whatIfRequestOf } from './changes-form.tsx';
import { outcomeRowsOf, totalsOf } from './outcome-view.tsx';
import { isSameSearch, whatIfSearchOf } from './what-if-search.ts';

const staged = {
  add: 'p(a, "c, d"). -q(b).\nr(?x) :- p(?x, ?y).',
  retract: 'q(b)',
  without: 'r7, r8,,r7',
  goals: 'r(?x).\n\n-q(?y)?\n% a comment',
};

describe('the changes that are tried', () => {
  test('are read from statements, ids and patterns', () => {
    const { changes, isReady, problems } = readChanges(staged);
    expect(isReady).toBe(true);
    expect(problems).toEqual({ add: [], retract: [], goals: [] });
    expect(changes.facts).toEqual([
      { predicate: 'p', args: ['a', 'c, d'], truthVal: true },
      { predicate: 'q', args: ['b'], truthVal: false },
    ]);
    expect(changes.rules).toEqual(['r(?x) :- p(?x, ?y)']);
    expect(changes.retracted).toEqual([{ predicate: 'q', args: ['b'], truthVal: true }]);
    expect(changes.without).toEqual(['r7', 'r8']);
    expect(changes.goals.map(({ predicate, negated }) => `${negated ? '-' : ''}${predicate}`)).toEqual([
      'r',
      '-q',
    ]);
  });

  test.each([
    { scope: { kind: 'all' } as const, fields: { scope: null, unscoped: false } },
    { scope: { kind: 'unscoped' } as const, fields: { scope: null, unscoped: true } },
    { scope: { kind: 'named', name: 'plan B' } as const, fields: { scope: 'plan B', unscoped: false } },
  ])('become a request that the service takes, in the scope $scope.kind', ({ scope, fields }) => {
    const parsed = whatIfInputSchema.parse(whatIfRequestOf(readChanges(staged).changes, scope));
    expect(parsed).toMatchObject({ ...fields, withoutRules: ['r7', 'r8'] });
    for (const part of [...parsed.assert, ...parsed.retract, ...parsed.rules])
      expect(part).toMatchObject(fields);
    expect(parsed.goals).toHaveLength(2);
  });

  test('without goals none are sent, so that all that the changes reach is looked at', () => {
    const { changes, isReady } = readChanges({ without: 'r1' });
    expect(isReady).toBe(true);
    expect(whatIfInputSchema.parse(whatIfRequestOf(changes, { kind: 'all' })).goals).toBeNull();
  });

  test('nothing to change is nothing to work out', () => {
    expect(readChanges({}).isReady).toBe(false);
    expect(readChanges({ goals: 'p(?x)' }).isReady).toBe(false);
  });

  test('what cannot be read is said with its place, and nothing is sent', () => {
    const { isReady, problems } = readChanges({
      add: 'p(a).\nq(',
      retract: 'p(?x). r(?x) :- p(?x).',
      goals: 'p(?x)\nq(?x',
    });
    expect(isReady).toBe(false);
    expect(problems.add[0]).toContain('Line 2');
    expect(problems.retract.join('\n')).toContain('Write facts here');
    expect(problems.goals[0]).toMatch(/^Line 2, column \d+: /);
  });
});

describe('the address of what is tried', () => {
  test('keeps what is text and drops the rest', () => {
    expect(whatIfSearchOf({ add: 'p(a).', retract: ' ', without: 3, other: 'x' })).toEqual({ add: 'p(a).' });
  });

  test('an absent field says the same as an empty one', () => {
    expect(isSameSearch({ add: 'p(a).', goals: '' }, { add: 'p(a).' })).toBe(true);
    expect(isSameSearch({ add: 'p(a).' }, { add: 'p(b).' })).toBe(false);
  });
});

describe('what the changes would do', () => {
  const goals = [
    { goal: 'p(?x)', before: ['p(a)', 'p(b)'], after: ['p(b)', 'p(c)'], gained: ['p(c)'], lost: ['p(a)'] },
    { goal: 'p(c)', before: [], after: ['p(c)'], gained: ['p(c)'], lost: [] },
  ];

  test('is told line by line, with what stays where that is wanted', () => {
    const words = (withUnchanged: boolean) =>
      outcomeRowsOf(goals, withUnchanged).map(({ change, atom, goal }) => `${change} ${atom} of ${goal}`);
    expect(words(false)).toEqual(['lost p(a) of p(?x)', 'gained p(c) of p(?x)', 'gained p(c) of p(c)']);
    expect(words(true)).toContain('unchanged p(b) of p(?x)');
  });

  test('a conclusion that two goals show is counted once', () => {
    expect(totalsOf(goals)).toEqual({ gained: 1, lost: 1 });
  });
});
