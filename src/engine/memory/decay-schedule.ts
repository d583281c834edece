import type { Clock } from '../base/clock.ts';

/**
 * Decay by the clock: one run when the interval has passed since the last one began, and never two at once.
 *
 * The clock says what time it is; a timer that fires too early is set again, and of the times that a machine slept
 * through there is one run. A run that fails is the host's to tell; the next one comes as if it had not. After a run
 * that took long there is as long a rest at least. It keeps no process alive.
 */
export interface DecayScheduleHost {
  readonly clock: Clock;
  /** Milliseconds between the beginnings of two runs. */
  readonly intervalMs: number;
  /** Never rejects. Ends soon after the signal. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Clocks are set and machines sleep: so long at most until the clock is looked at again, in milliseconds. */
const longestMs = 30_000;

export class DecaySchedule {
  readonly #host: DecayScheduleHost;
  readonly #closing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the next run begins, and how far off that was when it was settled, in milliseconds. */
  #due = 0;
  #wasOff = 0;
  #running: Promise<void> | null = null;

  constructor(host: DecayScheduleHost) {
    this.#host = host;
    this.#settle(host.intervalMs);
  }

  /** Begins no further run; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** The next run begins after so many milliseconds. */
  #settle(ms: number): void {
    this.#wasOff = ms;
    this.#due = this.#host.clock.now() + ms;
    this.#wait();
  }

  #wait(): void {
    if (this.#closing.signal.aborted) return;
    const now = this.#host.clock.now();
    // A clock that was set back puts a run off no further than it was at first, not by as long as it was set back.
    this.#due = Math.min(this.#due, now + this.#wasOff);
    this.#timer = setTimeout(() => this.#look(), Math.min(longestMs, Math.max(1, this.#due - now)));
    this.#timer.unref();
  }

  #look(): void {
    this.#timer = null;
    const { clock, intervalMs, run } = this.#host;
    const start = clock.now();
    if (start < this.#due) {
      this.#wait();
      return;
    }
    this.#running = run(this.#closing.signal).finally(() => {
      this.#running = null;
      const took = clock.now() - start;
      this.#settle(Math.max(intervalMs - took, took, 0));
    });
  }
}
