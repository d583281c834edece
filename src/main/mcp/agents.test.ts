/** What the service reports of its agents: GET /mcp/calls, /mcp/clients and /mcp/setup, and mcp.call in /events. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AgentSetup, CallList, ClientList } from '../../engine/contract/agents.ts';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

const apiKey = 'admin-of-the-test';
const asAdmin = { headers: { 'x-api-key': apiKey } };
let service: ServiceUnderTest;
const open: { close(): Promise<void> }[] = [];
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => service.close());

const transports = ['streamable-http', 'sse', 'stateless'] as const;
type Transport = (typeof transports)[number];

interface Place {
  readonly tenant: string;
  readonly key?: string;
  readonly name?: string;
}

/** A client gives up after a minute by default. */
const patient = { timeout: 600_000 };

/** An agent, by the actions that it can take here. */
interface Agent {
  call(name: string, given?: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

async function connect(
  transport: Transport,
  { tenant, key = apiKey, name = transport }: Place,
): Promise<Agent> {
  const requestInit = { headers: { 'X-Tenant-ID': tenant, authorization: `Bearer ${key}` } };
  const info = { name, version: '1.2' };
  if (transport === 'sse') {
    const client = new OldClient(info);
    const eventSourceInit = {
      fetch: (url: string | URL | Request, init?: RequestInit) => fetch(url, { ...init, ...requestInit }),
    };
    await client.connect(
      new SSEClientTransport(new URL('/mcp/sse', service.address), { requestInit, eventSourceInit }),
    );
    return remembered(client, (named, given) =>
      client.callTool({ name: named, arguments: given }, undefined, patient),
    );
  }
  const mode = transport === 'stateless' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit }));
  return remembered(client, (named, given) => client.callTool({ name: named, arguments: given }, patient));
}

function remembered(
  client: { close(): Promise<void> },
  send: (name: string, given: Record<string, unknown>) => Promise<unknown>,
): Agent {
  open.push(client);
  return { call: (name, given = {}) => send(name, given), close: () => client.close() };
}

function freshTenant(): string {
  return `agents-${++tenants}`;
}

async function made(input: Record<string, unknown>): Promise<CreatedKey> {
  const { status, body } = await service.call<CreatedKey>('POST', '/auth/keys', input, asAdmin);
  expect(status).toBe(201);
  return body;
}

async function calls(query = '', key = apiKey): Promise<CallList['calls']> {
  const { status, body } = await service.call<CallList>('GET', `/mcp/calls${query}`, undefined, {
    headers: { 'x-api-key': key },
  });
  expect(status).toBe(200);
  return body.calls;
}

async function callsOf(tenant: string): Promise<CallList['calls']> {
  return (await calls('?limit=1000')).filter((call) => call.tenant === tenant);
}

async function clients(key = apiKey): Promise<ClientList['clients']> {
  const { status, body } = await service.call<ClientList>('GET', '/mcp/clients', undefined, {
    headers: { 'x-api-key': key },
  });
  expect(status).toBe(200);
  return body.clients;
}

async function clientsOf(tenant: string): Promise<ClientList['clients']> {
  return (await clients()).filter((client) => client.tenant === tenant);
}

describe.each(transports)('an agent over %s', (transport) => {
  it('appears in the list of clients with its calls, and each call is in the log, newest first', async () => {
    const tenant = freshTenant();
    const before = Date.now();
    const agent = await connect(transport, { tenant });
    await agent.call('tell', { predicate: 'likes', args: ['alice', 'bob'] });
    await agent.call('ask', { predicate: 'likes', args: ['?x', '?y'] });
    const [asked, told, ...more] = await callsOf(tenant);
    expect(more).toEqual([]);
    expect(told).toEqual({
      id: expect.stringMatching(/^\d+$/),
      time: expect.any(Number),
      client: transport,
      tool: 'tell',
      arguments: { predicate: 'likes', args: ['alice', 'bob'] },
      argumentsCut: false,
      outcome: 'ok',
      elapsedMs: expect.any(Number),
      resultChars: expect.any(Number),
      result: 'Stored: likes(alice, bob)',
      database: 'default',
      tenant,
      requestId: expect.any(String),
    });
    expect(asked).toMatchObject({ tool: 'ask', result: expect.stringContaining('likes(alice, bob)') });
    expect(asked?.resultChars).toBeGreaterThan(100);
    expect(Number(asked?.id)).toBeGreaterThan(Number(told?.id));
    expect(told?.time).toBeGreaterThanOrEqual(before);
    expect(await clientsOf(tenant)).toEqual([
      {
        id: expect.any(String),
        name: transport,
        version: '1.2',
        transport,
        database: 'default',
        tenant,
        connectedAt: expect.any(Number),
        calls: 2,
      },
    ]);
    await agent.close();
    if (transport === 'sse') await expect.poll(() => clientsOf(tenant)).toEqual([]);
  });

  it('has failed calls in the log too: refused by role or validation, unknown tools, and cancelled', async () => {
    const tenant = freshTenant();
    const { key } = await made({ role: 'reader' });
    const agent = await connect(transport, { tenant, key });
    await agent.call('tell', { predicate: 'p', args: ['a'] });
    await agent.call('ask', { nonsense: 'x'.repeat(5000) });
    await agent.call(`no such tool ${'x'.repeat(5000)}\n`);
    const [unknown, invalid, forbidden] = await callsOf(tenant);
    expect(forbidden).toMatchObject({
      tool: 'tell',
      outcome: 'error',
      result: expect.stringMatching(/^Forb/),
    });
    expect(invalid).toMatchObject({ tool: 'ask', outcome: 'error', argumentsCut: true });
    expect(invalid?.arguments).toEqual({ nonsense: `${'x'.repeat(160)}…` });
    expect(unknown).toMatchObject({ outcome: 'error', result: expect.stringContaining('There is no tool') });
    expect(unknown?.tool).toBe(`no such tool ${'x'.repeat(87)}`);
    expect(await clientsOf(tenant)).toMatchObject([{ calls: 3 }]);
  });
});

it('twenty agents make fifty calls each at once over every transport: no answer or log entry is lost or mixed up', async () => {
  const tenant = freshTenant();
  const names = Array.from({ length: 20 }, (_, index) => `agent-${index}`);
  const crowd = await Promise.all(
    names.map((name, index) => connect(transports[index % 3] ?? 'sse', { tenant, name })),
  );
  const answers = await Promise.all(
    crowd.map(async (agent, index) => {
      const own: unknown[] = Array(50);
      // Five at a time: each on its own connection, which later ones reuse.
      const lane = async (first: number): Promise<void> => {
        for (let fact = first; fact < own.length; fact += 5)
          own[fact] = await agent.call('tell', { predicate: 'told', args: [names[index], fact] });
      };
      await Promise.all([0, 1, 2, 3, 4].map(lane));
      return own;
    }),
  );
  for (const [index, own] of answers.entries())
    for (const [fact, answer] of own.entries())
      expect(answer).toMatchObject({
        content: [{ text: `Stored: told(${names[index]}, ${fact})` }],
        structuredContent: { status: 'asserted', atom: `told(${names[index]}, ${fact})` },
      });
  const logged = await callsOf(tenant);
  const toldBy = (call: (typeof logged)[number]) => `${call.client} told ${String(call.arguments['args'])}`;
  const expected = names.flatMap((name) =>
    Array.from({ length: 50 }, (_, fact) => `${name} told ${name},${fact}`),
  );
  expect(logged.map(toldBy).toSorted()).toEqual(expected.toSorted());
  const listed = (await clientsOf(tenant)).map((client) => `${client.name}: ${client.calls}`);
  expect(listed.toSorted()).toEqual(names.map((name) => `${name}: 50`).toSorted());
});

it('logs a call cancelled by its client as an error', async () => {
  const tenant = freshTenant();
  const headers = { ...asAdmin.headers, 'x-tenant-id': tenant };
  const facts = Array.from({ length: 500 }, (_, index) => ({ predicate: 'one', args: [index] }));
  await service.call('POST', '/assert/facts', { facts }, { headers });
  const client = new Client({ name: 'hasty', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  const requestInit = { headers };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit }));
  open.push(client);
  await client.callTool({
    name: 'teach',
    arguments: { text: `triple(?x, ?y, ?z) :- one(?x), one(?y), one(?z)` },
  });
  const stop = new AbortController();
  const vast = { predicate: 'triple', args: ['?x', '?y', '?z'], timeoutMs: 600_000, maxDerivations: 1e9 };
  const asked = client.callTool({ name: 'ask', arguments: vast }, { signal: stop.signal, timeout: 600_000 });
  setTimeout(() => stop.abort('enough'), 100);
  await expect(asked).rejects.toThrow('enough');
  await expect
    .poll(async () => (await callsOf(tenant))[0])
    .toMatchObject({ tool: 'ask', client: 'hasty', outcome: 'error' });
});

describe('the log of calls', () => {
  it('is paged by limit and call id', async () => {
    const tenant = freshTenant();
    const agent = await connect('streamable-http', { tenant });
    for (let index = 0; index < 5; index++) await agent.call('tell', { predicate: 'n', args: [index] });
    const firsts = await calls('?limit=2');
    expect(firsts.map((call) => call.arguments['args'])).toEqual([[4], [3]]);
    const next = await calls(`?limit=2&before=${firsts[1]?.id}`);
    expect(next.map((call) => call.arguments['args'])).toEqual([[2], [1]]);
    expect(await calls('?before=1')).toEqual([]);
    // Without a limit it returns all entries, like other lists; the first call has the id 1.
    expect((await calls('')).at(-1)?.id).toBe('1');
    expect(await calls('?limit=100000')).toEqual(await calls(''));
    expect((await calls('?before=999999999'))[0]?.id).toBe(firsts[0]?.id);
    for (const query of ['limit=0', 'limit=100001', 'limit=x', 'before=x', 'before=-1', 'before=', 'since=1'])
      expect(await service.call('GET', `/mcp/calls?${query}`, undefined, asAdmin), query).toMatchObject({
        status: 400,
        body: { code: 'ValidationException' },
      });
  });

  it('shows a credential only the calls of databases and tenants that it covers', async () => {
    const [mine, other] = [freshTenant(), freshTenant()];
    for (const tenant of [mine, other])
      await (await connect('stateless', { tenant })).call('tell', { predicate: 'secret', args: [tenant] });
    const { key } = await made({ role: 'reader', tenants: [mine] });
    const seen = await calls('?limit=1000', key);
    expect(seen.map(({ tenant }) => tenant)).toEqual([mine]);
    const elsewhere = await made({ role: 'reader', databases: ['another'] });
    expect(await calls('?limit=1000', elsewhere.key)).toEqual([]);
    expect(await service.call('GET', '/mcp/calls')).toMatchObject({ status: 401 });
    const replica = await made({ role: 'replica' });
    expect(
      await service.call('GET', '/mcp/calls', undefined, { headers: { 'x-api-key': replica.key } }),
    ).toMatchObject({ status: 403 });
  });
});

describe('the list of clients', () => {
  it('is for admins, in order of connection, for the databases and tenants that they cover', async () => {
    const [mine, other] = [freshTenant(), freshTenant()];
    for (const transport of transports) {
      const agent = await connect(transport, { tenant: mine });
      if (transport === 'stateless') await agent.call('predicates');
    }
    await connect('streamable-http', { tenant: other });
    expect((await clientsOf(mine)).map(({ transport }) => transport)).toEqual([...transports]);
    const admin = await made({ role: 'admin', tenants: [mine] });
    expect((await clients(admin.key)).map(({ tenant }) => tenant)).toEqual([mine, mine, mine]);
    for (const role of ['reader', 'writer']) {
      const { key } = await made({ role });
      const asked = service.call('GET', '/mcp/clients', undefined, { headers: { 'x-api-key': key } });
      expect(await asked, role).toMatchObject({ status: 403 });
    }
  });

  it('shows no id that would give access to a session', async () => {
    const tenant = freshTenant();
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.address), {
      requestInit: { headers: { 'X-Tenant-ID': tenant, ...asAdmin.headers } },
    });
    const client = new Client({ name: 'a', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport);
    open.push(client);
    expect(transport.sessionId).toBeDefined();
    expect(JSON.stringify(await clientsOf(tenant))).not.toContain(transport.sessionId);
  });

  it('drops a session that its client ends, and a client whose key is revoked', async () => {
    const tenant = freshTenant();
    const { id, key } = await made({ role: 'writer' });
    for (const transport of transports) await (await connect(transport, { tenant, key })).call('predicates');
    expect(await clientsOf(tenant)).toHaveLength(3);
    await service.call('DELETE', `/auth/keys/${id}`, undefined, asAdmin);
    await expect.poll(() => clientsOf(tenant)).toEqual([]);
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.address), {
      requestInit: { headers: { 'X-Tenant-ID': tenant, ...asAdmin.headers } },
    });
    const client = new Client({ name: 'a', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport);
    expect(await clientsOf(tenant)).toHaveLength(1);
    await transport.terminateSession();
    expect(await clientsOf(tenant)).toEqual([]);
    await client.close();
  });

  it('does not list a request of an unsupported revision', async () => {
    const tenant = freshTenant();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2030-01-01',
      'io.modelcontextprotocol/clientInfo': { name: 'of the future', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
    const headers = {
      ...asAdmin.headers,
      'x-tenant-id': tenant,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2030-01-01',
      'mcp-method': 'tools/list',
    };
    expect(await service.call('POST', '/mcp', message, { headers })).toMatchObject({ status: 400 });
    expect(await clientsOf(tenant)).toEqual([]);
  });
});

describe('GET /events', () => {
  /** The first event of this kind on a tenant's stream. */
  async function nextEvent(
    tenant: string,
    key: string,
    act: () => Promise<unknown>,
  ): Promise<Record<string, string>> {
    const headers = { 'x-tenant-id': tenant, 'x-api-key': key };
    const stream = await fetch(`${service.address}/events`, { headers });
    await act();
    let text = '';
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      const found = text.split('\n\n').find((frame) => frame.includes('event: mcp.call'));
      if (found === undefined || !text.includes(`${found}\n\n`)) continue;
      return Object.fromEntries(found.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    }
    throw new Error('the stream ended');
  }

  it('reports a call to subscribers of its database and tenant, with its id in the log', async () => {
    const tenant = freshTenant();
    const agent = await connect('streamable-http', { tenant });
    const other = await connect('streamable-http', { tenant: freshTenant() });
    const event = await nextEvent(tenant, apiKey, async () => {
      await other.call('predicates');
      await agent.call('predicates');
    });
    const [call] = await callsOf(tenant);
    expect(event['id']).toMatch(/^\d+\.\d+$/);
    const data = JSON.parse(event['data'] ?? '') as Record<string, unknown>;
    expect(data).toMatchObject({ id: call?.id, requestId: call?.requestId, time: expect.any(Number) });
    const listed = await service.call<{ tenants: { name: string }[] }>(
      'GET',
      '/admin/databases/default/tenants',
      undefined,
      asAdmin,
    );
    expect(listed.body.tenants.map(({ name }) => name)).not.toContain(tenant);
  });
});

it('GET /mcp/setup returns the address, the revisions and the tools for clients', async () => {
  const { key } = await made({ role: 'reader' });
  const { status, body } = await service.call<AgentSetup>('GET', '/mcp/setup', undefined, {
    headers: { 'x-api-key': key },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ address: service.address, streamable: '/mcp', sse: '/mcp/sse' });
  expect(body.revisions.slice(0, 2)).toEqual(['2026-07-28', '2025-11-25']);
  expect(body.tools.toSorted()).toEqual(
    [
      'tell',
      'ask',
      'teach',
      'forget',
      'recall',
      'search',
      'context',
      'compress',
      'cleanup',
      'predicates',
    ].toSorted(),
  );
  expect(body.advice).toMatch(/database for each project/);
  const bundle = await fetch(`${service.address}/corollary.mcpb`);
  expect(bundle.status).toBe(body.bundle === null ? 404 : 200);
  expect(await service.call('GET', '/mcp/setup')).toMatchObject({ status: 401 });
});
