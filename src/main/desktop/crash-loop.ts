/** Detects a page that crashes again and again: it is not reloaded until the user says so. */

/** This many crashes within this time are a loop. */
const maxEnds = 3;
const withinMs = 60_000;

/** Counts the crashes of a page. */
export class CrashLoop {
  #ends: number[] = [];

  /** Notes a crash at `now` (milliseconds of any monotonic clock). True: it is the third in a minute. */
  note(now: number): boolean {
    this.#ends = [...this.#ends.filter((end) => now - end < withinMs), now];
    return this.#ends.length >= maxEnds;
  }
}
