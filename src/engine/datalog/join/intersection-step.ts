import { present } from '../../base/assert.ts';
import { seek, type SortedRun, type SortedRuns } from '../../store/sorted-runs.ts';
import type { Reader } from '../model/reader.ts';
import { type KeyedStep, type Machine, noRow, rowsAtOnce, type Sortable, Step } from './machine.ts';

const noInts = new Int32Array(0);

/** A sorted run that a literal needs. */
interface Wanted extends Sortable {
  /** The columns by which the rows are sorted: those of the key, last that of the variable. */
  readonly order: readonly number[];
}

/** One literal of an intersection: all its columns are bound but the one of the variable. */
export class Sorted {
  readonly rows: KeyedStep;
  /** The column of the variable. */
  readonly #position: number;
  #run: SortedRun | null = null;
  /** The values of the key for which `from` and `to` are right; the scope comes first. */
  #key = noInts;
  #scopes = 0;
  #isKnown = false;
  /** The rows with the key. */
  from = 0;
  to = 0;
  /** The values of the variable by position in the run. */
  values: Int32Array = noInts;
  #sorted: Int32Array = noInts;

  /** `rows`: a literal whose shape binds one register. */
  constructor(rows: KeyedStep, position: number) {
    this.rows = rows;
    this.#position = position;
  }

  /** Called at each start of the machine: rows may have been added. */
  begin(machine: Machine): void {
    this.rows.begin(machine);
    this.#run = null;
    this.#isKnown = false;
  }

  /** The run that the reader needs; null if the rows cannot be sorted. */
  wanted(reader: Reader): Wanted | null {
    const sortable = this.rows.sortable(reader);
    if (sortable === null) return null;
    const { keyPositions } = this.rows.shape;
    const first = sortable.scope === null ? [] : [sortable.scope.position];
    return { ...sortable, order: [...first, ...keyPositions, this.#position] };
  }

  /** Makes a little of the run if it is not there yet. True once it is. */
  prepare(reader: Reader): boolean {
    if (this.#run !== null) return true;
    const { runs, limit, count, scope, order } = present(this.wanted(reader), 'its rows can be sorted');
    const run = runs.take(order, limit, count);
    if (run === null) return false;
    this.#run = run;
    this.#scopes = scope === null ? 0 : 1;
    this.#key = new Int32Array(order.length - 1);
    if (scope !== null) this.#key[0] = scope.value;
    this.values = run.values[order.length - 1] ?? noInts;
    this.#sorted = run.rows;
    return true;
  }

  /** Finds the rows with the key that is in the registers. */
  open(registers: Int32Array): void {
    const key = this.#key;
    const from = this.rows.shape.keyRegisters;
    let isSame = this.#isKnown;
    for (let index = 0; index < from.length; index++) {
      const value = registers[from[index] as number] as number;
      if (key[index + this.#scopes] === value) continue;
      key[index + this.#scopes] = value;
      isSame = false;
    }
    if (!isSame) this.#find(this.#run as SortedRun);
  }

  #find(run: SortedRun): void {
    const key = this.#key;
    this.#isKnown = true;
    this.from = 0;
    this.to = run.count;
    if (key.length === 0 || run.count === 0) return;
    const first = key[0] as number;
    this.from = run.first(first);
    this.to = run.first(first + 1);
    for (let level = 1; level < key.length; level++) {
      const values = run.values[level] as Int32Array;
      const value = key[level] as number;
      this.from = seek(values, this.from, this.to, value);
      this.to = seek(values, this.from, this.to, value + 1);
    }
  }

  /** The oldest row, from this position on and with the value at it, that the literal meets; or `noRow`. */
  rowAt(position: number): number {
    const { values, rows, to } = this;
    const value = values[position];
    for (let at = position; at < to && values[at] === value; at++) {
      const row = this.#sorted[at] as number;
      if (rows.meets(row)) return row;
    }
    return noRow;
  }
}

/**
 * Binds one variable to the values that it has in several literals, whose other columns are all bound: one
 * level of a leapfrog triejoin (Veldhuizen). The values of each literal are a range of a sorted run; whichever
 * is behind seeks the value of the one ahead, so the cost is that of the smallest range.
 *
 * It finds one row for each literal: the oldest that the reader sees, if several have the same columns.
 */
export class IntersectionStep extends Step {
  readonly #literals: readonly Sorted[];
  readonly #register: number;
  readonly #at: Int32Array;
  #reader: Reader | null = null;
  #isReady = false;
  #isToOpen = false;

  /** At least two literals; each binds or has the register, and no other that is not bound. */
  constructor(literals: readonly Sorted[], register: number) {
    super();
    this.#literals = literals;
    this.#register = register;
    this.#at = new Int32Array(literals.length);
  }

  override get found(): readonly Step[] {
    return this.#literals.map(({ rows }) => rows);
  }

  get literals(): readonly Sorted[] {
    return this.#literals;
  }

  override bind(reader: Reader): void {
    this.#reader = reader;
    for (const { rows } of this.#literals) rows.bind(reader);
  }

  /** Called at each start of the machine. */
  begin(machine: Machine): void {
    this.#isReady = false;
    for (const literal of this.#literals) literal.begin(machine);
  }

  end(): void {}

  override enter(machine: Machine): void {
    this.#isToOpen = true;
    if (this.#isReady) this.#open(machine);
  }

  #open(machine: Machine): void {
    this.#isToOpen = false;
    const literals = this.#literals;
    for (let index = 0; index < literals.length; index++) {
      const literal = literals[index] as Sorted;
      literal.open(machine.registers);
      this.#at[index] = literal.from;
    }
  }

  #prepare(): boolean {
    const reader = present(this.#reader, 'a step is bound before it is used');
    for (const literal of this.#literals) if (!literal.prepare(reader)) return false;
    this.#isReady = true;
    return true;
  }

  override advance(machine: Machine): boolean {
    if (!this.#isReady && !this.#prepare()) return machine.stall();
    if (this.#isToOpen) this.#open(machine);
    return this.#literals.length === 2 ? this.#advanceTwo(machine) : this.#advanceAll(machine);
  }

  #advanceTwo(machine: Machine): boolean {
    const left = this.#literals[0] as Sorted;
    const right = this.#literals[1] as Sorted;
    const { values: leftValues, to: leftEnd } = left;
    const { values: rightValues, to: rightEnd } = right;
    const at = this.#at;
    let one = at[0] as number;
    let other = at[1] as number;
    let most = rowsAtOnce;
    while (one < leftEnd && other < rightEnd) {
      const value = leftValues[one] as number;
      const wanted = rightValues[other] as number;
      if (value < wanted) one = seek(leftValues, one + 1, leftEnd, wanted);
      else if (value > wanted) other = seek(rightValues, other + 1, rightEnd, value);
      else {
        at[0] = one;
        at[1] = other;
        const isMatch = this.#meet(machine, value);
        one = at[0];
        other = at[1];
        if (machine.isWorn) most = 0;
        if (isMatch) return true;
      }
      if (--most <= 0) {
        at[0] = one;
        at[1] = other;
        return machine.stall();
      }
    }
    at[0] = leftEnd;
    return false;
  }

  #advanceAll(machine: Machine): boolean {
    const literals = this.#literals;
    const last = literals.length - 1;
    const at = this.#at;
    let most = rowsAtOnce;
    for (;;) {
      let agreed = 0;
      const [first] = literals;
      let position = at[0] as number;
      if (position >= (first as Sorted).to) return false;
      let value = (first as Sorted).values[position] as number;
      for (let index = 1; agreed < last; index = index === last ? 0 : index + 1) {
        const { values, to } = literals[index] as Sorted;
        position = seek(values, at[index] as number, to, value);
        at[index] = position;
        if (position >= to) {
          at[0] = (first as Sorted).to;
          return false;
        }
        const found = values[position] as number;
        if (found === value) agreed++;
        else {
          value = found;
          agreed = 0;
        }
        most--;
      }
      const isMatch = this.#meet(machine, value);
      if (machine.isWorn) most = 0;
      if (isMatch) return true;
      if (most <= 0) return machine.stall();
    }
  }

  /** All literals are at the value: finds their rows, and moves past it. True if the step has a match to return. */
  #meet(machine: Machine, value: number): boolean {
    const literals = this.#literals;
    const at = this.#at;
    const { registers } = machine;
    let isMatch = true;
    for (let index = 0; index < literals.length; index++) {
      const literal = literals[index] as Sorted;
      const position = at[index] as number;
      if (isMatch) {
        const row = literal.rowAt(position);
        if (row === noRow) isMatch = false;
        else registers[literal.rows.rowRegister] = row;
      }
      at[index] = seek(literal.values, position + 1, literal.to, value + 1);
    }
    if (!isMatch) return false;
    registers[this.#register] = value;
    if (!this.pass()) return false;
    if (!this.collects) return true;
    machine.collect();
    return false;
  }
}

/** Sorting a row costs about as much as this many candidates that a join tests one by one. */
const candidatesPerRow = 2;

/**
 * Whether the intersections of a machine pay: sorted runs cost time in proportion to their relations, so they
 * are made once the joins that had to do without would have tested about as many candidates (ski rental).
 */
export class Intersections {
  readonly #steps: IntersectionStep[] = [];
  /** Candidates that joins without sorted runs are expected to test, for each row that they start with. */
  #candidates = 0;
  #tested = 0;

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  /** `candidates`: those of one start row that the step is expected to save. */
  add(step: IntersectionStep, candidates: number): void {
    this.#steps.push(step);
    this.#candidates += candidates;
  }

  /** True if a join that starts with so many rows should intersect. */
  pay(reader: Reader, rows: number): boolean {
    const missing = this.#missing(reader);
    this.#tested += rows * this.#candidates;
    if (this.#tested < missing * candidatesPerRow) return false;
    this.#tested = 0;
    return true;
  }

  /** Rows to sort; infinite if some cannot be sorted. */
  #missing(reader: Reader): number {
    const seen = new Map<SortedRuns, Set<string>>();
    let missing = 0;
    for (const { literals } of this.#steps)
      for (const literal of literals) {
        const wanted = literal.wanted(reader);
        if (wanted === null) return Number.POSITIVE_INFINITY;
        const { runs, order, limit, count } = wanted;
        const orders = seen.get(runs) ?? new Set();
        seen.set(runs, orders);
        if (!orders.has(order.join(',')) && !runs.has(order, limit)) missing += count;
        orders.add(order.join(','));
      }
    return missing;
  }
}
