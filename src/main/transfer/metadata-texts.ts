import type { Buffer } from 'node:buffer';
import { metadataProblem } from '../../engine/contract/facts.ts';
import { namesPrototype } from '../../engine/index.ts';

/**
 * Metadata as lines of a file have it, as JSON.stringify writes it: what is stored.
 *
 * Most files repeat theirs, so those seen twice are kept with their result.
 */
export class MetadataTexts {
  /** The result of the last call: these bytes. */
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  readonly #known: (KnownText | undefined)[] = Array.from({ length: knownTexts }, () => undefined);
  /** By place in `#known`: the hash of the last text that was not kept. */
  readonly #seen = new Int32Array(knownTexts);

  /** Takes an object of JSON, these bytes of well-formed UTF-8; false: it is none that a fact can have. */
  take(line: Buffer, start: number, end: number): boolean {
    const hash = hashOf(line, start, end);
    const place = (hash >>> 0) % knownTexts;
    const known = this.#known[place];
    if (known !== undefined && isText(known.given, line, start, end)) {
      this.bytes = known.stored;
      this.start = 0;
      this.end = known.stored.length;
      return true;
    }
    const given = line.toString('utf8', start, end);
    const stored = storedText(given);
    if (stored === null) return false;
    if (stored === given) {
      this.bytes = line;
      this.start = start;
      this.end = end;
    } else {
      this.bytes = encoder.encode(stored);
      this.start = 0;
      this.end = this.bytes.length;
    }
    if (this.#seen[place] !== hash) this.#seen[place] = hash;
    else if (end - start <= maxKnownBytes)
      this.#known[place] = {
        given: Uint8Array.from(line.subarray(start, end)),
        stored: Uint8Array.from(this.bytes.subarray(this.start, this.end)),
      };
    return true;
  }
}

interface KnownText {
  readonly given: Uint8Array;
  readonly stored: Uint8Array;
}

/** The metadata of this text as it is stored; null: the schema refuses it. */
function storedText(given: string): string | null {
  if (namesPrototype(given)) return null;
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  return metadataProblem(value) === null ? JSON.stringify(value) : null;
}

function isText(text: Uint8Array, line: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) if (text[at] !== line[start + at]) return false;
  return true;
}

function hashOf(line: Buffer, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (line[at] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

const knownTexts = 4096;
const maxKnownBytes = 1024;
const encoder = new TextEncoder();
