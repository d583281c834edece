import { describe, expect, it } from 'vitest';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { validate } from '../../engine/contract/validation.ts';
import { tools } from './tools.ts';

const listings = [...tools.values()].map((tool) => tool.listing);
const listing = (name: string) => {
  const found = listings.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
};

describe('the tools', () => {
  it('are those of the operations table, each once', () => {
    const specs: OperationSpec[] = Object.values(operations);
    const named = specs.flatMap(({ tool }) => (tool === undefined ? [] : [tool.name]));
    expect(listings.map(({ name }) => name)).toEqual(named);
    expect(named).toEqual(expect.arrayContaining(['tell', 'ask', 'teach', 'forget', 'predicates']));
  });

  it('say whether they read, destroy and may be repeated', () => {
    expect(listing('ask').annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(listing('tell').annotations).toMatchObject({ readOnlyHint: false, idempotentHint: true });
    expect(listing('forget').annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    for (const { annotations } of listings) expect(annotations.openWorldHint).toBe(false);
  });

  it('take and give objects, and name no field that they do not take', () => {
    for (const { inputSchema, outputSchema } of listings) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema.type).toBe('object');
    }
  });

  it('show an optional field as its type alone, and data that may hold null as it is', () => {
    const { inputSchema } = listing('tell');
    expect(inputSchema['required']).toEqual(['predicate', 'args']);
    expect(inputSchema).toMatchObject({
      properties: {
        truthVal: { type: 'boolean' },
        scope: { type: 'string', description: expect.any(String) },
        metadata: { type: 'object' },
        ttl: { type: 'integer', minimum: 1 },
        validUntil: { type: ['integer', 'string'] },
      },
    });
    expect(inputSchema).toMatchObject({ properties: { metadata: { additionalProperties: {} } } });
    expect(JSON.stringify(inputSchema['properties'])).not.toContain('"null"');
  });

  it('leave out bounds that bound nothing', () => {
    expect(JSON.stringify(listings)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it('have descriptions that say when to use which, each with an example that is a call', () => {
    for (const { operation, listing, example } of tools.values()) {
      const spec: OperationSpec = operations[operation];
      expect(listing.description).toMatch(/\b(use|look here|for what|before you|when)\b/i);
      expect(listing.description).toContain(` Example: ${JSON.stringify(example)}`);
      if (spec.body === undefined) expect(example).toEqual({});
      else expect(validate(spec.body, example)).toMatchObject({ ok: true });
    }
    const others = {
      tell: 'teach',
      teach: 'tell',
      ask: 'recall',
      recall: 'ask',
      context: 'ask',
      cleanup: 'forget',
    };
    for (const [name, other] of Object.entries(others)) expect(listing(name).description).toContain(other);
  });

  it('describe every field that they take', () => {
    for (const { name, inputSchema } of listings)
      for (const [field, schema] of Object.entries(inputSchema['properties'] ?? {}))
        expect(schema, `${name}.${field}`).toMatchObject({ description: expect.stringMatching(/\w{3}/) });
  });

  it('have schemas in the plain part of JSON Schema, without references', () => {
    expect(JSON.stringify(listings.map(({ inputSchema }) => inputSchema))).not.toMatch(
      /"\$ref"|"\$defs"|"anyOf"/,
    );
  });

  it('cost an agent that lists them little', () => {
    const shown = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(JSON.stringify(shown).length).toBeLessThan(13_500);
    expect(JSON.stringify(listings).length).toBeLessThan(28_600);
  });

  it('do not ask whether an answer should have its proof: it has', () => {
    expect(listing('ask').inputSchema['properties']).not.toHaveProperty('withProof');
  });

  it('without fields take an empty object', () => {
    expect(listing('predicates').inputSchema).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
    });
  });

  it('know which of their fields may be left out', () => {
    expect(tools.get('tell')?.optionalFields).toContain('scope');
    expect(tools.get('tell')?.optionalFields).not.toContain('predicate');
    expect(tools.get('ask')?.optionalFields).toContain('predicate');
    expect(tools.get('predicates')?.optionalFields).toEqual(new Set());
  });
});
