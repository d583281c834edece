import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { takesArguments, tools } from './tools.ts';

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

  it('declare whether they are read-only, destructive and idempotent', () => {
    expect(listing('ask').annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(listing('tell').annotations).toMatchObject({ readOnlyHint: false, idempotentHint: true });
    expect(listing('forget').annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    for (const { annotations } of listings) expect(annotations.openWorldHint).toBe(false);
  });

  it('accept and return objects, require nothing and exclude no field: errors are reported in the answer', () => {
    for (const tool of tools.values())
      for (const { inputSchema, outputSchema } of [tool.listing, tool.fullListing]) {
        expect(inputSchema.type).toBe('object');
        expect(JSON.stringify(inputSchema)).not.toMatch(/"(?:required|additionalProperties)":/);
        expect(outputSchema.type).toBe('object');
      }
  });

  it('publish accepted fields with their types', () => {
    for (const tool of tools.values()) {
      const all = tool.fullListing.inputSchema['properties'] as Record<string, { type?: unknown }>;
      const shown = tool.listing.inputSchema['properties'] as Record<string, { type?: unknown }>;
      expect(Object.keys(all)).toEqual(expect.arrayContaining(Object.keys(shown)));
      for (const [field, { type }] of Object.entries(shown)) {
        const taken = [all[field]?.type].flat();
        expect(taken, `${tool.listing.name}.${field}`).toEqual(expect.arrayContaining([type].flat()));
      }
    }
  });

  it('with MCP_TOOLS=all show every field, except those that they set themselves', () => {
    const { inputSchema } = tools.get('tell')?.fullListing ?? {};
    expect(inputSchema).toMatchObject({
      properties: {
        truthVal: { type: 'boolean' },
        scope: { type: 'string', description: expect.any(String) },
        metadata: { type: 'object' },
        ttl: { type: 'integer', minimum: 1 },
        validUntil: { type: ['integer', 'string'] },
        facts: { type: 'array', items: { type: 'object' } },
      },
    });
    expect(JSON.stringify(inputSchema?.['properties'])).not.toContain('"null"');
    expect(Object.keys(tools.get('teach')?.fullListing.inputSchema['properties'] ?? {})).toEqual(
      expect.arrayContaining(['head', 'body', 'enabled']),
    );
    expect(tools.get('ask')?.fullListing.inputSchema['properties']).not.toHaveProperty('withProof');
  });

  it('leave out bounds without effect', () => {
    expect(JSON.stringify(listings)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it('have descriptions that say when to use which, each with a valid example call', () => {
    for (const { operation, listing, example } of tools.values()) {
      expect(listing.description).toMatch(/\b(use|look here|for what|before you|when)\b/i);
      expect(listing.description).toContain(` Example: ${JSON.stringify(example)}`);
      expect(takesArguments(operation, example)).toBe(true);
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

  it('describe every field that MCP_TOOLS=all shows', () => {
    for (const { fullListing } of tools.values())
      for (const [field, schema] of Object.entries(fullListing.inputSchema['properties'] ?? {}))
        if (!['predicate', 'args', 'name', 'description'].includes(field))
          expect(schema, `${fullListing.name}.${field}`).toMatchObject({
            description: expect.stringMatching(/\w{3}/),
          });
  });

  it('have schemas in plain JSON Schema, without references', () => {
    for (const tool of tools.values())
      for (const { inputSchema } of [tool.listing, tool.fullListing])
        expect(JSON.stringify(inputSchema)).not.toMatch(/"\$ref"|"\$defs"|"anyOf"/);
  });

  it('cost an agent that lists them at most 1,500 tokens, and 2,500 with their output schemas', () => {
    const shown = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(countTokens(JSON.stringify(shown))).toBeLessThanOrEqual(1500);
    expect(countTokens(JSON.stringify(listings))).toBeLessThanOrEqual(2500);
  });

  it('without fields accept an empty object', () => {
    expect(listing('predicates').inputSchema).toEqual({ type: 'object', properties: {} });
  });

  it('know which of their fields are optional', () => {
    expect(tools.get('tell')?.optionalFields).toContain('scope');
    expect(tools.get('tell')?.optionalFields).toContain('predicate');
    expect(tools.get('context')?.optionalFields).toContain('goals');
    expect(tools.get('ask')?.optionalFields).toContain('predicate');
    expect(tools.get('predicates')?.optionalFields).toEqual(new Set());
  });
});
