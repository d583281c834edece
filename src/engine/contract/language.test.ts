import { expect, test } from 'vitest';
import { predicateProblem } from './language.ts';
import { bodySchema, constantsSchema, headSchema, predicateSchema, termsSchema } from './language-schemas.ts';
import { plainFact } from './facts.ts';
import { areTerms } from './plain-input.ts';

function terms(...values: unknown[]): string[] {
  return termsSchema.parse(values);
}

test('converts numbers and booleans to their shortest text', () => {
  expect(terms(3, 1.5, 1.0, -0, 1e-7, true, false, '1.50')).toEqual([
    '3',
    '1.5',
    '1',
    '0',
    '1e-7',
    'true',
    'false',
    '1.50',
  ]);
});

test('rejects an integer beyond +-(2^53 - 1), and accepts it as text', () => {
  expect(terms(Number.MAX_SAFE_INTEGER, '9007199254740993')).toEqual([
    '9007199254740991',
    '9007199254740993',
  ]);
  for (const value of [2 ** 53, -(2 ** 53), 1e21]) {
    const outcome = termsSchema.safeParse([value]);
    expect(JSON.stringify(outcome.error?.issues)).toContain('send it as a string');
  }
});

test('reads ? followed by letters, digits or _ as a variable; a constant never starts with ?', () => {
  expect(terms('?x', '?_', '?Größe_2', '?名')).toHaveLength(4);
  for (const text of ['?', '? x', '?x y', '?x-y', '??', '?"'])
    expect(termsSchema.safeParse([text]).success, text).toBe(false);
  expect(constantsSchema.safeParse(['?x']).success).toBe(false);
  expect(constantsSchema.parse([' ?x', 'x?'])).toEqual([' ?x', 'x?']);
});

test('rejects other values, null and lone surrogates as arguments', () => {
  for (const value of [
    null,
    undefined,
    {},
    [],
    ['a'],
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '\ud800',
    'a\udc00',
  ])
    expect(termsSchema.safeParse([value]).success, JSON.stringify(value)).toBe(false);
  expect(terms('😀', '')).toEqual(['😀', '']);
});

test('accepts constants of at most 65,536 bytes of UTF-8', () => {
  for (const unit of ['a', 'é', '名', '😀']) {
    const bytes = Buffer.byteLength(unit);
    const longest = unit.repeat(Math.floor(65_536 / bytes));
    const longer = `${longest}${unit}`;
    expect(terms(longest)).toEqual([longest]);
    expect(areTerms([longest])).toBe(true);
    expect(areTerms([longer])).toBe(false);
    expect(plainFact({ predicate: 'p', args: [longer] })).toBeNull();
    const { error } = termsSchema.safeParse(['a', longer]);
    expect(error?.issues).toMatchObject([{ path: [1] }]);
    expect(error?.issues[0]?.message).toBe(
      `a constant has at most 65536 bytes of UTF-8; this one has ${Buffer.byteLength(longer)}`,
    );
  }
});

test('accepts at most 64 arguments', () => {
  const many = (count: number): string[] => Array.from({ length: count }, () => 'a');
  expect(termsSchema.safeParse(many(64)).success).toBe(true);
  expect(termsSchema.safeParse(many(65)).success).toBe(false);
  expect(termsSchema.safeParse([]).success).toBe(true);
});

test('rejects a predicate with a forbidden character', () => {
  for (const name of [
    'p',
    'P',
    'not',
    'count',
    'größer',
    'a-b',
    'x:y',
    'http://example.org/p#q',
    'a?',
    'x'.repeat(256),
  ])
    expect(predicateProblem(name), name).toBeNull();
  for (const name of [
    '',
    'a b',
    'a\u00a0b',
    'a\n',
    'a(',
    'a)',
    'a,b',
    '{',
    '}',
    'a;',
    '"',
    "'",
    '`',
    'a:-b',
    '?p',
    '-p',
    '%p',
    '#p',
    'p.',
    'x'.repeat(257),
    '\ud800',
  ])
    expect(predicateProblem(name), JSON.stringify(name)).not.toBeNull();
});

test('rejects the names of built-ins as predicates of facts and heads, and accepts them in bodies', () => {
  for (const name of ['<', '<=', '>', '>=', '=', '!=', '+', '*', '/', 'mod']) {
    expect(predicateSchema.safeParse(name).success, name).toBe(false);
    expect(headSchema.safeParse({ predicate: name, args: [] }).success, name).toBe(false);
    expect(bodySchema.safeParse([{ predicate: name, args: ['?x', '?y', '?z'] }]).success, name).toBe(true);
  }
});

test('has defaults for the flags of a literal, and rejects a misspelt one', () => {
  expect(bodySchema.parse([{ predicate: 'p', args: ['a'], naf: null }])).toEqual([
    { predicate: 'p', args: ['a'], negated: false, naf: false },
  ]);
  expect(bodySchema.safeParse([{ predicate: 'p', args: [], nagated: true }]).success).toBe(false);
  expect(headSchema.safeParse({ predicate: 'p', args: [], naf: true }).success).toBe(false);
});

test('accepts a body of 1 to 256 literals, with aggregates that have bodies of their own', () => {
  const atom = { predicate: 'p', args: ['?x'] };
  expect(bodySchema.safeParse([]).success).toBe(false);
  expect(bodySchema.safeParse(Array.from({ length: 256 }, () => atom)).success).toBe(true);
  expect(bodySchema.safeParse(Array.from({ length: 257 }, () => atom)).success).toBe(false);
  const count = { aggregate: 'count', result: '?n', over: ['?x'], body: [atom] };
  expect(bodySchema.parse([count])).toEqual([{ ...count, body: [{ ...atom, negated: false, naf: false }] }]);
  for (const wrong of [
    { ...count, over: [] },
    { ...count, body: [] },
    { ...count, aggregate: 'median' },
  ])
    expect(bodySchema.safeParse([wrong]).success).toBe(false);
});
