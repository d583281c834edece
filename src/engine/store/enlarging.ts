/** The arrays of which columns are made. */
type Column = Int32Array | Uint32Array | Uint8Array | Float64Array;

/** Columns with up to this many rows are enlarged at once. */
export const maxRowsAtOnce = 0x1_0000;
/** Rows appended between two steps, and rows copied by a step. */
const rowsBetweenSteps = 0x2000;
const rowsPerStep = 8 * rowsBetweenSteps;

/** Up to this capacity columns grow fourfold: most relations of many rules stay small, and allocating costs more than room. */
const smallCapacity = 256;

/** The capacity after this one. */
export function nextCapacityOf(capacity: number): number {
  return Math.max(16, capacity * (capacity < smallCapacity ? 4 : 2));
}

/** The room after this one, where so many rows are expected; twice as much if no more are. */
export function roomFor(room: number, expected: number): number {
  return expected > room ? Math.max(expected, room + (room >>> 2)) : room * 2;
}

/** The number of rows, more than `count`, at which a column of this capacity with `count` rows must next be looked after. */
export function firstStepOf(capacity: number, count: number): number {
  if (capacity <= maxRowsAtOnce) return capacity;
  return Math.min(capacity, Math.max(count + 1, capacity - (capacity >>> 2)));
}

/** The number of rows at which the step after the one at `count` is due. */
export function stepAfter(capacity: number, count: number): number {
  return Math.min(capacity, count + rowsBetweenSteps);
}

/**
 * The larger copy of a column whose rows, once written, do not change: begun when the column is three
 * quarters full and made a part at a time as rows are appended, so that no append copies more than
 * `rowsPerStep` rows. Readers use the old column until the copy is complete.
 */
export class Enlarging<Kind extends Column> {
  readonly larger: Kind;
  #copied = 0;

  constructor(larger: Kind) {
    this.larger = larger;
  }

  /** Copies the next part, of at most `most` rows, of the first `count` rows. */
  step(from: Kind, count: number, most = rowsPerStep): void {
    this.#copy(from, Math.min(count, this.#copied + most));
  }

  /** Copies what is missing of the first `count` rows: a part, unless steps were left out. */
  finish(from: Kind, count: number): Kind {
    this.#copy(from, count);
    return this.larger;
  }

  /** True if the row was copied: whoever changes it must change both. */
  has(row: number): boolean {
    return row < this.#copied;
  }

  #copy(from: Kind, end: number): void {
    this.larger.set(from.subarray(this.#copied, end), this.#copied);
    this.#copied = end;
  }
}
