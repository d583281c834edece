/**
 * Reading a request: its query string, its body within the limits, and the body's value as harmless JSON.
 *
 * A body over the limit is refused while it is still arriving; the rest is read and discarded for a while, so that a
 * client that reads only after sending still gets its answer. Parsing requires valid UTF-8 and bounds the depth, since
 * later code may recurse over the value.
 *
 * Long JSON is parsed in slices: JSON.parse would block the thread for as long as it takes. Long JSON of this service is
 * one list, by itself or as a field of an object. The text is cut between elements of that list, so every piece is valid
 * JSON, and the text around the list is parsed with a marker in its place. The value equals that of JSON.parse. Text
 * that cannot be cut this way is left to JSON.parse, which reports what is wrong.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as atEndOfTurn } from 'node:timers';
import { EngineError, invalid, type Owner, serving, Slices } from '../../engine/index.ts';
import { namesPrototype } from '../base/prototype-field.ts';
import { answerOn } from './connections.ts';
import { limits } from './limits.ts';
import { randomUUID } from 'node:crypto';

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
  return bytes.length > pieceBytes ? parseLong(bytes, owner) : jsonOf(textOf(bytes, nestsTooDeep(bytes)));
}

async function parseLong(bytes: Buffer, owner: Owner): Promise<unknown> {
  const steps = scanJson(bytes);
  const slices = new Slices(serving.pauseOf(owner, 'parse a body'));
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await slices.breathe();
  const { cut, isTooDeep } = step.value;
  const text = textOf(bytes, isTooDeep);
  const long = cut === null ? null : await parseInPieces(bytes, cut, () => slices.breathe());
  return long === null ? jsonOf(text) : long.value;
}

/** The text of a scanned body. Refuses one that nests too deep, and a field that would be lost. */
function textOf(bytes: Buffer, isTooDeep: boolean): string {
  if (isTooDeep) throw malformed(`it nests deeper than ${maxJsonDepth} levels`);
  const read = bytes.toString('utf8');
  const text = read.startsWith('\uFEFF') ? read.slice(1) : read;
  if (!namesPrototype(text)) return text;
  jsonOf(text);
  throw malformed('__proto__ cannot be the name of a field');
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
const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;

/** Bodies up to this length are scanned and parsed in one go, and no piece of a list is shorter. */
const pieceBytes = 64 * 1024;

/** The long list in a text: positions of its opening bracket, of the cuts (commas), and of its closing bracket. */
interface Cut {
  readonly start: number;
  readonly commas: readonly number[];
  readonly end: number;
}

/** The bracket structure of a text. */
interface Scan {
  readonly isTooDeep: boolean;
  /** null: there is no single long list. */
  readonly cut: Cut | null;
}

/**
 * Scans UTF-8 for brackets outside of strings: whether they nest deeper than `maxJsonDepth` (it stops at the first that
 * does), and the position of the first list of at least 64 KiB that is the whole text or a field of it. Yields every
 * 64 KiB, so that other work can run.
 */
export function* scanJson(bytes: Buffer): Generator<void, Scan> {
  let depth = 0;
  let inString = false;
  let open: { start: number; depth: number; commas: number[] } | null = null;
  let cut: Cut | null = null;
  let nextLook = pieceBytes;
  for (let index = 0; index < bytes.length; index++) {
    if (index >= nextLook) {
      nextLook = index + pieceBytes;
      yield;
    }
    const byte = bytes[index];
    if (inString) {
      if (byte === backslash) index++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxJsonDepth) return { isTooDeep: true, cut: null };
      if (byte === openBracket && depth <= 2 && open === null && cut === null)
        open = { start: index, depth, commas: [] };
    } else if (byte === closeBracket || byte === closeBrace) {
      if (open !== null && depth === open.depth) {
        if (open.commas.length > 0 && byte === closeBracket) cut = { ...open, end: index };
        open = null;
      }
      depth--;
    } else if (byte === comma && open !== null && depth === open.depth) {
      if (index - (open.commas.at(-1) ?? open.start) >= pieceBytes) open.commas.push(index);
    }
  }
  return { isTooDeep: false, cut };
}

/** The first of it alone, for short texts: a generator costs four times as much. */
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

/**
 * The value of the text, its list parsed in pieces; null if a piece is not JSON, in which case the text is not JSON
 * either.
 */
export async function parseInPieces(
  bytes: Buffer,
  { start, commas, end }: Cut,
  breathe: () => Promise<void>,
): Promise<{ value: unknown } | null> {
  const list: unknown[] = [];
  let from = start + 1;
  for (const to of [...commas, end]) {
    const part = parsed(`[${bytes.toString('utf8', from, to)}]`);
    // An element is missing between two commas, or between a comma and the bracket.
    if (part === null || (part.value as unknown[]).length === 0) return null;
    for (const element of part.value as unknown[]) list.push(element);
    from = to + 1;
    await breathe();
  }
  const marker = `the list ${randomUUID()}`;
  const before = bytes.toString('utf8', 0, start);
  const around = parsed(`${before}${JSON.stringify(marker)}${bytes.toString('utf8', end + 1)}`);
  if (around === null) return null;
  if (around.value === marker) return { value: list };
  const fields = around.value as Record<string, unknown>;
  // If a later field has the same name, the later one counts.
  for (const name of Object.keys(fields)) if (fields[name] === marker) fields[name] = list;
  return { value: fields };
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // The caller then parses the whole text, which reports where it is wrong.
    return null;
  }
}
