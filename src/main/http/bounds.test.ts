import { describe, expect, it } from 'vitest';
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { validate } from '../../engine/contract/validation.ts';

/** Every value in a request has a maximum size: its own, or deliberately that of the surrounding body or head. */

/** These are bounded by a check that a JSON Schema does not show. */
const checked = /(^|\.)predicate$|(^|\.)predicates(\[\])?$/;
/** Predicates in the address. */
const predicateInPath = /^params of (declare|get|withdraw)Predicate name$/;

/** Strings that may be as long as the request, by field: each is stored, searched for or read once from end to end. */
const asLongAsTheRequest: ReadonlySet<string> = new Set([
  // Constants: documents of any kind are stored in facts.
  'args[]',
  'constant',
  'entity',
  'alias',
  'from',
  'into',
  'oneOf[]',
  'result',
  'over[]',
  // A time is parsed by one expression from left to right.
  'validFrom',
  'validUntil',
  // In the query string, so bounded by the head.
  'q',
  'cursor',
]);

function unbounded(schema: JsonSchema, path: string): string[] {
  const types = [schema['type']].flat();
  const has = (...keywords: string[]): boolean => keywords.some((keyword) => schema[keyword] !== undefined);
  const found: string[] = [];
  if (types.includes('array') && !has('maxItems')) found.push(path);
  if (types.includes('string') && !has('maxLength', 'pattern', 'enum', 'const')) found.push(path);
  const parts = (keyword: string): [string, JsonSchema][] =>
    Object.entries((schema[keyword] ?? {}) as Record<string, JsonSchema>);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    for (const [, each] of parts(keyword)) found.push(...unbounded(each, path));
  for (const [name, each] of [...parts('properties'), ...parts('$defs')])
    found.push(...unbounded(each, path === '' ? name : `${path}.${name}`));
  if (has('items')) found.push(...unbounded(schema['items'] as JsonSchema, `${path}[]`));
  return found;
}

const inputs = Object.entries<OperationSpec>(operations).flatMap(([name, { params, query, body }]) =>
  Object.entries({ params, query, body }).flatMap(([part, schema]) =>
    schema === undefined ? [] : [[`${part} of ${name}`, schema] as const],
  ),
);

describe('bounds every list and every text of a request', () => {
  it.each(inputs)('%s', (part, schema) => {
    const left = unbounded(jsonSchemaOf(schema, 'input'), '').filter(
      (path) =>
        !checked.test(path) &&
        !predicateInPath.test(`${part} ${path}`) &&
        !asLongAsTheRequest.has(path.split('.').at(-1) ?? ''),
    );
    expect(left).toEqual([]);
  });
});

describe('metadata', () => {
  const fact = (metadata: unknown) =>
    validate(operations.assertFact.body, { predicate: 'p', args: [], metadata });

  it.each([
    ['of a million values', { many: Array.from({ length: 1_000_000 }, () => []) }],
    ['with 100,000 names', Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [index, 1]))],
    ['of one long text', { text: 'é'.repeat(32 * 1024) }],
    ['of one long name', { ['x'.repeat(70_000)]: 1 }],
  ])('rejects %s of more than 64 KiB of JSON', (_kind, metadata) => {
    expect(fact(metadata)).toMatchObject({
      ok: false,
      errors: [{ path: 'metadata', message: 'metadata is at most 64 KiB of JSON' }],
    });
  });

  it('accepts any JSON object up to exactly 64 KiB', () => {
    const metadata = { a: [null, true, 1.5, 'x', { b: {} }], c: '' };
    metadata.c = 'x'.repeat(64 * 1024 - JSON.stringify(metadata).length);
    expect(fact(metadata)).toMatchObject({ ok: true, value: { metadata } });
    metadata.c += 'x';
    expect(fact(metadata).ok).toBe(false);
  });
});
