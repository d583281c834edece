/**
 * Answers to what is no HTTP request: the parser gave up, so there is no request to speak of, only a socket; or it did
 * not, and where the body ends is still not certain.
 *
 * The answer is a problem like any other where the connection can still take one, after those that are due on it, and
 * then the connection ends. What the client still sends is read and dropped for a moment, so that it gets to see the
 * answer.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { EngineError } from '../../engine/index.ts';
import { standingHeaders } from './admission.ts';
import { limits } from './limits.ts';
import { problemBytes, problemOf, problemType } from './problem.ts';
import { requestIdOf } from './request-log.ts';

const lingerMs = 1000;
const answered = new WeakSet<Socket>();

/** For the server's `clientError`. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  // A browser opens connections ahead of need: what is said on one that was never used, it takes for the answer to a
  // request that it sends at that moment. Of a connection that is gone it makes another.
  const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || isUnused) socket.destroy();
  else refuse(problemFor(error.code), socket);
}

/** For the server's `connect`: who asks for a tunnel takes the service for a proxy. */
export function refuseConnect(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  refuse(new EngineError('ValidationException', 'this is no proxy: there is nothing to CONNECT to'), socket);
}

/**
 * Answers 400 and true where a request has more headers than are looked at, or says where its body ends in a way that
 * somebody in between may have understood otherwise.
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

/** The answer that is being made or sent on this connection; null: there is none. */
export function answerOn(socket: Socket): ServerResponse | null {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse ? message : null;
}

function refuse(problem: EngineError, socket: Socket): void {
  const before = answerOn(socket);
  // Anything written into an answer that is on its way would be taken for a part of it.
  if (!socket.writable || before?.headersSent === true) {
    socket.destroy();
    return;
  }
  // It is the answer to an earlier request, unless that is the very one whose body broke off.
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
