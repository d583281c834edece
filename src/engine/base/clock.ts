/** The source of time, in epoch milliseconds. Injected, so that tests control it. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that moves only when a test sets or advances it. */
export class ManualClock implements Clock {
  #now: number;

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  set(time: number): void {
    this.#now = time;
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

/** What the timer needs from the live state. */
interface ValidityTimerHost {
  readonly clock: Clock;
  /** The next boundary of any tenant; Infinity: none. */
  readonly next: () => number;
  /** Called when a boundary has passed. */
  readonly reached: () => void;
}

/** Longest wait before the clock is read again, in milliseconds, since clocks change and machines sleep. */
const maxWaitMs = 30_000;

/**
 * The single timer for all validity boundaries of all tenants.
 *
 * It only makes boundaries known soon; readers, pinned to one time, decide what is valid. The clock is authoritative,
 * so a timer that fires early is set again. It does not keep the process alive.
 */
export class ValidityTimer {
  readonly #host: ValidityTimerHost;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** The boundary that it waits for. */
  #instant = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(host: ValidityTimerHost) {
    this.#host = host;
    this.expect(host.next());
  }

  /** Announces a boundary; the timer waits for the earliest. */
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
