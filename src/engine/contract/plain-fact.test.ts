import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainFact, factSchema } from './facts.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '?', '?x', '-', '<', '+', 'mod', 'not', 'a.', 'a:-b', '%', '\ud800', 'a\u0000', 'p'),
);
const field = fc.constantFrom('predicate', 'args', 'scope', 'truthVal', 'ttl', 'metadata', 'other');
const argument = fc.oneof({ weight: 5, arbitrary: text }, fc.integer(), fc.boolean(), fc.constant(null));
const instant = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  text,
  fc.constantFrom(
    null,
    'always',
    'never',
    '2024-02-30',
    '2024-02-29T24:00',
    '2024-05-06T07:08:09.010Z',
    '1999',
  ),
  fc.constantFrom(8_640_000_000_000_000, 8_640_000_000_000_001, -8_640_000_000_000_000, 0.5, 0),
);
const value = fc.oneof(
  fc.record(
    {
      predicate: fc.constantFrom('p', 'q'),
      args: fc.array(text, { maxLength: 2 }),
      ttl: fc.oneof(fc.integer({ min: -2, max: 5 }), instant),
      validFrom: instant,
      validUntil: instant,
      metadata: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.dictionary(fc.string(), fc.jsonValue())),
    },
    { requiredKeys: ['predicate', 'args'] },
  ),
  { weight: 4, arbitrary: fc.record({ predicate: text, args: fc.array(argument, { maxLength: 70 }) }) },
  fc.record(
    {
      predicate: fc.constantFrom('p', 'q'),
      args: fc.array(text, { maxLength: 4 }),
      truthVal: fc.constantFrom(true, false, null),
      scope: fc.oneof(text, fc.constantFrom(null, '.', '..', 's', 'x'.repeat(257))),
    },
    { requiredKeys: ['predicate', 'args'] },
  ),
  fc.dictionary(field, fc.oneof(text, fc.array(argument), fc.boolean(), fc.integer())),
  fc.anything(),
);

// Before any other test in this file: the remembered schema must differ from the initial one.
it('leaves an empty predicate or scope to the schema, even in the very first fact', () => {
  expect(plainFact({ predicate: 'p', args: [], scope: '' })).toBeNull();
  expect(plainFact({ predicate: '', args: [] })).toBeNull();
});

it('parses a fact of texts, truth value, scope, validity and metadata like the schema, and leaves every other one to it', () => {
  let taken = 0;
  fc.assert(
    fc.property(value, (given) => {
      const quick = plainFact(given);
      if (quick === null) return;
      taken++;
      expect(factSchema.safeParse(given)).toEqual({ success: true, data: quick });
    }),
    { numRuns: 3000 },
  );
  expect(taken).toBeGreaterThan(300);
});

it('accepts the usual fact, and none with more fields', () => {
  expect(plainFact({ predicate: 'p', args: ['a', 'b'] })).toEqual(
    factSchema.parse({ predicate: 'p', args: ['a', 'b'] }),
  );
  for (const other of [
    { predicate: 'p', args: ['a'], ttl: 0 },
    { predicate: 'p', args: ['a'], ttl: '5' },
    { predicate: 'p', args: ['a'], validFrom: 'never' },
    { predicate: 'p', args: ['a'], metadata: [] },
    { predicate: 'p', args: ['a'], ifGeneration: 3 },
    { predicate: 'p', args: ['a'], scope: '..' },
    { predicate: 'p', args: ['a'], truthVal: 'true' },
    { predicate: 'p', args: [1] },
    { predicate: 'p', args: ['?x'] },
    { predicate: '<', args: ['1', '2'] },
    { predicate: 'p', args: Array.from({ length: 65 }, () => 'a') },
    { predicate: 'p' },
    null,
    [],
  ])
    expect(plainFact(other)).toBeNull();
});
