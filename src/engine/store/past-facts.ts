/**
 * Which stored facts only the past has: their validity ended, and a sweep or a new assertion took them out of the present.
 * Their rows stay alive, so that a reader of an earlier instant sees them, until they are retracted by id.
 *
 * Facts are named by number. Only `apply` changes this.
 */
export class PastFacts {
  /** Facts that only the past has. */
  readonly #past = new Set<number>();
  /** Facts whose validity ends by a `ttl`, in the present too. */
  readonly #byTtl = new Set<number>();

  /** Approximate bytes. */
  get bytes(): number {
    return (this.#past.size + this.#byTtl.size) * 40;
  }

  get isEmpty(): boolean {
    return this.#past.size + this.#byTtl.size === 0;
  }

  has(number: number): boolean {
    return this.#past.has(number);
  }

  /** Called when an ended fact left the present. */
  add(number: number): void {
    this.#past.add(number);
  }

  /** Called when a fact got an end of its validity. */
  noteEnd(number: number, isByTtl: boolean): void {
    if (isByTtl) this.#byTtl.add(number);
    else this.#byTtl.delete(number);
  }

  endsByTtl(number: number): boolean {
    return this.#byTtl.has(number);
  }

  /** The facts whose validity ends, or ended, by a `ttl`. */
  allByTtl(): Iterable<number> {
    return this.#byTtl;
  }

  /** Called when the fact was retracted. */
  forget(number: number): void {
    this.#past.delete(number);
    this.#byTtl.delete(number);
  }

  pinned(): PastNumbers {
    return { past: Int32Array.from(this.#past), byTtl: Int32Array.from(this.#byTtl) };
  }

  restore({ past, byTtl }: PastNumbers): void {
    for (const number of past) this.#past.add(number);
    for (const number of byTtl) this.#byTtl.add(number);
  }
}

/** The numbers of `PastFacts` at one moment. */
export interface PastNumbers {
  readonly past: Int32Array;
  readonly byTtl: Int32Array;
}
