/**
 * Abuse of connections that no HTTP library would commit: half requests, broken framing, floods, silence, resets.
 *
 * Each kind of abuse uses one or several connections, and returns everything received, within a bounded time. That is
 * HTTP of the service or nothing: `flawOfReply` reports anything else.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Chance } from './chance.ts';

export interface Abuse {
  readonly name: string;
  /** Returns what the connections received, one text each. */
  run(port: number, chance: Chance): Promise<string[]>;
}

/** A connection is read for at most this long; an abuser does not wait for everything. */
const patienceMs = 600;

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
    // Errors of a connection that is cut off in mid-request are expected.
    socket.on('error', () => socket.destroy());
  });
}

/** Sends the pieces, with pauses between them, and reads until the other side closes or the time is over. */
async function said(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  { pauseMs = 0, end = false, forMs = patienceMs } = {},
): Promise<string> {
  const socket = await opened(port);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const timer = setTimeout(() => socket.destroy(), forMs);
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    if (pauseMs > 0) await wait(pauseMs);
  }
  if (end) socket.end();
  await closed;
  clearTimeout(timer);
  return text;
}

const host = 'Host: localhost\r\n';
const place = 'X-Tenant-ID: abused\r\nX-API-Key: wrong\r\n';
const json = 'Content-Type: application/json\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\n${host}${more}\r\n`;
const post = (path: string, more: string, body = ''): string =>
  `POST ${path} HTTP/1.1\r\n${host}${place}${json}${more}\r\n${body}`;
const sized = (path: string, body: string): string => post(path, `Content-Length: ${body.length}\r\n`, body);

/** One connection, one text that is not a valid request. */
const texts: Readonly<Record<string, readonly string[]>> = {
  'nothing of a request': ['', '\r\n\r\n\r\n', '\0\0\0\0', 'x'.repeat(100)],
  'half a request': [
    'GET',
    'GET /health',
    get('/health').slice(0, -2),
    post('/tell', 'Content-Length: 50\r\n', '{'),
  ],
  'other protocols': [
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'SSH-2.0-OpenSSH_9.6\r\n',
    'GET /health\r\n\r\n',
    '*1\r\n$4\r\nPING\r\n',
    'GET /health HTTP/1.0\r\n\r\n',
    'GET /health HTTP/3.7\r\n\r\n',
  ],
  'tunnels and upgrades': [
    'CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n',
    get('/events', `${place}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n`),
    get('/health', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n'),
  ],
  'odd targets': [
    'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: localhost\r\n\r\n',
    get('http://localhost/health'),
    get('http://evil.example/health'),
    get('//health'),
    get('/health#x'),
    get('/\u0080\u00ff'),
    get(`/${'x'.repeat(15_000)}`),
    get(`/${'x'.repeat(70_000)}`),
    get(`/facts?${'a=b&'.repeat(3500)}`),
  ],
  'broken framing': [
    post('/tell', `Content-Length: 5\r\n${chunked}`, '0\r\n\r\n'),
    post('/tell', 'Content-Length: 5\r\nContent-Length: 6\r\n', '12345'),
    post('/tell', 'Content-Length: -1\r\n'),
    post('/tell', 'Content-Length: 0x10\r\n', '{}'),
    post('/tell', `Content-Length: ${'9'.repeat(40)}\r\n`, '{}'),
    post('/tell', 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
    post('/tell', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'),
    post('/tell', 'Transfer-Encoding : chunked\r\n', '0\r\n\r\n'),
    post('/tell', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'),
    `POST /tell HTTP/1.0\r\n${host}${place}${json}${chunked}\r\n0\r\n\r\n`,
    post('/tell', 'Content-Length: 2\r\n', `{}${get('/admin/secret')}`),
  ],
  'bad chunks': [
    ...['zz', '-1', '', 'ffffffffffffffffff', '2;', '5 ', '0x2'].map((size) =>
      post('/tell', chunked, `${size}\r\n{}\r\n0\r\n\r\n`),
    ),
    post('/tell', chunked, '2\n{}\n0\n\n'),
    post('/tell', chunked, `2;${'e=1;'.repeat(9000)}\r\n{}\r\n0\r\n\r\n`),
    post('/tell', chunked, `2\r\n{}\r\n0\r\n${'X-T: y\r\n'.repeat(3000)}\r\n`),
    post('/tell', chunked, '2\r\n{}\r\n0\r\nContent-Length: 5\r\nHost: evil\r\n\r\n'),
    post('/tell', chunked, '2\r\n{}X\r\n0\r\n\r\n'),
    post('/tell', chunked, '1\r\n{\r\n'),
  ],
  'bad headers': [
    get('/health', `X-Long: ${'x'.repeat(20_000)}\r\n`),
    get('/health', 'a:\r\n'.repeat(3000)),
    get('/health', 'broken\r\n'),
    get('/health', 'X-A: a\0b\r\n'),
    get('/health', 'X-A: a\r\n folded\r\n'),
    get('/health', 'X-A : b\r\n'),
    get('/health', ': b\r\n'),
    get('/health', 'Host: evil.example\r\n'),
    get('/health', 'Expect: the-unexpected\r\nConnection: close\r\n'),
    post('/tell', 'Expect: 100-continue\r\nContent-Length: 1000000000\r\n'),
    'GET /health HTTP/1.1\nHost: localhost\n\n',
    'GET  /health  HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'get /health HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ],
};

function ofTexts(name: string, choices: readonly string[]): Abuse {
  return {
    name,
    run: async (port, chance) => {
      const text = Buffer.from(chance.pick(choices), 'latin1');
      const at = chance.below(text.length + 1);
      const pieces = chance.is(0.5) ? [text] : [text.subarray(0, at), text.subarray(at)];
      const pauseMs = pieces.length > 1 ? chance.below(20) : 0;
      return [await said(port, pieces, { pauseMs, end: chance.is(0.5), forMs: 300 })];
    },
  };
}

const floods: readonly Abuse[] = [
  {
    name: 'slowly spoken heads and bodies',
    run: async (port, chance) => {
      const text = chance.is(0.5) ? get('/health') : sized('/tell', '{"predicate":"p","args":[]}');
      const pieces = [...text].slice(0, chance.below(text.length));
      return [await said(port, pieces, { pauseMs: 4, forMs: 800 })];
    },
  },
  {
    name: 'many requests in one piece, good and bad',
    run: async (port, chance) => {
      const good = [get('/health'), sized('/tell', '{}'), get('/nowhere'), get('/auth/status')];
      const bad = ['GARBAGE\r\n\r\n', post('/tell', chunked, 'zz\r\n'), get('/health').slice(0, 9)];
      const count = chance.pick([3, 50, 500, 3000]);
      const text = Array.from({ length: count }, () => chance.pick(good)).join('');
      return [await said(port, [text + (chance.is(0.5) ? chance.pick(bad) : '')], { end: chance.is(0.3) })];
    },
  },
  {
    name: 'resets in the middle',
    run: async (port, chance) => {
      for (let count = 0; count < 20; count++) {
        const socket = await opened(port);
        socket.write(
          chance.pick([get('/'), get('/docs'), post('/tell', 'Content-Length: 100\r\n', '{"pre'), 'GE']),
        );
        if (chance.is(0.5)) await wait(chance.below(10));
        if (chance.is(0.5)) socket.resetAndDestroy();
        else socket.destroy();
      }
      return [];
    },
  },
  {
    name: 'answers that are not read',
    run: async (port, chance) => {
      const sockets = await Promise.all(Array.from({ length: 10 }, () => opened(port)));
      for (const socket of sockets) {
        socket.pause();
        socket.write(chance.pick([get('/docs'), get('/')]).repeat(200));
      }
      await wait(200);
      for (const socket of sockets) socket.destroy();
      return [];
    },
  },
  {
    name: 'silent connections',
    run: async (port, chance) => {
      const sockets = await Promise.all(Array.from({ length: chance.pick([50, 200]) }, () => opened(port)));
      await wait(50);
      for (const socket of sockets) {
        if (chance.is(0.5)) socket.end();
        socket.destroy();
      }
      return [];
    },
  },
];

export const abuses: readonly Abuse[] = [
  ...Object.entries(texts).map(([name, choices]) => ofTexts(name, choices)),
  ...floods,
];

/** What was received besides HTTP of the service; null: nothing. */
export function flawOfReply(text: string): string | null {
  if (text === '') return null;
  if (!/^HTTP\/1\.[01] \d{3} /.test(text)) return 'it does not begin like HTTP';
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));
  if (statuses.some((status) => status >= 500)) return 'a failure of the service';
  const heads = text.match(/^x-request-id: /gim)?.length ?? 0;
  const proper = statuses.filter((status) => status !== 100).length;
  if (heads < proper) return `${proper} answers and ${heads} request ids`;
  return text.includes('zzcanary') ? 'a word of others' : null;
}

/** Opens the given number of connections that stay open and silent; returns how to end them. */
export async function idleConnections(port: number, count: number): Promise<() => void> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 100)
    sockets.push(
      ...(await Promise.all(Array.from({ length: Math.min(100, count - at) }, () => opened(port)))),
    );
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
