/**
 * The published input schemas in OpenAI's strict mode, as its documentation describes it: clients convert the schemas
 * (every object closed, every field required, an optional one nullable), and a model then fills in every field.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { tools } from './tools.ts';

type Schema = Record<string, unknown>;

const supported = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'description',
  'title',
  '$ref',
  '$defs',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'pattern',
  'format',
]);
const scalars = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']);
/** Fields of all objects together, and levels of nesting. */
const maxProperties = 5000;
const maxDepth = 10;

/** The schema converted to strict mode; throws if it cannot be. No field was required, so all are nullable. */
function strict(schema: Schema, path: string, depth = 0): Schema {
  if (depth > maxDepth) throw new Error(`${path}: nested too deeply`);
  for (const keyword of Object.keys(schema))
    if (!supported.has(keyword)) throw new Error(`${path}: ${keyword} is not supported`);
  const types = [schema['type']].flat();
  for (const type of types) if (!scalars.has(String(type))) throw new Error(`${path}: no type`);
  if (types.includes('array')) {
    const { items } = schema as { items?: Schema };
    if (items === undefined || Object.keys(items).length === 0) throw new Error(`${path}: items of any type`);
    return { ...schema, items: strict(items, `${path}[]`, depth + 1) };
  }
  if (!types.includes('object')) return schema;
  const { properties, additionalProperties } = schema as {
    properties?: Record<string, Schema>;
    additionalProperties?: unknown;
  };
  if (properties === undefined || (additionalProperties !== undefined && additionalProperties !== false))
    throw new Error(`${path}: an open object`);
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const entries = Object.entries(properties).map(([name, field]) => {
    const converted = strict(field, `${path}.${name}`, depth + 1);
    const nullable = { ...converted, type: [...new Set([[converted['type']].flat(), 'null'].flat())] };
    return [name, required.has(name) ? converted : nullable];
  });
  return {
    ...schema,
    properties: Object.fromEntries(entries) as Schema,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function propertiesIn(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 0;
  const own = 'properties' in schema ? Object.keys(schema.properties as object).length : 0;
  return own + Object.values(schema).reduce((sum: number, part) => sum + propertiesIn(part), 0);
}

const converted = new Map([...tools].map(([name, { listing }]) => [name, strict(listing.inputSchema, name)]));

describe('the published input schemas', () => {
  it('all convert to strict mode', () => {
    for (const [name, schema] of converted) {
      expect(new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema), name).toBeTypeOf(
        'function',
      );
      expect(propertiesIn(schema)).toBeLessThan(maxProperties);
    }
  });

  it.each(['metadata', 'additionalProperties'])('have no %s, an object of arbitrary fields', (word) => {
    expect(JSON.stringify([...tools.values()].map(({ listing }) => listing.inputSchema))).not.toContain(word);
  });

  it('the converter rejects what strict mode rejects', () => {
    const object = (field: Schema) => ({ type: 'object', properties: { field } });
    for (const field of [
      { type: 'object' },
      { type: 'object', properties: {}, additionalProperties: {} },
      { type: 'array' },
      { type: 'array', items: {} },
      { oneOf: [{ type: 'string' }] },
      {},
    ])
      expect(() => strict(object(field), 'tool')).toThrow('tool');
  });
});

describe('a model that fills in every field', () => {
  let service: ServiceUnderTest;
  let client: Client;

  beforeAll(async () => {
    service = await startServiceUnderTest();
    client = new Client({ name: 'strict', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address)));
    await client.callTool({ name: 'teach', arguments: { text: 'g(?x, ?z) :- p(?x, ?y), p(?y, ?z)' } });
  });
  afterAll(async () => {
    await client.close();
    await service.close();
  });

  /** The empty value for a field of that type if the client has no null. */
  function fillerOf({ type }: Schema): unknown {
    switch ([type].flat()[0]) {
      case 'array':
        return [];
      case 'integer':
      case 'number':
        return 0;
      case 'boolean':
        return false;
      default:
        return '';
    }
  }

  /** The call with every other field of the strict schema filled in. */
  function filled(name: string, given: Schema, filler: (field: Schema) => unknown): Schema {
    const properties = (tools.get(name)?.listing.inputSchema['properties'] ?? {}) as Record<string, Schema>;
    const others = Object.entries(properties).map(([field, schema]) => [field, filler(schema)]);
    return { ...(Object.fromEntries(others) as Schema), ...given };
  }

  const calls: [tool: string, given: Schema, content: Schema][] = [
    ['tell', { text: 'p(a, b). p(b, c).' }, { asserted: 2 }],
    ['tell', { predicate: 'p', args: ['c', 'd'] }, { atom: 'p(c, d)' }],
    ['tell', { predicate: 'quiet', args: [] }, { atom: 'quiet()' }],
    ['tell', { facts: [{ predicate: 'p', args: ['d', 'e'], truthVal: true }] }, { atom: 'p(d, e)' }],
    ['teach', { text: 'q(?x) :- p(?x, ?_)' }, { status: 'asserted' }],
    ['ask', { text: 'g(a, ?z)?' }, { results: ['g(a, c)'] }],
    ['ask', { predicate: 'g', args: ['a', '?z'] }, { results: ['g(a, c)'] }],
    ['recall', { predicates: ['p'] }, { returned: 4 }],
    ['recall', {}, { returned: 5 }],
    [
      'context',
      { goals: [{ predicate: 'g', args: ['a', '?z'], negated: false }] },
      { totalFactsIncluded: 6 },
    ],
    ['compress', { dryRun: true }, { patternsFound: 0 }],
    ['cleanup', { threshold: 0, dryRun: true }, { evicted: 0 }],
    ['predicates', {}, { predicates: expect.any(Array) }],
    ['forget', { text: 'q(?x) :- p(?x, ?_)' }, { status: 'retracted' }],
    ['forget', { predicate: 'p', args: ['a', '?x'] }, { retracted: 1 }],
  ];

  it('is understood if it uses null for absent values', async () => {
    for (const [name, given, content] of calls) {
      const call = filled(name, given, () => null);
      const matches = new Ajv2020({ strict: false }).compile(converted.get(name) ?? false);
      expect(matches(call), JSON.stringify(matches.errors)).toBe(true);
      const answer = await client.callTool({ name, arguments: call });
      expect(answer.structuredContent, JSON.stringify([call, answer.content])).toMatchObject(content);
    }
  });

  it('is understood if it uses blanks, empty lists, zeros and false', async () => {
    const headers = { 'X-Tenant-ID': 'blanks' };
    const other = new Client({ name: 'strict', version: '1' });
    const url = new URL('/mcp', service.address);
    await other.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    for (const [name, given] of calls) {
      // A boolean must be true or false.
      const call = filled(name, name === 'tell' ? { truthVal: true, ...given } : given, fillerOf);
      const answer = await other.callTool({ name, arguments: call });
      expect(answer.isError ?? false, JSON.stringify([call, answer.content])).toBe(false);
    }
    await other.close();
  });
});
