import type { Tuples } from './tuples.ts';

/**
 * Tuples on their way into a set, gathered so that they go in many at a time: the set's slots are fetched for all of them
 * before the first is looked up, and the processor waits for memory once rather than again and again.
 *
 * A tuple may be followed by values of its owner's, which go nowhere.
 */
const mostRows = 1024;

export class TupleBatch {
  /** Tuples gathered; 0 once they are no longer needed. */
  count = 0;
  /** One after the other. */
  values = new Int32Array(0);
  /** By tuple, after `insertInto`: its row, -1 where it was there already. */
  readonly rows = new Int32Array(mostRows);
  readonly hashes = new Int32Array(mostRows);

  /** Gathers what the registers hold, `from` naming them in order. True where no more must be taken. */
  take(registers: Int32Array, from: Int32Array): boolean {
    const width = from.length;
    let at = this.count * width;
    if (at + width > this.values.length) this.#grow(at + width);
    const values = this.values;
    for (let index = 0; index < width; index++) values[at++] = registers[from[index] as number] as number;
    return ++this.count === mostRows;
  }

  /**
   * Adds the tuples, each `width` values after the one before, to a set that keeps no heights and holds no dead row. Returns how
   * many were new.
   */
  insertInto(set: Tuples, width: number): number {
    return set.insertAll(this.values, width, this.count, this.hashes, this.rows);
  }

  #grow(needed: number): void {
    const grown = new Int32Array(Math.max(needed, this.values.length * 2, 64));
    grown.set(this.values);
    this.values = grown;
  }
}
