import { assert, present } from '../../base/assert.ts';
import { type ChainIndex, firstIn } from '../../store/chain-index.ts';
import type { Tuples } from '../../store/tuples.ts';
import type { Consumer } from '../model/derived.ts';
import type { Reader } from '../model/reader.ts';
import { ColumnSink, selectedAt } from './column-sink.ts';
import { AbsentKeys } from './absent-keys.ts';
import { AbsentStep, AggregateStep, DerivedDelta } from './derived-steps.ts';
import { noResult, unknownResult } from './accumulators.ts';
import { GroupAggregates } from './group-aggregates.ts';
import { type AtomShape, bindRow, type Machine, type MachineParts, type Step } from './machine.ts';
import {
  noRows,
  numbersOf,
  type Selected,
  selectAlive,
  selectRows,
  type Tests,
  testsOf,
  valuesOf,
  type WholeRows,
} from './row-selection.ts';
import { StoredStep } from './stored-steps.ts';

/** Rows that it looks at in one call of `run`. */
const rowsPerRun = 8192;
/** A join that starts with more rows of demand looks each of them up as the machine does. */
const maxKeys = 16;

/** Where a column of the head comes from. */
type HeadColumn =
  /** A column of the rows that start the join, or of the stored rows. */
  | { readonly kind: 'start' | 'stored'; readonly position: number }
  | { readonly kind: 'result' }
  | { readonly kind: 'constant'; readonly register: number };

/**
 * A join of one atom, whose rows become rows of the head column by column: the rule of a class below another, the stored facts of
 * a derived relation, rows that wait, an aggregate for each of them; or those rows whose keys negated atoms lack. Everything else, and what a change starts, is the machine's.
 *
 * If the head has all variables of the atom, and every row of the target was copied from an earlier row, the copies are distinct:
 * they are appended without a look-up.
 */
export class CopyJoin implements Consumer {
  readonly #machine: Machine;
  readonly #parts: MachineParts;
  readonly #delta: DerivedDelta;
  readonly #stored: StoredStep | null;
  readonly #aggregate: AggregateStep | null;
  readonly #groups: GroupAggregates | null;
  readonly #head: readonly HeadColumn[];
  readonly #absences: readonly Absence[];
  /** True if different matches make different rows, and if those of different stored facts for one row of demand do. */
  readonly #isLossless: boolean;
  readonly #isLosslessForRow: boolean;
  readonly #deltaTests: Tests;
  readonly #storedTests: Tests | null;
  readonly #sink: ColumnSink;
  #isCopying = false;
  /** All copies so far are from rows before this. */
  #through = 0;
  /** The next row of the delta, and their end. */
  #at = 0;
  #to = 0;
  /** Of the stored rows for the current row of the delta: the next to scan, or 1 + the next of the chain. */
  #cursor = 0;
  #chain: ChainIndex | null = null;
  #whole: WholeRows | null = null;
  #isEntered = false;
  /** Rows that wait for an aggregate, their results, and the next of them. */
  #rows: Int32Array = noResults;
  #results: Int32Array = noResults;
  #next = 0;

  private constructor(
    machine: Machine,
    delta: DerivedDelta,
    head: readonly HeadColumn[],
    absences: readonly Absence[],
  ) {
    const { steps, parts } = machine;
    const [, second] = steps;
    this.#machine = machine;
    this.#parts = parts;
    this.#sink = new ColumnSink(parts);
    this.#delta = delta;
    this.#stored = second instanceof StoredStep ? second : null;
    this.#aggregate = second instanceof AggregateStep ? second : null;
    this.#groups =
      this.#aggregate === null
        ? null
        : GroupAggregates.of(this.#aggregate, delta, parts.constants, parts.batch);
    this.#head = head;
    this.#absences = absences;
    this.#deltaTests = testsOf(delta.shape);
    this.#storedTests = this.#stored === null ? null : testsOf(this.#stored.shape);
    const { registers } = parts.emission;
    this.#isLosslessForRow =
      this.#stored === null || keepsAll(this.#stored.shape, this.#stored.arity, registers);
    this.#isLossless = this.#isLosslessForRow && keepsAll(delta.shape, delta.source.rows.arity, registers);
  }

  /** The join in place of the machine, if it has such a form; else the machine. */
  static inPlaceOf(machine: Machine): Consumer {
    const { steps, parts } = machine;
    const [delta, ...others] = steps;
    if (!(delta instanceof DerivedDelta) || delta.constructor !== DerivedDelta) return machine;
    const [next] = others;
    const second = next instanceof AbsentStep ? undefined : next;
    const { target, registers, seen } = parts.emission;
    if (seen !== null || target.rows.heights !== null || parts.once || parts.overdeletes) return machine;
    if (steps.some(({ guards }) => guards.length > 0) || registers.length === 0) return machine;
    if (target === delta.source) return machine;
    if (second !== undefined && !(second instanceof StoredStep || isFree(second))) return machine;
    const absences = absencesOf(second === undefined ? others : others.slice(1), delta, second, parts);
    if (absences === null || (absences.length > 0 && second instanceof AggregateStep)) return machine;
    return new CopyJoin(machine, delta, headOf(registers, delta, second), absences);
  }

  get matches(): number {
    return this.#sink.matches + this.#machine.matches;
  }

  get isIdle(): boolean {
    return this.#machine.isIdle;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    this.#isCopying = list === null && this.#begins(reader, from, to);
    if (!this.#isCopying) this.#machine.start(reader, from, to, list, done);
  }

  run(budget: number): number {
    if (!this.#isCopying) return this.#machine.run(budget);
    this.#parts.constants.work = 0;
    if (!this.#absences.every(({ keys }) => keys.collect(rowsPerRun))) return 0;
    const isOver = this.#copy();
    if (isOver) this.#endAbsences();
    return isOver ? Math.max(1, budget) : 0;
  }

  #copy(): boolean {
    if (this.#stored !== null) return this.#copyStored(this.#stored);
    return this.#aggregate === null ? this.#copyRows() : this.#copyGroups(this.#aggregate);
  }

  /** False if the machine must do it. */
  #begins(reader: Reader, from: number, to: number): boolean {
    const { target } = this.#parts.emission;
    const stored = this.#stored;
    if (target.rows.deadCount > 0) return false;
    if (stored !== null && to - from > maxKeys) return false;
    this.#machine.bindTo(reader);
    if (stored !== null) {
      this.#whole = stored.whole;
      if (this.#whole === null) return false;
    }
    if (!this.#absencesPay(from, to)) return false;
    this.#sink.begin(this.#isLossless, from >= this.#through);
    // A join that is stopped begins with the same rows again.
    this.#through = to;
    this.#at = from;
    this.#to = to;
    this.#isEntered = false;
    this.#rows = noResults;
    this.#results = noResults;
    this.#next = 0;
    this.#groups?.begin(reader, this.#machine.registers, from, to);
    this.#machine.chunkStart = from;
    this.#machine.chunkEnd = to;
    return true;
  }

  /** Prepares the tests of absences; false if the machine tests them better, row by row. */
  #absencesPay(from: number, to: number): boolean {
    const isLookUp = this.#storedTests !== null && this.#storedTests.equal.length > 0;
    const rows = isLookUp ? 0 : (this.#whole?.limit ?? to - from);
    const pays = this.#absences.every(({ keys }) => keys.begin(rows, this.#machine.registers));
    if (!pays) this.#endAbsences();
    return pays;
  }

  #endAbsences(): void {
    for (const { keys } of this.#absences) keys.end();
  }

  /** Those of the rows whose keys the negated atoms lack. */
  #absent(selected: Selected, valuesFor: (from: HeadColumn, of: Selected) => Int32Array): Selected {
    let rest = selected;
    for (const { keys, from } of this.#absences) {
      const columns = from.map((each) => valuesFor(each, rest));
      const rows = selectedAt(rest, keys.missing(columns, rest.count));
      rest = { first: 0, rows, count: rows.length };
    }
    return rest;
  }

  #copyRows(): boolean {
    const { rows } = this.#delta.source;
    const end = Math.min(this.#to, this.#at + rowsPerRun);
    const selected = selectRows(
      rowsOf(rows),
      this.#at,
      end,
      this.#equalTo(this.#deltaTests),
      this.#deltaTests.same,
    );
    this.#at = end;
    this.#takeRows(selected, noResults);
    return end === this.#to;
  }

  #equalTo({ equal }: Tests): { position: number; value: number }[] {
    const { registers } = this.#machine;
    return equal.map(({ position, register }) => ({ position, value: registers[register] as number }));
  }

  /** The stored rows for one row of the demand after the other. */
  #copyStored(stored: StoredStep): boolean {
    const { rows } = this.#delta.source;
    const { registers } = this.#machine;
    const whole = present(this.#whole, 'the join has begun');
    while (this.#at < this.#to) {
      if (!this.#isEntered) {
        if (!meets(rows, this.#at, this.#delta.shape, registers)) {
          this.#at++;
          continue;
        }
        this.#chain = whole.limit === 0 ? null : stored.indexOfWhole(false);
        this.#cursor = 0;
        this.#isEntered = true;
        const isEmpty = this.#parts.emission.target.rows.count === 0;
        this.#sink.isDistinct ||= this.#isLosslessForRow && isEmpty;
        this.#sink.isDistinct &&= this.#isLossless || isEmpty;
      }
      const tests = present(this.#storedTests, 'there is a stored atom');
      if (this.#chain !== null) {
        if (!this.#followChain(this.#chain, whole, tests)) return false;
      } else {
        const end = Math.min(whole.limit, this.#cursor + rowsPerRun);
        const selected = selectRows(whole, this.#cursor, end, this.#equalTo(tests), tests.same);
        this.#cursor = end;
        this.#takeStored(selected, whole);
        if (end < whole.limit) return false;
      }
      this.#isEntered = false;
      this.#at++;
    }
    return true;
  }

  /** Builds the index if it lacks rows, then takes the next rows of the chain. False if there is more to do. */
  #followChain(index: ChainIndex, whole: WholeRows, tests: Tests): boolean {
    const { relation } = whole;
    assert(relation !== null, 'stored rows have an index');
    if (index.rows < whole.limit && !index.takeIn(relation.count, rowsPerRun)) return false;
    if (this.#cursor === 0) this.#cursor = firstIn(index, this.#keyFor(index, whole, tests));
    const found = new Int32Array(rowsPerRun);
    let [cursor, count] = [this.#cursor, 0];
    for (; cursor !== 0 && count < rowsPerRun; cursor = index.next[cursor - 1] as number)
      if (cursor <= whole.limit) found[count++] = cursor - 1;
    this.#cursor = cursor;
    this.#takeStored(selectAlive(whole, found, count, tests.same), whole);
    return cursor === 0;
  }

  /** The key of the index, which has the scope last unless the view is of all. */
  #keyFor({ positions }: ChainIndex, { relation, scope }: WholeRows, { equal }: Tests): Int32Array {
    const { registers } = this.#machine;
    return Int32Array.from(positions, (position) => {
      const test = equal.find((each) => each.position === position);
      if (test !== undefined) return registers[test.register] as number;
      return (scope ?? relation?.columns[position]?.[0]) as number;
    });
  }

  #takeStored(found: Selected, { columns, relation }: WholeRows): void {
    if (found.count === 0) return;
    const { columns: demand } = this.#delta.source.rows;
    const valuesFor = (from: HeadColumn, of: Selected): Int32Array =>
      from.kind === 'stored'
        ? valuesOf(columns[from.position] as Int32Array, of)
        : filled(
            of.count,
            from.kind === 'start' ? (demand[from.position]?.[this.#at] as number) : this.#constant(from),
          );
    const selected = this.#absent(found, valuesFor);
    const facts = relation === null ? null : { support: null, selected, numbers: relation.number };
    const demanded = this.#delta.source.support;
    const row = demanded === null ? null : { support: demanded, row: this.#at };
    const head = this.#head.map((from) => valuesFor(from, selected));
    this.#sink.take(head, selected.count, [row, facts]);
  }

  /** Rows of the delta, with the results for each. */
  #takeRows(found: Selected, results: Int32Array): void {
    const { columns } = this.#delta.source.rows;
    const valuesFor = (from: HeadColumn, of: Selected): Int32Array => {
      if (from.kind === 'result') return results.subarray(0, of.count);
      if (from.kind === 'constant') return filled(of.count, this.#constant(from));
      return valuesOf(columns[from.position] as Int32Array, of);
    };
    const selected = this.#absent(found, valuesFor);
    const { support } = this.#delta.source;
    const by = support === null ? null : { support, selected, numbers: null };
    const head = this.#head.map((from) => valuesFor(from, selected));
    this.#sink.take(head, selected.count, [by]);
  }

  #constant(from: HeadColumn): number {
    return from.kind === 'constant' ? (this.#machine.registers[from.register] as number) : 0;
  }

  /** One conclusion at most for each row: what the aggregate over its group is. */
  #copyGroups(aggregate: AggregateStep): boolean {
    if (this.#groups?.take(rowsPerRun) === false) return false;
    if (this.#next === this.#results.length) this.#findResults();
    const [rows, results] = [this.#rows, this.#results];
    let count = 0;
    for (let isWorn = false; this.#next < results.length && !isWorn; ) {
      const known = this.#next;
      this.#next = endOfKnown(results, known);
      count = moveResults(rows, results, known, this.#next, count);
      if (this.#next === results.length) break;
      const result = this.#readGroup(aggregate, rows[this.#next] as number);
      if (result === unknownResult) break;
      results[this.#next] = result;
      count = moveResults(rows, results, this.#next, ++this.#next, count);
      isWorn = this.#machine.isWorn;
    }
    this.#takeRows({ first: 0, rows, count }, results);
    if (this.#next < results.length || this.#at < this.#to) return false;
    if (this.#at === this.#delta.source.rows.count) this.#groups?.end();
    return true;
  }

  /** Finds the results for the next rows as far as the pass over all groups has them. */
  #findResults(): void {
    const { rows } = this.#delta.source;
    const end = Math.min(this.#to, this.#at + rowsPerRun);
    const equal = this.#equalTo(this.#deltaTests);
    const selected = selectRows(rowsOf(rows), this.#at, end, equal, this.#deltaTests.same);
    this.#at = end;
    this.#next = 0;
    this.#rows = numbersOf(selected);
    this.#results =
      this.#groups?.resultsFor(selected) ?? new Int32Array(selected.count).fill(unknownResult);
  }

  /** The result for the group of a row, which is read by itself; `unknownResult` if it must go on before it has one, and yield. */
  #readGroup(aggregate: AggregateStep, row: number): number {
    const machine = this.#machine;
    const { registers } = machine;
    if (!this.#isEntered) {
      if (!meets(this.#delta.source.rows, row, this.#delta.shape, registers)) return noResult;
      aggregate.enter(machine);
      this.#isEntered = true;
    }
    const isMatch = aggregate.advance(machine);
    if (machine.isStalled) {
      machine.isStalled = false;
      return unknownResult;
    }
    this.#isEntered = false;
    return isMatch ? (registers[aggregate.result] as number) : noResult;
  }
}

/** A negated atom, and where the values of its key come from. */
interface Absence {
  readonly keys: AbsentKeys;
  readonly from: readonly HeadColumn[];
}

/** null: a step is no absence, or none of columns. */
function absencesOf(
  steps: readonly Step[],
  delta: DerivedDelta,
  second: Step | undefined,
  { constants, batch }: MachineParts,
): Absence[] | null {
  const shapes = second instanceof StoredStep ? [delta.shape, second.shape] : [delta.shape];
  const absences: Absence[] = [];
  for (const step of steps) {
    const keys = step instanceof AbsentStep ? AbsentKeys.of(step, shapes, constants, batch) : null;
    if (keys === null) return null;
    absences.push({ keys, from: headOf(keys.registers, delta, second) });
  }
  return absences;
}

const noResults = new Int32Array(0);

function endOfKnown(results: Int32Array, from: number): number {
  for (let at = from; at < results.length; at++) if (results[at] === unknownResult) return at;
  return results.length;
}

/** Moves the rows `from` to `to` that have a result, and their results, to `start`, which is not after `from`. Returns their end. */
function moveResults(rows: Int32Array, results: Int32Array, from: number, to: number, start: number): number {
  let count = start;
  for (let at = from; at < to; at++) {
    const result = results[at] as number;
    if (result === noResult) continue;
    rows[count] = rows[at] as number;
    results[count++] = result;
  }
  return count;
}

function filled(count: number, value: number): Int32Array {
  return new Int32Array(count).fill(value);
}

/** True if the head has every value of the atom that is not known before. */
export function keepsAll(shape: AtomShape, arity: number, head: readonly number[]): boolean {
  const { keyPositions, bindPositions, bindRegisters, samePositions } = shape;
  if (keyPositions.length + bindPositions.length + samePositions.length < arity) return false;
  return bindRegisters.every((register) => head.includes(register));
}

/** True for an aggregate whose result nothing tests. */
function isFree(step: Step): boolean {
  return step instanceof AggregateStep && step.way === 'bind';
}

function headOf(
  registers: readonly number[],
  { shape }: DerivedDelta,
  second: Step | undefined,
): HeadColumn[] {
  const positionIn = (of: AtomShape, register: number): number | undefined =>
    of.bindPositions[of.bindRegisters.indexOf(register)];
  return registers.map((register): HeadColumn => {
    if (second instanceof AggregateStep && register === second.result) return { kind: 'result' };
    const start = positionIn(shape, register);
    if (start !== undefined) return { kind: 'start', position: start };
    const stored = second instanceof StoredStep ? positionIn(second.shape, register) : undefined;
    return stored === undefined ? { kind: 'constant', register } : { kind: 'stored', position: stored };
  });
}

/** The rows of a set, as columns. */
export function rowsOf({ columns, count, dead }: Tuples): WholeRows {
  return { ...noRows, columns, limit: count, dead };
}

/** Binds the registers to the row; false if it is dead or does not match. */
function meets(rows: Tuples, row: number, shape: AtomShape, registers: Int32Array): boolean {
  if (rows.isDead(row)) return false;
  const { keyPositions, keyRegisters } = shape;
  for (let at = 0; at < keyPositions.length; at++)
    if (rows.columns[keyPositions[at] as number]?.[row] !== registers[keyRegisters[at] as number])
      return false;
  return bindRow(rows.columns, row, shape, registers);
}
