import { sliceMs } from './slices.ts';

/**
 * Polls of the event loop, of which the scheduler waits for one between two slices.
 *
 * The loop accepts one connection in a poll, so a slice after each would make a burst of a hundred clients wait for a
 * hundred slices. While polls bring connections, further ones follow at once, for the time of a slice.
 */
export class Polls {
  readonly #after: (poll: () => void) => void;
  readonly #now: () => number;
  #hasArrived = false;

  /** `after` calls back after the loop has polled; `now` returns milliseconds. */
  constructor(after: (poll: () => void) => void, now: () => number = () => performance.now()) {
    this.#after = after;
    this.#now = now;
  }

  /** Notes that this poll brought a connection. */
  arrived(): void {
    this.#hasArrived = true;
  }

  /** Resolves after the next poll, or after the last one of those that bring connections. */
  next(): Promise<void> {
    const until = this.#now() + sliceMs;
    return new Promise((resolve) => {
      const polled = (): void => {
        const isMore = this.#hasArrived && this.#now() < until;
        this.#hasArrived = false;
        if (isMore) this.#after(polled);
        else resolve();
      };
      this.#after(polled);
    });
  }
}
