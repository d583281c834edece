import { describe, expect, it } from 'vitest';
import { ArgumentNames } from '../../../engine/language/argument-names.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderBody } from '../../../engine/language/print.ts';
import {
  composedOf,
  composedText,
  type Condition,
  conditionProblem,
  freshVariable,
  newPattern,
  variablesOfForm,
} from './composed-question.ts';

function conditionsOf(text: string): readonly Condition[] {
  const read = composedOf(text);
  if ('reason' in read) throw new Error(read.reason);
  return read.conditions;
}

describe('a question as a form', () => {
  it.each([
    'parent(alice, ?child)',
    'parent(?x, "Smith, J."), -met(?x, ?_)',
    'not parent(?x, ?_), person(?x), not -met(?x, a)',
    'age(?x, ?n), ?n >= 18, ?x != "a b"',
    'person(?x), ?n = count { ?y : parent(?x, ?y), person(?y) }, ?n > 2',
    '?n = sum { ?v, ?id : item(?id, ?v) }',
    'age(?x, ?n), ?m = ?n mod 2, 0 = ?n - "a b"',
    'sunny()',
  ])('%s is written as it was read', (text) => {
    const conditions = conditionsOf(text);
    expect(composedText(conditions)).toBe(text);
    expect(conditions.map(conditionProblem).filter((problem) => problem !== null)).toEqual([]);
  });

  it('ends without a question mark, and breaks a long text into lines that mean the same', () => {
    expect(composedText(conditionsOf(' parent(alice, ?x)? '))).toBe('parent(alice, ?x)');
    const long = Array.from({ length: 8 }, (_, at) => `condition${at}(?x, value ${at})`).join(', ');
    const text = composedText(conditionsOf(long));
    expect(text.split('\n')).toHaveLength(8);
    expect(renderBody(parseBody(text))).toBe(long);
  });

  it.each([
    ['3 = count { ?y : p(?y) }', 'compared at once'],
    ['?n = count { ?y : p(?y), ?y > 2 }', 'more than patterns'],
    ['p{name: ?x}', 'cannot be read'],
    ['p(?x), % why\nq(?x)', 'comments'],
    ['who is carol', 'cannot be read'],
    ['p(?x', 'cannot be read'],
  ])('%s is beyond the form', (text, reason) => {
    expect(composedOf(text)).toMatchObject({ reason: expect.stringContaining(reason) as string });
  });

  it('writes declared arguments by their names, and reads them in whatever order', () => {
    const arguments_ = [{ name: 'person' }, { name: 'city' }];
    const names = new ArgumentNames([{ name: 'lives_in', arity: 2, arguments: arguments_ }]);
    const text = 'lives_in{person: ann, city: ?c}, not lives_in{person: ?_, city: "a {b}"}, town(?c)';
    const read = composedOf('lives_in{city: ?c, person: ann}, not lives_in(?_, a {b}), town(?c)', names);
    if ('reason' in read) throw new Error(read.reason);
    expect(composedText(read.conditions, names)).toBe(text.replace(/, (not|town)/g, ',\n$1'));
    expect(renderBody(parseBody(text, 'text', names))).toBe(
      'lives_in(ann, ?c), not lives_in(?_, a {b}), town(?c)',
    );
  });

  it('names what is missing', () => {
    const [pattern] = conditionsOf('p(?x)');
    const terms = [{ kind: 'variable', text: '?' }] as const;
    expect(conditionProblem({ ...(pattern as Condition & { kind: 'pattern' }), terms })).toContain(
      'variable',
    );
    expect(conditionProblem({ kind: 'pattern', predicate: '', terms: [], mode: 'is' })).toBe(
      'Choose a predicate',
    );
    expect(
      conditionProblem({ kind: 'aggregate', operation: 'sum', result: '?n', over: [], patterns: [] }),
    ).toBe('Choose what it is of');
    const operand = { kind: 'anything' } as const;
    expect(
      conditionProblem({ kind: 'comparison', operator: '<', left: operand, right: operand }),
    ).not.toBeNull();
    const sum = {
      kind: 'calculation',
      operator: '+',
      result: operand,
      left: operand,
      right: operand,
    } as const;
    expect(conditionProblem(sum)).not.toBeNull();
    const constant = { kind: 'constant', text: '?x' } as const;
    expect(
      conditionProblem({ kind: 'pattern', predicate: 'p', terms: [constant], mode: 'is' }),
    ).not.toBeNull();
  });

  it('gives new patterns variables of their own, named as their arguments are', () => {
    const conditions = conditionsOf('lives(?person, ?x), ?n = count { ?y : p(?y) }');
    expect(variablesOfForm(conditions)).toEqual(['?person', '?x', '?n']);
    expect(freshVariable(conditions, 'person')).toBe('?person2');
    expect(freshVariable(conditions, 'a b')).toBe('?z');
    expect(newPattern(conditions, { name: 'knows', arity: 2 }, ['person', 'person']).terms).toEqual([
      { kind: 'variable', text: '?person2' },
      { kind: 'variable', text: '?person3' },
    ]);
  });
});
