import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type Call, callOf, send, type Surroundings } from '../testing/calls-under-test.ts';
import { type EverythingUnderTest, startEverythingUnderTest } from '../llm/testing/everything-under-test.ts';

/**
 * What the log and the metrics contain of requests: contract sections 1 and 9. Every word that a client can choose is a
 * canary, in successful and failing calls over every surface; then all lines and labels are searched for them.
 */
const stem = 'zqCanary';
const tenant = `${stem}-tenant`;
let all: EverythingUnderTest;
let requests = 0;
/** Within the tenant, each call with its own request id. */
let at: Surroundings;

beforeAll(async () => {
  all = await startEverythingUnderTest(stem);
  at = {
    ...all,
    get headers() {
      return { ...all.headers, 'x-tenant-id': tenant, 'x-request-id': `request ${++requests}` };
    },
  };
});

afterAll(() => all.close());

const names = Object.keys(operations) as OperationName[];

/** Ends the stream of changes, which would otherwise continue. */
async function call(name: OperationName, changes: Partial<Call> = {}): Promise<number> {
  if (name !== 'events') return (await send(at, { ...(await callOf[name](at)), ...changes })).status;
  const { path, headers } = { ...(await callOf.events(at)), ...changes };
  const response = await fetch(`${all.service.address}${path}`, { headers: { ...at.headers, ...headers } });
  await response.body?.cancel();
  return response.status;
}

function lines(): string[] {
  return all.service.logged.map((line) => JSON.stringify(line));
}

let searched = 0;

/** Every line since the last search that contains a canary. Case is ignored: headers may be folded. */
function telling(): string[] {
  const found = all.service.logged.slice(searched).map((line) => JSON.stringify(line));
  searched = all.service.logged.length;
  return found.filter((line) => line.toLowerCase().includes(stem.toLowerCase()));
}

async function metricsText(): Promise<string> {
  const { status, body } = await send(at, { method: 'GET', path: '/metrics' });
  expect(status).toBe(200);
  return body as unknown as string;
}

/** The ways a call can be invalid, each with a word of the client's. */
function broken(): Record<string, Partial<Call>> {
  return {
    'an unknown field': { body: { [at.word()]: at.word() } },
    'a body that is no JSON': { body: `{"${at.word()}": ` },
    'a body of another type': { body: at.word(), headers: { 'content-type': `text/${at.word()}` } },
    'another database': { headers: { 'x-database': at.word() } },
    'a bad database': { headers: { 'x-database': `${at.word()}/` } },
    'a bad tenant': { headers: { 'x-tenant-id': `${at.word()} ` + at.word() } },
    'another key': { headers: { 'x-api-key': at.word() } },
    'a bearer': { headers: { 'x-api-key': '', authorization: `Bearer ${at.word()}` } },
    'a foreign origin': { headers: { origin: `http://${at.word()}.example` } },
    'a transaction': { headers: { 'x-transaction-id': at.word() } },
    'headers of every kind': {
      headers: {
        'idempotency-key': at.word(),
        'if-match': `"${at.word()}"`,
        'last-event-id': at.word(),
        'user-agent': at.word(),
        referer: `http://${at.word()}/`,
        cookie: `${at.word()}=${at.word()}`,
        'mcp-session-id': at.word(),
        'x-forwarded-for': at.word(),
      },
    },
  };
}

describe('the log, at DEBUG, and the metrics contain no word of a client', () => {
  it.each(names)('of %s', async (name) => {
    // A service by itself has no other node to move the log to: ../service/nodes.test.ts moves it.
    if (name === 'moveLog') expect(await call(name)).toBe(409);
    else expect(await call(name)).toBeLessThan(300);
    const { method, path: pattern, stream }: OperationSpec = operations[name];
    const path = stream === 'file' ? `${pattern}?format=csv` : pattern;
    const takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    const calls = Object.values(broken())
      .filter(({ body }) => takesBody || body === undefined)
      // An accepted stream does not end.
      .filter(({ headers = {} }) => stream !== 'events' || !('if-match' in headers))
      .map((changes) => send(at, { method, path: path.replace(/:\w+/g, () => at.word()), ...changes }));
    await Promise.all(calls);
    await send(at, { method, path: `${pattern.replace(/:\w+/g, 'x')}?${at.word()}=${at.word()}` });
    expect(telling()).toEqual([]);
  });

  it('of unknown addresses and of input that is not HTTP', async () => {
    for (const path of [`/${at.word()}`, `/facts/%ff${at.word()}`, `/rules/${at.word()}/${at.word()}`])
      await send(at, { method: 'GET', path });
    for (const text of [
      `GET /${at.word()} HTTP/9.9\r\n\r\n`,
      `${at.word()} / HTTP/1.1\r\nHost: ${at.word()}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${at.word()}.example\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\n${at.word()} : ${at.word()}\r\n\r\n`,
      `GET / HTTP/1.1\r\nX: ${at.word().repeat(2000)}\r\n\r\n`,
    ])
      await all.service.raw(text);
    expect(telling()).toEqual([]);
  });

  it('of MCP: every tool, resources, and invalid messages', async () => {
    const headers = { accept: 'application/json, text/event-stream', 'mcp-session-id': '' };
    const rpc = (body: unknown, more = {}) =>
      send(at, { method: 'POST', path: '/mcp', body, headers: { ...headers, ...more } });
    const clientInfo = { name: 'an agent', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const opened = await fetch(`${all.service.address}/mcp`, {
      method: 'POST',
      headers: { ...at.headers, 'content-type': 'application/json', accept: headers.accept },
      body: JSON.stringify(opening),
    });
    await opened.text();
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await rpc({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    const tools = Object.values<OperationSpec>(operations).flatMap(({ tool }) => tool?.name ?? []);
    for (const name of [...tools, at.word()])
      for (const given of [
        { predicate: at.word(), args: [at.word()], text: `${at.word()}(?x) :- ${at.word()}(?x)` },
        { predicate: at.word(), args: [at.word()] },
        { text: `${at.word()}(?x) :- ${at.word()}(?x)`, name: at.word() },
        { [at.word()]: at.word() },
        at.word(),
      ])
        await rpc(
          { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: given } },
          session,
        );
    for (const uri of ['kb://predicates', `kb://facts/${at.word()}`, at.word()])
      await rpc({ jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri } }, session);
    for (const message of [
      { [at.word()]: at.word() },
      { jsonrpc: '2.0', id: at.word(), method: at.word(), params: { [at.word()]: at.word() } },
      { jsonrpc: '2.0', id: at.word(), result: { [at.word()]: at.word() } },
      {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: at.word(), reason: at.word() },
      },
      { jsonrpc: '1.0', id: at.word(), method: 7 },
      [{ jsonrpc: '2.0', id: at.word(), method: at.word() }, at.word()],
    ])
      await rpc(message, session);
    await rpc({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': at.word() });
    await send(at, { method: 'POST', path: `/mcp/messages?sessionId=${at.word()}`, body: {} });
    expect(lines().filter((line) => line.includes('"tool call"')).length).toBeGreaterThan(10);
    expect(telling()).toEqual([]);
  });

  it('and no key, password, or other secret in a label', async () => {
    const text = await metricsText();
    expect(text.toLowerCase()).not.toContain(stem.toLowerCase());
    for (const secret of all.secrets) expect(JSON.stringify(lines())).not.toContain(secret);
  });
});

describe('every log line of a request', () => {
  it('carries its request id, including those of the language model and of tools', async () => {
    const isLogged = (id: string) => all.service.logged.some(({ requestId }) => requestId === id);
    await expect.poll(() => isLogged(`request ${requests}`)).toBe(true);
    const started = all.service.logged.findIndex((line) => line['requestId'] !== undefined);
    // A slow machine has long turns, which are no request's.
    const ofRequests = all.service.logged
      .slice(started)
      .filter(({ msg }) => !String(msg).startsWith('a long turn'));
    const without = ofRequests.filter((line) => typeof line['requestId'] !== 'string');
    expect(without).toEqual([]);
    const ids = new Set(all.service.logged.map((line) => line['requestId']));
    for (let n = 1; n <= requests; n++) expect(ids).toContain(`request ${n}`);
    const byModel = all.service.logged.filter(({ msg }) => msg === 'language model called');
    expect(byModel.length).toBeGreaterThan(2);
    for (const { requestId } of byModel) expect(requestId).toMatch(/^request \d+$/);
  });
});
