import {
  Enlarging,
  firstStepOf,
  maxRowsAtOnce,
  nextCapacityOf,
  nextColumnCapacityOf,
  stepAfter,
} from './enlarging.ts';
import { finish, fold, hashSeed } from './hash-slots.ts';
import type { MemoryMeter } from './memory-meter.ts';

/** Larger tables of heads are rebuilt in steps: this many slots for that many rows. */
const maxHeadsAtOnce = 2 * maxRowsAtOnce;
const rowsBetweenMoves = 128;
const slotsPerMove = 64 * rowsBetweenMoves;
/** Slots moved by a look-up that must ask the old heads too. */
const slotsPerLookUp = 64;
const minLinkedAtOnce = 256;
const maxHeadsPerRow = 4;

/**
 * A secondary index: the rows of each key as a linked chain, newest first.
 *
 * A single-column key is an array index if its ids are not many more than its keys; any other key is hashed.
 * The index reads its owner's columns, which the owner may replace by larger ones, and has only rows that the
 * owner added. Rows are never removed; the reader decides which rows of a chain count.
 */
export class ChainIndex {
  readonly positions: readonly number[];
  /** `next[row]` is 1 + the next older row with the same key, 0 at the end. */
  next: Int32Array;
  readonly #columns: readonly Int32Array[];
  /** `heads[slot]` is 1 + the newest row of a key, 0 if empty. */
  #heads = new Int32Array(16);
  /** True if the slot of a key is the key itself. */
  #isDirect = false;
  /** For a single column: the greatest id. */
  #greatest = 0;
  #keys = 0;
  /** Number of rows that it has: the first ones of its owner. */
  #rows = 0;
  /** The number of rows at which to look after the room for rows. */
  #growAt: number;
  #enlarging: Enlarging<Int32Array> | null = null;
  /**
   * While the heads are rebuilt: those before. The slots from `#moved` on may have keys that the new heads
   * lack; where both have a key, the new head is right.
   */
  #old: { readonly heads: Int32Array; readonly isDirect: boolean } | null = null;
  #moved = 0;
  #memory: MemoryMeter | null;

  constructor(
    columns: readonly Int32Array[],
    positions: readonly number[],
    capacity: number,
    memory: MemoryMeter | null = null,
  ) {
    const room = Math.max(16, capacity);
    memory?.take((room + this.#heads.length) * 4);
    this.#memory = memory;
    this.#columns = columns;
    this.positions = positions;
    this.next = new Int32Array(room);
    this.#growAt = firstStepOf(room, 0);
  }

  /** From now on it asks nobody before it grows. */
  release(): void {
    this.#memory = null;
  }

  /** Number of distinct keys. */
  get keys(): number {
    return this.#keys;
  }

  get bytes(): number {
    const larger = this.#enlarging?.larger.byteLength ?? 0;
    return this.next.byteLength + larger + this.#heads.byteLength + (this.#old?.heads.byteLength ?? 0);
  }

  /** Number of rows that it has: less than its owner's while it is built. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds the next row, whose columns are written. */
  add(row: number): void {
    if (row === this.#growAt) this.#grow(row);
    const slot = this.#slotFor(row);
    const old = this.#old;
    let head = this.#heads[slot] as number;
    if (head === 0 && old !== null) head = this.#oldHeadOf(old, row);
    if (head === 0) this.#keys++;
    this.next[row] = head;
    this.#heads[slot] = row + 1;
    this.#rows = row + 1;
    if (old !== null && row % rowsBetweenMoves === 0) this.#move(slotsPerMove);
  }

  /** Adds up to `most` of the rows before `count` that it lacks. True if it has them all. */
  takeIn(count: number, most: number): boolean {
    const end = Math.min(count, this.#rows + most);
    if (end - this.#rows >= minLinkedAtOnce) {
      if (this.positions.length === 1) this.#link(end, count);
      else if (this.positions.length === 2) this.#linkPairs(end);
    }
    while (this.#rows < end) this.add(this.#rows);
    return this.#rows >= count;
  }

  /**
   * Adds the rows before `end` to a single-column index in one loop, if one head per id takes no more than
   * `maxHeadsPerRow` for each; else none. The heads get room for the rows before `count`.
   */
  #link(end: number, count: number): void {
    const column = this.#columns[this.positions[0] as number] as Int32Array;
    let greatest = Math.max(this.#greatest, greatestOf(column, this.#rows, end));
    if (end > this.next.length || greatest >= end * maxHeadsPerRow) return;
    this.#move(Number.POSITIVE_INFINITY);
    if (!this.#isDirect || greatest >= this.#heads.length) {
      const expected = greatestOf(column, end, count);
      if (expected < end * maxHeadsPerRow) greatest = Math.max(greatest, expected);
      this.#greatest = greatest;
      this.#makeHeads(true);
      this.#move(Number.POSITIVE_INFINITY);
    }
    this.#greatest = greatest;
    const { next } = this;
    const heads = this.#heads;
    let keys = this.#keys;
    for (let row = this.#rows; row < end; row++) {
      const id = column[row] as number;
      const head = heads[id] as number;
      if (head === 0) keys++;
      next[row] = head;
      heads[id] = row + 1;
    }
    this.#keys = keys;
    this.#rows = end;
    if (end > this.#growAt) this.#growAt = end;
    // Few keys that are far apart take less room if they are hashed.
    if (end === count && !this.#suitsDirect()) {
      this.#makeHeads(false);
      this.#move(Number.POSITIVE_INFINITY);
    }
  }

  /** Adds the rows before `end` to an index over two columns. */
  #linkPairs(end: number): void {
    while (this.#rows < end) {
      // It makes the room that the loop may lack.
      this.add(this.#rows);
      if (this.#old === null) this.#addPairs(Math.min(end, this.#growAt));
    }
  }

  /** Adds rows before `to`, for which there is room, in one loop, until there is none for another key. */
  #addPairs(to: number): void {
    const [left, right] = this.positions.map((position) => this.#columns[position]) as [
      Int32Array,
      Int32Array,
    ];
    const { next } = this;
    const heads = this.#heads;
    const mask = heads.length - 1;
    let row = this.#rows;
    let keys = this.#keys;
    for (; row < to && keys * 2 < heads.length; row++) {
      const one = left[row] as number;
      const other = right[row] as number;
      let slot = finish(fold(fold(hashSeed, one), other)) & mask;
      let head = heads[slot] as number;
      while (head !== 0 && (left[head - 1] !== one || right[head - 1] !== other)) {
        slot = (slot + 1) & mask;
        head = heads[slot] as number;
      }
      if (head === 0) keys++;
      next[row] = head;
      heads[slot] = row + 1;
    }
    this.#keys = keys;
    this.#rows = row;
  }

  /** 1 + the newest row whose indexed columns equal `key`, or 0. */
  first(key: Int32Array): number {
    if (this.positions.length === 1) return this.firstOf(key[0] as number);
    const head = this.#heads[this.#slotOfKey(this.#heads, key)] as number;
    if (head !== 0 || this.#old === null) return head;
    const { heads } = this.#old;
    const old = heads[this.#slotOfKey(heads, key)] as number;
    this.#move(slotsPerLookUp);
    return old;
  }

  /** `first` for each of `count` keys, to `heads`. By position, in the order of the index: a column of ids, or one for all. */
  firstOfEach(keys: readonly (Int32Array | number)[], count: number, heads: Int32Array): void {
    const [ids] = keys;
    if (this.#isDirect && this.#old === null && ids instanceof Int32Array) {
      const of = this.#heads;
      for (let at = 0; at < count; at++) {
        const id = ids[at] as number;
        heads[at] = id < of.length ? (of[id] as number) : 0;
      }
      return;
    }
    const key = new Int32Array(keys.length);
    for (let at = 0; at < count; at++) {
      for (let index = 0; index < key.length; index++) {
        const each = keys[index] as Int32Array | number;
        key[index] = typeof each === 'number' ? each : (each[at] as number);
      }
      heads[at] = firstIn(this, key);
    }
  }

  /** `first` for an index over one column. */
  firstOf(id: number): number {
    const head = this.#headOf(this.#heads, this.#isDirect, id);
    if (head !== 0 || this.#old === null) return head;
    const old = this.#headOf(this.#old.heads, this.#old.isDirect, id);
    this.#move(slotsPerLookUp);
    return old;
  }

  /** The slot of the key of several columns, or the empty one for it. */
  #slotOfKey(heads: Int32Array, key: Int32Array): number {
    let hash = hashSeed;
    const width = this.positions.length;
    for (let index = 0; index < width; index++) hash = fold(hash, key[index] as number);
    const mask = heads.length - 1;
    let slot = finish(hash) & mask;
    for (;;) {
      const head = heads[slot] as number;
      if (head === 0 || this.#matches(head - 1, key)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #headOf(heads: Int32Array, isDirect: boolean, id: number): number {
    if (isDirect) return id < heads.length ? (heads[id] as number) : 0;
    const mask = heads.length - 1;
    const column = this.#columns[this.positions[0] as number] as Int32Array;
    let slot = finish(fold(hashSeed, id)) & mask;
    for (;;) {
      const head = heads[slot] as number;
      if (head === 0 || column[head - 1] === id) return head;
      slot = (slot + 1) & mask;
    }
  }

  #oldHeadOf({ heads, isDirect }: { heads: Int32Array; isDirect: boolean }, row: number): number {
    if (isDirect) return this.#headOf(heads, true, this.#idOf(row));
    return heads[this.#slotOfRow(heads, row)] as number;
  }

  #matches(row: number, key: Int32Array): boolean {
    const positions = this.positions;
    for (let index = 0; index < positions.length; index++) {
      if ((this.#columns[positions[index] as number] as Int32Array)[row] !== key[index]) return false;
    }
    return true;
  }

  /** The slot of the row's key; makes room for one more key. */
  #slotFor(row: number): number {
    if (this.positions.length === 1) {
      const id = this.#idOf(row);
      if (id > this.#greatest) this.#greatest = id;
      if (this.#isDirect) {
        if (id >= this.#heads.length) this.#makeRoom();
        if (this.#isDirect) return id;
      }
    }
    if (this.#keys * 2 >= this.#heads.length) this.#makeRoom();
    return this.#isDirect ? this.#idOf(row) : this.#slotOfRow(this.#heads, row);
  }

  /** The row's id in a single-column index. */
  #idOf(row: number): number {
    return (this.#columns[this.positions[0] as number] as Int32Array)[row] as number;
  }

  #slotOfRow(heads: Int32Array, row: number): number {
    const positions = this.positions;
    const columns = this.#columns;
    let hash = hashSeed;
    for (let index = 0; index < positions.length; index++)
      hash = fold(hash, (columns[positions[index] as number] as Int32Array)[row] as number);
    const mask = heads.length - 1;
    let slot = finish(hash) & mask;
    for (;;) {
      const head = heads[slot] as number;
      if (head === 0 || this.#sameKey(head - 1, row)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #sameKey(left: number, right: number): boolean {
    const positions = this.positions;
    for (let index = 0; index < positions.length; index++) {
      const column = this.#columns[positions[index] as number] as Int32Array;
      if (column[left] !== column[right]) return false;
    }
    return true;
  }

  /** Enlarges the room for rows: at once for a few, else in steps; see `Enlarging`. */
  #grow(count: number): void {
    const { next } = this;
    if (this.#enlarging === null) {
      const room = nextColumnCapacityOf(next.length);
      this.#memory?.take(room * 4);
      this.#enlarging = new Enlarging(new Int32Array(room));
    }
    if (count < next.length) {
      this.#enlarging.step(next, count);
      this.#growAt = stepAfter(next.length, count);
      return;
    }
    this.next = this.#enlarging.finish(next, count);
    this.#enlarging = null;
    this.#memory?.free(next.byteLength);
    this.#growAt = firstStepOf(this.next.length, count);
  }

  /**
   * Makes room: one head per id if that takes little more than hashing would, else a hash table for twice the
   * keys. Many heads are moved as rows are added and looked up.
   */
  #makeRoom(): void {
    this.#move(Number.POSITIVE_INFINITY);
    this.#makeHeads(this.positions.length === 1 && this.#suitsDirect());
    if ((this.#old?.heads.length ?? 0) <= maxHeadsAtOnce) this.#move(Number.POSITIVE_INFINITY);
  }

  /** True if one head per id takes little more than a hash table for twice the keys. */
  #suitsDirect(): boolean {
    return this.#greatest < this.#hashedRoom() * 2;
  }

  #hashedRoom(): number {
    let room = 16;
    while (room < this.#keys * 4) room = nextCapacityOf(room);
    return room;
  }

  /** Replaces the heads, to which `#move` then moves the old ones. */
  #makeHeads(isDirect: boolean): void {
    const old = { heads: this.#heads, isDirect: this.#isDirect };
    let room = 16;
    if (isDirect) while (room <= this.#greatest) room = nextColumnCapacityOf(room);
    else room = this.#hashedRoom();
    this.#isDirect = isDirect;
    this.#memory?.take(room * 4);
    this.#heads = new Int32Array(room);
    this.#old = old;
    this.#moved = 0;
  }

  /** Moves up to this many of the old heads to the new ones. */
  #move(most: number): void {
    if (this.#old === null) return;
    const { heads: old } = this.#old;
    const heads = this.#heads;
    const end = Math.min(old.length, this.#moved + most);
    for (let at = this.#moved; at < end; at++) {
      const head = old[at] as number;
      if (head === 0) continue;
      const slot = this.#isDirect ? this.#idOf(head - 1) : this.#slotOfRow(heads, head - 1);
      if (heads[slot] === 0) heads[slot] = head;
    }
    this.#moved = end;
    if (end < old.length) return;
    this.#old = null;
    this.#memory?.free(old.byteLength);
  }
}

function greatestOf(column: Int32Array, from: number, end: number): number {
  let greatest = 0;
  for (let row = from; row < end; row++)
    if ((column[row] as number) > greatest) greatest = column[row] as number;
  return greatest;
}

/** 1 + the newest row with the key, or 0: `first`, or `firstOf` for an index over one column. */
export function firstIn(index: ChainIndex, key: Int32Array): number {
  return key.length === 1 ? index.firstOf(key[0] as number) : index.first(key);
}

/** Adding a row to an index costs more than scanning this many. */
const maxScans = 4;

/**
 * Looks for the key among the rows before `from`, newest first, down to `end`: returns 1 + the first row found, or `end`.
 * `key` may have room for more than the positions.
 */
export function lastWithKey(
  columns: readonly Int32Array[],
  positions: readonly number[],
  key: Int32Array,
  from: number,
  end: number,
): number {
  const column = columns[positions[0] as number] as Int32Array;
  const value = key[0] as number;
  for (let row = from - 1; row >= end; row--) {
    // The library's loop needs no warm-up, but has no end before the first row.
    if (end === 0) row = column.lastIndexOf(value, row);
    if (row < end) break;
    if (column[row] !== value) continue;
    let at = 1;
    while (at < positions.length && (columns[positions[at] as number] as Int32Array)[row] === key[at]) at++;
    if (at === positions.length) return row + 1;
  }
  return end;
}

/** How often rows were scanned for want of an index over these positions. */
interface Scans {
  readonly positions: readonly number[];
  count: number;
}

function isOver(positions: readonly number[], other: readonly number[]): boolean {
  if (positions === other) return true;
  if (positions.length !== other.length) return false;
  for (let index = 0; index < positions.length; index++) if (positions[index] !== other[index]) return false;
  return true;
}

/** The indexes of one relation, each made on first use. */
export class Indexes {
  readonly #columns: readonly Int32Array[];
  /** A relation has few, and most of the many have none. */
  readonly #list: ChainIndex[] = [];
  #scans: Scans[] | null = null;
  #memory: MemoryMeter | null;

  /** `memory`: what indexes ask before they grow; null for stored facts. */
  constructor(columns: readonly Int32Array[], memory: MemoryMeter | null = null) {
    this.#columns = columns;
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  get bytes(): number {
    return this.#list.reduce((sum, index) => sum + index.bytes, 0);
  }

  /** From now on they ask nobody before they grow. */
  release(): void {
    this.#memory = null;
    for (const index of this.#list) index.release();
  }

  /** Adds a row, whose columns are written, to every index that has all rows before it. */
  add(row: number): void {
    for (const index of this.#list) if (index.rows === row) index.add(row);
  }

  /** `add` for rows `from` to `to`. */
  addAll(from: number, to: number): void {
    for (const index of this.#list) if (index.rows === from) index.takeIn(to, to - from);
  }

  /** The index over these positions (ascending, at least one), with the first `count` rows. */
  over(positions: readonly number[], count: number, capacity: number): ChainIndex {
    const index = this.toBuild(positions, capacity);
    if (index.rows < count) index.takeIn(count, count);
    return index;
  }

  /**
   * `toBuild`, but null for the first few look-ups while there is no index: scanning the rows then costs less, in time and in
   * memory. The caller does.
   */
  toUse(positions: readonly number[], capacity: number): ChainIndex | null {
    const known = this.#over(positions);
    if (known !== null) return known;
    const all = (this.#scans ??= []);
    let scans = all.find((each) => isOver(each.positions, positions));
    if (scans === undefined) all.push((scans = { positions, count: 0 }));
    return scans.count++ < maxScans ? null : this.toBuild(positions, capacity);
  }

  /** The index over these positions, which may lack rows: `takeIn` adds them. */
  toBuild(positions: readonly number[], capacity: number): ChainIndex {
    let index = this.#over(positions);
    if (index === null) {
      index = new ChainIndex(this.#columns, positions, capacity, this.#memory);
      this.#list.push(index);
    }
    return index;
  }

  #over(positions: readonly number[]): ChainIndex | null {
    for (const index of this.#list) if (isOver(index.positions, positions)) return index;
    return null;
  }
}
