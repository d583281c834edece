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

/** Requests as schemas see them: defaults, and complaints that name the field. */

const fact = { predicate: 'p', args: ['a'] };

/** The complaints as `path: message`; empty where the value is taken. */
function complaints(schema: z.ZodType, value: unknown): string[] {
  const outcome = validate(schema, value);
  return outcome.ok ? [] : outcome.errors.map(({ path, message }) => `${path}: ${message}`);
}

/** The paths that are complained of. */
function paths(schema: z.ZodType, value: unknown): string[] {
  const outcome = validate(schema, value);
  return outcome.ok ? [] : outcome.errors.map(({ path }) => path);
}

test('a fact has the defaults of the contract, null counting as absent', () => {
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

test('an unknown field is refused by its name, a missing one by its own', () => {
  expect(complaints(factInputSchema, { ...fact, truthval: false })).toEqual(['truthval: unknown field']);
  expect(paths(factInputSchema, { args: [] })).toEqual(['predicate']);
  expect(paths(askInputSchema, { ...fact, withproof: true })).toEqual(['withproof']);
  expect(paths(factsInputSchema, { facts: [fact, { ...fact, scop: 's' }] })).toEqual(['facts.1.scop']);
  expect(paths(factsInputSchema, [fact, fact, { predicate: 'p', args: ['a', '?x'] }])).toEqual([
    'facts.2.args.1',
  ]);
});

test('a batch is an object or a bare array of 1 to 100,000 facts', () => {
  expect(complaints(factsInputSchema, [fact])).toEqual([]);
  expect(complaints(factsInputSchema, { facts: [fact] })).toEqual([]);
  for (const value of [[], { facts: [] }, {}, null, 'p(a)'])
    expect(paths(factsInputSchema, value)).not.toEqual([]);
  const many = Array.from({ length: 100_001 }, () => fact);
  expect(paths(factsInputSchema, many)).toEqual(['facts']);
});

test('ttl is a positive whole number, and metadata an object of at most 64 KiB', () => {
  for (const ttl of [0, -1, 1.5, '1000']) expect(paths(factInputSchema, { ...fact, ttl })).toEqual(['ttl']);
  const sized = (bytes: number) => ({ ...fact, metadata: { x: 'é'.repeat((bytes - 8) / 2) } });
  expect(paths(factInputSchema, sized(64 * 1024))).toEqual([]);
  expect(paths(factInputSchema, sized(64 * 1024 + 2))).toEqual(['metadata']);
  for (const metadata of [[], 'text', 5, true])
    expect(paths(factInputSchema, { ...fact, metadata })[0]).toMatch(/^metadata/);
});

test('a scope or unscoped is given, not both', () => {
  for (const schema of [factInputSchema, retractInputSchema, queryInputSchema, askInputSchema]) {
    expect(paths(schema, { ...fact, scope: 's', unscoped: true })).toEqual(['unscoped']);
    expect(paths(schema, { ...fact, unscoped: true })).toEqual([]);
    expect(paths(schema, { ...fact, scope: 's', unscoped: false })).toEqual([]);
  }
});

test('a retraction is ground unless it is by pattern', () => {
  const pattern = { predicate: 'p', args: ['?x'] };
  expect(paths(retractInputSchema, pattern)).toEqual(['args.0']);
  expect(retractPatternInputSchema.parse(pattern)).toMatchObject({
    truthVal: null,
    dryRun: false,
    dependents: 'known',
    timeoutMs: 10_000,
  });
  expect(paths(retractInputSchema, { ...fact, dependents: 'some' })).toEqual(['dependents']);
});

test('the query string of a listing is read as text, with its defaults', () => {
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

test('a question is a pattern, a body or a text: exactly one', () => {
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

test('a rule is a text, or a head with a body: exactly one', () => {
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

test('a change of a rule is the whole rule, or some of enabled, name and description', () => {
  expect(complaints(ruleUpdateSchema, { enabled: false })).toEqual([]);
  expect(complaints(ruleUpdateSchema, { name: 'n', description: 'd' })).toEqual([]);
  expect(complaints(ruleUpdateSchema, { text: 'h(?x) :- p(?x)', scope: 's' })).toEqual([]);
  for (const value of [{}, { scope: 's' }, { enabled: true, scope: 's' }, { head: fact }, { enabled: 'yes' }])
    expect(complaints(ruleUpdateSchema, value), JSON.stringify(value)).not.toEqual([]);
});

test('an object in the place of a list or a text is refused whatever its length is', () => {
  // Compared with a number, this throws.
  const odd = { length: { toString: 1 } };
  expect(complaints(askInputSchema, { predicate: 'p', args: odd })).toEqual([
    'args: expected array, received object',
  ]);
  expect(paths(factsInputSchema, { facts: [{ predicate: 'p', args: odd }] })).toEqual(['facts.0.args']);
  expect(complaints(factInputSchema, { ...fact, metadata: odd })).toEqual([]);
  for (const [name, { body }] of Object.entries<OperationSpec>(operations)) {
    const fields = (body === undefined ? {} : jsonSchemaOf(body, 'input')['properties']) ?? {};
    for (const field of Object.keys(fields))
      expect(() => validate(body as z.ZodType, { [field]: odd }), `${name}, ${field}`).not.toThrow();
  }
});
