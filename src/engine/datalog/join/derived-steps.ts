import { present } from '../../base/assert.ts';
import type { AggregateName } from '../../contract/language.ts';
import { type RunningAggregate, runningAggregate } from '../../language/arithmetic.ts';
import { type ChainIndex, firstIn } from '../../store/chain-index.ts';
import { Tuples } from '../../store/tuples.ts';
import type { Constants } from '../model/constants.ts';
import type { Derived } from '../model/derived.ts';
import type { Reader } from '../model/reader.ts';
import {
  type AtomShape,
  bindRow,
  DeltaStep,
  type KeyedStep,
  type Machine,
  noRow,
  type Premises,
  rowsAtOnce,
  Step,
} from './machine.ts';
import type { ValueUse, Window } from '../plan/join-plan.ts';
import { noRows, type WholeRows } from './row-selection.ts';
import { type Sortable, SortableStep } from './sortable-step.ts';

/** The live rows of a delta of a derived relation. */
export class DerivedDelta extends DeltaStep {
  readonly source: Derived;

  constructor(source: Derived, shape: AtomShape) {
    super(shape);
    this.source = source;
  }

  override advance(machine: Machine): boolean {
    const { rows } = this.source;
    const isGuarded = this.guards.length > 0;
    let end = this.from + rowsAtOnce;
    while (this.from < this.to) {
      if (this.from === end) return machine.stall();
      const at = this.from++;
      const row = this.list === null ? at : (this.list[at] as number);
      if (rows.isDead(row)) continue;
      if (!this.matches(rows.columns, row, machine.registers)) continue;
      if (rows.heights !== null) this.height = rows.heights.of[row] as number;
      machine.registers[this.rowRegister] = row;
      if (isGuarded) {
        const isMatch = this.pass();
        if (machine.isWorn) end = this.from;
        if (!isMatch) continue;
      }
      if (!this.collects) return true;
      machine.collect();
    }
    return false;
  }

  override get premises(): Premises | null {
    const { support } = this.source;
    return support === null ? null : { kind: 'derived', support };
  }
}

/**
 * Dead rows to rederive. With heights, rows that one rule has revived are checked by the other rules too,
 * which may give a lesser height.
 */
export class RederivationDelta extends DerivedDelta {
  override advance(machine: Machine): boolean {
    const { rows } = this.source;
    const end = this.from + rowsAtOnce;
    while (this.from < this.to) {
      if (this.from === end || machine.isWorn) return machine.stall();
      const row = (this.list as readonly number[])[this.from++] as number;
      if (rows.heights === null && !rows.isDead(row)) continue;
      if (this.matches(rows.columns, row, machine.registers) && this.pass()) return true;
    }
    return false;
  }
  override get premises(): null {
    return null;
  }
}

/** Rows of a negated relation that came or went: they are no premises. */
export class ChangedRowsDelta extends DerivedDelta {
  override advance(machine: Machine): boolean {
    const { columns } = this.source.rows;
    const end = this.from + rowsAtOnce;
    while (this.from < this.to) {
      if (this.from === end || machine.isWorn) return machine.stall();
      const row = (this.list as readonly number[])[this.from++] as number;
      if (this.matches(columns, row, machine.registers) && this.pass()) return true;
    }
    return false;
  }

  override get premises(): null {
    return null;
  }
}

/** A literal over a derived relation: an index chain, or a full scan if nothing is bound. */
export class DerivedStep extends SortableStep {
  readonly source: Derived;
  readonly shape: AtomShape;
  readonly window: Window;
  readonly #key: Int32Array;
  readonly #whole: boolean;
  #index: ChainIndex | null = null;
  /** The rows of the index: a dropped table gets new rows, perhaps for the same reader. */
  #indexed: Tuples | null = null;
  #cursor = 0;
  /** True while the index lacks rows: they are added in steps. */
  #isBuilding = false;
  /** For look-ups: the number of rows that the step may see. */
  #seen = 0;

  constructor(source: Derived, shape: AtomShape, window: Window) {
    super();
    this.source = source;
    this.shape = shape;
    this.window = window;
    this.#key = new Int32Array(shape.keyPositions.length);
    this.#whole = shape.keyPositions.length === source.rows.arity;
  }

  override bind(): void {}

  override enter(machine: Machine): void {
    const { keyPositions, keyRegisters } = this.shape;
    const registers = machine.registers;
    const rows = this.source.rows;
    const key = this.#key;
    for (let index = 0; index < keyRegisters.length; index++)
      key[index] = registers[keyRegisters[index] as number] as number;
    if (this.#whole) this.#cursor = rows.find(key) + 1;
    else if (keyPositions.length === 0) this.#cursor = rows.count;
    else {
      if (this.#indexed !== rows) {
        this.#index = rows.indexToBuild(keyPositions);
        this.#indexed = rows;
      }
      const index = this.#index as ChainIndex;
      this.#isBuilding = index.rows < rows.count;
      if (!this.#isBuilding) this.#cursor = firstIn(index, key);
    }
  }

  /** Adds rows to the index; once it has them all, begins with the key. */
  #build(index: ChainIndex): boolean {
    this.#isBuilding = !index.takeIn(this.source.rows.count, rowsAtOnce);
    if (!this.#isBuilding) this.#cursor = firstIn(index, this.#key);
    return !this.#isBuilding;
  }

  override advance(machine: Machine): boolean {
    if (this.#isBuilding && !this.#build(this.#index as ChainIndex)) return machine.stall();
    const { rows } = this.source;
    const { columns, dead, heights } = rows;
    const { registers } = machine;
    const { shape, rowRegister, collects } = this;
    const limit = this.limitIn(machine);
    const chain = this.#index === null ? null : this.#index.next;
    const scan = this.#index === null && !this.#whole;
    const isGuarded = this.guards.length > 0;
    const column = shape.binds === null ? null : (columns[shape.binds.position] as Int32Array);
    const register = shape.binds === null ? 0 : shape.binds.register;
    let cursor = this.#cursor;
    let left = rowsAtOnce;
    while (cursor !== 0) {
      if (left-- === 0) {
        this.#cursor = cursor;
        return machine.stall();
      }
      const row = cursor - 1;
      cursor = chain !== null ? (chain[row] as number) : scan ? row : 0;
      if (row >= limit || (dead !== null && dead[row] !== 0)) continue;
      if (column !== null) registers[register] = column[row] as number;
      else if (!bindRow(columns, row, shape, registers)) continue;
      if (heights !== null) this.height = heights.of[row] as number;
      registers[rowRegister] = row;
      if (isGuarded) {
        const isMatch = this.pass();
        if (machine.isWorn) left = 0;
        if (!isMatch) continue;
      }
      if (collects) {
        machine.collect();
        continue;
      }
      this.#cursor = cursor;
      return true;
    }
    this.#cursor = 0;
    return false;
  }

  override begin(machine: Machine): void {
    this.#seen = this.limitIn(machine);
  }

  override rowOf(values: Int32Array): number {
    const row = this.source.rows.find(values);
    return row < this.#seen ? row : noRow;
  }

  override rowsOf(keys: readonly Int32Array[], count: number, rows: Int32Array): boolean {
    this.source.rows.findEach(keys, count, rows);
    for (let at = 0; at < count; at++) if ((rows[at] as number) >= this.#seen) rows[at] = noRow;
    return true;
  }

  override heightOf(row: number): number {
    const { heights } = this.source.rows;
    return heights === null ? 0 : (heights.of[row] as number);
  }

  override get arity(): number {
    return this.source.rows.arity;
  }

  override reads(other: SortableStep): boolean {
    return other instanceof DerivedStep && other.source === this.source && other.window === this.window;
  }

  /** For the window `done`, of a relation that is at its fixpoint. */
  override sortable(): Sortable {
    const { rows, done } = this.source;
    return { runs: rows.runs, columns: rows.columns, limit: done, count: rows.count, scope: null };
  }

  /** Its rows as columns, for the window `done`, of a relation that is at its fixpoint. */
  get whole(): WholeRows {
    return this.wholeBelow(this.source.done);
  }

  /** The rows before the limit. */
  wholeBelow(limit: number): WholeRows {
    const { rows } = this.source;
    return { ...noRows, columns: rows.columns, limit, dead: rows.dead };
  }

  override meets(row: number): boolean {
    const { rows, done } = this.source;
    return row < done && !rows.isDead(row);
  }

  limitIn(machine: { readonly chunkStart: number; readonly chunkEnd: number }): number {
    if (this.window === 'done') return this.source.done;
    return this.window === 'before' ? machine.chunkStart : machine.chunkEnd;
  }

  override get premises(): Premises | null {
    const { support } = this.source;
    return support === null ? null : { kind: 'derived', support };
  }
}

/**
 * Negation step: matches once if the inner step, whose columns are all bound or irrelevant, has no match. The
 * relation that it reads is at the fixpoint of its demand.
 */
export class AbsentStep extends Step {
  readonly inner: KeyedStep;
  #isOver = false;

  constructor(inner: KeyedStep) {
    super();
    this.inner = inner;
  }

  override bind(reader: Reader): void {
    this.inner.rowRegister = this.rowRegister;
    this.inner.bind(reader);
  }

  override enter(machine: Machine): void {
    this.inner.enter(machine);
    this.#isOver = false;
  }

  override advance(machine: Machine): boolean {
    if (this.#isOver) return false;
    const isThere = this.inner.advance(machine);
    if (machine.isStalled) return false;
    this.#isOver = true;
    return !isThere && this.pass();
  }
}

/** Tuples of a group that are compared one by one, rather than hashed. */
const maxFewTuples = 8;

/**
 * Aggregate step: matches at most once, with the value over all matches of the inner step. The relation that
 * it reads is at the fixpoint of its demand.
 */
export class AggregateStep extends Step {
  readonly name: AggregateName;
  readonly inner: Step;
  /** The register of what is aggregated; unused by a count. */
  readonly value: number;
  readonly result: number;
  readonly way: ValueUse;
  readonly #constants: Constants;
  /** The registers of a tuple, if the inner step may find it more than once; else null. */
  readonly repeated: readonly number[] | null;
  /** The tuples of this group so far: the first few one after the other, since most groups are small. */
  readonly #few: Int32Array;
  #fewEnd = 0;
  readonly #tuple: Int32Array;
  #others: Tuples | null = null;
  #isOver = false;
  #running: RunningAggregate | null = null;

  constructor(
    name: AggregateName,
    inner: Step,
    value: number,
    result: number,
    way: ValueUse,
    constants: Constants,
    repeated: readonly number[] | null,
  ) {
    super();
    this.repeated = repeated;
    this.#tuple = new Int32Array(repeated?.length ?? 0);
    this.#few = new Int32Array(this.#tuple.length * maxFewTuples);
    this.name = name;
    this.inner = inner;
    this.value = value;
    this.result = result;
    this.way = way;
    this.#constants = constants;
  }

  override bind(reader: Reader): void {
    this.inner.rowRegister = this.rowRegister;
    this.inner.bind(reader);
  }

  override enter(machine: Machine): void {
    this.inner.enter(machine);
    this.#isOver = false;
    this.#running = runningAggregate(this.name);
    this.#forget();
    this.height = 0;
  }

  override advance(machine: Machine): boolean {
    if (this.#isOver) return false;
    this.#take(machine);
    if (machine.isStalled) return false;
    this.#isOver = true;
    const { registers } = machine;
    this.#forget();
    const value = present(this.#running, 'the step was entered').value();
    if (value === null) return false;
    const id = this.#constants.idOf(value);
    const at = this.result;
    if (this.way === 'bind') registers[at] = id;
    else if (this.way === 'match' && registers[at] !== id) return false;
    else if (this.way === 'compare' && !this.#constants.equal(registers[at] as number, id)) return false;
    return this.pass();
  }

  /** Takes the matches of the inner step until the end, or until the machine must yield. */
  #take(machine: Machine): void {
    const inner = this.inner;
    const { registers } = machine;
    const running = present(this.#running, 'the step was entered');
    const readsText = this.name !== 'count';
    let left = rowsAtOnce;
    while (inner.advance(machine)) {
      if (this.repeated === null || this.#isNew(this.repeated, registers))
        running.add(readsText ? this.#constants.operand(registers[this.value] as number) : '');
      this.height = Math.max(this.height, inner.height);
      if (--left > 0 && !machine.isWorn) continue;
      machine.stall();
      return;
    }
  }

  #isNew(repeated: readonly number[], registers: Int32Array): boolean {
    const few = this.#few;
    const width = repeated.length;
    for (let from = 0; from < this.#fewEnd; from += width) {
      let same = 0;
      while (same < width && few[from + same] === registers[repeated[same] as number]) same++;
      if (same === width) return false;
    }
    const isFull = this.#fewEnd === few.length;
    const tuple = isFull ? this.#tuple : few;
    const start = isFull ? 0 : this.#fewEnd;
    for (let at = 0; at < width; at++) tuple[start + at] = registers[repeated[at] as number] as number;
    if (!isFull) {
      this.#fewEnd += width;
      return true;
    }
    this.#others ??= new Tuples(width, false, null, this.#constants.memory);
    return this.#others.insert(tuple) >= 0;
  }

  #forget(): void {
    this.#fewEnd = 0;
    this.#others?.release();
    this.#others = null;
  }
}
