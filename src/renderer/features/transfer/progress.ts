/** How far an import has come, in numbers for people. Times are readings of `performance.now()`. */
import type { ImportState } from './import-run.ts';

export interface Progress {
  /** 0 to 1; null: not known. */
  readonly share: number | null;
  /** Bytes in a second; null before there is enough to tell. */
  readonly bytesPerSecond: number | null;
  /** Milliseconds to go; null: not known. */
  readonly leftMs: number | null;
}

/** The service has taken all bytes once so much was sent, and works off what it holds. */
export function isAllSent(state: Extract<ImportState, { kind: 'sending' }>): boolean {
  return state.bytes >= state.total;
}

/** `total` of the file, for the making of what is sent. */
export function progressOf(state: ImportState, total: number, now: number): Progress {
  if (state.kind === 'preparing')
    return {
      share: total === 0 ? null : Math.min(1, state.bytes / total),
      bytesPerSecond: null,
      leftMs: null,
    };
  if (state.kind !== 'sending') return { share: null, bytesPerSecond: null, leftMs: null };
  const elapsed = now - state.since;
  const share = state.total === 0 ? 1 : Math.min(1, state.bytes / state.total);
  // What fits into the buffers of the connection is sent at once and says nothing.
  if (elapsed < 1_000 || state.bytes === 0) return { share, bytesPerSecond: null, leftMs: null };
  const bytesPerSecond = state.bytes / (elapsed / 1_000);
  const leftMs = isAllSent(state) ? null : ((state.total - state.bytes) / bytesPerSecond) * 1_000;
  return { share, bytesPerSecond, leftMs };
}

/** `about 3 min left`. */
export function writtenLeft(leftMs: number): string {
  const seconds = Math.ceil(leftMs / 1_000);
  if (seconds < 60) return `about ${seconds} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `about ${minutes} min left` : `about ${(minutes / 60).toFixed(1)} h left`;
}
