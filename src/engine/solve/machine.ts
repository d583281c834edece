import type { ScopeChoice } from '../facts/fact-store.ts';
import type { StoredRelation } from '../facts/stored-relation.ts';
import type { ChainIndex } from '../facts/chain-index.ts';
import type { Consumer, Derived, WorkList } from './derived.ts';
import { sees, type Reader } from './reader.ts';

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

export abstract class Step {
  guards: readonly Guard[] = noGuards;
  /** Height of the row the step stands on. */
  height = 0;

  /** Prepares for the reader; called before the first use in an evaluation. */
  abstract bind(reader: Reader): void;
  /** Begins a pass with the registers as they are. */
  abstract enter(machine: Machine): void;
  /** Moves to the next match and binds its registers; false at the end. */
  abstract advance(machine: Machine): boolean;

  protected pass(): boolean {
    const guards = this.guards;
    for (let index = 0; index < guards.length; index++) if (!(guards[index] as Guard)()) return false;
    return true;
  }
}

function bindRow(columns: readonly Int32Array[], row: number, shape: Shape, registers: Int32Array): boolean {
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

/** The delta: rows of a derived relation from `from` to `to`, or the listed ones. */
class DeltaStep extends Step {
  readonly shape: Shape;
  readonly source: Derived;
  from = 0;
  to = 0;
  list: readonly number[] | null = null;

  constructor(source: Derived, shape: Shape) {
    super();
    this.source = source;
    this.shape = shape;
  }

  override bind(): void {}

  override enter(): void {}

  override advance(machine: Machine): boolean {
    const columns = this.source.rows.columns;
    const { keyPositions, keyRegisters } = this.shape;
    const registers = machine.registers;
    next: while (this.from < this.to) {
      const at = this.from++;
      const row = this.list === null ? at : (this.list[at] as number);
      for (let index = 0; index < keyPositions.length; index++)
        if (
          (columns[keyPositions[index] as number] as Int32Array)[row] !==
          registers[keyRegisters[index] as number]
        )
          continue next;
      if (!bindRow(columns, row, this.shape, registers)) continue;
      if (this.source.rows.heights !== null) this.height = this.source.rows.heights.of[row] as number;
      if (this.pass()) return true;
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
  #cursor = 0;

  constructor(source: Derived, shape: Shape, window: Window) {
    super();
    this.source = source;
    this.shape = shape;
    this.window = window;
    this.#key = new Int32Array(shape.keyPositions.length);
    this.#whole = shape.keyPositions.length === source.rows.arity;
  }

  override bind(): void {
    this.#index = null;
  }

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
      this.#index ??= rows.index(keyPositions);
      this.#cursor =
        keyPositions.length === 1 ? this.#index.firstOf(key[0] as number) : this.#index.first(key);
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
    let cursor = this.#cursor;
    while (cursor !== 0) {
      const row = cursor - 1;
      cursor = chain !== null ? (chain[row] as number) : scan ? row : 0;
      if (row >= limit) continue;
      if (!bindRow(rows.columns, row, this.shape, machine.registers)) continue;
      if (rows.heights !== null) this.height = rows.heights.of[row] as number;
      if (!this.pass()) continue;
      this.#cursor = cursor;
      return true;
    }
    this.#cursor = 0;
    return false;
  }
}

/** A literal over stored facts, as the pinned reader sees them in a view: those that an overlay adds come last. */
class StoredStep extends Step {
  readonly #find: (reader: Reader) => StoredRelation | null;
  readonly #view: ScopeChoice;
  readonly shape: Shape;
  #reader: Reader | null = null;
  #relation: StoredRelation | null = null;
  #scope = 0;
  #plain = false;
  #limit = 0;
  #index: ChainIndex | null = null;
  #positions: readonly number[] = [];
  #key: Int32Array;
  #cursor = 0;
  /** The same literal over the facts that an overlay adds, where it adds some of the relation. */
  #added: StoredStep | null = null;

  constructor(find: (reader: Reader) => StoredRelation | null, view: ScopeChoice, shape: Shape) {
    super();
    this.#find = find;
    this.#view = view;
    this.shape = shape;
    this.#key = new Int32Array(shape.keyPositions.length + (view.kind === 'all' ? 0 : 1));
  }

  override bind(reader: Reader): void {
    const relation = this.#find(reader);
    this.#reader = reader;
    this.#relation = relation;
    this.#index = null;
    this.#bindAdded(reader.overlay?.added ?? null);
    if (relation === null) return;
    this.#limit = relation.rowsAt(reader.generation);
    this.#positions = this.shape.keyPositions;
    if (this.#view.kind !== 'all') {
      this.#scope = this.#view.kind === 'unscoped' ? 0 : reader.facts.scopeNumber(this.#view.scope);
      if (this.#scope < 0) this.#relation = null;
      this.#positions = [...this.shape.keyPositions, relation.arity];
    }
    const hides = reader.overlay?.hidden.has(relation) === true;
    this.#plain = !hides && relation.validFrom === null && relation.validUntil === null;
  }

  #bindAdded(added: Reader | null): void {
    this.#added = null;
    if (added === null || this.#find(added) === null) return;
    this.#added = new StoredStep(this.#find, this.#view, this.shape);
    this.#added.bind(added);
  }

  override enter(machine: Machine): void {
    const relation = this.#relation;
    this.#cursor = 0;
    this.#added?.enter(machine);
    if (relation === null || this.#limit === 0) return;
    if (this.#positions.length === 0) {
      this.#cursor = this.#limit;
      return;
    }
    const registers = machine.registers;
    const key = this.#key;
    const keyRegisters = this.shape.keyRegisters;
    for (let index = 0; index < keyRegisters.length; index++)
      key[index] = registers[keyRegisters[index] as number] as number;
    if (this.#view.kind !== 'all') key[keyRegisters.length] = this.#scope;
    this.#index ??= relation.index(this.#positions);
    this.#cursor = key.length === 1 ? this.#index.firstOf(key[0] as number) : this.#index.first(key);
  }

  override advance(machine: Machine): boolean {
    const relation = this.#relation;
    if (relation === null) return this.#added !== null && this.#advanceAdded(machine, this.#added);
    const reader = this.#reader as Reader;
    const chain = this.#index === null ? null : this.#index.next;
    const death = relation.death;
    // Validity can come to a relation while a join waits: only what was plain when it was bound, and still is, is.
    const plain = this.#plain && relation.validFrom === null && relation.validUntil === null;
    let cursor = this.#cursor;
    while (cursor !== 0) {
      const row = cursor - 1;
      cursor = chain !== null ? (chain[row] as number) : row;
      if (row >= this.#limit) continue;
      if (plain) {
        if (death !== null && (death[row] as number) <= reader.generation) continue;
      } else if (!sees(reader, relation, row)) continue;
      if (!bindRow(relation.columns, row, this.shape, machine.registers)) continue;
      if (!this.pass()) continue;
      this.#cursor = cursor;
      return true;
    }
    this.#cursor = 0;
    return this.#added !== null && this.#advanceAdded(machine, this.#added);
  }

  #advanceAdded(machine: Machine, added: StoredStep): boolean {
    while (added.advance(machine)) if (this.pass()) return true;
    return false;
  }
}

export function deltaStep(source: Derived, shape: Shape): Step {
  return new DeltaStep(source, shape);
}

export function derivedStep(source: Derived, shape: Shape, window: Window): Step {
  return new DerivedStep(source, shape, window);
}

export function storedStep(
  find: (reader: Reader) => StoredRelation | null,
  view: ScopeChoice,
  shape: Shape,
): Step {
  return new StoredStep(find, view, shape);
}

/** What a match of the whole body does: one tuple for `target`, made of registers. */
export interface Emission {
  readonly target: Derived;
  readonly registers: readonly number[];
  /** Added to the greatest height of the premises: 1 for a rule, 0 for a step that proofs do not show. */
  readonly rise: number;
  /** Counts the tuples that were new; null where nobody asks. */
  readonly tally: Tally | null;
}

/** How often a rule drew a conclusion that was new. */
export interface Tally {
  fired: number;
}

/** Puts a tuple into a derived relation, and the relation on the work list where that is news. */
export function put(target: Derived, tuple: Int32Array, height: number, work: WorkList): boolean {
  const row = target.rows.insert(tuple, height);
  if (row >= 0) {
    work.add(target);
    return true;
  }
  const lowered = target.rows.lowered;
  if (lowered >= 0 && lowered < target.claimed) {
    target.lowered.push(lowered);
    work.add(target);
  }
  return false;
}

export class Machine implements Consumer {
  readonly registers: Int32Array;
  chunkStart = 0;
  chunkEnd = 0;
  /** Matches of the whole body since the machine was made. */
  matches = 0;
  readonly #steps: readonly Step[];
  readonly #delta: DeltaStep;
  readonly #emission: Emission;
  readonly #tuple: Int32Array;
  readonly #work: WorkList;
  readonly #gate: Derived | null;
  #level = -1;
  #boundTo: Reader | null = null;

  /**
   * The first step is the delta. `registers` holds the constants already. `gate` is a demand without arguments that
   * is no step of the join: until it is met, the machine has nothing to do.
   */
  constructor(
    steps: readonly Step[],
    emission: Emission,
    registers: Int32Array,
    work: WorkList,
    gate: Derived | null,
  ) {
    this.#gate = gate;
    this.#steps = steps;
    this.#delta = steps[0] as DeltaStep;
    this.#emission = emission;
    this.#tuple = new Int32Array(emission.registers.length);
    this.registers = registers;
    this.#work = work;
  }

  get isIdle(): boolean {
    return this.#gate !== null && this.#gate.done === 0;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    if (this.#boundTo !== reader) {
      for (const step of this.#steps) step.bind(reader);
      this.#boundTo = reader;
    }
    this.#delta.list = list;
    this.#delta.from = list === null ? from : 0;
    this.#delta.to = list === null ? to : list.length;
    this.chunkStart = list === null ? from : done;
    this.chunkEnd = list === null ? to : done;
    this.#level = 0;
  }

  run(budget: number): number {
    const steps = this.#steps;
    const last = steps.length - 1;
    let left = budget;
    let level = this.#level;
    while (level >= 0) {
      const step = steps[level] as Step;
      if (left <= 0) {
        this.#level = level;
        return 0;
      }
      left--;
      if (!step.advance(this)) level--;
      else if (level === last) this.#emit();
      else {
        level++;
        (steps[level] as Step).enter(this);
      }
    }
    this.#level = -1;
    return Math.max(1, left);
  }

  #emit(): void {
    const { target, registers, rise, tally } = this.#emission;
    const tuple = this.#tuple;
    for (let index = 0; index < registers.length; index++)
      tuple[index] = this.registers[registers[index] as number] as number;
    this.matches++;
    let height = 0;
    if (target.rows.heights !== null) {
      const steps = this.#steps;
      for (let index = 0; index < steps.length; index++) {
        const of = (steps[index] as Step).height;
        if (of > height) height = of;
      }
      height += rise;
    }
    if (put(target, tuple, height, this.#work) && tally !== null) tally.fired++;
  }
}
