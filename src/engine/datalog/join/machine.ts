import type { ChainIndex } from '../../store/chain-index.ts';
import type { Tuples } from '../../store/tuples.ts';
import type { Consumer, Derived } from '../model/derived.ts';
import { TupleSink, type TupleSinkParts, type Premises } from './tuple-sink.ts';
import type { Reader } from '../model/reader.ts';
import type { SeenBindings } from './seen-bindings.ts';

/** How the columns of a literal map to registers. */
export interface AtomShape {
  /** Columns whose value is known before the literal is reached, and the registers with those values. */
  readonly keyPositions: readonly number[];
  readonly keyRegisters: readonly number[];
  /** Columns that bind a register. */
  readonly bindPositions: readonly number[];
  readonly bindRegisters: readonly number[];
  /** Columns that repeat a variable bound by this same literal. */
  readonly samePositions: readonly number[];
  readonly sameRegisters: readonly number[];
  /**
   * If binding one register is all that a row does: that register and its column; null for every other shape.
   */
  readonly binds: { readonly position: number; readonly register: number } | null;
}

/** A test, or an action that always passes, run as soon as its registers are bound. */
export type Guard = () => boolean;

/**
 * The rows of a derived relation that a literal may read, given the current delta: all joined ones, those
 * before the delta's chunk, or those through its end.
 */
export type Window = 'done' | 'before' | 'through';

const noGuards: readonly Guard[] = [];
/** A step scans at most this many non-matching rows before it yields. */
export const rowsAtOnce = 2048;
/** This many look-ups in guards count as one step of the budget. */
const testsPerStep = 8;

/** One step of a join: a cursor over the matches of a literal, given the registers bound before. */
export abstract class Step {
  guards: readonly Guard[] = noGuards;
  /** Height of the current row. */
  height = 0;
  /** The register that has the number of the current row. */
  rowRegister = 0;
  /** True for a last step that passes its matches on itself, so that `advance` returns none. */
  collects = false;

  /** Prepares for the reader; called before the first use in an evaluation. */
  abstract bind(reader: Reader): void;
  /** Starts a scan with the current registers. */
  abstract enter(machine: Machine): void;
  /**
   * Moves to the next match and binds its registers. False at the end, or if the machine `isStalled`: the
   * next call then continues.
   */
  abstract advance(machine: Machine): boolean;

  /** The relation in which the current row is a premise; null for most kinds of step. */
  get premises(): Premises | null {
    // Dependencies on negation, aggregates and demand are tracked elsewhere.
    return null;
  }

  protected pass(): boolean {
    const guards = this.guards;
    for (let index = 0; index < guards.length; index++) if (!(guards[index] as Guard)()) return false;
    return true;
  }
}

/** Returned instead of a row: there is none, or only a scan can tell. */
export const noRow = -1;
export const unsureRow = -2;

/** A step whose rows can also be looked up one by one, without a scan, between two calls of `begin`. */
export abstract class KeyedStep extends Step {
  abstract readonly shape: AtomShape;
  /** False if `rowOf` never tells, and chains may lack rows. */
  abstract get isSure(): boolean;
  /** Called after `bind`, at each start of the machine. */
  abstract begin(machine: Machine): void;
  /** The row with these values in all columns, `noRow` if there is none, or `unsureRow`. */
  abstract rowOf(values: Int32Array): number;
  /**
   * 1 + the newest row with the values at the positions (ascending, always the same), 0 if there is none. May
   * include rows that the step does not meet.
   */
  abstract chain(positions: readonly number[], values: Int32Array): number;
  /** 1 + the row before it in its chain, 0 at the end. */
  abstract next(row: number): number;
  abstract meets(row: number): boolean;
  abstract valueAt(row: number, position: number): number;
  abstract heightOf(row: number): number;
}

/** Binds the registers to the row's values. False if it has two values for one register. */
export function bindRow(
  columns: readonly Int32Array[],
  row: number,
  shape: AtomShape,
  registers: Int32Array,
): boolean {
  const { bindPositions, bindRegisters, samePositions, sameRegisters } = shape;
  for (let index = 0; index < bindPositions.length; index++)
    registers[bindRegisters[index] as number] = (columns[bindPositions[index] as number] as Int32Array)[
      row
    ] as number;
  for (let index = 0; index < samePositions.length; index++)
    if (
      (columns[samePositions[index] as number] as Int32Array)[row] !==
      registers[sameRegisters[index] as number]
    )
      return false;
  return true;
}

/** The first step of a machine: rows `from` to `to` of the relation, or of the list. */
export abstract class DeltaStep extends Step {
  readonly shape: AtomShape;
  from = 0;
  to = 0;
  list: readonly number[] | null = null;

  constructor(shape: AtomShape) {
    super();
    this.shape = shape;
  }

  override enter(): void {}

  /** Called after `bind` and before each use. */
  begin(from: number, to: number, list: readonly number[] | null): void {
    this.list = list;
    this.from = from;
    this.to = to;
  }

  protected matches(columns: readonly Int32Array[], row: number, registers: Int32Array): boolean {
    const { keyPositions, keyRegisters } = this.shape;
    for (let index = 0; index < keyPositions.length; index++)
      if (
        (columns[keyPositions[index] as number] as Int32Array)[row] !==
        registers[keyRegisters[index] as number]
      )
        return false;
    return bindRow(columns, row, this.shape, registers);
  }
}

/** The live rows of a delta of a derived relation. */
class DerivedDelta extends DeltaStep {
  readonly source: Derived;

  constructor(source: Derived, shape: AtomShape) {
    super(shape);
    this.source = source;
  }

  override bind(): void {}

  override advance(machine: Machine): boolean {
    const { rows } = this.source;
    const end = this.from + rowsAtOnce;
    while (this.from < this.to) {
      if (this.from === end) return machine.stall();
      const at = this.from++;
      const row = this.list === null ? at : (this.list[at] as number);
      if (rows.isDead(row)) continue;
      if (!this.matches(rows.columns, row, machine.registers)) continue;
      if (rows.heights !== null) this.height = rows.heights.of[row] as number;
      machine.registers[this.rowRegister] = row;
      if (!this.pass()) continue;
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
class RederivationDelta extends DeltaStep {
  readonly #source: Derived;

  constructor(source: Derived, shape: AtomShape) {
    super(shape);
    this.#source = source;
  }

  override bind(): void {}

  override advance(machine: Machine): boolean {
    const { rows } = this.#source;
    const end = this.from + rowsAtOnce;
    while (this.from < this.to) {
      if (this.from === end) return machine.stall();
      const row = (this.list as readonly number[])[this.from++] as number;
      if (rows.heights === null && !rows.isDead(row)) continue;
      if (this.matches(rows.columns, row, machine.registers) && this.pass()) return true;
    }
    return false;
  }
}

/** A literal over a derived relation: an index chain, or a full scan if nothing is bound. */
class DerivedStep extends KeyedStep {
  readonly source: Derived;
  readonly shape: AtomShape;
  readonly window: Window;
  readonly #key: Int32Array;
  readonly #whole: boolean;
  #index: ChainIndex | null = null;
  /** The rows of the index: a dropped table gets new rows, perhaps for the same reader. */
  #indexed: Tuples | null = null;
  #cursor = 0;
  /** For look-ups: the number of rows that the step may see, and the index of their chains. */
  #seen = 0;
  #chains: ChainIndex | null = null;

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
        this.#index = rows.index(keyPositions);
        this.#indexed = rows;
      }
      const index = this.#index as ChainIndex;
      this.#cursor = keyPositions.length === 1 ? index.firstOf(key[0] as number) : index.first(key);
    }
  }

  override advance(machine: Machine): boolean {
    const { rows } = this.source;
    const { columns, dead, heights } = rows;
    const { registers } = machine;
    const { shape, rowRegister, collects } = this;
    const limit = this.#limit(machine);
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
      if (isGuarded && !this.pass()) continue;
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
    this.#seen = this.#limit(machine);
    this.#chains = null;
  }

  override get isSure(): boolean {
    return true;
  }

  override rowOf(values: Int32Array): number {
    const row = this.source.rows.find(values);
    return row < this.#seen ? row : noRow;
  }

  override chain(positions: readonly number[], values: Int32Array): number {
    const { rows } = this.source;
    if (positions.length === 0) return rows.count;
    this.#chains ??= rows.index(positions);
    return this.#chains.first(values);
  }

  override next(row: number): number {
    return this.#chains === null ? row : (this.#chains.next[row] as number);
  }

  override meets(row: number): boolean {
    return row < this.#seen && !this.source.rows.isDead(row);
  }

  override valueAt(row: number, position: number): number {
    return (this.source.rows.columns[position] as Int32Array)[row] as number;
  }

  override heightOf(row: number): number {
    const { heights } = this.source.rows;
    return heights === null ? 0 : (heights.of[row] as number);
  }

  #limit(machine: Machine): number {
    if (this.window === 'done') return this.source.done;
    return this.window === 'before' ? machine.chunkStart : machine.chunkEnd;
  }

  override get premises(): Premises | null {
    const { support } = this.source;
    return support === null ? null : { kind: 'derived', support };
  }
}

/** A step over the delta of a derived relation. */
export function deltaStep(source: Derived, shape: AtomShape): Step {
  return new DerivedDelta(source, shape);
}

/** A step over dead rows of the relation that a rule concludes, to find another derivation of each. */
export function rederivationStep(source: Derived, shape: AtomShape): Step {
  return new RederivationDelta(source, shape);
}

/** A step over a derived relation. */
export function derivedStep(source: Derived, shape: AtomShape, window: Window): KeyedStep {
  return new DerivedStep(source, shape, window);
}

/** What a machine is made of. */
export interface MachineParts extends Omit<TupleSinkParts, 'steps'> {
  /** Has the constants in rowRegister, and an element for the row of every step. */
  readonly registers: Int32Array;
  /** A demand without arguments that is no step of the join: until it is met, the machine is idle. */
  readonly gate: Derived | null;
  /** Tested by guards of the steps. */
  readonly seen: readonly SeenBindings[];
  /** The steps that guards test. */
  readonly tests: readonly Test[];
}

/** A step tested by a guard of the step before it. */
interface Test {
  /** Called at each start of the machine, and at its end. */
  begin(machine: Machine): void;
  end(): void;
}

/**
 * The join machine: one rule in one join order, started by a delta.
 *
 * A nested-loop join over index chains with explicit cursors instead of a call stack, so that it can stop
 * after any number of steps and resume. Registers have the ids of the rule's variables and constants, and the
 * row of every step. It never waits and knows no limits: its owner calls `run` with a budget, repeatedly. A
 * `TupleSink` takes the matches; all are in the target when `run` returns.
 */
export class Machine implements Consumer {
  readonly registers: Int32Array;
  chunkStart = 0;
  chunkEnd = 0;
  /** Matches of the whole body so far. */
  matches = 0;
  /** True if a step broke off to yield. */
  isStalled = false;
  /** Look-ups in guards since `run` was called. */
  tests = 0;
  readonly #steps: readonly Step[];
  readonly #delta: DeltaStep;
  readonly #gate: Derived | null;
  readonly #once: boolean;
  readonly #seen: readonly SeenBindings[];
  readonly #tests: readonly Test[];
  readonly #sink: TupleSink;
  #level = -1;
  #boundTo: Reader | null = null;

  /** The first step is the delta. */
  constructor(steps: readonly Step[], parts: MachineParts) {
    this.#steps = steps;
    this.#delta = steps[0] as DeltaStep;
    this.#gate = parts.gate;
    this.#once = parts.once;
    this.#seen = parts.seen;
    this.#tests = parts.tests;
    this.registers = parts.registers;
    this.#sink = new TupleSink({ ...parts, steps });
    (steps[steps.length - 1] as Step).collects = !parts.once;
  }

  get isIdle(): boolean {
    return this.#gate !== null && this.#gate.done === 0;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    if (this.#boundTo !== reader) {
      for (const step of this.#steps) step.bind(reader);
      this.#sink.bind();
      for (const seen of this.#seen) seen.reset();
      this.#boundTo = reader;
    }
    for (const seen of this.#seen) seen.begin();
    if (list === null) this.#delta.begin(from, to, null);
    else this.#delta.begin(0, list.length, list);
    this.chunkStart = list === null ? from : done;
    this.chunkEnd = list === null ? to : done;
    for (const test of this.#tests) test.begin(this);
    this.#level = 0;
    this.isStalled = false;
  }

  /** Called by a step that breaks off to yield. */
  stall(): false {
    this.isStalled = true;
    return false;
  }

  /** Takes the match that is in the registers. */
  collect(): void {
    this.matches++;
    this.#sink.take(this.registers);
  }

  run(budget: number): number {
    const left = this.#join(budget);
    this.#sink.flush();
    return left;
  }

  #join(budget: number): number {
    const steps = this.#steps;
    const last = steps.length - 1;
    const end = this.matches + budget;
    const maxTests = budget * testsPerStep;
    let left = budget;
    let level = this.#level;
    this.tests = 0;
    while (level >= 0) {
      const step = steps[level] as Step;
      if (left <= 0 || this.matches >= end || this.tests >= maxTests) {
        this.#level = level;
        return 0;
      }
      left--;
      if (!step.advance(this)) {
        if (this.isStalled) {
          this.isStalled = false;
          this.#level = level;
          return 0;
        }
        level--;
      } else if (level === last) {
        this.collect();
        if (this.#once) level = 0;
      } else {
        level++;
        (steps[level] as Step).enter(this);
      }
    }
    this.#level = -1;
    for (const seen of this.#seen) seen.end();
    for (const test of this.#tests) test.end();
    return Math.max(1, left);
  }
}
