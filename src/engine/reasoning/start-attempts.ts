/** After so many threads in a row that ended before they said anything, none is started for a while. */
const maxAbsent = 3;
/** For how long at first, in milliseconds: each time twice as long as before, up to the longest. */
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;

/**
 * Whether reasoning threads may start. Where they do not start, such as for want of memory, questions stay on the serving
 * thread for a while, and do not wait for another attempt each time.
 */
export class StartAttempts {
  readonly #warn: (message: string) => void;
  /** Threads in a row that ended before they said anything. */
  #absent = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauseMs = firstPauseMs;

  /** `warn` is told when attempts pause, and when a thread starts after all. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  get arePaused(): boolean {
    return this.#absent >= maxAbsent && performance.now() < this.#pausedUntil;
  }

  /** A thread said something. */
  succeeded(): void {
    if (this.#absent >= maxAbsent) this.#warn('Reasoning threads start again.');
    this.#absent = 0;
    this.#pauseMs = firstPauseMs;
  }

  /** A thread ended before it said anything. */
  failed(why: string): void {
    if (++this.#absent < maxAbsent || this.arePaused) return;
    this.#pausedUntil = performance.now() + this.#pauseMs;
    this.#warn(
      `Reasoning threads do not start here, so all questions stay on the serving thread for ${this.#pauseMs / 1000} s: ${why}.`,
    );
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2);
  }
}
