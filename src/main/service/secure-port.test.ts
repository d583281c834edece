/** TLS on the whole service, over real sockets. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { StartRefusal } from '../base/start-refusal.ts';

const keystores = join(import.meta.dirname, '..', 'tls', 'testing', 'keystores');
const password = 'changeit';
let folder: string;
let keystore: string;
let service: ServiceUnderTest;
let ca: Buffer[];

const stored = (name: string): string => join(keystores, name);

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    TLS_ENABLED: 'true',
    TLS_PORT: '0',
    TLS_KEYSTORE_PATH: keystore,
    TLS_KEYSTORE_PASSWORD: password,
    ...more,
  };
}

const start = (more: Record<string, string> = {}): Promise<ServiceUnderTest> =>
  startServiceUnderTest(environment(more), { keystorePollMs: 10 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-tls-'));
  keystore = join(folder, 'keystore');
  ca = await Promise.all(['ec.pem', 'root.pem'].map((name) => readFile(stored(name))));
  await copyFile(stored('ec.p12'), keystore);
  service = await start({ HOST: '0.0.0.0', AUTH_ENABLED: 'true', API_KEY: 'the-key' });
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const securePort = (of = service): number => Number(new URL(of.secureAddress ?? '').port);

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request over TLS, with the certificate verified, on a new connection unless `options` has an agent. */
async function call(path: string, options: RequestOptions = {}, body = '', of = service): Promise<Answer> {
  const request = httpsRequest({
    host: '127.0.0.1',
    servername: 'localhost',
    port: securePort(of),
    ca,
    agent: false,
    path,
    ...options,
    headers: { 'x-api-key': 'the-key', 'x-tenant-id': 'default', ...options.headers },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

async function handshake(options: ConnectionOptions = {}, of = service): Promise<TLSSocket> {
  const socket = connectSecurely({ port: securePort(of), servername: 'localhost', ca, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** The certificate subject that a new connection sees. */
async function shownSubject(of = service): Promise<string> {
  const socket = await handshake({}, of);
  const subject = new X509Certificate(socket.getPeerCertificate(true).raw).subject;
  socket.destroy();
  return subject;
}

/** Everything received for the bytes on a plain connection; a reset counts as an end. */
async function closedAfter(bytes: string | Buffer, port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.write(bytes);
  await once(socket, 'close');
  return received;
}

function connectionTo(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, host);
    socket.once('connect', () => socket.destroy() && resolve(true));
    socket.once('error', () => resolve(false));
  });
}

async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function refusalOf(more: Record<string, string>): Promise<StartRefusal> {
  const error = await start(more).then(
    (started) => started.close(),
    (reason: unknown) => reason,
  );
  if (error instanceof StartRefusal) return error;
  throw error ?? new Error('the service has started');
}

const above = (of: ServiceUnderTest): unknown[] =>
  of.logged.filter(({ level }) => level === 'WARN' || level === 'ERROR');

describe('TLS_ENABLED', () => {
  it('serves HTTPS on TLS_PORT at HOST, and restricts PORT to loopback', async () => {
    expect((await call('/rules')).status).toBe(200);
    expect(
      (await service.call('GET', '/rules', undefined, { headers: { 'x-api-key': 'the-key' } })).status,
    ).toBe(200);
    expect(service.address).toBe(`http://127.0.0.1:${service.port}`);
    // Another address of this machine than the one that PORT listens on: a listener on all addresses is there too.
    expect(await connectionTo('127.0.0.2', service.port)).toBe(false);
    if (process.platform === 'linux') expect(await connectionTo('127.0.0.2', securePort())).toBe(true);
  });

  it('answers like the plain port: headers, errors, refusals, Expect', async () => {
    const { status, headers, body } = await call('/nowhere', { headers: { 'x-request-id': 'mine' } });
    expect([status, headers['x-request-id'], headers['x-api-version']]).toEqual([404, 'mine', '1']);
    expect(JSON.parse(body)).toMatchObject({ code: 'NotFound', requestId: 'mine' });
    expect((await call('/rules', { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
    const json = { 'content-type': 'application/json', expect: '100-continue' };
    expect(
      (await call('/ask', { method: 'POST', headers: json }, '{"predicate":"p","args":[]}')).status,
    ).toBe(200);
    const socket = await handshake();
    socket.write('GARBAGE\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*"code":"ValidationException"/);
  });

  it('serves A2A, whose cards name the secure address', async () => {
    const { status, body } = await call('/.well-known/agent.json');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ url: `https://127.0.0.1:${securePort()}/a2a` });
    expect(
      (await call('/a2a', { method: 'POST', headers: { 'content-type': 'application/json' } }, '[]')).body,
    ).toContain('-32600');
  });

  it('serves MCP', async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const clientInfo = { name: 'agent', version: '1' };
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
    const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const opened = await call('/mcp', { method: 'POST', headers }, initialize);
    const session = String(opened.headers['mcp-session-id']);
    const arguments_ = { predicate: 'told', args: ['over TLS'] };
    const tell = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'tell', arguments: arguments_ },
    };
    const told = await call(
      '/mcp',
      { method: 'POST', headers: { ...headers, 'mcp-session-id': session } },
      JSON.stringify(tell),
    );
    expect([opened.status, told.status]).toEqual([200, 200]);
    expect(told.body).toContain('asserted');
  });

  it('supports TLS 1.2 and 1.3 with forward secrecy, and HTTP/1.1, nothing older', async () => {
    for (const [version, protocol] of [
      ['TLSv1.2', 'TLSv1.2'],
      ['TLSv1.3', 'TLSv1.3'],
    ] as const) {
      const limits = { minVersion: version, maxVersion: version, ALPNProtocols: ['h2', 'http/1.1'] } as const;
      const socket = await handshake(limits);
      expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([protocol, 'http/1.1']);
      socket.destroy();
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(handshake(old)).rejects.toThrow(/protocol version|unsupported protocol|ECONNRESET/i);
    for (const ciphers of ['AES256-SHA', 'ECDHE-ECDSA-AES128-SHA'])
      await expect(handshake({ maxVersion: 'TLSv1.2', ciphers })).rejects.toThrow(
        /handshake failure|ECONNRESET/i,
      );
  });

  it('logs one WARN line at start if authentication is off and HOST is beyond loopback, even with a loopback PORT', async () => {
    const open = await start({ HOST: '0.0.0.0' });
    const own = await start();
    await Promise.all([open.close(), own.close()]);
    expect(above(open)).toHaveLength(1);
    expect(JSON.stringify(above(open))).toContain('authentication is off');
    expect(above(own)).toEqual([]);
  });
});

describe('Origin and Host, over TLS', () => {
  it("accept the service's own only by https, and only loopback names", async () => {
    const port = securePort();
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await call('/rules', { headers })).status;
    for (const name of ['localhost', '127.0.0.1', '[::1]'])
      expect(await status({ origin: `https://${name}:${port}` })).toBe(200);
    expect(await status({ host: `localhost:${port}`, origin: `https://localhost:${port}` })).toBe(200);
    for (const origin of [
      `http://localhost:${port}`,
      `http://localhost:${service.port}`,
      `https://localhost:${service.port}`,
      'https://localhost',
      'https://evil.example',
      'null',
    ])
      expect(await status({ origin })).toBe(403);
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ origin: 'http://localhost:3000' })).toBe(200);
    const plain = { 'x-api-key': 'the-key', origin: `https://127.0.0.1:${service.port}` };
    expect((await service.call('GET', '/rules', undefined, { headers: plain })).status).toBe(403);
  });
});

describe('a failed TLS handshake', () => {
  it.each([
    ['a plain request', 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['garbage', Buffer.alloc(300, 0xff)],
    ['a hello that is broken', Buffer.from('16030100050100000103', 'hex')],
    ['nothing of use', '\n'.repeat(20)],
  ])('is closed silently: %s', async (_name, bytes) => {
    const answer = await closedAfter(bytes, securePort());
    expect(answer).not.toContain('HTTP/');
    expect(above(service).filter((line) => !JSON.stringify(line).includes('SERVICE_ADMIN_PASS'))).toEqual([]);
    expect((await call('/health')).status).toBe(200);
  });

  it('does no harm in hundreds, cut off anywhere', async () => {
    const hello = Buffer.from('160301007a010000760303', 'hex');
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const socket = connect(securePort(), '127.0.0.1');
        socket.on('error', () => socket.destroy());
        await once(socket, 'connect');
        socket.write(hello.subarray(0, index % hello.length));
        if (index % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      }),
    );
    expect((await call('/health')).status).toBe(200);
  });

  it('gets an HTTP error on the plain port, which does not speak TLS', async () => {
    const answer = await closedAfter(Buffer.from('160301007a010000760303', 'hex'), service.port);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('the start', () => {
  it.each([
    [
      'a wrong password',
      { TLS_KEYSTORE_PASSWORD: 'not-the-secret' },
      /^TLS_KEYSTORE_PASSWORD: got 14 characters for .*wrong/,
    ],
    ['no password', { TLS_KEYSTORE_PASSWORD: '' }, /^TLS_KEYSTORE_PASSWORD: got nothing for /],
    [
      'no key store',
      { TLS_KEYSTORE_PATH: '/nowhere/keystore.p12' },
      /^TLS_KEYSTORE_PATH: got "\/nowhere.*not there/,
    ],
    ['a folder', { TLS_KEYSTORE_PATH: keystores }, /^TLS_KEYSTORE_PATH: got .* not a file/],
    ['PEM', { TLS_KEYSTORE_PATH: stored('ec.pem') }, /^TLS_KEYSTORE_PATH: got .* openssl pkcs12 -export/],
    ['no path', { TLS_KEYSTORE_PATH: '' }, /^TLS_KEYSTORE_PATH: got nothing/],
    ['no HOST of this machine', { HOST: '203.0.113.7' }, /^HOST: /],
  ])('fails with a clear message that names the variable: %s', async (_name, more, words) => {
    const refusal = await refusalOf(more);
    expect(refusal.exitCode).toBe(2);
    expect(refusal.message).toMatch(words);
    expect(refusal.message).not.toContain('not-the-secret');
  });

  it('fails for a file that is too long for a key store', async () => {
    const long = join(folder, 'long');
    await writeFile(long, Buffer.alloc(600_000, 0x30));
    expect((await refusalOf({ TLS_KEYSTORE_PATH: long })).message).toContain('longer than a key store');
  });

  it('fails if TLS_PORT is taken, and then releases all ports', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const port = (free.address() as AddressInfo).port;
    free.close();
    await once(free, 'close');
    const taken = String((other.address() as AddressInfo).port);
    const refusal = await refusalOf({ PORT: String(port), TLS_PORT: taken });
    other.close();
    expect([refusal.kind, refusal.exitCode]).toEqual(['tls-port-taken', 4]);
    expect(refusal.message).toMatch(new RegExp(`Port ${taken} .* TLS_PORT`));
    expect(await connectionTo('127.0.0.1', port)).toBe(false);
  });

  it('succeeds with an expired certificate, with a warning', async () => {
    const expired = await start({ TLS_KEYSTORE_PATH: stored('expired.p12') });
    await expired.close();
    expect(JSON.stringify(above(expired))).toContain('the TLS certificate has expired');
  });

  it('accepts JKS too, and reports which of several keys it uses', async () => {
    const java = await start({ TLS_KEYSTORE_PATH: stored('two-keys.jks') });
    expect(await shownSubject(java)).toBe('CN=rsa.test');
    await java.close();
    expect(JSON.stringify(java.logged)).toContain('"alias":"alpha","others":1');
  });
});

describe('a changed key store', () => {
  it('is loaded again: new connections get its certificate, open ones continue, and a partial file is skipped', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = await call('/health', { agent });
    expect(await shownSubject()).toContain('CN=ec.test');

    // By renaming.
    await copyFile(stored('old.p12'), `${keystore}.new`);
    await rename(`${keystore}.new`, keystore);
    await eventually(async () => (await shownSubject()) === 'CN=rsa.test');
    const after = await call('/health', { agent });
    expect([before.status, after.status]).toEqual([200, 200]);
    agent.destroy();

    // In place, half of it, then another part: reported once, and the certificate stays.
    const bytes = await readFile(stored('ec.jks'));
    const tellings = (): number => JSON.stringify(service.logged).split('cannot be used').length - 1;
    await writeFile(keystore, bytes.subarray(0, 300));
    await eventually(() => tellings() === 1);
    await writeFile(keystore, bytes.subarray(0, 400));
    await rm(keystore);
    expect(await shownSubject()).toBe('CN=rsa.test');
    await writeFile(keystore, bytes);
    await eventually(async () => (await shownSubject()).includes('CN=ec.test'));
    expect(tellings()).toBe(1);

    // By a link to another file.
    await symlink(stored('rsa-chain.p12'), `${keystore}.link`);
    await rename(`${keystore}.link`, keystore);
    await eventually(async () => (await shownSubject()) === 'CN=rsa.test');
    // Not again if nothing has changed.
    const changes = JSON.stringify(service.logged).split('the key store has changed:').length - 1;
    expect(changes).toBe(3);
    expect(JSON.stringify(service.logged)).toContain('"subject":"CN=rsa.test"');
  });

  it('never puts a key or a password into the log', () => {
    const log = JSON.stringify(service.logged);
    expect(log).not.toMatch(/PRIVATE KEY|changeit/);
  });
});

describe('the end of the service', () => {
  it('closes both ports, whatever connections are open', async () => {
    const ending = await start({ TLS_KEYSTORE_PATH: stored('ec.p12') });
    const silent = connect(securePort(ending), '127.0.0.1');
    await once(silent, 'connect');
    silent.write(Buffer.from('1603010200', 'hex'));
    const idle = await handshake({}, ending);
    const closed = Promise.all([once(silent, 'close'), once(idle, 'close')]);
    silent.on('error', () => silent.destroy());
    idle.on('error', () => idle.destroy());
    silent.resume();
    idle.resume();
    await ending.close();
    await closed;
    expect(await connectionTo('127.0.0.1', securePort(ending))).toBe(false);
    expect(await connectionTo('127.0.0.1', ending.port)).toBe(false);
  });
});
