/**
 * Bodies of requests: read within their limit, and parsed as harmless JSON.
 *
 * A body over the limit is refused while it is still arriving; the rest is read and discarded for a while, so that a
 * client that reads only after sending still gets its answer. Parsing requires valid UTF-8 and bounds the depth, since
 * later code may recurse over the value.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as atEndOfTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { EngineError, Slices } from '../../engine/index.ts';
import { namesPrototype } from '../base/prototype-field.ts';
import { answerOn } from './client-error.ts';
import { limits } from './limits.ts';
import { nestsDeeper, parseInPieces, scanJson } from './long-json.ts';

/** Maximum nesting of arrays and objects in a body. */
export const maxJsonDepth = 64;

/** Bodies up to this length are parsed in one go. */
const shortBytes = 64 * 1024;

/** The client disconnected before its body was complete: there is nobody to answer. */
export class ClientGone extends Error {}

/** Whether the headers of a request announce a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

const jsonAlone = ['application/json'];

/** Refuses with UnsupportedMediaType a body whose headers do not say plain UTF-8 JSON. */
export function requireJson(request: IncomingMessage): void {
  if (hasBody(request)) mediaTypeOf(request, jsonAlone);
}

/**
 * The media type of the body, one of `types`. Refuses any other, and anything but plain UTF-8, with
 * UnsupportedMediaType.
 */
export function mediaTypeOf(request: IncomingMessage, types: readonly string[]): string {
  const encoding = request.headers['content-encoding'];
  const given = request.headers['content-type'];
  // The common case.
  if (encoding === undefined && given !== undefined && types.includes(given)) return given;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new EngineError('UnsupportedMediaType', 'send the body without Content-Encoding');
  const [type = '', ...parameters] = (given ?? '').split(';');
  const charset = parameters
    .map((part) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(part)?.[1])
    .find(Boolean);
  const isReadable = charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset);
  const known = types.find((each) => each === type.trim().toLowerCase());
  if (known === undefined || !isReadable)
    throw new EngineError(
      'UnsupportedMediaType',
      `send the body as Content-Type: ${types.join(' or ')} in UTF-8`,
    );
  return known;
}

/**
 * Reads the whole body. Refuses with PayloadTooLarge past `limit` bytes, with ValidationException if it stalls or takes
 * too long, with RateLimited if bodies of other requests use up the shared budget, with ClientGone if it breaks off.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    new Reading(request, limit, resolve, reject).begin();
  });
}

/** A body that is being read. */
class Reading {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  /** null: the body is short so far. */
  #room: Room | null = null;
  #size = 0;
  #isSettled = false;
  #whole: NodeJS.Timeout | undefined;
  #silent: NodeJS.Timeout | undefined;

  constructor(
    request: IncomingMessage,
    limit: number,
    resolve: (body: Buffer) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#limit = limit;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const request = this.#request;
    const onClose = (): void => this.#breakOff();
    if (Number(request.headers['content-length'] ?? 0) > this.#limit) this.#refuse(this.#tooLarge());
    else if (request.destroyed) onClose();
    else {
      // The listeners stay and do nothing: removing them costs more than everything else here.
      request
        .on('data', (chunk: Buffer) => this.#take(chunk))
        .on('end', () => this.#end())
        .on('close', onClose)
        .on('error', onClose);
      begun.push(this);
      if (begun.length === 1) atEndOfTurn(limitBegun);
    }
  }

  /** Sets the time limits, unless the body is already complete. */
  limitTime(): void {
    if (this.#isSettled) return;
    const { wholeBodyMs, silentBodyMs } = limits;
    this.#whole = setTimeout(() => this.#refuse(tooSlow('took too long')), wholeBodyMs).unref();
    this.#silent = setTimeout(() => this.#refuse(tooSlow('stopped coming')), silentBodyMs).unref();
  }

  #take(chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#silent?.refresh();
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.#refuse(this.#tooLarge());
    else if (this.#hasRoom()) this.#chunks.push(chunk);
    else this.#refuse(noRoom());
  }

  #hasRoom(): boolean {
    if (this.#size <= limits.shortBodyBytes) return true;
    this.#room ??= new Room(this.#request, this.#limit);
    return this.#room.take(this.#size);
  }

  #end(): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#room?.keep();
    const [only] = this.#chunks;
    const isOne = this.#chunks.length === 1 && only !== undefined;
    this.#resolve(isOne ? only : Buffer.concat(this.#chunks, this.#size));
  }

  #breakOff(): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#room?.leave();
    this.#reject(new ClientGone('the body broke off'));
  }

  #refuse(error: EngineError): void {
    this.#settle();
    this.#room?.leave();
    discardRest(this.#request);
    this.#reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#whole);
    clearTimeout(this.#silent);
  }

  #tooLarge(): EngineError {
    return new EngineError(
      'PayloadTooLarge',
      `the body is over ${this.#limit} bytes (MAX_REQUEST_BODY_BYTES)`,
    );
  }
}

/** Bodies whose reading began in this turn of the event loop: most are complete at its end and need no timers. */
let begun: Reading[] = [];

function limitBegun(): void {
  const all = begun;
  begun = [];
  for (const reading of all) reading.limitTime();
}

/** Bytes of all long bodies that are being read or whose requests have no answer yet. */
let heldBytes = 0;

/** The share of one body in the budget for all. */
class Room {
  readonly #request: IncomingMessage;
  readonly #most: number;
  #counted = 0;

  /** `limit`: the maximum length of a body. */
  constructor(request: IncomingMessage, limit: number) {
    this.#request = request;
    this.#most = Math.max(limits.bodiesBytes, 2 * limit);
  }

  /** False: the budget has no room for a body of this length. */
  take(bytes: number): boolean {
    const more = bytes - this.#counted;
    if (heldBytes + more > this.#most) return false;
    heldBytes += more;
    this.#counted += more;
    return true;
  }

  /** Keeps the share until the request has been answered: what is made of a body takes more memory than the body. */
  keep(): void {
    if (this.#counted === 0) return;
    const answer = answerOn(this.#request.socket);
    if (answer === null) this.leave();
    else answer.once('close', () => this.leave());
  }

  leave(): void {
    heldBytes -= this.#counted;
    this.#counted = 0;
  }
}

function noRoom(): EngineError {
  return new EngineError('RateLimited', 'too many long bodies are being read: try again in 1 s', {
    retryAfterSeconds: 1,
  });
}

function tooSlow(how: string): EngineError {
  return new EngineError('ValidationException', `the body ${how}`, {
    errors: [{ path: '', message: `the body ${how}` }],
  });
}

const discarded = new WeakSet<IncomingMessage>();

/** Reads on and discards everything; cuts off a client that does not come to an end. */
export function discardRest(request: IncomingMessage): void {
  if (discarded.has(request)) return;
  discarded.add(request);
  let left: number = limits.discardedBytes;
  const { socket } = request;
  const cutOff = (): void => {
    socket.destroy();
  };
  const timer = setTimeout(cutOff, limits.discardedMs).unref();
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cutOff();
  });
  request.on('error', cutOff);
  request.on('close', () => {
    clearTimeout(timer);
  });
  request.resume();
}

/**
 * The value of a JSON body, `undefined` if it is empty; for a long one a promise, parsed in slices. Refuses with
 * ValidationException.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw malformed('it is not valid UTF-8');
  if (bytes.length > shortBytes) return parseLong(bytes);
  if (nestsDeeper(bytes, maxJsonDepth)) throw tooDeep();
  return jsonOf(textOf(bytes));
}

async function parseLong(bytes: Buffer): Promise<unknown> {
  const slices = new Slices(() => setImmediate());
  const breathe = (): Promise<void> => slices.breathe();
  const { isTooDeep, cut } = await scanJson(bytes, maxJsonDepth, breathe);
  if (isTooDeep) throw tooDeep();
  const text = textOf(bytes);
  const long = cut === null ? null : await parseInPieces(bytes, cut, breathe);
  return long === null ? jsonOf(text) : long.value;
}

/** The text of a body. Refuses a body with a field that would be lost. */
function textOf(bytes: Buffer): string {
  const read = bytes.toString('utf8');
  const text = read.startsWith('\uFEFF') ? read.slice(1) : read;
  if (!namesPrototype(text)) return text;
  jsonOf(text);
  throw malformed('__proto__ cannot be the name of a field');
}

function tooDeep(): EngineError {
  return malformed(`it nests deeper than ${maxJsonDepth} levels`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    throw malformed(
      `it is not valid JSON${position === undefined ? '' : ` (at character ${position})`}`,
      error,
    );
  }
}

function malformed(why: string, cause?: unknown): EngineError {
  return new EngineError(
    'ValidationException',
    `the body cannot be read: ${why}`,
    { errors: [{ path: '', message: why }] },
    cause === undefined ? {} : { cause },
  );
}
