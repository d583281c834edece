/** MCP and malicious or careless clients: whatever they send or leave unread, others are answered. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

const apiKey = 'admin-of-the-test';
const accept = 'application/json, text/event-stream';
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey });
});
afterAll(() => service.close());

type Headers = Record<string, string>;

const initialize = (params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'rude', version: '1' },
    ...params,
  },
});

const toolCall = (id: unknown, name: string, given: unknown, more: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given, ...more },
});

function post(path: string, body: unknown, headers: Headers = {}) {
  return service.call<unknown>('POST', path, body, { headers: { 'x-api-key': apiKey, accept, ...headers } });
}

async function openSession(headers: Headers = {}): Promise<string> {
  const { headers: answered } = await post('/mcp', initialize(), headers);
  const id = answered.get('mcp-session-id');
  if (id === null) throw new Error('no session was opened');
  return id;
}

/** A stream of events: what has arrived so far, and whether it has ended. It reads only after `read`. */
interface Stream {
  readonly response: IncomingMessage;
  readonly text: () => string;
  readonly hasEnded: () => boolean;
  read(): void;
  close(): void;
}

function openStream(
  method: string,
  path: string,
  headers: Headers = {},
  body: string | null = null,
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const all = { 'x-api-key': apiKey, accept, ...headers };
    const outgoing: ClientRequest = request(
      new URL(path, service.address),
      { method, headers: all },
      (response) => {
        let text = '';
        let hasEnded = false;
        response.on('close', () => (hasEnded = true)).on('error', () => (hasEnded = true));
        response.setEncoding('utf8').pause();
        resolve({
          response,
          text: () => text,
          hasEnded: () => hasEnded,
          read: () => void response.on('data', (chunk: string) => (text += chunk)).resume(),
          close: () => void outgoing.destroy(),
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** An SSE session: its stream, and the address of its messages. */
async function openSse(headers: Headers = {}): Promise<{ stream: Stream; path: string }> {
  const stream = await openStream('GET', '/mcp/sse', headers);
  stream.read();
  // Also before the tests, where polling is unavailable.
  await vi.waitFor(() => expect(stream.text()).toContain('\n\n'), 300_000);
  const path = /data: (\S+)/.exec(stream.text())?.[1] ?? '';
  await post(path, initialize(), headers);
  await post(path, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
  return { stream, path };
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'rude', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of the stateless revision, given its body and headers. */
function stateless(method: string, params: Record<string, unknown>, name?: string): [string, Headers] {
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
  const headers: Headers = {
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
  return [JSON.stringify(message), headers];
}

/** Checks that other clients still get answers, over each transport. */
async function expectServed(): Promise<void> {
  const [body, headers] = stateless('tools/call', { name: 'predicates', arguments: {} }, 'predicates');
  expect(await post('/mcp', body, headers)).toMatchObject({ status: 200 });
  const id = await openSession();
  const called = await post('/mcp', toolCall(2, 'predicates', {}), { 'mcp-session-id': id });
  expect(JSON.stringify(called.body)).toContain('structuredContent');
}

const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, at]));

const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

const malformed: [string, unknown][] = [
  ['no JSON', '{"jsonrpc": "2.0", "id": 1,'],
  ['nothing', ''],
  ['a text', '"initialize"'],
  ['null', 'null'],
  ['invalid UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
  ['no method', { jsonrpc: '2.0', id: 1 }],
  ['a method that is no text', { jsonrpc: '2.0', id: 1, method: 7 }],
  ['no such method', { jsonrpc: '2.0', id: 1, method: 'tools/destroy' }],
  ['another JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
  ...[null, true, {}, [], 1.5].map((id): [string, unknown] => [
    `an id that is ${JSON.stringify(id)}`,
    toolCall(id, 'predicates', {}),
  ]),
  ['an id of a million characters', toolCall('i'.repeat(1_000_000), 'predicates', {})],
  ['a request as a notification', { ...toolCall(1, 'predicates', {}), id: undefined }],
  ['an answer to nothing', { jsonrpc: '2.0', id: 99, result: { hello: 'there' } }],
  ['an error to nothing', { jsonrpc: '2.0', id: 99, error: { code: -1, message: 'x' } }],
  ['an empty batch', []],
  ['a batch of rubbish', [1, null, 'x', {}]],
  ['a batch of 10,000 calls', Array.from({ length: 10_000 }, (_, id) => toolCall(id, 'predicates', {}))],
  [
    'one id twice in a batch',
    [toolCall(5, 'predicates', {}), toolCall(5, 'tell', { predicate: 'p', args: ['twice'] })],
  ],
  ['parameters that are a list', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: [1] }],
  ['arguments that are a list', toolCall(1, 'tell', [])],
  ['arguments that are a text', toolCall(1, 'tell', 'p(a)')],
  ['a tool that has no name', toolCall(1, '', {})],
  ['a tool whose name is a number', { ...toolCall(1, 'x', {}), params: { name: 5 } }],
  [
    'nesting of 60 levels',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tell","arguments":{"args":${nested(58)}}}}`,
  ],
  ['nesting of 100,000 levels', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${nested(100_000)}}`],
  [
    'a field that changes objects',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"__proto__":{}}}}',
  ],
  [
    'a cursor of its own making',
    { jsonrpc: '2.0', id: 1, method: 'resources/list', params: { cursor: '-1' } },
  ],
  [
    'a resource of its own making',
    { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
  ],
];

describe('a malformed or meaningless message', () => {
  let session = '';
  let sse: Awaited<ReturnType<typeof openSse>>;
  beforeAll(async () => {
    session = await openSession();
    sse = await openSse();
  });
  afterAll(() => sse.stream.close());

  it.each(malformed)('is refused or answered, never a fault of the service: %s', async (_what, body) => {
    const logged = service.logged.length;
    const [, headers] = stateless('tools/call', {});
    const addresses: [string, Headers][] = [
      ['/mcp', {}],
      ['/mcp', { 'mcp-session-id': session }],
      ['/mcp/sse', { 'mcp-session-id': session }],
      ['/mcp', headers],
      ['/mcp/messages?sessionId=nobody', {}],
      [sse.path, {}],
    ];
    await Promise.all(
      addresses.map(async ([address, more]) => {
        const { status } = await post(address, body, { 'content-type': 'application/json', ...more });
        expect(status, `${address} ${JSON.stringify(more)}`).toBeLessThan(500);
      }),
    );
    const called = await post('/mcp', toolCall(2, 'predicates', {}), { 'mcp-session-id': session });
    expect(JSON.stringify(called.body)).toContain('structuredContent');
    expect(sse.stream.hasEnded()).toBe(false);
    expect(service.logged.slice(logged).filter(({ level }) => level === 'ERROR')).toEqual([]);
  });
});

describe('oversized input', () => {
  it('is refused with 413 before it is parsed, at every message address', async () => {
    const { stream, path } = await openSse();
    const huge = `{"jsonrpc": "2.0", ${'x'.repeat(10_485_760)}`;
    for (const address of ['/mcp', '/mcp/sse', path])
      expect(await post(address, huge), address).toMatchObject({
        status: 413,
        body: { code: 'PayloadTooLarge' },
      });
    stream.close();
    await expectServed();
  });

  it('is not stored in a session or a stream: client info of a megabyte is refused', async () => {
    const long = 'x'.repeat(1_000_000);
    const refused = { status: 413, body: { code: 'PayloadTooLarge' } };
    const big = initialize({ clientInfo: { name: long, version: '1' } });
    expect(await post('/mcp', big)).toMatchObject(refused);
    expect(await post('/mcp', [initialize(), big])).toMatchObject(refused);
    expect(await post('/mcp', initialize({ capabilities: { experimental: { x: { long } } } }))).toMatchObject(
      refused,
    );
    const stream = await openStream('GET', '/mcp/sse');
    stream.read();
    await expect.poll(() => stream.text()).toContain('\n\n');
    expect(await post(/data: (\S+)/.exec(stream.text())?.[1] ?? '', big)).toMatchObject(refused);
    stream.close();
    const [listen, headers] = stateless('subscriptions/listen', {
      notifications: { resourceSubscriptions: [`kb://facts/${long}`] },
    });
    expect(await post('/mcp', listen, headers)).toMatchObject(refused);
  });

  it('is refused if an object of a message has too many fields', async () => {
    const session = await openSession();
    const refused = { status: 400, body: { code: 'ValidationException' } };
    for (const message of [
      toolCall(2, 'tell', fields(1001)),
      toolCall(2, 'tell', {}, fields(1001)),
      toolCall(2, 'tell', {}, { _meta: fields(1001) }),
      { ...toolCall(2, 'tell', {}), ...fields(1001) },
      [toolCall(2, 'tell', fields(1001))],
    ])
      expect(await post('/mcp', message, { 'mcp-session-id': session })).toMatchObject(refused);
    const few = await post('/mcp', toolCall(2, 'tell', fields(1000)), { 'mcp-session-id': session });
    expect(JSON.stringify(few.body)).toContain('f0: unknown field');
  });

  it.each([
    ['a text', { predicate: 'p', args: ['x'.repeat(9 * 1024 * 1024)] }],
    ['a list', { predicate: 'p', args: Array(1_000_000).fill(12_345_678) }],
  ])('returns a short tool error for 9 MiB of arguments: %s', async (_what, given) => {
    const session = await openSession();
    const { body } = await post('/mcp', toolCall(2, 'tell', given), { 'mcp-session-id': session });
    expect(JSON.stringify(body)).toContain('isError');
    expect(JSON.stringify(body).length).toBeLessThan(10_000);
    const [message, headers] = stateless('tools/call', { name: 'tell', arguments: given }, 'tell');
    const answered = await post('/mcp', message, headers);
    expect(JSON.stringify(answered.body)).toContain('isError');
    const { body: log } = await service.call<string>('GET', '/mcp/calls?limit=2', undefined, {
      headers: { 'x-api-key': apiKey },
    });
    expect(log).toMatchObject({ calls: [{ argumentsCut: true }, { argumentsCut: true }] });
    expect(JSON.stringify(log).length).toBeLessThan(10_000);
  });
});

it('refuses an object of more fields than one may have, before any tool', async () => {
  const session = await openSession();
  const given = { predicate: 'p', args: ['a'], metadata: fields(100_000) };
  const { status, body } = await post('/mcp', toolCall(2, 'tell', given), { 'mcp-session-id': session });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('more than 16384 fields');
});

describe('an unsupported revision', () => {
  it('is answered at initialize with a supported one, and refused later', async () => {
    for (const protocolVersion of ['1999-01-01', '2030-01-01', 'latest', '']) {
      const { body } = await post('/mcp', initialize({ protocolVersion }));
      expect(String(body)).toContain('"protocolVersion":"2025-11-25"');
    }
    expect((await post('/mcp', initialize({ protocolVersion: 5 }))).status).toBeLessThan(500);
    const session = await openSession();
    const later = { 'mcp-session-id': session, 'mcp-protocol-version': '1999-01-01' };
    expect(await post('/mcp', toolCall(2, 'predicates', {}), later)).toMatchObject({ status: 400 });
    const [body, headers] = stateless('tools/list', {});
    const future = body.replace('2026-07-28', '2030-01-01');
    const refused = await post('/mcp', future, { ...headers, 'mcp-protocol-version': '2030-01-01' });
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused.body)).toContain('2026-07-28');
    // The header and the message must agree.
    expect(await post('/mcp', future, headers)).toMatchObject({ status: 400 });
  });
});

describe('a session', () => {
  async function made(input: Record<string, unknown>): Promise<string> {
    const { body } = await service.call<CreatedKey>('POST', '/auth/keys', input, {
      headers: { 'x-api-key': apiKey },
    });
    return body.key;
  }

  it('is closed to other keys, whatever their permissions', async () => {
    const key = await made({ role: 'writer' });
    const session = await openSession({ 'x-api-key': key });
    const { stream, path } = await openSse({ 'x-api-key': key });
    const thief = { 'mcp-session-id': session };
    const foreign = { status: 403, body: { code: 'Forbidden' } };
    const unknown = { status: 404, body: { code: 'SessionNotFound' } };
    expect(await post('/mcp', toolCall(2, 'predicates', {}), thief)).toMatchObject(foreign);
    expect(await post(path, toolCall(2, 'predicates', {}))).toMatchObject(unknown);
    for (const method of ['GET', 'DELETE'])
      expect(
        await service.call(method, '/mcp', undefined, {
          headers: { 'x-api-key': apiKey, accept, ...thief },
        }),
      ).toMatchObject(foreign);
    const own = { ...thief, 'x-api-key': key };
    expect(await post('/mcp', toolCall(3, 'predicates', {}), own)).toMatchObject({ status: 200 });
    stream.close();
  });

  it('works only in the tenant and database that it was opened for', async () => {
    const session = await openSession({ 'x-tenant-id': 'one' });
    const { stream, path } = await openSse({ 'x-tenant-id': 'one' });
    for (const elsewhere of [{ 'x-tenant-id': 'two' }, { 'x-tenant-id': 'one', 'x-database': 'two' }]) {
      const refused = { status: 400, body: { code: 'ValidationException' } };
      const call = toolCall(2, 'predicates', {});
      expect(await post('/mcp', call, { ...elsewhere, 'mcp-session-id': session })).toMatchObject(refused);
      expect(await post(path, call, elsewhere)).toMatchObject(refused);
    }
    stream.close();
  });

  it('is not opened, nor a stateless request answered, for a tenant or database outside the key', async () => {
    const key = await made({ role: 'writer', tenants: ['acme'], databases: ['default'] });
    const [body, headers] = stateless('tools/call', { name: 'predicates', arguments: {} }, 'predicates');
    for (const place of [{ 'x-tenant-id': 'other' }, { 'x-tenant-id': 'acme', 'x-database': 'other' }]) {
      const from = { 'x-api-key': key, ...place };
      const refused = { status: 403, body: { code: 'Forbidden' } };
      expect(await post('/mcp', initialize(), from)).toMatchObject(refused);
      expect(await post('/mcp', body, { ...headers, ...from })).toMatchObject(refused);
      const stream = service.call('GET', '/mcp/sse', undefined, { headers: from });
      expect(await stream).toMatchObject(refused);
    }
    const own = { ...headers, 'x-api-key': key, 'x-tenant-id': 'acme' };
    expect(await post('/mcp', body, own)).toMatchObject({ status: 200 });
  });

  it("of a reader's key gets a tool error from writing tools, over every transport", async () => {
    const key = await made({ role: 'reader' });
    const tell = toolCall(2, 'tell', { predicate: 'p', args: ['a'] });
    const session = await openSession({ 'x-api-key': key });
    const own = { 'x-api-key': key };
    const answers = [JSON.stringify((await post('/mcp', tell, { ...own, 'mcp-session-id': session })).body)];
    const [body, headers] = stateless('tools/call', tell.params, 'tell');
    answers.push(JSON.stringify((await post('/mcp', body, { ...headers, ...own })).body));
    const { stream, path } = await openSse(own);
    expect(await post(path, tell, own)).toMatchObject({ status: 202 });
    await expect.poll(() => stream.text()).toContain('isError');
    answers.push(stream.text());
    stream.close();
    for (const answer of answers) expect(answer).toMatch(/isError.*|Forbidden/s);
    for (const answer of answers) expect(answer).toContain('Forbidden: this needs the role writer');
  });
});

it('a foreign Origin returns 403 at every address of MCP, whoever asks', async () => {
  const session = await openSession();
  const { stream, path } = await openSse();
  const [body, headers] = stateless('tools/list', {});
  const evil = { origin: 'https://evil.example', 'x-api-key': apiKey, accept };
  const asked: [string, string, unknown, Headers][] = [
    ['POST', '/mcp', initialize(), {}],
    ['POST', '/mcp', body, headers],
    ['POST', '/mcp', toolCall(2, 'predicates', {}), { 'mcp-session-id': session }],
    ['GET', '/mcp', undefined, { 'mcp-session-id': session }],
    ['DELETE', '/mcp', undefined, { 'mcp-session-id': session }],
    ['GET', '/mcp/sse', undefined, {}],
    ['POST', '/mcp/sse', initialize(), {}],
    ['DELETE', '/mcp/sse', undefined, { 'mcp-session-id': session }],
    ['POST', path, toolCall(2, 'predicates', {}), {}],
    ['GET', '/mcp/calls', undefined, {}],
    ['GET', '/mcp/clients', undefined, {}],
    ['GET', '/mcp/setup', undefined, {}],
    ['POST', '/mcp/bridge/test', {}, {}],
  ];
  for (const [method, address, sent, more] of asked)
    expect(
      await service.call(method, address, sent, { headers: { ...more, ...evil } }),
      `${method} ${address}`,
    ).toMatchObject({ status: 403 });
  stream.close();
  const called = await post('/mcp', toolCall(2, 'predicates', {}), { 'mcp-session-id': session });
  expect(called).toMatchObject({ status: 200 });
});

describe('a client that never reads its stream', () => {
  /** Tells facts of these predicates in separate writes, so that each is notified. */
  async function change(tenant: string, times: number, predicates: readonly string[]): Promise<void> {
    const headers = { 'x-api-key': apiKey, 'x-tenant-id': tenant };
    for (let round = 0; round < times; round++) {
      const facts = predicates.map((predicate) => ({ predicate, args: [`${round}`] }));
      const { status } = await service.call('POST', '/assert/facts', { facts }, { headers });
      expect(status).toBe(200);
      // Changes within 100 ms are notified together.
      await new Promise((resolve) => void setTimeout(resolve, 110));
    }
  }

  /** An answer of some four million characters, the given number of times. */
  async function askAtLength(path: string, tenant: Headers, times: number): Promise<number[]> {
    const facts = Array.from({ length: 40 }, (_, index) => ({
      predicate: 'long',
      args: [index, 'x'.repeat(30_000)],
    }));
    const headers = { 'x-api-key': apiKey, ...tenant };
    await service.call('POST', '/assert/facts', { facts }, { headers });
    const statuses: number[] = [];
    for (let id = 0; id < times; id++) {
      const ask = toolCall(id, 'ask', { predicate: 'long', args: ['?x', '?y'] });
      statuses.push((await post(path, ask, tenant)).status);
    }
    return statuses;
  }

  it('gets one notification for each changed document when it reads again, and is cut off if answers pile up', async () => {
    const tenant = { 'x-tenant-id': 'unread' };
    const headers = { 'x-api-key': apiKey, ...tenant };
    const { stream, path } = await openSse(tenant);
    for (const uri of ['kb://facts/p', 'kb://facts/q'])
      await post(path, { jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } }, tenant);
    stream.response.pause();
    expect(await askAtLength(path, tenant, 4)).toEqual([202, 202, 202, 202]);
    const answered = async (): Promise<number> => {
      const { body } = await service.call<{ calls: { tenant: string }[] }>(
        'GET',
        '/mcp/calls?limit=100',
        undefined,
        { headers },
      );
      return body.calls.filter((call) => call.tenant === 'unread').length;
    };
    await expect.poll(answered).toBe(4);
    await change('unread', 3, ['p']);
    stream.response.resume();
    const told = (): number => stream.text().split('"uri":"kb://facts/p"').length - 1;
    await expect.poll(() => told()).toBeGreaterThan(0);
    await change('unread', 1, ['q']);
    await expect.poll(() => stream.text()).toContain('"uri":"kb://facts/q"');
    expect(told()).toBe(1);

    stream.response.pause();
    const statuses = await askAtLength(path, tenant, 20);
    // Refused while answers wait, or cut off; a client that does not read may not notice that.
    const refused = async (): Promise<boolean> =>
      (await post(path, toolCall(9, 'predicates', {}), tenant)).status !== 202;
    if (!statuses.includes(429)) await expect.poll(refused, { timeout: 60_000 }).toBe(true);
    await expect.poll(refused).toBe(true);
    stream.close();
    await expectServed();
  });
});
