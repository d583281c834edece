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
