import '../../api/testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { fillIn, readExpected } from './why-not-panel.tsx';
import { type Attempt, attemptPremisesOf } from './explained.tsx';

function attempt(rule: string, bindings: Record<string, string>, satisfied: string[], missing: string[]) {
  return { rule, ruleId: 'r1', bindings, satisfied, missing } satisfies Attempt;
}

describe('the expected statement', () => {
  test('can be explained as it is if it has no variables', () => {
    expect(readExpected(' parent( alice ,"c, d" )? ')).toMatchObject({
      kind: 'ground',
      text: 'parent(alice, "c, d")',
    });
    expect(readExpected('-parent(alice, bob).')).toMatchObject({
      kind: 'ground',
      text: '-parent(alice, bob)',
      atom: { negated: true },
    });
  });

  test('has a blank for each variable, and one for each open position', () => {
    const read = readExpected('p(?x, a, ?y, ?x, ?_, ?_)');
    expect(read.kind === 'pattern' && read.blanks.map(({ label }) => label)).toEqual([
      '?x',
      '?y',
      'argument 5',
      'argument 6',
    ]);
  });

  test('can be chosen from the atoms of several conditions, each once, and nothing else', () => {
    expect(readExpected('p(?x), not q(?x), ?x < 3, -r(?x), p(?x)')).toEqual({
      kind: 'several',
      atoms: ['p(?x)', '-r(?x)'],
    });
    expect(readExpected('not q(a)').kind).toBe('wrong');
    expect(readExpected('p(?x').kind).toBe('wrong');
    expect(readExpected('').kind).toBe('wrong');
  });

  test('becomes ground when every blank has a value, and not before', () => {
    const read = readExpected('p(?x, ?_, ?x)');
    if (read.kind !== 'pattern') throw new Error('a pattern');
    expect(fillIn(read.atom, { '?x': 'a' })).toBeNull();
    expect(fillIn(read.atom, { '?x': 'a', 'argument 2': '?b' })).toBeNull();
    expect(fillIn(read.atom, { '?x': ' a ', 'argument 2': 'b, c' })).toBe('p(a, "b, c", a)');
  });
});

describe('the premises of an attempt', () => {
  test('are in the order of the rule, each with its truth', () => {
    const premises = attemptPremisesOf(
      attempt(
        'p(?x) :- q(?x, ?y), not r(?y), ?y < 3, s(?y, ?z)',
        { x: 'a', y: '5' },
        ['q(a, 5)', 'not r(5)'],
        ['s(5, ?z)', '5 < 3'],
      ),
    );
    expect(premises.map(({ text, holds }) => `${holds ? '+' : '-'} ${text}`)).toEqual([
      '+ q(a, 5)',
      '+ not r(5)',
      '- 5 < 3',
      '- s(5, ?z)',
    ]);
  });

  test('say what can be asked about: an atom, its negation, ground or not, or none', () => {
    const premises = attemptPremisesOf(
      attempt(
        'p(?x) :- q(?x, ?y), not r(?x), ?x != a, ?n = count { ?z : s(?z, ?x) }, ?n > 2',
        { x: 'a' },
        [],
        ['q(a, ?y)', 'not r(a)', 'a != a', '?n = count { ?z : s(?z, a) }', '?n > 2'],
      ),
    );
    expect(
      premises.map(({ atom, isAbsence, isGround }) =>
        atom === null ? 'none' : `${atom.predicate}${isAbsence ? ' absent' : ''}${isGround ? ' ground' : ''}`,
      ),
    ).toEqual(['q', 'r absent ground', 'none', 'none', 'none']);
  });

  test('include one that the rule does not show in this form, after the others', () => {
    const premises = attemptPremisesOf(attempt('p(?x) :- q(?x), r(?x)', { x: 'a' }, ['r(a)'], ['q(?other)']));
    expect(premises.map(({ text }) => text)).toEqual(['r(a)', 'q(?other)']);
  });

  test('include a premise that a rule names twice once', () => {
    expect(attemptPremisesOf(attempt('p(?x) :- q(?x), q(?x)', { x: 'a' }, [], ['q(a)']))).toHaveLength(1);
  });
});
