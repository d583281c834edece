import type { Caller } from '../base/caller.ts';
import type { ReadContext } from './read-context.ts';
import type { LiveState } from './live-state.ts';
import type { Report } from '../state/report.ts';
import type { Write } from '../commit/commit-pipeline.ts';

/**
 * Access to the state for exclusive commits: no other write is in progress, and none is stamped until this one has
 * ended.
 */

/** No limits, for work that must cover the whole state. */
export const unlimited = {
  timeoutMs: Number.POSITIVE_INFINITY,
  maxDerivations: Number.POSITIVE_INFINITY,
};

/** Reads the pinned state in slices during an exclusive commit. A client that disconnects does not cancel the write. */
export function inExclusiveCommit<Result>(
  { live }: Writer,
  caller: Caller,
  look: (context: ReadContext) => Promise<Result>,
): Promise<Result> {
  return live.reading(withoutCancellation(caller), unlimited, look);
}

/** The caller with a signal that never aborts. */
export function withoutCancellation(caller: Caller): Caller {
  return { ...caller, signal: new AbortController().signal };
}

/** What a write needs beside its operation: the live state and the commit pipeline. */
export interface Writer {
  readonly live: LiveState;
  /** Commits a write; resolves once it is durable and applied. */
  readonly write: (write: Write) => Promise<Report>;
}
