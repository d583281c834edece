/**
 * The bound on answers that clients have not taken, in bytes over all connections: without it a few thousand readers
 * that take nothing would fill the memory within the limits of each connection.
 *
 * A look at intervals adds up what sockets have not passed on, and the values of long JSON answers, which stay in memory
 * until their last piece was taken. If it is over the bound, connections are cut off until the rest is within, those
 * first whose clients took nothing for longest. Requests pay nothing for it.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { serving } from '../../engine/index.ts';
import { jsonLength } from '../base/json-slices.ts';
import { atIntervals } from './quiet-connections.ts';

/** The value of a long answer. */
interface Held {
  readonly value: unknown;
  /** Characters of its JSON; null: not counted yet, since most answers are taken before a look. */
  characters: number | null;
}

const held = new WeakMap<Socket, Held>();

/**
 * Counts the value as unread while the response, which is written in pieces, is in progress; `characters`: of its JSON, if
 * known.
 */
export function holdAnswer(response: ServerResponse, value: unknown, characters: number | null = null): void {
  const { socket } = response;
  if (socket === null) return;
  held.set(socket, { value, characters });
  response.once('close', () => held.delete(socket));
}

/**
 * Bytes that the system has taken of this connection's answers. The socket itself counts a long write when it has ended;
 * its handle knows how far it is.
 */
export function takenFrom(socket: Socket): number {
  const handle = Reflect.get(socket, '_handle') as { bytesWritten: number; writeQueueSize: number } | null;
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}

/** Bounds the unread answers of all servers that it watches. */
export class UnreadAnswers {
  readonly #most: number;
  readonly #warn: () => void;
  /** Open connections with what their clients had taken at the last look; those that took nothing for longest first. */
  readonly #taken = new Map<Socket, number>();
  readonly #pause = serving.pauseOf(null, 'count unread answers');
  #isLooking = false;

  constructor(most: number, log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#most = most;
    this.#warn = atIntervals(() =>
      log.warn({ unreadBytes: most }, 'too many unread answers: cutting off the clients that take nothing'),
    );
  }

  /** `event` is the event of a new connection, `secureConnection` for TLS. */
  watch(server: Server, event: 'connection' | 'secureConnection'): void {
    server.on(event, (socket: Socket) => {
      this.#taken.set(socket, -1);
      socket.once('close', () => this.#taken.delete(socket));
    });
  }

  /** Looks every so many milliseconds; returns how to stop. */
  lookEvery(milliseconds: number): () => void {
    const timer = setInterval(() => void this.look(), milliseconds).unref();
    return () => clearInterval(timer);
  }

  /** Cuts off the connections that are too many. Does nothing while an earlier look counts. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const unread = new Map<Socket, number>();
      // The order changes on the way.
      const connections = [...this.#taken];
      for (const [socket, before] of connections) {
        const bytes = await this.#unreadOn(socket);
        if (bytes === 0 || socket.destroyed) continue;
        unread.set(socket, bytes);
        const taken = takenFrom(socket);
        if (taken === before) continue;
        this.#taken.delete(socket);
        this.#taken.set(socket, taken);
      }
      this.#cut(unread);
    } finally {
      this.#isLooking = false;
    }
  }

  #cut(unread: ReadonlyMap<Socket, number>): void {
    let left = 0;
    for (const bytes of unread.values()) left += bytes;
    if (left <= this.#most) return;
    const silentFirst = [...this.#taken.keys()].filter((socket) => unread.has(socket));
    // One answer alone may be longer than the bound.
    for (const socket of silentFirst.slice(0, -1)) {
      if (left <= this.#most) return;
      this.#warn();
      left -= unread.get(socket) ?? 0;
      socket.destroy();
    }
  }

  /** About how many bytes the client of this connection has not taken. */
  async #unreadOn(socket: Socket): Promise<number> {
    const answer = held.get(socket);
    if (answer === undefined) return socket.writableLength;
    answer.characters ??= await jsonLength(answer.value, this.#pause);
    return socket.writableLength + answer.characters;
  }
}
