import type { Tuples } from './tuples.ts';

const maxRows = 1024;

/**
 * A buffer of tuples to be inserted into a set in a batch: the set's slots are prefetched for all of them
 * before the first look-up, so that the CPU waits for memory once rather than again and again. A tuple may be
 * followed by values of its owner, which are not inserted.
 */
export class TupleBatch {
  /** Number of buffered tuples; set to 0 once they are no longer needed. */
  count = 0;
  /** The tuples, consecutively. */
  values = new Int32Array(0);
  /** By tuple, after `insertInto`: its row, -1 if it existed already. */
  readonly rows = new Int32Array(maxRows);
  readonly hashes = new Int32Array(maxRows);

  /** Buffers the registers named by `from`, in order. True if the buffer is now full. */
  take(registers: Int32Array, from: Int32Array): boolean {
    const width = from.length;
    let at = this.count * width;
    if (at + width > this.values.length) this.#grow(at + width);
    const values = this.values;
    for (let index = 0; index < width; index++) values[at++] = registers[from[index] as number] as number;
    return ++this.count === maxRows;
  }

  /**
   * Inserts the tuples, `width` values apart, into a set without heights and dead rows. Returns how many were
   * new.
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
