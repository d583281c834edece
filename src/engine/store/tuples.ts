import { type ChainIndex, Indexes } from './chain-index.ts';
import { finish, fold, hashSeed } from './hash.ts';

/** The height of a row whose set keeps none. */
const unset = 0x7fffffff;
const dying = 1;
/** In `Tuples.dead`: a row whose death is settled. */
export const gone = 2;
/** So many slots are near enough without fetching them ahead. */
const slotsInCache = 0x4000;
const rowsHashedAtOnce = 1024;

/** Rows that a set is made with, which find themselves: no hash of them is kept. */
export interface FirstRows {
  readonly count: number;
  /** With room for `count` rows or more; the set's from then on. */
  readonly columns: readonly Int32Array[];
  /** What finding takes, without the columns. */
  readonly bytes: number;
  /** The row of the tuple, -1 where it is none of these. */
  find(tuple: Int32Array): number;
}

/**
 * A set of tuples of ids: append-only rows in columns, deduplicated, with secondary indexes made when first wanted.
 *
 * Row numbers never change, so a range of rows is a delta. A row can be killed: it stays where it is, in indexes too,
 * and whoever walks rows asks `isDead`; inserting its tuple again revives it in its place. With `heights`, every row
 * carries the least proof height found so far, and inserting a known tuple with a lesser height lowers it.
 */
export class Tuples {
  readonly arity: number;
  readonly columns: Int32Array[];
  /** Rows, dead ones included. */
  count = 0;
  /** Rows that are dead. */
  deadCount = 0;
  /** 0 for a row that is alive, `dying` for one whose death is not settled, `gone` for the others; null: all alive. */
  dead: Uint8Array | null = null;
  readonly heights: { of: Int32Array } | null;
  /** The known row that the last `insert` revived or gave a lesser height, or -1. */
  improved = -1;
  /** True where that row was `gone`. */
  wasRevived = false;
  #capacity = 16;
  /**
   * Open addressing: 0 is empty, else the low bits are 1 + a row (counted from the first that is hashed), as many bits as number the slots, and the others are those
   * of its hash. So a probe meets other tuples without looking at their columns, which lie elsewhere in memory.
   */
  #slots = new Int32Array(32);
  /** Of no meaning: it keeps the compiler from leaving `#fetch` out. */
  protected fetched = 0;
  readonly #indexes: Indexes;
  readonly #first: FirstRows | null;

  constructor(arity: number, withHeights = false, first: FirstRows | null = null) {
    this.arity = arity;
    this.#first = first;
    if (first !== null) {
      this.count = first.count;
      this.#capacity = (first.columns[0] as Int32Array).length;
    }
    this.columns =
      first !== null
        ? [...first.columns]
        : Array.from({ length: arity }, () => new Int32Array(this.#capacity));
    this.#indexes = new Indexes(this.columns);
    this.heights = withHeights ? { of: new Int32Array(this.#capacity) } : null;
  }

  get bytes(): number {
    const columns = this.arity + (this.heights === null ? 0 : 1);
    const dead = this.dead === null ? 0 : this.dead.byteLength;
    const first = this.#first === null ? 0 : this.#first.bytes;
    return this.#slots.byteLength + this.#capacity * 4 * columns + dead + this.#indexes.bytes + first;
  }

  /** Rows that are alive. */
  get live(): number {
    return this.count - this.deadCount;
  }

  isDead(row: number): boolean {
    return this.dead !== null && this.dead[row] !== 0;
  }

  /** The row of the tuple, or -1 where there is none that is alive. */
  find(tuple: Int32Array): number {
    let row = this.#first === null ? -1 : this.#first.find(tuple);
    if (row < 0) row = this.#rowIn(this.#slot(tuple, 0, hashOf(tuple, 0, this.arity)));
    return row >= 0 && this.isDead(row) ? -1 : row;
  }

  /** Kills a row that is alive; its death is not settled yet. */
  kill(row: number): void {
    this.dead ??= new Uint8Array(this.#capacity);
    this.dead[row] = dying;
    this.deadCount++;
  }

  /** Takes back the death of a row that is dying. */
  spare(row: number): void {
    if (this.dead === null || this.dead[row] !== dying) return;
    this.dead[row] = 0;
    this.deadCount--;
  }

  /** Settles the death of a row that is dying. */
  bury(row: number): void {
    if (this.dead !== null && this.dead[row] === dying) this.dead[row] = gone;
  }

  /**
   * Adds the tuple and returns its row, or -1 where its row was there. `improved` then tells whether that was dead and
   * is alive now, or got a lesser height. `height` is taken where the set keeps heights.
   */
  insert(tuple: Int32Array, height = unset): number {
    const first = this.#first === null ? -1 : this.#first.find(tuple);
    if (first >= 0) return this.#improve(first, height);
    const hash = hashOf(tuple, 0, this.arity);
    const slot = this.#slot(tuple, 0, hash);
    if (this.#slots[slot] !== 0) return this.#improve(this.#rowIn(slot), height);
    const row = this.#append(tuple, 0, slot, hash);
    if (this.heights !== null) this.heights.of[row] = height;
    this.improved = -1;
    return row;
  }

  /**
   * Adds `count` tuples to a set that keeps no heights and holds no dead row: `values` has one after the other, each with
   * `width` values, of which the first are the tuple's. `rows` is given the row of each, -1 where that was there; `hashes` is
   * for this to write. Returns how many were new.
   */
  insertAll(values: Int32Array, width: number, count: number, hashes: Int32Array, rows: Int32Array): number {
    const { arity } = this;
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
        (this.#first !== null && this.#first.find(values.subarray(from, from + arity)) >= 0);
      rows[at] = isKnown ? -1 : this.#append(values, from, slot, hash);
    }
    return this.count - before;
  }

  /** Looks at the slots of these hashes, so that they are at hand: the processor fetches many at the same time. */
  #fetch(hashes: Int32Array, count: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let seen = 0;
    for (let at = 0; at < count; at++) seen ^= slots[(hashes[at] as number) & mask] as number;
    this.fetched = seen;
  }

  /** Adds the tuple that begins at `at`, which belongs into this empty slot. */
  #append(values: Int32Array, at: number, slot: number, hash: number): number {
    const row = this.count;
    if (row === this.#capacity) this.#grow();
    const columns = this.columns;
    for (let position = 0; position < columns.length; position++)
      (columns[position] as Int32Array)[row] = values[at + position] as number;
    const slots = this.#slots;
    slots[slot] = (hash & ~(slots.length - 1)) | (row + 1 - this.#firstHashed);
    this.count = row + 1;
    this.#indexes.add(row);
    if ((this.count - this.#firstHashed) * 2 >= slots.length) this.#rehash();
    return row;
  }

  /** The row that stands in the slot; -1 where it is empty, and no row was there from the first. */
  #rowIn(slot: number): number {
    const found = (this.#slots[slot] as number) & (this.#slots.length - 1);
    return found === 0 ? -1 : found - 1 + this.#firstHashed;
  }

  /** Revives a row that was there, or gives it a lesser height. */
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
      this.heights.of[row] = height;
      this.improved = row;
    }
    return -1;
  }

  get #firstHashed(): number {
    return this.#first === null ? 0 : this.#first.count;
  }

  /** The index over these positions (ascending, at least one), made now if it is new. */
  index(positions: readonly number[]): ChainIndex {
    return this.#indexes.over(positions, this.count, this.#capacity);
  }

  /** The place of the row of a tuple with this hash, or the empty one where it belongs. */
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

  #grow(): void {
    this.#capacity = Math.max(16, this.#capacity * 2);
    for (let position = 0; position < this.arity; position++) {
      const grown = new Int32Array(this.#capacity);
      grown.set(this.columns[position] as Int32Array);
      this.columns[position] = grown;
    }
    if (this.dead !== null) {
      const grown = new Uint8Array(this.#capacity);
      grown.set(this.dead);
      this.dead = grown;
    }
    if (this.heights !== null) {
      const grown = new Int32Array(this.#capacity);
      grown.set(this.heights.of);
      this.heights.of = grown;
    }
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    const columns = this.columns;
    const first = this.#firstHashed;
    const hashes = new Int32Array(Math.min(this.count - first, rowsHashedAtOnce));
    for (let from = first; from < this.count; from += hashes.length) {
      const count = Math.min(hashes.length, this.count - from);
      hashes.fill(hashSeed);
      for (let position = 0; position < columns.length; position++) {
        const column = columns[position] as Int32Array;
        for (let at = 0; at < count; at++)
          hashes[at] = fold(hashes[at] as number, column[from + at] as number);
      }
      for (let at = 0; at < count; at++) {
        const hash = finish(hashes[at] as number);
        let slot = hash & mask;
        while (slots[slot] !== 0) slot = (slot + 1) & mask;
        slots[slot] = (hash & ~mask) | (from + at + 1 - first);
      }
    }
    this.#slots = slots;
  }
}

/** Of the tuple that begins at `at`. */
function hashOf(values: Int32Array, at: number, arity: number): number {
  if (arity === 2) return finish(fold(fold(hashSeed, values[at] as number), values[at + 1] as number));
  let hash = hashSeed;
  for (let position = 0; position < arity; position++) hash = fold(hash, values[at + position] as number);
  return finish(hash);
}
