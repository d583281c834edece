import { type TupleBatch, Tuples } from '../../store/tuples.ts';
import type { Constants } from '../model/constants.ts';
import { type AbsentStep, DerivedStep } from './derived-steps.ts';
import type { AtomShape } from './machine.ts';
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

/** The keys of a negated atom are collected if it has no more than this many rows for each that is tested. */
const maxRowsPerTest = 4;
/** Ids for which there may be a mark, for each row that is tested. */
const maxIdsPerTest = 64;
const bytesOfOther = 40;

/**
 * The keys that the rows of a negated atom have, collected in one pass, so that an absence is a test of columns: a mark by id if the
 * key is one column, else a set of tuples. The rows are at their fixpoint.
 */
export class AbsentKeys {
  readonly #inner: StoredStep | DerivedStep;
  readonly #constants: Constants;
  readonly #batch: TupleBatch;
  /** The columns of the key, and the registers that have their values elsewhere in the body. */
  readonly #positions: readonly number[];
  readonly registers: readonly number[];
  readonly #tests: Tests;
  readonly #key: Int32Array;
  #whole: WholeRows = noRows;
  #equal: { position: number; value: number }[] = [];
  /** Rows below this are collected. */
  #taken = 0;
  /** By id: 1 for a key. */
  #marks = new Uint8Array(0);
  /** Keys without room for a mark: constants that an evaluation made. */
  readonly #others = new Set<number>();
  #tuples: Tuples | null = null;

  private constructor(
    inner: StoredStep | DerivedStep,
    isVariable: (register: number) => boolean,
    constants: Constants,
    batch: TupleBatch,
  ) {
    const { equal, same } = testsOf(inner.shape);
    const keys = equal.filter(({ register }) => isVariable(register));
    this.#inner = inner;
    this.#constants = constants;
    this.#batch = batch;
    this.#positions = keys.map(({ position }) => position);
    this.registers = keys.map(({ register }) => register);
    this.#tests = { equal: equal.filter(({ register }) => !isVariable(register)), same };
    this.#key = new Int32Array(keys.length);
  }

  /** null: the atom shares no variable with `shapes`, those of the positive atoms. */
  static of(
    { inner }: AbsentStep,
    shapes: readonly AtomShape[],
    constants: Constants,
    batch: TupleBatch,
  ): AbsentKeys | null {
    if (!(inner instanceof StoredStep || inner instanceof DerivedStep)) return null;
    const isVariable = (register: number): boolean =>
      shapes.some(({ bindRegisters }) => bindRegisters.includes(register));
    return inner.shape.keyRegisters.some(isVariable)
      ? new AbsentKeys(inner, isVariable, constants, batch)
      : null;
  }

  /** Called after the step was bound to a reader. False if it does not pay for so many rows to test, or the rows are no columns. */
  begin(rows: number, registers: Int32Array): boolean {
    this.end();
    const { whole } = this.#inner;
    const { dictionary, memory } = this.#constants;
    const ids = this.#positions.length === 1 ? dictionary.size : 0;
    if (whole === null || whole.limit > rows * maxRowsPerTest || ids > rows * maxIdsPerTest) return false;
    memory.take(ids);
    this.#marks = new Uint8Array(ids);
    if (ids === 0) this.#tuples = new Tuples(this.#positions.length, false, null, memory);
    this.#whole = whole;
    this.#taken = 0;
    this.#equal = this.#tests.equal.map(({ position, register }) => ({
      position,
      value: registers[register] as number,
    }));
    return true;
  }

  /** Collects the keys of the next rows, at most so many. False if there are more. */
  collect(most: number): boolean {
    const whole = this.#whole;
    if (this.#taken === whole.limit) return true;
    const end = Math.min(whole.limit, this.#taken + most);
    const selected = selectRows(whole, this.#taken, end, this.#equal, this.#tests.same);
    const columns = this.#positions.map((position) =>
      valuesOf(whole.columns[position] as Int32Array, selected),
    );
    if (this.#tuples === null) this.#mark(columns[0] as Int32Array, selected);
    else this.#batch.numberColumns(columns, selected.count, this.#tuples, new Int32Array(selected.count));
    this.#taken = end;
    return end === whole.limit;
  }

  #mark(column: Int32Array, { count }: Selected): void {
    const marks = this.#marks;
    for (let at = 0; at < count; at++) {
      const id = column[at] as number;
      if (id < marks.length) marks[id] = 1;
      else if (!this.#others.has(id)) {
        this.#constants.memory.take(bytesOfOther);
        this.#others.add(id);
      }
    }
  }

  /** The indexes, ascending, of the first `count` keys that no row has. `columns`: the values of `registers`. */
  missing(columns: readonly Int32Array[], count: number): Int32Array {
    const found = new Int32Array(count);
    const [first] = columns;
    const end =
      this.#tuples === null
        ? this.#withoutMark(first as Int32Array, count, found)
        : this.#withoutTuple(this.#tuples, columns, count, found);
    return found.subarray(0, end);
  }

  #withoutMark(column: Int32Array, count: number, found: Int32Array): number {
    const marks = this.#marks;
    let end = 0;
    for (let at = 0; at < count; at++) {
      const id = column[at] as number;
      if (id < marks.length ? marks[id] === 0 : !this.#others.has(id)) found[end++] = at;
    }
    return end;
  }

  #withoutTuple(tuples: Tuples, columns: readonly Int32Array[], count: number, found: Int32Array): number {
    const key = this.#key;
    let end = 0;
    for (let at = 0; at < count; at++) {
      for (let position = 0; position < key.length; position++)
        key[position] = (columns[position] as Int32Array)[at] as number;
      if (tuples.find(key) < 0) found[end++] = at;
    }
    return end;
  }

  /** Drops the keys. */
  end(): void {
    this.#constants.memory.free(this.#marks.length + this.#others.size * bytesOfOther);
    this.#marks = new Uint8Array(0);
    this.#others.clear();
    this.#tuples?.release();
    this.#tuples = null;
    this.#whole = noRows;
    this.#taken = 0;
  }
}
