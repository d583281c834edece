import { describe, expect, test } from 'vitest';
import { parseRule } from '../engine/language/parse.ts';
import { diagnoseText } from './diagnose-text.ts';

const knowledge = {
  predicates: [
    { name: 'parent', arity: 2 },
    { name: 'ancestor', arity: 2 },
    { name: 'question', arity: 1 },
  ],
  rules: [{ id: 'r1', rule: parseRule('ancestor(?x, ?y) :- parent(?x, ?y)'), scope: null }],
};

function of(text: string, mode: 'program' | 'question' = 'question') {
  return diagnoseText(text, mode, knowledge).map(
    ({ code, startLine, startColumn }) => `${code} ${startLine}:${startColumn}`,
  );
}

describe('diagnostics of a question', () => {
  test('are empty for a valid question, even if a variable occurs once', () => {
    expect(of('parent(?x, ?y), ancestor(?y, nora)')).toEqual([]);
    expect(of('parent(?x, bob)?')).toEqual([]);
  });

  test('have positions within the question', () => {
    expect(of('parent(?x, ?y) parent(?y, ?z)')).toEqual(['syntax 1:16']);
    expect(of('parent(?x, ?y),\n ?z < 3')).toEqual(['unsafe_variable 2:2']);
  });

  test('report an unknown predicate and another number of arguments', () => {
    const complaints = of('parnt(?x, ?y), parent(?x)');
    expect(complaints.some((complaint) => complaint.endsWith('1:1'))).toBe(true);
    expect(complaints).toContain('arity_drift 1:16');
  });

  test('reject several statements as one question', () => {
    expect(of('parent(?x, bob). parent(a, b).')).toContain('syntax 1:1');
  });

  test('are empty for an empty question', () => {
    expect(of('  ')).toEqual([]);
  });
});

test('of a program are those of the service', () => {
  expect(of('odd(?x) :- parent(?x, ?y), ?z < 3.', 'program').join(' ')).toContain('unsafe_variable');
});

test('report no cycle or duplicate between a text and the rule that it replaces', () => {
  const stored = parseRule('a(?x) :- parent(?x, ?_), not b(?x)');
  const known = { ...knowledge, rules: [{ id: 'r1', rule: stored, scope: null }] };
  const codes = (text: string, instead: string | null) =>
    diagnoseText(text, 'program', known, instead).map(({ code }) => code);
  const turned = 'b(?x) :- parent(?x, ?_), not a(?x).';
  expect(codes(turned, null)).toContain('negative_cycle');
  expect(codes(turned, 'r1')).not.toContain('negative_cycle');
  expect(codes('a(?x) :- parent(?x, ?_), not b(?x).', 'r1')).not.toContain('duplicate');
});

describe('a constraint', () => {
  const problems = (text: string) =>
    diagnoseText(text, 'constraint', { predicates: [], rules: [] })
      .filter(({ severity }) => severity === 'error')
      .map(({ message }) => message);

  test('is one denial, with or without its reason', () => {
    expect(problems('!- adult(?x), age(?x, ?a), ?a < 18 "an adult is 18 or older".')).toEqual([]);
    expect(problems('!- adult(?x), ?a < 18.').join()).toContain('?a');
    expect(problems('adult(ann).').join()).toContain('a constraint is !- and a body');
    expect(problems('!- p(?x).\n!- q(?x).').join()).toContain('one constraint at a time');
  });

  test('belongs to another view than rules, which say so', () => {
    const told = diagnoseText('!- p(?x).', 'program', { predicates: [], rules: [] });
    expect(told.map(({ message }) => message).join()).toContain('Schema, Constraints');
  });
});

test('reads arguments by name as they are declared', () => {
  const predicates = [{ name: 'lives_in', arity: 2, names: ['person', 'city'] }];
  const knowledge = { predicates, rules: [] };
  expect(diagnoseText('lives_in{city: ?c}', 'question', knowledge)).toEqual([]);
  expect(diagnoseText('lives_in{cty: ?c}', 'question', knowledge)).toMatchObject([
    { code: 'unknown_argument', startColumn: 10, endColumn: 13 },
  ]);
});

test('diagnostics of tests are those of their text, and of what is no test', () => {
  const found = (text: string) =>
    diagnoseText(text, 'tests', knowledge).map(({ message, startLine, startColumn }) => [
      startLine,
      startColumn,
      message,
    ]);
  expect(found('test "x" {\n  given parent(a, b).\n  expect ancestor(a, ?x) = b.\n}')).toEqual([]);
  expect(found('test "x" { expect ancestor(a, b). }\nparent(a, b).')).toEqual([
    [2, 1, 'only tests can stand here: suppose facts with given, in a test'],
  ]);
  expect(found('test "x" {\n  expect ancestor(a, ?x) = .\n}').map(([line]) => line)).toEqual([2]);
});
