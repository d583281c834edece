import fc from 'fast-check';
import { expect, it } from 'vitest';
import { factInputSchema, plainFactInput, plainQuery, queryInputSchema } from './facts.ts';
import { askInputSchema, plainQuestion } from './inference.ts';

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('p', 'a', '?x', '?x1', 's', 'Zoë') },
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '?', '?_', '?é', '? ', '-', '<', 'mod', '.', '..', 'a.', 'a:-b', '\ud800', '\u0000'),
);
const whole = fc.oneof(
  fc.integer({ min: -1, max: 3 }),
  fc.constantFrom(100_000, 100_001, 600_000, 600_001, 1e9, 1e9 + 1, 2 ** 53, 1.5, -0, Number.NaN),
);
const anything = fc.oneof(
  text,
  whole,
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.array(text),
);
const flag = fc.oneof({ weight: 4, arbitrary: fc.boolean() }, anything);
const number = fc.oneof({ weight: 4, arbitrary: whole }, anything);
const name = fc.oneof({ weight: 4, arbitrary: text }, anything);
const args = fc.oneof(
  { weight: 6, arbitrary: fc.array(text, { maxLength: 4 }) },
  fc.array(anything, { maxLength: 70 }),
  anything,
);
const fields = {
  predicate: name,
  args,
  scope: name,
  unscoped: flag,
  truthVal: flag,
  negated: flag,
  withProof: flag,
  allProofs: flag,
  limit: number,
  offset: number,
  timeoutMs: number,
  maxDerivations: number,
  text: name,
  ifGeneration: number,
  constructor: anything,
};

const own = { query: ['scope', 'truthVal', 'limit', 'offset'], tell: ['scope', 'truthVal'] };

it.each([
  { of: 'a query', quick: plainQuery, schema: queryInputSchema, own: own.query },
  {
    of: 'a question',
    quick: plainQuestion,
    schema: askInputSchema,
    own: ['scope', 'negated', 'withProof', 'allProofs', 'limit', 'offset', 'timeoutMs', 'maxDerivations'],
  },
  { of: 'a fact', quick: plainFactInput, schema: factInputSchema, own: own.tell },
])('parses the usual input of $of like the schema, and leaves every other one to it', (its) => {
  const all: Record<string, fc.Arbitrary<unknown>> = fields;
  const few = fc
    .subarray(its.own, { maxLength: 2 })
    .chain((names) =>
      fc.record(
        Object.fromEntries(['predicate', 'args', ...names].map((each) => [each, all[each] ?? anything])),
      ),
    );
  const given = fc.oneof(
    { weight: 4, arbitrary: few },
    fc.record(fields, { requiredKeys: ['predicate', 'args'] }),
    fc.record(fields, { requiredKeys: [] }),
    fc.anything(),
  );
  let taken = 0;
  fc.assert(
    fc.property(given, (value) => {
      const quick = its.quick(value);
      if (quick === null) return;
      taken++;
      expect(its.schema.safeParse(value)).toEqual({ success: true, data: quick });
    }),
    { numRuns: 4000 },
  );
  expect(taken).toBeGreaterThan(100);
});

it('accepts the usual query and question, with the usual fields beside the atom', () => {
  const atom = { predicate: 'parent', args: ['a', '?x'] };
  const query = { ...atom, scope: 's', truthVal: false, limit: 3, offset: 1 };
  expect(plainQuery(query)).toEqual(queryInputSchema.parse(query));
  const question = { ...atom, withProof: true, limit: 3, timeoutMs: 100 };
  expect(plainQuestion(question)).toEqual(askInputSchema.parse(question));
  for (const other of [
    { ...atom, unscoped: true },
    { ...atom, limit: null },
    { ...atom, limit: 0 },
    { ...atom, args: [1] },
    { ...atom, args: ['?'] },
    { predicate: 'parent' },
    { ...atom, toString: 1 },
    [],
    null,
  ]) {
    expect(plainQuery(other)).toBeNull();
    expect(plainQuestion(other)).toBeNull();
  }
});
