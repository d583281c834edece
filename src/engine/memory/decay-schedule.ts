import type { Clock } from '../base/clock.ts';

/** What the schedule needs of its host. */
export interface DecayScheduleHost {
  readonly clock: Clock;
  /** Milliseconds between the starts of two runs. */
  readonly intervalMs: number;
  /** Never rejects. Ends soon after the signal. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Maximum time between looks at the clock, in milliseconds, since clocks are set and machines sleep. */
const maxWaitMs = 30_000;

/**
 * Runs decay periodically: one run when the interval has passed since the last one began, never two at once.
 *
 * The clock decides: a timer that fires early is set again, and after a machine's sleep there is one run, not several.
 * The host reports failures; the next run comes as usual. After a long run the pause is at least as long. The timer
 * does not keep the process alive.
 */
export class DecaySchedule {
  readonly #host: DecayScheduleHost;
  readonly #closing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the next run begins, and the delay with which it was scheduled, in milliseconds. */
  #due = 0;
  #delay = 0;
  #running: Promise<void> | null = null;

  constructor(host: DecayScheduleHost) {
    this.#host = host;
    this.#schedule(host.intervalMs);
  }

  /** Starts no further run; resolves when the current one has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Schedules the next run after this many milliseconds. */
  #schedule(ms: number): void {
    this.#delay = ms;
    this.#due = this.#host.clock.now() + ms;
    this.#wait();
  }

  #wait(): void {
    if (this.#closing.signal.aborted) return;
    const now = this.#host.clock.now();
    // If the clock was set back, the delay is at most the scheduled one.
    this.#due = Math.min(this.#due, now + this.#delay);
    this.#timer = setTimeout(() => this.#check(), Math.min(maxWaitMs, Math.max(1, this.#due - now)));
    this.#timer.unref();
  }

  #check(): void {
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
      this.#schedule(Math.max(intervalMs - took, took, 0));
    });
  }
}
