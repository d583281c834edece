/**
 * Joins of several atoms that take their bindings a block at a time, as columns: each step reads a block of bindings and writes the
 * next one, in loops over typed arrays. The steps, their order and what they read are those of the machine, and so is the order in
 * which conclusions are made: each step takes its input in order.
 */
import { present } from '../../base/assert.ts';
import type { ChainIndex } from '../../store/chain-index.ts';
import type { Consumer } from '../model/derived.ts';
import type { Reader } from '../model/reader.ts';
import { ColumnSink, type JustifiedBy } from './column-sink.ts';
import { CopyJoin, keepsAll, rowsOf } from './copy-join.ts';
import { AbsentStep, DerivedDelta, DerivedStep } from './derived-steps.ts';
import { ExistenceStep } from './existence-step.ts';
import {
  type AtomShape,
  type Guard,
  type GuardUse,
  type KeyedStep,
  type Machine,
  noRow,
  type Step,
  unsureRow,
} from './machine.ts';
import { noRows, selectRows, testsOf, type WholeRows } from './row-selection.ts';
import { StoredStep } from './stored-steps.ts';

/** Bindings in a block. */
const blockRows = 1024;
/** A step goes on with more bindings before the next one takes fewer than this. */
const minRows = 512;
/** Rows that one call of `fill` looks at, unless it fills its block before. */
const rowsPerFill = 4096;
const fillsPerRun = 8;
/** Each search may pass many rows that do not count. */
const searchesPerFill = 64;
/** With fewer bindings a look-up may scan the rows, as the machine does. */
const maxBindingsToScanFor = 4;

const maxSpare = 256;
const spare: Int32Array[] = [];

/** Bindings as columns, by register; a register without one is constant, in those of the machine. */
class Block {
  count = 0;
  readonly registers: readonly number[];
  readonly columns: Int32Array[] = [];

  constructor(registers: readonly number[]) {
    this.registers = registers;
  }

  take(): void {
    this.count = 0;
    for (const register of this.registers) this.columns[register] = spare.pop() ?? new Int32Array(blockRows);
  }

  give(): void {
    for (const register of this.registers)
      if (spare.length < maxSpare) spare.push(this.columns[register] as Int32Array);
    this.columns.length = 0;
  }
}

const noBlock = new Block([]);
/** What a step found: for each match the number of the binding in its input, and the row. Nothing is left in them after `fill`. */
const bindings = new Int32Array(blockRows);
const rowsFound = new Int32Array(blockRows);
/** The row of each binding; and constants as columns, by position of a key. */
const rowsOfBindings = new Int32Array(blockRows);
const constants: Int32Array[] = [];
const kept = new Int32Array(blockRows);

type UsedGuard = GuardUse & { readonly test: Guard };

/** Where a column of a block comes from: the rows found, their number, or the binding before. */
type Origin =
  | { readonly kind: 'column'; readonly register: number; readonly position: number }
  | { readonly kind: 'row'; readonly register: number }
  | { readonly kind: 'input'; readonly register: number };

abstract class Stage {
  input = noBlock;
  readonly output: Block;
  /** True once every binding of the input has been taken. */
  isOver = true;
  readonly #guards: readonly UsedGuard[];
  readonly #origins: readonly Origin[];

  constructor(
    { rowRegister }: Step,
    shape: AtomShape,
    registers: readonly number[],
    guards: readonly UsedGuard[],
  ) {
    this.output = new Block(registers);
    this.#guards = guards;
    this.#origins = registers
      .filter((register) => guards.every(({ binds }) => binds !== register))
      .map((register): Origin => {
        if (register === rowRegister) return { kind: 'row', register };
        const at = shape.bindRegisters.indexOf(register);
        if (at < 0) return { kind: 'input', register };
        return { kind: 'column', register, position: shape.bindPositions[at] as number };
      });
  }

  /** Called when a join begins. False if the machine must do it. */
  abstract begin(machine: Machine): boolean;
  /** Called when the input has bindings. */
  abstract open(machine: Machine): void;
  /** Adds matches to the output. False if it must go on before it has more, and yield. */
  abstract fill(machine: Machine): boolean;

  /** Adds the first `count` matches found to the output, but for those that a guard rejects. */
  protected append(columns: readonly Int32Array[], count: number, machine: Machine): void {
    const { output, input } = this;
    const start = output.count;
    for (const origin of this.#origins) {
      const to = output.columns[origin.register] as Int32Array;
      if (origin.kind === 'row') for (let at = 0; at < count; at++) to[start + at] = rowsFound[at] as number;
      else if (origin.kind === 'column')
        gather(columns[origin.position] as Int32Array, rowsFound, count, to, start);
      else gather(input.columns[origin.register] as Int32Array, bindings, count, to, start);
    }
    output.count += count;
    for (const guard of this.#guards) {
      if (output.count === start) return;
      if (guard.reads.length > 0) this.#keep(guard, start, machine);
      else if (!guard.test()) output.count = start;
    }
  }

  #keep({ test, reads, binds }: UsedGuard, start: number, { registers }: Machine): void {
    const { output } = this;
    const { columns } = output;
    // What nothing reads has no column.
    const bound = binds === null ? undefined : columns[binds];
    let count = 0;
    for (let at = start; at < output.count; at++) {
      for (let index = 0; index < reads.length; index++) {
        const register = reads[index] as number;
        const column = columns[register];
        if (column !== undefined) registers[register] = column[at] as number;
      }
      if (!test()) continue;
      if (bound !== undefined) bound[at] = registers[binds as number] as number;
      kept[count++] = at;
    }
    if (start + count === output.count) return;
    for (const register of output.registers) {
      const column = columns[register] as Int32Array;
      gather(column, kept, count, column, start);
    }
    output.count = start + count;
  }
}

function gather(from: Int32Array, rows: Int32Array, count: number, to: Int32Array, start: number): void {
  for (let at = 0; at < count; at++) to[start + at] = from[rows[at] as number] as number;
}

/** The rows that start the join. */
class StartStage extends Stage {
  readonly #delta: DerivedDelta;

  constructor(delta: DerivedDelta, registers: readonly number[], guards: readonly UsedGuard[]) {
    super(delta, delta.shape, registers, guards);
    this.#delta = delta;
  }

  override begin(): boolean {
    this.isOver = false;
    return true;
  }

  override open(): void {}

  override fill(machine: Machine): boolean {
    const delta = this.#delta;
    const { rows } = delta.source;
    const { equal, same } = testsOf(delta.shape);
    const end = Math.min(delta.to, delta.from + blockRows - this.output.count);
    const values = equal.map(({ position, register }) => ({
      position,
      value: machine.registers[register] as number,
    }));
    const selected = selectRows(rowsOf(rows), delta.from, end, values, same);
    delta.from = end;
    this.isOver = end === delta.to;
    for (let at = 0; at < selected.count; at++)
      rowsFound[at] = selected.rows === null ? selected.first + at : (selected.rows[at] as number);
    this.append(rows.columns, selected.count, machine);
    return true;
  }
}

/** The rows of an atom, by an index over its key; all of them if it has none. */
class LookUpStage extends Stage {
  readonly #step: StoredStep | DerivedStep;
  readonly #same: readonly (readonly [number, number])[];
  #whole: WholeRows = noRows;
  #index: ChainIndex | null = null;
  /** The next binding, and of its rows the next to scan, or 1 + the next of the chain. */
  #at = 0;
  #cursor = 0;
  /** By binding 1 + the first row of its chain. */
  #heads: Int32Array | null = null;

  constructor(step: StoredStep | DerivedStep, registers: readonly number[], guards: readonly UsedGuard[]) {
    super(step, step.shape, registers, guards);
    this.#step = step;
    this.#same = testsOf(step.shape).same;
  }

  override begin(machine: Machine): boolean {
    const step = this.#step;
    const whole = step instanceof StoredStep ? step.whole : step.wholeBelow(step.limitIn(machine));
    this.#whole = whole ?? noRows;
    this.isOver = true;
    return whole !== null;
  }

  override open(): void {
    this.isOver = this.#whole.limit === 0;
    this.#at = 0;
    this.#cursor = 0;
    this.#index = null;
    this.#heads = null;
    const step = this.#step;
    const { keyPositions } = step.shape;
    if (this.isOver || keyPositions.length === 0) return;
    if (step instanceof DerivedStep) this.#index = step.source.rows.indexToBuild(keyPositions);
    else this.#index = step.indexOfWhole(this.input.count > maxBindingsToScanFor);
  }

  override fill(machine: Machine): boolean {
    const index = this.#index;
    if (index === null) {
      this.#scan(machine);
      return true;
    }
    const { limit, relation } = this.#whole;
    const count = relation?.count ?? present(this.#derived, 'it is derived').source.rows.count;
    if (index.rows < limit && !index.takeIn(count, 2 * rowsPerFill)) return false;
    this.#heads ??= this.#headsIn(index, machine);
    const found = this.#follow(index.next, this.#heads);
    this.append(this.#whole.columns, this.#others(found), machine);
    if (this.isOver) this.#free();
    return true;
  }

  get #derived(): DerivedStep | null {
    return this.#step instanceof DerivedStep ? this.#step : null;
  }

  #headsIn(index: ChainIndex, machine: Machine): Int32Array {
    const { input } = this;
    const { keyPositions, keyRegisters } = this.#step.shape;
    const keys = index.positions.map((position) => {
      const register = keyRegisters[keyPositions.indexOf(position)];
      if (register === undefined) return this.#scope;
      return input.columns[register] ?? (machine.registers[register] as number);
    });
    const all = spare.pop() ?? new Int32Array(blockRows);
    index.firstOfEach(keys, input.count, all);
    this.#cursor = all[0] as number;
    return all;
  }

  get #scope(): number {
    const { scope, relation } = this.#whole;
    return scope ?? (relation?.columns[relation.arity]?.[0] as number);
  }

  #free(): void {
    if (this.#heads !== null && spare.length < maxSpare) spare.push(this.#heads);
    this.#heads = null;
  }

  /** Follows the chains until there is no more room, or has looked at many rows. Returns how many rows it found. */
  #follow(next: Int32Array, all: Int32Array): number {
    const { limit, death, generation, dead } = this.#whole;
    const room = blockRows - this.output.count;
    const bindingCount = this.input.count;
    let [at, cursor, found] = [this.#at, this.#cursor, 0];
    let left = rowsPerFill;
    for (;;) {
      while (cursor !== 0 && found < room && left > 0) {
        const row = cursor - 1;
        cursor = next[row] as number;
        left--;
        if (row >= limit) continue;
        if (death !== null && (death[row] as number) <= generation) continue;
        if (dead !== null && dead[row] !== 0) continue;
        bindings[found] = at;
        rowsFound[found++] = row;
      }
      if (cursor !== 0 || at + 1 === bindingCount) break;
      cursor = all[++at] as number;
    }
    this.#at = at;
    this.#cursor = cursor;
    this.isOver = cursor === 0;
    return found;
  }

  /** Keeps those of the matches found that have equal values where columns must be the same. */
  #others(found: number): number {
    let count = found;
    for (const [one, other] of this.#same) {
      const [left, right] = [
        this.#whole.columns[one] as Int32Array,
        this.#whole.columns[other] as Int32Array,
      ];
      const before = count;
      count = 0;
      for (let at = 0; at < before; at++) {
        const row = rowsFound[at] as number;
        if (left[row] !== right[row]) continue;
        bindings[count] = bindings[at] as number;
        rowsFound[count++] = row;
      }
    }
    return count;
  }

  /** The rows for the next binding, some at a time. */
  #scan(machine: Machine): void {
    const whole = this.#whole;
    const { input } = this;
    const { equal, same } = testsOf(this.#step.shape);
    const values = equal.map(({ position, register }) => ({
      position,
      value: input.columns[register]?.[this.#at] ?? (machine.registers[register] as number),
    }));
    const room = blockRows - this.output.count;
    const end = Math.min(whole.limit, this.#cursor + (equal.length === 0 ? room : rowsPerFill));
    const { first, rows, count } = selectRows(whole, this.#cursor, end, values, same);
    const taken = Math.min(count, room);
    bindings.fill(this.#at, 0, taken);
    for (let at = 0; at < taken; at++) rowsFound[at] = rows === null ? first + at : (rows[at] as number);
    this.#cursor = taken < count ? (rowsFound[taken - 1] as number) + 1 : end;
    if (this.#cursor === whole.limit) {
      this.#cursor = 0;
      this.#at++;
    }
    this.isOver = this.#at === input.count;
    this.append(whole.columns, taken, machine);
  }
}

/** An atom with a value for every column that counts: for each binding its one row, or that it has none. */
class TestStage extends Stage {
  readonly #rows: KeyedStep;
  readonly #isAbsence: boolean;
  readonly #isWhole: boolean;
  #at = 0;
  /** True if the row is being searched for, since looking it up cannot tell. */
  #isSearching = false;

  constructor(
    step: ExistenceStep | AbsentStep,
    arity: number,
    registers: readonly number[],
    guards: readonly UsedGuard[],
  ) {
    const rows = step instanceof AbsentStep ? step.inner : step.rows;
    super(step, rows.shape, registers, guards);
    this.#rows = rows;
    this.#isAbsence = step instanceof AbsentStep;
    const { length } = rows.shape.keyPositions;
    this.#isWhole = length === arity && length > 0;
  }

  override begin(machine: Machine): boolean {
    this.#rows.begin(machine);
    this.isOver = true;
    return true;
  }

  override open(): void {
    this.isOver = false;
    this.#isSearching = false;
    this.#at = 0;
  }

  override fill(machine: Machine): boolean {
    const { input } = this;
    const first = this.#at;
    const room = Math.min(input.count - first, blockRows - this.output.count);
    const isLookedUp =
      this.#isWhole && this.#rows.rowsOf(this.#keys(first, first + room, machine), room, rowsOfBindings);
    const end = first + (isLookedUp ? room : Math.min(room, searchesPerFill));
    let found = 0;
    let at = first;
    for (; at < end; at++) {
      let row = isLookedUp && !this.#isSearching ? (rowsOfBindings[at - first] as number) : unsureRow;
      if (row === unsureRow) row = this.#search(machine, at);
      if (row === unsureRow) break;
      if ((row === noRow) !== this.#isAbsence) continue;
      bindings[found] = at;
      rowsFound[found++] = row;
    }
    this.#at = at;
    this.isOver = at === input.count;
    this.append(noRows.columns, found, machine);
    return at === end;
  }

  /** The values of the bindings from `first` on, by position. */
  #keys(first: number, end: number, { registers }: Machine): Int32Array[] {
    const { columns } = this.input;
    return this.#rows.shape.keyRegisters.map((register, position) => {
      const column = columns[register];
      if (column !== undefined) return first === 0 ? column : column.subarray(first, end);
      const constant = (constants[position] ??= new Int32Array(blockRows));
      return constant.fill(registers[register] as number, 0, end - first);
    });
  }

  /** Searches for a row with the values of the binding; `unsureRow` if it must go on. */
  #search(machine: Machine, at: number): number {
    const rows = this.#rows;
    if (!this.#isSearching) {
      for (const register of rows.shape.keyRegisters) {
        const column = this.input.columns[register];
        if (column !== undefined) machine.registers[register] = column[at] as number;
      }
      rows.enter(machine);
    }
    this.#isSearching = true;
    const isFound = rows.advance(machine);
    if (machine.isStalled) {
      machine.isStalled = false;
      return unsureRow;
    }
    this.#isSearching = false;
    return isFound ? (machine.registers[rows.rowRegister] as number) : noRow;
  }
}

/** What takes the machine's bindings many at a time, if there is such a form of the join; else the machine. */
export function inBatches(machine: Machine): Consumer {
  return CopyJoin.inPlaceOf(machine, BatchJoin.inPlaceOf(machine));
}

/**
 * A join of several atoms whose steps take blocks of bindings, the last first if it has enough: so blocks stay full, and little
 * waits. Overlays, validity, copies in scopes, heights, observers, profiles, comparisons that read text, intersections, and what a change
 * starts are the machine's.
 */
class BatchJoin implements Consumer {
  readonly #machine: Machine;
  readonly #sink: ColumnSink;
  readonly #guards: readonly (readonly UsedGuard[])[];
  #stages: readonly Stage[] | null = null;
  #isLossless = false;
  #isInBlocks = false;
  #level = 0;
  #through = 0;

  private constructor(machine: Machine, guards: readonly (readonly UsedGuard[])[]) {
    this.#machine = machine;
    this.#sink = new ColumnSink(machine.parts);
    this.#guards = guards;
  }

  /** The join in place of the machine, if it can take all its steps; else the machine. */
  static inPlaceOf(machine: Machine): Consumer {
    const { steps, parts } = machine;
    const { target, registers, seen } = parts.emission;
    if (steps.length < 2 || registers.length === 0) return machine;
    if (seen !== null || target.rows.heights !== null || parts.once || parts.overdeletes) return machine;
    const [delta, ...others] = steps;
    if (delta === undefined || delta.constructor !== DerivedDelta || !others.every(isTaken)) return machine;
    const guards: UsedGuard[][] = [];
    for (const step of steps) {
      const its: UsedGuard[] = [];
      for (const test of step.guards) {
        const use = parts.guardUses.get(test);
        if (use === undefined) return machine;
        if (!use.isLookAhead) its.push({ ...use, test });
      }
      guards.push(its);
    }
    return new BatchJoin(machine, guards);
  }

  get matches(): number {
    return this.#sink.matches + this.#machine.matches;
  }

  get isIdle(): boolean {
    return this.#machine.isIdle;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    this.#machine.start(reader, from, to, list, done);
    this.#isInBlocks = list === null && this.#begins();
    if (!this.#isInBlocks) return;
    this.#sink.begin(this.#isLossless, from >= this.#through);
    // A join that is stopped begins with the same rows again.
    this.#through = to;
    this.#level = 0;
  }

  #begins(): boolean {
    const machine = this.#machine;
    if (machine.parts.emission.target.rows.deadCount > 0) return false;
    this.#stages ??= this.#made();
    for (const stage of this.#stages) if (!stage.begin(machine)) return false;
    for (const { output } of this.#stages) output.take();
    return true;
  }

  run(budget: number): number {
    const { constants, seen } = this.#machine.parts;
    if (!this.#isInBlocks) return this.#machine.run(budget);
    constants.work = 0;
    if (!this.#join()) return 0;
    for (const each of seen) each.end();
    for (const { output } of this.#stages ?? []) output.give();
    return Math.max(1, budget);
  }

  /** False if there is more to do. */
  #join(): boolean {
    const machine = this.#machine;
    const stages = present(this.#stages, 'the join has begun');
    const last = stages.length - 1;
    let level = this.#level;
    for (let left = fillsPerRun; left > 0; ) {
      const stage = stages[level] as Stage;
      const { output } = stage;
      if (!stage.isOver) {
        left--;
        if (!stage.fill(machine)) break;
        if (stage.isOver) stage.input.count = 0;
      }
      const isDrained = stage.isOver && this.#isDrained(stages, level);
      if (output.count >= minRows || (isDrained && output.count > 0)) {
        if (level === last) {
          this.#emit(output);
          output.count = 0;
        } else {
          const next = stages[++level] as Stage;
          next.open(machine);
          if (next.isOver) output.count = 0;
        }
      } else if (stage.isOver) {
        if (!isDrained) level--;
        else if (level < last) level++;
        else return true;
      }
    }
    this.#level = level;
    return false;
  }

  /** True if no step before this one has more bindings. */
  #isDrained(stages: readonly Stage[], level: number): boolean {
    for (let before = 0; before < level; before++) {
      const stage = stages[before] as Stage;
      if (!stage.isOver || stage.output.count > 0) return false;
    }
    return true;
  }

  #emit({ columns, count }: Block): void {
    const { steps, parts, registers } = this.#machine;
    const { target, registers: head } = parts.emission;
    const conclusions = head.map(
      (register) =>
        columns[register]?.subarray(0, count) ?? new Int32Array(count).fill(registers[register] as number),
    );
    const by: JustifiedBy[] = [];
    if (target.support !== null)
      for (const { rowRegister, premises } of steps) {
        if (premises === null) continue;
        const selected = { first: 0, rows: columns[rowRegister] as Int32Array, count };
        if (premises.kind === 'derived') by.push({ support: premises.support, selected, numbers: null });
        else by.push({ support: null, selected, numbers: premises.relation.number });
      }
    this.#sink.take(conclusions, count, by);
  }

  #made(): Stage[] {
    const { steps, parts } = this.#machine;
    const { registers: head, target } = parts.emission;
    const isJustified = target.support !== null;
    // From the last step to the first: what the steps after it read.
    const needed = new Set<number>(head);
    if (isJustified)
      for (const step of steps) if (!(step instanceof AbsentStep)) needed.add(step.rowRegister);
    const after: number[][] = [];
    for (let level = steps.length - 1; level >= 0; level--) {
      const step = steps[level] as Step;
      for (const { reads } of this.#guards[level] ?? []) for (const register of reads) needed.add(register);
      after[level] = [...needed];
      for (const register of shapeOf(step).keyRegisters) needed.add(register);
    }
    const bound = new Set<number>();
    this.#isLossless = true;
    const stages = steps.map((step, level) => {
      const shape = shapeOf(step);
      const guards = this.#guards[level] ?? [];
      for (const register of shape.bindRegisters) bound.add(register);
      for (const { binds } of guards) if (binds !== null) bound.add(binds);
      if (!(step instanceof AbsentStep)) bound.add(step.rowRegister);
      const registers = (after[level] as number[]).filter((register) => bound.has(register));
      if (step instanceof ExistenceStep)
        return new TestStage(step, step.rows.shape.keyPositions.length, registers, guards);
      if (step instanceof AbsentStep) return new TestStage(step, step.inner.arity, registers, guards);
      const arity =
        step instanceof StoredStep || step instanceof DerivedStep
          ? step.arity
          : (step as DerivedDelta).source.rows.arity;
      this.#isLossless &&= keepsAll(shape, arity, head);
      if (step instanceof StoredStep || step instanceof DerivedStep)
        return new LookUpStage(step, registers, guards);
      return new StartStage(step as DerivedDelta, registers, guards);
    });
    for (const [at, stage] of stages.entries()) if (at > 0) stage.input = (stages[at - 1] as Stage).output;
    return stages;
  }
}

function isTaken(step: Step): boolean {
  return (
    step instanceof StoredStep ||
    step instanceof DerivedStep ||
    step instanceof ExistenceStep ||
    step instanceof AbsentStep
  );
}

function shapeOf(step: Step): AtomShape {
  if (step instanceof ExistenceStep) return step.rows.shape;
  if (step instanceof AbsentStep) return step.inner.shape;
  return (step as StoredStep | DerivedStep | DerivedDelta).shape;
}
