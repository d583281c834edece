/** What one address may hold open, and how others are served meanwhile; over real sockets. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { limitConnections, serverOptions } from './connections.ts';
import { type Limits, limits } from './limits.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Addresses of this machine: one takes all that it can, the other only wants an answer. */
const [greedy, other] = ['127.0.0.1', '127.0.0.2'];

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const last = 'Connection: close\r\n';

/** Connects from one of the addresses, and writes. */
function opened(port: number, from: string, bytes = ''): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => socket.destroy());
  ends.unshift(() => socket.destroy());
  // A socket that is not read does not notice its end.
  socket.resume();
  if (bytes !== '') socket.write(bytes);
  return socket;
}

/** The answer to a request on a connection of its own. */
async function answered(port: number, from: string, bytes: string): Promise<string> {
  const socket = opened(port, from);
  const told = text(socket);
  socket.write(bytes);
  return told;
}

const openOf = (sockets: readonly Socket[]): Socket[] => sockets.filter(({ closed }) => !closed);

/** A bare server with the limits of the service; it answers when `release` is called, or at once. */
async function serving(own: Partial<Limits> = {}) {
  const waiting: ServerResponse[] = [];
  const warnings: unknown[] = [];
  const server = createServer(serverOptions, (request, response) => {
    if (request.url === '/wait') waiting.push(response);
    else request.resume().on('end', () => response.end('ok'));
  });
  const log = { warn: (...args: unknown[]) => void warnings.push(args) };
  limitConnections(server, log, { ...limits, lookMs: 20, ...own });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => void accepted.push(socket));
  return { port: (server.address() as AddressInfo).port, waiting, warnings, accepted };
}

it.each([
  ['heads', 'GET /health HTTP/1.1\r\nHost: local'],
  [
    'bodies',
    'POST /tell HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: t\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  ],
  ['nothing', ''],
])(
  'keeps at most 256 of 2,500 half-sent requests of one address, and serves everyone meanwhile: %s',
  async (_what, bytes) => {
    const service = await startServiceUnderTest();
    ends.push(() => service.close());
    const { port } = service;
    const half: Socket[] = [];
    for (let count = 0; count < 2500; count += 250) {
      half.push(...Array.from({ length: 250 }, () => opened(port, greedy, bytes)));
      for (const socket of half.slice(count)) if (socket.pending) await once(socket, 'connect');
      for (const from of [greedy, other])
        expect(await answered(port, from, get('/health', last))).toMatch(/^HTTP\/1\.1 200 /);
    }
    await expect.poll(() => openOf(half).length).toBeLessThanOrEqual(limits.quietOfOne);
    // The latest are kept.
    expect(openOf(half).length).toBeGreaterThan(limits.quietOfOne - 5);
    expect(half.at(-1)?.closed).toBe(false);
    expect(service.logged.filter(({ msg }) => /connections of one address/.test(String(msg)))).toHaveLength(
      1,
    );
  },
);

it('closes a bounded number in a turn of the event loop, however many are too many', async () => {
  const { port, accepted } = await serving({ quietOfOne: 10, lookMs: 60_000 });
  const all = Array.from({ length: 600 }, () => opened(port, greedy));
  const closed = (): number => accepted.filter(({ destroyed }) => destroyed).length;
  let most = 0;
  for (let before = 0; accepted.length - before > 10 || accepted.length < all.length; ) {
    await new Promise((resolve) => void setImmediate(resolve));
    const now = closed();
    most = Math.max(most, now - before);
    before = now;
  }
  // The look after a moment, and the one that goes on with it, may share a turn.
  expect(most).toBeLessThanOrEqual(2 * 64);
  expect(closed()).toBe(590);
});

it('keeps the idle connections that were used last', async () => {
  const { port, warnings } = await serving({ quietOfOne: 20 });
  const used = async (socket: Socket): Promise<void> => {
    const answer = once(socket, 'data');
    socket.write(get('/'));
    await answer;
  };
  const pool: Socket[] = [];
  const open = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      const socket = opened(port, greedy);
      await used(socket);
      pool.push(socket);
    }
  };
  await open(20);
  const [first, second] = pool as [Socket, Socket];
  await open(10);
  await expect.poll(() => openOf(pool).length).toBe(20);
  expect([first, second].every(({ closed }) => closed)).toBe(true);
  const [oldest] = openOf(pool) as [Socket];
  await used(oldest);
  // Not 19: of the last one before, the look may have met only the connection, so that its request counts as use too.
  await open(18);
  await expect.poll(() => openOf(pool).length).toBe(20);
  expect(oldest.closed).toBe(false);
  expect(warnings).toHaveLength(1);
});

it('does not take a new connection for the one that was silent for longest', async () => {
  const { port } = await serving({ quietOfOne: 20 });
  const pool = Array.from({ length: 20 }, () => opened(port, greedy, get('/')));
  await Promise.all(pool.map((socket) => once(socket, 'data')));
  const silent = opened(port, greedy);
  await expect.poll(() => openOf(pool).length).toBe(19);
  expect(silent.closed).toBe(false);
});

it('counts no request that waits for its answer, until it is answered', async () => {
  const { port, waiting } = await serving({ quietOfOne: 20 });
  const sockets = Array.from({ length: 50 }, () => opened(port, greedy, get('/wait')));
  await expect.poll(() => waiting.length).toBe(50);
  const idle = Array.from({ length: 30 }, () => opened(port, greedy, get('/')));
  await expect.poll(() => openOf(idle).length).toBe(20);
  expect(openOf(sockets)).toHaveLength(50);
  const answers = sockets.map((socket) => once(socket, 'data'));
  for (const response of waiting) response.end('ok');
  expect(await Promise.all(answers)).toHaveLength(50);
  await expect.poll(() => openOf([...sockets, ...idle]).length).toBe(20);
});

it('counts no open stream', async () => {
  const service = await startServiceUnderTest();
  ends.push(() => service.close());
  const { port } = service;
  const streams = Array.from({ length: 240 }, () =>
    opened(port, greedy, get('/events', 'X-Tenant-ID: t\r\n')),
  );
  await Promise.all(streams.map((socket) => once(socket, 'data')));
  const idle = Array.from({ length: 300 }, () => opened(port, greedy, get('/health')));
  await expect.poll(() => openOf(idle).length).toBe(limits.quietOfOne);
  expect(openOf(streams)).toHaveLength(240);
});

it('leaves connections for others when all of one address wait for answers', async () => {
  const own = { connections: 30, connectionsOfOne: 20, quietOfOne: 5 };
  const { port, waiting, warnings } = await serving(own);
  const sockets = Array.from({ length: 40 }, () => opened(port, greedy, get('/wait')));
  await expect.poll(() => openOf(sockets).length).toBe(20);
  await expect.poll(() => waiting.length).toBe(20);
  expect(await answered(port, other, get('/', last))).toMatch(/^HTTP\/1\.1 200 /);
  expect(warnings).toHaveLength(1);
  for (const response of waiting) response.setHeader('connection', 'close').end();
  await expect.poll(() => openOf(sockets).length).toBe(0);
  expect(await answered(port, greedy, get('/', last))).toMatch(/^HTTP\/1\.1 200 /);
});

it('counts TLS connections before and after their handshake', async () => {
  const service = await startServiceUnderTest({
    TLS_ENABLED: 'true',
    TLS_PORT: '0',
    TLS_KEYSTORE_PATH: join(import.meta.dirname, '..', 'tls', 'testing', 'keystores', 'ec.p12'),
    TLS_KEYSTORE_PASSWORD: 'changeit',
  });
  ends.push(() => service.close());
  const port = Number(new URL(service.secureAddress ?? '').port);
  const asked = async (from: string, more = last) => {
    const socket = connectSecurely({ socket: opened(port, from).pause(), rejectUnauthorized: false });
    ends.unshift(() => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.write(get('/health', more));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    return { socket, answer: chunk.toString() };
  };
  const idle = await asked(greedy, '');
  // The beginning of a ClientHello.
  const half = Array.from({ length: 600 }, () => opened(port, greedy, '\x16\x03\x01'));
  for (const from of [greedy, other]) expect((await asked(from)).answer).toMatch(/^HTTP\/1\.1 200 /);
  await expect.poll(() => openOf(half).length).toBeLessThanOrEqual(limits.quietOfOne);
  await expect.poll(() => idle.socket.closed).toBe(true);
  const kept: Socket[] = [];
  for (let count = 0; count < 300; count++) kept.push((await asked(greedy, '')).socket);
  await expect.poll(() => openOf([...half, ...kept]).length).toBe(limits.quietOfOne);
  expect(openOf(half)).toHaveLength(0);
});
