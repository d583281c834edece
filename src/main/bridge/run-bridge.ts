/** Connects standard input and output with the service, until the client has gone or the program is told to end. */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { endpointFileOf, type Environment } from '../base/config.ts';
import type { BridgeArguments } from './arguments.ts';
import { Bridge } from './bridge.ts';
import { findService } from './find-service.ts';
import { createFetch } from './http-fetch.ts';
import { Connection } from './keep-connected.ts';
import { Link } from './link.ts';
import { ServiceStarter } from './start-service.ts';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/client';

/** The process in which a bridge runs. */
interface BridgeSurroundings {
  readonly input: Readable;
  readonly output: Writable;
  readonly environment: Environment;
  /** The built service beside this program, or null. */
  readonly program: string | null;
  /** For people who look for the cause of a problem; never protocol. */
  say(line: string): void;
  /** Aborts when the program is told to end. */
  readonly told: AbortSignal;
}

/** Milliseconds that the client gets to read the last answers. */
const flushMs = 500;

/** Resolves when the client has gone, or `told` has aborted, and the session has ended. */
export async function runBridge(given: BridgeArguments, surroundings: BridgeSurroundings): Promise<void> {
  const { input, output, environment, program, say, told } = surroundings;
  const endpointFile = endpointFileOf(environment);
  const now = (): number => performance.now();
  const prefix = randomUUID();
  let ids = 0;
  const nextId = (): string => `corollary-mcp-${prefix}-${++ids}`;
  const looking = createFetch();
  const mayStart = given.mayStart && given.url === null;
  const connection = new Connection({
    find: () => findService({ url: given.url, endpointFile }, looking.fetch),
    starter: mayStart ? new ServiceStarter({ endpointFile, program, environment, now, say }) : null,
    makeLink: (url) =>
      new Link({
        url,
        headers: headersOf(given),
        onMessage: (message) => bridge.tell(message),
        onGap: () => bridge.tellStale(),
        nextId,
      }),
    resume: (link, signal) => bridge.resume(link, signal),
    onReturn: () => bridge.tellStale(),
    now,
    say,
  });
  const bridge: Bridge = new Bridge({
    connection,
    waitMs: given.waitMs,
    now,
    send: (message) => lines.send(message),
    say,
    nextId,
  });
  const clientEnded = new AbortController();
  const clientGone = new AbortController();
  const lines: ClientLines = new ClientLines(input, output, {
    onMessage: (message, bytes) => bridge.take(message, bytes),
    onEnd: (how) => (how === 'ended' ? clientEnded : clientGone).abort(),
  });
  const gone = AbortSignal.any([told, clientGone.signal]);
  lines.start();
  connection.start();
  await aborted(AbortSignal.any([gone, clientEnded.signal]));
  // A client that closed only its side may still be reading: answer its calls first.
  await Promise.race([bridge.drained(), aborted(gone), aborted(AbortSignal.timeout(given.waitMs))]);
  // A look for the service that is still running ends with its connection.
  looking.close();
  await connection.close();
  await lines.flushed(flushMs);
}

function headersOf({ database, tenant, key }: BridgeArguments): Record<string, string> {
  const place = { 'X-Database': database, 'X-Tenant-ID': tenant };
  return key === null ? place : { ...place, Authorization: `Bearer ${key}` };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export interface ClientLimits {
  /** Bytes of one line. */
  readonly maxLineBytes: number;
  /** Bytes of unread answers; an answer beyond this limit is replaced by an error. */
  readonly maxUnreadBytes: number;
}

const defaultClientLimits: ClientLimits = {
  maxLineBytes: 32 * 1024 * 1024,
  maxUnreadBytes: 64 * 1024 * 1024,
};

interface ClientHandlers {
  onMessage(message: JSONRPCMessage, bytes: number): void;
  /** The input has ended (`ended`), or the output is closed (`gone`). May be called again. */
  onEnd(how: 'ended' | 'gone'): void;
}

/** Codes of JSON-RPC: not JSON, and not a message. */
const parseError = -32700;
const invalidRequest = -32600;
const internalError = -32603;

const newline = 0x0a;
/** Bytes kept of both ends of a line that is too long: the id is in one of them. */
const maxEndBytes = 256;

/**
 * The client's side of the bridge: MCP over standard input and output, one message per line.
 *
 * Invariants: only protocol messages are written; a line that is not a message gets an error and does not end the
 * conversation; and a client that does not read its answers is not read either, so the queue for it is bounded. What
 * the messages mean is left to others.
 */
export class ClientLines {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #handlers: ClientHandlers;
  readonly #limits: ClientLimits;
  /** Pieces of the line that is being read, and their length in bytes. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The beginning of a line that is too long, while the rest of it is discarded. */
  #oversized: Buffer | null = null;
  #isBlocked = false;
  readonly #unread: string[] = [];
  #unreadBytes = 0;
  /** Unread notifications, so that none is queued twice. */
  readonly #unreadNotices = new Set<string>();

  constructor(input: Readable, output: Writable, handlers: ClientHandlers, limits = defaultClientLimits) {
    this.#input = input;
    this.#output = output;
    this.#handlers = handlers;
    this.#limits = limits;
  }

  start(): void {
    this.#output.on('drain', () => this.#drained());
    this.#output.on('error', () => this.#handlers.onEnd('gone'));
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#input.on('end', () => this.#handlers.onEnd('ended'));
    this.#input.on('close', () => this.#handlers.onEnd('ended'));
    this.#input.on('error', () => this.#handlers.onEnd('ended'));
  }

  send(message: JSONRPCMessage): void {
    const line = `${JSON.stringify(message)}\n`;
    if (!this.#isBlocked) {
      this.#write(line);
      return;
    }
    if (isJSONRPCNotification(message)) {
      if (this.#unreadNotices.has(line)) return;
      this.#unreadNotices.add(line);
    }
    this.#keep(message, line);
  }

  /** Resolves when everything has been written, or after `limitMs` if the client does not read. */
  async flushed(limitMs: number): Promise<void> {
    if (!this.#isBlocked && this.#output.writableLength === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
      const look = (): void => {
        if (this.#unread.length === 0 && this.#output.writableLength === 0) resolve();
      };
      this.#output.on('drain', () => setImmediate(look));
      this.#output.on('error', () => resolve());
      this.#output.write('', look);
    });
    clearTimeout(timer);
  }

  #keep(message: JSONRPCMessage, line: string): void {
    if (isJSONRPCResponse(message) && this.#unreadBytes + line.length > this.#limits.maxUnreadBytes) {
      const { id } = message;
      this.#unread.push(
        errorLine(id ?? null, internalError, 'the answer is lost: read what was answered before'),
      );
      return;
    }
    this.#unread.push(line);
    this.#unreadBytes += line.length;
  }

  #write(line: string): void {
    if (this.#output.write(line)) return;
    this.#isBlocked = true;
    this.#input.pause();
  }

  #drained(): void {
    this.#isBlocked = false;
    while (!this.#isBlocked) {
      const line = this.#unread.shift();
      if (line === undefined) break;
      this.#unreadNotices.delete(line);
      this.#unreadBytes -= line.length;
      this.#write(line);
    }
    if (this.#isBlocked) return;
    this.#unreadBytes = 0;
    this.#input.resume();
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(newline, from);
      this.#add(chunk.subarray(from, end === -1 ? chunk.length : end));
      if (end === -1) return;
      this.#lineEnded();
      from = end + 1;
    }
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#limits.maxLineBytes) return;
    this.#oversized ??= firstBytes(this.#pieces, maxEndBytes);
    const tail = Buffer.concat(this.#pieces.slice(-2)).subarray(-maxEndBytes);
    this.#pieces = [Buffer.from(tail)];
  }

  #lineEnded(): void {
    const line = Buffer.concat(this.#pieces);
    const [bytes, head] = [this.#bytes, this.#oversized];
    this.#pieces = [];
    this.#bytes = 0;
    this.#oversized = null;
    if (head === null) this.#read(line.toString('utf8').trim(), bytes);
    else {
      const about = `a message of ${bytes} bytes is too long: the limit is ${this.#limits.maxLineBytes}`;
      this.#refuse(outerId(head.toString('utf8'), line.toString('utf8')), invalidRequest, about);
    }
  }

  #read(line: string, bytes: number): void {
    if (line === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (error) {
      const reason = error instanceof SyntaxError ? 'this line is not JSON' : String(error);
      this.#refuse(null, parseError, `${reason}: a message is one line of JSON`);
      return;
    }
    if (isMessage(message)) this.#handlers.onMessage(message, bytes);
    else this.#refuse(idOf(message), invalidRequest, wordsFor(message));
  }

  #refuse(id: RequestId | null, code: number, message: string): void {
    const line = errorLine(id, code, message);
    if (this.#isBlocked) this.#unread.push(line);
    else this.#write(line);
  }
}

function firstBytes(pieces: readonly Buffer[], count: number): Buffer {
  const first: Buffer[] = [];
  let left = count;
  for (const piece of pieces) {
    if (left <= 0) break;
    first.push(piece.subarray(0, left));
    left -= piece.length;
  }
  return Buffer.concat(first);
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

function wordsFor(value: unknown): string {
  return Array.isArray(value)
    ? 'batches are not supported: send each message by itself'
    : 'this is not a JSON-RPC 2.0 message';
}

function errorLine(id: RequestId | null, code: number, message: string): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`;
}

function idOf(value: unknown): RequestId | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
}

/** The id of a message of which only both ends were kept, if it is at the very start or end. */
function outerId(head: string, tail: string): RequestId | null {
  const atHead = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")\s*,/.exec(
    head,
  );
  const atTail = /[^\\]"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(
    tail,
  );
  const text = atHead?.[1] ?? atTail?.[1];
  return text === undefined ? null : (JSON.parse(text) as RequestId);
}
