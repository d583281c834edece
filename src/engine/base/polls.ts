/** Polls for connections between two slices, at most: about as much work as a slice. */
export const maxArrivals = 64;

/**
 * Polls of the event loop, of which the scheduler waits for one between two slices.
 *
 * The loop accepts one connection in a poll, so a slice after each would make a burst of a hundred clients wait for a
 * hundred slices. While polls bring connections, further ones follow at once, up to a number.
 */
export class Polls {
  readonly #after: (poll: () => void) => void;
  #hasArrived = false;

  /** `after` calls back after the loop has polled. */
  constructor(after: (poll: () => void) => void) {
    this.#after = after;
  }

  /** Notes that this poll brought a connection. */
  arrived(): void {
    this.#hasArrived = true;
  }

  /** Resolves after the next poll, or after the last one of those that bring connections. */
  next(): Promise<void> {
    let left = maxArrivals;
    return new Promise((resolve) => {
      const polled = (): void => {
        const isMore = this.#hasArrived && left-- > 0;
        this.#hasArrived = false;
        if (isMore) this.#after(polled);
        else resolve();
      };
      this.#after(polled);
    });
  }
}
