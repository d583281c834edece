/**
 * A connection to a server of this process, without a socket: the server reads and writes as it does for any client.
 *
 * It makes one request at a time, and takes answers that say how long they are.
 */
import type { Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { assert } from '../engine/index.ts';

export interface MemoryAnswer {
  readonly status: number;
  /** By name, in small letters. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const headEnd = '\r\n\r\n';

export class MemoryConnection {
  readonly #mine: Duplex;
  #received = Buffer.alloc(0);
  #take: ((answer: MemoryAnswer) => void) | null = null;
  #fail: ((error: Error) => void) | null = null;

  constructor(server: Server) {
    const [mine, theirs] = duplexPair();
    this.#mine = mine;
    mine.on('data', (chunk: Buffer) => this.#receive(chunk));
    mine.on('close', () => this.#fail?.(new Error('the server closed the connection')));
    server.emit('connection', theirs);
  }

  /** Resolves with the answer. Rejects where the server closes the connection instead. */
  post(path: string, headers: Readonly<Record<string, string>>, body: object): Promise<MemoryAnswer> {
    assert(this.#take === null, 'one request is made at a time');
    const text = JSON.stringify(body);
    const all = {
      host: 'localhost',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      'x-tenant-id': 'default',
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return new Promise((resolve, reject) => {
      this.#take = resolve;
      this.#fail = reject;
      this.#mine.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
    });
  }

  close(): void {
    this.#mine.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const at = this.#received.indexOf(headEnd);
    if (at === -1) return;
    const [first = '', ...lines] = this.#received.toString('latin1', 0, at).split('\r\n');
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const start = at + headEnd.length;
    const end = start + Number(headers.get('content-length') ?? 0);
    if (this.#received.length < end) return;
    const body = this.#received.toString('utf8', start, end);
    this.#received = this.#received.subarray(end);
    const take = this.#take;
    this.#take = null;
    take?.({ status: Number(first.split(' ')[1]), headers, body });
  }
}
