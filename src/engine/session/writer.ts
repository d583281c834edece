import type { Caller } from '../base/caller.ts';
import type { ReadContext } from './read-context.ts';
import type { LiveState } from './live-state.ts';
import type { Report } from '../state/report.ts';
import type { Write } from '../commit/commit-pipeline.ts';

/** How writes look at the state in the barrier: nothing is under way, and nothing is sealed until they have ended. */

/** What goes over everything there is takes as long as it takes. */
export const unlimited = {
  timeoutMs: Number.POSITIVE_INFINITY,
  maxDerivations: Number.POSITIVE_INFINITY,
};

/** Looks, in slices, with the state held as it is. The client's going away ends no write. */
export function inExclusiveCommit<Result>(
  { live }: Writer,
  caller: Caller,
  look: (context: ReadContext) => Promise<Result>,
): Promise<Result> {
  return live.reading(withoutCancellation(caller), unlimited, look);
}

/** The caller, whose going away nobody hears. */
export function withoutCancellation(caller: Caller): Caller {
  return { ...caller, signal: new AbortController().signal };
}

/** What a write needs beside its operation: the state to look at, and the way in. */
export interface Writer {
  readonly live: LiveState;
  /** Resolves after the write is durable and applied. */
  readonly write: (write: Write) => Promise<Report>;
}
