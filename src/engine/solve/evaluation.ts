import { EngineError } from '../base/errors.ts';
import type { Derived } from './derived.ts';
import { put } from './machine.ts';
import type { Reader } from './reader.ts';
import type { TableSet } from './table-set.ts';
import type { Table } from './table.ts';

/**
 * One evaluation: a set of tables brought to its fixpoint for one pinned reader, in slices.
 *
 * Between slices it lets everything else run; writes that arrive meanwhile do not show, since the reader is pinned.
 * A limit or a cancelled signal ends it with an error; what the set holds then is not complete, and whoever owns
 * the set drops it.
 */
export interface Limits {
  readonly timeoutMs: number;
  readonly maxDerivations: number;
  /** Bytes that the set may come to hold. */
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
}

/** Lets everything else that waits run, then resolves. */
export type Pause = () => Promise<void>;

/** How long a slice holds the thread, in milliseconds. */
const sliceMs = 5;
/** A step can look through many rows that a filter turns down. */
export const stepsBetweenLooks = 1024;
const chunkRows = 4096;

/** Keeps track of slices and limits for everything that one question does. */
export class Pacer {
  readonly limits: Limits;
  readonly #pause: Pause;
  readonly startedAt = performance.now();
  derivations = 0;
  #sliceStartedAt = performance.now();

  constructor(limits: Limits, pause: Pause) {
    this.limits = limits;
    this.#pause = pause;
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** True when it is time to let others run. */
  get isSliceOver(): boolean {
    return performance.now() - this.#sliceStartedAt > sliceMs;
  }

  /** Refuses what is over a limit. */
  look(): void {
    const { signal, timeoutMs, maxDerivations } = this.limits;
    if (signal.aborted) throw new DOMException('the client has gone', 'AbortError');
    if (this.elapsedMs > timeoutMs)
      throw this.exceeded('timeoutMs', `the question took longer than ${timeoutMs} ms`);
    if (this.derivations > maxDerivations)
      throw this.exceeded('maxDerivations', `the question needed more than ${maxDerivations} derivations`);
  }

  lookAtMemory(bytes: number): void {
    if (bytes > this.limits.memoryBytes)
      throw this.exceeded(
        'memory',
        `the question needed more than ${this.limits.memoryBytes} bytes for what it derived`,
      );
  }

  /** Looks at the limits, and lets others run where the slice is over. */
  async breathe(): Promise<void> {
    this.look();
    if (!this.isSliceOver) return;
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

/** Adds a tuple to a table's demand. True where it was not there. */
export function demand(set: TableSet, table: Table, tuple: Int32Array): boolean {
  return put(table.demand, tuple, 0, set.work);
}

/** Works until nothing is left to derive. */
export async function settle(set: TableSet, reader: Reader, pacer: Pacer): Promise<void> {
  for (let derived = set.work.take(); derived !== null; derived = set.work.take()) {
    derived.prepare?.();
    await process(set, derived, reader, pacer);
    if (derived.rows.count > derived.done || derived.lowered.length > 0) set.work.add(derived);
    if (pacer.isSliceOver) {
      pacer.lookAtMemory(set.bytes);
      await pacer.breathe();
    } else if (pacer.derivations > pacer.limits.maxDerivations) pacer.look();
  }
  for (const table of set.tables.values()) table.settled = table.demand.rows.count;
}

/** Joins the next chunk of the delta, and what was lowered, with everything that reads the relation. */
async function process(set: TableSet, derived: Derived, reader: Reader, pacer: Pacer): Promise<void> {
  const from = derived.done;
  const to = Math.min(derived.rows.count, from + chunkRows);
  derived.claimed = to;
  if (to > from) await joinAll(set, derived, reader, pacer, from, to, null);
  derived.done = to;
  const lowered = derived.lowered;
  if (lowered.length === 0) return;
  derived.lowered = [];
  await joinAll(set, derived, reader, pacer, 0, 0, lowered);
}

async function joinAll(
  set: TableSet,
  derived: Derived,
  reader: Reader,
  pacer: Pacer,
  from: number,
  to: number,
  list: readonly number[] | null,
): Promise<void> {
  for (const machine of derived.consumers) {
    if (machine.isIdle) continue;
    machine.start(reader, from, to, list, derived.done);
    let counted = machine.matches;
    while (machine.run(stepsBetweenLooks) === 0) {
      pacer.derivations += machine.matches - counted;
      counted = machine.matches;
      if (!pacer.isSliceOver) {
        if (pacer.derivations > pacer.limits.maxDerivations) pacer.look();
        continue;
      }
      pacer.lookAtMemory(set.bytes);
      await pacer.breathe();
    }
    pacer.derivations += machine.matches - counted;
  }
}
