/** The ten tools, each called with the example from its description and compared with its operation. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { projections } from './tool-content.ts';
import { tools } from './tools.ts';

const headers = { 'X-Tenant-ID': 'right-calls' };
const sameAs = {
  tell: '/tell',
  ask: '/ask',
  teach: '/teach',
  forget: '/retract/pattern',
  recall: '/memory/context',
  search: '/search',
  context: '/context/optimize',
  compress: '/memory/consolidate',
  cleanup: '/memory/decay',
  predicates: '/predicates',
} as const;

let service: ServiceUnderTest;
let client: Client;

/**
 * The clock is stopped except when facts are told. Two equal calls give equal answers only at one time: as facts age,
 * the order of those told a moment apart changes, from that of their atoms to that of their ages.
 */
let time = Date.UTC(2026, 0, 7);
const clock = { now: () => time, monotonic: () => time };

beforeAll(async () => {
  service = await startServiceUnderTest({}, { clock });
  client = new Client({ name: 'agent', version: '1' });
  const url = new URL('/mcp', service.address);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  for (const args of [
    ['alice', 'bob'],
    ['bob', 'carol'],
  ])
    await client.callTool({ name: 'tell', arguments: { predicate: 'parent', args } });
  for (let day = 1; day <= 6; day++) {
    await client.callTool({
      name: 'tell',
      arguments: { predicate: 'visited', args: ['rome', `2026-01-0${day}`] },
    });
    time += 5;
  }
});
afterAll(async () => {
  await client.close();
  await service.close();
});

/** Without what differs between two equal calls. */
function comparable(answer: unknown): unknown {
  // `hints`: a tool has more of them than its operation.
  const passing = new Set(['elapsedMs', 'windowId', 'hints']);
  return JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => (passing.has(key) ? undefined : value)),
  ) as unknown;
}

it('are the ten of the contract, each mapped to the operation that the contract names', () => {
  const of = Object.fromEntries(
    [...tools].map(([name, { operation }]) => {
      const { path, aliases = [] }: OperationSpec = operations[operation];
      return [name, [path, ...aliases]];
    }),
  );
  expect(Object.keys(of).toSorted()).toEqual(Object.keys(sameAs).toSorted());
  for (const [name, path] of Object.entries(sameAs)) expect(of[name]).toContain(path);
});

describe.each(Object.entries(sameAs))('%s', (name, path) => {
  const tool = tools.get(name);
  const example = tool?.example ?? {};

  it('answers its example with structured content of its output schema, and a short text', async () => {
    // Once before, so that repeated statements are repeated in both.
    await client.callTool({ name, arguments: example });
    const result = await client.callTool({ name, arguments: example });
    expect(result.isError ?? false).toBe(false);
    for (const listing of [tool?.listing, tool?.fullListing]) {
      const matches = new Ajv2020({ strict: false }).compile(listing?.outputSchema ?? false);
      expect(matches(result.structuredContent), JSON.stringify(matches.errors)).toBe(true);
    }
    const [content, ...others] = result.content;
    expect(others).toEqual([]);
    expect(content).toMatchObject({ type: 'text', text: expect.stringMatching(/\S/) });
    expect(JSON.stringify(content).length).toBeLessThan(2000);

    // Statements as text have no operation of their own over HTTP; their answer is that of the fields.
    if (name === 'tell') return;
    const isRead = name === 'predicates';
    const body = isRead ? undefined : { ...example, ...(name === 'ask' ? { withProof: true } : {}) };
    const { status, body: answer } = await service.call(isRead ? 'GET' : 'POST', path, body, { headers });
    expect(status).toBe(200);
    const slim = projections[tool?.operation ?? 'ask'] as (output: unknown) => unknown;
    expect(comparable(result.structuredContent)).toEqual(comparable(slim(answer)));
  });
});

it('reports a repeated fact as unchanged and keeps the generation', async () => {
  const fact = { name: 'tell', arguments: { predicate: 'told', args: ['again', 1] } };
  const first = await client.callTool(fact);
  const second = await client.callTool(fact);
  expect(first.structuredContent).toMatchObject({ status: 'asserted' });
  expect(second.structuredContent).toEqual(
    Object.assign({}, first.structuredContent, { status: 'unchanged' }),
  );
});

describe('a window by words without a goal', () => {
  const answered = async (args: Record<string, unknown>): Promise<string> => {
    const { content } = await client.callTool({ name: 'context', arguments: args });
    return JSON.stringify(content);
  };

  it.each([{}, { format: 'text' }])(
    'does not say that nothing matches if it has facts: %j',
    async (fields) => {
      await client.callTool({ name: 'tell', arguments: { text: 'said(s, 1, "She plays the cello.")' } });
      const found = await answered({ query: 'cello', ...fields });
      expect(found).toContain('She plays the cello.');
      expect(found).not.toContain('nothing matches');
    },
  );

  it('says it if it has none, and what is known', async () => {
    expect(await answered({ query: 'chromodynamics' })).toMatch(
      /nothing matches these words; there is knowledge of/,
    );
  });
});
