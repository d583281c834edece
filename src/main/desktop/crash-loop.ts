/** Whether a page that has ended may be loaded again: one that ends again and again is not, until somebody says so. */

/** So many ends in so long are a loop. */
const mostEnds = 3;
const withinMs = 60_000;

export class CrashLoop {
  #ends: number[] = [];

  /** Notes an end at `now` (milliseconds of any clock that does not go back). True: it is the third in a minute. */
  note(now: number): boolean {
    this.#ends = [...this.#ends.filter((end) => now - end < withinMs), now];
    return this.#ends.length >= mostEnds;
  }
}
