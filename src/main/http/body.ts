/**
 * Bodies of requests: read within their limit, and parsed as JSON that cannot hurt.
 *
 * A body over the limit is refused while it is still coming; what follows is read and thrown away for a while,
 * so that a client that sends first and reads later still gets its answer. Parsing wants valid UTF-8 and bounds
 * the depth, since what walks the value later may recurse.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { EngineError, Slices } from '../../engine/index.ts';
import { namesPrototype } from '../prototype-field.ts';
import { nestsDeeper, parseInPieces, scanJson } from './long-json.ts';

/** Levels of arrays and objects that a body may nest. */
export const maxJsonDepth = 64;

/** Bodies up to here are parsed in one go. */
const shortBytes = 64 * 1024;

const maxDiscardedBytes = 64 * 1024 * 1024;
const maxDiscardMs = 10_000;
/** So long a body may take that is read whole. */
const maxBodyMs = 300_000;

/** The client went away before its body was whole: there is nobody to answer. */
export class ClientGone extends Error {}

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

const jsonAlone = ['application/json'];

/** Refuses with UnsupportedMediaType a body that is not plain UTF-8 JSON by its headers. */
export function requireJson(request: IncomingMessage): void {
  if (hasBody(request)) mediaTypeOf(request, jsonAlone);
}

/** The media type of the body, one of these. Refuses with UnsupportedMediaType another one, and what is not plain UTF-8. */
export function mediaTypeOf(request: IncomingMessage, types: readonly string[]): string {
  const encoding = request.headers['content-encoding'];
  const given = request.headers['content-type'];
  // Most are just so.
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

/** The whole body. Refuses with PayloadTooLarge past `limit` bytes, with ClientGone where it breaks off or takes too long. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = (): EngineError => {
    discardRest(request);
    return new EngineError('PayloadTooLarge', `the body is over ${limit} bytes (MAX_REQUEST_BODY_BYTES)`);
  };
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    const timer = setTimeout(() => onClose(), maxBodyMs).unref();
    // Listeners stay, and do nothing any more: to take them away costs more than all else here.
    const settle = (): void => {
      isSettled = true;
      clearTimeout(timer);
    };
    const onData = (chunk: Buffer): void => {
      if (isSettled) return;
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        settle();
        reject(tooLarge());
      }
    };
    const onEnd = (): void => {
      if (isSettled) return;
      settle();
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size));
    };
    const onClose = (): void => {
      if (isSettled) return;
      settle();
      reject(new ClientGone('the body broke off'));
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Reads on without keeping anything; a client that does not come to an end is cut off. */
export function discardRest(request: IncomingMessage): void {
  let left = maxDiscardedBytes;
  const cutOff = (): void => {
    request.socket.destroy();
  };
  const timer = setTimeout(cutOff, maxDiscardMs).unref();
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
 * The value of a JSON body, `undefined` where it is empty; a long one is a promise, and parsed in slices. Refuses with
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

/** The text of a body. Refuses one with a field that would be lost. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
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
