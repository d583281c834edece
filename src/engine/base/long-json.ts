/**
 * Parses long JSON in slices: JSON.parse would block the thread for as long as it takes.
 *
 * A scan finds the long parts of the text: lists, objects and texts of more than a piece. A list or object is cut
 * between elements, so that every piece of it is valid JSON by itself, in which a marker takes the place of each long
 * part inside; a long text is cut between characters. The value equals that of JSON.parse, and text that JSON.parse
 * refuses is refused.
 */
import { namesPrototype } from './prototype-field.ts';

/** Texts up to this length are parsed at once, and no piece is shorter, unless it is the last one. */
export const jsonPieceBytes = 64 * 1024;

/**
 * Maximum number of fields of an object. None that the service takes has so many, and to go over a million fields, even
 * to refuse them, takes long.
 */
export const maxJsonFields = 16_384;

/** A part of the text that is longer than a piece. */
interface LongPart {
  readonly kind: 'list' | 'object' | 'text';
  /** Positions of its first and last byte. */
  readonly start: number;
  readonly end: number;
  /** Where it is cut: positions of commas, or of the first byte of each further piece of a text. */
  readonly cuts: readonly number[];
  /** The long parts directly inside, in order. */
  readonly parts: readonly LongPart[];
}

/** Why the text cannot be read. */
export type JsonProblem =
  | { readonly kind: 'malformed'; readonly from: number; readonly to: number }
  | { readonly kind: 'tooDeep' }
  | { readonly kind: 'tooManyFields' }
  | { readonly kind: 'prototype' };

/** The value of a text, or why there is none. */
export type JsonReading = { readonly value: unknown } | { readonly problem: JsonProblem };

/**
 * The value of JSON in UTF-8. `malformed`: it is not JSON, and bytes `from` to `to` show it; `tooDeep`: it nests deeper
 * than `maxDepth`; `tooManyFields`: an object has more than `maxJsonFields`; `prototype`: it has a field that would be lost. Calls `breathe` after each piece.
 */
export async function parseLongJson(
  bytes: Buffer,
  maxDepth: number,
  breathe: () => Promise<void>,
): Promise<JsonReading> {
  const scan = new Scan(bytes, maxDepth);
  while (!scan.next(jsonPieceBytes)) await breathe();
  if (scan.problem !== null) return { problem: scan.problem };
  const reader = new Reader(bytes, breathe);
  // A byte order mark is skipped.
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const values = (await reader.piece(start, bytes.length, scan.long, '[', ']', 1)) as unknown[];
  if (reader.problem !== null) return { problem: reader.problem };
  const [value] = values;
  if (values.length > 1) return { problem: { kind: 'malformed', from: start, to: bytes.length } };
  return reader.hasPrototype ? { problem: { kind: 'prototype' } } : { value };
}

const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;
const colon = 0x3a;
const quote = 0x22;
const backslash = 0x5c;
/** Bytes of the longest escape. */
const escapeBytes = 6;

/** An open list or object. */
class Frame {
  isList = false;
  start = 0;
  cuts: number[] = [];
  parts: LongPart[] = [];

  open(start: number, isList: boolean): void {
    this.start = start;
    this.isList = isList;
    if (this.cuts.length > 0) this.cuts = [];
    if (this.parts.length > 0) this.parts = [];
  }
}

/** Finds the long parts, piece by piece. */
class Scan {
  problem: JsonProblem | null = null;
  /** The whole value if it is long. */
  long: LongPart[] = [];
  readonly #bytes: Buffer;
  readonly #maxDepth: number;
  /** By depth; used again for each list and object there. */
  readonly #frames: Frame[] = [];
  #depth = 0;
  #at = 0;
  /** The beginning of the text that is being scanned; -1: none. */
  #textAt = -1;
  #textCuts: number[] = [];
  #escapeAt = -escapeBytes;

  constructor(bytes: Buffer, maxDepth: number) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
  }

  /** Scans so many bytes further; true: it is done. */
  next(count: number): boolean {
    const end = Math.min(this.#bytes.length, this.#at + count);
    while (this.#at < end && this.problem === null)
      if (this.#textAt >= 0) this.#scanText(end);
      else this.#scanStructure(end);
    if (this.problem !== null) return true;
    if (this.#at < this.#bytes.length) return false;
    if (this.#depth > 0 || this.#textAt >= 0) this.#fail(this.#bytes.length);
    return true;
  }

  #fail(at: number): void {
    this.problem = { kind: 'malformed', from: at, to: Math.min(this.#bytes.length, at + 1) };
  }

  #scanText(end: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let due = (this.#textCuts.at(-1) ?? this.#textAt) + jsonPieceBytes;
    for (; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.#at = at + 1;
        this.#endText(at);
        return;
      }
      // Not within an escape, nor within a character.
      if (at > due && at - this.#escapeAt >= escapeBytes && (byte & 0xc0) !== 0x80) {
        this.#textCuts.push(at);
        due = at + jsonPieceBytes;
      }
      if (byte === backslash) this.#escapeAt = at++;
    }
    this.#at = at;
  }

  #endText(end: number): void {
    const start = this.#textAt;
    this.#textAt = -1;
    if (this.#textCuts.length === 0) return;
    const cuts = this.#textCuts;
    this.#textCuts = [];
    if (this.#isName(end)) return;
    this.#found({ kind: 'text', start, end, cuts, parts: [] });
  }

  /** Whether the text that ends here is the name of a field. */
  #isName(end: number): boolean {
    let at = end + 1;
    while (at < this.#bytes.length && (this.#bytes[at] as number) <= 0x20) at++;
    return this.#bytes[at] === colon;
  }

  #scanStructure(end: number): void {
    const bytes = this.#bytes;
    for (let at = this.#at; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.#textAt = at;
        this.#escapeAt = -escapeBytes;
        this.#at = at + 1;
        return;
      }
      if (byte === comma) {
        const frame = this.#frames[this.#depth - 1];
        if (frame !== undefined && at - (frame.cuts.at(-1) ?? frame.start) >= jsonPieceBytes)
          frame.cuts.push(at);
      } else if (byte === openBracket || byte === openBrace) {
        if (this.#depth === this.#maxDepth) {
          this.problem = { kind: 'tooDeep' };
          return;
        }
        (this.#frames[this.#depth++] ??= new Frame()).open(at, byte === openBracket);
      } else if (byte === closeBracket || byte === closeBrace) {
        const frame = this.#depth === 0 ? undefined : this.#frames[--this.#depth];
        if (frame === undefined || frame.isList !== (byte === closeBracket)) {
          this.#fail(at);
          return;
        }
        if (at - frame.start >= jsonPieceBytes) {
          const { isList, start, cuts, parts } = frame;
          this.#found({ kind: isList ? 'list' : 'object', start, end: at, cuts, parts });
          frame.cuts = [];
          frame.parts = [];
        }
      }
    }
    this.#at = end;
  }

  #found(part: LongPart): void {
    if (this.#depth === 0) this.long.push(part);
    else (this.#frames[this.#depth - 1] as Frame).parts.push(part);
  }
}

/** Reads the parts that a scan found. */
class Reader {
  problem: JsonProblem | null = null;
  hasPrototype = false;
  readonly #bytes: Buffer;
  readonly #breathe: () => Promise<void>;
  readonly #marker = `${crypto.randomUUID()} `;

  constructor(bytes: Buffer, breathe: () => Promise<void>) {
    this.#bytes = bytes;
    this.#breathe = breathe;
  }

  /**
   * The list or object of these elements: the bytes from `from` to `to`, with the long parts inside. `least`: how many
   * elements there must be. null: they are not valid JSON.
   */
  async piece(
    from: number,
    to: number,
    parts: readonly LongPart[],
    open: string,
    close: string,
    least: number,
  ): Promise<unknown> {
    let text = open;
    let at = from;
    const values: unknown[] = [];
    for (const part of parts) {
      text += `${this.#bytes.toString('utf8', at, part.start)}"${this.#marker}${values.length}"`;
      values.push(await this.#valueOf(part));
      if (this.problem !== null) return [];
      at = part.end + 1;
    }
    text += this.#bytes.toString('utf8', at, to) + close;
    const found = this.#parsed(text, from, to);
    if (this.problem === null && Object.keys(found).length < least)
      this.problem = { kind: 'malformed', from, to };
    if (values.length > 0) this.#fill(found, values);
    await this.#breathe();
    return found;
  }

  #parsed(text: string, from: number, to: number): object {
    this.hasPrototype ||= namesPrototype(text);
    try {
      return JSON.parse(text) as object;
    } catch {
      // The reading as a whole says which bytes are wrong.
      this.problem = { kind: 'malformed', from, to };
      return [];
    }
  }

  /** Puts the values in the place of their markers. */
  #fill(found: object, values: readonly unknown[]): void {
    const fields = found as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      const value = fields[name];
      if (typeof value === 'string' && value.startsWith(this.#marker))
        fields[name] = values[Number(value.slice(this.#marker.length))];
    }
  }

  async #valueOf({ kind, start, end, cuts, parts }: LongPart): Promise<unknown> {
    if (kind === 'text') return this.#textOf(start, end, cuts);
    const list: unknown[] = [];
    const fields: Record<string, unknown> = {};
    const least = cuts.length === 0 ? 0 : 1;
    let fieldCount = 0;
    let [from, next] = [start + 1, 0];
    for (const to of [...cuts, end]) {
      const inside: LongPart[] = [];
      for (let part = parts[next]; part !== undefined && part.start < to; part = parts[++next])
        inside.push(part);
      if (kind === 'list') {
        const found = (await this.piece(from, to, inside, '[', ']', least)) as unknown[];
        for (const element of found) list.push(element);
      } else {
        const found = (await this.piece(from, to, inside, '{', '}', least)) as Record<string, unknown>;
        // A text with such a field is refused in the end.
        if (!this.hasPrototype)
          for (const name of Object.keys(found)) {
            if (!Object.hasOwn(fields, name) && ++fieldCount > maxJsonFields)
              this.problem ??= { kind: 'tooManyFields' };
            fields[name] = found[name];
          }
      }
      if (this.problem !== null) return null;
      from = to + 1;
    }
    return kind === 'list' ? list : fields;
  }

  async #textOf(start: number, end: number, cuts: readonly number[]): Promise<string> {
    let text = '';
    let from = start + 1;
    for (const to of [...cuts, end]) {
      const [read] = this.#parsed(`["${this.#bytes.toString('utf8', from, to)}"]`, from, to) as unknown[];
      if (this.problem !== null) return '';
      text += read as string;
      from = to;
      await this.#breathe();
    }
    return text;
  }
}
