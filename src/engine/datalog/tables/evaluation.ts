import { EngineError } from '../../base/errors.ts';
import { type Pause, sliceMs, type Wake } from '../../base/slices.ts';
import {
  type Consumer,
  type Derived,
  type Phase,
  phases,
  put,
  type StoredDelta,
  type Support,
  overdelete,
  type WaitingWatcher,
  type Watcher,
} from '../model/derived.ts';
import { holderOf, type MemoryHolder, type MemoryBudget } from '../model/memory-budget.ts';
import { QuestionMemory } from '../../store/memory-meter.ts';
import type { Reader } from '../model/reader.ts';
import type { TableSet } from './table-set.ts';
import type { Table } from '../model/table.ts';

/**
 * The limits of one evaluation. Exceeding one, or a cancelled signal, ends the evaluation with an error; its
 * tables are then incomplete, and their owner drops them.
 */
export interface EvaluationLimits {
  readonly timeoutMs: number;
  readonly maxDerivations: number;
  /** Bytes that all table sets may take, and each question. */
  readonly memory: MemoryBudget;
  readonly signal: Pick<AbortSignal, 'aborted'>;
  /** When the question was received, by `performance.now()`; default: now. */
  readonly startedAt?: number | undefined;
  /**
   * How long, in total, to wait for maintenance by others before using private tables; unlimited by default.
   */
  readonly patienceMs?: number | undefined;
  /** When it ends with `HandOver`; never by default. */
  readonly handOver?: HandOverLimit | undefined;
}

/** After so many milliseconds of processor time a question can begin again elsewhere. */
export interface HandOverLimit {
  readonly afterMs: number;
  /** Asked at the end of each slice from then on, with the time that it has had and the bytes that it has built; true: it ends here. */
  isDue(workedMs: number, bytes: number): boolean;
  /** Asked before it does what must not be done twice; false: it was answered elsewhere, so it ends here. */
  claim(): boolean;
}

/** Ends the evaluation of a question that has taken its time on this thread: it begins again on another one. */
export class HandOver extends Error {
  constructor() {
    super('the question goes on elsewhere');
    this.name = 'HandOver';
  }
}

/** Steps between two looks at the clock; one step can scan many rows that a filter rejects. */
export const stepsBetweenChecks = 1024;
const chunkRows = 4096;
/** Within one slice, memory is looked at after this many derivations. */
const maxUnmeasuredDerivations = 65_536;

/** Throws an `AbortError` if the client no longer waits. */
export function refuseGone(signal: Pick<AbortSignal, 'aborted'>): void {
  if (signal.aborted) throw new DOMException('the client has gone', 'AbortError');
}

/** Rounds milliseconds to the microsecond. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/**
 * Slices and limits of everything that one question does. Between slices all other work can run; writes that
 * arrive meanwhile are not visible, since the reader is pinned.
 */
export class Pacer {
  readonly limits: EvaluationLimits;
  readonly #pause: Pause;
  readonly startedAt: number;
  derivations = 0;
  /** What the question has taken of its own memory. */
  readonly memory: QuestionMemory;
  /** Milliseconds spent waiting for maintenance by others. */
  waitedMs = 0;
  #sliceStartedAt = performance.now();
  /** When the slice began; earlier, if others ran in it before: see `Pause`. */
  #sliceSince: number;
  /** Time of its slices so far. */
  #workedMs = 0;
  /** When to resume before its turn has come; made by the first pause. */
  #wake: Wake | null = null;
  #stays = false;
  /** Derivations at the last measurement of memory. */
  #measuredDerivations = 0;

  constructor(limits: EvaluationLimits, pause: Pause) {
    this.limits = limits;
    this.memory = new QuestionMemory(limits.memory.questionLimit, limits.memory.heap);
    this.#pause = pause;
    this.#sliceSince = pause.sliceSince?.() ?? this.#sliceStartedAt;
    this.startedAt = limits.startedAt ?? this.#sliceStartedAt;
  }

  /** A pacer of a part of the same work, with at most this much time from now on. */
  within(timeoutMs: number): Pacer {
    const limits = { ...this.limits, timeoutMs: Math.min(this.leftMs, timeoutMs), startedAt: undefined };
    const part = new Pacer(limits, this.#pause);
    part.#workedMs = this.workedMs;
    return part;
  }

  /** The milliseconds until its time is over. */
  get leftMs(): number {
    return Math.max(0, this.limits.timeoutMs - this.elapsedMs);
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** Processor time of its slices so far, about, in milliseconds. */
  get workedMs(): number {
    return this.#workedMs + performance.now() - this.#sliceStartedAt;
  }

  /** `elapsedMs` to the microsecond, as answers report it. */
  get elapsedRounded(): number {
    return toMicroseconds(this.elapsedMs);
  }

  /** True if it is time to let others run. */
  get isSliceOver(): boolean {
    return performance.now() - this.#sliceSince > sliceMs;
  }

  /**
   * From now on it does not end with `HandOver`: what it does from here on must not be done twice. Throws it if the question
   * was answered elsewhere.
   */
  staysHere(): void {
    if (this.limits.handOver?.claim() === false) throw new HandOver();
    this.#stays = true;
  }

  /** Throws if a limit is exceeded. */
  look(): void {
    const { signal, timeoutMs, maxDerivations } = this.limits;
    refuseGone(signal);
    if (this.elapsedMs > timeoutMs)
      throw this.exceeded('timeoutMs', `the question took longer than ${timeoutMs} ms`);
    if (this.derivations > maxDerivations)
      throw this.exceeded('maxDerivations', `the question needed more than ${maxDerivations} derivations`);
  }

  /** True if enough was derived since memory was last looked at to look again. */
  get isMeasurementDue(): boolean {
    return this.derivations - this.#measuredDerivations >= maxUnmeasuredDerivations;
  }

  /** Throws if too much memory is taken. */
  lookAtMemory({ bytes, holder }: { readonly bytes: number; readonly holder?: MemoryHolder | null }): void {
    this.#measuredDerivations = this.derivations;
    const { memory } = this.limits;
    if (!memory.fits(bytes, holder ?? null))
      throw this.exceeded(
        'memory',
        `the question needed more than there is of ${memory.limit} bytes for what it derived`,
      );
  }

  /** Checks the limits, and lets others run if the slice is over. */
  async breathe(): Promise<void> {
    this.look();
    if (this.isSliceOver) await this.rest();
  }

  /** Lets others run, whether or not the slice is over. */
  async rest(): Promise<void> {
    this.look();
    const { timeoutMs, signal, handOver } = this.limits;
    this.#workedMs += performance.now() - this.#sliceStartedAt;
    const hasHad = handOver !== undefined && !this.#stays && this.#workedMs > handOver.afterMs;
    if (hasHad && handOver.isDue(this.#workedMs, this.memory.used)) throw new HandOver();
    await this.#pause((this.#wake ??= { deadline: this.startedAt + timeoutMs, signal }));
    this.#sliceStartedAt = performance.now();
    this.#sliceSince = this.#sliceStartedAt;
    this.look();
  }

  /** The error; a limit error from code that does not know the elapsed time gets it added. */
  withElapsed(error: unknown): unknown {
    if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') return error;
    if (error.members['elapsedMs'] !== undefined) return error;
    const members = { ...error.members, elapsedMs: Math.round(this.elapsedMs) };
    // Without the error as its cause: the frames of its stack would keep the question's tables alive.
    return new EngineError(error.code, error.message, members);
  }

  exceeded(limit: 'timeoutMs' | 'maxDerivations' | 'memory', what: string): EngineError {
    return new EngineError(
      'InferenceLimitExceeded',
      `${what}; ask something narrower, bind an argument, or raise ${limit === 'memory' ? 'MEMORY_BUDGET_BYTES' : limit}`,
      { limit, elapsedMs: Math.round(this.elapsedMs) },
    );
  }
}

/**
 * True once the work is done, false if the pacer has waited for so long in total before, by default its patience.
 * Rejects as the work does, or if a limit is exceeded before.
 */
export async function waitFor(
  work: Promise<void>,
  pacer: Pacer,
  patienceMs = pacer.limits.patienceMs ?? Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const waited = { isOver: false, failures: [] as unknown[] };
  let wake = (): void => {};
  // One reaction for the whole wait: what looks at each pause would stay with the work until its end.
  work.then(
    () => {
      waited.isOver = true;
      wake();
    },
    (error: unknown) => {
      waited.isOver = true;
      waited.failures.push(error);
      wake();
    },
  );
  while (!waited.isOver && pacer.waitedMs < patienceMs) {
    const start = performance.now();
    await new Promise<void>((resolve, reject) => {
      wake = resolve;
      pacer.rest().then(resolve, reject);
    });
    pacer.waitedMs += performance.now() - start;
  }
  if (waited.failures.length > 0) throw waited.failures[0];
  return waited.isOver;
}

/** Adds a tuple to a table's demand. True if it is new. */
export function demand(set: TableSet, table: Table, tuple: Int32Array): boolean {
  return put(table.demand, tuple, 0, set.work);
}

/**
 * Runs the work list to its fixpoint. False if so much was deleted that deriving from scratch is cheaper: the
 * set is then in an intermediate state, and everything that the change reaches must be dropped.
 */
export async function settle(set: TableSet, reader: Reader, pacer: Pacer): Promise<boolean> {
  try {
    return await toFixpoint(set, reader, pacer);
  } finally {
    // What is joined with a derived relation later are changes of few rows, which need no run.
    for (const runs of set.usedRuns)
      if (runs.isMetered) runs.drop();
      else pacer.limits.memory.use(holderOf(runs));
    set.usedRuns.clear();
  }
}

async function toFixpoint(set: TableSet, reader: Reader, pacer: Pacer): Promise<boolean> {
  const joined = new Set<Derived>();
  for (let next = set.work.take(); next !== null; next = set.work.take()) {
    if (next.phase === phases.join) joined.add(next.item as Derived);
    set.observer?.reached(next.item.level);
    if (!(await process(set, next.item, next.phase, reader, pacer))) return false;
    if (pacer.isSliceOver) {
      pacer.lookAtMemory(set);
      await pacer.breathe();
    } else if (pacer.derivations > pacer.limits.maxDerivations) pacer.look();
    // Joins that produce many rows at a time may exceed the limit within one slice.
    else if (pacer.isMeasurementDue) pacer.lookAtMemory(set);
  }
  for (const derived of joined) derived.settled = derived.rows.count;
  return true;
}

async function process(
  set: TableSet,
  item: Derived | StoredDelta,
  phase: Phase,
  reader: Reader,
  pacer: Pacer,
): Promise<boolean> {
  if ('machine' in item) {
    const { rows } = item;
    item.rows = [];
    await join(set, [item.machine()], { reader, pacer, from: 0, to: 0, list: rows, done: 0 });
    return true;
  }
  if (phase === phases.join) {
    item.prepare?.();
    await joinDelta(set, item, reader, pacer);
    if (item.rows.count > item.done || item.again.length > 0) set.work.add(item, phases.join);
    return true;
  }
  const { support } = item;
  if (support === null) return true;
  if (phase === phases.kill) return propagateDeletions(set, support);
  if (phase === phases.check) await rederive(set, support, reader, pacer);
  else notifyHigherLevels(set, support);
  return true;
}

/**
 * Semi-naive step: joins the next chunk of the delta, and rows to be joined again, with every consumer of the
 * relation.
 */
async function joinDelta(set: TableSet, derived: Derived, reader: Reader, pacer: Pacer): Promise<void> {
  const from = derived.done;
  const to = Math.min(derived.rows.count, from + chunkRows);
  derived.claimed = to;
  if (to > from) await join(set, derived.consumers, { reader, pacer, from, to, list: null, done: from });
  // A bitset table that turns out sparse removes its own starting relation during the join.
  derived.done = Math.min(to, derived.rows.count);
  if (derived.again.length === 0) return;
  const list = [...new Set(derived.again)];
  derived.again = [];
  await join(set, derived.consumers, { reader, pacer, from: 0, to: 0, list, done: to });
}

/** The rederive step: revives dead rows that have another derivation from live rows. */
async function rederive(set: TableSet, support: Support, reader: Reader, pacer: Pacer): Promise<void> {
  const list = support.toRederive;
  support.toRederive = [];
  const { done } = support.derived;
  const joins = support.rules.map((rule) => rule.check());
  await join(set, joins, { reader, pacer, from: 0, to: 0, list, done });
}

/** The rows that a join starts with, and for whom; see `Consumer.start`. */
interface Start {
  readonly reader: Reader;
  readonly pacer: Pacer;
  readonly from: number;
  readonly to: number;
  readonly list: readonly number[] | null;
  readonly done: number;
}

/** Runs the joins one after another, in slices and within the limits. */
async function join(set: TableSet, consumers: readonly Consumer[], start: Start): Promise<void> {
  const { reader, pacer, from, to, list, done } = start;
  for (const consumer of consumers) {
    if (consumer.isIdle) continue;
    consumer.start(reader, from, to, list, done);
    let counted = consumer.matches;
    while (consumer.run(stepsBetweenChecks) === 0) {
      pacer.derivations += consumer.matches - counted;
      counted = consumer.matches;
      if (!pacer.isSliceOver) {
        if (pacer.derivations > pacer.limits.maxDerivations) pacer.look();
        continue;
      }
      pacer.lookAtMemory(set);
      await pacer.breathe();
    }
    pacer.derivations += consumer.matches - counted;
  }
}

/**
 * A relation may lose this many rows, or 1 in `deletionDivisor` of its rows, before it is derived from
 * scratch instead.
 */
const maxDeletedRows = 20_000;
const deletionDivisor = 4;

/** Abandons maintenance: rows not settled stay alive, and the caller must drop them. */
export function abandonMaintenance(set: TableSet): void {
  set.work.clear();
  set.clearDeltas();
  for (const support of set.justifications.supports) {
    for (const { row } of support.deleted) support.derived.rows.spare(row);
    support.overdeleted = [];
    support.toRederive = [];
    support.deleted = [];
    support.rederived = [];
    support.derived.again = [];
  }
}

/**
 * The overdelete step: deletes what the dead rows support in their own level. False if too much has died.
 *
 * Delete and rederive (DRed), one level (SCC) at a time, lowest first (`WorkList`), at a cost in proportion
 * to what a change affects. Rows whose justification is gone are deleted, and everything that they support in
 * the level, before any row is checked: else two rows that support only each other would survive. Then every
 * dead row is checked for another derivation, then new and revived rows are joined. Only when the level is at
 * its fixpoint do the levels above get the net change: a row deleted and revived is no change. Rows that wait
 * for a negated atom or an aggregate whose relation changed lose their conclusions and are tested again.
 */
export function propagateDeletions(set: TableSet, support: Support): boolean {
  const { overdeleted, derived } = support;
  support.overdeleted = [];
  for (const row of overdeleted)
    set.justifications.dependents(support, row, (target, at) => {
      if (target.derived.level === derived.level) overdelete(set.work, target, at);
    });
  for (const row of overdeleted) support.toRederive.push(row);
  set.work.add(derived, phases.check);
  return support.deleted.length <= Math.max(maxDeletedRows, derived.rows.count / deletionDivisor);
}

/**
 * Propagates the net deletions of this level to the levels above, and all its changes to the waiting rows.
 */
export function notifyHigherLevels(set: TableSet, support: Support): void {
  const { derived, deleted, rederived, watchers } = support;
  const { rows, level } = derived;
  support.deleted = [];
  support.rederived = [];
  for (const { row, height } of deleted) {
    const isDead = rows.isDead(row);
    // With heights, a row that was revived with a greater height is not the premise that others had.
    if (!isDead && (rows.heights === null || (rows.heights.of[row] as number) <= height)) continue;
    if (isDead) rows.bury(row);
    set.justifications.dependents(support, row, (target, at) => {
      if (target.derived.level > level) overdelete(set.work, target, at);
    });
    for (const watcher of watchers) retest(set, watcher, rows.columns, row);
    if (isDead && support.wasInBaseline(row)) support.lost?.(row);
  }
  const from = support.propagatedCount;
  support.propagatedCount = rows.count;
  if (!watchers.some(isToNotify)) return;
  const changed = (row: number): void => {
    for (const watcher of watchers) retest(set, watcher, rows.columns, row);
  };
  for (const row of rederived) changed(row);
  for (let row = from; row < rows.count; row++) if (!rows.isDead(row)) changed(row);
}

/** False if nothing waits, or nothing was demanded, so that nothing can depend on the relation. */
function isToNotify(watcher: Watcher): boolean {
  return (watcher.kind === 'waiting' ? watcher.waits : watcher.demand).claimed > 0;
}

/**
 * Tests again what the changed row affects: waiting rows, whose conclusions are deleted until then, or by joins that it
 * starts.
 */
export function retest(set: TableSet, watcher: Watcher, columns: readonly Int32Array[], row: number): void {
  if (!isToNotify(watcher)) return;
  if (watcher.kind === 'absence') {
    const { loss, gain } = watcher;
    loss.rows.push(row);
    set.work.add(loss, phases.kill);
    gain.rows.push(row);
    set.work.add(gain, phases.stored);
    return;
  }
  const { waits, constants, equal, from, to } = watcher;
  const value = (position: number): number => (columns[position] as Int32Array)[row] as number;
  for (const { position, id } of constants) if (value(position) !== id) return;
  for (const [left, right] of equal) if (value(left) !== value(right)) return;
  const { rows } = waits;
  if (to.length === 0) for (let at = 0; at < waits.claimed; at++) testAgain(set, watcher, at);
  else {
    const index = rows.index(to);
    const key = Int32Array.from(from, value);
    for (let next = index.first(key); next !== 0; next = index.next[next - 1] as number)
      testAgain(set, watcher, next - 1);
  }
}

function testAgain(set: TableSet, { waits }: WaitingWatcher, row: number): void {
  const { support } = waits;
  if (support === null || row >= waits.claimed || waits.rows.isDead(row)) return;
  set.justifications.dependents(support, row, (target, at) => overdelete(set.work, target, at));
  waits.again.push(row);
  set.work.add(waits, phases.join);
}
