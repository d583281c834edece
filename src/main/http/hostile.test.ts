import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

/** Whatever a client does, the service goes on for others. */
afterEach(async () => {
  const { status } = await service.call('GET', '/health');
  if (status !== 200) throw new Error(`health answers ${status}`);
});

const limit = 10_485_760;

function head(path: string, headers: readonly string[], method = 'POST'): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'X-Tenant-ID: t', ...headers, '', ''].join('\r\n');
}

function opened(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

/** Everything received until `enough` is in it. */
async function answer(socket: Socket, enough: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) {
    text += String(chunk);
    if (enough.test(text)) break;
  }
  return text;
}

describe('malicious JSON', () => {
  it.each([
    ['arrays', '['.repeat(5_000_000)],
    ['closed arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['metadata', `{"predicate":"p","args":[],"metadata":{"m":${'['.repeat(70)}${']'.repeat(70)}}}`],
    ['aggregates', `{"body":[${'{"aggregate":"count","result":"?n","over":["?x"],"body":['.repeat(40)}`],
  ])('returns 400 for endlessly nested %s', async (_kind, body) => {
    const { status, body: problem } = await service.call('POST', '/tell', body);
    expect(status).toBe(400);
    expect(problem.detail).toContain('64 levels');
  });

  it('ignores brackets inside strings', async () => {
    const fact = { predicate: 'p', args: ['['.repeat(500), '\\"{{{', '"'.repeat(90)] };
    expect((await service.call('POST', '/tell', fact)).status).toBe(200);
  });

  it.each([
    ['truncated', Buffer.from([0x7b, 0x22, 0xc3])],
    ['overlong', Buffer.from('{"predicate":"p","args":["\xc0\xaf"]}', 'latin1')],
    ['a surrogate', Buffer.from('{"predicate":"p","args":["\xed\xa0\x80"]}', 'latin1')],
    ['UTF-16', Buffer.from('{"predicate":"p","args":[]}', 'utf16le')],
  ])('returns 400 for invalid UTF-8: %s', async (_kind, body) => {
    expect((await service.call('POST', '/tell', body)).status).toBe(400);
  });

  it('returns 400 for an escaped lone surrogate', async () => {
    const body = String.raw`{"predicate":"p","args":["\ud800"]}`;
    expect((await service.call('POST', '/tell', body)).body.errors?.[0]?.path).toBe('args.0');
  });

  it('skips a byte order mark', async () => {
    expect((await service.call('POST', '/tell', '\uFEFF{"predicate":"p","args":[]}')).status).toBe(200);
  });

  it.each(['"__proto__"', String.raw`"\u005f_proto__"`, String.raw`"__prot\u006F__"`])(
    'returns 400 for a field named %s',
    async (name) => {
      const body = `{"predicate":"p","args":[],"metadata":{${name}:{"polluted":true}}}`;
      expect((await service.call('POST', '/tell', body)).status).toBe(400);
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    },
  );

  it('keeps the last of two equal names, like every JSON parser here', async () => {
    const body = '{"predicate":"first","predicate":"second","args":["x"]}';
    expect((await service.call('POST', '/tell', body)).body).toMatchObject({ atom: 'second(x)' });
  });

  it('reports unknown fields that are named like members of Object', async () => {
    const { status, body } = await service.call(
      'POST',
      '/tell',
      '{"constructor":1,"toString":2,"predicate":"p","args":[]}',
    );
    expect(status).toBe(400);
    expect(body.errors?.map(({ path }) => path)).toEqual(['constructor', 'toString']);
  });
});

describe('excessive input', () => {
  const body = (size: number): string => {
    const shell = '{"predicate":"p","args":[""]}';
    return shell.replace('""', `""${' '.repeat(size - shell.length)}`);
  };

  it('returns 413 for one byte over the limit and keeps the connection usable', async () => {
    const socket = await opened();
    const bytes = body(limit + 1);
    socket.write(
      head('/tell', ['Content-Type: application/json', `Content-Length: ${bytes.length}`]) + bytes,
    );
    socket.write(head('/health', ['Connection: close'], 'GET'));
    const text = await answer(socket, /"status":"ok"/);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('HTTP/1.1 200 OK');
  });

  it('returns 413 for a chunked body over the limit without waiting for its end', async () => {
    const socket = await opened();
    socket.write(head('/tell', ['Content-Type: application/json', 'Transfer-Encoding: chunked']));
    const chunk = `100000\r\n${' '.repeat(1_048_576)}\r\n`;
    for (let sent = 0; sent <= limit; sent += 1_048_576) socket.write(chunk);
    expect(await answer(socket, /PayloadTooLarge/)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('returns 413 before errors of a missing tenant or invalid JSON', async () => {
    const headers = { 'x-tenant-id': '' };
    const { status } = await service.call('POST', '/tell', `{${' '.repeat(limit)}`, { headers });
    expect(status).toBe(413);
  });

  it('accepts a body of exactly the limit', async () => {
    const { status } = await service.call('POST', '/tell', body(limit));
    expect(status).toBe(200);
  });

  it('returns 400 for a fact of a million arguments', async () => {
    const args = Array.from({ length: 1_000_000 }, () => 'x');
    const { status, body: problem } = await service.call('POST', '/tell', { predicate: 'p', args });
    expect(status).toBe(400);
    expect(problem.errors?.[0]).toEqual({ path: 'args', message: 'at most 64 arguments' });
  });

  it('returns 400 for a rule of 10,000 atoms, as JSON and as text', async () => {
    const atoms = Array.from({ length: 10_000 }, (_, index) => ({ predicate: `b${index}`, args: ['?x'] }));
    const asJson = await service.call('POST', '/teach', {
      head: { predicate: 'h', args: ['?x'] },
      body: atoms,
    });
    expect(asJson.status).toBe(400);
    expect(asJson.body.detail).toContain('256');
    const text = `h(?x) :- ${atoms.map(({ predicate }) => `${predicate}(?x)`).join(', ')}`;
    const asText = await service.call('POST', '/teach', { text });
    expect(asText.status).toBe(400);
    expect(asText.body.detail).toContain('256');
  });

  it('lists at most 100 errors of a batch', async () => {
    const facts = Array.from({ length: 5000 }, () => ({ predicate: 'p', args: ['?x'] }));
    const { body: problem } = await service.call('POST', '/assert/facts', { facts });
    expect(problem.errors).toHaveLength(100);
  });

  it('returns 400 for 100,001 facts', async () => {
    const facts = Array.from({ length: 100_001 }, () => ({ predicate: 'p', args: [] }));
    const { status, body: problem } = await service.call('POST', '/assert/facts', { facts });
    expect(status).toBe(400);
    expect(problem.detail).toContain('100,000');
  });
});

describe('malicious HTTP', () => {
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['a method that is none', 'BREW /ask HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a header without a colon', 'GET /health HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n'],
    [
      'both length and chunks',
      `${head('/tell', ['Content-Length: 5', 'Transfer-Encoding: chunked'])}0\r\n\r\n`,
    ],
    ['two lengths', `${head('/tell', ['Content-Length: 5', 'Content-Length: 6'])}12345`],
    [
      'a bad chunk',
      `${head('/tell', ['Content-Type: application/json', 'Transfer-Encoding: chunked'])}zz\r\n`,
    ],
    ['a head over 16 KiB', head('/health', [`X-Long: ${'x'.repeat(20_000)}`], 'GET')],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
  ])('returns a problem and closes the connection: %s', async (_kind, bytes) => {
    const text = await service.raw(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text.toLowerCase()).toContain('x-request-id: ');
    expect(text).toContain('"code":"ValidationException"');
  });

  it.each(['a\r\nX-Evil: yes', 'a\r\n\r\n<script>', 'a\u0000b'])(
    'prevents header injection: %j',
    async (value) => {
      const text = await service.raw(head('/health', [`X-Request-ID: ${value}`, 'Connection: close'], 'GET'));
      expect(text.split('\r\n\r\n')[0]).not.toMatch(/^x-evil:|<script>/im);
    },
  );

  it('answers pipelined requests in order', async () => {
    const fact = (name: string): string => {
      const json = JSON.stringify({ predicate: 'pipe', args: [name] });
      return head('/tell', ['Content-Type: application/json', `Content-Length: ${json.length}`]) + json;
    };
    const names = ['one', 'two', 'three', 'four'];
    const text = await service.raw(names.map(fact).join('') + head('/health', ['Connection: close'], 'GET'));
    expect([...text.matchAll(/pipe\((\w+)\)/g)].map(([, name]) => name)).toEqual(names);
    expect(text).toContain('"status":"ok"');
  });

  it('is not blocked by clients that are slow, stop halfway or stay silent', async () => {
    const sockets = await Promise.all([opened(), opened(), opened()]);
    sockets[0]?.write('POST /tell HT');
    sockets[1]?.write(head('/tell', ['Content-Type: application/json', 'Content-Length: 100']) + '{"pre');
    expect((await service.call('GET', '/health')).status).toBe(200);
    sockets[1]?.end();
    await wait(20);
    expect((await service.call('GET', '/health')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('answers Expect like any other request', async () => {
    const text = await service.raw(head('/health', ['Expect: the-unexpected', 'Connection: close'], 'GET'));
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('never exposes internals', async () => {
    const asked = await Promise.all(
      [
        '/facts/../../etc/passwd',
        '/%2e%2e/%2e%2e/etc/passwd',
        '/assets/..%2f..%2fpackage.json',
        '/samples/..%2f..%2fpackage.json',
        '//',
        '/.git/config',
      ].map((path) => service.raw(head(path, ['Connection: close'], 'GET'))),
    );
    for (const text of asked) {
      expect(text).toMatch(/^HTTP\/1\.1 40[04] /);
      expect(text).not.toMatch(/root:|"corollary"|node_modules|at .*\.ts/);
    }
  });

  it('cancels the question of a disconnected client', async () => {
    const headers = { 'x-database': 'gone', 'x-tenant-id': 't' };
    await service.call('POST', '/databases', { name: 'gone' });
    const facts = Array.from({ length: 3000 }, (_, index) => ({
      predicate: 'edge',
      args: [index, index + 1],
    }));
    await service.call('POST', '/assert/facts', { facts }, { headers });
    await service.call('POST', '/teach', { text: 'path(?x, ?y) :- edge(?x, ?y)' }, { headers });
    await service.call('POST', '/teach', { text: 'path(?x, ?z) :- path(?x, ?y), path(?y, ?z)' }, { headers });
    const json = JSON.stringify({ predicate: 'path', args: ['?x', '?y'], timeoutMs: 600_000 });
    const socket = await opened();
    socket.write(
      head('/ask', [
        'X-Database: gone',
        'X-Request-ID: gone-1',
        'Content-Type: application/json',
        `Content-Length: ${json.length}`,
      ]) + json,
    );
    await wait(100);
    socket.destroy();
    await expect
      .poll(() => service.logged.find((line) => line['requestId'] === 'gone-1'))
      .toMatchObject({ msg: 'the client went away', level: 'INFO' });
    expect(service.logged.filter(({ level }) => level === 'ERROR')).toEqual([]);
    const small = await service.call<Problem>(
      'POST',
      '/ask',
      { predicate: 'edge', args: ['1', '?y'] },
      { headers },
    );
    expect(small.status).toBe(200);
  });
});
