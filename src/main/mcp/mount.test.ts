/**
 * MCP as agents use it: the official client, over real HTTP, on both transports. clients.test.ts covers what every
 * client can do, of any generation and revision.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
const clients: Client[] = [];
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => service.close());

type Kind = 'Streamable HTTP' | 'Streamable HTTP at the SSE address' | 'SSE';

function transportOf(kind: Kind, headers: Record<string, string>) {
  const path = kind === 'Streamable HTTP' ? '/mcp' : '/mcp/sse';
  const url = new URL(path, service.address);
  const options = { requestInit: { headers } };
  return kind === 'SSE'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, options);
}

async function connect(
  kind: Kind,
  headers: Record<string, string> = {},
  name = 'test-agent',
): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  await client.connect(transportOf(kind, headers));
  clients.push(client);
  return client;
}

/** A tenant used by no other test. */
function freshTenant(): Record<string, string> {
  tenants++;
  return { 'X-Tenant-ID': `tenant-${tenants}` };
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: given }));
  const [content] = result.content;
  return {
    isError: result.isError === true,
    text: content?.type === 'text' ? content.text : '',
    content: result.structuredContent ?? {},
  };
}

const kinds: Kind[] = ['Streamable HTTP', 'Streamable HTTP at the SSE address', 'SSE'];

describe.each(kinds)('an agent over %s', (kind) => {
  it('consolidates episodes and removes what has expired', async () => {
    const client = await connect(kind, freshTenant());
    await client.listTools();
    for (const day of [1, 2, 3])
      await call(client, 'tell', { predicate: 'visited', args: ['alice', 'paris', `2024-01-0${day}`] });
    await call(client, 'tell', { predicate: 'late', args: ['a'], validUntil: 1000 });
    const tried = await call(client, 'compress', { dryRun: true, scope: ' ' });
    expect(tried.content).toMatchObject({ dryRun: true, factsConsolidated: 3 });
    expect(tried.text).toContain('Would replace 3 facts by 1 summary');
    const compressed = await call(client, 'compress');
    expect(compressed.content).toMatchObject({ summaries: [{ atom: 'visited_summary(alice, paris, 3)' }] });
    expect((await call(client, 'compress')).text).toContain('Nothing to consolidate');
    const cleaned = await call(client, 'cleanup', {});
    expect(cleaned.content).toMatchObject({ evicted: 1, atoms: ['late(a)'], remaining: 1 });
    expect(cleaned.text).toContain('Evicted 1 fact');
    expect(await call(client, 'cleanup', { threshold: 2 })).toMatchObject({ isError: true });
  });

  it('treats null and blank text in optional fields as absent', async () => {
    const client = await connect(kind, freshTenant());
    const told = await call(client, 'tell', {
      predicate: 'likes',
      args: ['a', 3, true],
      scope: '',
      ttl: null,
      validFrom: '  ',
      metadata: null,
      truthVal: null,
    });
    expect(told.content).toMatchObject({ status: 'asserted', atom: 'likes(a, 3, true)' });
    const asked = await call(client, 'ask', {
      predicate: '',
      args: null,
      text: 'likes(?x, ?y, ?z)',
      scope: ' ',
    });
    expect(asked.content).toMatchObject({ count: 1 });
  });

  it('learns from a tool error how to fix a call', async () => {
    const client = await connect(kind, freshTenant());
    const typo = await call(client, 'tell', { predicat: 'p', args: ['a'] });
    expect(typo.isError).toBe(true);
    expect(typo.text).toContain('predicat: unknown field');
    expect(typo.text).toContain('Fields of tell: text, predicate, args, facts, truthVal');

    const open = await call(client, 'tell', { predicate: 'p', args: ['?x'] });
    expect(open).toMatchObject({ isError: true, text: expect.stringContaining('args.0') });
    const unsafe = await call(client, 'teach', { text: 'p(?x, ?y) :- q(?x)' });
    expect(unsafe).toMatchObject({ isError: true, text: expect.stringContaining('RuleException') });
    expect(unsafe.text).toContain('?y');
    expect(await call(client, 'teach', { text: 'p(?x :- q(?x)' })).toMatchObject({ isError: true });
    expect(await call(client, 'predicates', { all: true })).toMatchObject({
      isError: true,
      text: expect.stringContaining('all: unknown field'),
    });
    const unknown = await call(client, 'recollect');
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining('tell, ') });
  });

  it('becomes the source of the facts it tells if none was given', async () => {
    const headers = freshTenant();
    const client = await connect(kind, headers, 'clerk');
    await call(client, 'tell', { predicate: 'p', args: ['new'] });
    await call(client, 'tell', { predicate: 'p', args: ['rated'], metadata: { importance: 1 } });
    await call(client, 'tell', { predicate: 'p', args: ['sourced'], metadata: { source: 'a book' } });
    await call(client, 'tell', { predicate: 'p', args: ['sourced'] });
    const { body } = await service.call('GET', '/facts?predicate=p', undefined, { headers });
    const { facts } = body as unknown as { facts: { args: string[]; metadata: object }[] };
    expect(Object.fromEntries(facts.map(({ args, metadata }) => [args[0], metadata]))).toEqual({
      new: { source: 'clerk' },
      rated: { importance: 1, source: 'clerk' },
      sourced: { source: 'a book' },
    });
  });
});

describe('several agents at once', () => {
  it('each get their own answers, separated by tenant', async () => {
    const crowd = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        connect(kinds[index % 3] ?? 'SSE', freshTenant(), `agent-${index}`),
      ),
    );
    await Promise.all(
      crowd.map((client, index) =>
        Promise.all(
          Array.from({ length: 10 }, (_, fact) =>
            call(client, 'tell', { predicate: 'mine', args: [`agent-${index}`, fact] }),
          ),
        ),
      ),
    );
    const answers = await Promise.all(
      crowd.map((client) => call(client, 'ask', { predicate: 'mine', args: ['?who', '?what'] })),
    );
    answers.forEach(({ content }, index) => {
      const { results, count } = content as { results: string[]; count: number };
      expect(count).toBe(10);
      for (const result of results) expect(result).toContain(`agent-${index},`);
    });
  });

  it('share what they tell in the same tenant, whatever the transport', async () => {
    const headers = freshTenant();
    const writer = await connect('SSE', headers);
    const reader = await connect('Streamable HTTP', headers);
    await call(writer, 'tell', { predicate: 'shared', args: ['yes'] });
    expect((await call(reader, 'ask', { predicate: 'shared', args: ['?x'] })).content).toMatchObject({
      count: 1,
    });
  });
});

describe('an agent that stops waiting', () => {
  const vast = {
    predicate: 'triple',
    args: ['?x', '?y', '?z'],
    timeoutMs: 600_000,
    maxDerivations: 1_000_000_000,
  };
  const finished = () =>
    service.logged.filter(({ msg, tool }) => msg === 'tool call' && tool === 'ask').length;

  /** An agent with a question of 125 million answers. */
  async function curious(kind: Kind): Promise<Client> {
    const headers = freshTenant();
    const facts = Array.from({ length: 500 }, (_, index) => ({ predicate: 'one', args: [index] }));
    await service.call('POST', '/assert/facts', { facts }, { headers });
    const client = await connect(kind, headers);
    await call(client, 'teach', { text: 'triple(?x, ?y, ?z) :- one(?x), one(?y), one(?z)' });
    return client;
  }

  it.each(['Streamable HTTP', 'SSE'] as const)('cancels its question over %s', async (kind) => {
    const client = await curious(kind);
    const before = finished();
    const stop = new AbortController();
    const asked = client.callTool({ name: 'ask', arguments: vast }, undefined, {
      signal: stop.signal,
      timeout: 600_000,
    });
    setTimeout(() => stop.abort('enough'), 100);
    await expect(asked).rejects.toThrow('enough');
    await expect.poll(finished).toBe(before + 1);
    expect((await call(client, 'predicates')).isError).toBe(false);
  });

  it.each(['Streamable HTTP at the SSE address', 'SSE'] as const)(
    'cancels its question by disconnecting over %s',
    async (kind) => {
      const client = await curious(kind);
      const before = finished();
      const asked = client.callTool({ name: 'ask', arguments: vast }, undefined, { timeout: 600_000 });
      setTimeout(() => void client.close(), 100);
      await expect(asked).rejects.toThrow('Connection closed');
      await expect.poll(finished).toBe(before + 1);
    },
  );
});

describe('the tenant and the database of a connection', () => {
  it('default to "default" if the headers are missing', async () => {
    const client = await connect('Streamable HTTP');
    await call(client, 'tell', { predicate: 'here', args: ['default'] });
    const { body } = await service.call('POST', '/query', { predicate: 'here', args: ['?x'] });
    expect(body).toEqual([{ predicate: 'here', args: ['default'], truthVal: true }]);
  });

  it('are refused at connect if the database does not exist', async () => {
    for (const kind of kinds)
      await expect(connect(kind, { 'X-Database': 'nowhere' })).rejects.toThrow(/404|nowhere/);
    const { status, body } = await service.call('GET', '/mcp/sse', undefined, {
      headers: { 'x-database': 'nowhere' },
    });
    expect({ status, body }).toMatchObject({ status: 404, body: { code: 'DatabaseNotFound' } });
  });

  it('come from the headers', async () => {
    await service.call('POST', '/databases', { name: 'other' });
    const client = await connect('SSE', { 'X-Database': 'other' });
    await call(client, 'tell', { predicate: 'there', args: ['x'] });
    const { body } = await service.call('POST', '/query', { predicate: 'there', args: ['?x'] });
    expect(body).toEqual([]);
  });
});
