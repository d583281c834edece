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

describe('the supposed changes', () => {
  test('are parsed from statements, ids and patterns', () => {
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
  ])('become a valid request of the service, in the scope $scope.kind', ({ scope, fields }) => {
    const parsed = whatIfInputSchema.parse(whatIfRequestOf(readChanges(staged).changes, scope));
    expect(parsed).toMatchObject({ ...fields, withoutRules: ['r7', 'r8'] });
    for (const part of [...parsed.assert, ...parsed.retract, ...parsed.rules])
      expect(part).toMatchObject(fields);
    expect(parsed.goals).toHaveLength(2);
  });

  test('send no goals without any, which covers everything that the changes reach', () => {
    const { changes, isReady } = readChanges({ without: 'r1' });
    expect(isReady).toBe(true);
    expect(whatIfInputSchema.parse(whatIfRequestOf(changes, { kind: 'all' })).goals).toBeNull();
  });

  test('send no request if they are empty', () => {
    expect(readChanges({}).isReady).toBe(false);
    expect(readChanges({ goals: 'p(?x)' }).isReady).toBe(false);
  });

  test('report errors with their position, and send nothing', () => {
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

describe('the address of the changes', () => {
  test('keeps what is text and drops the rest', () => {
    expect(whatIfSearchOf({ add: 'p(a).', retract: ' ', without: 3, other: 'x' })).toEqual({ add: 'p(a).' });
  });

  test('treats an absent field like an empty one', () => {
    expect(isSameSearch({ add: 'p(a).', goals: '' }, { add: 'p(a).' })).toBe(true);
    expect(isSameSearch({ add: 'p(a).' }, { add: 'p(b).' })).toBe(false);
  });
});

describe('the effect of the changes', () => {
  const goals = [
    { goal: 'p(?x)', before: ['p(a)', 'p(b)'], after: ['p(b)', 'p(c)'], gained: ['p(c)'], lost: ['p(a)'] },
    { goal: 'p(c)', before: [], after: ['p(c)'], gained: ['p(c)'], lost: [] },
  ];

  test('is listed line by line, with what stays on request', () => {
    const words = (withUnchanged: boolean) =>
      outcomeRowsOf(goals, withUnchanged).map(({ change, atom, goal }) => `${change} ${atom} of ${goal}`);
    expect(words(false)).toEqual(['lost p(a) of p(?x)', 'gained p(c) of p(?x)', 'gained p(c) of p(c)']);
    expect(words(true)).toContain('unchanged p(b) of p(?x)');
  });

  test('counts a conclusion of two goals once', () => {
    expect(totalsOf(goals)).toEqual({ gained: 1, lost: 1 });
  });
});
