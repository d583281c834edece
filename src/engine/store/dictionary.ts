import { assert } from '../base/assert.ts';
import { finish, hashSeed, HashSlots, maxBatch } from './hash-slots.ts';

/** Constants as numbers and back: the interface of a dictionary. */
export interface ConstantIds {
  /** Bytes of memory. */
  readonly bytes: number;
  /** Number of constants. */
  readonly size: number;
  /** The id of the text, or -1 if it has none. */
  find(text: string): number;
  /** The id of the text; assigns one if it is new. */
  intern(text: string): number;
  /** `intern` for the first `count` texts, in order; writes their ids to `ids`. */
  internAll(texts: readonly string[], count: number, ids: Int32Array): void;
  /** The text of an id from `find` or `intern`. */
  text(id: number): string;
  /** Compares two texts by code point. */
  compare(left: number, right: number): number;
}

/**
 * The interned constants of one tenant: text to a small number and back.
 *
 * The texts are UTF-8 in one arena with offsets, found by an open-addressing table of ids: a string object
 * and a Map entry would take several times the memory. Ids are consecutive from 0, local to the process, and
 * never leave it. Texts are well-formed (no lone surrogates), which the contract's schemas ensure.
 */
export class Dictionary implements ConstantIds {
  #arena = new Uint8Array(1024);
  #offsets = new Uint32Array(64);
  #slots = new HashSlots(64);
  #count = 0;
  #end = 0;
  readonly #encoder = new TextEncoder();
  /** A text may begin with U+FEFF, which is not a byte order mark here. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #scratch = new Uint8Array(256);
  /** The hash of the text last written to the scratch space. */
  #hash = 0;
  /**
   * For texts looked up in a batch: their hashes, their ends in the scratch space, and the results of
   * `#fetch`.
   */
  readonly #hashes = new Int32Array(maxBatch);
  readonly #ends = new Int32Array(maxBatch);
  readonly #fetched = new Int32Array(maxBatch);

  get size(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#arena.byteLength + this.#offsets.byteLength + this.#slots.bytes;
  }

  /** The id of the text, or -1 if it was never interned. */
  find(text: string): number {
    const slot = this.#find(0, this.#encode(text, 0), this.#hash);
    return slot < 0 ? -1 : this.#slots.number(slot);
  }

  /** The id of the text; assigns one if it is new. */
  intern(text: string): number {
    return this.#intern(0, this.#encode(text, 0), this.#hash);
  }

  internAll(texts: readonly string[], count: number, ids: Int32Array): void {
    for (let from = 0; from < count; ) {
      let some = 0;
      let end = 0;
      for (; some < maxBatch && from + some < count && end < maxBatchBytes; some++) {
        this.#ends[some] = end = this.#encode(texts[from + some] as string, end);
        this.#hashes[some] = this.#hash;
      }
      this.#fetch(some);
      let start = 0;
      for (let at = 0; at < some; at++) {
        end = this.#ends[at] as number;
        ids[from + at] = this.#intern(start, end, this.#hashes[at] as number);
        start = end;
      }
      from += some;
    }
  }

  /**
   * Prefetches what the search for these hashes will most likely read, step by step for all of them; see
   * `HashSlots.fetch`.
   */
  #fetch(count: number): void {
    const fetched = this.#fetched;
    const offsets = this.#offsets;
    const arena = this.#arena;
    this.#slots.fetch(this.#hashes, count, fetched);
    for (let at = 0; at < count; at++) fetched[at] = offsets[fetched[at] as number] as number;
    for (let at = 0; at < count; at++) fetched[at] = arena[fetched[at] as number] as number;
  }

  /** The id of the text at this position of the scratch space. */
  #intern(start: number, end: number, hash: number): number {
    const slot = this.#find(start, end, hash);
    return slot < 0 ? this.#add(slot, start, end, hash) : this.#slots.number(slot);
  }

  /** Assigns the next id to a text in the scratch space, after a search that ended at `missed`. */
  #add(missed: number, from: number, to: number, hash: number): number {
    const id = this.#count;
    const length = to - from;
    this.#reserve(length);
    const start = this.#end;
    if (length > maxLoopBytes) this.#arena.set(this.#scratch.subarray(from, to), start);
    else {
      const [arena, scratch] = [this.#arena, this.#scratch];
      for (let index = 0; index < length; index++) arena[start + index] = scratch[from + index] as number;
    }
    this.#end = start + length;
    this.#count = id + 1;
    this.#offsets[id + 1] = this.#end;
    this.#slots.put(missed, hash, id);
    if (this.#slots.isFull) this.#rehash();
    return id;
  }

  /** The text of an id from `intern`. */
  text(id: number): string {
    const start = this.#offsets[id] as number;
    const end = this.#offsets[id + 1] as number;
    const arena = this.#arena;
    if (end - start <= 48) {
      const text = shortText(arena, start, end);
      if (text !== null) return text;
    }
    return this.#decoder.decode(arena.subarray(start, end));
  }

  /** The UTF-8 of the text of an id; read-only. */
  utf8(id: number): Uint8Array {
    return this.#arena.subarray(this.#offsets[id], this.#offsets[id + 1]);
  }

  compare(left: number, right: number): number {
    return this.compareEnded(left, -1, right, -1);
  }

  /**
   * Compares two texts by code point, as if each were followed by its `end`, the code of an ASCII character
   * or -1 for none. Not 0 if the ids differ, provided that no text contains either end.
   */
  compareEnded(left: number, leftEnd: number, right: number, rightEnd: number): number {
    const arena = this.#arena;
    let a = this.#offsets[left] as number;
    let b = this.#offsets[right] as number;
    const endOfA = this.#offsets[left + 1] as number;
    const endOfB = this.#offsets[right + 1] as number;
    for (const end = a + Math.min(endOfA - a, endOfB - b); a < end; a++, b++) {
      const difference = (arena[a] as number) - (arena[b] as number);
      if (difference !== 0) return difference;
    }
    return (a < endOfA ? (arena[a] as number) : leftEnd) - (b < endOfB ? (arena[b] as number) : rightEnd);
  }

  /** True if any byte of the text is marked: `marked` has 256 elements, 0 for unmarked bytes. */
  hasMarked(id: number, marked: Uint8Array): boolean {
    const arena = this.#arena;
    const end = this.#offsets[id + 1] as number;
    for (let at = this.#offsets[id] as number; at < end; at++)
      if (marked[arena[at] as number] !== 0) return true;
    return false;
  }

  /** Bytes of the text. */
  sizeOf(id: number): number {
    return (this.#offsets[id + 1] as number) - (this.#offsets[id] as number);
  }

  /**
   * Whether the text contains the part (ASCII, lower case), ignoring case; null if the bytes cannot tell,
   * because the text has non-ASCII characters, which have cases of their own, or characters that are escaped
   * when written.
   */
  holds(id: number, part: Uint8Array): boolean | null {
    const arena = this.#arena;
    const end = this.#offsets[id + 1] as number;
    const [first] = part;
    let isHeld = false;
    for (let at = this.#offsets[id] as number; at < end; at++) {
      const byte = arena[at] as number;
      if (byte < 0x20 || byte >= 0x80 || byte === 0x22 || byte === 0x5c) return null;
      if (lower(byte) === first && !isHeld && at + part.length <= end) isHeld = this.#isAt(at, part);
    }
    return isHeld;
  }

  #isAt(start: number, part: Uint8Array): boolean {
    for (let at = 1; at < part.length; at++)
      if (lower(this.#arena[start + at] as number) !== part[at]) return false;
    return true;
  }

  /**
   * Ids, up to `most`, of texts that equal one of these except for the case of letters, `_` or `-` instead of
   * a space, and quotes around them; non-ASCII letters must all have the same case. Scans every text from id
   * `from` on.
   */
  alike(texts: readonly string[], most: number, from = 0): number[] {
    const wanted: Uint8Array[][] = [];
    for (const text of texts)
      for (const cased of new Set([text.toLowerCase(), text.toUpperCase()])) {
        const bytes = this.#encoder.encode(cased).map((byte) => looseByte(byte));
        (wanted[bytes.length] ??= []).push(bytes);
      }
    const found: number[] = [];
    const arena = this.#arena;
    let end = this.#offsets[from] as number;
    for (let id = from; id < this.#count && found.length < most; id++) {
      const start = end;
      end = this.#offsets[id + 1] as number;
      const first = arena[start] as number;
      const isQuoted = end - start > 2 && isQuote(first) && arena[end - 1] === first;
      const those = wanted[isQuoted ? end - start - 2 : end - start];
      if (those === undefined) continue;
      for (const bytes of those)
        if (isLoosely(arena, isQuoted ? end - 1 : end, bytes)) {
          found.push(id);
          break;
        }
    }
    return found;
  }

  /** The length of the text in UTF-16 units. */
  lengthOf(id: number): number {
    const arena = this.#arena;
    const end = this.#offsets[id + 1] as number;
    let length = 0;
    for (let at = this.#offsets[id] as number; at < end; at++) {
      const byte = arena[at] as number;
      // Every byte that is not a continuation byte begins a character; one of four bytes is two units.
      if ((byte & 0xc0) !== 0x80) length += byte >= 0xf0 ? 2 : 1;
    }
    return length;
  }

  /** Assigns the next id to a text, as UTF-8, that has none yet. */
  addUtf8(text: Uint8Array): void {
    if (text.length > this.#scratch.length) this.#scratch = new Uint8Array(text.length * 2);
    this.#scratch.set(text);
    const hash = hashOf(text, 0, text.length);
    const missed = this.#find(0, text.length, hash);
    assert(missed < 0, 'a text is added once');
    this.#add(missed, 0, text.length, hash);
  }

  /**
   * Writes the text's UTF-8 to the scratch space from `start` on, and its hash to `#hash`; returns the end.
   */
  #encode(text: string, start: number): number {
    const length = text.length;
    if (start + length * 3 > this.#scratch.length) this.#widen(start, length * 4);
    const scratch = this.#scratch;
    let hash = hashSeed ^ length;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return this.#encodeAny(text, start);
      scratch[start + index] = unit;
      hash = Math.imul(hash ^ unit, hashFactor);
    }
    this.#hash = finish(hash);
    return start + length;
  }

  #encodeAny(text: string, start: number): number {
    const { written } = this.#encoder.encodeInto(text, this.#scratch.subarray(start));
    this.#hash = hashOf(this.#scratch, start, start + written);
    return start + written;
  }

  #widen(used: number, room: number): void {
    const wider = new Uint8Array(used * 2 + room);
    wider.set(this.#scratch.subarray(0, used));
    this.#scratch = wider;
  }

  /** The slot of the text at this position of the scratch space; negative if it has none. */
  #find(start: number, end: number, hash: number): number {
    const slots = this.#slots;
    let slot = slots.first(hash);
    while (slot >= 0 && !this.#equals(slots.number(slot), start, end)) slot = slots.next(slot, hash);
    return slot;
  }

  #equals(id: number, from: number, to: number): boolean {
    const length = to - from;
    const start = this.#offsets[id] as number;
    if ((this.#offsets[id + 1] as number) - start !== length) return false;
    const arena = this.#arena;
    const scratch = this.#scratch;
    for (let index = 0; index < length; index++)
      if (arena[start + index] !== scratch[from + index]) return false;
    return true;
  }

  #reserve(length: number): void {
    if (this.#end + length > this.#arena.length) {
      const grown = new Uint8Array(Math.max(this.#arena.length * 2, this.#end + length));
      grown.set(this.#arena.subarray(0, this.#end));
      this.#arena = grown;
    }
    if (this.#count + 1 >= this.#offsets.length) {
      const grown = new Uint32Array(this.#offsets.length * 2);
      grown.set(this.#offsets);
      this.#offsets = grown;
    }
  }

  #rehash(): void {
    const slots = new HashSlots(this.#count * 2);
    const hashes = new Int32Array(maxBatch);
    for (let first = 0; first < this.#count; first += maxBatch) {
      const count = Math.min(maxBatch, this.#count - first);
      for (let at = 0; at < count; at++) {
        const id = first + at;
        hashes[at] = hashOf(this.#arena, this.#offsets[id] as number, this.#offsets[id + 1] as number);
      }
      slots.addAll(hashes, count, first);
    }
    this.#slots = slots;
  }
}

/** Texts are looked up in batches of up to this many bytes. */
const maxBatchBytes = 0x4000;
/** Up to this many bytes are copied one by one, which is faster than making a view. */
const maxLoopBytes = 64;
const hashFactor = 0x01000193;

/** The hash of a text as UTF-8: FNV-1a, seeded with the length and mixed at the end. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = hashSeed ^ (end - start);
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), hashFactor);
  return finish(hash);
}

/**
 * The text of a few bytes; null if they are not all ASCII. Each call of `fromCharCode` makes a string, so it
 * takes eight at once.
 */
function shortText(bytes: Uint8Array, start: number, end: number): string | null {
  let text = '';
  let at = start;
  let all = 0;
  for (; at + 8 <= end; at += 8) {
    const a = bytes[at] as number;
    const b = bytes[at + 1] as number;
    const c = bytes[at + 2] as number;
    const d = bytes[at + 3] as number;
    const e = bytes[at + 4] as number;
    const f = bytes[at + 5] as number;
    const g = bytes[at + 6] as number;
    const h = bytes[at + 7] as number;
    all |= a | b | c | d | e | f | g | h;
    text += String.fromCharCode(a, b, c, d, e, f, g, h);
  }
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    all |= byte;
    text += String.fromCharCode(byte);
  }
  return all < 0x80 ? text : null;
}

function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27 || byte === 0x60;
}

function looseByte(byte: number): number {
  return byte === 0x5f || byte === 0x2d ? 0x20 : lower(byte);
}

/**
 * True if the bytes before `end` loosely equal these. Numbered texts differ at their end, so comparison
 * starts there.
 */
function isLoosely(arena: Uint8Array, end: number, bytes: Uint8Array): boolean {
  for (let at = bytes.length - 1, from = end - bytes.length; at >= 0; at--)
    if (looseByte(arena[from + at] as number) !== bytes[at]) return false;
  return true;
}

/** The byte of an ASCII letter in lower case; any other unchanged. */
function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
