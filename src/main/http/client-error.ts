/**
 * Answers to what is no HTTP request: the parser gave up, so there is no request to speak of, only a socket.
 *
 * The answer is a problem like any other where the connection can still take one, and then the connection ends.
 * What the client still sends is read and dropped for a moment, so that it gets to see the answer.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { EngineError } from '../../engine/index.ts';
import { standingHeaders } from './admission.ts';
import { problemOf, problemType } from './problem.ts';

const lingerMs = 1000;
const answered = new WeakSet<Socket>();

/** For the server's `clientError`. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const problem = problemOf(problemFor(error.code), id);
  const body = JSON.stringify(problem);
  const headers = {
    ...standingHeaders(id),
    'content-type': problemType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    date: new Date().toUTCString(),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${problem.status} ${problem.title}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
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

/** True where an earlier answer is on its way on this connection: anything written now would fall into it. */
function isAnswering(socket: Socket): boolean {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return typeof message === 'object' && message !== null && Reflect.get(message, 'headersSent') === true;
}
