import { assert } from '../base/assert.ts';
import { Tuples } from './tuples.ts';

/**
 * The distinct atoms of a relation that several scopes store, and for each the rows that hold it, the oldest first.
 *
 * A join in the view of everything meets every atom once by it, however many scopes hold a copy: it goes over `atoms`
 * and takes of each the first row that counts. The oldest come first, so that what is forked from them and goes again
 * changes nothing. Rows are taken in when a join wants them, as many at a time as it has time for, in the order of the
 * relation, and never leave; which of them count is for who reads to say. Readers of earlier states find younger rows
 * behind those that they may see.
 */
export class AtomCopies {
  /** A tuple of arguments each, with the indexes that joins want. */
  readonly atoms: Tuples;
  /** By atom: its oldest row. */
  oldest = new Int32Array(16);
  /** By row: 1 + the next younger row of the same atom, 0 at the end. */
  younger = new Int32Array(16);
  /** Rows up to here have been taken in. */
  through = 0;
  /** The relation's, which it may replace by larger ones: a column for each argument, then one for the scope. */
  readonly #columns: readonly Int32Array[];
  /** By atom: its youngest row. */
  #youngest = new Int32Array(16);
  readonly #tuple: Int32Array;

  constructor(columns: readonly Int32Array[]) {
    const arity = columns.length - 1;
    this.#columns = columns;
    this.atoms = new Tuples(arity);
    this.#tuple = new Int32Array(arity);
  }

  get bytes(): number {
    return this.atoms.bytes + this.oldest.byteLength * 2 + this.younger.byteLength;
  }

  /** Takes in rows up to `limit`, at most so many of them. True where all are in. The rows must be there. */
  takeIn(limit: number, most: number): boolean {
    const to = Math.min(limit, this.through + most);
    if (to > this.younger.length) this.younger = grown(this.younger, to);
    while (this.through < to) this.#add(this.through++);
    return this.through >= limit;
  }

  #add(row: number): void {
    const tuple = this.#tuple;
    for (let position = 0; position < tuple.length; position++)
      tuple[position] = (this.#columns[position] as Int32Array)[row] as number;
    const added = this.atoms.insert(tuple);
    if (added < 0) {
      const atom = this.atoms.find(tuple);
      assert(atom >= 0, 'an atom never goes');
      this.younger[this.#youngest[atom] as number] = row + 1;
      this.#youngest[atom] = row;
      return;
    }
    if (added === this.oldest.length) {
      this.oldest = grown(this.oldest, added + 1);
      this.#youngest = grown(this.#youngest, added + 1);
    }
    this.oldest[added] = row;
    this.#youngest[added] = row;
  }
}

/** A larger copy that has room for so many. */
function grown(array: Int32Array, room: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(room, array.length * 2));
  larger.set(array);
  return larger;
}
