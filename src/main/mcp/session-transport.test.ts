import { isInitializeRequest, isJSONRPCRequest } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { knowledgeSurface, type McpSurface, type SurfaceCall } from './surface.ts';
import { isPlainRequest } from './session-transport.ts';

let service: ServiceUnderTest | null = null;
afterEach(async () => {
  await service?.close();
  service = null;
});

const accept = 'application/json, text/event-stream';

interface Talk {
  post(message: unknown, init?: RequestInit): Promise<Response>;
  remove(): Promise<Response>;
}

/** A session of a service that was started for it. */
async function openSession(mcpSurface: McpSurface = knowledgeSurface): Promise<Talk> {
  const started = await startServiceUnderTest({}, { mcpSurface });
  service = started;
  const address = `${started.address}/mcp`;
  const send = (headers: HeadersInit, message: unknown, init: RequestInit = {}) =>
    fetch(address, { method: 'POST', body: JSON.stringify(message), ...init, headers });
  const plain = { accept, 'content-type': 'application/json' };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const opened = await send(plain, { jsonrpc: '2.0', id: 'open', method: 'initialize', params });
  await opened.text();
  const own = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  return {
    post: (message, init = {}) =>
      send({ ...plain, ...own, ...Object.fromEntries(new Headers(init.headers)) }, message, init),
    remove: () => fetch(address, { method: 'DELETE', headers: own }),
  };
}

/** Headers that make the SDK's general path handle a request. */
const unusual = { headers: { 'content-type': 'application/json; charset=utf-8' } };

/** Headers that differ between answers, or describe how one was chunked. */
const passing = new Set(['date', 'x-request-id', 'content-length', 'transfer-encoding']);

async function seen(response: Response): Promise<unknown> {
  const headers = [...response.headers].filter(([name]) => !passing.has(name));
  return { status: response.status, headers, body: await response.text() };
}

/** A surface whose one tool does as instructed; `working` resolves with the call once it runs. */
function surfaceOf(run: (call: SurfaceCall) => Promise<void>): {
  surface: McpSurface;
  working: Promise<SurfaceCall>;
} {
  let begun: (call: SurfaceCall) => void;
  const working = new Promise<SurfaceCall>((resolve) => (begun = resolve));
  const surface: McpSurface = {
    ...knowledgeSurface,
    async callTool(call) {
      begun(call);
      await run(call);
      return { content: [{ type: 'text', text: 'done' }] };
    },
  };
  return { surface, working };
}

function callOf(id: number | string, name = 'ask', given: object = { predicate: 'p', args: ['?x'] }) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } };
}

describe('a session over Streamable HTTP', () => {
  it.each([
    ['a list', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
    [
      'a page that there is not',
      { jsonrpc: '2.0', id: 1, method: 'resources/list', params: { cursor: 'x' } },
    ],
    ['a call that is refused', callOf('one', 'ask', { predicate: 7 })],
    ['a tool that there is not', callOf(1, 'none')],
    ['parameters that are wrong', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 1 } }],
    ['a method that there is not', { jsonrpc: '2.0', id: 1, method: 'no/such', params: {} }],
    [
      'a ping with a token',
      { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { progressToken: 3 } } },
    ],
    [
      'a token of no kind',
      { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { progressToken: {} } } },
    ],
    ['another field', { jsonrpc: '2.0', id: 1, method: 'ping', more: true }],
    ['an id of no kind', { jsonrpc: '2.0', id: 1.5, method: 'ping' }],
  ])('answers %s alike on the fast and the general path', async (_, message) => {
    const { post } = await openSession();
    expect(await seen(await post(message))).toEqual(await seen(await post(message, unusual)));
  });

  it('refuses an unknown revision, and clients that do not accept events', async () => {
    const { post } = await openSession();
    const headers = { 'mcp-protocol-version': '1999-01-01' };
    expect(await post(callOf(1), { headers })).toMatchObject({ status: 400 });
    expect(await post(callOf(1), { headers: { accept: 'application/json' } })).toMatchObject({ status: 406 });
  });

  it('sends the headers before a long call has ended', async () => {
    let release = (): void => {};
    const { surface } = surfaceOf(() => new Promise((resolve) => (release = resolve)));
    const { post } = await openSession(surface);
    const response = await post(callOf(1));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    release();
    expect(await response.text()).toContain('"text":"done"');
  });

  it('sends progress on the answer of its call, before the result', async () => {
    const { surface } = surfaceOf(async ({ context }) => {
      const params = { progressToken: 1, progress: 1, total: 2 };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    });
    const { post } = await openSession(surface);
    const events = (await (await post(callOf(1))).text()).split('\n\n').filter((each) => each !== '');
    expect(events).toHaveLength(2);
    expect(events[0]).toContain('"method":"notifications/progress"');
    expect(events[1]).toContain('"text":"done"');
  });

  it.each([
    ['the fast path', {}],
    ['the general path', unusual],
  ])('refuses the id of a call that is under way on %s, and takes it again afterwards', async (_, init) => {
    const releases: (() => void)[] = [];
    const { surface, working } = surfaceOf(() => new Promise((resolve) => releases.push(resolve)));
    const { post } = await openSession(surface);
    const first = post(callOf(1), init);
    await working;
    for (const again of [{}, unusual]) {
      const refused = await post(callOf(1), again);
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('a request with the id 1 is under way in this session');
    }
    const other = post(callOf('1'));
    await expect.poll(() => releases.length).toBe(2);
    for (const release of releases) release();
    for (const response of [first, other]) expect(await (await response).text()).toContain('"text":"done"');
    const again = post(callOf(1), init);
    await expect.poll(() => releases.length).toBe(3);
    releases[2]?.();
    expect(await (await again).text()).toContain('"text":"done"');
  });

  it('takes an id again after its client has disconnected', async () => {
    const calls: SurfaceCall[] = [];
    const surface: McpSurface = {
      ...knowledgeSurface,
      callTool(call) {
        calls.push(call);
        return calls.length === 1
          ? new Promise(() => {})
          : Promise.resolve({ content: [{ type: 'text', text: 'done' }] });
      },
    };
    const { post } = await openSession(surface);
    const gone = new AbortController();
    const first = post(callOf(1), { signal: gone.signal }).catch(() => null);
    await expect.poll(() => calls.length).toBe(1);
    gone.abort();
    await first;
    await expect.poll(() => calls[0]?.caller.signal.aborted).toBe(true);
    expect(await (await post(callOf(1))).text()).toContain('"text":"done"');
  });

  it('ends the answer of a running call when the session ends', async () => {
    const { surface, working } = surfaceOf(
      ({ caller }) =>
        new Promise((_, reject) => {
          const { signal } = caller;
          const whole = 'toSignal' in signal ? signal.toSignal() : signal;
          whole.addEventListener('abort', () => reject(new Error('cancelled')));
        }),
    );
    const { post, remove } = await openSession(surface);
    const response = post(callOf(1));
    await working;
    expect((await remove()).status).toBe(200);
    expect(await (await response).text()).toBe('');
    expect((await post(callOf(2))).status).toBe(404);
  });

  it('cancels a call whose client has disconnected', async () => {
    const { surface, working } = surfaceOf(() => new Promise(() => {}));
    const { post } = await openSession(surface);
    const gone = new AbortController();
    const response = post(callOf(1), { signal: gone.signal }).catch(() => null);
    const { caller } = await working;
    expect(caller.signal.aborted).toBe(false);
    gone.abort();
    await response;
    await expect.poll(() => caller.signal.aborted).toBe(true);
  });
});

describe('a plain request', () => {
  it('is accepted by the schema of messages, whatever it contains', () => {
    const things = [undefined, null, 0, -3, 1.5, 2 ** 60, Number.NaN, '', 'a', true, [], {}];
    const metas = [
      { progressToken: 'x' },
      { progressToken: 4 },
      { progressToken: 1.5 },
      { progressToken: null },
      { 'io.modelcontextprotocol/related-task': 1 },
      { other: [1] },
      ...things,
    ];
    const params = [...metas.map((_meta) => ({ name: 'x', _meta })), ...things];
    const more = [{}, { result: {} }, { error: null }, { more: undefined }];
    let plain = 0;
    for (const jsonrpc of ['2.0', '1.0', undefined])
      for (const id of things)
        for (const method of ['ping', 'tools/call', 'initialize', ...things])
          for (const given of params)
            for (const rest of more) {
              const message = { jsonrpc, id, method, params: given, ...rest };
              if (!isPlainRequest(message)) continue;
              plain++;
              expect(isJSONRPCRequest(message), JSON.stringify(message)).toBe(true);
              expect(isInitializeRequest(message), JSON.stringify(message)).toBe(false);
            }
    expect(plain).toBeGreaterThan(100);
  });
});
