/**
 * The facts of one tenant by number: ids, the newest version of each, and when it changed.
 *
 * Facts are numbered from 0 in order of assertion, and a number is never reused. The id is made of the
 * generation that asserted the fact and its index among the new facts of that write, so every replica assigns
 * the same ids. A fact whose versions were all dropped keeps its number but is not found any more. The
 * contents of a version are in its relation.
 */
import { NumberMap } from '../base/number-map.ts';
import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { roomFor } from './enlarging.ts';

/** The newest version of a fact: the relation's number, and the row; -1 if it was dropped. */
interface FactPlace {
  readonly relation: number;
  readonly row: number;
}

/** Facts numbered before anything is added, as columns. */
export interface NumberedFacts {
  /** Number of facts numbered. */
  readonly count: number;
  /** By number: see `FactPlace`. At least `count` elements. */
  readonly relations: Int32Array;
  readonly rows: Int32Array;
  /**
   * The writes that asserted facts: their generations, ascending, and the number of the first new fact of
   * each.
   */
  readonly generations: Float64Array;
  readonly firsts: Int32Array;
  /** By number: the last ten generations that changed a fact after its assertion, ascending. */
  readonly changes: NumberMap<number | number[]>;
  /** By number: see `createdAtOf`. */
  readonly createdAt: NumberMap<number>;
}

/** A write that asserted facts: those numbered from `first` up to, not including, `end`. */
export interface AssertingWrite {
  /** Index among the writes that asserted facts. */
  readonly place: number;
  readonly generation: number;
  readonly first: number;
  readonly end: number;
}

/** Consecutive numbers: the first, and how many they are. */
export type NumberRun = readonly [first: number, count: number];

/** Up to this many writes are scanned before a binary search. */
const maxScannedWrites = 8;

/** Changes remembered per fact. */
const maxHistory = 10;
const maxNumber = 0x7fff_ffff;

/** Assigns and resolves the numbers and ids of one tenant's facts; see the top of this file. */
export class FactNumbers {
  #relationOf: Int32Array;
  #rowOf: Int32Array;
  #count: number;
  #generations: Float64Array;
  #firsts: Int32Array;
  #writes: number;
  /** Most facts change once: a number instead of a list saves an object for each. */
  readonly #changes: NumberMap<number | number[]>;
  readonly #createdAt: NumberMap<number>;
  /** Runs of numbers that the write under way passes over; see `passOver`. */
  #passed: NumberRun[] = [];
  /** While a moment is pinned: the changes, as of then, of facts that have changed since. */
  #before: NumberMap<readonly number[]> | null = null;

  constructor(facts: NumberedFacts | null = null) {
    this.#relationOf = facts?.relations ?? new Int32Array(64);
    this.#rowOf = facts?.rows ?? new Int32Array(64);
    this.#count = facts?.count ?? 0;
    this.#generations = facts?.generations ?? new Float64Array(8);
    this.#firsts = facts?.firsts ?? new Int32Array(8);
    this.#writes = facts?.generations.length ?? 0;
    this.#changes = facts?.changes ?? new NumberMap();
    this.#createdAt = facts?.createdAt ?? new NumberMap();
  }

  get count(): number {
    return this.#count;
  }

  /** Number of writes that asserted facts. */
  get writes(): number {
    return this.#writes;
  }

  get bytes(): number {
    const { byteLength } = this.#relationOf;
    return byteLength + this.#rowOf.byteLength + this.#generations.byteLength + this.#firsts.byteLength;
  }

  /**
   * The next write passes over these numbers, ascending: they were of facts that have been erased from the history since.
   * `passRest` ends that write.
   */
  passOver(runs: readonly NumberRun[]): void {
    this.#passed = [...runs];
  }

  /** Whether numbers are left that the write under way passes over: its facts are numbered one by one. */
  get isPassing(): boolean {
    return this.#passed.length > 0;
  }

  /** Passes over the numbers that come after the last fact of the write. */
  passRest(generation: number): void {
    while (this.#passed[0]?.[0] === this.#count) this.#passNext(generation);
    assert(this.#passed.length === 0, 'numbers that are passed over are those of the write');
  }

  #passNext(generation: number): void {
    const [, count] = present(this.#passed.shift(), 'a run of numbers is left');
    for (let left = count; left > 0; left--) this.move(this.#next(0, generation), -1);
  }

  /** Assigns a number to a new fact of this generation, in the relation with this number. */
  give(relation: number, generation: number): number {
    while (this.#passed[0]?.[0] === this.#count) this.#passNext(generation);
    return this.#next(relation, generation);
  }

  #next(relation: number, generation: number): number {
    const number = this.#count;
    this.reserve(1);
    this.#relationOf[number] = relation;
    this.#count = number + 1;
    this.#noteWrite(generation, number);
    return number;
  }

  /**
   * Assigns numbers to so many new facts of this generation, at consecutive rows, from `row` on, of the relation with
   * this number. Returns the first one.
   */
  giveAll(relation: number, generation: number, row: number, count: number): number {
    const first = this.#count;
    this.reserve(count);
    this.#relationOf.fill(relation, first, first + count);
    for (let at = 0; at < count; at++) this.#rowOf[first + at] = row + at;
    this.#count = first + count;
    this.#noteWrite(generation, first);
    return first;
  }

  /** Makes room for so many more facts; throws StorageUnavailable if there are too many. */
  reserve(count: number): void {
    const needed = this.#count + count;
    if (needed > maxNumber)
      throw new EngineError('StorageUnavailable', 'a tenant holds at most 2^31 - 1 facts');
    const { length } = this.#relationOf;
    if (needed <= length) return;
    const room = Math.max(needed, roomFor(length, 0));
    this.#relationOf = enlarged(this.#relationOf, new Int32Array(room));
    this.#rowOf = enlarged(this.#rowOf, new Int32Array(room));
  }

  /** Notes the write that asserted the fact with this number, if it is its first. */
  #noteWrite(generation: number, number: number): void {
    const last = this.#writes === 0 ? 0 : (this.#generations[this.#writes - 1] as number);
    assert(last <= generation, 'generations never go back');
    if (this.#writes === 0 || last < generation) this.#beginWrite(generation, number);
  }

  /** Copies of the columns of writes from this index on: see `NumberedFacts`. */
  writesFrom(place: number): Pick<NumberedFacts, 'generations' | 'firsts'> {
    return {
      generations: this.#generations.slice(place, this.#writes),
      firsts: this.#firsts.slice(place, this.#writes),
    };
  }

  /** Adds writes of a store of which this is a copy, after those that it has. */
  enterWrites({ generations, firsts }: Pick<NumberedFacts, 'generations' | 'firsts'>): void {
    for (const [at, generation] of generations.entries()) this.#beginWrite(generation, firsts[at] as number);
  }

  /** Adds a fact under the number that it has in the store of which this is a copy. */
  enter(number: number, relation: number, row: number): void {
    if (number >= this.#relationOf.length) {
      const room = roomAfter(Math.max(number, this.#relationOf.length));
      this.#relationOf = enlarged(this.#relationOf, new Int32Array(room));
      this.#rowOf = enlarged(this.#rowOf, new Int32Array(room));
    }
    // Numbers that were skipped are of facts that are not copied.
    if (number > this.#count) this.#rowOf.fill(-1, this.#count, number);
    this.#relationOf[number] = relation;
    this.#rowOf[number] = row;
    this.#count = Math.max(this.#count, number + 1);
  }

  place(number: number): FactPlace {
    return { relation: this.#relationOf[number] as number, row: this.#rowOf[number] as number };
  }

  /** Sets the row of the fact's newest version. */
  move(number: number, row: number): void {
    this.#rowOf[number] = row;
  }

  /** Records that the fact changed after its assertion. */
  noteChange(number: number, generation: number): void {
    if (this.#before?.has(number) === false) this.#before.set(number, [...this.changesOf(number)]);
    const changes = this.#changes.get(number);
    if (changes === undefined) this.#changes.set(number, generation);
    else if (typeof changes === 'number') this.#changes.set(number, [changes, generation]);
    else {
      changes.push(generation);
      if (changes.length > maxHistory) changes.shift();
    }
  }

  /** Generations of the fact's last changes after its assertion, ascending, at most ten. */
  changesOf(number: number): readonly number[] {
    const changes = this.#changes.get(number) ?? [];
    return typeof changes === 'number' ? [changes] : changes;
  }

  /**
   * When a restored fact first existed, before its number was assigned. null for any other fact. Never
   * changes after the write that assigned the number.
   */
  createdAtOf(number: number): number | null {
    return this.#createdAt.size === 0 ? null : (this.#createdAt.get(number) ?? null);
  }

  /** Sets when a fact numbered by the current write first existed, in epoch milliseconds. */
  setCreatedAt(number: number, time: number): void {
    this.#createdAt.set(number, time);
  }

  /** Number of facts for which `createdAtOf` has a time. */
  get restoredCount(): number {
    return this.#createdAt.size;
  }

  /** The facts for which `createdAtOf` has a time, by number. */
  restored(): IterableIterator<readonly [number, number]> {
    return this.#createdAt.entries();
  }

  /** Pins the current changes, to be read with `pinnedChanges`, until `unpin`. One moment at a time. */
  pin(): void {
    assert(this.#before === null, 'one moment is pinned at a time');
    this.#before = new NumberMap();
  }

  unpin(): void {
    this.#before = null;
  }

  /** The facts that had changed after their assertion at the pinned moment, with `changesOf`, unordered. */
  *pinnedChanges(): Generator<readonly [number, readonly number[]]> {
    const before = present(this.#before, 'a moment is pinned');
    for (const number of this.#changes.keys()) {
      const known = before.get(number) ?? this.changesOf(number);
      if (known.length > 0) yield [number, known];
    }
  }

  /** The generation of the write with this index, and the number of its first new fact. */
  write(place: number): { readonly generation: number; readonly first: number } {
    return { generation: this.#generations[place] as number, first: this.#firsts[place] as number };
  }

  /** The write that asserted the fact. The search starts at `near`, the index of another write, if given. */
  writeOf(number: number, near = -1): AssertingWrite {
    let place = near;
    for (let tries = 0; tries < maxScannedWrites; tries++, place++) {
      if (place < 0 || place >= this.#writes || number < (this.#firsts[place] as number)) break;
      const end = this.#endOf(place);
      if (number < end) return { place, ...this.write(place), end };
    }
    place = this.#writeOf(number);
    return { place, ...this.write(place), end: this.#endOf(place) };
  }

  idOf(number: number): string {
    const { generation, first } = this.write(this.#writeOf(number));
    return `f${generation}-${number - first}`;
  }

  /** The generation that asserted the fact. */
  assertedIn(number: number): number {
    return this.#generations[this.#writeOf(number)] as number;
  }

  /** The number of the fact with this id; -1 if there is none. */
  numberOf(id: string): number {
    const parts = /^f(\d{1,15})-(\d{1,15})$/.exec(id);
    if (parts === null) return -1;
    const generation = Number(parts[1]);
    const at = after(this.#generations, this.#writes, generation) - 1;
    if (at < 0 || this.#generations[at] !== generation) return -1;
    const number = (this.#firsts[at] as number) + Number(parts[2]);
    return number < this.#endOf(at) ? number : -1;
  }

  /**
   * The numbers of the new facts of this generation, `end` exclusive; an empty range if it asserted nothing.
   */
  numbersOf(generation: number): { readonly first: number; readonly end: number } {
    const at = after(this.#generations, this.#writes, generation) - 1;
    if (at < 0 || this.#generations[at] !== generation) return { first: 0, end: 0 };
    return { first: this.#firsts[at] as number, end: this.#endOf(at) };
  }

  /** The number after the last new fact of the write with this index. */
  #endOf(place: number): number {
    return place + 1 < this.#writes ? (this.#firsts[place + 1] as number) : this.#count;
  }

  #beginWrite(generation: number, first: number): void {
    if (this.#writes === this.#generations.length) {
      this.#generations = enlarged(this.#generations, new Float64Array(roomAfter(this.#writes)));
      this.#firsts = enlarged(this.#firsts, new Int32Array(this.#generations.length));
    }
    this.#generations[this.#writes] = generation;
    this.#firsts[this.#writes] = first;
    this.#writes++;
  }

  /** The index of the write that asserted the fact. */
  #writeOf(number: number): number {
    const place = after(this.#firsts, this.#writes, number) - 1;
    return present(place < 0 ? null : place, 'every fact belongs to a write');
  }
}

/** The index of the first of `count` ascending values that is greater than `value`. */
function after(values: Int32Array | Float64Array, count: number, value: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function roomAfter(length: number): number {
  return Math.max(64, length * 2);
}

function enlarged<Column extends Int32Array | Float64Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
