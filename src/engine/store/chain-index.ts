import { finish, fold, hashSeed } from './hash-slots.ts';

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

  constructor(columns: readonly Int32Array[], positions: readonly number[], capacity: number) {
    this.#columns = columns;
    this.positions = positions;
    this.next = new Int32Array(Math.max(16, capacity));
  }

  /** Number of distinct keys. */
  get keys(): number {
    return this.#keys;
  }

  get bytes(): number {
    return this.next.byteLength + this.#heads.byteLength;
  }

  /** Adds a row whose columns are written. Rows must be added in ascending order. */
  add(row: number): void {
    if (row >= this.next.length) {
      const grown = new Int32Array(this.next.length * 2);
      grown.set(this.next);
      this.next = grown;
    }
    const slot = this.#slotFor(row);
    const head = this.#heads[slot] as number;
    if (head === 0) this.#keys++;
    this.next[row] = head;
    this.#heads[slot] = row + 1;
  }

  /** 1 + the newest row whose indexed columns equal `key`, or 0. */
  first(key: Int32Array): number {
    if (this.positions.length === 1) return this.firstOf(key[0] as number);
    let hash = hashSeed;
    const width = this.positions.length;
    for (let index = 0; index < width; index++) hash = fold(hash, key[index] as number);
    const heads = this.#heads;
    const mask = heads.length - 1;
    let slot = finish(hash) & mask;
    for (;;) {
      const head = heads[slot] as number;
      if (head === 0 || this.#matches(head - 1, key)) return head;
      slot = (slot + 1) & mask;
    }
  }

  /** `first` for an index over one column. */
  firstOf(id: number): number {
    const heads = this.#heads;
    if (this.#isDirect) return id < heads.length ? (heads[id] as number) : 0;
    const mask = heads.length - 1;
    const column = this.#columns[this.positions[0] as number] as Int32Array;
    let slot = finish(fold(hashSeed, id)) & mask;
    for (;;) {
      const head = heads[slot] as number;
      if (head === 0 || column[head - 1] === id) return head;
      slot = (slot + 1) & mask;
    }
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
    return this.#isDirect ? this.#idOf(row) : this.#slotOfRow(row);
  }

  /** The row's id in a single-column index. */
  #idOf(row: number): number {
    return (this.#columns[this.positions[0] as number] as Int32Array)[row] as number;
  }

  #slotOfRow(row: number): number {
    const positions = this.positions;
    const columns = this.#columns;
    let hash = hashSeed;
    for (let index = 0; index < positions.length; index++)
      hash = fold(hash, (columns[positions[index] as number] as Int32Array)[row] as number);
    const heads = this.#heads;
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

  /**
   * Makes room: one head per id if that takes little more than hashing would, else a hash table for twice the
   * keys.
   */
  #makeRoom(): void {
    const old = this.#heads;
    let room = 16;
    while (room < this.#keys * 4) room *= 2;
    this.#isDirect = this.positions.length === 1 && this.#greatest < room * 2;
    while (this.#isDirect && room <= this.#greatest) room *= 2;
    this.#heads = new Int32Array(room);
    for (const head of old)
      if (head !== 0) this.#heads[this.#isDirect ? this.#idOf(head - 1) : this.#slotOfRow(head - 1)] = head;
  }
}

/** The indexes of one relation, each made on first use. */
export class Indexes {
  readonly #columns: readonly Int32Array[];
  /** By the position if it is a single one, else by all of them. */
  readonly #byPositions = new Map<number | string, ChainIndex>();
  #list: ChainIndex[] = [];

  constructor(columns: readonly Int32Array[]) {
    this.#columns = columns;
  }

  get bytes(): number {
    return this.#list.reduce((sum, index) => sum + index.bytes, 0);
  }

  /** Adds a row, whose columns are written, to every index. */
  add(row: number): void {
    for (const index of this.#list) index.add(row);
  }

  /** The index over these positions (ascending, at least one); a new one gets the first `count` rows. */
  over(positions: readonly number[], count: number, capacity: number): ChainIndex {
    const [first] = positions;
    const key = positions.length === 1 && first !== undefined ? first : positions.join(',');
    let index = this.#byPositions.get(key);
    if (index === undefined) {
      index = new ChainIndex(this.#columns, positions, capacity);
      for (let row = 0; row < count; row++) index.add(row);
      this.#byPositions.set(key, index);
      this.#list.push(index);
    }
    return index;
  }
}
