/**
 * Compression of short JSON answers, for clients that accept it. The work runs on the thread pool of libuv, never on the
 * serving thread, and takes at most half of that pool, since the syncs of the log need it too: an answer that finds it busy
 * is sent as it is. Long answers and streams are never compressed: they are written as fast as the client takes them.
 *
 * Compression lets an observer of an encrypted connection guess a secret by its length (BREACH) if they can put text of their
 * own beside it in many answers to the same client. No answer repeats a secret: a key is shown once, when it is created, and
 * no credential is ever echoed. Nor can a foreign page make a browser ask: credentials are in headers, not cookies, and foreign
 * origins are refused.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Shorter answers fit in one or two packets as they are. */
export const MIN_COMPRESSED_BYTES = 2048;

/** Half of the threads that libuv has by default. */
const MAX_RUNNING = 2;

const brotliQuality = 4;
const gzipLevel = 5;

type Coding = 'br' | 'gzip';

/** The coding that the client accepts, by `Accept-Encoding`; null: none of ours. */
export function acceptedCoding(headers: IncomingHttpHeaders): Coding | null {
  const given = headers['accept-encoding'];
  if (given === undefined) return null;
  const accepted = String(given)
    .toLowerCase()
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]?.trim());
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : null;
}

let running = 0;

/** Compresses the text and passes the bytes on; returns false, and calls nothing, if too many answers are being compressed. */
export function compress(
  text: string,
  coding: Coding,
  done: (error: Error | null, bytes: Buffer) => void,
): boolean {
  if (running >= MAX_RUNNING) return false;
  running += 1;
  const bytes = Buffer.from(text);
  const end = (error: Error | null, compressed: Buffer): void => {
    running -= 1;
    done(error, compressed);
  };
  if (coding === 'gzip') gzip(bytes, { level: gzipLevel }, end);
  else
    brotliCompress(
      bytes,
      {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          // A window of the size of the longest text: the default allocates megabytes.
          [constants.BROTLI_PARAM_LGWIN]: 18,
        },
      },
      end,
    );
  return true;
}
