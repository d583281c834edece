import { type ChainIndex, Indexes } from './chain-index.ts';
import { Enlarging, firstStepOf, nextCapacityOf, nextColumnCapacityOf, stepAfter } from './enlarging.ts';
import { finish, fold, hashSeed } from './hash-slots.ts';
import type { MemoryMeter } from './memory-meter.ts';
import { SortedRuns } from './sorted-runs.ts';

/** The height of rows in a set without heights. */
const unset = 0x7fffffff;
const dying = 1;
/** In `Tuples.dead`: a row whose deletion is settled (a tombstone). */
export const gone = 2;
/** Up to this many slots, prefetching does not pay. */
const slotsInCache = 0x4000;
const rowsHashedAtOnce = 1024;
/** Emptying more slots costs more than making a few new ones. */
const maxSlotsToReuse = 256;
/**
 * Larger tables of slots are rebuilt in steps: this many rows for that many insertions. Up to this size,
 * rebuilding takes three milliseconds, and in one go less than in steps. Each row of a step may touch a fresh page of
 * memory: a batch of insertions that moves 65,536 rows takes 40 ms, one of 2,048 rows 1.5.
 */
const maxSlotsAtOnce = 0x2_0000;
const insertionsBetweenMoves = 128;
const rowsPerMove = 256;
/** Rows moved by a look-up, so that a set that no longer grows is rebuilt too: few, since thousands follow one another. */
const rowsPerLookUp = 8;
/** So many rows at most are left out of the slots until somebody looks for a tuple: entering them takes three milliseconds. */
const maxUnhashed = maxSlotsAtOnce / 2;

/** Initial rows of a set, which have their own look-up: they are not hashed. */
export interface FirstRows {
  readonly count: number;
  /** With at least `count` elements; owned by the set from then on. */
  readonly columns: readonly Int32Array[];
  /** Bytes of the look-up structure, without the columns. */
  readonly bytes: number;
  /** The row of the tuple, -1 if it is none of these. */
  find(tuple: Int32Array): number;
}

/**
 * A set of tuples of ids: append-only rows in columns, deduplicated, with secondary indexes made on first
 * use.
 *
 * Row numbers never change, so a range of rows is a delta. A killed row stays in its position, also in
 * indexes, and whoever scans rows checks `isDead`; inserting its tuple again revives it. With `heights`,
 * every row has the least proof height found so far, and inserting a known tuple with a lesser height lowers
 * it.
 */
export class Tuples {
  readonly arity: number;
  readonly columns: Int32Array[];
  /** Number of rows, including dead ones. */
  count = 0;
  /** Number of dead rows. */
  deadCount = 0;
  /**
   * 0 for a live row, `dying` for one whose deletion is not settled, `gone` for the others; null: all alive.
   */
  dead: Uint8Array | null = null;
  readonly heights: { of: Int32Array } | null;
  /** The existing row that the last `insert` revived or gave a lesser height, or -1. */
  improved = -1;
  /** True if that row was `gone`. */
  wasRevived = false;
  #capacity = 16;
  /** The number of rows at which to look after the capacity. */
  #growAt = 16;
  /** The columns, and last the heights, that are being enlarged; null: none. */
  #enlarging: Enlarging<Int32Array>[] | null = null;
  /**
   * Open addressing: 0 is empty; else the low bits, as many as number the slots, are 1 + a row (counted from
   * the first hashed one), and the other bits are those of its hash. So most probes of other tuples do not
   * touch their columns.
   */
  #slots = new Int32Array(16);
  /**
   * While the slots are rebuilt: the slots before, which have the rows from `#moved` to `#toMove` that the
   * new ones lack.
   */
  #oldSlots: Int32Array | null = null;
  #moved = 0;
  #toMove = 0;
  /** Rows from here on are not in the slots yet: those of `appendDistinct`, until a tuple is looked for. */
  #unhashedFrom = 0;
  /** Meaningless; keeps the compiler from optimizing `#fetch` away. */
  protected fetched = 0;
  readonly #indexes: Indexes;
  #runs: SortedRuns | null = null;
  readonly #first: FirstRows | null;
  #memory: MemoryMeter | null;

  /** `memory`: what the set asks before it grows; its first rows were paid for by whoever made them. */
  constructor(
    arity: number,
    withHeights = false,
    first: FirstRows | null = null,
    memory: MemoryMeter | null = null,
  ) {
    this.arity = arity;
    this.#first = first;
    this.#memory = memory;
    if (first !== null) {
      this.count = first.count;
      this.#unhashedFrom = first.count;
      this.#capacity = (first.columns[0] as Int32Array).length;
      this.#growAt = firstStepOf(this.#capacity, this.count);
    }
    this.columns =
      first !== null
        ? [...first.columns]
        : Array.from({ length: arity }, () => new Int32Array(this.#capacity));
    this.#indexes = new Indexes(this.columns, memory);
    this.heights = withHeights ? { of: new Int32Array(this.#capacity) } : null;
    if (first === null) memory?.take(this.bytes);
    else memory?.adopt(this.bytes);
  }

  get bytes(): number {
    const columns = this.arity + (this.heights === null ? 0 : 1);
    const dead = this.dead === null ? 0 : this.dead.byteLength;
    const first = this.#first === null ? 0 : this.#first.bytes;
    const rows = this.#capacity + (this.#enlarging === null ? 0 : this.#nextCapacity);
    const slots = this.#slots.byteLength + (this.#oldSlots?.byteLength ?? 0);
    return slots + rows * 4 * columns + dead + this.#indexes.bytes + first + (this.#runs?.bytes ?? 0);
  }

  /** Its rows, dead ones too, in the order of columns, for joins of many rows. */
  get runs(): SortedRuns {
    this.#runs ??= new SortedRuns(this.columns, this.#memory);
    return this.#runs;
  }

  /** What it asks before it grows; null for stored facts. */
  get memory(): MemoryMeter | null {
    return this.#memory;
  }

  /** Gives its memory back. Whoever still reads it pays for what its indexes grow by. */
  release(): void {
    this.#runs?.release();
    this.#memory?.free(this.bytes);
    this.#memory = null;
    this.#indexes.release();
  }

  /** An empty set in place of this one, which gives its memory back. */
  emptied(): Tuples {
    const memory = this.#memory;
    this.release();
    return new Tuples(this.arity, this.heights !== null, null, memory);
  }

  /**
   * An empty set in place of this one, whose columns nobody reads any more: this one itself, if it is small and nothing beside its rows
   * was made.
   */
  reused(): Tuples {
    const hasMore =
      this.dead !== null || this.#first !== null || this.#runs !== null || !this.#indexes.isEmpty;
    if (hasMore || this.#slots.length > maxSlotsToReuse || this.#oldSlots !== null) return this.emptied();
    this.#slots.fill(0);
    this.count = 0;
    this.#unhashedFrom = 0;
    this.#growAt = firstStepOf(this.#capacity, 0);
    return this;
  }

  /** Number of live rows. */
  get live(): number {
    return this.count - this.deadCount;
  }

  isDead(row: number): boolean {
    return this.dead !== null && this.dead[row] !== 0;
  }

  /** The row of the tuple, or -1 if there is no live one. */
  find(tuple: Int32Array): number {
    let row = this.#first === null ? -1 : this.#first.find(tuple);
    if (row < 0) {
      this.#hashAll();
      const hash = hashOf(tuple, 0, this.arity);
      row = this.#rowIn(this.#slot(tuple, 0, hash));
      if (this.#oldSlots !== null) {
        if (row < 0) row = this.#oldRow(this.#oldSlots, tuple, 0, hash);
        this.#move(rowsPerLookUp);
      }
    }
    return row >= 0 && this.isDead(row) ? -1 : row;
  }

  /** `find` for `count` tuples, at most 1,024, whose values are in these columns, to `found`. */
  findEach(values: readonly Int32Array[], count: number, found: Int32Array): void {
    if (this.#first !== null || this.#oldSlots !== null) {
      const tuple = new Int32Array(this.arity);
      for (let at = 0; at < count; at++) found[at] = this.find(tupleAt({ columns: values }, at, tuple));
      return;
    }
    this.#hashAll();
    hashColumns(values, 0, count);
    if (this.#slots.length > slotsInCache) this.#fetch(hashesOfRows, count);
    const { columns, dead } = this;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const arity = columns.length;
    for (let at = 0; at < count; at++) {
      const hash = hashesOfRows[at] as number;
      let row = -1;
      for (let slot = hash & mask; row < 0; slot = (slot + 1) & mask) {
        const entry = slots[slot] as number;
        if (entry === 0) break;
        if (((entry ^ hash) & ~mask) !== 0) continue;
        row = (entry & mask) - 1;
        for (let position = 0; position < arity && row >= 0; position++)
          if ((columns[position] as Int32Array)[row] !== (values[position] as Int32Array)[at]) row = -1;
      }
      found[at] = row >= 0 && dead !== null && dead[row] !== 0 ? -1 : row;
    }
  }

  /** Kills a live row; its deletion is not settled yet. */
  kill(row: number): void {
    this.dead ??= this.#newDead();
    this.dead[row] = dying;
    this.deadCount++;
  }

  /** Takes back the deletion of a dying row. */
  spare(row: number): void {
    if (this.dead === null || this.dead[row] !== dying) return;
    this.dead[row] = 0;
    this.deadCount--;
  }

  /** Settles the deletion of a dying row. */
  bury(row: number): void {
    if (this.dead !== null && this.dead[row] === dying) this.dead[row] = gone;
  }

  /**
   * Adds the tuple and returns its row, or -1 if it existed. `improved` then tells whether it was dead and is
   * revived, or got a lesser height. `height` is used if the set has heights.
   */
  insert(tuple: Int32Array, height = unset): number {
    const first = this.#first === null ? -1 : this.#first.find(tuple);
    if (first >= 0) return this.#improve(first, height);
    this.#hashAll();
    const hash = hashOf(tuple, 0, this.arity);
    const slot = this.#slot(tuple, 0, hash);
    if (this.#slots[slot] !== 0) return this.#improve(this.#rowIn(slot), height);
    if (this.#oldSlots !== null) {
      const old = this.#oldRow(this.#oldSlots, tuple, 0, hash);
      if (old >= 0) return this.#improve(old, height);
    }
    const row = this.#append(tuple, 0, slot, hash);
    if (this.heights !== null) this.heights.of[row] = height;
    this.improved = -1;
    return row;
  }

  /**
   * Adds `count` tuples to a set without heights and dead rows: `values` has them consecutively, each with
   * `width` values, of which the first are the tuple's. `rows` gets the row of each, -1 if it existed;
   * `hashes` is scratch space. Returns how many were new.
   */
  insertAll(values: Int32Array, width: number, count: number, hashes: Int32Array, rows: Int32Array): number {
    const { arity } = this;
    this.#hashAll();
    for (let at = 0, from = 0; at < count; at++, from += width) {
      hashes[at] = hashOf(values, from, arity);
    }
    if (this.#slots.length > slotsInCache) this.#fetch(hashes, count);
    const before = this.count;
    for (let at = 0, from = 0; at < count; at++, from += width) {
      const hash = hashes[at] as number;
      const slot = this.#slot(values, from, hash);
      const isKnown =
        this.#slots[slot] !== 0 ||
        (this.#oldSlots !== null && this.#oldRow(this.#oldSlots, values, from, hash) >= 0) ||
        (this.#first !== null && this.#first.find(values.subarray(from, from + arity)) >= 0);
      rows[at] = isKnown ? -1 : this.#append(values, from, slot, hash);
    }
    return this.count - before;
  }

  /** As `insertAll` for a set without first rows and tuples `arity` values apart, but `rows` gets the row of each, new or not. */
  numberAll(values: Int32Array, count: number, hashes: Int32Array, rows: Int32Array): void {
    const { arity } = this;
    this.#hashAll();
    for (let at = 0; at < count; at++) hashes[at] = hashOf(values, at * arity, arity);
    if (this.#slots.length > slotsInCache) this.#fetch(hashes, count);
    for (let at = 0, from = 0; at < count; at++, from += arity) {
      const hash = hashes[at] as number;
      const slot = this.#slot(values, from, hash);
      let row = this.#rowIn(slot);
      if (row < 0 && this.#oldSlots !== null) row = this.#oldRow(this.#oldSlots, values, from, hash);
      rows[at] = row >= 0 ? row : this.#append(values, from, slot, hash);
    }
  }

  /**
   * Adds rows `from` to `to` of these columns, tuples that differ from each other and from all that the set has, to a set without
   * heights and first rows. Up to a number of rows they enter the slots only when a tuple is looked for: many never are.
   */
  appendDistinct(columns: readonly Int32Array[], from: number, to: number): void {
    for (let at = from; at < to; ) {
      if (this.count === this.#growAt) this.#grow();
      const end = Math.min(to, at + this.#growAt - this.count);
      for (const [position, column] of this.columns.entries())
        column.set((columns[position] as Int32Array).subarray(at, end), this.count);
      const row = this.count;
      this.count += end - at;
      this.#indexes.addAll(row, this.count);
      at = end;
    }
    if (this.count - this.#unhashedFrom > maxUnhashed) this.#hashAll();
  }

  /** Enters the rows that are not in the slots yet. */
  #hashAll(): void {
    if (this.#unhashedFrom < this.count) this.#hash(this.#unhashedFrom, this.count);
  }

  #hash(from: number, to: number): void {
    if (from === this.#firstHashed) this.#makeSlotsFor(to - from);
    if (this.#oldSlots !== null) this.#move(Math.ceil((to - from) / insertionsBetweenMoves) * rowsPerMove);
    // As many as there are slots for, before more are made.
    for (let at = from; at < to; ) {
      const room = (this.#slots.length >>> 1) - (at - this.#firstHashed);
      const end = Math.min(to, at + room);
      this.#enter(at, end);
      this.#unhashedFrom = at = end;
      if ((at - this.#firstHashed) * 2 >= this.#slots.length) this.#rehash();
    }
  }

  /** Makes slots for so many rows, of which none is in the slots. */
  #makeSlotsFor(rows: number): void {
    let room = this.#slots.length;
    while (rows * 2 >= room) room = nextCapacityOf(room);
    if (room === this.#slots.length) return;
    this.#memory?.take(room * 4 - this.#slots.byteLength);
    this.#slots = new Int32Array(room);
  }

  /** Prefetches the slots of these hashes, old and new, since the CPU can fetch many at the same time. */
  #fetch(hashes: Int32Array, count: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let seen = 0;
    for (let at = 0; at < count; at++) seen ^= slots[(hashes[at] as number) & mask] as number;
    const old = this.#oldSlots;
    if (old !== null) {
      const oldMask = old.length - 1;
      for (let at = 0; at < count; at++) seen ^= old[(hashes[at] as number) & oldMask] as number;
    }
    this.fetched = seen;
  }

  /** Adds the tuple that begins at `at`, to this empty slot. */
  #append(values: Int32Array, at: number, slot: number, hash: number): number {
    const row = this.count;
    if (row === this.#growAt) this.#grow();
    const columns = this.columns;
    for (let position = 0; position < columns.length; position++)
      (columns[position] as Int32Array)[row] = values[at + position] as number;
    const slots = this.#slots;
    slots[slot] = (hash & ~(slots.length - 1)) | (row + 1 - this.#firstHashed);
    this.count = row + 1;
    this.#unhashedFrom = this.count;
    this.#indexes.add(row);
    if (this.#oldSlots !== null && row % insertionsBetweenMoves === 0) this.#move(rowsPerMove);
    if ((this.count - this.#firstHashed) * 2 >= slots.length) this.#rehash();
    return row;
  }

  /** The row in the slot; -1 if it is empty. */
  #rowIn(slot: number): number {
    const found = (this.#slots[slot] as number) & (this.#slots.length - 1);
    return found === 0 ? -1 : found - 1 + this.#firstHashed;
  }

  /** The row of the tuple in the slots before they are rebuilt; -1 if they lack it. */
  #oldRow(old: Int32Array, tuple: Int32Array, at: number, hash: number): number {
    const mask = old.length - 1;
    const first = this.#firstHashed;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = old[slot] as number;
      if (found === 0) return -1;
      const row = (found & mask) - 1 + first;
      if (((found ^ hash) & ~mask) === 0 && this.#equals(row, tuple, at)) return row;
    }
  }

  #newDead(): Uint8Array {
    this.#memory?.take(this.#capacity);
    return new Uint8Array(this.#capacity);
  }

  /** Revives an existing row, or gives it a lesser height. */
  #improve(row: number, height: number): -1 {
    const isDead = this.isDead(row);
    this.improved = -1;
    this.wasRevived = false;
    if (isDead && this.dead !== null) {
      this.wasRevived = this.dead[row] === gone;
      this.dead[row] = 0;
      this.deadCount--;
      this.improved = row;
    }
    if (this.heights !== null && (isDead || height < (this.heights.of[row] as number))) {
      this.#lower(this.heights.of, row, height);
      this.improved = row;
    }
    return -1;
  }

  #lower(heights: Int32Array, row: number, height: number): void {
    heights[row] = height;
    const larger = this.#enlarging?.[this.arity];
    if (larger?.has(row) === true) larger.larger[row] = height;
  }

  get #firstHashed(): number {
    return this.#first === null ? 0 : this.#first.count;
  }

  /** The index over these positions (ascending, at least one), made on first use. */
  index(positions: readonly number[]): ChainIndex {
    return this.#indexes.over(positions, this.count, this.#capacity);
  }

  /** True if the index over these positions lacks at most so many rows. */
  hasIndex(positions: readonly number[], most: number): boolean {
    return this.count - this.indexToBuild(positions).rows <= most;
  }

  /** `index`, which may still lack rows; see `ChainIndex.takeIn`. */
  indexToBuild(positions: readonly number[]): ChainIndex {
    return this.#indexes.toBuild(positions, this.#capacity);
  }

  /** The slot of the tuple with this hash, or the empty one for it. */
  #slot(tuple: Int32Array, at: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const first = this.#firstHashed;
    let slot = hash & mask;
    for (;;) {
      const found = slots[slot] as number;
      if (found === 0) return slot;
      if (((found ^ hash) & ~mask) === 0 && this.#equals((found & mask) - 1 + first, tuple, at)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #equals(row: number, tuple: Int32Array, at: number): boolean {
    const columns = this.columns;
    if (columns.length === 2)
      return (
        (columns[0] as Int32Array)[row] === tuple[at] && (columns[1] as Int32Array)[row] === tuple[at + 1]
      );
    for (let position = 0; position < columns.length; position++)
      if ((columns[position] as Int32Array)[row] !== tuple[at + position]) return false;
    return true;
  }

  /**
   * Called when the columns have `#growAt` rows: doubles a few rows at once; makes the copy of many in steps,
   * before there is no more room.
   */
  #grow(): void {
    const { count } = this;
    this.#enlarging ??= this.#beginEnlarging();
    const all = this.#allColumns();
    if (count < this.#capacity) {
      for (const [at, column] of all.entries()) this.#enlarging[at]?.step(column, count);
      this.#growAt = stepAfter(this.#capacity, count);
      return;
    }
    const grown = this.#enlarging.map((each, at) => each.finish(all[at] as Int32Array, count));
    for (let position = 0; position < this.arity; position++)
      this.columns[position] = grown[position] as Int32Array;
    if (this.heights !== null) this.heights.of = grown[this.arity] as Int32Array;
    this.#enlarging = null;
    this.#memory?.free(this.#capacity * 4 * all.length);
    this.#growDead();
    this.#capacity = this.#nextCapacity;
    this.#growAt = firstStepOf(this.#capacity, count);
  }

  #growDead(): void {
    if (this.dead === null) return;
    this.#memory?.take(this.#nextCapacity - this.dead.byteLength);
    const grown = new Uint8Array(this.#nextCapacity);
    grown.set(this.dead);
    this.dead = grown;
  }

  get #nextCapacity(): number {
    return nextColumnCapacityOf(this.#capacity);
  }

  #allColumns(): readonly Int32Array[] {
    return this.heights === null ? this.columns : [...this.columns, this.heights.of];
  }

  #beginEnlarging(): Enlarging<Int32Array>[] {
    const all = this.#allColumns();
    this.#memory?.take(this.#nextCapacity * 4 * all.length);
    return all.map(() => new Enlarging(new Int32Array(this.#nextCapacity)));
  }

  /** Makes more slots: those of a large set are filled as rows are inserted and looked up. */
  #rehash(): void {
    this.#move(this.#unhashedFrom);
    const old = this.#slots;
    const room = nextCapacityOf(old.length);
    this.#memory?.take(room * 4);
    this.#slots = new Int32Array(room);
    this.#oldSlots = old;
    this.#moved = this.#firstHashed;
    this.#toMove = this.#unhashedFrom;
    if (old.length <= maxSlotsAtOnce) this.#move(this.#toMove);
  }

  /** Moves up to this many rows from the old slots to the new. */
  #move(most: number): void {
    const old = this.#oldSlots;
    if (old === null) return;
    const end = Math.min(this.#toMove, this.#moved + most);
    this.#enter(this.#moved, end);
    this.#moved = end;
    if (end < this.#toMove) return;
    this.#oldSlots = null;
    this.#memory?.free(old.byteLength);
  }

  /** Writes the rows, which the slots lack, to the slots. */
  #enter(start: number, end: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const columns = this.columns;
    const first = this.#firstHashed;
    for (let from = start; from < end; from += rowsHashedAtOnce) {
      const count = Math.min(rowsHashedAtOnce, end - from);
      hashColumns(columns, from, count);
      for (let at = 0; at < count; at++) {
        const hash = hashesOfRows[at] as number;
        let slot = hash & mask;
        while (slots[slot] !== 0) slot = (slot + 1) & mask;
        slots[slot] = (hash & ~mask) | (from + at + 1 - first);
      }
    }
  }
}

const hashesOfRows = new Int32Array(rowsHashedAtOnce);

/** Writes the hashes of `count` tuples in these columns, from row `from` on, to `hashesOfRows`. */
function hashColumns(columns: readonly Int32Array[], from: number, count: number): void {
  hashesOfRows.fill(hashSeed, 0, count);
  for (let position = 0; position < columns.length; position++) {
    const column = columns[position] as Int32Array;
    for (let at = 0; at < count; at++)
      hashesOfRows[at] = fold(hashesOfRows[at] as number, column[from + at] as number);
  }
  for (let at = 0; at < count; at++) hashesOfRows[at] = finish(hashesOfRows[at] as number);
}

/** The hash of the tuple that begins at `at`. */
function hashOf(values: Int32Array, at: number, arity: number): number {
  if (arity === 2) return finish(fold(fold(hashSeed, values[at] as number), values[at + 1] as number));
  let hash = hashSeed;
  for (let position = 0; position < arity; position++) hash = fold(hash, values[at + position] as number);
  return finish(hash);
}

/** Rows of ids in columns. */
interface InColumns {
  readonly columns: readonly Int32Array[];
}

/** Reads a row into `tuple`: as many of its first columns as the tuple has elements. */
export function tupleAt(rows: InColumns, row: number, tuple: Int32Array): Int32Array {
  for (let position = 0; position < tuple.length; position++)
    tuple[position] = (rows.columns[position] as Int32Array)[row] as number;
  return tuple;
}

/**
 * The distinct atoms of stored rows, numbered in the order of their first rows: rows with equal arguments are
 * one atom, whatever their scopes.
 */
export class DistinctAtoms {
  /** One tuple of arguments per atom. */
  readonly atoms: Tuples;
  readonly #tuple: Int32Array;

  constructor(arity: number) {
    this.atoms = new Tuples(arity);
    this.#tuple = new Int32Array(arity);
  }

  /** The number of the row's atom if it is new, which adds it; else -1. */
  add(rows: InColumns, row: number): number {
    return this.atoms.insert(tupleAt(rows, row, this.#tuple));
  }

  /** The number of the row's atom; -1 if it was not added. */
  find(rows: InColumns, row: number): number {
    return this.atoms.find(tupleAt(rows, row, this.#tuple));
  }
}

const maxRows = 1024;

/** True if the row equals the one before it. */
function isRepeated(columns: readonly Int32Array[], row: number): boolean {
  for (let position = 0; position < columns.length; position++) {
    const column = columns[position] as Int32Array;
    if (column[row] !== column[row - 1]) return false;
  }
  return true;
}

/** Writes rows, each followed by its number, to `values`, but for those equal to the one before. Returns how many. */
function interleave(columns: readonly Int32Array[], from: number, rows: number, values: Int32Array): number {
  const width = columns.length + 1;
  let count = 0;
  for (let row = from; row < from + rows; row++) {
    if (row > from && isRepeated(columns, row)) continue;
    const at = count * width;
    for (let position = 0; position < columns.length; position++)
      values[at + position] = (columns[position] as Int32Array)[row] as number;
    values[at + width - 1] = row;
    count++;
  }
  return count;
}

/**
 * A buffer of tuples to be inserted into a set in a batch: the set's slots are prefetched for all of them
 * before the first look-up, so that the CPU waits for memory once rather than again and again. A tuple may be
 * followed by values of its owner, which are not inserted.
 */
export class TupleBatch {
  /** Number of buffered tuples; set to 0 once they are no longer needed. */
  count = 0;
  /** The tuples, consecutively. */
  values = new Int32Array(0);
  /** By tuple, after `insertInto`: its row, -1 if it existed already. */
  readonly rows = new Int32Array(maxRows);
  readonly hashes = new Int32Array(maxRows);

  /** Buffers the registers named by `from`, in order. True if the buffer is now full. */
  take(registers: Int32Array, from: Int32Array): boolean {
    const width = from.length;
    let at = this.count * width;
    if (at + width > this.values.length) this.#grow(at + width);
    const values = this.values;
    for (let index = 0; index < width; index++) values[at++] = registers[from[index] as number] as number;
    return ++this.count === maxRows;
  }

  /**
   * Inserts the tuples, `width` values apart, into a set without heights and dead rows. Returns how many were
   * new.
   */
  insertInto(set: Tuples, width: number): number {
    return set.insertAll(this.values, width, this.count, this.hashes, this.rows);
  }

  /**
   * Buffers rows of these columns from `from` on, each followed by its number, up to row `to` or as many as there is room for. Leaves
   * out those equal to the one before. Returns the next row.
   */
  takeColumns(columns: readonly Int32Array[], from: number, to: number): number {
    const width = columns.length + 1;
    if (this.values.length < maxRows * width) this.#grow(maxRows * width);
    const count = Math.min(maxRows, to - from);
    this.count = interleave(columns, from, count, this.values);
    return from + count;
  }

  /** Inserts the first `count` rows of these columns into a set without first rows; writes the row of each to `numbers`. */
  numberColumns(columns: readonly Int32Array[], count: number, set: Tuples, numbers: Int32Array): void {
    const width = columns.length;
    if (this.values.length < maxRows * width) this.#grow(maxRows * width);
    const { values, rows } = this;
    for (let from = 0; from < count; from += maxRows) {
      const some = Math.min(maxRows, count - from);
      for (const [position, column] of columns.entries())
        for (let at = 0; at < some; at++) values[at * width + position] = column[from + at] as number;
      set.numberAll(values, some, this.hashes, rows);
      for (let at = 0; at < some; at++) numbers[from + at] = rows[at] as number;
    }
  }

  /** After `insertInto`: writes the values at this position of the new tuples to `to`, from `from` on. Returns their end. */
  newOnes(to: Int32Array, from: number, position: number): number {
    const { values, rows, count } = this;
    let end = from;
    for (let at = 0; at < count; at++)
      if ((rows[at] as number) >= 0) to[end++] = values[at * (position + 1) + position] as number;
    return end;
  }

  #grow(needed: number): void {
    const grown = new Int32Array(Math.max(needed, this.values.length * 2, 64));
    grown.set(this.values);
    this.values = grown;
  }
}
