import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CancellationSource } from '../../engine/index.ts';
import { webRequestOf, writeResponse } from './web-exchange.ts';

type Answer = (received: IncomingMessage, raw: ServerResponse) => Promise<void>;

let server: Server;
let answer: Answer;
let failures: unknown[];

beforeAll(async () => {
  server = createServer((received, raw) => {
    answer(received, raw).catch((error: unknown) => failures.push(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => server.closeAllConnections());

beforeEach(() => {
  failures = [];
});

const address = (): AddressInfo => server.address() as AddressInfo;

/** A stream whose parts are given by hand. */
function controlled(): {
  stream: ReadableStream<Uint8Array>;
  give: (text: string) => void;
  end: () => void;
  cancelled: Promise<void>;
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCancelled: () => void = () => {};
  const cancelled = new Promise<void>((resolve) => {
    isCancelled = resolve;
  });
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => isCancelled(),
  });
  return {
    stream,
    give: (text) => controller?.enqueue(Buffer.from(text)),
    end: () => controller?.close(),
    cancelled,
  };
}

/** Sends a request by hand, so that what comes is seen as it comes. */
async function dial(headers = ''): Promise<Socket> {
  const socket = connect(address().port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`POST /mcp?x=1 HTTP/1.1\r\nHost: example.org\r\nContent-Length: 0\r\n${headers}\r\n`);
  return socket;
}

async function textOf(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('utf8');
}

it('an answer that is there at once goes out whole, in one piece, with its length', async () => {
  answer = async (_received, raw) => {
    const { stream, give, end } = controlled();
    raw.setHeader('X-Request-ID', 'r1');
    give('data: a\n\n');
    give('data: ü\n\n');
    end();
    await writeResponse(new Response(stream, { status: 200, headers: { 'X-One': '1' } }), raw);
  };
  const socket = await dial('Connection: close\r\n');
  const text = await textOf(socket);
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text.toLowerCase()).toContain('x-request-id: r1\r\nx-one: 1\r\n');
  expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toContain('data: a\n\n');
  expect(text).toContain('data: ü\n\n');
  socket.destroy();
});

it('an answer without a body has a status and no bytes', async () => {
  answer = (_received, raw) => writeResponse(new Response(null, { status: 202 }), raw);
  const { port } = address();
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' });
  expect([response.status, response.headers.get('content-length')]).toEqual([202, '0']);
});

it('what takes longer is sent as it comes, its head before the first part', async () => {
  const { stream, give, end } = controlled();
  answer = (_received, raw) => writeResponse(new Response(stream), raw);
  const socket = await dial('Connection: close\r\n');
  const head = await textOf(socket);
  expect(head.toLowerCase()).toContain('transfer-encoding: chunked\r\n');
  expect(head.endsWith('\r\n\r\n')).toBe(true);
  give('one');
  expect(await textOf(socket)).toContain('one');
  give('two');
  expect(await textOf(socket)).toContain('two');
  end();
  expect(await textOf(socket)).toBe('0\r\n\r\n');
});

it('a stream is read no faster than its client reads it', async () => {
  const part = new Uint8Array(1024 * 1024);
  let given = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        given++;
        controller.enqueue(part);
        if (given === 200) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  let raw: ServerResponse | undefined;
  answer = (_received, reply) => {
    raw = reply;
    return writeResponse(new Response(stream), reply);
  };
  const socket = await dial('Connection: close\r\n');
  socket.pause();
  while (raw?.writableNeedDrain !== true) await new Promise(setImmediate);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  expect(given).toBeLessThan(50);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  await once(socket, 'close');
  expect([given, bytes > 200 * part.length]).toEqual([200, true]);
});

it('a client that goes away cancels the stream', async () => {
  const { stream, give, cancelled } = controlled();
  let isWritten: Promise<void> = Promise.resolve();
  answer = (_received, raw) => (isWritten = writeResponse(new Response(stream), raw));
  const socket = await dial();
  give('one');
  await textOf(socket);
  socket.destroy();
  await cancelled;
  await isWritten;
  expect(failures).toEqual([]);
});

it('a client that has gone before the answer cancels it too', async () => {
  const { stream, cancelled } = controlled();
  answer = async (_received, raw) => {
    raw.destroy();
    await writeResponse(new Response(stream), raw);
  };
  const socket = await dial();
  await cancelled;
  socket.destroy();
  expect(failures).toEqual([]);
});

it('a stream that fails is told to who answers', async () => {
  answer = async (_received, raw) => {
    const stream = new ReadableStream({
      start: (controller) => controller.error(new Error('it broke')),
    });
    await writeResponse(new Response(stream), raw).finally(() => raw.destroy());
  };
  const socket = await dial();
  await once(socket, 'close');
  expect(failures).toEqual([new Error('it broke')]);
});

it('the request has method, address, headers and a signal, and refuses to give the body that was read', async () => {
  const seen: unknown[] = [];
  const gone = new CancellationSource();
  answer = async (received, raw) => {
    const request = webRequestOf(received, gone);
    seen.push(request instanceof Request, request.method, request.url, request.headers.get('X-Two'));
    expect(() => request.body).toThrow(TypeError);
    seen.push(request.signal.aborted);
    gone.cancel();
    seen.push(request.signal.aborted);
    await writeResponse(new Response(null, { status: 204 }), raw);
  };
  const socket = await dial('X-Two: a\r\nX-Two: b\r\nConnection: close\r\n');
  const text = await textOf(socket);
  expect(text).toMatch(/^HTTP\/1\.1 204 /);
  expect(seen).toEqual([true, 'POST', 'http://example.org/mcp?x=1', 'a, b', false, true]);
  expect(failures).toEqual([]);
  socket.destroy();
});
