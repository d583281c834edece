import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { maxAnswerBytes, type SendOutcome, sendOnce } from './send-once.ts';

/** The result of a request that is answered with these bytes, after which the connection is closed. */
async function answeredWith(bytes: string): Promise<SendOutcome> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  const sent = await sendOnce(`http://127.0.0.1:${port}/x`, {
    method: 'POST',
    headers: {},
    body: 'x',
    signal,
  });
  server.close();
  return sent;
}

it.each([
  ['nothing', ''],
  ['no HTTP', 'hello\r\n\r\n'],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-'],
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc'],
  ['half of its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`],
])('a server that answers with %s counts as unreachable, with the error code', async (_, bytes) => {
  const sent = await answeredWith(bytes);
  expect(sent).toEqual({ kind: 'unreachable', code: expect.stringMatching(/^(ECONNRESET|HPE_[A-Z_]+)$/) });
});

it('reads status, Retry-After and body, even after interim answers', async () => {
  const bytes =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Slow\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nab';
  const sent = await answeredWith(bytes);
  expect(sent).toEqual({ kind: 'answered', status: 429, retryAfter: '5', body: Buffer.from('ab') });
});

it('accepts an answer up to its limit of bytes', async () => {
  const head = 'HTTP/1.1 200 OK\r\n\r\n';
  expect(await answeredWith(head + 'a'.repeat(maxAnswerBytes))).toMatchObject({ kind: 'answered' });
  expect(await answeredWith(head + 'a'.repeat(maxAnswerBytes + 1))).toEqual({ kind: 'too large' });
});

it('rejects an invalid address', async () => {
  const { signal } = new AbortController();
  const sent = await sendOnce('http://a b/', { method: 'GET', headers: {}, body: null, signal });
  expect(sent).toMatchObject({ kind: 'unreachable' });
});
