/** What MCP's addresses answer to clients other than the official ones. */
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientList } from '../../engine/contract/agents.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

const accept = { accept: 'application/json, text/event-stream' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const toolCall = (id: number, name: string, given: unknown) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given },
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answered = await service.call('POST', path, body, { headers: { ...accept, ...headers } });
  const answer = answered.body as unknown;
  const event = typeof answer === 'string' ? /^data: (.*)$/m.exec(answer)?.[1] : undefined;
  return { ...answered, answer: event === undefined ? answer : (JSON.parse(event) as unknown) };
}

async function openSession(path = '/mcp', headers: Record<string, string> = {}): Promise<string> {
  const { headers: answered } = await post(path, initialize, headers);
  const id = answered.get('mcp-session-id');
  if (id === null) throw new Error('no session was opened');
  return id;
}

/** Opens an SSE stream and yields its events as they arrive. */
function openStream(
  headers: Record<string, string> = {},
): Promise<{ next(): Promise<string>; response: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL('/mcp/sse', service.address), { headers }, (response) => {
      const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]();
      let said = '';
      resolve({
        response,
        async next() {
          for (;;) {
            const end = said.indexOf('\n\n');
            if (end !== -1) {
              const event = said.slice(0, end);
              said = said.slice(end + 2);
              return event;
            }
            const { value, done } = (await chunks.next()) as IteratorResult<string>;
            if (done === true) return '';
            said += value;
          }
        },
      });
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

describe('Streamable HTTP', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('speaks revision %s', async (version) => {
    const params = { ...initialize.params, protocolVersion: version };
    const { answer } = await post('/mcp', { ...initialize, params });
    expect(answer).toMatchObject({ result: { protocolVersion: version } });
  });

  it('sets the request id and API version on its answers', async () => {
    const { headers } = await post('/mcp', initialize, { 'x-request-id': 'mine' });
    expect(headers.get('x-request-id')).toBe('mine');
    expect(headers.get('x-api-version')).toBe('1');
  });

  it('reports what is missing for a message without a session', async () => {
    const { status, answer } = await post('/mcp', toolCall(2, 'ask', {}));
    expect({ status, answer }).toMatchObject({
      status: 400,
      answer: { code: 'ValidationException', detail: expect.stringContaining('Mcp-Session-Id') },
    });
    expect(await service.call('GET', '/mcp', undefined, { headers: accept })).toMatchObject({ status: 400 });
    expect(await service.call('DELETE', '/mcp')).toMatchObject({ status: 400 });
  });

  it('returns 404 for an unknown or ended session', async () => {
    const unknown = await post('/mcp', toolCall(2, 'ask', {}), { 'mcp-session-id': 'nobody' });
    expect(unknown).toMatchObject({ status: 404, answer: { code: 'SessionNotFound' } });
    const id = await openSession();
    expect(
      await service.call('DELETE', '/mcp', undefined, { headers: { 'mcp-session-id': id } }),
    ).toMatchObject({
      status: 200,
    });
    expect(await post('/mcp', toolCall(3, 'ask', {}), { 'mcp-session-id': id })).toMatchObject({
      status: 404,
    });
  });

  it("refuses another tenant or database than the session's", async () => {
    const id = await openSession('/mcp', { 'x-tenant-id': 'one' });
    const tell = toolCall(2, 'tell', { predicate: 'p', args: ['a'] });
    const other = await post('/mcp', tell, { 'mcp-session-id': id, 'x-tenant-id': 'two' });
    expect(other).toMatchObject({ status: 400, answer: { detail: expect.stringContaining('X-Tenant-ID') } });
    const same = await post('/mcp', tell, { 'mcp-session-id': id, 'x-tenant-id': 'one' });
    expect(same).toMatchObject({
      status: 200,
      answer: { result: { structuredContent: { status: 'asserted' } } },
    });
  });

  it('answers malformed input without harm', async () => {
    const id = await openSession();
    const headers = { 'mcp-session-id': id };
    for (const rubbish of [
      {},
      [],
      [1],
      { jsonrpc: '1.0', id: 1, method: 'x' },
      { jsonrpc: '2.0', id: {}, method: 'x' },
    ])
      expect((await post('/mcp', rubbish, headers)).status).toBeLessThan(500);
    expect(await post('/mcp', 'null', headers)).toMatchObject({ status: 400 });
    expect(await post('/mcp', '{"jsonrpc"', headers)).toMatchObject({ status: 400 });
    expect(await post('/mcp', initialize, { ...headers, accept: 'text/plain' })).toMatchObject({
      status: 406,
    });
    expect(await post('/mcp', 'a=b', { ...headers, 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
    });
    expect(await post('/mcp', toolCall(9, 'predicates', {}), headers)).toMatchObject({ status: 200 });
  });

  it('rejects tool arguments of the wrong type and of any size within bounds', async () => {
    const headers = { 'mcp-session-id': await openSession() };
    const array = await post('/mcp', toolCall(2, 'ask', ['p']), headers);
    expect(array.answer).toMatchObject({ error: { code: -32602 } });
    const huge = await post(
      '/mcp',
      toolCall(3, 'tell', { predicate: 'p', args: Array(1_000_000).fill('a') }),
      headers,
    );
    expect(huge.answer).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(huge.answer).length).toBeLessThan(10_000);
    const tooLarge = await post(
      '/mcp',
      toolCall(4, 'tell', { predicate: 'p', args: ['x'.repeat(11_000_000)] }),
      headers,
    );
    expect(tooLarge).toMatchObject({ status: 413 });
    const polluted =
      '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"predicates","arguments":{"__proto__":{"a":1}}}}';
    expect((await post('/mcp', polluted, headers)).status).toBeLessThan(500);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('names all methods of an address', async () => {
    expect(await service.call('PUT', '/mcp', {})).toMatchObject({ status: 405 });
    const { headers } = await service.call('PUT', '/mcp', {});
    expect(headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['DELETE', 'GET', 'POST']));
  });
});

describe('the SSE transport', () => {
  it('sends the address for messages first, and answers on the stream', async () => {
    const stream = await openStream();
    expect(stream.response.headers['content-type']).toContain('text/event-stream');
    expect(stream.response.headers['x-api-version']).toBe('1');
    const endpoint = await stream.next();
    const path = /^event: endpoint\ndata: (\/mcp\/messages\?sessionId=\S+)$/.exec(endpoint)?.[1] ?? '';
    expect(path).not.toBe('');
    expect(await post(path, initialize)).toMatchObject({ status: 202 });
    expect(await stream.next()).toContain('"protocolVersion"');
    stream.response.destroy();
  });

  it('returns 404 for messages to a session that is unknown or whose stream is closed', async () => {
    const unknown = await post('/mcp/messages?sessionId=nobody', initialize);
    expect(unknown).toMatchObject({ status: 404, answer: { code: 'SessionNotFound' } });
    expect(await post('/mcp/messages', initialize)).toMatchObject({ status: 400 });
    const stream = await openStream();
    const path = /data: (\S+)/.exec(await stream.next())?.[1] ?? '';
    stream.response.destroy();
    await expect.poll(async () => (await post(path, initialize)).status).toBe(404);
  });

  it('refuses a Streamable HTTP stream with an explanation', async () => {
    for (const more of [{}, { 'mcp-protocol-version': '2025-11-25' }]) {
      const headers = { ...more, 'mcp-session-id': 'any' };
      const answered = await service.call('GET', '/mcp/sse', undefined, {
        headers: { ...accept, ...headers },
      });
      expect(answered).toMatchObject({ status: 405, body: { code: 'MethodNotAllowed' } });
      expect(answered.headers.get('allow')).toBe('POST, DELETE');
    }
  });

  it('opens its stream for a client that names a revision on its first GET', async () => {
    const stream = await openStream({ 'mcp-protocol-version': '2025-11-25' });
    expect(stream.response.statusCode).toBe(200);
    expect(await stream.next()).toMatch(/^event: endpoint\n/);
    stream.response.destroy();
  });
});

describe('a POST without a session and without Accept', () => {
  function plain(
    message: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; type: string; body: string }> {
    const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    return new Promise((resolve, reject) => {
      const sent = request(new URL('/mcp', service.address), options, (response) => {
        const { statusCode: status = 0, headers: got } = response;
        text(response).then((body) => resolve({ status, type: got['content-type'] ?? '', body }), reject);
      });
      sent.once('error', reject).end(JSON.stringify(message));
    });
  }

  it.each([{}, { accept: '*/*' }])('gets a stateless answer as JSON: %j', async (headers) => {
    for (const [message, expected] of [
      [initialize, { result: { protocolVersion: '2025-11-25' } }],
      [{ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { result: { tools: expect.any(Array) } }],
      [
        toolCall(3, 'tell', { predicate: 'plain', args: ['a'] }),
        { id: 3, result: { structuredContent: { atom: 'plain(a)' } } },
      ],
    ] as const) {
      const { status, type, body } = await plain(message, headers);
      expect([status, type]).toEqual([200, 'application/json']);
      expect(JSON.parse(body)).toMatchObject(expected);
    }
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await plain(note, headers)).toMatchObject({ status: 202, body: '' });
  });

  it('uses the database and tenant of its headers, and lists its client', async () => {
    const tell = toolCall(1, 'tell', { predicate: 'there', args: ['a'] });
    await plain(tell, { 'x-tenant-id': 'plainly' });
    const asked = await plain(toolCall(2, 'ask', { predicate: 'there', args: ['?x'] }), {
      'x-tenant-id': 'plainly',
    });
    expect(asked.body).toContain('there(a)');
    expect((await plain(tell, { 'x-database': 'nowhere' })).status).toBe(404);
    const { body } = await service.call<ClientList>('GET', '/mcp/clients');
    expect(body.clients).toContainEqual(
      expect.objectContaining({ transport: 'stateless', tenant: 'plainly', calls: 2 }),
    );
  });
});

describe('both transports', () => {
  it('reject a foreign Origin', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await post('/mcp', initialize, headers)).toMatchObject({ status: 403 });
    expect(await service.call('GET', '/mcp/sse', undefined, { headers })).toMatchObject({ status: 403 });
  });

  it('end with the service, including their streams', async () => {
    const own = await startServiceUnderTest();
    const response = await fetch(`${own.address}/mcp/sse`);
    const opened = await fetch(`${own.address}/mcp`, {
      method: 'POST',
      headers: { ...accept, 'content-type': 'application/json' },
      body: JSON.stringify(initialize),
    });
    await opened.text();
    const listening = await fetch(`${own.address}/mcp`, {
      headers: { ...accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' },
    });
    await own.close();
    await Promise.all([response.text(), listening.text()]);
    await expect(fetch(`${own.address}/health`)).rejects.toThrow(/fetch failed/);
  });

  it('require the key if one is set', async () => {
    const own = await startServiceUnderTest({ API_KEY: 'a-key-of-some-length' });
    const open = (headers: Record<string, string>) =>
      fetch(`${own.address}/mcp`, {
        method: 'POST',
        headers: { ...accept, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(initialize),
      });
    expect((await open({})).status).toBe(401);
    expect((await open({ authorization: 'Bearer a-key-of-some-length' })).status).toBe(200);
    await own.close();
  });
});
