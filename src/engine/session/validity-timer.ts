import type { Clock } from '../base/clock.ts';

/**
 * The one timer for all instants at which a validity begins or ends, of every tenant.
 *
 * It only sees to it that such an instant is noticed soon: what holds at which time is decided by readers, which are
 * pinned at one. The clock says what time it is, so a timer that fires too early is set again. It keeps no process
 * alive.
 */
export interface ValidityTimerHost {
  readonly clock: Clock;
  /** The next instant of any tenant, Infinity where there is none. */
  readonly next: () => number;
  /** An instant has come. */
  readonly reached: () => void;
}

/** Clocks are set and machines sleep: so long at most until the clock is looked at again, in milliseconds. */
const maxWaitMs = 30_000;

export class ValidityTimer {
  readonly #host: ValidityTimerHost;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** The instant that it waits for. */
  #instant = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(host: ValidityTimerHost) {
    this.#host = host;
    this.expect(host.next());
  }

  /** An instant is to come: it is waited for where it is the earliest. */
  expect(instant: number): void {
    if (this.#isClosed || instant >= this.#instant) return;
    this.#instant = instant;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const wait = Math.min(maxWaitMs, Math.max(1, Math.ceil(instant - this.#host.clock.now())));
    this.#timer = setTimeout(() => this.#look(), wait);
    this.#timer.unref();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    this.#timer = null;
    const isReached = this.#instant <= this.#host.clock.now();
    this.#instant = Number.POSITIVE_INFINITY;
    if (isReached) this.#host.reached();
    this.expect(this.#host.next());
  }
}
