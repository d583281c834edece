import { IntBlocks } from '../../store/int-blocks.ts';
import type { MemoryMeter } from '../../store/memory-meter.ts';
import { Tuples } from '../../store/tuples.ts';
import type { Reader } from './reader.ts';

/** A join that new rows of a relation start; see `machine.ts`. */
export interface Consumer {
  /** Matches of the whole body so far. */
  readonly matches: number;
  /** True while nothing demands what it derives, so that it need not start. */
  readonly isIdle: boolean;
  /**
   * Starts with rows `from` to `to` of the delta, or with those in `list`; rows below `done` were joined
   * before.
   */
  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void;
  /** Runs about `budget` steps. Returns the budget left; 0 means that the join has not finished. */
  run(budget: number): number;
}

/** An item of the work list, queued at most once for each phase. */
export interface Queued {
  /** Everything on lower levels is at its fixpoint when this is processed; see `WorkList`. */
  level: number;
  /** One bit for each phase for which it is queued. */
  queued: number;
}

/**
 * A relation that evaluation fills: the rows of a table, its demand, or an auxiliary relation of a rewriting.
 *
 * Semi-naive: rows below `done` have been joined with everything; the rest is the delta. `consumers` are the
 * joins that new rows start. Rows that are revived, or whose height decreases, after they were processed go
 * to `again`.
 */
export interface Derived extends Queued {
  readonly name: string;
  rows: Tuples;
  done: number;
  /** Rows below this are being joined or have been; between joins equal to `done`. */
  claimed: number;
  readonly consumers: Consumer[];
  again: number[];
  /**
   * Rows below this have been joined, with all that follows from them. For demand: those answered in full.
   */
  settled: number;
  /** Called before the first rows are processed: a table compiles its rules on its first demand. */
  readonly prepare: (() => void) | null;
  /** What maintains it when facts change; null for demand, and for tables of a single question. */
  support: Support | null;
}

/** New stored rows for one atom of one rule, or changed rows of an atom that it negates. */
export interface StoredDelta extends Queued {
  readonly level: number;
  rows: number[];
  /** The join that they start. */
  readonly machine: () => Consumer;
}

/** A rule as incremental maintenance uses it. */
export interface Checker {
  /** The join that looks for another derivation of the dead rows with which it starts. */
  check(): Consumer;
}

/** A premise of each of several rows: rows of a relation or, if there is none, stored facts. */
export interface RunPremise {
  readonly support: Support | null;
  /** That of the support when the rows were justified: if it has been emptied since, the numbers are no rows of it. */
  readonly epoch: number;
  /** By row; the same for each; or `at` for the first, and those that follow. */
  readonly numbers: Int32Array | number | { readonly at: number };
}

/** Rows whose justifications are not written as edges yet; see `Justifications.justifyNew`. */
export interface JustifiedRun {
  readonly first: number;
  readonly count: number;
  readonly premises: readonly RunPremise[];
}

function bytesOfRun({ premises }: JustifiedRun): number {
  let bytes = 64;
  for (const { numbers } of premises) bytes += numbers instanceof Int32Array ? numbers.byteLength : 0;
  return bytes;
}

/** What incremental maintenance keeps for one derived relation; see `justifications.ts`. */
export class Support {
  readonly derived: Derived;
  /** Its index in the set's list of supports. */
  readonly number: number;
  /** Called for every row that a change of facts deletes; null if nothing records deletions. */
  readonly lost: ((row: number) => void) | null;
  /** The rules that conclude the relation. */
  readonly rules: Checker[] = [];
  readonly watchers: Watcher[] = [];
  /** By row: the first edge of its justification. */
  readonly since: IntBlocks;
  /** By row: 1 + the newest edge from it as a premise. */
  readonly heads: IntBlocks;
  /** Number of edges of justifications of this relation's rows. */
  edges = 0;
  /** Rows whose justifications are not written as edges yet. */
  readonly runs: JustifiedRun[] = [];
  /** Rows below this may be in a run. */
  endOfRuns = 0;
  /** Increases whenever the relation is emptied. */
  epoch = 0;
  #bytesOfRuns = 0;
  readonly #memory: MemoryMeter | null;
  /** Overdeleted rows whose dependents have not been followed. */
  overdeleted: number[] = [];
  /** Dead rows to look for another derivation for. */
  toRederive: number[] = [];
  /** Rows deleted since the levels above were notified, with the heights that they had. */
  deleted: { readonly row: number; readonly height: number }[] = [];
  /** Dead rows that came rederivedSince since then. */
  rederived: number[] = [];
  /** Rows below this are not new to the watchers. */
  propagatedCount = 0;
  /** Baseline: rows below this, without those revived since, were true when the running maintenance began. */
  #baselineCount = 0;
  /** null: none yet. */
  #rederivedSince: Set<number> | null = null;

  constructor(
    derived: Derived,
    number: number,
    lost: ((row: number) => void) | null,
    memory: MemoryMeter | null,
  ) {
    this.derived = derived;
    this.number = number;
    this.lost = lost;
    this.#memory = memory;
    this.since = new IntBlocks(memory);
    this.heads = new IntBlocks(memory);
  }

  get bytes(): number {
    return this.since.bytes + this.heads.bytes + this.#bytesOfRuns;
  }

  addRun(run: JustifiedRun): void {
    this.#countRun(bytesOfRun(run));
    this.runs.push(run);
    this.endOfRuns = run.first + run.count;
  }

  /** Drops the first run: it is written, or its rows are gone. */
  endRun(): void {
    const run = this.runs.shift();
    if (run !== undefined) this.#countRun(-bytesOfRun(run));
    if (this.runs.length === 0) this.endOfRuns = 0;
  }

  #countRun(bytes: number): void {
    if (bytes > 0) this.#memory?.take(bytes);
    else this.#memory?.free(-bytes);
    this.#bytesOfRuns += bytes;
  }

  /** Drops what is recorded for the rows; the relation has been emptied. */
  clear(): void {
    this.since.clear();
    this.heads.clear();
    this.edges = 0;
    this.epoch++;
    while (this.runs.length > 0) this.endRun();
    this.overdeleted = [];
    this.toRederive = [];
    this.deleted = [];
    this.rederived = [];
    this.propagatedCount = 0;
    this.markBaseline();
  }

  /** Makes the live rows the baseline. */
  markBaseline(): void {
    this.#baselineCount = this.derived.rows.count;
    this.#rederivedSince = null;
  }

  /** Records that a long-dead row is alive again. */
  noteRederived(row: number): void {
    if (row < this.#baselineCount) (this.#rederivedSince ??= new Set()).add(row);
  }

  /**
   * Whether a deleted row was in the baseline. Joins of a level can meet higher rows that do not yet reflect
   * the deletions; their conclusions are deleted again, and were never true.
   */
  wasInBaseline(row: number): boolean {
    return row < this.#baselineCount && this.#rederivedSince?.has(row) !== true;
  }
}

/** What a change of a relation that is negated or aggregated affects. */
export type Watcher = WaitingWatcher | AbsenceWatcher;

/**
 * A rule that tests an absence in its join: the joins that a changed row of the negated atom starts, one that overdeletes
 * what may have depended on it, and one that finds what now follows.
 */
export interface AbsenceWatcher {
  readonly kind: 'absence';
  /** Until something is demanded of the rule, nothing depends on the absence. */
  readonly demand: Derived;
  readonly loss: StoredDelta;
  readonly gain: StoredDelta;
}

/** Finds the rows of a waiting relation that a changed row affects: those with its values in the key. */
export interface WaitingWatcher {
  readonly kind: 'waiting';
  readonly waits: Derived;
  /** Columns of the changed row that must have these constants. */
  readonly constants: readonly { readonly position: number; readonly id: number }[];
  /** Columns of the changed row that must be equal. */
  readonly equal: readonly (readonly [number, number])[];
  /**
   * Columns of the changed row, and the columns (ascending) of the waiting relation for which they are the
   * key.
   */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** What a derived relation is made with. */
export interface DerivedShape {
  /** What its rows ask before they grow. */
  readonly memory: MemoryMeter;
  readonly name: string;
  readonly arity: number;
  readonly level: number;
  readonly withHeights?: boolean;
  readonly prepare?: () => void;
}

/** An empty derived relation without joins. */
export function newDerived(shape: DerivedShape): Derived {
  return {
    name: shape.name,
    rows: new Tuples(shape.arity, shape.withHeights === true, null, shape.memory),
    done: 0,
    claimed: 0,
    consumers: [],
    again: [],
    settled: 0,
    queued: 0,
    level: shape.level,
    prepare: shape.prepare ?? null,
    support: null,
  };
}

/** Drops the rows and keeps the joins. `isUnread`: nobody reads the columns of the rows any more. */
export function clear(derived: Derived, isUnread = false): void {
  derived.rows = isUnread ? derived.rows.reused() : derived.rows.emptied();
  derived.done = 0;
  derived.claimed = 0;
  derived.settled = 0;
  derived.again = [];
  derived.support?.clear();
}

/** Drops the rows of a relation that is no longer used. */
export function drop(derived: Derived): void {
  clear(derived);
  derived.rows.release();
}

/**
 * The phases of a level, in order: follow deletions until nothing more dies (overdelete), look for other
 * derivations of what died (rederive), join new stored facts, join new or revived derived rows, and notify
 * the levels above of the changes.
 */
export const phases = { kill: 0, check: 1, stored: 2, join: 3, notify: 4 } as const;
export type Phase = (typeof phases)[keyof typeof phases];

interface Entry {
  readonly item: Derived | StoredDelta;
  readonly phase: Phase;
  readonly order: number;
}

/**
 * The work queue: lowest level first, then by phase, then first in, first out.
 *
 * Rules and demand point downwards, so when an item is taken, all lower levels are at the fixpoint of their
 * current demand. Negation and aggregates rely on that.
 */
export class WorkList {
  readonly #heap: Entry[] = [];
  #order = 0;

  get isEmpty(): boolean {
    return this.#heap.length === 0;
  }

  add(item: Entry['item'], phase: Phase): void {
    const bit = 1 << phase;
    if ((item.queued & bit) !== 0) return;
    item.queued |= bit;
    const heap = this.#heap;
    heap.push({ item, phase, order: this.#order++ });
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): Entry | null {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined) return null;
    this.#swap(0, heap.length - 1);
    heap.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const child = left + 1 < heap.length && this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(child, at)) break;
      this.#swap(at, child);
      at = child;
    }
    first.item.queued &= ~(1 << first.phase);
    return first;
  }

  clear(): void {
    for (const { item } of this.#heap) item.queued = 0;
    this.#heap.length = 0;
  }

  #isBefore(left: number, right: number): boolean {
    const a = this.#heap[left] as Entry;
    const b = this.#heap[right] as Entry;
    if (a.item.level !== b.item.level) return a.item.level < b.item.level;
    return a.phase < b.phase || (a.phase === b.phase && a.order < b.order);
  }

  #swap(left: number, right: number): void {
    const heap = this.#heap;
    const kept = heap[left] as Entry;
    heap[left] = heap[right] as Entry;
    heap[right] = kept;
  }
}

/** Adds a tuple to a derived relation, and queues the relation if the tuple is new. True if it is. */
export function put(target: Derived, tuple: Int32Array, height: number, work: WorkList): boolean {
  const row = target.rows.insert(tuple, height);
  if (row >= 0) work.add(target, phases.join);
  return row >= 0;
}

/** Deletes a live row and queues its dependents to be followed. */
export function overdelete(work: WorkList, target: Support, row: number): void {
  const { derived } = target;
  const { heights } = derived.rows;
  derived.rows.kill(row);
  target.overdeleted.push(row);
  target.deleted.push({ row, height: heights === null ? 0 : (heights.of[row] as number) });
  work.add(derived, phases.kill);
  work.add(derived, phases.notify);
}

/** Queues the notification of higher levels if there are watchers. */
export function notify(work: WorkList, { derived, watchers }: Support): void {
  if (watchers.length > 0) work.add(derived, phases.notify);
}

/** Queues the existing row that the last insertion into the relation revived or gave a lesser height. */
export function requeue(work: WorkList, target: Derived): void {
  const { rows, support } = target;
  const row = rows.improved;
  if (support !== null) {
    if (rows.wasRevived) support.noteRederived(row);
    // The height of an aggregate is that of its rows, so watchers are also notified when heights change.
    if (support.watchers.length > 0 && (rows.wasRevived || rows.heights !== null))
      support.rederived.push(row);
    notify(work, support);
  }
  if (row >= target.claimed) return;
  target.again.push(row);
  work.add(target, phases.join);
}
