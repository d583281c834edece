import type { ChainIndex } from '../../store/chain-index.ts';
import type { Tuples } from '../../store/tuples.ts';
import type { Consumer, Derived } from '../model/derived.ts';
import { TupleSink, type TupleSinkParts, type Premises } from './tuple-sink.ts';
import type { Reader } from '../model/reader.ts';
import type { SeenBindings } from './seen-bindings.ts';

/**
 * The join machine: one rule, one order of its literals, started by a delta.
 *
 * It is a nested loop over index chains with its cursors kept outside the call stack, so that a join can stop
 * after any number of steps and go on later. Registers hold the ids of the rule's variables and constants, and the
 * rows that the steps stand on. The machine never waits and knows no limits: its owner calls `run` with a budget again
 * and again. What becomes of a match is for its `Emitter`; all of them are in the target when `run` returns.
 */

/** How the columns of a literal meet the registers. */
export interface AtomShape {
  /** Columns whose value is known before the literal is reached, and the registers that hold it. */
  readonly keyPositions: readonly number[];
  readonly keyRegisters: readonly number[];
  /** Columns that bind a register. */
  readonly bindPositions: readonly number[];
  readonly bindRegisters: readonly number[];
  /** Columns that repeat a variable bound by this very literal. */
  readonly samePositions: readonly number[];
  readonly sameRegisters: readonly number[];
  /** Where all that a row does is to bind one register: which, and the column; null for every other shape. */
  readonly binds: { readonly position: number; readonly register: number } | null;
}

/** A test, or an action that always passes, done as soon as its registers are bound. */
export type Guard = () => boolean;

/** Which rows of a derived relation a literal may see, given the delta in hand. */
export type Window = 'done' | 'before' | 'through';

const noGuards: readonly Guard[] = [];
/** A step looks at so many rows that do not match, and then lets others run. */
export const rowsAtOnce = 2048;
/** Looking for a row in a guard counts as this part of a step. */
const testsForStep = 8;

export abstract class Step {
  guards: readonly Guard[] = noGuards;
  /** Height of the row the step stands on. */
  height = 0;
  /** The register that holds the row the step stands on. */
  place = 0;
  /** True where the step is the last and hands its matches over itself: then `advance` has none. */
  collects = false;

  /** Prepares for the reader; called before the first use in an evaluation. */
  abstract bind(reader: Reader): void;
  /** Begins a pass with the registers as they are. */
  abstract enter(machine: Machine): void;
  /**
   * Moves to the next match and binds its registers; false at the end, and where the machine `isStalled`: then it goes
   * on from there when it is called again.
   */
  abstract advance(machine: Machine): boolean;

  /** What the rows that the step stands on are premises as; most kinds of step stand on none. */
  get premises(): Premises | null {
    // An absence, an aggregate, demand: what the row owes to those is looked after elsewhere.
    return null;
  }

  protected pass(): boolean {
    const guards = this.guards;
    for (let index = 0; index < guards.length; index++) if (!(guards[index] as Guard)()) return false;
    return true;
  }
}

/** In place of a row: there is none, or only a pass through the rows can tell. */
export const noRow = -1;
export const unsureRow = -2;

/** A step whose rows can also be looked up one by one, without a pass; all that is between two calls of `begin`. */
export abstract class KeyedStep extends Step {
  abstract readonly shape: AtomShape;
  /** Where all rows are gone over: the position by whose values they are grouped, -1 for none. */
  groupedBy = -1;

  /** False where `rowOf` never tells, and chains do not have all rows. */
  abstract get isSure(): boolean;
  /** Called after `bind`, at each start of the machine. */
  abstract begin(machine: Machine): void;
  /** The row that has the values in all columns, `noRow` where there is none, or `unsureRow`. */
  abstract rowOf(values: Int32Array): number;
  /**
   * 1 + the last of the rows with the values at the positions (ascending; always the same ones), 0 where there is none. Rows
   * may be among them that the step does not meet.
   */
  abstract chain(positions: readonly number[], values: Int32Array): number;
  /** 1 + the one before it in its chain, 0 at the end. */
  abstract next(row: number): number;
  abstract meets(row: number): boolean;
  abstract valueAt(row: number, position: number): number;
  abstract heightOf(row: number): number;
}

/** Gives the registers what the row has for them. False where it has two values for one. */
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

/** What starts a machine: some rows, from `from` to `to`, of the relation or of the list. */
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

/** Rows of a derived relation that are alive. */
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
      machine.registers[this.place] = row;
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
 * Rows that died, to look for another reason for each. Where heights count, those that one rule has revived are looked
 * at by the others too: they may have a lower reason.
 */
class DoubtfulStep extends DeltaStep {
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

/** A literal over a derived relation: an index chain, or every row where nothing is bound. */
class DerivedStep extends KeyedStep {
  readonly source: Derived;
  readonly shape: AtomShape;
  readonly window: Window;
  readonly #key: Int32Array;
  readonly #whole: boolean;
  #index: ChainIndex | null = null;
  /** The rows that the index is of: a table that is dropped gets others, perhaps for the same reader. */
  #indexed: Tuples | null = null;
  #cursor = 0;
  /** For rows that are looked up: those that the step may see, and the index of their chains. */
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
    const { shape, place, collects } = this;
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
      registers[place] = row;
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

export function deltaStep(source: Derived, shape: AtomShape): Step {
  return new DerivedDelta(source, shape);
}

/** Dead rows of the relation that a rule concludes: those that it may conclude for another reason. */
export function rederivationStep(source: Derived, shape: AtomShape): Step {
  return new DoubtfulStep(source, shape);
}

export function derivedStep(source: Derived, shape: AtomShape, window: Window): KeyedStep {
  return new DerivedStep(source, shape, window);
}

/** What a machine works for. */
export interface MachineParts extends Omit<TupleSinkParts, 'steps'> {
  /** Holds the constants already, and has a place for the row of every step. */
  readonly registers: Int32Array;
  /** A demand without arguments that is no step of the join: until it is met, the machine has nothing to do. */
  readonly gate: Derived | null;
  /** Asked by guards of the steps. */
  readonly seen: readonly SeenBindings[];
  /** Those of the steps that guards ask. */
  readonly tests: readonly Test[];
}

/** A step that a guard of the one before it asks. */
interface Test {
  /** Called at each start of the machine, and at its end. */
  begin(machine: Machine): void;
  end(): void;
}

export class Machine implements Consumer {
  readonly registers: Int32Array;
  chunkStart = 0;
  chunkEnd = 0;
  /** Matches of the whole body since the machine was made. */
  matches = 0;
  /** True where a step broke off to let others run. */
  isStalled = false;
  /** How often guards have looked for a row since `run` was called. */
  tests = 0;
  readonly #steps: readonly Step[];
  readonly #delta: DeltaStep;
  readonly #gate: Derived | null;
  readonly #once: boolean;
  readonly #seen: readonly SeenBindings[];
  readonly #tests: readonly Test[];
  readonly #emitter: TupleSink;
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
    this.#emitter = new TupleSink({ ...parts, steps });
    (steps[steps.length - 1] as Step).collects = !parts.once;
  }

  get isIdle(): boolean {
    return this.#gate !== null && this.#gate.done === 0;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    if (this.#boundTo !== reader) {
      for (const step of this.#steps) step.bind(reader);
      this.#emitter.bind();
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

  /** For a step that breaks off. */
  stall(): false {
    this.isStalled = true;
    return false;
  }

  /** Takes the match that the registers hold. */
  collect(): void {
    this.matches++;
    this.#emitter.take(this.registers);
  }

  run(budget: number): number {
    const left = this.#join(budget);
    this.#emitter.flush();
    return left;
  }

  #join(budget: number): number {
    const steps = this.#steps;
    const last = steps.length - 1;
    const end = this.matches + budget;
    const mostTests = budget * testsForStep;
    let left = budget;
    let level = this.#level;
    this.tests = 0;
    while (level >= 0) {
      const step = steps[level] as Step;
      if (left <= 0 || this.matches >= end || this.tests >= mostTests) {
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
