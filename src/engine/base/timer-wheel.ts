/**
 * One timer for everything of a process that is due now and then: a wheel whose slots are passed one a tick. What is not due
 * costs nothing, however much there is. It keeps no process alive.
 */

/** Milliseconds between two ticks. */
export const TICK_MS = 1000;

/** What is visited: returns after how many ticks it wants to be visited again, from 1 to `MAX_TICKS`. */
type Visit = () => number;

const SLOTS = 64;
/** The longest wait between two visits. */
export const MAX_TICKS = SLOTS - 1;

/** Something on a wheel. */
export interface Visited {
  /** Visits it with the next tick. */
  soon(): void;
  /** Visits it no more. */
  end(): void;
}

/** A wheel that ticks while something is on it. */
export class TimerWheel {
  readonly #tickMs: number;
  readonly #slots: readonly Set<Visit>[] = Array.from({ length: SLOTS }, () => new Set());
  /** The slot of each visit. */
  readonly #at = new Map<Visit, number>();
  #hand = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** Visits it with the next tick, and then when it says. */
  add(visit: Visit): Visited {
    this.#put(visit, 1);
    if (this.#timer === null) {
      this.#timer = setInterval(() => this.#tick(), this.#tickMs);
      this.#timer.unref();
    }
    return {
      soon: () => {
        if (this.#at.has(visit)) this.#put(visit, 1);
      },
      end: () => this.#remove(visit),
    };
  }

  #put(visit: Visit, ticks: number): void {
    const before = this.#at.get(visit);
    const at = (this.#hand + ticks) % SLOTS;
    if (before === at) return;
    if (before !== undefined) this.#slots[before]?.delete(visit);
    this.#slots[at]?.add(visit);
    this.#at.set(visit, at);
  }

  #remove(visit: Visit): void {
    this.#slots[this.#at.get(visit) ?? 0]?.delete(visit);
    this.#at.delete(visit);
    if (this.#at.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    this.#hand = (this.#hand + 1) % SLOTS;
    // None comes back to this slot while it is passed.
    for (const visit of this.#slots[this.#hand] ?? []) {
      const ticks = Math.min(MAX_TICKS, Math.max(1, visit()));
      if (this.#at.has(visit)) this.#put(visit, ticks);
    }
  }
}
