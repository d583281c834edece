/**
 * An exchange of Node in the terms of the web, in which the SDK's transports are written: the request that was received as
 * a `Request`, the `Response` written out.
 *
 * The SDK's own adapters do so for any program. Here the body has been read and parsed before, and nearly every answer is
 * one small event: its head, its event and its end go out in one write, at the end of the turn of the event loop in which
 * it was made, as JSON answers do. What takes longer is sent as it comes, and no faster than the client reads.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as atEndOfTurn } from 'node:timers';
import type { Cancellation } from '../../engine/index.ts';

/** After so long without a byte of the answer the head is sent alone, which tells the client that it was heard. */
const headAloneMs = 50;
/** Bytes that wait for the end of the turn at most. */
const mostGathered = 64 * 1024;

/**
 * The request as far as it can be used once its body was read: asking it for anything of its body fails. `gone` tells of
 * its client.
 */
export function webRequestOf(received: IncomingMessage, gone: Cancellation): Request {
  // The prototype makes it a Request to the language and to the types; what is not overridden here refuses to answer.
  return new ReceivedRequest(received, gone) as object as Request;
}

class ReceivedRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly #received: IncomingMessage;
  readonly #gone: Cancellation;

  constructor(received: IncomingMessage, gone: Cancellation) {
    this.#received = received;
    this.#gone = gone;
    this.method = received.method ?? 'GET';
    this.headers = new Headers();
    for (const [name, value] of Object.entries(received.headers))
      if (typeof value === 'string') this.headers.set(name, value);
      else for (const each of value ?? []) this.headers.append(name, each);
  }

  get url(): string {
    const { headers, url } = this.#received;
    return new URL(url ?? '/', `http://${headers.host ?? 'localhost'}`).href;
  }

  get signal(): AbortSignal {
    return this.#gone.toSignal();
  }
}

Object.setPrototypeOf(ReceivedRequest.prototype, Request.prototype);

/**
 * Writes the response out, beside headers that are set already; resolves when all of it was handed over, or the client has
 * gone.
 */
export async function writeResponse({ status, headers, body }: Response, raw: ServerResponse): Promise<void> {
  if (raw.destroyed) {
    await body?.cancel();
    return;
  }
  raw.statusCode = status;
  for (const [name, value] of headers) raw.setHeader(name, value);
  const writing = new Writing(raw);
  if (body === null) {
    writing.end();
    return;
  }
  const reader = body.getReader();
  raw.once('close', () => {
    // What is waited for ends, and the SDK is told that nobody takes it any more.
    if (!raw.writableFinished) reader.cancel().catch((error: unknown) => raw.destroy(asError(error)));
  });
  for (let part = await reader.read(); !part.done; part = await reader.read())
    await writing.write(part.value);
  writing.end();
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** One response that is being written. */
class Writing {
  readonly #raw: ServerResponse;
  readonly #headAlone: NodeJS.Timeout;
  /** Not handed over yet. */
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isDue = false;
  #isComplete = false;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
    this.#headAlone = setTimeout(() => this.#send(), headAloneMs).unref();
  }

  /** Resolves when the client can take more. */
  async write(part: Uint8Array): Promise<void> {
    this.#parts.push(part);
    this.#bytes += part.length;
    // A stream that has its parts at hand gives them all within one turn.
    if (this.#bytes > mostGathered) this.#send();
    else this.#sendAtEndOfTurn();
    if (this.#raw.writableNeedDrain) await drained(this.#raw);
  }

  end(): void {
    this.#isComplete = true;
    this.#sendAtEndOfTurn();
  }

  #sendAtEndOfTurn(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    due.push(() => {
      this.#isDue = false;
      this.#send();
    });
    if (due.length === 1) atEndOfTurn(sendDue);
  }

  #send(): void {
    clearTimeout(this.#headAlone);
    const raw = this.#raw;
    if (raw.destroyed || raw.writableEnded) return;
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    const [first, ...others] = parts;
    if (this.#isComplete && others.length === 0) {
      // With its length, where nothing was sent before.
      raw.end(first);
      return;
    }
    if (parts.length === 0 && raw.headersSent) return;
    raw.cork();
    raw.flushHeaders();
    for (const part of parts) raw.write(part);
    raw.uncork();
    if (this.#isComplete) raw.end();
  }
}

/** What is to be sent at the end of this turn. */
let due: (() => void)[] = [];

function sendDue(): void {
  const all = due;
  due = [];
  for (const send of all) send();
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off('drain', done).off('close', done);
      resolve();
    };
    raw.on('drain', done).on('close', done);
  });
}
