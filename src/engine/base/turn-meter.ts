/** A turn longer than this is counted, in milliseconds of processor time. */
export const longTurnMs = 50;

/** CPU time is looked at this often, in milliseconds: a look costs a system call. */
const lookEveryMs = 20;

/** Of one operation: its turns over 50 ms, and the longest one in milliseconds. */
export interface LongTurns {
  readonly count: number;
  readonly longestMs: number;
}

/**
 * Measures how long the thread works on one operation without a poll of the event loop.
 *
 * It sees the time that passes; where the machine gives the thread less, the CPU time bounds it from above.
 */
export class TurnMeter {
  /** Called after each turn over 50 ms. */
  onLong: (operation: string, milliseconds: number) => void = () => {};
  readonly #cpuNow: () => number;
  readonly #long = new Map<string, LongTurns>();
  /** Long turns so far, and as many as there were at the last tick. */
  #count = 0;
  #countThen = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #cpuThen = 0;

  constructor(cpuNow: () => number) {
    this.#cpuNow = cpuNow;
  }

  /** The operations with turns over 50 ms, with their numbers. */
  get long(): ReadonlyMap<string, LongTurns> {
    return this.#long;
  }

  /** Work begins at this time, by the scheduler's clock. */
  began(now: number): void {
    if (now - this.#lookedAt < lookEveryMs) return;
    this.#lookedAt = now;
    this.#cpuThen = this.#cpuNow();
  }

  /**
   * Call it from a timer with how late the timer is, in milliseconds: if a turn held the thread whose operation is not
   * known, it is counted as `other`.
   */
  tick(late: number): void {
    if (late > longTurnMs && this.#count === this.#countThen) this.ended('other', late);
    this.#countThen = this.#count;
    this.#cpuThen = this.#cpuNow();
  }

  /** The work that began last has ended. */
  ended(operation: string, elapsed: number): void {
    if (elapsed <= longTurnMs) return;
    const milliseconds = Math.min(elapsed, this.#cpuNow() - this.#cpuThen);
    if (milliseconds <= longTurnMs) return;
    this.#count++;
    const { count, longestMs } = this.#long.get(operation) ?? { count: 0, longestMs: 0 };
    this.#long.set(operation, { count: count + 1, longestMs: Math.max(longestMs, milliseconds) });
    this.onLong(operation, milliseconds);
  }
}
