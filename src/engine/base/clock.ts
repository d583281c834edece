/** Where time comes from: epoch milliseconds. Passed in, so that tests own the time. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that stands still until it is told to move. */
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
