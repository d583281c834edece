import { type FirstRows, Tuples } from '../../store/tuples.ts';
import type { MemoryMeter } from '../../store/memory-meter.ts';
import type { Derived } from '../model/derived.ts';

/** A computation that yields whenever a slice of work (`sliceWork`) is done, so that others can run. */
export type Course<Result> = Generator<void, Result, void>;
/** A row of bits. */
export type Words = Int32Array;

/** Words or edges processed per slice. */
const sliceWork = 32_768;
/**
 * Bytes for each source and target while rows are computed: numbers of its visit, its place in the lists of
 * open nodes, and its elements of the lists of rows.
 */
const bytesOfNode = 64;
/** Bytes of an entry of a map from rows to numbers, at its largest. */
const bytesOfMapEntry = 64;
/** By row of a relation: two dense numbers and a mark. */
const bytesOfNumbers = 9;
export const noWords: Words = new Int32Array(0);

/** Dense numbers for ids: 0, 1, ... in order of arrival. */
export class Numbering {
  readonly #ids = new Tuples(1);
  readonly #id = new Int32Array(1);

  get count(): number {
    return this.#ids.count;
  }

  get bytes(): number {
    return this.#ids.bytes;
  }

  /** The ids by number. */
  get ids(): Int32Array {
    return this.#ids.columns[0] as Int32Array;
  }

  /** The number of the id, -1 if it has none. */
  find(id: number): number {
    this.#id[0] = id;
    return this.#ids.find(this.#id);
  }

  /** The number of the id; assigns the next one if it has none. */
  of(id: number): number {
    const known = this.find(id);
    return known >= 0 ? known : this.#ids.insert(this.#id);
  }
}

/**
 * The pairs of a relation by their dense numbers, and adjacency lists of the live pairs (compressed sparse
 * rows).
 */
export class Edges {
  /** Where the list of each number begins in `to`; the last element is the end. */
  start = new Int32Array(1);
  to = new Int32Array(0);
  /** What it asks before it grows: who pays for its relation. Its bytes are counted by whoever uses it. */
  readonly memory: MemoryMeter | null;
  readonly #pairs: Derived;
  readonly #numberings: readonly [Numbering, Numbering];
  readonly #by: 0 | 1;
  /** By row of the relation: the dense numbers of its two columns. */
  readonly #numbers: [Int32Array, Int32Array] = [noWords, noWords];
  #numbered = 0;
  /** By row: 1 if it was live at the last `look`. */
  #alive = new Uint8Array(0);
  /** Rows that were added or deleted between the last two calls of `look`. */
  changed: number[] = [];

  /** `by`: the column by which the lists are keyed. */
  constructor(pairs: Derived, numberings: readonly [Numbering, Numbering], by: 0 | 1 = 0) {
    this.#pairs = pairs;
    this.memory = pairs.rows.memory?.apart() ?? null;
    this.#numberings = numberings;
    this.#by = by;
  }

  get bytes(): number {
    const [from, to] = this.#numbers;
    const lists = this.start.byteLength + this.to.byteLength;
    return lists + from.byteLength + to.byteLength + this.#alive.byteLength;
  }

  /** Numbers the new pairs, and records which pairs came and went since the last call. */
  *look(): Course<void> {
    const { rows } = this.#pairs;
    if (rows.count > this.#alive.length) {
      const room = Math.max(rows.count, this.#alive.length * 2);
      this.memory?.take((room - this.#alive.length) * bytesOfNumbers);
      for (const side of [0, 1] as const) {
        const numbers = new Int32Array(room);
        numbers.set(this.#numbers[side]);
        this.#numbers[side] = numbers;
      }
      const alive = new Uint8Array(room);
      alive.set(this.#alive);
      this.#alive = alive;
    }
    for (const side of [0, 1] as const) {
      const numbers = this.#numbers[side];
      const ids = rows.columns[side] as Int32Array;
      // Stored facts are joined from newest to oldest, so this keeps numbers and pairs in arrival order.
      for (let row = rows.count - 1; row >= this.#numbered; row--) {
        numbers[row] = this.#numberings[side].of(ids[row] as number);
        if (row % sliceWork === sliceWork - 1) yield;
      }
    }
    this.#numbered = rows.count;
    const alive = this.#alive;
    this.changed = [];
    for (let row = 0; row < rows.count; row++) {
      if (row % sliceWork === sliceWork - 1) yield;
      const isAlive = rows.isDead(row) ? 0 : 1;
      if (alive[row] === isAlive) continue;
      alive[row] = isAlive;
      this.changed.push(row);
    }
  }

  /** The dense number in column `side` of a row. */
  numberOf(row: number, side: 0 | 1): number {
    return this.#numbers[side][row] as number;
  }

  /** Visits the targets of the live pairs whose source has this number. */
  *otherSides(number: number): Generator<number> {
    const { rows } = this.#pairs;
    const index = rows.index([0]);
    const id = this.#numberings[0].ids[number] as number;
    for (let next = index.firstOf(id); next !== 0; next = index.next[next - 1] as number)
      if (!rows.isDead(next - 1)) yield this.numberOf(next - 1, 1);
  }

  /** Builds the adjacency lists of the live pairs. */
  *list(): Course<void> {
    const { rows } = this.#pairs;
    const from = this.#numbers[this.#by];
    const to = this.#numbers[1 - this.#by] as Int32Array;
    const { count } = this.#numberings[this.#by];
    this.memory?.take((count + 1 + rows.live) * 4);
    const start = new Int32Array(count + 1);
    for (let row = 0; row < rows.count; row++) {
      if (row % sliceWork === sliceWork - 1) yield;
      const number = from[row] as number;
      if (!rows.isDead(row)) start[number] = (start[number] as number) + 1;
    }
    for (let number = 1; number <= count; number++) {
      if (number % sliceWork === 0) yield;
      start[number] = (start[number] as number) + (start[number - 1] as number);
    }
    // Fills each list from its end, which leaves in `start` where it begins.
    const lists = new Int32Array(start[count] as number);
    for (let row = rows.count - 1; row >= 0; row--) {
      if (row % sliceWork === sliceWork - 1) yield;
      if (rows.isDead(row)) continue;
      const number = from[row] as number;
      const at = (start[number] as number) - 1;
      start[number] = at;
      lists[at] = to[row] as number;
    }
    this.memory?.free(this.start.byteLength + this.to.byteLength);
    this.start = start;
    this.to = lists;
  }
}

/**
 * A binary relation as rows of bits: one row per source, one bit per target.
 *
 * Sources and targets have dense numbers that never change, so rows of different times can be compared. A
 * published row is immutable, and sources with equal targets may share one. Computations longer than a slice
 * are generators (`Course`) that yield between slices.
 */
export abstract class BitsetRelation {
  /** By the number of a source: its targets. A missing row or word is empty. */
  rows: readonly Words[] = [];
  protected readonly sources = new Numbering();
  protected readonly targets = new Numbering();
  /** The relations from which the rows are computed. */
  protected abstract readonly edges: readonly Edges[];
  /** Bytes of the current rows, of the rows being computed, and of the pairs being written. */
  #held = 0;
  #made = 0;
  #writing = 0;
  /** Work since the last yield. */
  #spent = 0;

  protected abstract deriveRows(): Course<readonly Words[]>;

  get #memory(): MemoryMeter | null {
    return this.edges[0]?.memory ?? null;
  }

  /** Gives the memory back: the relation is no longer used. */
  drop(): void {
    this.#memory?.free(this.bytes);
  }

  /**
   * True if bitset rows may take no more memory than the pairs, as far as is known before computing them.
   * Call after `takeIn`.
   */
  abstract isWorthBeginning(): boolean | Course<boolean>;

  get bytes(): number {
    let bytes = this.sources.bytes + this.targets.bytes + this.#held + this.#made + this.#writing;
    for (const edges of this.edges) bytes += edges.bytes;
    return bytes;
  }

  /** Bytes of the current rows. */
  get rowBytes(): number {
    return this.#held;
  }

  /** Reads the current state of the relations from which the rows are computed. */
  *takeIn(): Course<void> {
    for (const edges of this.edges) yield* edges.look();
    if (!this.isPatched()) for (const edges of this.edges) yield* edges.list();
  }

  /** True if the change is so small that the current rows are patched, which needs no adjacency lists. */
  protected isPatched(): boolean {
    return false;
  }

  /** Starts the new rows as a copy of the current ones. */
  protected goOnFromRows(): Words[] {
    this.#made = this.#held;
    const rows = this.rows.slice();
    while (rows.length < this.sources.count) rows.push(noWords);
    return rows;
  }

  /** Makes the computed rows the current ones. */
  take(rows: readonly Words[]): void {
    this.rows = rows;
    this.#held = this.#made;
    this.#made = 0;
  }

  /**
   * The offset of each source's first pair if all pairs are written in order of source, and last their total
   * number.
   */
  *starts(): Course<Int32Array> {
    const { rows } = this;
    this.#memory?.take(rows.length * (4 + bytesOfMapEntry));
    const starts = new Int32Array(rows.length + 1);
    const counts = new Map<Words, number>();
    for (let source = 0; source < rows.length; source++) {
      const words = rows[source] as Words;
      let count = counts.get(words);
      if (count === undefined) counts.set(words, (count = countOf(words, words.length)));
      starts[source + 1] = (starts[source] as number) + count;
      if (this.isSliceOver(words.length)) yield;
    }
    this.#memory?.free(rows.length * bytesOfMapEntry);
    return starts;
  }

  /**
   * Writes out the pairs of the current rows, ordered by source, then by target; `onWritten` gets the number
   * of pairs written since its last call.
   */
  *pairs(starts: Int32Array, onWritten: (count: number) => void): Course<FirstRows> {
    const { rows } = this;
    const count = starts[rows.length] as number;
    // A few more, so that maintenance can add rows without copying all at once.
    const room = count + (count >>> 2);
    this.#memory?.take(room * 8 + rows.length * bytesOfMapEntry);
    this.#writing = room * 8;
    const [from, to] = [new Int32Array(room), new Int32Array(room)];
    const written = new Map<Words, number>();
    for (let source = 0; source < rows.length; source++) {
      const words = rows[source] as Words;
      const start = starts[source] as number;
      const end = starts[source + 1] as number;
      const id = this.sources.ids[source] as number;
      for (let at = start; at < end; at++) from[at] = id;
      const same = written.get(words);
      if (same === undefined) {
        this.#write(words, to, start);
        written.set(words, start);
      } else for (let at = start, of = same; at < end; at++, of++) to[at] = to[of] as number;
      onWritten(end - start);
      if (this.isSliceOver((same === undefined ? words.length : 0) + end - start)) yield;
    }
    this.#writing = 0;
    this.#memory?.free(rows.length * bytesOfMapEntry);
    return new FirstPairs([from, to], starts, rows, this.sources, this.targets);
  }

  #write(words: Words, column: Int32Array, from: number): void {
    const { ids } = this.targets;
    let at = from;
    for (let word = 0; word < words.length; word++)
      for (let left = words[word] as number; left !== 0; left &= left - 1)
        column[at++] = ids[(word << 5) + bitOf(left)] as number;
  }

  /** Computes the rows, by source, from what `takeIn` has read. */
  *derive(): Course<readonly Words[]> {
    this.#made = 0;
    const bytes = (this.sources.count + this.targets.count) * bytesOfNode;
    this.#memory?.take(bytes);
    const rows = yield* this.deriveRows();
    this.#memory?.free(bytes);
    return rows;
  }

  /** Bytes of one row. */
  protected get width(): number {
    return ((this.targets.count + 31) >>> 5) * 4;
  }

  /** An unshared copy of a row, at full width. */
  protected copy(words: Words): Words {
    this.#memory?.take(this.width);
    const copy = new Int32Array(this.width / 4);
    copy.set(words);
    this.#made += copy.byteLength;
    return copy;
  }

  /** Stops counting an intermediate row. */
  protected release(words: Words): void {
    this.#made -= words.byteLength;
    this.#memory?.free(words.byteLength);
  }

  /** Adds words and edges to the work of this slice; true if it is time to yield. */
  isSliceOver(work: number): boolean {
    this.#spent += work + 1;
    if (this.#spent < sliceWork) return false;
    this.#spent = 0;
    return true;
  }

  /** Writes the ids of a source and a target number to `pair`. */
  ids(source: number, target: number, pair: Int32Array): void {
    pair[0] = this.sources.ids[source] as number;
    pair[1] = this.targets.ids[target] as number;
  }
}

/** The pairs of a bitset relation in its order; the row of a pair is found by counting the bits before it. */
class FirstPairs implements FirstRows {
  readonly columns: readonly Int32Array[];
  readonly bytes: number;
  readonly #starts: Int32Array;
  readonly #rows: readonly Words[];
  readonly #sources: Numbering;
  readonly #targets: Numbering;

  constructor(
    columns: readonly Int32Array[],
    starts: Int32Array,
    rows: readonly Words[],
    sources: Numbering,
    targets: Numbering,
  ) {
    this.columns = columns;
    this.#starts = starts;
    this.#rows = rows;
    this.#sources = sources;
    this.#targets = targets;
    const distinct = new Set(rows);
    this.bytes = [...distinct].reduce((sum, { byteLength }) => sum + byteLength, starts.byteLength);
  }

  get count(): number {
    return this.#starts[this.#starts.length - 1] as number;
  }

  find(tuple: Int32Array): number {
    const source = this.#sources.find(tuple[0] as number);
    const target = this.#targets.find(tuple[1] as number);
    const words = this.#rows[source];
    if (words === undefined || target < 0) return -1;
    const word = target >>> 5;
    const bits = words[word] ?? 0;
    if ((bits & (1 << (target & 31))) === 0) return -1;
    const before = bits & ((1 << (target & 31)) - 1);
    return (this.#starts[source] as number) + countOf(words, word) + countBits(before);
  }
}

/** Sets a bit of a row. */
export function set(words: Words, bit: number): void {
  const word = bit >>> 5;
  words[word] = (words[word] as number) | (1 << (bit & 31));
}

/** Sets the bits of the other row, which is not longer. */
export function or(words: Words, other: Words): void {
  for (let word = 0; word < other.length; word++)
    words[word] = (words[word] as number) | (other[word] as number);
}

/** The number of bits set in the first `length` words. */
function countOf(words: Words, length: number): number {
  let count = 0;
  for (let word = 0; word < length; word++) count += countBits(words[word] as number);
  return count;
}

function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The index of the lowest bit that is set. */
export function bitOf(word: number): number {
  return 31 - Math.clz32(word & -word);
}
