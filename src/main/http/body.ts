/**
 * Reading a request: its query string, its body within the limits, and the body's value as harmless JSON.
 *
 * A body over the limit is refused while it is still arriving; the rest is read and discarded for a while, so that a
 * client that reads only after sending still gets its answer. Parsing requires valid UTF-8 and bounds the depth, since
 * later code may recurse over the value.
 *
 * Long JSON is parsed in slices (`src/engine/base/long-json.ts`).
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as atEndOfTurn } from 'node:timers';
import {
  EngineError,
  invalid,
  jsonPieceBytes,
  maxJsonFields,
  namesPrototype,
  type Owner,
  parseLongJson,
  serving,
  Slices,
} from '../../engine/index.ts';
import { answerOn } from './quiet-connections.ts';
import { limits } from './limits.ts';

/** Maximum nesting of arrays and objects in a body. */
const maxJsonDepth = 64;

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
  /** Bytes of this body that count in `heldBytes`: none while it is short. */
  #held = 0;
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
    this.#whole = setTimeout(() => this.#refuse(invalid('', 'the body took too long')), wholeBodyMs).unref();
    this.#silent = setTimeout(
      () => this.#refuse(invalid('', 'the body stopped coming')),
      silentBodyMs,
    ).unref();
  }

  #take(chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#silent?.refresh();
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.#refuse(this.#tooLarge());
    else if (this.#hold()) this.#chunks.push(chunk);
    else this.#refuse(noRoom());
  }

  /** False: the budget for all long bodies has no room for this one. */
  #hold(): boolean {
    if (this.#size <= limits.shortBodyBytes) return true;
    const more = this.#size - this.#held;
    if (heldBytes + more > Math.max(limits.bodiesBytes, 2 * this.#limit)) return false;
    heldBytes += more;
    this.#held += more;
    return true;
  }

  #release(): void {
    heldBytes -= this.#held;
    this.#held = 0;
  }

  #end(): void {
    if (this.#isSettled) return;
    this.#settle();
    // Until the request has been answered: what is made of a body takes more memory than the body.
    const answer = this.#held === 0 ? null : answerOn(this.#request.socket);
    if (answer === null) this.#release();
    else answer.once('close', () => this.#release());
    const [only] = this.#chunks;
    const isOne = this.#chunks.length === 1 && only !== undefined;
    this.#resolve(isOne ? only : Buffer.concat(this.#chunks, this.#size));
  }

  #breakOff(): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#release();
    this.#reject(new ClientGone('the body broke off'));
  }

  #refuse(error: EngineError): void {
    this.#settle();
    this.#release();
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

function noRoom(): EngineError {
  return new EngineError('RateLimited', 'too many long bodies are being read: try again in 1 s', {
    retryAfterSeconds: 1,
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
 * ValidationException. `owner`: for whom it is parsed.
 */
export function parseJsonBody(bytes: Buffer, owner: Owner = null): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw malformed('it is not valid UTF-8');
  return bytes.length > jsonPieceBytes ? parseLong(bytes, owner) : jsonOf(textOf(bytes, nestsTooDeep(bytes)));
}

async function parseLong(bytes: Buffer, owner: Owner): Promise<unknown> {
  const slices = new Slices(serving.pauseOf(owner, 'parse a body'));
  const reading = await parseLongJson(bytes, maxJsonDepth, () => slices.breathe());
  if ('value' in reading) return reading.value;
  const { problem } = reading;
  if (problem.kind === 'tooDeep') throw malformed(tooDeep);
  if (problem.kind === 'tooManyFields')
    throw malformed(`an object in it has more than ${maxJsonFields} fields`);
  if (problem.kind === 'prototype') throw malformed(prototype);
  throw malformed(`it is not valid JSON (between byte ${problem.from} and byte ${problem.to})`);
}

const tooDeep = `it nests deeper than ${maxJsonDepth} levels`;
const prototype = '__proto__ cannot be the name of a field';

/** The text of a scanned body. Refuses one that nests too deep, and a field that would be lost. */
function textOf(bytes: Buffer, isTooDeep: boolean): string {
  if (isTooDeep) throw malformed(tooDeep);
  const read = bytes.toString('utf8');
  const text = read.startsWith('\uFEFF') ? read.slice(1) : read;
  if (!namesPrototype(text)) return text;
  jsonOf(text);
  throw malformed(prototype);
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

/**
 * Decodes the query string of a request target. Refuses with ValidationException a malformed escape and a repeated
 * parameter, since neither value can be trusted. Those in `lists` may be repeated; their values are joined with commas.
 */
export function parseQuery(target: string, lists: readonly string[] = []): Readonly<Record<string, string>> {
  const start = target.indexOf('?');
  if (start === -1) return {};
  const parameters = new Map<string, string>();
  for (const part of target.slice(start + 1).split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? '' : decode(part.slice(equals + 1));
    const before = parameters.get(name);
    if (before !== undefined && !lists.includes(name)) throw badQuery(name, 'is given more than once');
    parameters.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(parameters);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badQuery(text, 'is not percent-encoded UTF-8');
  }
}

function badQuery(path: string, message: string): EngineError {
  return new EngineError('ValidationException', `query parameter ${path} ${message}`, {
    errors: [{ path, message }],
  });
}

const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const backslash = 0x5c;

/** Whether brackets nest deeper than `maxJsonDepth`, for short texts. */
function nestsTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (inString) {
      if (byte === backslash) index++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxJsonDepth) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return false;
}
