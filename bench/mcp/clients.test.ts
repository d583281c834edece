import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Connection } from './connection.ts';
import { Lines } from './lines.ts';

/** What a connection makes of answers that arrive byte by byte. */
async function answersOf(texts: readonly string[]): Promise<unknown[]> {
  const server = createServer((socket) => {
    let next = 0;
    socket.on('data', () => {
      for (const byte of Buffer.from(texts[next++] ?? '')) socket.write(Buffer.of(byte));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await Connection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const found: unknown[] = [];
  for (const _ of texts) {
    const { status, body } = await connection.request('GET / HTTP/1.1\r\n\r\n');
    found.push([status, body.toString('utf8')]);
  }
  connection.close();
  server.close();
  return found;
}

test('ends an answer at its length or its last chunk, however it is split', async () => {
  const chunks = 'a\r\ndata: 0ü\n\r\n0\r\n\r\n';
  const found = await answersOf([
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nü!',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n',
  ]);
  expect(found).toEqual([
    [200, 'ü!'],
    [200, chunks],
    [202, ''],
  ]);
});

test('refuses the next request on a connection that the server closed', async () => {
  const server = createServer((socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await Connection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await expect(connection.request('GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('closed');
  expect(() => connection.request('GET / HTTP/1.1\r\n\r\n')).toThrow('closed');
  server.close();
});

test('returns whole lines in order, however they are split', async () => {
  const bytes = Buffer.from('data: ä\nevent: x\n\ndata: b\r\ndata: c\n');
  for (let size = 1; size <= bytes.length; size++) {
    const lines = new Lines((line) => (line.startsWith('data: ') ? line.slice(6) : null));
    const asked = [lines.next(), lines.next(), lines.next()];
    for (let start = 0; start < bytes.length; start += size) lines.take(bytes.subarray(start, start + size));
    expect(await Promise.all(asked)).toEqual(['ä', 'b', 'c']);
  }
});
