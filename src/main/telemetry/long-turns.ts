import type { Scheduler } from '../../engine/index.ts';

/** Shortest time between two warnings, in milliseconds. */
const betweenWarningsMs = 10_000;

/** What a warning says: the operation, its milliseconds, and how many other long turns there were since the last one. */
export interface LongTurn {
  readonly operation: string;
  readonly turnMs: number;
  readonly othersSince: number;
}

/**
 * Warns of turns of the serving thread over 50 ms, at most every ten seconds: meanwhile nobody else was served. Returns
 * how to stop.
 */
export function warnOfLongTurns(
  turns: Scheduler['turns'],
  warn: (turn: LongTurn) => void,
  now: () => number,
): () => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  let others = 0;
  const onLong = (operation: string, milliseconds: number): void => {
    if (now() - warnedAt < betweenWarningsMs) {
      others++;
      return;
    }
    warnedAt = now();
    warn({ operation, turnMs: Math.round(milliseconds), othersSince: others });
    others = 0;
  };
  turns.onLong = onLong;
  return () => {
    if (turns.onLong === onLong) turns.onLong = () => {};
  };
}
