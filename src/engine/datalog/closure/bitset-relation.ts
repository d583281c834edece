import { type FirstRows, Tuples } from '../../store/tuples.ts';
import type { Derived } from '../model/derived.ts';

/**
 * A relation of two arguments as rows of bits: one row for each source, one bit in it for each target.
 *
 * Sources and targets have numbers of their own, which stay: so rows of different times can be compared. A row that was
 * given away never changes, and sources with the same targets may share one. What is longer than a moment is a course,
 * that yields between moments.
 */
export type Course<Result> = Generator<void, Result, void>;
export type Words = Int32Array;

/** So many words or edges are a moment. */
const moment = 32_768;
/** So many bytes of rows may be worked out to see whether they are worth it. */
export const bytesToTry = 0x100_0000;
/** So many pairs have room from the start. */
const fewPairs = 0x20_0000;
export const noWords: Words = new Int32Array(0);

/** Numbers for ids, from 0 in the order they came. */
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

  /** -1 where the id has none. */
  find(id: number): number {
    this.#id[0] = id;
    return this.#ids.find(this.#id);
  }

  of(id: number): number {
    const known = this.find(id);
    return known >= 0 ? known : this.#ids.insert(this.#id);
  }
}

/** The pairs of a relation by their numbers, and those alive as lists by one of the two. */
export class Edges {
  /** Where the list of each number begins in `to`, and at last their end. */
  start = new Int32Array(1);
  to = new Int32Array(0);
  readonly #pairs: Derived;
  readonly #numberings: readonly [Numbering, Numbering];
  readonly #by: 0 | 1;
  /** By row of the relation. */
  readonly #numbers: [Int32Array, Int32Array] = [noWords, noWords];
  #numbered = 0;
  /** By row: 1 where it was alive at the last look. */
  #alive = new Uint8Array(0);
  /** Rows that came or went between the last two looks. */
  changed: number[] = [];

  /** `by` is the column that the lists are by. */
  constructor(pairs: Derived, numberings: readonly [Numbering, Numbering], by: 0 | 1 = 0) {
    this.#pairs = pairs;
    this.#numberings = numberings;
    this.#by = by;
  }

  get bytes(): number {
    const [from, to] = this.#numbers;
    const lists = this.start.byteLength + this.to.byteLength;
    return lists + from.byteLength + to.byteLength + this.#alive.byteLength;
  }

  /** Gives numbers to pairs that have come, and notes which came and went since it was last called. */
  *look(): Course<void> {
    const { rows } = this.#pairs;
    if (rows.count > this.#alive.length) {
      const room = Math.max(rows.count, this.#alive.length * 2);
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
      // Stored facts are joined from the newest to the oldest: so numbers, and pairs, are in the order that these came in.
      for (let row = rows.count - 1; row >= this.#numbered; row--) {
        numbers[row] = this.#numberings[side].of(ids[row] as number);
        if (row % moment === moment - 1) yield;
      }
    }
    this.#numbered = rows.count;
    const alive = this.#alive;
    this.changed = [];
    for (let row = 0; row < rows.count; row++) {
      if (row % moment === moment - 1) yield;
      const isAlive = rows.isDead(row) ? 0 : 1;
      if (alive[row] === isAlive) continue;
      alive[row] = isAlive;
      this.changed.push(row);
    }
  }

  /** The number of one side of a row. */
  numberOf(row: number, side: 0 | 1): number {
    return this.#numbers[side][row] as number;
  }

  /** Visits the numbers of the other side of all pairs alive with this number for its first. */
  *otherSides(number: number): Generator<number> {
    const { rows } = this.#pairs;
    const index = rows.index([0]);
    const id = this.#numberings[0].ids[number] as number;
    for (let next = index.firstOf(id); next !== 0; next = index.next[next - 1] as number)
      if (!rows.isDead(next - 1)) yield this.numberOf(next - 1, 1);
  }

  /** Makes the lists of the pairs alive. */
  *list(): Course<void> {
    const { rows } = this.#pairs;
    const from = this.#numbers[this.#by];
    const to = this.#numbers[1 - this.#by] as Int32Array;
    const { count } = this.#numberings[this.#by];
    const start = new Int32Array(count + 1);
    for (let row = 0; row < rows.count; row++) {
      if (row % moment === moment - 1) yield;
      const number = from[row] as number;
      if (!rows.isDead(row)) start[number] = (start[number] as number) + 1;
    }
    for (let number = 1; number <= count; number++) {
      if (number % moment === 0) yield;
      start[number] = (start[number] as number) + (start[number - 1] as number);
    }
    // From the end of each list to its beginning: then `start` is where it begins.
    const lists = new Int32Array(start[count] as number);
    for (let row = rows.count - 1; row >= 0; row--) {
      if (row % moment === moment - 1) yield;
      if (rows.isDead(row)) continue;
      const number = from[row] as number;
      const at = (start[number] as number) - 1;
      start[number] = at;
      lists[at] = to[row] as number;
    }
    this.start = start;
    this.to = lists;
  }
}

export abstract class BitsetRelation {
  /** By the number of a source: its targets. A row, or a word, that is not there has none. */
  rows: readonly Words[] = [];
  protected readonly sources = new Numbering();
  protected readonly targets = new Numbering();
  /** What the rows are worked out from. */
  protected abstract readonly edges: readonly Edges[];
  /** Bytes of the rows as they are, of those in the making, and of pairs that are being written. */
  #held = 0;
  #made = 0;
  #writing = 0;
  /** Work since the last moment was over. */
  #spent = 0;

  protected abstract deriveRows(): Course<readonly Words[]>;

  /** True where rows of bits may take no more than the pairs they stand for, as far as that is known. After `takeIn`. */
  abstract isWorthBeginning(): boolean | Course<boolean>;

  get bytes(): number {
    let bytes = this.sources.bytes + this.targets.bytes + this.#held + this.#made + this.#writing;
    for (const edges of this.edges) bytes += edges.bytes;
    return bytes;
  }

  /** Bytes of the rows as they are. */
  get rowBytes(): number {
    return this.#held;
  }

  /** Looks at what the rows are worked out from as it is now. */
  *takeIn(): Course<void> {
    for (const edges of this.edges) yield* edges.look();
    if (!this.isPatched()) for (const edges of this.edges) yield* edges.list();
  }

  /** True where what changed is so little that it is put into the rows as they are, and needs no lists. */
  protected isPatched(): boolean {
    return false;
  }

  /** The rows in the making go on from those as they are. */
  protected goOnFromRows(): Words[] {
    this.#made = this.#held;
    const rows = this.rows.slice();
    while (rows.length < this.sources.count) rows.push(noWords);
    return rows;
  }

  /** Takes the rows for its own. */
  take(rows: readonly Words[]): void {
    this.rows = rows;
    this.#held = this.#made;
    this.#made = 0;
  }

  /** Where the pairs of each source begin, if all are written one after the other; and at last how many there are. */
  *starts(): Course<Int32Array> {
    const { rows } = this;
    const starts = new Int32Array(rows.length + 1);
    const counts = new Map<Words, number>();
    for (let source = 0; source < rows.length; source++) {
      const words = rows[source] as Words;
      let count = counts.get(words);
      if (count === undefined) counts.set(words, (count = countOf(words, words.length)));
      starts[source + 1] = (starts[source] as number) + count;
      if (this.isMomentOver(words.length)) yield;
    }
    return starts;
  }

  /** The pairs of the rows as they are, in the order of sources, then of targets; `onWritten` is told how many more. */
  *pairs(starts: Int32Array, onWritten: (count: number) => void): Course<FirstRows> {
    const { rows } = this;
    const count = starts[rows.length] as number;
    let [from, to]: [Int32Array, Int32Array] = [noWords, noWords];
    const written = new Map<Words, number>();
    for (let source = 0; source < rows.length; source++) {
      const words = rows[source] as Words;
      const start = starts[source] as number;
      const end = starts[source + 1] as number;
      if (end > to.length) [from, to] = [grown(from, end, count), grown(to, end, count)];
      const id = this.sources.ids[source] as number;
      for (let at = start; at < end; at++) from[at] = id;
      const same = written.get(words);
      if (same === undefined) {
        this.#write(words, to, start);
        written.set(words, start);
      } else for (let at = start, of = same; at < end; at++, of++) to[at] = to[of] as number;
      this.#writing = to.byteLength * 2;
      onWritten(end - start);
      if (this.isMomentOver((same === undefined ? words.length : 0) + end - start)) yield;
    }
    this.#writing = 0;
    return new FirstPairs([from, to], starts, rows, this.sources, this.targets);
  }

  #write(words: Words, column: Int32Array, from: number): void {
    const { ids } = this.targets;
    let at = from;
    for (let word = 0; word < words.length; word++)
      for (let left = words[word] as number; left !== 0; left &= left - 1)
        column[at++] = ids[(word << 5) + bitOf(left)] as number;
  }

  /** The rows for what was taken in, by source. */
  *derive(): Course<readonly Words[]> {
    this.#made = 0;
    return yield* this.deriveRows();
  }

  /** Bytes of a row. */
  protected get width(): number {
    return ((this.targets.count + 31) >>> 5) * 4;
  }

  /** A row of its own. */
  protected copy(words: Words): Words {
    const copy = new Int32Array(this.width / 4);
    copy.set(words);
    this.#made += copy.byteLength;
    return copy;
  }

  /** Lets go of a row that was of use on the way alone. */
  protected release(words: Words): void {
    this.#made -= words.byteLength;
  }

  /** Counts words and edges: true where it is time to yield. */
  isMomentOver(work: number): boolean {
    this.#spent += work + 1;
    if (this.#spent < moment) return false;
    this.#spent = 0;
    return true;
  }

  /** The source and the target that these numbers stand for. */
  ids(source: number, target: number, pair: Int32Array): void {
    pair[0] = this.sources.ids[source] as number;
    pair[1] = this.targets.ids[target] as number;
  }
}

/** Pairs in the order of rows of bits, each found by counting the bits before it. */
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

export function set(words: Words, bit: number): void {
  const word = bit >>> 5;
  words[word] = (words[word] as number) | (1 << (bit & 31));
}

/** Adds the bits of the other, which is as long or shorter. */
export function or(words: Words, other: Words): void {
  for (let word = 0; word < other.length; word++)
    words[word] = (words[word] as number) | (other[word] as number);
}

/** How many bits the first words have. */
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

/** The place of the lowest bit that is set. */
export function bitOf(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/** A larger copy with room for so many, and no more than that there will be `most`. */
function grown(column: Int32Array, room: number, most: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.min(most, Math.max(room, column.length * 2, fewPairs)));
  larger.set(column);
  return larger;
}
