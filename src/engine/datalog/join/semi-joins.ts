import type { MemoryMeter } from '../../store/memory-meter.ts';
import type { Reader } from '../model/reader.ts';
import type { Sortable } from './sortable-step.ts';
import type { StoredStep } from './stored-steps.ts';

/** Rows that one step of a scan reads: about as long as the join runs between two of them. */
const rowsPerStep = 0x8000;

const noRows = new Int32Array(0);

/** The values that a variable may have, once they are known. */
export class ValueSet {
  /** One bit for each id; null: not known. */
  bits: Int32Array | null = null;

  /** True if the id may lead to a match. */
  admits(id: number): boolean {
    const { bits } = this;
    return bits === null || (((bits[id >>> 5] as number) >>> (id & 31)) & 1) === 1;
  }
}

/** A scan of a stored relation, from the last atom of a join to the first; see `planReduction`. */
export interface Scan {
  readonly rows: StoredStep;
  /** Columns that must have a constant. */
  readonly constants: readonly { readonly position: number; readonly id: number }[];
  /** Columns that must have a value of the set. */
  readonly tests: readonly { readonly position: number; readonly set: ValueSet }[];
  /** Columns whose values make up the set. */
  readonly collects: readonly { readonly position: number; readonly set: ValueSet }[];
}

/**
 * The sets of values by which a join is reduced to what can match (semi-joins), made while it runs: after every part
 * of the join a scan reads some rows, so a join that ends soon pays next to nothing, and one that follows many
 * bindings in vain has the sets after about as much time as reading its relations takes (ski rental). A set is used
 * as soon as its scan ends.
 *
 * A set may have too many values, since a scan does not test whether the reader sees a row, but never too few: a
 * reader is pinned, and later rows are none of its own.
 */
export class SemiJoins {
  readonly #memory: MemoryMeter;
  #scans: readonly Scan[] = [];
  readonly #sets: ValueSet[] = [];
  #reader: Reader | null = null;
  /** The scan that is under way, and its next row. */
  #scan = 0;
  #row = 0;
  #chosen = noRows;
  /** The sets that the scan under way collects, not used yet. */
  #made: readonly Int32Array[] = [];
  #taken = 0;

  constructor(memory: MemoryMeter) {
    this.#memory = memory;
  }

  /** The set with this number, empty until a scan fills it. */
  set(number: number): ValueSet {
    return (this.#sets[number] ??= new ValueSet());
  }

  /** Takes the scans; once, whichever machine of the join is made first. */
  take(scans: readonly Scan[]): void {
    this.#scans = scans;
  }

  get isEmpty(): boolean {
    return this.#scans.length === 0;
  }

  /** Called when the join begins. */
  begin(reader: Reader): void {
    this.#reader = reader;
    this.#scan = 0;
    this.#row = 0;
  }

  /** Reads some rows. Called after a part of the join. */
  work(): void {
    const scan = this.#scans[this.#scan];
    if (scan === undefined || this.#reader === null) return;
    const from = scan.rows.sortable(this.#reader);
    if (from === null) {
      // Facts of an overlay are in none of the columns: no set that needs them is made.
      this.#scan = this.#scans.length;
      return;
    }
    if (this.#row === 0) this.#open(this.#reader);
    const to = Math.min(from.limit, this.#row + rowsPerStep);
    read(scan, from, this.#row, to, this.#chosen, this.#made);
    this.#row = to;
    if (to < from.limit) return;
    for (const [at, { set }] of scan.collects.entries()) set.bits = this.#made[at] as Int32Array;
    this.#scan++;
    this.#row = 0;
  }

  #open({ facts }: Reader): void {
    const words = (facts.dictionary.size + 31) >>> 5;
    const { collects } = this.#scans[this.#scan] as Scan;
    this.#take(words * 4 * collects.length);
    this.#made = collects.map(() => new Int32Array(words));
    if (this.#chosen.length > 0) return;
    this.#take(rowsPerStep * 4);
    this.#chosen = new Int32Array(rowsPerStep);
  }

  #take(bytes: number): void {
    this.#memory.take(bytes);
    this.#taken += bytes;
  }

  /** Called when the join has ended: frees the sets. */
  end(): void {
    this.#reader = null;
    if (this.#taken === 0) return;
    for (const { collects } of this.#scans) for (const { set } of collects) set.bits = null;
    this.#made = [];
    this.#chosen = noRows;
    this.#memory.free(this.#taken);
    this.#taken = 0;
  }
}

/** Reads the rows column by column: those that pass one test are tested by the next. */
function read(
  { constants, tests, collects }: Scan,
  { columns }: Sortable,
  from: number,
  to: number,
  chosen: Int32Array,
  made: readonly Int32Array[],
): void {
  let count = to - from;
  for (let at = 0; at < count; at++) chosen[at] = from + at;
  for (const { position, id } of constants)
    count = keepEqual(columns[position] as Int32Array, id, chosen, count);
  for (const { position, set } of tests)
    if (set.bits !== null) count = keepIn(columns[position] as Int32Array, set.bits, chosen, count);
  for (const [at, { position }] of collects.entries())
    collect(columns[position] as Int32Array, chosen, count, made[at] as Int32Array);
}

function keepEqual(column: Int32Array, id: number, rows: Int32Array, count: number): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at] as number;
    if (column[row] === id) rows[kept++] = row;
  }
  return kept;
}

function keepIn(column: Int32Array, bits: Int32Array, rows: Int32Array, count: number): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at] as number;
    const id = column[row] as number;
    rows[kept] = row;
    kept += ((bits[id >>> 5] as number) >>> (id & 31)) & 1;
  }
  return kept;
}

function collect(column: Int32Array, rows: Int32Array, count: number, bits: Int32Array): void {
  for (let at = 0; at < count; at++) {
    const id = column[rows[at] as number] as number;
    bits[id >>> 5] = (bits[id >>> 5] as number) | (1 << (id & 31));
  }
}
