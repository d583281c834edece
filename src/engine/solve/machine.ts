import type { ChainIndex } from '../facts/chain-index.ts';
import type { Tuples } from '../facts/tuples.ts';
import { type Consumer, type Derived, phases, type Support, type Work } from './derived.ts';
import type { Seen } from './observer.ts';
import type { Reader } from './reader.ts';
import type { Justifications } from './justifications.ts';

/**
 * The join machine: one rule, one order of its literals, started by a delta.
 *
 * It is a nested loop over index chains with its cursors kept outside the call stack, so that a join can stop
 * after any number of steps and go on later. Registers hold the ids of the rule's variables and constants.
 * The machine never waits and knows no limits: its owner calls `run` with a budget again and again.
 */

/** How the columns of a literal meet the registers. */
export interface Shape {
  /** Columns whose value is known before the literal is reached, and the registers that hold it. */
  readonly keyPositions: readonly number[];
  readonly keyRegisters: readonly number[];
  /** Columns that bind a register. */
  readonly bindPositions: readonly number[];
  readonly bindRegisters: readonly number[];
  /** Columns that repeat a variable bound by this very literal. */
  readonly samePositions: readonly number[];
  readonly sameRegisters: readonly number[];
}

/** A test, or an action that always passes, done as soon as its registers are bound. */
export type Guard = () => boolean;

/** Which rows of a derived relation a literal may see, given the delta in hand. */
export type Window = 'done' | 'before' | 'through';

const noGuards: readonly Guard[] = [];
/** A step looks at so many rows that do not match, and then lets others run. */
export const rowsAtOnce = 2048;

export abstract class Step {
  guards: readonly Guard[] = noGuards;
  /** Height of the row the step stands on. */
  height = 0;
  /** The row the step stands on. */
  row = 0;

  /** Prepares for the reader; called before the first use in an evaluation. */
  abstract bind(reader: Reader): void;
  /** Begins a pass with the registers as they are. */
  abstract enter(machine: Machine): void;
  /**
   * Moves to the next match and binds its registers; false at the end, and where the machine `isStalled`: then it goes
   * on from there when it is called again.
   */
  abstract advance(machine: Machine): boolean;

  /** Notes what the step stands on as a premise of the row in hand; most kinds of step stand on none. */
  justify(_justifications: Justifications, _target: Support, _row: number): void {
    // An absence, an aggregate, demand: what the row owes to those is looked after elsewhere.
  }

  protected pass(): boolean {
    const guards = this.guards;
    for (let index = 0; index < guards.length; index++) if (!(guards[index] as Guard)()) return false;
    return true;
  }
}

/** Gives the registers what the row has for them. False where it has two values for one. */
export function bindRow(
  columns: readonly Int32Array[],
  row: number,
  shape: Shape,
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
  readonly shape: Shape;
  from = 0;
  to = 0;
  list: readonly number[] | null = null;

  constructor(shape: Shape) {
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

  constructor(source: Derived, shape: Shape) {
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
      this.row = row;
      if (this.pass()) return true;
    }
    return false;
  }

  override justify(justifications: Justifications, target: Support, row: number): void {
    const { support } = this.source;
    if (support !== null) justifications.add(support, this.row, target, row);
  }
}

/**
 * Rows that died, to look for another reason for each. Where heights count, those that one rule has revived are looked
 * at by the others too: they may have a lower reason.
 */
class DoubtfulStep extends DeltaStep {
  readonly #source: Derived;

  constructor(source: Derived, shape: Shape) {
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
class DerivedStep extends Step {
  readonly source: Derived;
  readonly shape: Shape;
  readonly window: Window;
  readonly #key: Int32Array;
  readonly #whole: boolean;
  #index: ChainIndex | null = null;
  /** The rows that the index is of: a table that is dropped gets others, perhaps for the same reader. */
  #indexed: Tuples | null = null;
  #cursor = 0;

  constructor(source: Derived, shape: Shape, window: Window) {
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
    const rows = this.source.rows;
    const limit =
      this.window === 'done'
        ? this.source.done
        : this.window === 'before'
          ? machine.chunkStart
          : machine.chunkEnd;
    const chain = this.#index === null ? null : this.#index.next;
    const scan = this.#index === null && !this.#whole;
    const { dead } = rows;
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
      if (!bindRow(rows.columns, row, this.shape, machine.registers)) continue;
      if (rows.heights !== null) this.height = rows.heights.of[row] as number;
      this.row = row;
      if (!this.pass()) continue;
      this.#cursor = cursor;
      return true;
    }
    this.#cursor = 0;
    return false;
  }

  override justify(justifications: Justifications, target: Support, row: number): void {
    const { support } = this.source;
    if (support !== null) justifications.add(support, this.row, target, row);
  }
}

export function deltaStep(source: Derived, shape: Shape): Step {
  return new DerivedDelta(source, shape);
}

/** Dead rows of the relation that a rule concludes: those that it may conclude for another reason. */
export function doubtfulStep(source: Derived, shape: Shape): Step {
  return new DoubtfulStep(source, shape);
}

export function derivedStep(source: Derived, shape: Shape, window: Window): Step {
  return new DerivedStep(source, shape, window);
}

/** What a match of the whole body does: one tuple for `target`, made of registers. */
export interface Emission {
  readonly target: Derived;
  readonly registers: readonly number[];
  /** Added to the greatest height of the premises: 1 for a rule, 0 for a step that proofs do not show. */
  readonly rise: number;
  /** Counts the tuples that were new; null where nobody asks. */
  readonly tally: Tally | null;
  /** Told of every match, where an observer watches. */
  readonly seen: Seen | null;
}

/** How often a rule drew a conclusion that was new. */
export interface Tally {
  fired: number;
}

/** Puts a tuple into a derived relation, and the relation on the work list where that is news. */
export function put(target: Derived, tuple: Int32Array, height: number, work: Work): boolean {
  const row = target.rows.insert(tuple, height);
  if (row >= 0) work.add(target, phases.join);
  return row >= 0;
}

/** What a machine works for. */
export interface MachineParts {
  readonly emission: Emission;
  /** Holds the constants already. */
  readonly registers: Int32Array;
  readonly work: Work;
  /** A demand without arguments that is no step of the join: until it is met, the machine has nothing to do. */
  readonly gate: Derived | null;
  /** Where the target's rows are justified. */
  readonly justifications: Justifications;
  /** One match for a row of the delta is enough. */
  readonly once: boolean;
}

export class Machine implements Consumer {
  readonly registers: Int32Array;
  chunkStart = 0;
  chunkEnd = 0;
  /** Matches of the whole body since the machine was made. */
  matches = 0;
  /** True where a step broke off to let others run. */
  isStalled = false;
  readonly #steps: readonly Step[];
  readonly #delta: DeltaStep;
  readonly #parts: MachineParts;
  readonly #tuple: Int32Array;
  #level = -1;
  #boundTo: Reader | null = null;

  /** The first step is the delta. */
  constructor(steps: readonly Step[], parts: MachineParts) {
    this.#steps = steps;
    this.#delta = steps[0] as DeltaStep;
    this.#parts = parts;
    this.#tuple = new Int32Array(parts.emission.registers.length);
    this.registers = parts.registers;
  }

  get isIdle(): boolean {
    const { gate } = this.#parts;
    return gate !== null && gate.done === 0;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    if (this.#boundTo !== reader) {
      for (const step of this.#steps) step.bind(reader);
      this.#boundTo = reader;
    }
    if (list === null) this.#delta.begin(from, to, null);
    else this.#delta.begin(0, list.length, list);
    this.chunkStart = list === null ? from : done;
    this.chunkEnd = list === null ? to : done;
    this.#level = 0;
    this.isStalled = false;
  }

  /** For a step that breaks off. */
  stall(): false {
    this.isStalled = true;
    return false;
  }

  run(budget: number): number {
    const steps = this.#steps;
    const last = steps.length - 1;
    const { once } = this.#parts;
    let left = budget;
    let level = this.#level;
    while (level >= 0) {
      const step = steps[level] as Step;
      if (left <= 0) {
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
        this.#emit();
        if (once) level = 0;
      } else {
        level++;
        (steps[level] as Step).enter(this);
      }
    }
    this.#level = -1;
    return Math.max(1, left);
  }

  #emit(): void {
    const { emission, work } = this.#parts;
    const { target, registers, rise, tally, seen } = emission;
    const tuple = this.#tuple;
    for (let index = 0; index < registers.length; index++)
      tuple[index] = this.registers[registers[index] as number] as number;
    this.matches++;
    const { rows } = target;
    let height = 0;
    if (rows.heights !== null) {
      const steps = this.#steps;
      for (let index = 0; index < steps.length; index++) {
        const of = (steps[index] as Step).height;
        if (of > height) height = of;
      }
      height += rise;
    }
    const row = rows.insert(tuple, height);
    if (row >= 0) {
      work.add(target, phases.join);
      if (target.support !== null) this.#justify(target.support, row);
      if (tally !== null) tally.fired++;
    } else if (rows.improved >= 0) this.#improve(target, rows.improved);
    if (seen !== null) seen(tuple, row >= 0);
  }

  /** A row that was there has come back, or has a lesser height. */
  #improve(target: Derived, row: number): void {
    if (target.support !== null) {
      if (target.rows.hasRisen) target.support.cameBack(row);
      this.#justify(target.support, row);
    }
    if (row >= target.claimed) return;
    target.again.push(row);
    this.#parts.work.add(target, phases.join);
  }

  #justify(target: Support, row: number): void {
    const { justifications, work } = this.#parts;
    justifications.begin(target, row);
    const steps = this.#steps;
    for (let index = 0; index < steps.length; index++)
      (steps[index] as Step).justify(justifications, target, row);
    if (target.watchers.length === 0) return;
    const { rows } = target.derived;
    // The height of an aggregate is that of its rows: watchers are told when those change too.
    if (rows.improved >= 0 && (rows.hasRisen || rows.heights !== null)) target.risen.push(row);
    work.add(target.derived, phases.tell);
  }
}
