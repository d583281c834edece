import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import type { AtomLiteral, Literal, Rule } from '../contract/language.ts';
import { bodyProblems, checkBody, checkRule, ruleProblems, singletonVariables } from './check.ts';
import { parseBody, parseRule } from './parse.ts';

function atom(predicate: string, ...args: string[]): AtomLiteral {
  return { predicate, args, negated: false, naf: false };
}

function refusal(rule: Rule | string): EngineError {
  try {
    checkRule(typeof rule === 'string' ? parseRule(rule) : rule);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

function expectSafe(...texts: string[]): void {
  for (const text of texts) expect(ruleProblems(parseRule(text)), text).toEqual([]);
}

function expectUnsafe(text: string, ...variables: string[]): void {
  const error = refusal(text);
  expect([error.code, error.status], text).toEqual(['RuleException', 422]);
  expect(error.members['variables'], text).toEqual(variables);
  for (const variable of variables) expect(error.message).toContain(variable);
}

test('requires every variable of the head to be bound by an atom of the body', () => {
  expectSafe('h(?x) :- p(?x, ?y)', 'h(a) :- p(?x)', 'h() :- p()', 'h(?x) :- -p(?x)');
  expectUnsafe('h(?z) :- p(?x)', '?z');
  expectUnsafe('-h(?x, ?y) :- p(?x)', '?y');
});

test('requires the variables of a default-negated atom to be bound elsewhere', () => {
  expectSafe('h(?x) :- p(?x), not q(?x)', 'h(?x) :- not q(?x), p(?x)');
  expectUnsafe('h(?x) :- not p(?x)', '?x');
  expectUnsafe('h(?x) :- p(?x), not q(?y)', '?y');
});

test('requires both sides of a comparison to be bound', () => {
  expectSafe('h(?x) :- p(?x), ?x < 3', 'h(?x) :- ?x != b, p(?x)');
  expectUnsafe('h(?x) :- p(?x), ?x < ?y', '?y');
});

test('requires bound inputs for arithmetic, which binds its result', () => {
  expectSafe('h(?z) :- p(?x), ?z = ?x + 1', 'h(?z) :- ?z = ?x * ?y, p(?x), p(?y)', 'h(?z) :- ?z = 1 + 2');
  expectUnsafe('h(?z) :- p(?x), ?z = ?x + ?w', '?w');
  expectUnsafe('h(?z) :- ?z = ?z + 1', '?z');
  expectUnsafe('h(?x) :- p(?z), ?z = ?x + 1', '?x');
});

test('binds by = if a side is bound or constant, in chains and in any order', () => {
  expectSafe(
    'h(?x) :- ?x = a',
    'h(?x) :- a = ?x',
    'h(?z) :- ?z = ?y, ?y = ?x, p(?x)',
    'h(?w) :- ?w = ?z + 1, ?z = ?y, ?y = ?n, ?n = count { ?a : p(?a) }',
  );
  expectUnsafe('h(?x) :- ?x = ?y', '?x', '?y');
  expectUnsafe('h(?x) :- ?x = ?x', '?x');
});

test("binds an aggregate's result once the variables that it shares with the outside are bound", () => {
  expectSafe(
    'h(?n) :- ?n = count { ?y : p(?y) }',
    'h(?x, ?n) :- q(?x), ?n = count { ?y : p(?x, ?y) }',
    'h(?a, ?b) :- ?a = count { ?y : p(?y) }, ?b = sum { ?y : q(?y) }',
    'h(?x, ?n) :- q(?x), ?n = sum { ?v, ?y : p(?x, ?y, ?w), ?v = ?w * 2 }',
    'h(?n) :- ?n = max { ?m : g(?y), ?m = count { ?z : p(?y, ?z) } }',
  );
  expectUnsafe('h(?x, ?n) :- ?n = count { ?y : p(?x, ?y) }', '?x');
  expectUnsafe('h(?n) :- ?n = count { ?n : p(?n) }', '?n');
  expectUnsafe('h(?n) :- ?n = count { ?y : p(?x) }', '?y');
  expectUnsafe('h(?n) :- ?n = count { ?y : p(?y), ?y < ?z }', '?z');
  expectUnsafe('h(?n) :- ?n = count { ?y : p(?y), not q(?z) }', '?z');
  expectUnsafe('h(?y) :- ?n = count { ?y : p(?y) }', '?y');
});

test('keeps a variable inside braces local to them', () => {
  expectUnsafe('h(?n, ?y) :- ?n = count { ?y : p(?y) }, not q(?n)', '?y');
});

test('allows ?_ in atoms, default-negated ones too, not in heads or built-ins', () => {
  expectSafe('h(?x) :- p(?x, ?_), not q(?x, ?_)', 'h(?n) :- ?n = count { ?x : p(?x, ?_) }');
  expectUnsafe('h(?_) :- p(?x)', '?_');
  expectUnsafe('h(?x) :- p(?x), ?x < ?_', '?_');
  expectUnsafe('h(?x) :- p(?x), ?_ = ?x', '?_');
  expectUnsafe('h(?x) :- p(?x), ?_ = count { ?y : p(?y) }', '?_');
  expectUnsafe('h(?x) :- p(?x), ?n = count { ?_ : p(?y) }', '?_');
});

test('reports only the beginning of a chain', () => {
  expectUnsafe('h(?z) :- ?y = ?x + 1, ?z = ?y + 1', '?x');
});

test('requires two arguments for a built-in, three for arithmetic: else 400', () => {
  for (const literal of [atom('<', '1'), atom('=', '1', '2', '3'), atom('+', '1', '2'), atom('mod', '1')]) {
    const error = refusal({ head: atom('h'), body: [literal] });
    expect([error.status, error.code]).toEqual([400, 'ValidationException']);
    expect(error.members.errors?.[0]?.path).toBe('body.0');
  }
});

test("rejects a built-in's name in a head with 400, and a negated built-in", () => {
  expect(refusal({ head: atom('mod', 'a'), body: [atom('p')] }).status).toBe(400);
  expect(refusal({ head: atom('h'), body: [{ ...atom('<', '1', '2'), naf: true }] }).status).toBe(400);
  expect(refusal({ head: atom('h'), body: [{ ...atom('<', '1', '2'), negated: true }] }).status).toBe(400);
});

test('accepts 1 to 256 body literals', () => {
  const many = (count: number): Rule => ({
    head: atom('h'),
    body: Array.from({ length: count }, () => atom('p')),
  });
  expect(refusal(many(0)).status).toBe(400);
  expect(refusal(many(257)).status).toBe(400);
  checkRule(many(256));
});

test('accepts only variables before the colon of an aggregate, and limits nesting', () => {
  const aggregate = (over: string[], body: Literal[]): Literal => ({
    aggregate: 'count',
    result: '?n',
    over,
    body,
  });
  expect(refusal({ head: atom('h'), body: [aggregate(['a'], [atom('p')])] }).status).toBe(400);
  expect(refusal({ head: atom('h'), body: [aggregate([], [atom('p')])] }).status).toBe(400);
  let nested = aggregate(['?x'], [atom('p', '?x')]);
  for (let depth = 0; depth < 10_000; depth++) nested = aggregate(['?n'], [nested]);
  expect(refusal({ head: atom('h'), body: [nested] }).status).toBe(400);
});

test('checks a question that is a body like a rule without a head', () => {
  checkBody(parseBody('p(?x, ?_), not q(?x), ?x < 3'));
  expect(bodyProblems(parseBody('p(?x), not q(?y)')).map((problem) => problem.variable)).toEqual(['?y']);
});

test('reports a variable that occurs once as singleton, except ?_', () => {
  expect(singletonVariables(parseRule('h(?x) :- p(?x, ?y), q(?_), ?n = count { ?z : r(?z) }'))).toEqual([
    '?y',
    '?n',
  ]);
});
