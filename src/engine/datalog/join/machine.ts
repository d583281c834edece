import {
  type Consumer,
  type Derived,
  notify,
  overdelete,
  phases,
  requeue,
  type Support,
  type WorkList,
} from '../model/derived.ts';
import type { Reader } from '../model/reader.ts';
import type { Constants } from '../model/constants.ts';
import type { SeenBindings } from './seen-bindings.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { TupleBatch } from '../../store/tuples.ts';
import type { Justifications } from '../model/justifications.ts';
import type { Seen } from '../model/table.ts';
import type { Tally } from '../model/program.ts';

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

/** What a guard reads and does, for joins that take many bindings at a time. */
export interface GuardUse {
  readonly reads: readonly number[];
  /** The register that it binds; null: none. */
  readonly binds: number | null;
  /** True if it only looks ahead for the row that the next step finds. */
  readonly isLookAhead: boolean;
}

/** The use of a guard that reads these registers, and may bind one. */
export function accessOf(reads: readonly number[], binds: number | null = null): GuardUse {
  return { reads, binds, isLookAhead: false };
}

const noGuards: readonly Guard[] = [];
/** A step scans at most this many non-matching rows before it yields. */
export const rowsAtOnce = 2048;
/** Guards compare and calculate on about this many bytes before the machine yields. */
export const workAtOnce = 0x10_0000;
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

  /** The steps whose rows it finds: itself, or those of the literals that it intersects. */
  get found(): readonly Step[] {
    return [this];
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

/** A step whose rows can also be looked up one by one, without a scan, after `begin`. */
export abstract class KeyedStep extends Step {
  abstract readonly shape: AtomShape;
  abstract get arity(): number;
  /** Called after `bind`, at each start of the machine. */
  abstract begin(machine: Machine): void;
  /** The row with these values in all columns, `noRow` if there is none, or `unsureRow`. */
  abstract rowOf(values: Int32Array): number;
  /** `rowOf` for `count` tuples, by position, to `rows`. False if it cannot tell. */
  abstract rowsOf(keys: readonly Int32Array[], count: number, rows: Int32Array): boolean;
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

  override bind(_reader: Reader): void {}

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

/** The relation of a step's rows as premises: a maintained relation, or stored facts. */
export type Premises =
  | { readonly kind: 'derived'; readonly support: Support }
  | { readonly kind: 'stored'; readonly relation: StoredRelation };

/** The conclusion of a machine. */
interface Emission {
  readonly target: Derived;
  readonly registers: readonly number[];
  /** Added to the greatest height of the premises: 1 for a rule, 0 for a step that proofs do not show. */
  readonly heightIncrement: number;
  /** Counts the new tuples; null if they are not counted. */
  readonly tally: Tally | null;
  /** Called for every match, if there is an observer. */
  readonly seen: Seen | null;
}

/** What a machine is made of. */
export interface MachineParts {
  readonly emission: Emission;
  readonly work: WorkList;
  /** Those that guards compare and calculate with. */
  readonly constants: Constants;
  /** The justifications of the target's rows. */
  readonly justifications: Justifications;
  /** True if one match per row of the delta is enough; the caller must know at once. */
  readonly once: boolean;
  /** True if the conclusions are overdeleted, instead of added. */
  readonly overdeletes: boolean;
  /** Buffer for matches, shared by all machines: none waits after `run`. */
  readonly batch: TupleBatch;
  /** Has the constants in rowRegister, and an element for the row of every step. */
  readonly registers: Int32Array;
  /** A demand without arguments that is no step of the join: until it is met, the machine is idle. */
  readonly gate: Derived | null;
  /** Tested by guards of the steps. */
  readonly seen: readonly SeenBindings[];
  /** The steps that look up rows. */
  readonly tests: readonly Test[];
  /** By guard; a guard that is missing must see one binding after the other. */
  readonly guardUses: ReadonlyMap<Guard, GuardUse>;
}

/** A step that looks up rows in other ways than by a scan. */
interface Test {
  /** Called at each start of the machine. */
  begin(machine: Machine): void;
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
  readonly steps: readonly Step[];
  readonly parts: MachineParts;
  readonly #delta: DeltaStep;
  readonly #gate: Derived | null;
  readonly #once: boolean;
  readonly #seen: readonly SeenBindings[];
  readonly #tests: readonly Test[];
  readonly #sink: TupleSink;
  readonly #constants: Constants;
  #level = -1;
  #boundTo: Reader | null = null;

  /** The first step is the delta. */
  constructor(steps: readonly Step[], parts: MachineParts) {
    this.steps = steps;
    this.parts = parts;
    this.#delta = steps[0] as DeltaStep;
    this.#gate = parts.gate;
    this.#once = parts.once;
    this.#seen = parts.seen;
    this.#tests = parts.tests;
    this.#constants = parts.constants;
    this.registers = parts.registers;
    this.#sink = new TupleSink(steps, parts);
    (steps[steps.length - 1] as Step).collects = !parts.once;
  }

  get isIdle(): boolean {
    return this.#gate !== null && this.#gate.done === 0;
  }

  /** Prepares the steps for the reader. */
  bindTo(reader: Reader): void {
    if (this.#boundTo === reader) return;
    for (const step of this.steps) step.bind(reader);
    this.#sink.bind();
    for (const seen of this.#seen) seen.reset();
    this.#boundTo = reader;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    this.bindTo(reader);
    for (const seen of this.#seen) seen.begin();
    if (list === null) this.#delta.begin(from, to, null);
    else this.#delta.begin(0, list.length, list);
    this.chunkStart = list === null ? from : done;
    this.chunkEnd = list === null ? to : done;
    for (const test of this.#tests) test.begin(this);
    this.#level = 0;
    this.isStalled = false;
  }

  /** True if guards have done so much work, on long constants, that the machine must yield, which it then will. */
  get isWorn(): boolean {
    if (this.#constants.work <= workAtOnce) return false;
    this.tests = Number.MAX_SAFE_INTEGER;
    return true;
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
    this.#constants.work = 0;
    const left = this.#join(budget);
    this.#sink.flush();
    return left;
  }

  #join(budget: number): number {
    const steps = this.steps;
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
    return Math.max(1, left);
  }
}

/**
 * Adds the conclusions of a machine to their target: a tuple for every match, with a justification for each
 * new tuple.
 *
 * Matches are buffered and inserted in batches, since with a target larger than the CPU caches several
 * look-ups take the time of one. The delay is not observable: a join reads no row added after it began, and
 * revived rows are joined again. With heights or an observer, each match is inserted at once.
 */
class TupleSink {
  readonly #steps: readonly Step[];
  readonly #parts: MachineParts;
  readonly #batch: TupleBatch;
  readonly #tuple: Int32Array;
  readonly #isBuffering: boolean;
  /** Registers of the tuple, then those of its premise rows. */
  #from: Int32Array;
  #premises: Premises[] = [];

  constructor(steps: readonly Step[], parts: MachineParts) {
    const { target, registers, seen } = parts.emission;
    this.#steps = steps;
    this.#parts = parts;
    this.#batch = parts.batch;
    this.#tuple = new Int32Array(registers.length);
    this.#from = Int32Array.from(registers);
    this.#isBuffering = !parts.once && seen === null && target.rows.heights === null;
  }

  /** Called after the steps were bound to another reader, whose relations may differ. */
  bind(): void {
    const { emission } = this.#parts;
    const registers = [...emission.registers];
    this.#premises = [];
    if (emission.target.support !== null)
      for (const { rowRegister, premises } of this.#steps.flatMap((step) => step.found))
        if (premises !== null) {
          registers.push(rowRegister);
          this.#premises.push(premises);
        }
    this.#from = Int32Array.from(registers);
  }

  /** Takes the match that is in the registers. */
  take(registers: Int32Array): void {
    if (this.#batch.take(registers, this.#from) || !this.#isBuffering) this.flush();
  }

  /** Inserts the buffered matches into the target. */
  flush(): void {
    const batch = this.#batch;
    if (batch.count === 0) return;
    const { target, tally } = this.#parts.emission;
    const { rows, support } = target;
    const width = this.#from.length;
    if (this.#parts.overdeletes) {
      if (support !== null) this.#overdeleteEach(support, width);
      batch.count = 0;
      return;
    }
    const fresh =
      this.#isBuffering && rows.deadCount === 0 ? batch.insertInto(rows, width) : this.#putEach(width);
    if (fresh > 0) {
      this.#parts.work.add(target, phases.join);
      if (tally !== null) tally.fired += fresh;
      if (support !== null) {
        for (let at = 0; at < batch.count; at++) {
          const row = batch.rows[at] as number;
          if (row >= 0) this.#justify(support, row, batch.values, at * width + rows.arity);
        }
        notify(this.#parts.work, support);
      }
    }
    batch.count = 0;
  }

  #overdeleteEach(target: Support, width: number): void {
    const { values, count } = this.#batch;
    const tuple = this.#tuple;
    for (let at = 0; at < count; at++) {
      for (let index = 0; index < tuple.length; index++) tuple[index] = values[at * width + index] as number;
      const row = target.derived.rows.find(tuple);
      if (row >= 0) overdelete(this.#parts.work, target, row);
    }
  }

  /** Inserts them one by one: with heights, for an observer, or if dead rows may be revived. */
  #putEach(width: number): number {
    const { values, rows, count } = this.#batch;
    const { target, seen } = this.#parts.emission;
    const tuple = this.#tuple;
    const height = target.rows.heights === null ? 0 : this.#height();
    let fresh = 0;
    for (let at = 0; at < count; at++) {
      for (let index = 0; index < tuple.length; index++) tuple[index] = values[at * width + index] as number;
      const row = target.rows.insert(tuple, height);
      rows[at] = row;
      if (row >= 0) fresh++;
      else if (target.rows.improved >= 0) {
        if (target.support !== null)
          this.#justify(target.support, target.rows.improved, values, at * width + tuple.length);
        requeue(this.#parts.work, target);
      }
      if (seen !== null) seen(tuple, row >= 0);
    }
    return fresh;
  }

  /** The height of the match that is in the registers. */
  #height(): number {
    const steps = this.#steps;
    let height = 0;
    for (let index = 0; index < steps.length; index++)
      height = Math.max(height, (steps[index] as Step).height);
    return height + this.#parts.emission.heightIncrement;
  }

  /** Justifies the row by the premise rows in `values` from `at` on. */
  #justify(target: Support, row: number, values: Int32Array, at: number): void {
    const { justifications } = this.#parts;
    const premises = this.#premises;
    justifications.begin(target, row);
    for (let index = 0; index < premises.length; index++) {
      const premise = premises[index] as Premises;
      const of = values[at + index] as number;
      if (premise.kind === 'derived') justifications.add(premise.support, of, target, row);
      else justifications.addFact(premise.relation.number[of] as number, target, row);
    }
  }
}
