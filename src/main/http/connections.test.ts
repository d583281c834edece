import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { AggregateResult } from '../../engine/contract/aggregation.ts';
import { networkOf } from '../base/network.ts';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { readBody } from './body.ts';
import { limitConnections, serverOptions } from './connections.ts';
import { createRateLimit, type Limits, limits } from './limits.ts';

/** How a server treats slow, silent, greedy or ambiguous clients, with limits short enough for a test. */
const ends: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) await end();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serving(answer: Answer, own: Partial<Limits> = {}) {
  const warnings: unknown[] = [];
  const given = { ...limits, lookMs: 20, ...own };
  const server: Server = createServer({ ...serverOptions, connectionsCheckingInterval: 20 }, answer);
  limitConnections(server, { warn: (...args: unknown[]) => void warnings.push(args) }, given);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    ends.push(() => socket.destroy());
    return socket;
  };
  /** Everything received until the connection closes. */
  const said = async (bytes: string): Promise<string> => {
    const socket = open();
    socket.write(bytes);
    return text(socket);
  };
  return { server, open, said, warnings };
}

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const ok: Answer = (_request, response) => response.end('ok');

it('returns 400 if the head of a request does not arrive in time', async () => {
  // Long beside a pause of this thread between the connection and its first bytes, without which it is closed silently.
  const { said } = await serving(ok, { headMs: 500 });
  for (const reply of await Promise.all(['GET /heal', 'GET / HTTP/1.1\r\nHost: local'].map(said))) {
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply).toContain('did not arrive in time');
  }
});

it('closes an unused connection silently, since an error would answer a later request', async () => {
  const { said } = await serving(ok, { headMs: 50 });
  expect(await said('')).toBe('');
});

it('closes an idle connection after a while, but not while it prepares an answer', async () => {
  const { open } = await serving(
    (request, response) => void setTimeout(() => response.end('ok'), request.url === '/slow' ? 1200 : 0),
    { idleMs: 500, silentAnswerMs: 500 },
  );
  const idle = open();
  idle.write(get('/'));
  expect(await text(idle)).toContain('ok');
  const slow = open();
  slow.write(get('/slow'));
  expect(await text(slow)).toContain('ok');
});

it('cuts off an answer that is not read', async () => {
  let isCut = false;
  const { open } = await serving(
    (_request, response) => {
      response.on('close', () => (isCut = true));
      response.end(Buffer.alloc(50_000_000));
    },
    { silentAnswerMs: 100 },
  );
  open().pause().write(get('/'));
  await expect.poll(() => isCut).toBe(true);
});

it('processes the requests of one connection one by one and answers them in order', async () => {
  let running = 0;
  let most = 0;
  const { said } = await serving((request, response) => {
    most = Math.max(most, ++running);
    setTimeout(() => {
      running--;
      response.end(`<${request.url}>`);
    }, 1);
  });
  const paths = Array.from({ length: 300 }, (_, index) => `/${index}`);
  const reply = await said(paths.map((path) => get(path)).join('') + get('/end', 'Connection: close\r\n'));
  expect([...reply.matchAll(/<(.*?)>/g)].map(([, path]) => path)).toEqual([...paths, '/end']);
  expect(most).toBe(1);
});

it('pauses reading a connection with many waiting requests', async () => {
  const release: (() => void)[] = [];
  const { open, server } = await serving(
    (_request, response) => void release.push(() => response.end('ok')),
    {
      waitingRequests: 8,
      maxWaitingRequests: 100_000,
    },
  );
  let onServer: Socket | undefined;
  server.on('connection', (socket: Socket) => (onServer = socket));
  const socket = open();
  const total = 40_000;
  let got = 0;
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => (got += chunk.match(/HTTP\/1\.1 200/g)?.length ?? 0));
  socket.write(get('/').repeat(total));
  await expect.poll(() => release.length).toBe(1);
  await wait(100);
  expect(onServer?.bytesRead ?? 0).toBeLessThan((get('/').length * total) / 2);
  const answering = setInterval(() => {
    while (release.length > 0) release.pop()?.();
  }, 0);
  ends.push(() => clearInterval(answering));
  await expect.poll(() => got).toBeGreaterThan(200);
});

it('cuts off a client that sends far more in one piece', async () => {
  const { open } = await serving(() => {}, { waitingRequests: 8, maxWaitingRequests: 20 });
  const socket = open();
  socket.write(get('/').repeat(1000));
  expect(await text(socket)).toBe('');
});

it('reports an error in a pipelined request after the answer to the one before it', async () => {
  const { said } = await serving((_request, response) => void setTimeout(() => response.end('<first>'), 50));
  const reply = await said(`${get('/')}GARBAGE\r\n\r\n`);
  expect(reply).toMatch(/^HTTP\/1\.1 200 [^]*<first>HTTP\/1\.1 400 /);
});

it('sends a half-closed client an answer that is ready soon, and ends it otherwise', async () => {
  let isGone = false;
  const { open } = await serving(
    (request, response) => {
      response.on('close', () => (isGone = request.url === '/never'));
      if (request.url === '/soon') setTimeout(() => response.end('soon'), 20);
    },
    { halfClosedMs: 200 },
  );
  const soon = open();
  soon.end(get('/soon'));
  expect(await text(soon)).toContain('soon');
  open().end(get('/never'));
  await expect.poll(() => isGone).toBe(true);
});

it('rejects connections beyond the limit and logs a warning', async () => {
  const { open, warnings } = await serving(ok, { connections: 3 });
  const kept = [open(), open(), open()];
  await Promise.all(kept.map((socket) => once(socket, 'connect')));
  expect(await text(open())).toBe('');
  expect(await text(open())).toBe('');
  expect(warnings).toHaveLength(1);
  kept[0]?.write(get('/', 'Connection: close\r\n'));
  expect(await text(kept[0] as Socket)).toContain('ok');
});

it.each([
  ['more than 256 headers', get('/', 'a: b\r\n'.repeat(256))],
  [
    'HTTP/1.0 has no Transfer-Encoding',
    'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'must be chunked alone',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  ],
  ['not a proxy', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
])('returns 400 and closes: %s', async (words, bytes) => {
  let isReached = false;
  const { said } = await serving(() => (isReached = true));
  const reply = await said(bytes);
  expect(reply).toMatch(/^HTTP\/1\.1 400 /);
  expect(reply.toLowerCase()).toContain('content-type: application/problem+json');
  expect(reply.toLowerCase()).toMatch(/x-request-id: .*[^]*x-api-version: 1/);
  expect(reply).toContain(words);
  expect(isReached).toBe(false);
});

it('uses neither value of a duplicate header', async () => {
  const service = await startServiceUnderTest({ API_KEY: 'right' });
  ends.push(() => service.close());
  const asked = (headers: string): Promise<string> =>
    service.raw(`GET /rules HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`);
  const good = 'Host: localhost\r\nX-Tenant-ID: a\r\nAuthorization: Bearer right\r\n';
  expect(await asked(good)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await asked(`${good}Host: evil.example\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
  expect(await asked(`${good}Authorization: Bearer wrong\r\n`)).toMatch(/^HTTP\/1\.1 401 /);
  expect(await asked(`${good}X-Tenant-ID: b\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
});

it('returns 400 for a body that stalls, keeps what it streamed before, and never waits for a refused body', async () => {
  const service = await startServiceUnderTest();
  ends.push(() => service.close());
  // Only by the service's own timers.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const begun = async (path: string, type: string, bytes: string): Promise<Promise<string>[]> => {
    const socket = connect(service.port, '127.0.0.1');
    ends.push(() => socket.destroy());
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: t\r\nContent-Type: ${type}\r\nContent-Length: 1000000\r\n\r\n${bytes}`,
    );
    let told = '';
    const reply = new Promise<string>((resolve) => {
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        told += chunk;
        if (/stopped coming/.test(told)) resolve(told);
      });
    });
    return [reply];
  };
  const refused = connect(service.port, '127.0.0.1');
  refused.write('POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{');
  const cutOff = text(refused);
  const manyLines = Array.from({ length: 6000 }, (_, index) => `{"predicate":"p","args":[${index}]}\n`).join(
    '',
  );
  const [whole] = await begun('/tell', 'application/json', '{"predicate":');
  const [lines] = await begun('/import', 'application/x-ndjson', manyLines);
  const settled = Promise.all([whole, lines, cutOff]);
  const pushing = setInterval(() => vi.advanceTimersByTime(20_000), 20);
  ends.push(() => clearInterval(pushing));
  const [answer = '', stream = '', rest] = await settled;
  clearInterval(pushing);
  vi.useRealTimers();
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(stream).toContain('ValidationException');
  expect(rest).toMatch(/^HTTP\/1\.1 404 /);
  const { body } = await service.call<AggregateResult>(
    'POST',
    '/aggregate',
    { operation: 'COUNT', predicate: 'p' },
    { headers: { 'x-tenant-id': 't' } },
  );
  // In whole batches.
  expect(body.result).toBe(5000);
});

it('limits change streams for each credential or address, and returns 429 with Retry-After beyond that', async () => {
  const service = await startServiceUnderTest();
  ends.push(() => service.close());
  const request = 'GET /events HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: t\r\n\r\n';
  const begun = (): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(service.port, '127.0.0.1');
      ends.unshift(() => socket.destroy());
      socket.once('data', (chunk) => resolve(chunk.toString()));
      socket.write(request);
    });
  const first = await Promise.all(Array.from({ length: limits.eventStreamsOfOne }, begun));
  expect(first.every((reply) => reply.startsWith('HTTP/1.1 200 '))).toBe(true);
  const refused = await begun();
  expect(refused).toMatch(/^HTTP\/1\.1 429 /);
  expect(refused.toLowerCase()).toContain('retry-after: 5');
});

it('limits the total size of long bodies in progress and returns 429 beyond that', async () => {
  const piece = Buffer.alloc(60_000_000, 'x');
  const begun = () => {
    const stream = new PassThrough({ highWaterMark: piece.length });
    // The parts of a request that readBody reads.
    const request = Object.assign(stream, {
      headers: {},
      socket: new Socket(),
    }) as unknown as IncomingMessage;
    const whole = readBody(request, 100_000_000);
    stream.write(piece);
    return { stream, whole };
  };
  const held = [begun(), begun(), begun(), begun()];
  const gone = Promise.all(held.map(({ whole }) => expect(whole).rejects.toThrow('broke off')));
  await expect(begun().whole).rejects.toMatchObject({ code: 'RateLimited' });
  for (const { stream } of held) stream.destroy();
  await gone;
  const later = begun();
  later.stream.end();
  expect((await later.whole).length).toBe(piece.length);
});

it("bounds the rate limiter's buckets and counts an IPv6 network as one client", () => {
  let now = 0;
  const limit = createRateLimit(2, () => now, 10);
  for (let client = 0; client < 1000; client++) limit.take(`address ${client}`);
  limit.take('address 999');
  expect(() => limit.take('address 999')).toThrow('more than 2 requests a minute');
  now += 60_000;
  limit.take('address 999');
  expect(networkOf('2001:DB8:0:1::1')).toBe('2001:db8:0:1');
  expect(networkOf('2001:db8:0:1:ffff::')).toBe(networkOf('2001:db8::1:0:0:0:9'));
  expect(networkOf('::1')).toBe('0:0:0:0');
  expect(networkOf('::ffff:10.0.0.1')).toBe('10.0.0.1');
});
