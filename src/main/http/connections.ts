/**
 * The life of a connection: limits of number, silence and order, answers to input that is not HTTP, and counters.
 *
 * Each connection has one request in progress at a time; the next begins when its predecessor has been answered. So
 * answers come in order, a question after a write sees the write, and pipelining does not start a thousand calls.
 * Ambiguous framing (two ways to say where a body ends) is refused here, before anything else reads it. `body.ts`
 * limits bodies.
 *
 * If the parser gave up, there is only a socket. If that can still take an answer, the answer is a problem like any
 * other, after the answers that are due before it; then the connection ends. Further input is read and discarded for a
 * moment, so that the client sees the answer.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { type Limits, limits } from './limits.ts';
import { randomUUID } from 'node:crypto';
import { EngineError, polls } from '../../engine/index.ts';
import { letNodesWait } from './node-requests.ts';
import { answerOn, atIntervals, boundQuiet } from './quiet-connections.ts';
import { problemBytes, problemOf, problemType, requestIdOf, standingHeaders } from './answers.ts';

/** The options of every server. */
export const serverOptions = {
  // A missing Host is answered with a problem, like a wrong one.
  requireHostHeader: false,
  // If a header comes twice, neither value can be trusted: joined, they are not a valid credential, host or tenant.
  joinDuplicateHeaders: true,
  maxHeaderSize: limits.headBytes,
  connectionsCheckingInterval: limits.lookMs,
} as const satisfies ServerOptions;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Sets the limits of a server that has its request listener but does not listen yet. */
export function limitConnections(
  server: Server | SecureServer,
  log: Pick<FastifyBaseLogger, 'warn'>,
  own: Limits = limits,
): void {
  server.headersTimeout = own.headMs;
  // A streamed body may take any time; `body.ts` limits the others.
  server.requestTimeout = 0;
  server.keepAliveTimeout = own.idleMs;
  server.maxHeadersCount = 0;
  server.maxConnections = own.connections;
  server.setTimeout(own.silentAnswerMs, endSilent);
  // Otherwise it depends on timing whether a client that has closed its side still gets its answer.
  Reflect.set(server, 'httpAllowHalfOpen', true);
  // A secure connection emits one of these, but only when it can be read.
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: Socket) => endHalfClosed(socket, own.halfClosedMs));
  server.on('clientError', answerClientError);
  server.on('connect', (_request: IncomingMessage, socket: Socket) => refuseConnect(socket));
  letNodesWait(server);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  warnOfDropped(server, log, own.connections);
  boundQuiet(server, log, own);
  answerInTurn(server, own);
}

/** Cuts off a connection without traffic for a while, unless the service is working and its client waits. */
function endSilent(socket: Socket): void {
  if (answerOn(socket) === null || socket.writableLength > 0) socket.destroy();
}

function endHalfClosed(socket: Socket, afterMs: number): void {
  socket.once('end', () => {
    const timer = setTimeout(() => socket.destroy(), afterMs);
    socket.once('close', () => clearTimeout(timer));
  });
}

/** Logs at intervals that connections are turned away. */
function warnOfDropped(server: Server, log: Pick<FastifyBaseLogger, 'warn'>, connections: number): void {
  const warn = atIntervals(() => log.warn({ connections }, 'too many connections: refusing further ones'));
  server.on('drop', () => {
    polls.arrived();
    warn();
  });
}

function answerInTurn(server: Server | SecureServer, own: Limits): void {
  const listeners = server.listeners('request') as Answer[];
  const answer: Answer = (request, response) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  const begin: Answer = (request, response) => {
    if (refuseFraming(request, response)) return;
    answer(request, response);
  };
  const queues = new WeakMap<Socket, Queue>();
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    // The response that owns the socket is the one whose turn it is.
    if (response.socket !== null) {
      begin(request, response);
      return;
    }
    const { socket } = request;
    let queue = queues.get(socket);
    if (queue === undefined) queues.set(socket, (queue = new Queue(socket, own)));
    queue.wait(request, response, begin);
  });
}

/** Requests of a connection that arrived before their turn. */
class Queue {
  readonly #socket: Socket;
  readonly #limits: Limits;
  #waiting = 0;
  #isHeld = false;

  constructor(socket: Socket, own: Limits) {
    this.#socket = socket;
    this.#limits = own;
  }

  wait(request: IncomingMessage, response: ServerResponse, begin: Answer): void {
    const socket = this.#socket;
    if (++this.#waiting > this.#limits.maxWaitingRequests) socket.destroy();
    if (socket.destroyed) return;
    if (this.#waiting >= this.#limits.waitingRequests) this.#hold();
    response.once('socket', () =>
      // The previous one is still being cleaned up.
      setImmediate(() => {
        this.#waiting--;
        if (this.#waiting < this.#limits.waitingRequests / 2) this.#release();
        if (!socket.destroyed) begin(request, response);
      }),
    );
  }

  /** Stops reading; a request that reads its body would otherwise resume the connection. */
  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#socket.on('resume', this.#pause).pause();
  }

  #release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#socket.off('resume', this.#pause).resume();
  }

  readonly #pause = (): void => {
    this.#socket.pause();
  };
}

/**
 * Counts the connections of a server: open ones, refused ones, and their bytes.
 *
 * It costs requests nothing: sockets count their own bytes, and those of open sockets are added up on demand.
 */
export class ConnectionTraffic {
  /** Open sockets, with the bytes sent as last reported. */
  readonly #open = new Map<Socket, number>();
  #accepted = 0;
  #refused = 0;
  #malformed = 0;
  /** Of closed connections. */
  #bytesIn = 0;
  #bytesOut = 0;

  /**
   * Counts the connections that this server accepts from now on; several servers share one count. `event` is the event
   * of a new connection, `secureConnection` for TLS.
   */
  watch(server: Server, event: 'connection' | 'secureConnection' = 'connection'): void {
    server.on(event, (socket: Socket) => {
      this.#accepted++;
      this.#open.set(socket, 0);
      socket.once('close', () => {
        // Queued bytes that were never sent no longer count, but a total must not decrease.
        this.#bytesOut += Math.max(socket.bytesWritten, this.#open.get(socket) ?? 0);
        this.#bytesIn += socket.bytesRead;
        this.#open.delete(socket);
      });
    });
    server.on('clientError', (error: Error & { code?: string }) => {
      // A client that merely disconnected sent nothing malformed.
      if (error.code !== 'ECONNRESET') this.#malformed++;
    });
    // Beyond `maxConnections`: closed without being read.
    server.on('drop', () => {
      this.#refused++;
    });
  }

  /** Totals since the start; `open` is the current number. */
  get totals() {
    let [bytesIn, bytesOut] = [this.#bytesIn, this.#bytesOut];
    for (const socket of this.#open.keys()) {
      this.#open.set(socket, socket.bytesWritten);
      bytesIn += socket.bytesRead;
      bytesOut += socket.bytesWritten;
    }
    return {
      open: this.#open.size,
      accepted: this.#accepted,
      refused: this.#refused,
      malformed: this.#malformed,
      bytesIn,
      bytesOut,
    };
  }
}

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
function refuseConnect(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  refuse(new EngineError('ValidationException', 'this is not a proxy: CONNECT is not supported'), socket);
}

/**
 * Answers 400 and returns true if a request has more headers than the limit, or says where its body ends in a way that
 * an intermediary may have understood differently.
 */
function refuseFraming(request: IncomingMessage, response: ServerResponse): boolean {
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
  if (httpVersionMajor === 1 && httpVersionMinor === 0) return 'HTTP/1.0 has no Transfer-Encoding';
  return coding.toLowerCase() === 'chunked' ? null : 'the Transfer-Encoding must be chunked alone';
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
