import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { createOriginPolicy, isLoopbackAddress } from './admission.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest({ ALLOWED_HOSTS: 'kb.internal, other.internal:8443' });
});

afterAll(() => service.close());

/** Status and problem code of a raw request, since fetch cannot set Host. */
async function answered(headers: readonly string[], line = 'GET /databases HTTP/1.1'): Promise<string> {
  const text = await service.raw([line, ...headers, 'Connection: close', '', ''].join('\r\n'));
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
  return `${text.slice(9, 12)} ${code}`.trim();
}

describe('Host, over loopback', () => {
  it.each([
    'localhost',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.1.2.3:9300',
    '[::1]',
    '[::1]:80',
    'kb.internal',
    'KB.internal:99',
    'other.internal:8443',
  ])('accepts %s', async (host) => {
    expect(await answered([`Host: ${host}`])).toBe('200');
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'other.internal',
    'other.internal:1',
    '',
    '192.168.1.5',
    'localhost@evil.example',
  ])('rejects %j, which is what DNS rebinding looks like', async (host) => {
    expect(await answered([`Host: ${host}`])).toBe('403 Forbidden');
  });

  it('rejects a request without Host', async () => {
    expect(await answered([])).toBe('403 Forbidden');
    expect(await answered([], 'GET /databases HTTP/1.0')).toBe('403 Forbidden');
  });
});

describe('Host, beyond loopback', () => {
  const names = [
    'kb.example',
    'kb.example:9300',
    'other.internal:1',
    '',
    '1.2.3',
    '[::zz]',
    'evil.example@1.2.3.4',
  ];
  const accepts = (host: string, needsCredential: boolean): void => {
    const policy = createOriginPolicy([], ['kb.internal', 'other.internal:8443'], needsCredential);
    expect(policy.admit(requestTo('192.0.2.7', host, undefined))).toEqual({});
  };

  it.each([
    '192.0.2.7',
    '192.0.2.7:9300',
    '10.0.0.1',
    '[2001:db8::1]:9300',
    '[::1]',
    'localhost:9300',
    'KB.internal:99',
    'other.internal:8443',
  ])('accepts %s, with authentication or without', (host) => {
    accepts(host, true);
    accepts(host, false);
  });

  it.each(names)('accepts %j only with authentication, and says what to set', (host) => {
    accepts(host, true);
    expect(() => accepts(host, false)).toThrow(
      'add the name of the Host header to ALLOWED_HOSTS, or set API_KEY',
    );
  });

  it('is checked on every address of a service without authentication', async () => {
    const open = await startServiceUnderTest({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'kb.internal' });
    const reached = addressBeyondLoopback();
    const asked = async (host: string, more = ''): Promise<string> => {
      const socket = connect(open.port, reached);
      socket.end(`GET /databases HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`);
      return (await text(socket)).slice(9, 12);
    };
    expect(await asked('evil.example')).toBe('403');
    expect(await asked('evil.example', 'Origin: http://evil.example\r\n')).toBe('403');
    expect(await asked(`${reached}:${open.port}`)).toBe('200');
    expect(await asked('kb.internal')).toBe('200');
    await open.close();
  });
});

/** An IPv4 address of this machine that other machines use; a loopback one if it has no other. */
function addressBeyondLoopback(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

describe('Origin', () => {
  const foreign = [
    'https://evil.example',
    'null',
    'http://localhost:1',
    'https://127.0.0.1',
    'file://',
    'chrome-extension://abc',
    'http://localhost:3000.evil.example',
  ];

  it.each(foreign)('rejects %s, for reads and writes', async (origin) => {
    for (const [method, path, body] of [
      ['GET', '/rules'],
      ['POST', '/tell', { predicate: 'p', args: [] }],
      ['OPTIONS', '/tell'],
      ['GET', '/health'],
      ['GET', '/'],
    ] as const) {
      const answer = await service.call(method, path, body, { headers: { origin } });
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe('Forbidden');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('is checked before the address, the type and the tenant', async () => {
    const headers = { origin: 'https://evil.example', 'content-type': 'text/plain', 'x-tenant-id': '' };
    expect((await service.call('POST', '/nowhere', 'x', { headers })).status).toBe(403);
  });

  it("accepts the service's own, by each of its loopback names, without CORS headers", async () => {
    for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
      const { status, headers } = await service.call('GET', '/rules', undefined, {
        headers: { origin: `http://${name}:${service.port}` },
      });
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('accepts those of CORS_ALLOWED_ORIGINS, with credentials and exposed headers', async () => {
    const { status, headers } = await service.call('GET', '/rules', undefined, {
      headers: { origin: 'http://localhost:5173' },
    });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('access-control-expose-headers')).toBe(
      'X-Request-ID, X-API-Version, X-Token, X-Knowledge-Generation, X-Stale-Ms, Retry-After, ETag',
    );
    expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
  });

  it.each(['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8080'])(
    'accepts %s by default, and not if CORS_ALLOWED_ORIGINS excludes it',
    async (origin) => {
      const headers = { origin };
      expect((await service.call('GET', '/rules', undefined, { headers })).status).toBe(200);
      const policy = createOriginPolicy(['https://app.example'], [], false);
      expect(() => policy.admit(requestTo('127.0.0.1', 'localhost:9300', origin))).toThrow(
        'CORS_ALLOWED_ORIGINS',
      );
      expect(policy.admit(requestTo('127.0.0.1', 'localhost:9300', 'https://app.example'))).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
      });
    },
  );

  it('applies the same rule on a bind beyond loopback, where any Host is accepted with authentication', () => {
    const policy = createOriginPolicy(['http://localhost:3000'], [], true);
    for (const host of ['192.0.2.7:9300', 'kb.example', 'evil.example:1'])
      expect(policy.admit(requestTo('192.0.2.7', host, `http://${host}`))).toEqual({});
    for (const origin of ['https://192.0.2.7:9300', 'http://192.0.2.7', 'http://localhost:9300', 'null'])
      expect(() => policy.admit(requestTo('192.0.2.7', '192.0.2.7:9300', origin))).toThrow(
        'this Origin may not',
      );
  });

  it('adds CORS headers to errors, so that a page can read them', async () => {
    const headers = { origin: 'http://localhost:5173' };
    const missing = await service.call<Problem>('GET', '/nowhere', undefined, { headers });
    expect(missing.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
  });

  it('answers preflights with the methods of the address and the headers of the API', async () => {
    const { status, headers } = await service.call('OPTIONS', '/rules/r1', undefined, {
      headers: {
        origin: 'http://localhost:3000',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-tenant-id',
      },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toBe('DELETE, GET, HEAD, PUT');
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual([
      'a2a-version',
      'accept',
      'authorization',
      'content-type',
      'idempotency-key',
      'if-match',
      'last-event-id',
      'mcp-protocol-version',
      'mcp-session-id',
      'x-api-key',
      'x-at-least',
      'x-client',
      'x-consistency',
      'x-database',
      'x-reason',
      'x-request-id',
      'x-route',
      'x-tenant-id',
      'x-transaction-id',
    ]);
  });

  it('allows all with *, without credentials', async () => {
    const open = await startServiceUnderTest({ CORS_ALLOWED_ORIGINS: '*' });
    const { status, headers } = await open.call('GET', '/rules', undefined, {
      headers: { origin: 'https://anywhere.example' },
    });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    await open.close();
  });
});

/** A request as it would arrive at an address that this machine may lack. */
function requestTo(localAddress: string, host: string, origin: string | undefined): IncomingMessage {
  const socket = new Socket();
  Object.defineProperties(socket, { localAddress: { value: localAddress }, localPort: { value: 9300 } });
  const request = new IncomingMessage(socket);
  request.headers = { host, ...(origin === undefined ? {} : { origin }) };
  return request;
}

it('recognizes loopback addresses in all their forms', () => {
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
    expect(isLoopbackAddress(address)).toBe(true);
  for (const address of ['0.0.0.0', '10.127.0.1', '::', '::ffff:10.0.0.1', ''])
    expect(isLoopbackAddress(address)).toBe(false);
});
