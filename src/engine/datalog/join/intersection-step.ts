import { present } from '../../base/assert.ts';
import { seek, type SortedRun, type SortedRuns } from '../../store/sorted-runs.ts';
import type { MemoryMeter } from '../../store/memory-meter.ts';
import type { Reader } from '../model/reader.ts';
import type { Sortable, SortableStep } from './sortable-step.ts';
import { type AtomShape, type Machine, noRow, rowsAtOnce, Step } from './machine.ts';
import { CachedMatches } from './cached-matches.ts';
import { StoredStep } from './stored-steps.ts';

const noInts = new Int32Array(0);

type Binds = NonNullable<AtomShape['binds']>;

/** A sorted run that a literal needs. */
interface Wanted extends Sortable {
  /** The columns by which it is sorted: those of `Sorted`, after the scope if rows of others must be left out. */
  readonly order: readonly number[];
}

/** One literal of an intersection: all its columns are bound but the one of the variable. */
export class Sorted {
  readonly rows: SortableStep;
  /** The column and the register of the variable. */
  readonly binds: Binds;
  readonly #keyRegisters: readonly number[];
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
  constructor(rows: SortableStep, binds: Binds) {
    this.rows = rows;
    this.binds = binds;
    this.#keyRegisters = rows.shape.keyRegisters;
  }

  /** The columns by which the rows are sorted: those of the key, last that of the variable. */
  get order(): readonly number[] {
    return [...this.rows.shape.keyPositions, this.binds.position];
  }

  /** The run that the reader needs; null if the rows cannot be sorted. */
  wanted(reader: Reader): Wanted | null {
    const sortable = this.rows.sortable(reader);
    if (sortable === null) return null;
    const first = sortable.scope === null ? [] : [sortable.scope.position];
    return { ...sortable, order: [...first, ...this.order] };
  }

  /** Takes the run, which has been made, for the join that begins. Returns the runs of its relation. */
  use(reader: Reader): SortedRuns {
    const { runs, limit, scope, order } = present(this.wanted(reader), 'its rows can be sorted');
    const run = present(runs.known(order, limit), 'a run is made before the join begins');
    this.#run = run;
    this.#isKnown = false;
    this.#scopes = scope === null ? 0 : 1;
    this.#key = new Int32Array(order.length - 1);
    if (scope !== null) this.#key[0] = scope.value;
    this.values = run.values[order.length - 1] ?? noInts;
    this.#sorted = run.rows;
    return runs;
  }

  /** Lets go of the run: the join has ended. */
  release(): void {
    this.#run = null;
    this.values = noInts;
    this.#sorted = noInts;
  }

  /** Finds the rows with the key that is in the registers. */
  open(registers: Int32Array): void {
    const key = this.#key;
    const from = this.#keyRegisters;
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
 *
 * Literals that depend on a single register have the same matches whenever it has the same value: they are cached.
 */
export class IntersectionStep extends Step {
  readonly #literals: readonly Sorted[];
  readonly #register: number;
  readonly #at: Int32Array;
  /** null: the matches depend on more than one register, or on rows that a change may delete during the join. */
  readonly #cached: CachedMatches | null;
  /** True while the matches of the current key are read from the cache. */
  #isCached = false;
  /** If there is a single literal: the values that it may have. */
  limit: KeyedSemiJoin | null = null;

  /** At least one literal; all bind the same register. */
  constructor(literals: readonly Sorted[]) {
    super();
    this.#literals = literals;
    this.#register = present(literals[0], 'there is a literal').binds.register;
    this.#at = new Int32Array(literals.length);
    const keys = literals.map(({ rows }) => (rows instanceof StoredStep ? rows.variableKeys : null));
    const [key, ...others] = new Set(keys.flatMap((registers) => registers ?? []));
    const isCacheable = keys.length > 1 && !keys.includes(null) && key !== undefined && others.length === 0;
    const matched = [this.#register, ...literals.map(({ rows }) => rows.rowRegister)];
    this.#cached = isCacheable ? new CachedMatches(key, matched) : null;
  }

  get cached(): CachedMatches | null {
    return this.#cached;
  }

  override get found(): readonly Step[] {
    return this.#literals.map(({ rows }) => rows);
  }

  get literals(): readonly Sorted[] {
    return this.#literals;
  }

  override bind(reader: Reader): void {
    for (const { rows } of this.#literals) rows.bind(reader);
  }

  override enter(machine: Machine): void {
    const literals = this.#literals;
    this.#isCached = this.#cached?.open(machine.registers) === true;
    if (this.#isCached) return;
    for (let index = 0; index < literals.length; index++) {
      const literal = literals[index] as Sorted;
      literal.open(machine.registers);
      this.#at[index] = literal.from;
    }
  }

  override advance(machine: Machine): boolean {
    if (this.#literals.length === 1) return this.#advanceOne(machine, this.#literals[0] as Sorted);
    const cached = this.#cached;
    if (cached !== null && this.#isCached) return this.#advanceCached(machine, cached);
    const isMatch = this.#literals.length === 2 ? this.#advanceTwo(machine) : this.#advanceAll(machine);
    if (!isMatch && !machine.isStalled) cached?.close();
    return isMatch;
  }

  #advanceCached(machine: Machine, cached: CachedMatches): boolean {
    let most = rowsAtOnce;
    while (cached.next(machine.registers)) {
      if (this.#passes(machine)) return true;
      if (machine.isWorn || --most <= 0) return machine.stall();
    }
    return false;
  }

  #advanceOne(machine: Machine, { values, to }: Sorted): boolean {
    const { limit } = this;
    const at = this.#at;
    let one = at[0] as number;
    let most = rowsAtOnce;
    while (one < to) {
      const value = values[one] as number;
      if (limit !== null && !limit.admits(value)) one++;
      else {
        at[0] = one;
        const isMatch = this.#meet(machine, value);
        one = at[0];
        if (machine.isWorn) most = 0;
        if (isMatch) return true;
      }
      if (--most <= 0) {
        at[0] = one;
        return machine.stall();
      }
    }
    at[0] = to;
    return false;
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
      if (--most <= 0) return machine.stall();
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
    this.#cached?.add(registers);
    return this.#passes(machine);
  }

  /** A match is in the registers. True if the step has to return it. */
  #passes(machine: Machine): boolean {
    if (!this.pass()) return false;
    if (!this.collects) return true;
    machine.collect();
    return false;
  }
}

/** Rows that a semi-join reads for each candidate that is tested before it is complete: less than the candidate costs. */
const rowsPerCandidate = 64;
/** Finding a range takes about as long as reading so many rows of it. */
const rowsPerRange = 4;
/** Candidates tested before it is judged whether the tests pay, and the part of them that must fail. */
const testsToJudge = 0x4000;
const failureDivisor = 4;

/**
 * The values from which two literals lead to the current key (a semi-join with the key as parameter): of a cycle of
 * four sides, the nodes that lie two sides before the first one. They are found once for each key, and a candidate
 * that is none of them needs no intersection.
 *
 * They are found while candidates are tested, some rows for each (ski rental), so a key with few candidates costs
 * little; candidates before that pass. It may have values that the reader does not see, and lacks none.
 */
export class KeyedSemiJoin {
  readonly far: Sorted;
  readonly near: Sorted;
  readonly #keyRegister: number;
  readonly #values: Int32Array;
  /** Like the machine's registers: those that the literals read, so that its own stay as they are. */
  readonly #own: Int32Array;
  /** By id: the round in which the value was found. */
  #rounds = noInts;
  #round = 0;
  #key = -1;
  #isComplete = false;
  /** Of the current key: the position in the far literal, and in the near one. */
  #farAt = 0;
  #nearAt = 0;
  #nearTo = 0;
  #tests = 0;
  #failures = 0;
  #isOff = false;

  /** `far` binds from the key what `near` needs to bind the value; `values`: the machine's registers. */
  constructor(far: Sorted, near: Sorted, keyRegister: number, values: Int32Array) {
    this.far = far;
    this.near = near;
    this.#keyRegister = keyRegister;
    this.#values = values;
    this.#own = new Int32Array(values.length);
  }

  get bytes(): number {
    return this.#rounds.byteLength;
  }

  /** Prepares for a join, whose ids of stored facts are below `ids`. */
  begin(ids: number): void {
    this.#rounds = new Int32Array(ids);
    this.#round = 0;
    this.#key = -1;
    this.#tests = 0;
    this.#failures = 0;
    this.#isOff = false;
  }

  /** Frees the values: the join has ended. */
  release(): void {
    this.#rounds = noInts;
  }

  /** False if the value leads to no match. A value that no stored fact has is not told apart. */
  admits(value: number): boolean {
    if (this.#isOff || value >= this.#rounds.length) return true;
    const key = this.#values[this.#keyRegister] as number;
    if (key !== this.#key) this.#open(key);
    if (!this.#isComplete && !this.#find(rowsPerCandidate)) return true;
    if (++this.#tests === testsToJudge) this.#judge();
    if (this.#rounds[value] === this.#round) return true;
    this.#failures++;
    return false;
  }

  #judge(): void {
    this.#isOff = this.#failures * failureDivisor < this.#tests;
    this.#tests = 0;
    this.#failures = 0;
  }

  #open(key: number): void {
    this.#key = key;
    this.#own[this.#keyRegister] = key;
    this.#round++;
    this.far.open(this.#own);
    this.#farAt = this.far.from;
    this.#nearAt = 0;
    this.#nearTo = 0;
    this.#isComplete = false;
  }

  /** Reads up to this many rows. True once all values of the key are known. */
  #find(most: number): boolean {
    const { far, near } = this;
    const rounds = this.#rounds;
    const round = this.#round;
    let left = most;
    for (;;) {
      const values = near.values;
      const to = Math.min(this.#nearTo, this.#nearAt + left);
      left -= to - this.#nearAt;
      for (let at = this.#nearAt; at < to; at++) rounds[values[at] as number] = round;
      this.#nearAt = to;
      if (to < this.#nearTo || left <= 0) return false;
      if (this.#farAt >= far.to) break;
      this.#own[far.binds.register] = far.values[this.#farAt++] as number;
      near.open(this.#own);
      this.#nearAt = near.from;
      this.#nearTo = near.to;
      left -= rowsPerRange;
    }
    this.#isComplete = true;
    return true;
  }
}

/**
 * A scan of a relation in the order of a sorted run that an intersection needs anyway, so that the
 * intersections after it find the same and neighbouring ranges. Equal tuples are met once.
 */
export class SortedScan extends Step {
  readonly #rows: SortableStep;
  readonly #intersections: Intersections;
  #reader: Reader | null = null;
  #run: SortedRun | null = null;
  /** By level of the run: the register of its column; -1: none. */
  #registers: readonly number[] = [];
  #at = 0;
  #to = 0;
  #met = -1;

  /** `rows`: a literal with distinct variables in all columns, none of which is bound. */
  constructor(rows: SortableStep, intersections: Intersections) {
    super();
    this.#rows = rows;
    this.#intersections = intersections;
  }

  override get found(): readonly Step[] {
    return this.#rows.found;
  }

  override bind(reader: Reader): void {
    this.#reader = reader;
    this.#rows.rowRegister = this.rowRegister;
    this.#rows.bind(reader);
  }

  override enter(machine: Machine): void {
    const { shape } = this.#rows;
    const found = this.#intersections.runOver(this.#rows, this.#reader as Reader);
    this.#run = found === null ? null : found.run;
    if (found === null) return this.#rows.enter(machine);
    const { run, order, scope } = found;
    this.#registers = order.map((position) => {
      const at = shape.bindPositions.indexOf(position);
      return at < 0 ? -1 : (shape.bindRegisters[at] as number);
    });
    this.#at = scope === null ? 0 : run.first(scope.value);
    this.#to = scope === null ? run.count : run.first(scope.value + 1);
    this.#met = -1;
  }

  override advance(machine: Machine): boolean {
    const run = this.#run;
    if (run === null) return this.#advanceRows(machine);
    const { rows, values } = run;
    const { registers } = machine;
    const levels = this.#registers;
    let left = rowsAtOnce;
    while (this.#at < this.#to) {
      if (left-- === 0) return machine.stall();
      const at = this.#at++;
      const row = rows[at] as number;
      if (this.#isMet(values, at) || !this.#rows.meets(row)) continue;
      this.#met = at;
      for (let level = 0; level < levels.length; level++) {
        const register = levels[level] as number;
        if (register >= 0) registers[register] = (values[level] as Int32Array)[at] as number;
      }
      registers[this.rowRegister] = row;
      const isMatch = this.pass();
      if (machine.isWorn) left = 0;
      if (isMatch) return true;
    }
    this.#run = null;
    return false;
  }

  /** True if the tuple at the position is the one that was met last. */
  #isMet(values: readonly Int32Array[], at: number): boolean {
    const met = this.#met;
    if (met < 0) return false;
    for (let level = values.length - 1; level >= 0; level--) {
      const column = values[level] as Int32Array;
      if (column[at] !== column[met]) return false;
    }
    return true;
  }

  #advanceRows(machine: Machine): boolean {
    while (this.#rows.advance(machine)) if (this.pass()) return true;
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
  readonly #literals: Sorted[] = [];
  /** Those of steps that only read a run in place of a chain. */
  readonly #others: Sorted[] = [];
  /** Candidates that joins without sorted runs are expected to test, for each row that they start with. */
  #candidates = 0;
  #tested = 0;
  #reader: Reader | null = null;
  #isReady = false;
  readonly #usedRuns: Set<SortedRuns>;
  readonly #memory: MemoryMeter;
  readonly #semiJoins: KeyedSemiJoin[] = [];
  readonly #caches: CachedMatches[] = [];

  /** `usedRuns`: takes the runs that the machine uses. `memory`: what it asks. */
  constructor(usedRuns: Set<SortedRuns>, memory: MemoryMeter) {
    this.#usedRuns = usedRuns;
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#literals.length === 0;
  }

  /** `candidates`: those of one start row that the step is expected to save. */
  add(step: IntersectionStep, candidates: number): void {
    this.#literals.push(...step.literals);
    if (step.cached !== null) this.#caches.push(step.cached);
    this.#candidates += candidates;
  }

  /** The semi-join needs runs as well. */
  addSemiJoin(semiJoin: KeyedSemiJoin): void {
    this.#literals.push(semiJoin.far, semiJoin.near);
    this.#semiJoins.push(semiJoin);
  }

  /** A step that reads a run in place of this one's chain or scan; null if the intersections need no such run. */
  inPlaceOf(step: SortableStep): IntersectionStep | SortedScan | null {
    const { shape } = step;
    const same = this.#literals.filter(({ rows }) => rows.reads(step));
    const isFree = shape.bindPositions.length === step.arity;
    if (isFree)
      return same.some(({ order }) => order.length === step.arity) ? new SortedScan(step, this) : null;
    if (shape.binds === null) return null;
    const literal = new Sorted(step, shape.binds);
    const order = literal.order.join();
    if (!same.some((other) => other.order.join() === order)) return null;
    this.#others.push(literal);
    return new IntersectionStep([literal]);
  }

  /** True if a join that starts with so many rows should intersect: then `prepare` must be called. */
  pay(reader: Reader, rows: number): boolean {
    const missing = this.#missing(reader);
    this.#tested += rows * this.#candidates;
    if (missing === null) return false;
    if (!this.outweigh(missing.reduce((sum, { runs, order, count }) => sum + runs.cost(order, count), 0)))
      return false;
    this.#tested = 0;
    this.#reader = reader;
    this.#isReady = false;
    return true;
  }

  /** True if the candidates of joins without runs cost as much by now as sorting so many rows. */
  outweigh(rows: number): boolean {
    return this.#tested >= rows * candidatesPerRow;
  }

  /** Makes a little of the runs. True once the join can begin. */
  prepare(): boolean {
    if (this.#isReady) return true;
    const reader = this.#reader as Reader;
    const [first] = present(this.#missing(reader), 'the rows can be sorted');
    if (first !== undefined) {
      this.#usedRuns.add(first.runs);
      first.runs.take(first.order, first.limit, first.count);
      return false;
    }
    // Runs may be evicted while the join is paused, so it keeps its own.
    for (const literal of [...this.#literals, ...this.#others]) this.#usedRuns.add(literal.use(reader));
    const ids = reader.facts.dictionary.size;
    for (const cache of this.#caches) cache.begin(ids, this.#memory);
    for (const semiJoin of this.#semiJoins) {
      this.#memory.take(ids * 4);
      semiJoin.begin(ids);
    }
    this.#isReady = true;
    return true;
  }

  /** Called at the end of the join: its runs may be evicted. */
  release(): void {
    for (const literal of this.#literals) literal.release();
    for (const literal of this.#others) literal.release();
    for (const semiJoin of this.#semiJoins) {
      this.#memory.free(semiJoin.bytes);
      semiJoin.release();
    }
    for (const cache of this.#caches) cache.release();
    this.#reader = null;
  }

  /** A run over all columns of the relation of `rows`, if an intersection uses one. */
  runOver(rows: SortableStep, reader: Reader): (Wanted & { readonly run: SortedRun }) | null {
    const all = rows.sortable(reader);
    for (const literal of this.#literals) {
      const wanted = literal.wanted(reader);
      if (all === null || wanted === null || wanted.runs !== all.runs || all.limit === 0) continue;
      const isWhole = wanted.order.length === rows.shape.bindPositions.length + (all.scope === null ? 0 : 1);
      const isSame = all.scope?.value === wanted.scope?.value && wanted.limit >= all.limit;
      const run = isWhole && isSame ? wanted.runs.known(wanted.order, wanted.limit) : null;
      if (run !== null) return { ...wanted, run };
    }
    return null;
  }

  /** The runs to make; null if some rows cannot be sorted. */
  #missing(reader: Reader): readonly Wanted[] | null {
    const missing: Wanted[] = [];
    for (const literal of this.#literals) {
      const wanted = literal.wanted(reader);
      if (wanted === null) return null;
      const isListed = missing.some(
        ({ runs, order }) => runs === wanted.runs && order.join() === wanted.order.join(),
      );
      if (!isListed && wanted.runs.known(wanted.order, wanted.limit) === null) missing.push(wanted);
    }
    return missing;
  }
}
