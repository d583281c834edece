/** Progress of an import in numbers. Times are `performance.now()` values. */
import type { ImportState } from './import-run.ts';

/** The progress. */
export interface Progress {
  /** 0 to 1; null if unknown. */
  readonly share: number | null;
  /** Bytes per second; null until measurable. */
  readonly bytesPerSecond: number | null;
  /** Milliseconds; null if unknown. */
  readonly leftMs: number | null;
}

/** Returns true once all bytes are sent and the service processes the rest. */
export function isAllSent(state: Extract<ImportState, { kind: 'sending' }>): boolean {
  return state.bytes >= state.total;
}

/** Returns the progress. `total`: size of the file in bytes, for its conversion. */
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
  // The first bytes only fill the connection's buffers and say nothing about the rate.
  if (elapsed < 1_000 || state.bytes === 0) return { share, bytesPerSecond: null, leftMs: null };
  const bytesPerSecond = state.bytes / (elapsed / 1_000);
  const leftMs = isAllSent(state) ? null : ((state.total - state.bytes) / bytesPerSecond) * 1_000;
  return { share, bytesPerSecond, leftMs };
}

/** Returns `about 3 min left`. */
export function writtenLeft(leftMs: number): string {
  const seconds = Math.ceil(leftMs / 1_000);
  if (seconds < 60) return `about ${seconds} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `about ${minutes} min left` : `about ${(minutes / 60).toFixed(1)} h left`;
}
