import { expect, test } from 'vitest';
import type { z } from 'zod';
import {
  factInputSchema,
  factsInputSchema,
  listFactsQuerySchema,
  queryInputSchema,
  retractInputSchema,
  retractPatternInputSchema,
} from './facts.ts';
import { askInputSchema } from './inference.ts';
import { jsonSchemaOf } from './json-schema.ts';
import type { OperationSpec } from './operation-spec.ts';
import { operations } from './operations.ts';
import { ruleInputSchema, ruleUpdateSchema } from './rules.ts';
import { validate } from './validation.ts';

/** Requests as schemas see them: defaults, and errors that name the field. */

const fact = { predicate: 'p', args: ['a'] };

/** The errors as `path: message`; empty if the value is accepted. */
function complaints(schema: z.ZodType, value: unknown): string[] {
  const outcome = validate(schema, value);
  return outcome.ok ? [] : outcome.errors.map(({ path, message }) => `${path}: ${message}`);
}

/** The paths of the errors. */
function paths(schema: z.ZodType, value: unknown): string[] {
  const outcome = validate(schema, value);
  return outcome.ok ? [] : outcome.errors.map(({ path }) => path);
}

test('gives a fact the defaults of the contract, null counting as absent', () => {
  const whole = {
    ...fact,
    truthVal: true,
    scope: null,
    unscoped: false,
    ttl: null,
    validFrom: null,
    validUntil: null,
    metadata: null,
    ifGeneration: null,
  };
  expect(factInputSchema.parse(fact)).toEqual(whole);
  const nulls = Object.fromEntries(Object.keys(whole).map((key) => [key, null]));
  expect(factInputSchema.parse({ ...nulls, ...fact })).toEqual(whole);
});

test('rejects an unknown field by its name, and a missing one by its own', () => {
  expect(complaints(factInputSchema, { ...fact, truthval: false })).toEqual(['truthval: unknown field']);
  expect(paths(factInputSchema, { args: [] })).toEqual(['predicate']);
  expect(paths(askInputSchema, { ...fact, withproof: true })).toEqual(['withproof']);
  expect(paths(factsInputSchema, { facts: [fact, { ...fact, scop: 's' }] })).toEqual(['facts.1.scop']);
  expect(paths(factsInputSchema, [fact, fact, { predicate: 'p', args: ['a', '?x'] }])).toEqual([
    'facts.2.args.1',
  ]);
});

test('accepts a batch as an object or a bare array of 1 to 100,000 facts', () => {
  expect(complaints(factsInputSchema, [fact])).toEqual([]);
  expect(complaints(factsInputSchema, { facts: [fact] })).toEqual([]);
  for (const value of [[], { facts: [] }, {}, null, 'p(a)'])
    expect(paths(factsInputSchema, value)).not.toEqual([]);
  const many = Array.from({ length: 100_001 }, () => fact);
  expect(paths(factsInputSchema, many)).toEqual(['facts']);
});

test('accepts a positive whole number as ttl and an object of at most 64 KiB as metadata', () => {
  for (const ttl of [0, -1, 1.5, '1000']) expect(paths(factInputSchema, { ...fact, ttl })).toEqual(['ttl']);
  const sized = (bytes: number) => ({ ...fact, metadata: { x: 'é'.repeat((bytes - 8) / 2) } });
  expect(paths(factInputSchema, sized(64 * 1024))).toEqual([]);
  expect(paths(factInputSchema, sized(64 * 1024 + 2))).toEqual(['metadata']);
  for (const metadata of [[], 'text', 5, true])
    expect(paths(factInputSchema, { ...fact, metadata })[0]).toMatch(/^metadata/);
});

test('accepts a scope or unscoped, not both', () => {
  for (const schema of [factInputSchema, retractInputSchema, queryInputSchema, askInputSchema]) {
    expect(paths(schema, { ...fact, scope: 's', unscoped: true })).toEqual(['unscoped']);
    expect(paths(schema, { ...fact, unscoped: true })).toEqual([]);
    expect(paths(schema, { ...fact, scope: 's', unscoped: false })).toEqual([]);
  }
});

test('requires a retraction to be ground unless it is by pattern', () => {
  const pattern = { predicate: 'p', args: ['?x'] };
  expect(paths(retractInputSchema, pattern)).toEqual(['args.0']);
  expect(retractPatternInputSchema.parse(pattern)).toMatchObject({
    truthVal: null,
    dryRun: false,
    dependents: null,
    timeoutMs: 2000,
  });
  expect(paths(retractInputSchema, { ...fact, dependents: 'some' })).toEqual(['dependents']);
});

test('parses the query string of a listing as text, with its defaults', () => {
  expect(listFactsQuerySchema.parse({})).toEqual({
    predicate: null,
    scope: null,
    unscoped: false,
    q: null,
    truthVal: null,
    derived: false,
    sort: 'predicate',
    order: 'asc',
    limit: 100,
    cursor: null,
    offset: null,
  });
  expect(paths(listFactsQuerySchema, { derived: 'true' })).toEqual(['predicate']);
  expect(paths(listFactsQuerySchema, { sort: 'arg0' })).toEqual(['predicate']);
  expect(listFactsQuerySchema.parse({ predicate: 'p', sort: 'arg63' }).sort).toBe('arg63');
  for (const [field, value] of [
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', '1e2'],
    ['truthVal', '1'],
    ['sort', 'age'],
    ['sort', 'arg64'],
    ['sort', 'arg-1'],
    ['sort', 'arg01'],
    ['order', 'up'],
    ['page', '2'],
  ] as const)
    expect(paths(listFactsQuerySchema, { [field]: value }), field).toEqual([field]);
});

test('accepts a question as a pattern, a body or a text: exactly one', () => {
  expect(askInputSchema.parse(fact)).toMatchObject({
    negated: false,
    withProof: false,
    allProofs: false,
    limit: null,
    offset: 0,
    timeoutMs: 10_000,
    maxDerivations: 10_000_000,
  });
  const wrong = [
    {},
    { predicate: 'p' },
    { args: ['a'] },
    { ...fact, text: 'p(a)' },
    { text: 'p(a)', body: [fact] },
    { text: 'p(a)', args: ['a'] },
    { text: 'p(a)', negated: true },
    { text: '' },
    { body: [] },
    { ...fact, limit: 0 },
    { ...fact, timeoutMs: 600_001 },
    { ...fact, maxDerivations: 0 },
  ];
  for (const value of wrong) expect(complaints(askInputSchema, value), JSON.stringify(value)).not.toEqual([]);
});

test('accepts a rule as a text, or a head with a body: exactly one', () => {
  const head = { predicate: 'h', args: ['?x'] };
  expect(complaints(ruleInputSchema, { text: 'h(?x) :- p(?x)' })).toEqual([]);
  expect(complaints(ruleInputSchema, { head, body: [fact] })).toEqual([]);
  for (const value of [
    {},
    { head },
    { body: [fact] },
    { text: 'h(?x) :- p(?x)', head, body: [fact] },
    { head, body: [] },
  ])
    expect(complaints(ruleInputSchema, value), JSON.stringify(value)).not.toEqual([]);
});

test('accepts a change of a rule as the whole rule, or some of enabled, name and description', () => {
  expect(complaints(ruleUpdateSchema, { enabled: false })).toEqual([]);
  expect(complaints(ruleUpdateSchema, { name: 'n', description: 'd' })).toEqual([]);
  expect(complaints(ruleUpdateSchema, { text: 'h(?x) :- p(?x)', scope: 's' })).toEqual([]);
  for (const value of [{}, { scope: 's' }, { enabled: true, scope: 's' }, { head: fact }, { enabled: 'yes' }])
    expect(complaints(ruleUpdateSchema, value), JSON.stringify(value)).not.toEqual([]);
});

test('rejects an object in place of a list or a text, whatever its length property', () => {
  // Throws when compared with a number.
  const odd = { length: { toString: 1 } };
  expect(complaints(askInputSchema, { predicate: 'p', args: odd })).toEqual([
    'args.length: an argument is a string, a number or a boolean',
  ]);
  expect(paths(factsInputSchema, { facts: [{ predicate: 'p', args: odd }] })).toEqual([
    'facts.0.args.length',
  ]);
  expect(complaints(factInputSchema, { ...fact, metadata: odd })).toEqual([]);
  for (const [name, { body }] of Object.entries<OperationSpec>(operations)) {
    const fields = (body === undefined ? {} : jsonSchemaOf(body, 'input')['properties']) ?? {};
    for (const field of Object.keys(fields))
      expect(() => validate(body as z.ZodType, { [field]: odd }), `${name}, ${field}`).not.toThrow();
  }
});
