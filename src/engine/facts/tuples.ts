import { type ChainIndex, Indexes } from './chain-index.ts';
import { finish, fold, hashSeed } from './hash.ts';

/** The height of a row whose set keeps none. */
const unset = 0x7fffffff;
const dying = 1;
/** In `Tuples.dead`: a row whose death is settled. */
export const gone = 2;

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
  hasRisen = false;
  #capacity = 16;
  #slots = new Int32Array(32);
  readonly #indexes: Indexes;

  constructor(arity: number, withHeights = false) {
    this.arity = arity;
    this.columns = Array.from({ length: arity }, () => new Int32Array(this.#capacity));
    this.#indexes = new Indexes(this.columns);
    this.heights = withHeights ? { of: new Int32Array(this.#capacity) } : null;
  }

  get bytes(): number {
    const columns = this.arity + (this.heights === null ? 0 : 1);
    const dead = this.dead === null ? 0 : this.dead.byteLength;
    return this.#slots.byteLength + this.#capacity * 4 * columns + dead + this.#indexes.bytes;
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
    const row = (this.#slots[this.#slot(tuple)] as number) - 1;
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
    const slot = this.#slot(tuple);
    const found = this.#slots[slot] as number;
    if (found !== 0) {
      const row = found - 1;
      const isDead = this.isDead(row);
      this.improved = -1;
      this.hasRisen = false;
      if (isDead && this.dead !== null) {
        this.hasRisen = this.dead[row] === gone;
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
    const row = this.count;
    if (row === this.#capacity) this.#grow();
    const columns = this.columns;
    for (let position = 0; position < columns.length; position++)
      (columns[position] as Int32Array)[row] = tuple[position] as number;
    if (this.heights !== null) this.heights.of[row] = height;
    this.#slots[slot] = row + 1;
    this.count = row + 1;
    this.#indexes.add(row);
    if (this.count * 2 > this.#slots.length) this.#rehash();
    this.improved = -1;
    return row;
  }

  /** The index over these positions (ascending, at least one), made now if it is new. */
  index(positions: readonly number[]): ChainIndex {
    return this.#indexes.over(positions, this.count, this.#capacity);
  }

  #slot(tuple: Int32Array): number {
    const columns = this.columns;
    const slots = this.#slots;
    const mask = slots.length - 1;
    if (columns.length === 2) {
      const first = columns[0] as Int32Array;
      const second = columns[1] as Int32Array;
      const a = tuple[0] as number;
      const b = tuple[1] as number;
      let slot = finish(fold(fold(hashSeed, a), b)) & mask;
      for (;;) {
        const found = slots[slot] as number;
        if (found === 0 || (first[found - 1] === a && second[found - 1] === b)) return slot;
        slot = (slot + 1) & mask;
      }
    }
    let hash = hashSeed;
    for (let position = 0; position < columns.length; position++)
      hash = fold(hash, tuple[position] as number);
    let slot = finish(hash) & mask;
    for (;;) {
      const found = slots[slot] as number;
      if (found === 0 || this.#equals(found - 1, tuple)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #equals(row: number, tuple: Int32Array): boolean {
    const columns = this.columns;
    for (let position = 0; position < columns.length; position++)
      if ((columns[position] as Int32Array)[row] !== tuple[position]) return false;
    return true;
  }

  #grow(): void {
    this.#capacity *= 2;
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
    for (let row = 0; row < this.count; row++) {
      let hash = hashSeed;
      for (let position = 0; position < columns.length; position++)
        hash = fold(hash, (columns[position] as Int32Array)[row] as number);
      let slot = finish(hash) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
    }
    this.#slots = slots;
  }
}
