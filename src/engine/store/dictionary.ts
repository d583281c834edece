import { copiedPerAppended, Enlarging, firstStepOf, maxRowsAtOnce, roomFor, stepAfter } from './enlarging.ts';
import { finish, hashSeed, HashSlots, maxBatch } from './hash-slots.ts';
import type { MemoryMeter } from './memory-meter.ts';
import { textOfUtf8 } from './text-of-utf8.ts';

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
  /** The same for the texts with these indexes, from `from` up to `end`, of UTF-8; see `EncodedTexts`. */
  internEncoded(texts: EncodedTexts, from: number, end: number, ids: Int32Array): void;
  /** `find` for the texts with these indexes, from `from` up to `end`, of UTF-8; writes their ids to `ids`. */
  findEncoded(texts: EncodedTexts, from: number, end: number, ids: Int32Array): void;
  /** Says how many constants it will have, by an estimate. */
  expect(texts: number): void;
  /** The text of an id from `find` or `intern`. */
  text(id: number): string;
  /** Compares two texts by code point. */
  compare(left: number, right: number): number;
  /** Bytes of the text. */
  sizeOf(id: number): number;
  /** False if the text begins as no number does. */
  mayBeNumber(id: number): boolean;
  /** Writes `simpleNumber` of the ids from `from` up to `to`, at the same indexes; NaN for ids that are not of this dictionary. */
  simpleNumbers(ids: Int32Array, from: number, to: number, numbers: Float64Array): void;
}

/** Texts as well-formed UTF-8, one after the other: by index, where each ends. */
export interface EncodedTexts {
  readonly bytes: Uint8Array;
  readonly ends: Int32Array;
}

/**
 * The interned constants of one tenant: text to a small number and back.
 *
 * The texts are UTF-8 in one arena with offsets, found by an open-addressing table of ids: a string object
 * and a Map entry would take several times the memory. Ids are consecutive from 0, local to the process, and
 * never leave it. Texts are well-formed (no lone surrogates), which the contract's schemas ensure. It grows in
 * steps: nothing large is copied or hashed again at once.
 */
export class Dictionary implements ConstantIds {
  #arena: Uint8Array = new Uint8Array(1024);
  #offsets: Uint32Array = new Uint32Array(64);
  #slots = new HashSlots(64);
  /** While the slots are rebuilt: those before. The new ones lack the ids from `#moved` to `#toMove`. */
  #oldSlots: HashSlots | null = null;
  #moved = 0;
  #toMove = 0;
  #largerArena: Enlarging<Uint8Array> | null = null;
  /** The end of the texts at which to look after the arena's room. */
  #arenaLook = 1024;
  #largerOffsets: Enlarging<Uint32Array> | null = null;
  #offsetsLook = 63;
  #count = 0;
  #expected = 0;
  #end = 0;
  #longest = 0;
  #scratch: Uint8Array = new Uint8Array(256);
  /** The hash of the text last written to the scratch space. */
  #hash = 0;
  readonly #memory: MemoryMeter | null;

  /** `memory`: what it asks before it grows; null for that of stored facts. */
  constructor(memory: MemoryMeter | null = null) {
    this.#memory = memory;
    memory?.take(this.bytes);
  }

  get size(): number {
    return this.#count;
  }

  /** Bytes of the longest text. */
  get longest(): number {
    return this.#longest;
  }

  get bytes(): number {
    const larger =
      (this.#largerArena?.larger.byteLength ?? 0) + (this.#largerOffsets?.larger.byteLength ?? 0);
    const slots = this.#slots.bytes + (this.#oldSlots?.bytes ?? 0);
    return this.#arena.byteLength + this.#offsets.byteLength + larger + slots;
  }

  /** The number of tables of slots: two while they are rebuilt in steps. */
  get slotTables(): number {
    return this.#oldSlots === null ? 1 : 2;
  }

  /** The id of the text, or -1 if it was never interned. */
  find(text: string): number {
    const end = this.#encode(text, 0);
    return this.#idAt(0, end, this.#hash);
  }

  /** The id of the text at this position of the scratch space; -1: it has none. */
  #idAt(start: number, end: number, hash: number): number {
    const slot = this.#find(this.#slots, start, end, hash);
    if (slot >= 0) return this.#slots.number(slot);
    return this.#oldSlots === null ? -1 : this.#findOld(this.#oldSlots, start, end, hash);
  }

  /** The id of the text; assigns one if it is new. */
  intern(text: string): number {
    return this.#intern(0, this.#encode(text, 0), this.#hash);
  }

  /** `intern` for a text as well-formed UTF-8: these bytes. */
  internUtf8(bytes: Uint8Array, start: number, end: number): number {
    // A search compares with the scratch space, which for now is where the text is.
    const own = this.#scratch;
    this.#scratch = bytes;
    try {
      return this.#intern(start, end, hashOf(bytes, start, end));
    } finally {
      this.#scratch = own;
    }
  }

  internAll(texts: readonly string[], count: number, ids: Int32Array): void {
    for (let from = 0; from < count; ) {
      let some = 0;
      let end = 0;
      for (; some < maxBatch && from + some < count && end < maxBatchBytes; some++) {
        endsOfBatch[some] = end = this.#encode(texts[from + some] as string, end);
        hashesOfBatch[some] = this.#hash;
      }
      this.#fetch(some);
      let start = 0;
      for (let at = 0; at < some; at++) {
        end = endsOfBatch[at] as number;
        ids[from + at] = this.#intern(start, end, hashesOfBatch[at] as number);
        start = end;
      }
      from += some;
    }
  }

  internEncoded(texts: EncodedTexts, from: number, end: number, ids: Int32Array): void {
    this.#eachBatch(texts, from, end, (first, count) => {
      const { ends } = texts;
      let start = first === 0 ? 0 : (ends[first - 1] as number);
      for (let at = 0; at < count; at++) {
        const stop = ends[first + at] as number;
        ids[first - from + at] = this.#intern(start, stop, hashesOfBatch[at] as number);
        start = stop;
      }
    });
  }

  findEncoded(texts: EncodedTexts, from: number, end: number, ids: Int32Array): void {
    this.#eachBatch(texts, from, end, (first, count) => {
      const { ends } = texts;
      let start = first === 0 ? 0 : (ends[first - 1] as number);
      for (let at = 0; at < count; at++) {
        const stop = ends[first + at] as number;
        ids[first - from + at] = this.#idAt(start, stop, hashesOfBatch[at] as number);
        start = stop;
      }
    });
  }

  /** Calls `look` for some texts after the other, whose hashes are in `hashesOfBatch`. */
  #eachBatch(
    { bytes, ends }: EncodedTexts,
    from: number,
    end: number,
    look: (first: number, count: number) => void,
  ): void {
    // A search compares with the scratch space, which for now is where the texts are.
    const own = this.#scratch;
    this.#scratch = bytes;
    try {
      for (let first = from; first < end; first += maxBatch) {
        const count = Math.min(maxBatch, end - first);
        hashAll(bytes, ends, first, count);
        this.#fetch(count);
        look(first, count);
      }
    } finally {
      this.#scratch = own;
    }
  }

  /**
   * Prefetches what the search for these hashes will most likely read, step by step for all of them; see
   * `HashSlots.fetch`.
   */
  #fetch(count: number): void {
    const fetched = fetchedOfBatch;
    const offsets = this.#offsets;
    const arena = this.#arena;
    this.#slots.fetch(hashesOfBatch, count, fetched);
    for (let at = 0; at < count; at++) fetched[at] = offsets[fetched[at] as number] as number;
    for (let at = 0; at < count; at++) fetched[at] = arena[fetched[at] as number] as number;
  }

  /** The id of the text at this position of the scratch space. */
  #intern(start: number, end: number, hash: number): number {
    const slot = this.#find(this.#slots, start, end, hash);
    if (slot >= 0) return this.#slots.number(slot);
    const old = this.#oldSlots === null ? -1 : this.#findOld(this.#oldSlots, start, end, hash);
    return old >= 0 ? old : this.#add(slot, start, end, hash);
  }

  /** Assigns the next id to a text in the scratch space, after a search that ended at `missed`. */
  #add(missed: number, from: number, to: number, hash: number): number {
    const id = this.#count;
    const length = to - from;
    if (length > this.#longest) this.#longest = length;
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
    if (this.#oldSlots !== null && id % maxBatch === 0) this.#move(idsPerMove, this.#bytesPerMove);
    if (this.#slots.isFull) this.#rehash();
    return id;
  }

  /** The text of an id from `intern`. */
  text(id: number): string {
    return textOfUtf8(this.#arena, this.#offsets[id] as number, this.#offsets[id + 1] as number);
  }

  /** The UTF-8 of the text of an id; read-only. */
  utf8(id: number): Uint8Array {
    return this.#arena.subarray(this.#offsets[id], this.#offsets[id + 1]);
  }

  /** Writes the texts of these ids as UTF-8, one after the other, and where each ends: there is room for them. */
  encodedOf(ids: Int32Array, { bytes, ends }: EncodedTexts): void {
    const [arena, offsets] = [this.#arena, this.#offsets];
    let end = 0;
    for (let from = 0; from < ids.length; ) {
      const first = ids[from] as number;
      const start = offsets[first] as number;
      // Texts of consecutive ids lie side by side.
      let next = from;
      for (; next < ids.length && ids[next] === first + next - from; next++)
        ends[next] = end + (offsets[first + next - from + 1] as number) - start;
      const stop = offsets[first + next - from] as number;
      bytes.set(arena.subarray(start, stop), end);
      end += stop - start;
      from = next;
    }
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

  mayBeNumber(id: number): boolean {
    const start = this.#offsets[id] as number;
    const first = this.#arena[start] as number;
    return start < (this.#offsets[id + 1] as number) && (first === 0x2d || (first >= 0x30 && first <= 0x39));
  }

  simpleNumbers(ids: Int32Array, from: number, to: number, numbers: Float64Array): void {
    for (let at = from; at < to; at++) {
      const id = ids[at] as number;
      numbers[at] = id < this.#count ? this.simpleNumber(id) : NaN;
    }
  }

  /**
   * The number that the text is, if it has up to 15 digits, no exponent and, unless it is written as an integer, no whole value.
   * NaN for everything else, also for other numbers.
   */
  simpleNumber(id: number): number {
    const arena = this.#arena;
    const end = this.#offsets[id + 1] as number;
    let start = this.#offsets[id] as number;
    const isNegative = start < end && arena[start] === minus;
    if (isNegative) start++;
    const length = end - start;
    if (length === 0 || length > maxSimpleDigits + 1) return NaN;
    let value = 0;
    let point = 0;
    for (let at = start; at < end; at++) {
      const byte = arena[at] as number;
      if (byte >= zero && byte <= zero + 9) value = value * 10 + (byte - zero);
      else if (byte === decimalPoint && point === 0 && at > start) point = at;
      else return NaN;
    }
    if (length > 1 && arena[start] === zero && point !== start + 1) return NaN;
    if (point === 0) return length > maxSimpleDigits ? NaN : isNegative && value > 0 ? -value : value;
    // Both are exact, so the quotient is the nearest double.
    const fraction = value / (powersOfTen[end - point - 1] as number);
    if (point === end - 1 || Number.isInteger(fraction)) return NaN;
    return isNegative ? -fraction : fraction;
  }

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
        const bytes = encoder.encode(cased).map((byte) => looseByte(byte));
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

  /** Says how many texts it will have, by an estimate: when it must grow, it gets room for them. */
  expect(texts: number): void {
    this.#expected = texts;
  }

  /** Assigns the next ids to these texts, all different, in order; none has one yet. */
  addEncoded({ bytes, ends }: EncodedTexts): void {
    this.#reserveArena(bytes.length);
    const before = this.#end;
    this.#arena.set(bytes, before);
    this.#end = before + bytes.length;
    let start = 0;
    for (let first = 0; first < ends.length; ) {
      const some = Math.min(maxBatch, ends.length - first, this.#slots.room);
      const id = this.#count;
      // Before any of them, since steps of growth copy what is there.
      while (id + some > this.#offsetsLook) this.#growOffsets(some);
      const offsets = this.#offsets;
      for (let at = 0; at < some; at++) {
        const end = ends[first + at] as number;
        if (end - start > this.#longest) this.#longest = end - start;
        hashesOfBatch[at] = hashOf(bytes, start, end);
        offsets[id + at + 1] = before + end;
        start = end;
      }
      this.#count = id + some;
      this.#slots.addAll(hashesOfBatch, some, id);
      this.#move(idsPerMove, this.#bytesPerMove);
      if (this.#slots.isFull) this.#rehash();
      first += some;
    }
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
    const { written } = encoder.encodeInto(text, this.#scratch.subarray(start));
    this.#hash = hashOf(this.#scratch, start, start + written);
    return start + written;
  }

  #widen(used: number, room: number): void {
    const wider = new Uint8Array(used * 2 + room);
    wider.set(this.#scratch.subarray(0, used));
    this.#scratch = wider;
  }

  /** The slot of the text at this position of the scratch space; negative if it has none. */
  #find(slots: HashSlots, start: number, end: number, hash: number): number {
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

  /** The id of a text that the slots have not got yet, -1 if it has none. */
  #findOld(old: HashSlots, start: number, end: number, hash: number): number {
    const slot = this.#find(old, start, end, hash);
    return slot < 0 ? -1 : old.number(slot);
  }

  /** Makes room for one more text of this many bytes. */
  #reserve(length: number): void {
    this.#reserveArena(length);
    if (this.#count + 1 > this.#offsetsLook) this.#growOffsets(1);
  }

  #reserveArena(length: number): void {
    if (this.#end + length > this.#arenaLook) this.#growArena(length);
  }

  #growArena(length: number): void {
    const arena = this.#arena;
    const needed = this.#end + length;
    if (this.#largerArena === null) {
      const room = Math.max(roomFor(arena.length, 0), needed, this.#expectedBytes());
      this.#memory?.take(room);
      this.#largerArena = new Enlarging(new Uint8Array(room));
    }
    if (needed <= arena.length) {
      this.#largerArena.step(arena, this.#end, Math.max(minBytesPerStep, length * copiedPerAppended));
      this.#arenaLook = stepAfter(arena.length, needed);
      return;
    }
    this.#arena = this.#largerArena.finish(arena, this.#end);
    this.#largerArena = null;
    this.#memory?.free(arena.length);
    this.#arenaLook = firstStepOf(this.#arena.length, needed);
    // A text that is larger than all before it.
    if (needed > this.#arena.length) this.#growArena(length);
  }

  /** Bytes of the expected texts, if they are as long as those so far: not far beyond what doubling gives. */
  #expectedBytes(): number {
    if (this.#count === 0) return 0;
    const estimate = Math.ceil((this.#end / this.#count) * this.#expected);
    return Math.min(estimate, this.#arena.length * 2 + maxBytesAhead);
  }

  /** Enlarges the room for offsets, in steps, before so many texts are added, at most `maxBatch`. */
  #growOffsets(added: number): void {
    const offsets = this.#offsets;
    const used = this.#count + 1;
    if (this.#largerOffsets === null) {
      const room = roomFor(offsets.length, this.#expected + 1);
      this.#memory?.take(room * Uint32Array.BYTES_PER_ELEMENT);
      this.#largerOffsets = new Enlarging(new Uint32Array(room));
    }
    if (this.#count + added < offsets.length) {
      this.#largerOffsets.step(offsets, used);
      this.#offsetsLook = stepAfter(offsets.length - 1, used);
      return;
    }
    this.#offsets = this.#largerOffsets.finish(offsets, used);
    this.#largerOffsets = null;
    this.#memory?.free(offsets.byteLength);
    this.#offsetsLook = firstStepOf(this.#offsets.length - 1, used);
  }

  /** Doubles the slots, or makes those expected, if nobody pays: those of many texts are filled as texts are added. */
  #rehash(): void {
    this.#move(this.#count, Number.POSITIVE_INFINITY);
    const old = this.#slots;
    this.#memory?.take(old.bytes * 2);
    this.#slots = new HashSlots(roomFor(this.#count, this.#expected));
    this.#oldSlots = old;
    this.#moved = 0;
    this.#toMove = this.#count;
    if (this.#count <= maxRowsAtOnce && this.#end <= maxBytesAtOnce)
      this.#move(this.#count, Number.POSITIVE_INFINITY);
  }

  /** Bytes of texts that a batch of added ids moves: enough to have moved all before the slots are full again. */
  get #bytesPerMove(): number {
    return Math.max(minBytesPerMove, (2 * maxBatch * this.#end) / this.#count);
  }

  /** Moves up to this many ids, of texts of about so many bytes, from the old slots to the new. */
  #move(mostIds: number, mostBytes: number): void {
    const old = this.#oldSlots;
    if (old === null) return;
    const end = Math.min(this.#toMove, this.#moved + mostIds);
    const [arena, offsets, slots] = [this.#arena, this.#offsets, this.#slots];
    const hashes = hashesOfTexts;
    const endOfBytes = (offsets[this.#moved] as number) + mostBytes;
    while (this.#moved < end && (offsets[this.#moved] as number) < endOfBytes) {
      const first = this.#moved;
      const count = Math.min(maxBatch, end - first);
      for (let at = 0; at < count; at++)
        hashes[at] = hashOf(arena, offsets[first + at] as number, offsets[first + at + 1] as number);
      slots.addAll(hashes, count, first);
      this.#moved = first + count;
    }
    if (this.#moved < this.#toMove) return;
    this.#oldSlots = null;
    this.#memory?.free(old.bytes);
  }
}

const hashesOfTexts = new Int32Array(maxBatch);
/** Of texts looked up in a batch: their hashes, their ends in the scratch space, and the results of `#fetch`. */
const hashesOfBatch = new Int32Array(maxBatch);
const endsOfBatch = new Int32Array(maxBatch);
const fetchedOfBatch = new Int32Array(maxBatch);
const minus = 0x2d;
const decimalPoint = 0x2e;
const zero = 0x30;
/** Integers with so many digits are doubles, and so are powers of ten. */
const maxSimpleDigits = 15;
const powersOfTen = Array.from({ length: maxSimpleDigits + 1 }, (_, exponent) => 10 ** exponent);
const encoder = new TextEncoder();
const minBytesPerStep = 0x1_0000;
const maxBytesAhead = 0x400_0000;
/** Ids moved to new slots for every `maxBatch` texts that are added. */
const idsPerMove = 8 * maxBatch;
const minBytesPerMove = 0x4_0000;
/** Texts of so many bytes are moved at once: moving one reads it. */
const maxBytesAtOnce = 0x20_0000;
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

/** Writes the hashes of `count` texts, from index `first` on, to `hashesOfBatch`. */
function hashAll(bytes: Uint8Array, ends: Int32Array, first: number, count: number): void {
  let start = first === 0 ? 0 : (ends[first - 1] as number);
  for (let at = 0; at < count; at++) {
    const stop = ends[first + at] as number;
    hashesOfBatch[at] = hashOf(bytes, start, stop);
    start = stop;
  }
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
