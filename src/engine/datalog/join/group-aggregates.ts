import { fold } from '../../store/hash-slots.ts';
import { type TupleBatch, Tuples } from '../../store/tuples.ts';
import type { Constants } from '../model/constants.ts';
import type { Reader } from '../model/reader.ts';
import { type Accumulator, accumulatorOf, unknownResult } from './accumulators.ts';
import { type AggregateStep, type DerivedDelta, DerivedStep } from './derived-steps.ts';
import {
  noRows,
  type Selected,
  selectRows,
  type Tests,
  testsOf,
  valuesOf,
  type WholeRows,
} from './row-selection.ts';
import { StoredStep } from './stored-steps.ts';

/** One pass over all rows pays if there are no more than this many of them for each group that is wanted. */
const maxRowsPerGroup = 32;
/** It also pays if groups that are wanted have more than a part of the rows, of which it looks at so many. */
const rowsToSample = 64;
const minRowsToSample = 1024;
const minShare = 1 / 8;
/** Ids that a pass may have room for, for each row. */
const maxIdsPerRow = 16;

/** A column of the rows by which they are grouped, and the register with the value for which a group is wanted. */
interface KeyColumn {
  readonly position: number;
  readonly register: number;
}

/**
 * The aggregates of all groups by one pass over the rows of an atom: in place of an index, and of a chain for each group. The rows
 * are at their fixpoint, so the results are right for the reader.
 *
 * Groups with one key have its id as their number; those with several are numbered by a set of keys.
 */
export class GroupAggregates {
  readonly #step: AggregateStep;
  readonly #inner: StoredStep | DerivedStep;
  readonly #delta: DerivedDelta;
  readonly #constants: Constants;
  readonly #batch: TupleBatch;
  readonly #keys: readonly KeyColumn[];
  /** The positions of the same values in the rows that start the join. */
  readonly #wanted: readonly number[];
  readonly #tests: Tests;
  /** The column of the values; null: the aggregate counts. */
  readonly #value: number | null;
  /** The columns of a tuple, keys first, if rows may repeat it; else null. */
  readonly #tuple: readonly number[] | null;
  /** null: groups are read one by one. */
  #groups: Accumulator | null = null;
  #numbers: Tuples | null = null;
  #seen: Tuples | null = null;
  #whole: WholeRows = noRows;
  #equal: { position: number; value: number }[] = [];
  /** Rows below this are taken, or among `#rows`: those to be taken from `#at` on, with their groups and values. */
  #taken = 0;
  #rows: { readonly groups: Int32Array; readonly values: Int32Array; readonly count: number } | null = null;
  #at = 0;
  #reader: Reader | null = null;

  private constructor(
    step: AggregateStep,
    inner: StoredStep | DerivedStep,
    delta: DerivedDelta,
    constants: Constants,
    batch: TupleBatch,
  ) {
    const { bindPositions, bindRegisters } = inner.shape;
    const positionOf = (register: number): number => bindPositions[bindRegisters.indexOf(register)] as number;
    const { equal, same } = testsOf(inner.shape);
    const isKey = ({ register }: KeyColumn): boolean => delta.shape.bindRegisters.includes(register);
    this.#step = step;
    this.#inner = inner;
    this.#delta = delta;
    this.#constants = constants;
    this.#batch = batch;
    this.#keys = equal.filter(isKey);
    this.#wanted = this.#keys.map(
      ({ register }) => delta.shape.bindPositions[delta.shape.bindRegisters.indexOf(register)] as number,
    );
    this.#tests = { equal: equal.filter((column) => !isKey(column)), same };
    this.#value = step.name === 'count' ? null : positionOf(step.value);
    this.#tuple =
      step.repeated === null
        ? null
        : [...this.#keys.map(({ position }) => position), ...step.repeated.map(positionOf)];
  }

  /** null: the aggregate reads something else than the rows of one atom. */
  static of(
    step: AggregateStep,
    delta: DerivedDelta,
    constants: Constants,
    batch: TupleBatch,
  ): GroupAggregates | null {
    const { inner, repeated, name, value } = step;
    if (!(inner instanceof StoredStep || inner instanceof DerivedStep)) return null;
    const read = [...(name === 'count' ? [] : [value]), ...(repeated ?? [])];
    return read.every((register) => inner.shape.bindRegisters.includes(register))
      ? new GroupAggregates(step, inner, delta, constants, batch)
      : null;
  }

  /** Called when the join starts with rows `from` to `to`: begins a pass if that pays. One over stored facts serves further starts. */
  begin(reader: Reader, registers: Int32Array, from: number, to: number): void {
    const isStored = this.#inner instanceof StoredStep;
    if (isStored && this.#reader === reader && this.#groups !== null) return;
    this.end();
    const { whole } = this.#inner;
    if (whole === null || !this.#pays(whole, from, isStored ? this.#delta.source.rows.count : to)) return;
    const { memory, dictionary } = this.#constants;
    const groups = accumulatorOf(this.#step.name, this.#constants);
    if (this.#keys.length <= 1) groups.reserve(this.#keys.length === 0 ? 1 : dictionary.size);
    else this.#numbers = new Tuples(this.#keys.length, false, null, memory);
    if (this.#tuple !== null) this.#seen = new Tuples(this.#tuple.length, false, null, memory);
    this.#groups = groups;
    this.#whole = whole;
    this.#equal = this.#tests.equal.map(({ position, register }) => ({
      position,
      value: registers[register] as number,
    }));
    this.#taken = 0;
    this.#reader = reader;
  }

  #pays(whole: WholeRows, from: number, to: number): boolean {
    const [key, ...others] = this.#keys;
    if (key === undefined) return true;
    const ids = others.length > 0 ? 0 : this.#constants.dictionary.size;
    if (ids > whole.limit * maxIdsPerRow) return false;
    return whole.limit <= (to - from) * maxRowsPerGroup || this.#mostAreWanted(whole, from, to);
  }

  /** True if many of the rows seem to be in groups that are wanted: it compares hashes of keys. */
  #mostAreWanted({ columns, limit }: WholeRows, from: number, to: number): boolean {
    if (limit < minRowsToSample) return false;
    const { source } = this.#delta;
    const keys = this.#keys.map(({ position }) => position);
    const wanted = new Set<number>();
    for (let row = from; row < to; row++) wanted.add(hashAt(source.rows.columns, this.#wanted, row));
    let found = 0;
    for (let sample = 0; sample < rowsToSample; sample++)
      if (wanted.has(hashAt(columns, keys, Math.floor((limit * sample) / rowsToSample)))) found++;
    return found > rowsToSample * minShare;
  }

  /** Takes the next rows, at most so many. False if there are more. */
  take(most: number): boolean {
    const groups = this.#groups;
    if (groups === null) return true;
    try {
      return this.#take(groups, most);
    } catch (error) {
      // If the memory did not suffice, some rows are taken, and nobody knows which.
      this.end();
      throw error;
    }
  }

  #take(groups: Accumulator, most: number): boolean {
    const { limit } = this.#whole;
    if (this.#rows === null && this.#taken < limit) {
      const end = Math.min(limit, this.#taken + most);
      const selected = selectRows(this.#whole, this.#taken, end, this.#equal, this.#tests.same);
      this.#rows = this.#grouped(groups, selected);
      this.#at = 0;
      this.#taken = end;
    }
    if (this.#rows !== null) {
      const { groups: of, values, count } = this.#rows;
      this.#at = groups.take(of, values, this.#at, count);
      if (this.#at < count) return false;
      this.#rows = null;
    }
    return this.#taken === limit;
  }

  /** The groups and values of the selected rows, each tuple once. */
  #grouped(
    groups: Accumulator,
    selected: Selected,
  ): { readonly groups: Int32Array; readonly values: Int32Array; readonly count: number } {
    const { columns } = this.#whole;
    const rows = this.#seen === null ? selected : this.#newOnes(selected, this.#seen);
    const { count } = rows;
    const valuesAt = (position: number): Int32Array => valuesOf(columns[position] as Int32Array, rows);
    const keys = this.#keys.map(({ position }) => valuesAt(position));
    const numbers = this.#numbered(keys, count, groups);
    return { groups: numbers, values: this.#value === null ? numbers : valuesAt(this.#value), count };
  }

  /** The groups of rows with these keys, for which it makes room. */
  #numbered(keys: readonly Int32Array[], count: number, groups: Accumulator): Int32Array {
    if (this.#numbers === null) return keys[0] ?? new Int32Array(count);
    const numbers = new Int32Array(count);
    this.#batch.numberColumns(keys, count, this.#numbers, numbers);
    groups.reserve(this.#numbers.count);
    return numbers;
  }

  #newOnes(selected: Selected, seen: Tuples): Selected {
    const batch = this.#batch;
    const tuple = this.#tuple ?? [];
    const columns = tuple.map((position) => valuesOf(this.#whole.columns[position] as Int32Array, selected));
    const added = new Int32Array(selected.count);
    let fresh = 0;
    for (let at = 0; at < selected.count; ) {
      at = batch.takeColumns(columns, at, selected.count);
      batch.insertInto(seen, columns.length + 1);
      fresh = batch.newOnes(added, fresh, columns.length);
      batch.count = 0;
    }
    const { first, rows } = selected;
    for (let at = 0; at < fresh; at++) {
      const index = added[at] as number;
      added[at] = rows === null ? first + index : (rows[index] as number);
    }
    return { first: 0, rows: added, count: fresh };
  }

  /** Drops the results. */
  end(): void {
    this.#groups?.release();
    this.#numbers?.release();
    this.#seen?.release();
    this.#groups = null;
    this.#numbers = null;
    this.#seen = null;
    this.#rows = null;
    this.#whole = noRows;
  }

  /** For each of the selected rows that start the join, the constant for its group, `noResult` or `unknownResult`. All rows are taken. */
  resultsFor(selected: Selected): Int32Array {
    const groups = this.#groups;
    const results = new Int32Array(selected.count);
    if (groups === null) return results.fill(unknownResult);
    const { columns } = this.#delta.source.rows;
    const keys = this.#wanted.map((position) => valuesOf(columns[position] as Int32Array, selected));
    groups.resultsOf(this.#numbered(keys, selected.count, groups), results);
    return results;
  }
}

function hashAt(columns: readonly Int32Array[], positions: readonly number[], row: number): number {
  let hash = 0;
  for (const position of positions) hash = fold(hash, columns[position]?.[row] as number);
  return hash;
}
