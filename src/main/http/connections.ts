/**
 * How a server treats its connections, whatever comes on them: their number, their silence, their order.
 *
 * On one connection there is one request at work at a time, the next begins when its predecessor has been answered:
 * so answers come in order, a question after a write sees it, and nobody has a thousand calls running by sending
 * them in one piece. What cannot be told apart safely (two ways to say where a body ends) is refused here, before
 * anything looks at it. Bodies are limited where they are read (`body.ts`).
 */
import type { FastifyBaseLogger } from 'fastify';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { answerClientError, answerOn, refuseConnect, refuseFraming } from './client-error.ts';
import { type Limits, limits } from './limits.ts';

/** What a server is made with. */
export const serverOptions = {
  // Absence of Host is answered with a problem, like a wrong one.
  requireHostHeader: false,
  // Of two values neither is the one that was meant: put together they are no credential, no host and no tenant.
  joinDuplicateHeaders: true,
  maxHeaderSize: limits.headBytes,
  connectionsCheckingInterval: limits.lookMs,
} as const satisfies ServerOptions;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Sets the limits of a server that has its listener for requests and does not listen yet. */
export function limitConnections(
  server: Server | SecureServer,
  log: Pick<FastifyBaseLogger, 'warn'>,
  own: Limits = limits,
): void {
  server.headersTimeout = own.headMs;
  // A body that is streamed may take any time; others are limited where they are read.
  server.requestTimeout = 0;
  server.keepAliveTimeout = own.idleMs;
  server.maxHeadersCount = 0;
  server.maxConnections = own.connections;
  server.setTimeout(own.silentAnswerMs, endSilent);
  // Else the answer to a client that has closed its side is thrown away, or not, by chance.
  Reflect.set(server, 'httpAllowHalfOpen', true);
  // A secure connection is one of these events, and says so itself only when it can be read.
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: Socket) => endHalfClosed(socket, own.halfClosedMs));
  server.on('clientError', answerClientError);
  server.on('connect', (_request: IncomingMessage, socket: Socket) => refuseConnect(socket));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  warnOfDropped(server, log, own.connections);
  answerInTurn(server, own);
}

/** Nothing went either way for a while: cut off, unless the service is at work and its client waits. */
function endSilent(socket: Socket): void {
  if (answerOn(socket) === null || socket.writableLength > 0) socket.destroy();
}

function endHalfClosed(socket: Socket, afterMs: number): void {
  socket.once('end', () => {
    const timer = setTimeout(() => socket.destroy(), afterMs);
    socket.once('close', () => clearTimeout(timer));
  });
}

/** Says that connections are turned away, once in a while. */
function warnOfDropped(server: Server, log: Pick<FastifyBaseLogger, 'warn'>, connections: number): void {
  const everyMs = 60_000;
  let saidAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - saidAt < everyMs) return;
    saidAt = performance.now();
    log.warn({ connections }, 'too many connections: further ones are turned away');
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
    // The response that has the connection is the one whose turn it is.
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

/** The requests of a connection that came before their turn. */
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
    if (++this.#waiting > this.#limits.mostWaitingRequests) socket.destroy();
    if (socket.destroyed) return;
    if (this.#waiting >= this.#limits.waitingRequests) this.#hold();
    response.once('socket', () =>
      // The one before is still being put away.
      setImmediate(() => {
        this.#waiting--;
        if (this.#waiting < this.#limits.waitingRequests / 2) this.#release();
        if (!socket.destroyed) begin(request, response);
      }),
    );
  }

  /** Reads nothing more; a request that reads its body would otherwise set the connection going again. */
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
 * What goes over the connections of a server: how many there are, how many were turned away, and their bytes.
 *
 * It costs a request nothing: sockets count their own bytes, and those of open ones are added up when somebody asks.
 */

export class ConnectionTraffic {
  /** Open ones, with the bytes sent that were last told of each. */
  readonly #open = new Map<Socket, number>();
  #accepted = 0;
  #refused = 0;
  #malformed = 0;
  /** Of connections that have ended. */
  #bytesIn = 0;
  #bytesOut = 0;

  /**
   * Counts what this server accepts from now on; of several servers all is counted together. `event`: what tells of a
   * connection, `secureConnection` where it is encrypted.
   */
  watch(server: Server, event: 'connection' | 'secureConnection' = 'connection'): void {
    server.on(event, (socket: Socket) => {
      this.#accepted++;
      this.#open.set(socket, 0);
      socket.once('close', () => {
        // What waited to be sent and never was no longer counts; a total does not go back.
        this.#bytesOut += Math.max(socket.bytesWritten, this.#open.get(socket) ?? 0);
        this.#bytesIn += socket.bytesRead;
        this.#open.delete(socket);
      });
    });
    server.on('clientError', (error: Error & { code?: string }) => {
      // Who only went away had nothing malformed to say.
      if (error.code !== 'ECONNRESET') this.#malformed++;
    });
    // More than `maxConnections`: closed before anybody read of it.
    server.on('drop', () => {
      this.#refused++;
    });
  }

  /** Totals since the start, `open` now. */
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
