/** What MCP clients find after the service restarted in the same folder. */
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import type { CallList, ClientList } from '../../engine/contract/agents.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

const apiKey = 'the-key-of-this-test';
const admin = { 'x-api-key': apiKey };
const accept = 'application/json, text/event-stream';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'remembering agent', version: '1.2.3' },
  },
};
const toolCall = (name: string, given: unknown) => ({
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name, arguments: given },
});
const tell = (...args: string[]) => toolCall('tell', { predicate: 'p', args });
const ask = toolCall('ask', { predicate: 'p', args: ['?x'] });

let folder = '';
let service: ServiceUnderTest;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-restart-'));
  await start();
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(more: Record<string, string> = {}): Promise<void> {
  service = await startServiceUnderTest({
    STORAGE_DIR: folder,
    AUTH_ENABLED: 'true',
    API_KEY: apiKey,
    ...more,
  });
}

async function startAgain(more: Record<string, string> = {}): Promise<void> {
  await service.close();
  await start(more);
}

/** Only the given headers, and the key. */
async function post(message: unknown, headers: Record<string, string>) {
  const answered = await fetch(`${service.address}/mcp`, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', ...admin, ...headers },
    body: JSON.stringify(message),
  });
  return { status: answered.status, headers: answered.headers, body: await answered.text() };
}

async function openSession(headers: Record<string, string> = {}): Promise<{ 'mcp-session-id': string }> {
  const opened = await post(initialize, headers);
  const id = opened.headers.get('mcp-session-id') ?? '';
  expect(id).toMatch(/^[\x21-\x7e]{1,512}$/);
  return { 'mcp-session-id': id };
}

async function made(input: Record<string, unknown>): Promise<CreatedKey> {
  return (await service.call<CreatedKey>('POST', '/auth/keys', input, { headers: admin })).body;
}

describe('a session over Streamable HTTP, after a restart', () => {
  it('continues with its database, tenant, revision and client, and a new call count', async () => {
    await service.call('POST', '/databases', { name: 'kb' }, { headers: admin });
    const session = await openSession({ 'x-database': 'kb', 'x-tenant-id': 'acme' });
    expect((await post(tell('a'), session)).body).toContain('asserted');
    await startAgain();
    expect((await post(ask, session)).body).toContain('p(a)');
    const { body } = await service.call<ClientList>('GET', '/mcp/clients', undefined, { headers: admin });
    expect(body.clients).toMatchObject([
      {
        name: 'remembering agent',
        version: '1.2.3',
        transport: 'streamable-http',
        database: 'kb',
        tenant: 'acme',
        calls: 1,
      },
    ]);
    // The source of the fact names the client.
    const told = await post(tell('b'), session);
    expect(told.body).toContain('asserted');
    const facts = await service.call('GET', '/facts?predicate=p', undefined, {
      headers: { ...admin, 'x-database': 'kb', 'x-tenant-id': 'acme' },
    });
    expect(JSON.stringify(facts.body).match(/remembering agent/g)).toHaveLength(2);
  });

  it('stays one session, however many requests restore it at once', async () => {
    const session = await openSession();
    await startAgain();
    // Ids are unique within a session, as JSON-RPC wants it: answers are matched by them.
    const asked = Array.from({ length: 20 }, (_, at) => post({ ...ask, id: 100 + at }, session));
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { body } = await service.call<ClientList>('GET', '/mcp/clients', undefined, { headers: admin });
    expect(body.clients).toMatchObject([{ calls: 20 }]);
  });

  it('answers batches, notifications and pings like a new one', async () => {
    const session = await openSession();
    await startAgain();
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await post(note, session)).toMatchObject({ status: 202 });
    expect((await post([{ jsonrpc: '2.0', id: 7, method: 'ping' }], session)).body).toContain('result');
    expect((await post(initialize, session)).body).toContain('already initialized');
    expect(await post(ask, { ...session, 'mcp-protocol-version': '1999-01-01' })).toMatchObject({
      status: 400,
    });
  });

  it('returns 404 if it was ended, before the restart or after', async () => {
    const [before, after] = [await openSession(), await openSession()];
    const end = (session: Record<string, string>) =>
      service.call('DELETE', '/mcp', undefined, { headers: { ...admin, ...session } });
    expect((await end(before)).status).toBe(200);
    await startAgain();
    expect(await post(ask, before)).toMatchObject({ status: 404 });
    expect((await end(before)).status).toBe(404);
    expect((await end(after)).status).toBe(200);
    expect(await post(ask, after)).toMatchObject({ status: 404 });
    await startAgain();
    expect(await post(ask, after)).toMatchObject({ status: 404 });
  });

  it('returns 404 if its signature is foreign, or the key of the folder was deleted', async () => {
    const session = await openSession();
    const id = session['mcp-session-id'];
    const forged = id.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    expect(await post(ask, { 'mcp-session-id': forged })).toMatchObject({ status: 404 });
    const other = { 'mcp-session-id': id.replace(/~default$/, '~other') };
    expect(await post(ask, other)).toMatchObject({ status: 404 });
    const file = join(folder, 'session-key');
    expect(statSync(file).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600);
    await service.close();
    unlinkSync(file);
    await start();
    expect(await post(ask, session)).toMatchObject({ status: 404 });
  });

  it('returns 403 for another credential, 401 for a revoked one, 400 for contradictory headers', async () => {
    const key = await made({ role: 'writer' });
    const own = { 'x-api-key': key.key };
    const session = await openSession({ ...own, 'x-tenant-id': 'acme' });
    await startAgain();
    expect(await post(ask, session)).toMatchObject({ status: 403 });
    for (const elsewhere of [{ 'x-tenant-id': 'other' }, { 'x-database': 'other' }])
      expect(await post(ask, { ...session, ...own, ...elsewhere })).toMatchObject({ status: 400 });
    expect(await post(ask, { ...session, ...own, 'x-tenant-id': 'acme' })).toMatchObject({ status: 200 });
    await service.call('DELETE', `/auth/keys/${key.id}`, undefined, { headers: admin });
    expect(await post(ask, { ...session, ...own })).toMatchObject({ status: 401 });
    await startAgain();
    expect(await post(ask, { ...session, ...own })).toMatchObject({ status: 401 });
  });

  it('returns 404 if its database was deleted meanwhile', async () => {
    await service.call('POST', '/databases', { name: 'kb' }, { headers: admin });
    const session = await openSession({ 'x-database': 'kb' });
    await startAgain();
    await service.call('DELETE', '/databases/kb', undefined, { headers: admin });
    const answered = await post(ask, session);
    expect(answered.status).toBe(404);
    expect(answered.body).toContain('DatabaseNotFound');
  });

  it('is notified of its subscribed documents as soon as its stream is back', async () => {
    const session = await openSession();
    const subscribe = (method: string, uri: string) => ({ jsonrpc: '2.0', id: 3, method, params: { uri } });
    for (const uri of ['kb://facts/p', 'kb://facts/q', 'kb://rules'])
      expect((await post(subscribe('resources/subscribe', uri), session)).status).toBe(200);
    await post(subscribe('resources/unsubscribe', 'kb://facts/q'), session);
    await startAgain();
    const stream = await fetch(`${service.address}/mcp`, {
      headers: { ...admin, ...session, accept: 'text/event-stream', 'last-event-id': '7' },
    });
    expect(stream.status).toBe(200);
    for (const predicate of ['q', 'p'])
      await service.call('POST', '/tell', { predicate, args: ['a'] }, { headers: admin });
    let said = '';
    for await (const chunk of stream.body ?? []) {
      said += Buffer.from(chunk).toString();
      if (said.includes('kb://facts/p')) break;
    }
    expect(said).not.toContain('kb://facts/q');
  });

  it('lets a client of the first SDK go on without noticing', async () => {
    const client = new FirstClient({ name: 'first', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.address), {
      requestInit: { headers: admin },
    });
    await client.connect(transport);
    await client.callTool({ name: 'tell', arguments: { predicate: 'p', args: ['kept'] } });
    await startAgain({ PORT: String(service.port) });
    const answer = await client.callTool({ name: 'ask', arguments: { predicate: 'p', args: ['?x'] } });
    expect(JSON.stringify(answer)).toContain('p(kept)');
    await client.close();
  });
});

describe('the log of calls', () => {
  async function calls(): Promise<CallList['calls']> {
    return (await service.call<CallList>('GET', '/mcp/calls', undefined, { headers: admin })).body.calls;
  }

  it('survives restarts, and its ids continue', async () => {
    const session = await openSession();
    await post(tell('a'), session);
    await post(ask, session);
    const before = await calls();
    expect(before.map(({ id, tool }) => [id, tool])).toEqual([
      ['2', 'ask'],
      ['1', 'tell'],
    ]);
    await startAgain();
    expect(await calls()).toEqual(before);
    await post(ask, session);
    const [newest, ...older] = await calls();
    expect(newest).toMatchObject({ id: '3', tool: 'ask', client: 'remembering agent' });
    expect(older).toEqual(before);
  });

  it('contains nothing of a database or tenant that was deleted or nuked', async () => {
    const tellIn = async (tenant: string, database = 'default') => {
      const session = await openSession({ 'x-tenant-id': tenant, 'x-database': database });
      expect((await post(tell('a secret'), session)).body).toContain('asserted');
    };
    for (const name of ['kb', 'nuked'])
      await service.call('POST', '/databases', { name }, { headers: admin });
    for (const tenant of ['gone', 'emptied', 'stays']) await tellIn(tenant);
    for (const database of ['kb', 'nuked']) await tellIn('one', database);
    const done = [
      ['DELETE', '/admin/databases/default/tenants/gone'],
      ['POST', '/admin/databases/default/tenants/emptied/nuke'],
      ['DELETE', '/databases/kb'],
      ['POST', '/admin/databases/nuked/nuke'],
    ] as const;
    for (const [method, path] of done)
      expect((await service.call(method, path, undefined, { headers: admin })).status).toBe(200);
    const left = (await calls()).map(({ tenant }) => tenant);
    expect(left).toEqual(['stays']);
    await startAgain();
    expect((await calls()).map(({ tenant }) => tenant)).toEqual(left);
  });
});

it('the journal beside the log is encrypted with the folder', async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
  const ENCRYPTION_KEY = '0123456789abcdef'.repeat(4);
  await start({ ENCRYPTION_KEY });
  const session = await openSession();
  await post(tell('a-word-of-the-agent'), session);
  await startAgain({ ENCRYPTION_KEY });
  expect((await post(ask, session)).status).toBe(200);
  for (const name of ['mcp-calls', 'session-key'])
    expect(readFileSync(join(folder, name)).includes('a-word-of-the-agent')).toBe(false);
});
