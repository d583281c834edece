import { NumberMap } from '../base/number-map.ts';
import { assert } from '../base/assert.ts';
import type { Slices } from '../base/slices.ts';
import type { Metadata } from '../contract/facts.ts';
import { AtomCopies } from './atom-copies.ts';
import { BirthRuns } from './birth-runs.ts';
import { type ChainIndex, Indexes } from './chain-index.ts';
import {
  type EnlargingColumns,
  Enlarging,
  enlargingTo,
  firstStepOf,
  maxRowsAtOnce,
  roomFor,
  stepAfter,
} from './enlarging.ts';
import { finish, fold, hashSeed, HashSlots, maxBatch } from './hash-slots.ts';
import { KeyIndex } from './key-index.ts';
import { type FetchedRun, fromAt, untilAt } from './fact-extras.ts';
import { MetadataColumn } from './metadata-column.ts';
import { SortedRuns } from './sorted-runs.ts';
import { tupleAt } from './tuples.ts';

/** When a fact is valid: from (inclusive) until (exclusive); infinite if open. */
export interface Bounds {
  readonly from: number;
  readonly until: number;
}

/** Rows whose numbers differ only in this many low bits form a block. */
export const blockBits = 6;

/** While the slots of more rows are rebuilt: how many rows are moved for so many appended ones. */
const rowsBetweenMoves = 64;
const rowsPerMove = 16 * rowsBetweenMoves;

/**
 * The stored facts of one predicate, arity and truth value, multi-version (MVCC).
 *
 * A row is a version: born in one generation, dead from another, and immutable in between; an update kills
 * the old version (a tombstone) and appends a new one. So a reader pinned at a generation and a time sees one
 * snapshot while writes go on. The last column is the scope (0: without scope). Validity and metadata are
 * sparse, since few facts have them.
 */
export class StoredRelation {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  /** `arity` argument columns, then the scope. */
  readonly columns: Int32Array[];
  /** Its number in its store, which assigns it. */
  storeIndex = -1;
  count = 0;
  /** Number of live rows. */
  live = 0;
  /** null until a row dies; Infinity: alive. */
  death: Float64Array | null = null;
  validFrom: Float64Array | null = null;
  validUntil: Float64Array | null = null;
  /** The tenant's fact number, which all versions of a fact share. */
  number: Int32Array = new Int32Array(16);
  readonly metadata = new MetadataColumn();
  /** By block of rows: the last generation in which one of them died; null until one does. */
  #lastDeaths: Float64Array | null = null;
  /** The last generation with a change, and its net change of live rows. */
  #latest = { generation: 0, net: 0 };
  /** By row born in that generation: the row that it replaced. */
  readonly #replaced = new NumberMap<number>();
  /** The lives of facts that have several; null: none has. */
  #lives: Lives | null = null;
  /** The latest generation in which a dropped version died; see `compaction`. */
  forgottenThrough = 0;
  /** Numbers of erased facts of which it has rows: no snapshot has them. null: none. */
  erased: Set<number> | null = null;
  /** When to count droppable rows again: from this generation, or this number of rows, on. */
  #lookAgain = { generation: 0, count: 0 };
  #capacity = 16;
  #expected = 0;
  /** The number of rows at which to look after the capacity. */
  #growAt = 16;
  readonly #births = new BirthRuns();
  /** The columns that are being enlarged; null: none. */
  #enlarging: EnlargingColumns | null = null;
  /** The newest version of each fact. */
  #slots = new HashSlots(16);
  /**
   * While the slots are rebuilt: those before. The new ones lack the facts whose newest version is one of the first
   * `#unmoved` rows; where both have a fact, the new ones are right.
   */
  #oldSlots: HashSlots | null = null;
  #unmoved = 0;
  #rowsPerMove = rowsPerMove;
  readonly #indexes: Indexes;
  /** Its rows in the order of columns (`arity` is the scope), for joins of many rows; not in `bytes`. */
  readonly runs: SortedRuns;
  #copies: AtomCopies | null = null;
  #keyIndex: KeyIndex | null = null;
  #compaction: Compaction | null = null;
  #spansScopes = false;

  constructor(predicate: string, arity: number, negated: boolean) {
    this.predicate = predicate;
    this.arity = arity;
    this.negated = negated;
    this.columns = Array.from({ length: arity + 1 }, () => new Int32Array(this.#capacity));
    this.#indexes = new Indexes(this.columns);
    this.runs = new SortedRuns(this.columns);
  }

  /**
   * Restores a relation from these rows, ready to be read. It takes over the columns; dead rows must be the
   * newest version of their fact.
   */
  static async restored(kept: RestoredRows, slices: Slices): Promise<StoredRelation> {
    const relation = new StoredRelation(kept.predicate, kept.arity, kept.negated);
    await relation.#restore(kept, slices);
    return relation;
  }

  get bytes(): number {
    let bytes = this.#slots.bytes + this.#capacity * (4 * (this.arity + 1) + 4) + this.#births.bytes;
    for (const column of [this.death, this.validFrom, this.validUntil, this.#lastDeaths])
      bytes += column?.byteLength ?? 0;
    bytes += (this.#oldSlots?.bytes ?? 0) + (this.#compaction?.bytes ?? 0);
    if (this.#enlarging !== null)
      for (const column of [...this.#enlarging.ints, ...this.#enlarging.floats])
        bytes += column?.larger.byteLength ?? 0;
    return (
      bytes +
      this.metadata.bytes +
      this.#indexes.bytes +
      (this.#copies?.bytes ?? 0) +
      (this.#keyIndex?.bytes ?? 0)
    );
  }

  /** True if its rows, including dead ones, are of several scopes: only then can an atom have copies. */
  get spansScopes(): boolean {
    return this.#spansScopes;
  }

  /** Its atoms with the rows of each; made on first use. The reader adds the rows that it can see. */
  get copies(): AtomCopies {
    this.#copies ??= new AtomCopies(this.columns);
    return this.#copies;
  }

  /** The newest version, dead or alive, of the fact with these argument ids and, last, its scope; or -1. */
  find(identity: Int32Array): number {
    const hash = hashOf(identity);
    const slot = this.#slot(this.#slots, identity, hash);
    return slot < 0 ? this.#oldRow(identity, hash) : this.#slots.number(slot);
  }

  /**
   * Prefetches what `find` and `appendNew` will read for these facts, at most `maxBatch`; see `HashSlots.fetch`. Their
   * argument ids are consecutive from `start` on, their scopes separate.
   */
  fetch(ids: Int32Array, start: number, scopes: Int32Array, count: number): void {
    let next = start;
    for (let at = 0; at < count; at++) {
      let hash = hashSeed;
      for (let position = 0; position < this.arity; position++) hash = fold(hash, ids[next++] as number);
      hashesOfFacts[at] = finish(fold(hash, scopes[at] as number));
    }
    this.#slots.fetch(hashesOfFacts, count, fetched);
    this.#oldSlots?.fetch(hashesOfFacts, count, fetched);
  }

  /**
   * The version of the fact that a reader of this generation or the one before uses, dead or alive; or -1.
   */
  findAt(identity: Int32Array, generation: number): number {
    return this.versionAt(this.find(identity), generation);
  }

  /** Given a newest version: the one that a reader of this generation or the one before uses; or -1. */
  versionAt(row: number, generation: number): number {
    let version = row;
    const rows = this.rowsAt(generation);
    while (version >= rows) version = this.#replaced.get(version) ?? -1;
    return version;
  }

  /** True if a fact may have ended lives beside its newest one, which readers of earlier instants see. */
  get hasLives(): boolean {
    return this.#lives !== null;
  }

  /** The version before this one, perhaps of an earlier life, of a fact that has several; -1 if there is none. */
  olderThan(row: number): number {
    return this.#lives?.older.get(row) ?? -1;
  }

  /** True if the row is an ended life of a fact that was asserted again after this generation. */
  wasReplacedAfter(row: number, generation: number): boolean {
    const newer = this.#lives?.newer.get(row);
    return newer !== undefined && this.bornIn(newer) > generation;
  }

  /** Number of rows alive in this generation, which must be the last one or the one before it. */
  liveAt(generation: number): number {
    return this.live - (this.#latest.generation > generation ? this.#latest.net : 0);
  }

  /** Adds a version. `identity`: the argument ids and the scope; validity bounds may be infinite. */
  append(
    identity: Int32Array,
    generation: number,
    number: number,
    validFrom: number,
    validUntil: number,
    metadata: Metadata | null,
  ): number {
    const row = this.count;
    assert(this.#births.last <= generation, 'rows are born in the order of generations');
    if (row === this.#growAt) this.#grow();
    for (let position = 0; position <= this.arity; position++)
      (this.columns[position] as Int32Array)[row] = identity[position] as number;
    this.#noteScope(row);
    this.#births.add(row, generation);
    this.number[row] = number;
    this.#setValidity(row, validFrom, validUntil);
    if (this.death !== null) this.death[row] = Number.POSITIVE_INFINITY;
    if (metadata !== null) this.metadata.set(row, metadata);
    this.#noteChange(generation, 1);
    const hash = hashOf(identity);
    const slot = this.#slot(this.#slots, identity, hash);
    const replaced = slot < 0 ? this.#oldRow(identity, hash) : this.#slots.number(slot);
    if (replaced >= 0) this.#replace(replaced, row);
    if (slot < 0) this.#slots.put(slot, hash, row);
    else this.#slots.replace(slot, row);
    this.live++;
    this.#added(row);
    return row;
  }

  #replace(replaced: number, row: number): void {
    this.#replaced.set(row, replaced);
    this.#linkLives(replaced, row);
  }

  /** Links two versions of a fact if the older one is alive, or has an older life itself. */
  #linkLives(older: number, newer: number): void {
    if (!this.isAlive(older) && this.#lives?.older.has(older) !== true) return;
    this.#lives ??= { older: new NumberMap(), newer: new NumberMap() };
    this.#lives.older.set(newer, older);
    this.#lives.newer.set(older, newer);
  }

  /** Says how many rows it will have, by an estimate: when it must grow, it gets room for them. */
  expect(rows: number): void {
    this.#expected = rows;
  }

  /**
   * Adds facts that have no version: those of the run, or those before the first that has one.
   * Their numbers are consecutive from `number` on. Returns how many it added.
   */
  appendNew(run: FetchedRun, generation: number, number: number): number {
    const { ids, start, scopes, from, end, extras } = run;
    const first = this.count;
    assert(this.#births.last <= generation, 'rows are born in the order of generations');
    let next = start + from * this.arity;
    for (let at = from; at < end; at++, next += this.arity) {
      const hash = hashesOfFacts[at] as number;
      const scope = scopes[at] as number;
      const slot = this.#slotAt(this.#slots, ids, next, scope, hash);
      if (slot >= 0) break;
      if (this.#oldSlots !== null && this.#slotAt(this.#oldSlots, ids, next, scope, hash) >= 0) break;
      const row = this.count;
      if (row === this.#growAt) this.#grow();
      for (let position = 0; position < this.arity; position++)
        (this.columns[position] as Int32Array)[row] = ids[next + position] as number;
      (this.columns[this.arity] as Int32Array)[row] = scope;
      this.#noteScope(row);
      if (row === first) this.#births.add(row, generation);
      this.number[row] = number + row - first;
      this.#setValidity(row, fromAt(extras, at), untilAt(extras, at));
      if (extras !== null) extras.columns.putMetadata(extras.first + at, this.metadata, row);
      if (this.death !== null) this.death[row] = Number.POSITIVE_INFINITY;
      this.#slots.put(slot, hash, row);
      this.#added(row);
    }
    const added = this.count - first;
    if (added > 0) this.#noteChange(generation, added);
    this.live += added;
    return added;
  }

  /** Called when the row was written, with its slot: the relation has it from now on. */
  #added(row: number): void {
    this.count = row + 1;
    this.#indexes.add(row);
    if (this.#oldSlots !== null && row % rowsBetweenMoves === 0) this.#move(this.#rowsPerMove);
    if (this.#slots.isFull) this.#rehash();
  }

  /** Ends a live version. */
  kill(row: number, generation: number): void {
    this.death ??= this.#newFloats(deathColumn, Number.POSITIVE_INFINITY);
    assert(this.death[row] === Number.POSITIVE_INFINITY, 'a row dies once');
    this.death[row] = generation;
    const larger = this.#enlarging?.floats[deathColumn];
    if (larger?.has(row) === true) larger.larger[row] = generation;
    this.live--;
    this.#compaction?.died(row, generation);
    this.#noteDeath(row >>> blockBits, generation);
    this.#noteChange(generation, -1);
  }

  /** True if a row of the block died after this generation. Rows restored dead count as long dead. */
  hasDiedSince(block: number, generation: number): boolean {
    return this.#lastDeaths !== null && (this.#lastDeaths[block] ?? 0) > generation;
  }

  /** Number of rows alive in this generation if nothing has changed since, else null. */
  liveIn(generation: number): number | null {
    return this.#latest.generation <= generation ? this.live : null;
  }

  isAlive(row: number): boolean {
    return this.death === null || this.death[row] === Number.POSITIVE_INFINITY;
  }

  /** True if the row was born and not dead in this generation. */
  wasAlive(row: number, generation: number): boolean {
    return row < this.rowsAt(generation) && (this.death === null || (this.death[row] as number) > generation);
  }

  /** True if the row is visible at this generation and time. Of several lives, only the newest that is valid then is. */
  isVisible(row: number, generation: number, time: number): boolean {
    if (this.validFrom !== null && (this.validFrom[row] as number) > time) return false;
    return this.isHeld(row, generation, time);
  }

  /** True if the row counts as stored at this generation and time: visible, or valid only later. */
  isHeld(row: number, generation: number, time: number): boolean {
    if (!this.wasAlive(row, generation)) return false;
    if (this.validUntil === null) return true;
    return (this.validUntil[row] as number) > time && !this.#isOutlived(row, generation, time);
  }

  /** True if a newer life of the fact is valid at this time. */
  #isOutlived(row: number, generation: number, time: number): boolean {
    if (this.#lives === null) return false;
    const { newer } = this.#lives;
    for (let next = newer.get(row); next !== undefined; next = newer.get(next)) {
      const { from, until } = this.boundsOf(next);
      if (from <= time && until > time && this.wasAlive(next, generation)) return true;
    }
    return false;
  }

  /** The validity bounds of the row; infinite if open. */
  boundsOf(row: number): Bounds {
    return {
      from: this.validFrom?.[row] ?? Number.NEGATIVE_INFINITY,
      until: this.validUntil?.[row] ?? Number.POSITIVE_INFINITY,
    };
  }

  /** True if any row counts as stored at this generation and time. */
  holdsAny(generation: number, time: number): boolean {
    const live = this.validUntil === null ? this.liveIn(generation) : null;
    if (live !== null) return live > 0;
    // The newest rows are the most likely ones.
    for (let row = this.count - 1; row >= 0; row--) if (this.isHeld(row, generation, time)) return true;
    return false;
  }

  /** True if a row that counts as stored has the constant at this position. Scans every row if none has. */
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

  /** Number of rows born up to and including this generation: they are the first ones. */
  rowsAt(generation: number): number {
    return this.#births.rowsThrough(generation, this.count);
  }

  /** The generation in which the row was born. */
  bornIn(row: number): number {
    return this.#births.of(row);
  }

  /** The index over these positions (ascending, at least one; `arity` is the scope), made on first use. */
  index(positions: readonly number[]): ChainIndex {
    return this.#indexes.over(positions, this.count, this.#capacity);
  }

  /** The index to look up a key with, which may still lack rows; null: its rows are to be scanned (`Indexes.toUse`). */
  indexToUse(positions: readonly number[]): ChainIndex | null {
    return this.#indexes.toUse(positions, this.#capacity);
  }

  /** `index`, which may still lack rows; see `ChainIndex.takeIn`. */
  indexToBuild(positions: readonly number[]): ChainIndex {
    return this.#indexes.toBuild(positions, this.#capacity);
  }

  /** The stored rows by the values of these positions of a key and the scope; of the last key asked for. */
  keyIndex(positions: readonly number[]): KeyIndex {
    const known = this.#keyIndex;
    if (known !== null && known.positions.join() === positions.join()) return known;
    this.#keyIndex = new KeyIndex(this, positions);
    return this.#keyIndex;
  }

  /** True if more than half of the rows are dead, and enough for compaction to pay. */
  get isMostlyDead(): boolean {
    return this.count > 256 && this.live * 2 < this.count;
  }

  /**
   * True if most rows died up to this generation, so that compaction pays. While many of them died later,
   * rows are counted only now and then: when all that were dead then can be dropped, or after the rows have
   * grown by half.
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
   * The compaction that is under way, or a new one: a copy without the rows that died up to this generation, for readers
   * of that generation and later.
   */
  compaction(generation: number): Compaction {
    this.#compaction ??= new Compaction(this, generation);
    return this.#compaction;
  }

  /** The compaction that is under way; null: none. */
  get compacting(): Compaction | null {
    return this.#compaction;
  }

  /** Ends the compaction that is under way, if any; what it copied is of no use any more. */
  endCompaction(): void {
    this.#compaction = null;
  }

  async #restore(kept: RestoredRows, slices: Slices): Promise<void> {
    const { count } = kept;
    this.#slots = new HashSlots(count + 1);
    if (count > this.#capacity) {
      this.#capacity = count;
      for (const [position, column] of kept.columns.entries()) this.columns[position] = column;
      this.number = kept.number;
    } else {
      for (const [position, column] of kept.columns.entries()) this.columns[position]?.set(column);
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
    this.#growAt = firstStepOf(this.#capacity, count);
    for (let first = 0; first < count; first += maxBatch) {
      this.#restoreRows(kept, first, Math.min(count, first + maxBatch));
      if ((first & 0x3fff) === 0) await slices.breathe();
    }
  }

  #restoreRows({ birth, hasLives }: RestoredRows, first: number, end: number): void {
    const count = end - first;
    this.#hashRows(first, count);
    for (let row = first; row < end; row++) {
      this.#births.add(row, birth[row] as number);
      if (this.isAlive(row)) this.live++;
      this.#noteScope(row);
    }
    if (hasLives === true) this.#restoreLives(first, end);
    else this.#slots.addAll(hashes, count, first);
  }

  /** Enters a batch of restored rows, of which some may be of one fact, and links those. */
  #restoreLives(first: number, end: number): void {
    const identity = new Int32Array(this.arity + 1);
    for (let row = first; row < end; row++) {
      const hash = hashes[row - first] as number;
      const slot = this.#slot(this.#slots, tupleAt(this, row, identity), hash);
      if (slot < 0) {
        this.#slots.put(slot, hash, row);
        continue;
      }
      this.#linkLives(this.#slots.number(slot), row);
      this.#slots.replace(slot, row);
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
      this.validFrom ??= this.#newFloats(validFromColumn, Number.NEGATIVE_INFINITY);
    if (validUntil !== Number.POSITIVE_INFINITY)
      this.validUntil ??= this.#newFloats(validUntilColumn, Number.POSITIVE_INFINITY);
    if (this.validFrom !== null) this.validFrom[row] = validFrom;
    if (this.validUntil !== null) this.validUntil[row] = validUntil;
  }

  /** A column for the present rows, all open; rows that are added are written anyway. */
  #newFloats(column: number, open: number): Float64Array {
    if (this.#enlarging !== null)
      this.#enlarging.floats[column] = new Enlarging(new Float64Array(this.#enlarging.room));
    return new Float64Array(this.#capacity).fill(open, 0, this.count + 1);
  }

  /** The slot of the fact; negative if it has none. */
  #slot(slots: HashSlots, identity: Int32Array, hash: number): number {
    let slot = slots.first(hash);
    while (slot >= 0 && !this.#isOf(slots.number(slot), identity)) slot = slots.next(slot, hash);
    return slot;
  }

  /** The slot of the fact with these consecutive ids and this scope; negative if it has none. */
  #slotAt(slots: HashSlots, ids: Int32Array, start: number, scope: number, hash: number): number {
    let slot = slots.first(hash);
    while (slot >= 0 && !this.#isAt(slots.number(slot), ids, start, scope)) slot = slots.next(slot, hash);
    return slot;
  }

  #isAt(row: number, ids: Int32Array, start: number, scope: number): boolean {
    const { columns, arity } = this;
    for (let position = 0; position < arity; position++)
      if ((columns[position] as Int32Array)[row] !== ids[start + position]) return false;
    return (columns[arity] as Int32Array)[row] === scope;
  }

  /** The newest version in the slots before they are rebuilt; -1 if they lack the fact. */
  #oldRow(identity: Int32Array, hash: number): number {
    if (this.#oldSlots === null) return -1;
    const slot = this.#slot(this.#oldSlots, identity, hash);
    return slot < 0 ? -1 : this.#oldSlots.number(slot);
  }

  #isOf(row: number, identity: Int32Array): boolean {
    const columns = this.columns;
    for (let position = 0; position < columns.length; position++)
      if ((columns[position] as Int32Array)[row] !== identity[position]) return false;
    return true;
  }

  /**
   * Called when there are `#growAt` rows: doubles a few rows at once; makes the copy of many in steps, before there is
   * no more room.
   */
  #grow(): void {
    const { count } = this;
    const ints = [...this.columns, this.number];
    const floats = [this.death, this.validFrom, this.validUntil];
    this.#enlarging ??= enlargingTo(roomFor(this.#capacity, this.#expected), ints, floats);
    const larger = this.#enlarging;
    if (count < this.#capacity) {
      for (const [at, column] of ints.entries()) larger.ints[at]?.step(column, count);
      for (const [at, column] of floats.entries())
        if (column !== null) larger.floats[at]?.step(column, count);
      this.#growAt = stepAfter(this.#capacity, count);
      return;
    }
    const number = larger.ints.pop()?.finish(this.number, count) as Int32Array;
    for (const [position, column] of larger.ints.entries())
      this.columns[position] = column.finish(this.columns[position] as Int32Array, count);
    const [death, from, until] = floats.map((column, at) =>
      column === null ? null : (larger.floats[at] as Enlarging<Float64Array>).finish(column, count),
    );
    this.number = number;
    [this.death, this.validFrom, this.validUntil] = [death ?? null, from ?? null, until ?? null];
    this.#enlarging = null;
    this.#capacity = larger.room;
    this.#growAt = firstStepOf(larger.room, count);
  }

  /** Doubles the slots, or makes those expected: those of many rows are filled as rows are appended. */
  #rehash(): void {
    this.#move(this.#unmoved);
    const known = this.#slots;
    this.#slots = new HashSlots(roomFor(known.count, this.#expected));
    this.#oldSlots = known;
    this.#unmoved = this.count;
    // With many versions of each fact too, the rows are moved before the new slots are full.
    this.#rowsPerMove = rowsPerMove * Math.ceil(this.count / known.count);
    if (this.count <= maxRowsAtOnce) this.#move(this.count);
  }

  /** Moves up to this many rows to the new slots, in whole batches, the last ones first. */
  #move(most: number): void {
    if (this.#oldSlots === null) return;
    const end = Math.max(0, this.#unmoved - most);
    while (this.#unmoved > end) {
      const first = Math.max(0, this.#unmoved - maxBatch);
      this.#enter(first, this.#unmoved);
      this.#unmoved = first;
    }
    if (this.#unmoved === 0) this.#oldSlots = null;
  }

  /** Enters the newest versions of facts among these rows, at most a batch; later rows are in the slots. */
  #enter(start: number, end: number): void {
    if (this.death === null && !this.hasLives) {
      this.#hashRows(start, end - start);
      this.#slots.addAll(hashes, end - start, start);
      return;
    }
    const identity = new Int32Array(this.arity + 1);
    for (let row = end - 1; row >= start; row--) {
      this.#hashRows(row, 1);
      const hash = hashes[0] as number;
      // A row that died, or an ended life, may have been replaced by a later one.
      const isReplaced =
        (this.hasLives || !this.isAlive(row)) &&
        this.#slot(this.#slots, tupleAt(this, row, identity), hash) >= 0;
      if (!isReplaced) this.#slots.add(hash, row);
    }
  }

  /** Writes the hashes of consecutive rows, at most `maxBatch`, to `hashes`. */
  #hashRows(first: number, count: number): void {
    hashes.fill(hashSeed, 0, count);
    for (const column of this.columns)
      for (let at = 0; at < count; at++)
        hashes[at] = fold(hashes[at] as number, column[first + at] as number);
    for (let at = 0; at < count; at++) hashes[at] = finish(hashes[at] as number);
  }
}

/** By row: the version of the same fact before and after it, of facts of which an ended life is alive beside a newer one. */
interface Lives {
  readonly older: NumberMap<number>;
  readonly newer: NumberMap<number>;
}

const deathColumn = 0;
const validFromColumn = 1;
const validUntilColumn = 2;

const hashes = new Int32Array(maxBatch);
/** Of the facts that `fetch` was last called with. */
const hashesOfFacts = new Int32Array(maxBatch);
const fetched = new Int32Array(maxBatch);

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

/** Rows of a relation as columns: the newest version of each life of a fact, dead or alive, in order of birth. */
interface RestoredRows {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly count: number;
  /** `arity` argument columns, then the scope; all columns have `count` elements. */
  readonly columns: readonly Int32Array[];
  readonly birth: Float64Array;
  readonly number: Int32Array;
  readonly death: Float64Array | null;
  readonly validFrom: Float64Array | null;
  readonly validUntil: Float64Array | null;
  readonly forgottenThrough: number;
  /** True if a fact may have several rows. */
  readonly hasLives?: boolean;
}

/** Rows that a step of a compaction copies. */
const rowsPerStep = 0x800;

/**
 * The copy of a relation without the rows that died up to a generation. It is made in steps; meanwhile the relation is
 * read and written as before.
 */
export class Compaction {
  readonly #of: StoredRelation;
  readonly #generation: number;
  readonly #fresh: StoredRelation;
  readonly #identity: Int32Array;
  /** By row that was looked at: its row in the copy; -1: it is not there. */
  #places: Int32Array;
  #next = 0;

  constructor(of: StoredRelation, generation: number) {
    this.#of = of;
    this.#generation = generation;
    this.#fresh = new StoredRelation(of.predicate, of.arity, of.negated);
    this.#fresh.forgottenThrough = of.forgottenThrough;
    this.#fresh.erased = of.erased;
    this.#identity = new Int32Array(of.arity + 1);
    this.#places = new Int32Array(of.count);
  }

  get bytes(): number {
    return this.#fresh.bytes + this.#places.byteLength;
  }

  /** True if what is missing can be copied in one turn. */
  get isNearlyWhole(): boolean {
    return this.#of.count - this.#next <= maxRowsAtOnce;
  }

  /** Copies some rows. */
  step(): void {
    this.#copyUntil(Math.min(this.#of.count, this.#next + rowsPerStep));
  }

  /**
   * Copies what is missing and returns the copy. The relation stays as it is for whoever still uses its rows. Not allowed
   * while rows are being written that are not visible yet.
   */
  finish(): StoredRelation {
    this.#copyUntil(this.#of.count);
    this.#of.endCompaction();
    return this.#fresh;
  }

  /** Call it when a row of the relation dies. */
  died(row: number, generation: number): void {
    if (row < this.#next && (this.#places[row] as number) >= 0)
      this.#fresh.kill(this.#places[row] as number, generation);
  }

  #copyUntil(end: number): void {
    const of = this.#of;
    if (this.#places.length < end) this.#places = enlarged(this.#places, new Int32Array(of.count * 2));
    for (; this.#next < end; this.#next++) this.#places[this.#next] = this.#copy(this.#next);
  }

  /** Returns the row of the copy, or -1. */
  #copy(row: number): number {
    const of = this.#of;
    const fresh = this.#fresh;
    const death = of.death?.[row] ?? Number.POSITIVE_INFINITY;
    if (death <= this.#generation) {
      fresh.forgottenThrough = Math.max(fresh.forgottenThrough, death);
      return -1;
    }
    tupleAt(of, row, this.#identity);
    const { from, until } = of.boundsOf(row);
    const [birth, number] = [of.bornIn(row), of.number[row] as number];
    const moved = fresh.append(this.#identity, birth, number, from, until, null);
    fresh.metadata.copy(moved, of.metadata, row);
    if (death !== Number.POSITIVE_INFINITY) fresh.kill(moved, death);
    return moved;
  }
}
