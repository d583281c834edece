/**
 * Connections of crowded networks wait until their turn before anything is read of them. To accept a connection costs a
 * third of what it costs to begin it: so those of others, behind them in the system's queue, are reached soon.
 */
import { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Pause } from '../../engine/index.ts';

type Begin = (socket: Socket) => void;

/**
 * Has the server leave each new connection unread, and returns how to begin it. A server with TLS begins all by itself:
 * its cost is in the handshake.
 */
export function beginning(server: object): Begin | null {
  if (!(server instanceof Server)) return null;
  const listeners = server.listeners('connection') as Begin[];
  server.removeAllListeners('connection');
  // The option of a net.Server, which the options of an HTTP server do not have.
  Reflect.set(server, 'pauseOnConnect', true);
  return (socket) => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
    socket.resume();
  };
}

/** Connections begun in one turn: a few milliseconds of work. */
const begunAtOnce = 32;

/** The connections that wait, by network; the networks take turns. */
export class WaitingConnections {
  readonly #begin: Begin;
  readonly #pause: Pause;
  readonly #networks = new Map<string, Set<Socket>>();
  readonly #all = new Set<Socket>();

  /** `pause`: from the scheduler. */
  constructor(begin: Begin, pause: Pause) {
    this.#begin = begin;
    this.#pause = pause;
  }

  has(socket: Socket): boolean {
    return this.#all.has(socket);
  }

  add(network: string, socket: Socket): void {
    const sockets = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, sockets.add(socket));
    this.#all.add(socket);
    if (this.#all.size === 1) void this.#run();
  }

  async #run(): Promise<void> {
    await this.#pause();
    let begun = 0;
    while (this.#all.size > 0)
      for (const [network, sockets] of this.#networks) {
        const [socket] = sockets;
        if (socket === undefined) this.#networks.delete(network);
        else {
          if (begun++ % begunAtOnce === begunAtOnce - 1) await this.#pause();
          sockets.delete(socket);
          this.#all.delete(socket);
          if (!socket.destroyed) this.#begin(socket);
        }
      }
    this.#networks.clear();
  }
}
