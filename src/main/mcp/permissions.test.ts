/** MCP by every role and restriction, with the official client over real HTTP; and what happens to open sessions. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

const apiKey = 'admin-of-the-test';
const rank = { reader: 1, writer: 2, admin: 3 };
const toolSpecs = Object.values<OperationSpec>(operations).filter(({ tool }) => tool !== undefined);
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey });
});
afterAll(() => service.close());

async function made(input: Record<string, unknown>): Promise<CreatedKey> {
  const headers = { 'x-api-key': apiKey };
  const { status, body } = await service.call<CreatedKey>('POST', '/auth/keys', input, { headers });
  expect(status).toBe(201);
  return body;
}

async function changed(method: string, id: string, body?: unknown): Promise<void> {
  const headers = { 'x-api-key': apiKey };
  expect((await service.call(method, `/auth/keys/${id}`, body, { headers })).status).toBe(200);
}

async function connect(key: string | null, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' });
  const shown = key === null ? {} : { authorization: `Bearer ${key}` };
  const requestInit = { headers: { ...shown, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit }));
  return client;
}

/** The status of a connection attempt on each transport, 200 if it succeeds. */
async function statuses(key: string | null, headers: Record<string, string> = {}): Promise<number[]> {
  const shown = key === null ? {} : { authorization: `Bearer ${key}` };
  const stream = await fetch(`${service.address}/mcp/sse`, { headers: { ...shown, ...headers } });
  await stream.body?.cancel();
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const opened = await fetch(`${service.address}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...shown,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await opened.body?.cancel();
  return [stream.status, opened.status];
}

async function toolText(client: Client, name: string, given: Record<string, unknown>): Promise<string> {
  const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: given }));
  const [content] = result.content;
  return content?.type === 'text' ? `${result.isError === true ? 'error: ' : ''}${content.text}` : '';
}

describe('connecting', () => {
  it('requires a key of any role except replica', async () => {
    expect(await statuses(null)).toEqual([401, 401]);
    expect(await statuses('made-up')).toEqual([401, 401]);
    for (const role of ['reader', 'writer', 'admin'])
      expect(await statuses((await made({ role })).key), role).toEqual([200, 200]);
    expect(await statuses((await made({ role: 'replica' })).key)).toEqual([403, 403]);
  });

  it('returns 403 for a tenant or database outside the key, even for defaults', async () => {
    const { key: ofTenant } = await made({ role: 'writer', tenants: ['acme'] });
    expect(await statuses(ofTenant)).toEqual([403, 403]);
    expect(await statuses(ofTenant, { 'x-tenant-id': 'default' })).toEqual([403, 403]);
    expect(await statuses(ofTenant, { 'x-tenant-id': 'acme' })).toEqual([200, 200]);
    const { key: ofDatabase } = await made({ role: 'writer', databases: ['other'] });
    expect(await statuses(ofDatabase)).toEqual([403, 403]);
    expect(await statuses(ofDatabase, { 'x-database': 'other' })).toEqual([404, 404]);
  });
});

describe.each(['reader', 'writer', 'admin'] as const)('the key of a %s', (role) => {
  it.each([{}, { tenants: ['default'], databases: ['default'] }])(
    'gets a tool error from tools that its role or restrictions exclude: %j',
    async (restriction) => {
      const client = await connect((await made({ role, ...restriction })).key);
      for (const spec of toolSpecs) {
        const isOfRules = spec.changesRules === true && 'tenants' in restriction;
        const needed = spec.role === 'admin' ? 3 : spec.role === 'writer' ? 2 : 1;
        const name = spec.tool?.name ?? '';
        // A field that no tool has: a permitted call is refused for it.
        const text = await toolText(client, name, { nonsense: 1 });
        const isRefused = isOfRules || rank[role] < needed;
        expect(text, name).toMatch(isRefused ? /^error: Forbidden/ : /^error: ValidationException/);
        if (spec.dryRun === undefined) continue;
        const tried = await toolText(client, name, { nonsense: 1, dryRun: true });
        expect(tried, `${name}, dry`).toMatch(/^error: ValidationException/);
      }
      await client.close();
    },
  );
});

it('allows a reader a dry run of a tool, which changes nothing', async () => {
  const { key } = await made({ role: 'reader' });
  const headers = { 'x-api-key': apiKey };
  await service.call('POST', '/tell', { predicate: 'p', args: ['a'] }, { headers });
  const client = await connect(key);
  const tried = await toolText(client, 'forget', { predicate: 'p', args: ['?x'], dryRun: true });
  expect(tried).toContain('Would retract');
  expect(await toolText(client, 'forget', { predicate: 'p', args: ['?x'] })).toMatch(/^error: Forbidden/);
  expect(await toolText(client, 'tell', { predicate: 'p', args: ['b'] })).toMatch(/^error: Forbidden/);
  expect(await toolText(client, 'ask', { predicate: 'p', args: ['?x'] })).toContain('p(a)');
  await client.close();
});

describe('sessions of a key that is revoked, expires or is restricted anew', () => {
  it.each([
    ['is revoked', async ({ id }: CreatedKey) => changed('DELETE', id), 401],
    ['expires', async ({ id }: CreatedKey) => changed('PATCH', id, { expiresAt: Date.now() + 200 }), 401],
    ['is restricted', async ({ id }: CreatedKey) => changed('PATCH', id, { tenants: ['other'] }), 403],
  ])('end with their streams when it %s', async (_what, change, status) => {
    const key = await made({ role: 'writer' });
    const stream = await fetch(`${service.address}/mcp/sse`, {
      headers: { authorization: `Bearer ${key.key}` },
    });
    const client = await connect(key.key);
    const session = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
    const notifications = await fetch(`${service.address}/mcp`, {
      headers: {
        authorization: `Bearer ${key.key}`,
        accept: 'text/event-stream',
        'mcp-session-id': session,
      },
    });
    await change(key);
    // Both must end: a stream that stays open would time out here.
    expect(await stream.text()).toContain('event: endpoint');
    await notifications.text();
    expect(await statuses(key.key)).toEqual([status, status]);
    await expect(client.listTools()).rejects.toThrow(/401|Forbidden/);
    await client.close();
  });
});
