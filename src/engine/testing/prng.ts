/** A small seeded generator of 32-bit numbers (mulberry32): fast, reproducible, not for secrets. */
export class Prng {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The next number, 0 <= n < 2^32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 up to, not including, `bound` (at least 1). */
  below(bound: number): number {
    return Math.floor((this.next() / 4294967296) * bound);
  }

  /** True with the given probability, 0..1. */
  chance(probability: number): boolean {
    return this.next() < probability * 4294967296;
  }

  /** One of the items; the list is not empty. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
