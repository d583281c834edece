import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { acceptedCoding } from './compression.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const facts = Array.from({ length: 400 }, (_, index) => ({
    predicate: 'road',
    args: [index, `town ${index}`],
  }));
  await service.call('POST', '/assert/facts', { facts });
});

afterAll(() => service.close());

interface Sent {
  readonly coding: string | undefined;
  readonly vary: string | undefined;
  readonly length: number;
  readonly bytes: Buffer;
}

/** The bytes as they were sent: `fetch` would decompress them. */
function sent(path: string, acceptEncoding: string | null): Promise<Sent> {
  const headers = {
    'x-tenant-id': 'default',
    ...(acceptEncoding === null ? {} : { 'accept-encoding': acceptEncoding }),
  };
  return new Promise((resolve, reject) => {
    get({ port: service.port, host: '127.0.0.1', path, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const { 'content-encoding': coding, 'content-length': length, vary } = response.headers;
        resolve({ coding, vary, length: Number(length), bytes: Buffer.concat(pieces) });
      });
    }).on('error', reject);
  });
}

const list = '/facts?predicate=road&limit=100';

/** The same at another time: salience falls as it passes. */
function timeless(bytes: Buffer): string {
  return bytes.toString().replaceAll(/"salience":[^,]+|\d{13}/g, '');
}

describe('a JSON answer', () => {
  it('is compressed for clients that accept it, with its true length, and is the same', async () => {
    const plain = await sent(list, null);
    expect(plain.coding).toBeUndefined();
    const [br, gz] = [await sent(list, 'gzip, deflate, br'), await sent(list, 'gzip, br;q=0')];
    expect([br.coding, gz.coding]).toEqual(['br', 'gzip']);
    expect(timeless(brotliDecompressSync(br.bytes))).toBe(timeless(plain.bytes));
    expect(timeless(gunzipSync(gz.bytes))).toBe(timeless(plain.bytes));
    for (const { bytes, length, vary } of [plain, br, gz]) {
      expect(length).toBe(bytes.length);
      expect(vary).toBe('Origin, Accept-Encoding');
    }
    expect(br.bytes.length * 4).toBeLessThan(plain.bytes.length);
  });

  it('is sent as it is if it is short, or long enough to be written in pieces', async () => {
    expect((await sent('/facts?predicate=road&limit=2', 'br')).coding).toBeUndefined();
    const facts = Array.from({ length: 2000 }, (_, index) => ({
      predicate: 'long',
      args: [index, 'x'.repeat(200)],
    }));
    await service.call('POST', '/assert/facts', { facts });
    const whole = await sent('/facts?predicate=long&limit=1000', 'br');
    expect(whole.bytes.length).toBeGreaterThan(128 * 1024);
    expect(whole.coding).toBeUndefined();
  });

  it('is complete however many are asked for at a time', async () => {
    const plain = timeless((await sent(list, null)).bytes);
    const all = await Promise.all(Array.from({ length: 20 }, () => sent(list, 'br')));
    const texts = all.map(({ coding, bytes }) =>
      timeless(coding === 'br' ? brotliDecompressSync(bytes) : bytes),
    );
    expect(new Set(texts)).toEqual(new Set([plain]));
    // The next ones are compressed again.
    expect((await sent(list, 'br')).coding).toBe('br');
  });
});

it.each([
  [undefined, null],
  ['identity', null],
  ['br;q=0, gzip;q=0.0', null],
  ['GZIP', 'gzip'],
  ['gzip;q=1.0, br;q=0.5', 'br'],
  ['*', null],
  ['brotli', null],
])('of Accept-Encoding %s takes %s', (given, coding) => {
  expect(acceptedCoding(given === undefined ? {} : { 'accept-encoding': given })).toBe(coding);
});
