import { assert } from '../base/assert.ts';
import type { Slices } from '../base/slices.ts';
import type { Metadata } from '../contract/facts.ts';
import { AtomCopies } from './atom-copies.ts';
import { type ChainIndex, Indexes } from './chain-index.ts';
import { finish, fold, hashSeed } from './hash.ts';
import { HashSlots, mostTogether } from './hash-slots.ts';

/** Some things are kept of so many rows together: those whose number is the same but for so many low bits. */
export const blockBits = 6;

/**
 * The stored facts of one predicate, arity and truth value: rows in many versions.
 *
 * A row is born in one generation and dies in another, and is never changed between; an update kills the old
 * version and adds a new one. So a reader that keeps to a generation and a time sees one state while writers go
 * on. The last column is the scope (0: without scope). Validity and metadata lie beside, since few facts have them.
 */
export class StoredRelation {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  /** `arity` argument columns, then the scope. */
  readonly columns: Int32Array[];
  /** Its number in the store that it belongs to, which gives it one. */
  place = -1;
  count = 0;
  /** Rows that have not died. */
  live = 0;
  birth: Float64Array = new Float64Array(16);
  /** null until a row dies; Infinity: alive. */
  death: Float64Array | null = null;
  validFrom: Float64Array | null = null;
  validUntil: Float64Array | null = null;
  /** The tenant's running number of the fact that the row is a version of. */
  number: Int32Array = new Int32Array(16);
  readonly metadata = new Map<number, Metadata>();
  /** By block of rows: the last generation in which one of them died; null until one does. */
  #lastDeaths: Float64Array | null = null;
  /** Of the generation that last changed something: how many more rows are alive since. */
  #latest = { generation: 0, net: 0 };
  /** Rows born in that generation in the place of others: which. */
  readonly #replaced = new Map<number, number>();
  /** Of the versions that are no longer held the latest died in this generation: see `compacted`. */
  forgottenThrough = 0;
  /** When rows that can go are counted again: once this generation can, or so many rows are there. */
  #lookAgain = { generation: 0, count: 0 };
  #capacity = 16;
  /** Of each fact the newest version. */
  #slots = new HashSlots(16);
  readonly #indexes: Indexes;
  #copies: AtomCopies | null = null;
  #spansScopes = false;

  constructor(predicate: string, arity: number, negated: boolean) {
    this.predicate = predicate;
    this.arity = arity;
    this.negated = negated;
    this.columns = Array.from({ length: arity + 1 }, () => new Int32Array(this.#capacity));
    this.#indexes = new Indexes(this.columns);
  }

  /**
   * A relation of these rows, ready to be read. The columns become its own; rows that are dead must be the newest
   * version of their fact.
   */
  static async restored(kept: RestoredRows, slices: Slices): Promise<StoredRelation> {
    const relation = new StoredRelation(kept.predicate, kept.arity, kept.negated);
    await relation.#restore(kept, slices);
    return relation;
  }

  get bytes(): number {
    let bytes = this.#slots.bytes + this.#capacity * (4 * (this.arity + 1) + 8 + 4);
    for (const column of [this.death, this.validFrom, this.validUntil, this.#lastDeaths])
      bytes += column?.byteLength ?? 0;
    return bytes + this.#indexes.bytes + (this.#copies?.bytes ?? 0);
  }

  /** True where its rows, dead ones included, are of more than one scope: only then can an atom have copies. */
  get spansScopes(): boolean {
    return this.#spansScopes;
  }

  /** Its atoms with the rows of each, made now if they are new. Who reads takes in the rows that it can see. */
  get copies(): AtomCopies {
    this.#copies ??= new AtomCopies(this.columns);
    return this.#copies;
  }

  /** The newest version (dead or alive) of the fact with these argument ids and, last, its scope; or -1. */
  find(identity: Int32Array): number {
    const slot = this.#slot(identity, hashOf(identity));
    return slot < 0 ? -1 : this.#slots.number(slot);
  }

  /**
   * Fetches what `find` will read for these facts, `mostTogether` at most: see `HashSlots.fetch`. Their argument ids stand one
   * after the other from `start` on, their scopes apart.
   */
  fetch(ids: Int32Array, start: number, scopes: Int32Array, count: number): void {
    let next = start;
    for (let at = 0; at < count; at++) {
      let hash = hashSeed;
      for (let position = 0; position < this.arity; position++) hash = fold(hash, ids[next++] as number);
      hashes[at] = finish(fold(hash, scopes[at] as number));
    }
    this.#slots.fetch(hashes, count, fetched);
  }

  /** The version of the fact that a reader of this generation or the one before it looks at, dead or alive; or -1. */
  findAt(identity: Int32Array, generation: number): number {
    return this.versionAt(this.find(identity), generation);
  }

  /** Of a newest version: the one that a reader of this generation or the one before it looks at; or -1. */
  versionAt(row: number, generation: number): number {
    let version = row;
    while (version >= 0 && (this.birth[version] as number) > generation)
      version = this.#replaced.get(version) ?? -1;
    return version;
  }

  /** Rows alive in this generation, the last one or the one before it. */
  liveAt(generation: number): number {
    return this.live - (this.#latest.generation > generation ? this.#latest.net : 0);
  }

  /** Adds a version. `identity` holds the argument ids and the scope; bounds of validity may be infinite. */
  append(
    identity: Int32Array,
    generation: number,
    number: number,
    validFrom: number,
    validUntil: number,
    metadata: Metadata | null,
  ): number {
    const row = this.count;
    assert(
      row === 0 || (this.birth[row - 1] as number) <= generation,
      'rows are born in the order of generations',
    );
    if (row === this.#capacity) this.#grow();
    for (let position = 0; position <= this.arity; position++)
      (this.columns[position] as Int32Array)[row] = identity[position] as number;
    this.#noteScope(row);
    this.birth[row] = generation;
    this.number[row] = number;
    this.#setValidity(row, validFrom, validUntil);
    if (metadata !== null) this.metadata.set(row, metadata);
    this.#noteChange(generation, 1);
    const hash = hashOf(identity);
    const slot = this.#slot(identity, hash);
    if (slot < 0) this.#slots.put(slot, hash, row);
    else {
      this.#replaced.set(row, this.#slots.number(slot));
      this.#slots.replace(slot, row);
    }
    this.count = row + 1;
    this.live++;
    this.#indexes.add(row);
    if (this.#slots.isFull) this.#rehash();
    return row;
  }

  /** Ends a version that is alive. */
  kill(row: number, generation: number): void {
    this.death ??= new Float64Array(this.#capacity).fill(Number.POSITIVE_INFINITY);
    assert(this.death[row] === Number.POSITIVE_INFINITY, 'a row dies once');
    this.death[row] = generation;
    this.live--;
    this.#noteDeath(row >>> blockBits, generation);
    this.#noteChange(generation, -1);
  }

  /** True where a row of the block died after this generation. Rows that were restored dead count as long dead. */
  hasDiedSince(block: number, generation: number): boolean {
    return this.#lastDeaths !== null && (this.#lastDeaths[block] ?? 0) > generation;
  }

  /** How many rows are alive in this generation, where nothing has changed after it; else null. */
  liveIn(generation: number): number | null {
    return this.#latest.generation <= generation ? this.live : null;
  }

  isAlive(row: number): boolean {
    return this.death === null || this.death[row] === Number.POSITIVE_INFINITY;
  }

  /** True where the row was born and had not died in this generation. */
  wasAlive(row: number, generation: number): boolean {
    return (
      (this.birth[row] as number) <= generation &&
      (this.death === null || (this.death[row] as number) > generation)
    );
  }

  /** True where a reader at this generation and time sees the row. */
  isVisible(row: number, generation: number, time: number): boolean {
    if (this.validFrom !== null && (this.validFrom[row] as number) > time) return false;
    return this.isHeld(row, generation, time);
  }

  /** True where the row counts as stored for a reader at this generation and time: seen, or valid only later. */
  isHeld(row: number, generation: number, time: number): boolean {
    if (!this.wasAlive(row, generation)) return false;
    return this.validUntil === null || (this.validUntil[row] as number) > time;
  }

  /** True where a row counts as stored for a reader at this generation and time. */
  holdsAny(generation: number, time: number): boolean {
    const live = this.validUntil === null ? this.liveIn(generation) : null;
    if (live !== null) return live > 0;
    // What came last is most likely there.
    for (let row = this.count - 1; row >= 0; row--) if (this.isHeld(row, generation, time)) return true;
    return false;
  }

  /** True where a row that counts as stored has the constant at this position. Looks at every row where none has. */
  holdsAt(position: number, constant: number, generation: number, time: number): boolean {
    const column = this.columns[position] as Int32Array;
    for (
      let row = column.indexOf(constant);
      row >= 0 && row < this.count;
      row = column.indexOf(constant, row + 1)
    )
      if (this.isHeld(row, generation, time)) return true;
    return false;
  }

  /** How many rows were born up to and in this generation: they are the first ones. */
  rowsAt(generation: number): number {
    let low = 0;
    let high = this.count;
    if (high === 0 || (this.birth[high - 1] as number) <= generation) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.birth[middle] as number) <= generation) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The index over these positions (ascending, at least one; `arity` is the scope), made now if it is new. */
  index(positions: readonly number[]): ChainIndex {
    return this.#indexes.over(positions, this.count, this.#capacity);
  }

  /** True where more than half of the rows are dead, and there are enough of them to be worth the work. */
  get isMostlyDead(): boolean {
    return this.count > 256 && this.live * 2 < this.count;
  }

  /**
   * True where most rows died up to this generation, so that `compacted` is worth the work. Rows are counted only now
   * and then while many of them died later: when all that were dead then can go, or there are half as many rows more.
   */
  isMostlyDeadThrough(generation: number): boolean {
    if (!this.isMostlyDead) return false;
    if (generation >= this.#latest.generation) return true;
    if (generation < this.#lookAgain.generation && this.count < this.#lookAgain.count) return false;
    let dead = 0;
    for (let row = 0; row < this.count; row++) if (this.#diedThrough(row, generation)) dead++;
    if (dead * 2 > this.count) return true;
    this.#lookAgain = { generation: this.#latest.generation, count: this.count * 1.5 };
    return false;
  }

  /**
   * The same relation without the rows that died up to this generation, for readers of the last one and later. This
   * one stays as it is, for whoever still holds rows of it. Not to be made while rows are put in that nobody sees yet.
   */
  compacted(generation: number): StoredRelation {
    const fresh = new StoredRelation(this.predicate, this.arity, this.negated);
    const identity = new Int32Array(this.arity + 1);
    let forgotten = this.forgottenThrough;
    for (let row = 0; row < this.count; row++) {
      const death = this.death?.[row] ?? Number.POSITIVE_INFINITY;
      if (this.#diedThrough(row, generation)) {
        forgotten = Math.max(forgotten, death);
        continue;
      }
      for (let position = 0; position <= this.arity; position++)
        identity[position] = (this.columns[position] as Int32Array)[row] as number;
      const from = this.validFrom?.[row] ?? Number.NEGATIVE_INFINITY;
      const until = this.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
      const metadata = this.metadata.get(row) ?? null;
      const birth = this.birth[row] as number;
      const moved = fresh.append(identity, birth, this.number[row] as number, from, until, metadata);
      if (death !== Number.POSITIVE_INFINITY) fresh.kill(moved, death);
    }
    fresh.forgottenThrough = forgotten;
    return fresh;
  }

  async #restore(kept: RestoredRows, slices: Slices): Promise<void> {
    const { count } = kept;
    this.#slots = new HashSlots(count + 1);
    if (count > this.#capacity) {
      this.#capacity = count;
      for (const [position, column] of kept.columns.entries()) this.columns[position] = column;
      this.birth = kept.birth;
      this.number = kept.number;
    } else {
      for (const [position, column] of kept.columns.entries()) this.columns[position]?.set(column);
      this.birth.set(kept.birth);
      this.number.set(kept.number);
    }
    const inRoom = (column: Float64Array | null, open: number): Float64Array | null => {
      if (column === null || column.length === this.#capacity) return column;
      const filled = new Float64Array(this.#capacity).fill(open);
      filled.set(column);
      return filled;
    };
    this.death = inRoom(kept.death, Number.POSITIVE_INFINITY);
    this.validFrom = inRoom(kept.validFrom, Number.NEGATIVE_INFINITY);
    this.validUntil = inRoom(kept.validUntil, Number.POSITIVE_INFINITY);
    this.forgottenThrough = kept.forgottenThrough;
    this.count = count;
    for (let row = 0; row < count; row++) {
      if (this.isAlive(row)) this.live++;
      this.#slots.add(this.#hashOfRow(row), row);
      this.#noteScope(row);
      if ((row & 0x3fff) === 0x3fff) await slices.breathe();
    }
  }

  #diedThrough(row: number, generation: number): boolean {
    return this.death !== null && (this.death[row] as number) <= generation;
  }

  #noteDeath(block: number, generation: number): void {
    const known = this.#lastDeaths;
    if (known === null || block >= known.length)
      this.#lastDeaths = enlarged(
        known ?? new Float64Array(0),
        new Float64Array(Math.max(block + 1, this.#capacity >>> blockBits)),
      );
    const deaths = this.#lastDeaths as Float64Array;
    deaths[block] = Math.max(deaths[block] as number, generation);
  }

  #noteScope(row: number): void {
    const scopes = this.columns[this.arity] as Int32Array;
    if (scopes[row] !== scopes[0]) this.#spansScopes = true;
  }

  #noteChange(generation: number, net: number): void {
    if (this.#latest.generation !== generation) {
      this.#latest = { generation, net: 0 };
      this.#replaced.clear();
    }
    this.#latest.net += net;
  }

  #setValidity(row: number, validFrom: number, validUntil: number): void {
    if (validFrom !== Number.NEGATIVE_INFINITY)
      this.validFrom ??= new Float64Array(this.#capacity).fill(Number.NEGATIVE_INFINITY);
    if (validUntil !== Number.POSITIVE_INFINITY)
      this.validUntil ??= new Float64Array(this.#capacity).fill(Number.POSITIVE_INFINITY);
    if (this.validFrom !== null) this.validFrom[row] = validFrom;
    if (this.validUntil !== null) this.validUntil[row] = validUntil;
  }

  /** The slot of the fact; below 0 where it has none. */
  #slot(identity: Int32Array, hash: number): number {
    const slots = this.#slots;
    let slot = slots.first(hash);
    while (slot >= 0 && !this.#isOf(slots.number(slot), identity)) slot = slots.next(slot, hash);
    return slot;
  }

  #isOf(row: number, identity: Int32Array): boolean {
    const columns = this.columns;
    for (let position = 0; position < columns.length; position++)
      if ((columns[position] as Int32Array)[row] !== identity[position]) return false;
    return true;
  }

  #grow(): void {
    this.#capacity *= 2;
    for (let position = 0; position <= this.arity; position++)
      this.columns[position] = enlarged(this.columns[position] as Int32Array, new Int32Array(this.#capacity));
    this.birth = enlarged(this.birth, new Float64Array(this.#capacity));
    this.number = enlarged(this.number, new Int32Array(this.#capacity));
    const open = (fill: number) => new Float64Array(this.#capacity).fill(fill);
    if (this.death !== null) this.death = enlarged(this.death, open(Number.POSITIVE_INFINITY));
    if (this.validFrom !== null) this.validFrom = enlarged(this.validFrom, open(Number.NEGATIVE_INFINITY));
    if (this.validUntil !== null) this.validUntil = enlarged(this.validUntil, open(Number.POSITIVE_INFINITY));
  }

  #rehash(): void {
    const known = this.#slots;
    this.#slots = new HashSlots(known.count * 2);
    // In their order rows are read quicker; where some are older versions, those that are not stand in the slots.
    if (this.count === known.count) this.#enterAll();
    else known.forEach((row) => this.#slots.add(this.#hashOfRow(row), row));
  }

  /** Puts in all rows, each of a fact of its own. */
  #enterAll(): void {
    for (let first = 0; first < this.count; first += mostTogether) {
      const count = Math.min(mostTogether, this.count - first);
      for (let at = 0; at < count; at++) hashes[at] = this.#hashOfRow(first + at);
      this.#slots.addAll(hashes, count, first);
    }
  }

  #hashOfRow(row: number): number {
    const columns = this.columns;
    let hash = hashSeed;
    for (let position = 0; position < columns.length; position++)
      hash = fold(hash, (columns[position] as Int32Array)[row] as number);
    return finish(hash);
  }
}

const hashes = new Int32Array(mostTogether);
const fetched = new Int32Array(mostTogether);

function hashOf(identity: Int32Array): number {
  let hash = hashSeed;
  for (let position = 0; position < identity.length; position++)
    hash = fold(hash, identity[position] as number);
  return finish(hash);
}

function enlarged<Column extends Int32Array | Float64Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

/** Rows of a relation as columns: of each fact the newest version, dead or alive, in the order of birth. */
export interface RestoredRows {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly count: number;
  /** `arity` argument columns, then the scope; these and the others have `count` elements. */
  readonly columns: readonly Int32Array[];
  readonly birth: Float64Array;
  readonly number: Int32Array;
  readonly death: Float64Array | null;
  readonly validFrom: Float64Array | null;
  readonly validUntil: Float64Array | null;
  readonly forgottenThrough: number;
}
