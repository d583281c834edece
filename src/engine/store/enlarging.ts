/** The arrays of which columns are made. */
type Column = Int32Array | Uint32Array | Uint8Array | Float64Array;

/** Columns with up to this many rows are enlarged at once. */
export const maxRowsAtOnce = 0x1_0000;
/**
 * Rows appended between two steps, and rows copied by a step: so many for each that a copy need not begin before the column
 * is nearly full, since a column has twice the memory while its copy is made.
 */
const rowsBetweenSteps = 0x400;
/** Rows, or bytes of texts, copied for each that is appended. */
export const copiedPerAppended = 64;
const rowsPerStep = copiedPerAppended * rowsBetweenSteps;

/** Up to this capacity columns grow fourfold: most relations of many rules stay small, and allocating costs more than room. */
const smallCapacity = 256;

/** The capacity after this one. */
export function nextCapacityOf(capacity: number): number {
  return Math.max(16, capacity * (capacity < smallCapacity ? 4 : 2));
}

/** The capacity after this one for columns, which need no power of two: of many rows half as much more. */
export function nextColumnCapacityOf(capacity: number): number {
  return capacity < manyRows ? nextCapacityOf(capacity) : roomFor(capacity, 0);
}

/** The room after this one, where so many rows are expected; if no more are, twice as much, of many rows half as much more. */
export function roomFor(room: number, expected: number): number {
  // If it were nearly full at the end, or the estimate a little too low, it would begin to grow once more.
  if (expected > room) return Math.max(expected + (expected >>> 5), room + (room >>> 2));
  return room < manyRows ? room * 2 : room + (room >>> 1);
}

/** From this room on, what is left empty costs more than another copy. */
const manyRows = 0x8_0000;

/** The number of rows, more than `count`, at which a column of this capacity with `count` rows must next be looked after. */
export function firstStepOf(capacity: number, count: number): number {
  if (capacity <= maxRowsAtOnce) return capacity;
  return Math.min(capacity, Math.max(count + 1, capacity - 3 * (capacity >>> 7)));
}

/** The number of rows at which the step after the one at `count` is due. */
export function stepAfter(capacity: number, count: number): number {
  return Math.min(capacity, count + rowsBetweenSteps);
}

/**
 * The larger copy of a column whose rows, once written, do not change: begun when the column is nearly
 * full and made a part at a time as rows are appended, so that no append copies more than
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

/** The larger copies of a relation's columns: those of the arguments, the scope and the number; and those of times. */
export interface EnlargingColumns {
  /** Number of rows. */
  readonly room: number;
  readonly ints: Enlarging<Int32Array>[];
  /** Of the death and the validity, which may be absent. */
  readonly floats: (Enlarging<Float64Array> | null)[];
}

/** Begins larger copies with this room; the columns are passed again with each step. */
export function enlargingTo(
  room: number,
  ints: readonly Int32Array[],
  floats: readonly (Float64Array | null)[],
): EnlargingColumns {
  return {
    room,
    ints: ints.map(() => new Enlarging(new Int32Array(room))),
    floats: floats.map((column) => (column === null ? null : new Enlarging(new Float64Array(room)))),
  };
}
