import type { Constants } from '../model/constants.ts';
import { type AggregateStep, type DerivedDelta, DerivedStep } from './derived-steps.ts';
import type { Reader } from '../model/reader.ts';
import { noRows, type Selected, selectRows, type WholeRows } from './row-selection.ts';
import { StoredStep } from './stored-steps.ts';

/** One pass over all rows pays if there are no more than this many of them for each group that is wanted. */
const maxRowsPerGroup = 32;
/** Ids that a pass may have room for, for each row. */
const maxIdsPerRow = 16;
/** Counts below this have an id each, once it is known. */
const countsWithIds = 1024;

/**
 * The sizes of all groups by one pass over the rows, for a count over one atom with one key and no `?_`: in place of an index, and
 * of a chain for each group. The rows are at their fixpoint, so the counts are right for the reader.
 */
export class GroupCounts {
  readonly #inner: StoredStep | DerivedStep;
  readonly #delta: DerivedDelta;
  readonly #constants: Constants;
  readonly #position: number;
  readonly #register: number;
  /** By id; null: groups are read one by one. */
  #counts: Int32Array | null = null;
  #whole: WholeRows = noRows;
  /** Rows below this are counted. */
  #counted = 0;
  #reader: Reader | null = null;
  /** By count: 1 + its constant, 0 if it is not known yet. */
  #ids = new Int32Array(0);

  private constructor(inner: StoredStep | DerivedStep, delta: DerivedDelta, constants: Constants) {
    this.#inner = inner;
    this.#delta = delta;
    this.#constants = constants;
    this.#position = inner.shape.keyPositions[0] as number;
    this.#register = inner.shape.keyRegisters[0] as number;
  }

  /** null: the aggregate is another one. */
  static of(
    { name, inner, repeated }: AggregateStep,
    delta: DerivedDelta,
    constants: Constants,
  ): GroupCounts | null {
    if (name !== 'count' || repeated !== null) return null;
    if (!(inner instanceof StoredStep || inner instanceof DerivedStep)) return null;
    const { keyPositions, samePositions } = inner.shape;
    return keyPositions.length === 1 && samePositions.length === 0
      ? new GroupCounts(inner, delta, constants)
      : null;
  }

  /** Called when the join starts with rows `from` to `to`: it counts if that pays. Counts of stored facts serve further starts. */
  begin(reader: Reader, from: number, to: number): void {
    const isStored = this.#inner instanceof StoredStep;
    if (isStored && this.#reader === reader && this.#counts !== null) return;
    this.end();
    const { whole } = this.#inner;
    const wanted = (isStored ? this.#delta.source.rows.count : to) - from;
    const ids = this.#constants.dictionary.size;
    if (whole === null || whole.limit > wanted * maxRowsPerGroup || ids > whole.limit * maxIdsPerRow) return;
    this.#constants.memory.take(ids * 4);
    this.#counts = new Int32Array(ids);
    this.#ids = new Int32Array(countsWithIds);
    this.#whole = whole;
    this.#counted = 0;
    this.#reader = reader;
  }

  /** Counts the next rows, at most so many. False if there are more. */
  count(most: number): boolean {
    const { limit, columns } = this.#whole;
    if (this.#counts === null || this.#counted === limit) return true;
    const end = Math.min(limit, this.#counted + most);
    const selected = selectRows(this.#whole, this.#counted, end, [], []);
    countValues(columns[this.#position] as Int32Array, selected, this.#counts);
    this.#counted = end;
    return end === limit;
  }

  /** Drops the counts. */
  end(): void {
    if (this.#counts !== null) this.#constants.memory.free(this.#counts.byteLength);
    this.#counts = null;
    this.#whole = noRows;
  }

  /** The constant for the size of the group of the key in the registers; -1 if it is not known. */
  countFor(registers: Int32Array): number {
    const counts = this.#counts;
    if (counts === null) return -1;
    const key = registers[this.#register] as number;
    // A constant that an evaluation made is not counted.
    if (key >= counts.length) return -1;
    const count = counts[key] as number;
    const known = count < countsWithIds ? (this.#ids[count] as number) : 0;
    if (known > 0) return known - 1;
    const id = this.#constants.idOf(String(count));
    if (count < countsWithIds) this.#ids[count] = id + 1;
    return id;
  }
}

function countValues(column: Int32Array, { first, rows, count }: Selected, counts: Int32Array): void {
  if (rows === null)
    for (let row = first; row < first + count; row++) increment(counts, column[row] as number);
  else for (let at = 0; at < count; at++) increment(counts, column[rows[at] as number] as number);
}

function increment(counts: Int32Array, id: number): void {
  if (id < counts.length) counts[id] = (counts[id] as number) + 1;
}
