/**
 * A persistent HTTP connection that costs its process next to nothing, so that the server limits the load.
 *
 * It sends a prepared request as bytes and receives the answer as bytes, one at a time. It supports only the two ways
 * in which the servers here end an answer, by length and by the last chunk.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** The head of the answer as text, with its names as received. */
  readonly head: string;
  /** Bytes of the body; if it came in chunks, including their sizes. */
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

export class Connection {
  readonly #socket: Socket;
  #received: Buffer[] = [];
  /** Where the body ends; null while unknown. */
  #end: { readonly head: number; readonly at: number | null } | null = null;
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null;

  #failed: Error | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  /** `address` as `http://host:port`. */
  static open(address: string): Promise<Connection> {
    const { hostname, port } = new URL(address);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  /** Sends a whole request and resolves with its answer. */
  request(bytes: string): Promise<Answer> {
    if (this.#waiting !== null) throw new Error('only one request at a time is supported');
    if (this.#failed !== null) throw this.#failed;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  /** Sends a request whose answer is a stream: passes what arrives, including the head, to `take`. */
  stream(bytes: string, take: (chunk: Buffer) => void): void {
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', take);
    this.#socket.write(bytes);
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    const bytes = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
    this.#received = [bytes];
    this.#end ??= endOf(bytes);
    if (this.#end === null) return;
    const { head, at } = this.#end;
    const isWhole = at === null ? isLastChunkIn(bytes, head) : bytes.length >= at;
    if (!isWhole) return;
    this.#received = [];
    this.#end = null;
    const waiting = this.#waiting;
    this.#waiting = null;
    const text = bytes.toString('latin1', 0, head);
    waiting?.resolve({ status: Number(text.slice(9, 12)), head: text, body: bytes.subarray(head) });
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }
}

/** Length of the head, and of the whole if the head says it; null while the head is incomplete. */
function endOf(bytes: Buffer): { head: number; at: number | null } | null {
  const found = bytes.indexOf(headEnd);
  if (found === -1) return null;
  const head = found + headEnd.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, found))?.[1];
  return { head, at: length === undefined ? null : head + Number(length) };
}

/** True if the body ends with the last chunk. JSON and its events contain no line end of their own before it. */
function isLastChunkIn(bytes: Buffer, head: number): boolean {
  const start = bytes.length - lastChunk.length;
  return start >= head && bytes.compare(lastChunk, 0, lastChunk.length, start) === 0;
}
