/**
 * Answers to input that is not an HTTP request: the parser gave up, so there is only a socket, or it did not, but the
 * end of the body is ambiguous.
 *
 * If the connection can still take one, the answer is a problem like any other, after the answers that are due before
 * it; then the connection ends. Further input is read and discarded for a moment, so that the client sees the answer.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { EngineError } from '../../engine/index.ts';
import { standingHeaders } from './admission.ts';
import { limits } from './limits.ts';
import { problemBytes, problemOf, problemType } from './problem.ts';
import { requestIdOf } from './request-id.ts';

const lingerMs = 1000;
const answered = new WeakSet<Socket>();

/** Handles the server's `clientError`. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  // Browsers open connections in advance: they would take anything said on an unused one for the answer to the next
  // request. If the connection is gone, they open another.
  const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || isUnused) socket.destroy();
  else refuse(problemFor(error.code), socket);
}

/** Handles the server's `connect`: a client that asks for a tunnel takes the service for a proxy. */
export function refuseConnect(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  refuse(new EngineError('ValidationException', 'this is no proxy: there is nothing to CONNECT to'), socket);
}

/**
 * Answers 400 and returns true if a request has more headers than the limit, or says where its body ends in a way that
 * an intermediary may have understood differently.
 */
export function refuseFraming(request: IncomingMessage, response: ServerResponse): boolean {
  const flaw = flawOf(request);
  if (flaw === null) return false;
  const id = requestIdOf(request);
  const body = problemBytes(new EngineError('ValidationException', flaw), id);
  response.writeHead(400, { ...standingHeaders(id), 'content-type': problemType, connection: 'close' });
  response.end(body);
  return true;
}

function flawOf({ rawHeaders, headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): string | null {
  if (rawHeaders.length > 2 * limits.headers) return `the request has more than ${limits.headers} headers`;
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return null;
  if (httpVersionMajor === 1 && httpVersionMinor === 0) return 'HTTP/1.0 knows no Transfer-Encoding';
  return coding.toLowerCase() === 'chunked' ? null : 'the Transfer-Encoding is not chunked alone';
}

/** The answer in progress on this connection; null: none. */
export function answerOn(socket: Socket): ServerResponse | null {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse ? message : null;
}

function refuse(problem: EngineError, socket: Socket): void {
  const before = answerOn(socket);
  // Anything written into an answer in progress would be taken for a part of it.
  if (!socket.writable || before?.headersSent === true) {
    socket.destroy();
    return;
  }
  // It answers an earlier request, unless that is the very one whose body broke off.
  if (before?.req.complete === true) {
    before.once('close', () => setImmediate(() => refuse(problem, socket)));
    return;
  }
  const id = randomUUID();
  const { status, title } = problemOf(problem, id);
  const body = problemBytes(problem, id).toString();
  const headers = {
    ...standingHeaders(id),
    'content-type': problemType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    date: new Date().toUTCString(),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function problemFor(code: string | undefined): EngineError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new EngineError('ValidationException', 'the head of the request is over 16 KiB');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new EngineError('PayloadTooLarge', 'the chunk extensions of the body are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new EngineError('ValidationException', 'the request did not arrive in time');
    default:
      return new EngineError('ValidationException', 'this is not a well-formed HTTP request');
  }
}
