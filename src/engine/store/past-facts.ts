import type { ClockSetting } from '../base/clock.ts';
import { NumberSet } from '../base/number-set.ts';

/**
 * Which stored facts only the past has: their validity ended, and a sweep or a new assertion took them out of the present.
 * Their rows stay alive, so that a reader of an earlier instant sees them, until they are retracted by id.
 *
 * Also which validities end by a `ttl`, with the time by which that was told: if the clock was ahead then, the end moves
 * when it is put right.
 *
 * Facts are named by number. Only `apply` changes this.
 */
export class PastFacts {
  /** Incremented when another fact is, or is not any more, one that only the past has. */
  version = 0;
  /** Facts that only the past has. */
  readonly #past = new NumberSet();
  /**
   * Facts whose validity ends by a `ttl`, in the present too, with the time by which the `ttl` was told; -Infinity: an
   * earlier version did not say.
   */
  readonly #byTtl = new Map<number, number>();
  /** By how much an end by a `ttl`, and when it was told, were moved since, in milliseconds; not 0. */
  readonly #moved = new Map<number, number>();
  /** No `ttl` was told later. */
  #latestTold = Number.NEGATIVE_INFINITY;

  /** Approximate bytes. */
  get bytes(): number {
    return this.#past.bytes + this.#moved.size * 40 + this.#byTtl.size * 56;
  }

  get isEmpty(): boolean {
    return this.#past.size + this.#byTtl.size === 0;
  }

  /** True if a validity ends, or ended, by a `ttl`. */
  get hasTtls(): boolean {
    return this.#byTtl.size > 0;
  }

  has(number: number): boolean {
    return this.#past.has(number);
  }

  /** Called when an ended fact left the present. */
  add(number: number): void {
    this.version++;
    this.#past.add(number);
  }

  /** Called when a fact got an end of its validity; `told`: by which time, if it ends by a `ttl`. */
  noteEnd(number: number, told: number | null): void {
    this.#moved.delete(number);
    if (told === null) this.#byTtl.delete(number);
    else {
      this.#byTtl.set(number, told);
      this.#latestTold = Math.max(this.#latestTold, told);
    }
  }

  /** Called when a copy of a fact got its end of validity. */
  copyEnd(number: number, copy: number): void {
    const told = this.#byTtl.get(number);
    if (told !== undefined) this.noteEnd(copy, told);
  }

  /** A time after which no `ttl` was told; -Infinity: none was. */
  get latestTold(): number {
    return this.#latestTold;
  }

  /**
   * By how much ends move to an earlier time since the clock was set from one time to another. An end that a clock set
   * back had moved returns if the clock is set forward past the time at which it was told: it was right before. `time`:
   * the time now; what was told since the setting is right.
   */
  *moves({ from, to, after }: ClockSetting, time: number): Generator<EndMove> {
    if (to <= from) {
      for (const [number, told] of this.#byTtl)
        if (told > after && (told < to || told > time)) yield { number, by: Math.max(from, told) - to };
      return;
    }
    for (const [number, moved] of this.#moved) {
      const told = (this.#byTtl.get(number) ?? Number.NEGATIVE_INFINITY) + moved;
      if (told > from && told <= to) yield { number, by: -moved };
    }
  }

  /** Called when the end of a fact's validity moved. */
  noteMove({ number, by }: EndMove): void {
    const told = this.#byTtl.get(number);
    if (told === undefined) return;
    this.#byTtl.set(number, told - by);
    const moved = (this.#moved.get(number) ?? 0) + by;
    if (moved === 0) this.#moved.delete(number);
    else this.#moved.set(number, moved);
  }

  /** Called when all ends moved that had to. */
  notedMoves(): void {
    this.#latestTold = Number.NEGATIVE_INFINITY;
    for (const told of this.#byTtl.values()) if (told > this.#latestTold) this.#latestTold = told;
  }

  endsByTtl(number: number): boolean {
    return this.#byTtl.has(number);
  }

  /** The facts whose validity ends, or ended, by a `ttl`. */
  allByTtl(): Iterable<number> {
    return this.#byTtl.keys();
  }

  /** Called when the fact was retracted. */
  forget(number: number): void {
    if (this.#past.delete(number)) this.version++;
    this.#byTtl.delete(number);
    this.#moved.delete(number);
  }

  /** The facts that only the past has, ascending. */
  numbers(): Int32Array {
    return this.#past.toArray();
  }

  /** Makes these the facts that only the past has. */
  replace(numbers: Int32Array): void {
    this.#past.clear();
    for (const number of numbers) this.add(number);
  }

  pinned(): PastNumbers {
    return {
      past: this.numbers(),
      byTtl: Int32Array.from(this.#byTtl.keys()),
      told: Float64Array.from(this.#byTtl.values()),
      moved: Float64Array.from(this.#byTtl.keys(), (number) => this.#moved.get(number) ?? 0),
    };
  }

  restore({ past, byTtl, told, moved }: PastNumbers): void {
    for (const number of past) this.add(number);
    for (const [at, number] of byTtl.entries()) {
      this.noteEnd(number, told?.[at] ?? Number.NEGATIVE_INFINITY);
      const by = moved?.[at] ?? 0;
      if (by !== 0) this.#moved.set(number, by);
    }
  }
}

/** By how many milliseconds the end of a fact's validity moves to an earlier time; negative: to a later one. */
export interface EndMove {
  readonly number: number;
  readonly by: number;
}

/** The numbers of `PastFacts` at one moment. */
export interface PastNumbers {
  readonly past: Int32Array;
  readonly byTtl: Int32Array;
  /** Beside `byTtl`: when each was told, and by how much it moved since; null: an earlier version did not say. */
  readonly told: Float64Array | null;
  readonly moved: Float64Array | null;
}
