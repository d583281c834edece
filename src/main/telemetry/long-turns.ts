import type { Scheduler } from '../../engine/index.ts';

/** Shortest time between two lines of the log, in milliseconds. */
const betweenLinesMs = 10_000;

/** What a line of the log says: the operation, its milliseconds, and how many other long turns there were since the last one. */
export interface LongTurn {
  readonly operation: string;
  readonly turnMs: number;
  readonly othersSince: number;
}

/**
 * Logs turns of the serving thread over 50 ms, at most every ten seconds: meanwhile nobody else was served. Returns
 * how to stop.
 */
export function logLongTurns(
  turns: Scheduler['turns'],
  log: (turn: LongTurn) => void,
  now: () => number,
): () => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let others = 0;
  const onLong = (operation: string, milliseconds: number): void => {
    if (now() - loggedAt < betweenLinesMs) {
      others++;
      return;
    }
    loggedAt = now();
    log({ operation, turnMs: Math.round(milliseconds), othersSince: others });
    others = 0;
  };
  turns.onLong = onLong;
  return () => {
    if (turns.onLong === onLong) turns.onLong = () => {};
  };
}
