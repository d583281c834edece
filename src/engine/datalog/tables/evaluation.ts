import { EngineError } from '../../base/errors.ts';
import {
  type Consumer,
  type Derived,
  type Phase,
  phases,
  type StoredDelta,
  type Support,
} from '../model/derived.ts';
import { put } from '../join/tuple-sink.ts';
import type { MemoryHolder, MemoryBudget } from '../model/memory-budget.ts';
import type { Reader } from '../model/reader.ts';
import type { TableSet } from './table-set.ts';
import type { Table } from '../model/table.ts';
import { propagateDeletions, notifyHigherLevels } from './delete-rederive.ts';

/**
 * One evaluation: a set of tables brought to its fixpoint for one pinned reader, in slices.
 *
 * Between slices it lets everything else run; writes that arrive meanwhile do not show, since the reader is pinned.
 * A limit or a cancelled signal ends it with an error; what the set holds then is not complete, and whoever owns
 * the set drops it.
 */
export interface EvaluationLimits {
  readonly timeoutMs: number;
  readonly maxDerivations: number;
  /** Bytes that the set may come to hold. */
  readonly memory: MemoryBudget;
  readonly signal: Pick<AbortSignal, 'aborted'>;
  /** How long upkeep is waited for, all in all, before tables of one's own are made; without end unless given. */
  readonly patienceMs?: number;
}

/** Lets everything else that waits run, then resolves. */
export type Pause = () => Promise<void>;

/** How long a slice holds the thread, in milliseconds. */
export const sliceMs = 5;
/** A step can look through many rows that a filter turns down. */
export const stepsBetweenLooks = 1024;
const chunkRows = 4096;
/** Measuring memory takes at most this part of the time. */
const timesMeasuring = 20;
/** And after so many derivations: a measurement that the machine held up is no reason to look away for long. */
const derivationsBetween = 65_536;

/** Refuses to go on for a client that waits no more. */
export function refuseGone(signal: Pick<AbortSignal, 'aborted'>): void {
  if (signal.aborted) throw new DOMException('the client has gone', 'AbortError');
}

/** Milliseconds to the microsecond. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** Keeps track of slices and limits for everything that one question does. */
export class Pacer {
  readonly limits: EvaluationLimits;
  readonly #pause: Pause;
  readonly startedAt = performance.now();
  derivations = 0;
  /** How long upkeep was waited for, in milliseconds. */
  waitedMs = 0;
  #sliceStartedAt = this.startedAt;
  #nextMeasureAt = 0;
  /** Derivations by the last measurement. */
  #measuredDerivations = 0;

  constructor(limits: EvaluationLimits, pause: Pause) {
    this.limits = limits;
    this.#pause = pause;
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** The same to the microsecond, as answers tell it. */
  get elapsedRounded(): number {
    return toMicroseconds(this.elapsedMs);
  }

  /** True when it is time to let others run. */
  get isSliceOver(): boolean {
    return performance.now() - this.#sliceStartedAt > sliceMs;
  }

  get isPatient(): boolean {
    return this.waitedMs < (this.limits.patienceMs ?? Number.POSITIVE_INFINITY);
  }

  /** Refuses what is over a limit. */
  look(): void {
    const { signal, timeoutMs, maxDerivations } = this.limits;
    refuseGone(signal);
    if (this.elapsedMs > timeoutMs)
      throw this.exceeded('timeoutMs', `the question took longer than ${timeoutMs} ms`);
    if (this.derivations > maxDerivations)
      throw this.exceeded('maxDerivations', `the question needed more than ${maxDerivations} derivations`);
  }

  /** True where so much was derived since memory was measured that it is to be measured again. */
  get hasDerivedMuch(): boolean {
    return this.derivations - this.#measuredDerivations >= derivationsBetween;
  }

  /** Refuses what takes too much memory. Measured now and then: over thousands of tables that takes its time. */
  lookAtMemory(measured: { readonly bytes: number; readonly holder?: MemoryHolder | null }): void {
    const start = performance.now();
    if (start < this.#nextMeasureAt && !this.hasDerivedMuch) return;
    this.#measuredDerivations = this.derivations;
    const { bytes } = measured;
    this.#nextMeasureAt = start + (performance.now() - start) * timesMeasuring;
    const { memory } = this.limits;
    if (!memory.fits(bytes, measured.holder ?? null))
      throw this.exceeded(
        'memory',
        `the question needed more than there is of ${memory.limit} bytes for what it derived`,
      );
  }

  /** Looks at the limits, and lets others run where the slice is over. */
  async breathe(): Promise<void> {
    this.look();
    if (this.isSliceOver) await this.rest();
  }

  /** Lets others run, whether or not the slice is over. */
  async rest(): Promise<void> {
    this.look();
    await this.#pause();
    this.#sliceStartedAt = performance.now();
    this.look();
  }

  /** The error; where it is a limit that was met below, by who does not know how long it took, with that. */
  withElapsed(error: unknown): unknown {
    if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') return error;
    if (error.members['elapsedMs'] !== undefined) return error;
    const members = { ...error.members, elapsedMs: Math.round(this.elapsedMs) };
    return new EngineError(error.code, error.message, members, { cause: error });
  }

  exceeded(limit: 'timeoutMs' | 'maxDerivations' | 'memory', what: string): EngineError {
    return new EngineError(
      'InferenceLimitExceeded',
      `${what}; ask something narrower, bind an argument, or raise ${limit === 'memory' ? 'MEMORY_BUDGET_BYTES' : limit}`,
      { limit, elapsedMs: Math.round(this.elapsedMs) },
    );
  }
}

/** True when the work is done, false when patience is; rejects with what a limit says that is met before. */
export async function waitFor(work: Promise<void>, pacer: Pacer): Promise<boolean> {
  let isOver = false;
  const over = work.then(() => {
    isOver = true;
  });
  while (!isOver && pacer.isPatient) {
    const start = performance.now();
    await Promise.race([over, pacer.rest()]);
    pacer.waitedMs += performance.now() - start;
  }
  return isOver;
}

/** Adds a tuple to a table's demand. True where it was not there. */
export function demand(set: TableSet, table: Table, tuple: Int32Array): boolean {
  return put(table.demand, tuple, 0, set.work);
}

/**
 * Works until nothing is left to do. False where so much died that it is cheaper to derive afresh: then the set is
 * as it happened to be, and what the change reaches is to be dropped.
 */
export async function settle(set: TableSet, reader: Reader, pacer: Pacer): Promise<boolean> {
  const joined = new Set<Derived>();
  for (let next = set.work.take(); next !== null; next = set.work.take()) {
    if (next.phase === phases.join) joined.add(next.item as Derived);
    set.observer?.reached(next.item.level);
    if (!(await process(set, next.item, next.phase, reader, pacer))) return false;
    if (pacer.isSliceOver) {
      pacer.lookAtMemory(set);
      await pacer.breathe();
    } else if (pacer.derivations > pacer.limits.maxDerivations) pacer.look();
    // Rows that come many at a time may be too many within one slice.
    else if (pacer.hasDerivedMuch) pacer.lookAtMemory(set);
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
    await join(set, item.machine(), { reader, pacer, from: 0, to: 0, list: rows, done: 0 });
    return true;
  }
  if (phase === phases.join) {
    item.prepare?.();
    await joinNews(set, item, reader, pacer);
    if (item.rows.count > item.done || item.again.length > 0) set.work.add(item, phases.join);
    return true;
  }
  const { support } = item;
  if (support === null) return true;
  if (phase === phases.kill) return propagateDeletions(set, support);
  if (phase === phases.check) await lookForOtherReasons(set, support, reader, pacer);
  else notifyHigherLevels(set, support);
  return true;
}

/** Joins the next chunk of the delta, and what is to be joined again, with everything that reads the relation. */
async function joinNews(set: TableSet, derived: Derived, reader: Reader, pacer: Pacer): Promise<void> {
  const from = derived.done;
  const to = Math.min(derived.rows.count, from + chunkRows);
  derived.claimed = to;
  if (to > from) await joinAll(set, derived, { reader, pacer, from, to, list: null, done: from });
  // What starts rows of bits is dropped by its own join where these are not worth it.
  derived.done = Math.min(to, derived.rows.count);
  if (derived.again.length === 0) return;
  const list = [...new Set(derived.again)];
  derived.again = [];
  await joinAll(set, derived, { reader, pacer, from: 0, to: 0, list, done: to });
}

/** Revives what died and holds for another reason: one step back from each row, over what is alive. */
async function lookForOtherReasons(
  set: TableSet,
  support: Support,
  reader: Reader,
  pacer: Pacer,
): Promise<void> {
  const list = support.toRederive;
  support.toRederive = [];
  const { done } = support.derived;
  for (const rule of support.rules)
    await join(set, rule.check(), { reader, pacer, from: 0, to: 0, list, done });
}

/** Which rows a join starts with, and for whom: see `Consumer.start`. */
interface Start {
  readonly reader: Reader;
  readonly pacer: Pacer;
  readonly from: number;
  readonly to: number;
  readonly list: readonly number[] | null;
  readonly done: number;
}

async function joinAll(set: TableSet, derived: Derived, start: Start): Promise<void> {
  for (const consumer of derived.consumers) await join(set, consumer, start);
}

async function join(set: TableSet, consumer: Consumer, start: Start): Promise<void> {
  if (consumer.isIdle) return;
  const { reader, pacer, from, to, list, done } = start;
  consumer.start(reader, from, to, list, done);
  let counted = consumer.matches;
  while (consumer.run(stepsBetweenLooks) === 0) {
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
