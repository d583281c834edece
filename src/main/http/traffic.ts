/**
 * What goes over the connections of a server: how many there are, how many were turned away, and their bytes.
 *
 * It costs a request nothing: sockets count their own bytes, and those of open ones are added up when somebody asks.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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
