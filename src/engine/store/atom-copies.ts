import { assert } from '../base/assert.ts';
import { DistinctAtoms, type Tuples } from './tuples.ts';

/**
 * The distinct atoms of a relation that several scopes store, each with its rows, oldest first.
 *
 * A join in the view of everything uses it to meet every atom once, however many scopes have a copy: it scans
 * `atoms` and takes the first visible row of each. The oldest copy comes first, so that forking a scope and
 * deleting the fork changes no justification. A join adds rows when it needs them, in slices, in row order;
 * rows are never removed, and the reader decides which are visible. For readers of earlier states, younger
 * rows may follow those that they see.
 */
export class AtomCopies {
  /** By atom: its oldest row. */
  oldest = new Int32Array(16);
  /** By row: 1 + the next younger row of the same atom, 0 at the end. */
  younger = new Int32Array(16);
  /** Rows below this have been added. */
  through = 0;
  /** The relation's columns, which it may replace by larger ones: one for each argument, then the scope. */
  readonly columns: readonly Int32Array[];
  /** One tuple of arguments per atom, with the indexes that joins ask for. */
  readonly atoms: Tuples;
  readonly #distinct: DistinctAtoms;
  /** By atom: its youngest row. */
  #youngest = new Int32Array(16);
  /** The atom of the row added last. */
  #last = 0;

  constructor(columns: readonly Int32Array[]) {
    this.columns = columns;
    this.#distinct = new DistinctAtoms(columns.length - 1);
    this.atoms = this.#distinct.atoms;
  }

  get bytes(): number {
    return this.atoms.bytes + this.oldest.byteLength * 2 + this.younger.byteLength;
  }

  /** Adds rows below `limit`, at most `most` of them. True if all are in. The rows must exist. */
  takeIn(limit: number, most: number): boolean {
    const to = Math.min(limit, this.through + most);
    if (to > this.younger.length) this.younger = grown(this.younger, to);
    while (this.through < to) {
      this.#takeCopies(to);
      if (this.through < to) this.#add(this.through++);
    }
    return this.through >= limit;
  }

  /**
   * Adds rows below `to` as long as they have the atoms that follow that of the last row: a fork has its atoms in the
   * order of its source, so most rows need no look-up.
   */
  #takeCopies(to: number): void {
    const { atoms, columns, younger, through } = this;
    const youngest = this.#youngest;
    const first = this.#last + 1 >= atoms.count ? 0 : this.#last + 1;
    let count = Math.min(to - through, atoms.count - first);
    for (let position = 0; position < atoms.arity; position++) {
      const known = atoms.columns[position] as Int32Array;
      const column = columns[position] as Int32Array;
      let same = 0;
      while (same < count && known[first + same] === column[through + same]) same++;
      count = same;
    }
    if (count === 0) return;
    for (let at = 0; at < count; at++) {
      younger[youngest[first + at] as number] = through + at + 1;
      youngest[first + at] = through + at;
    }
    this.#last = first + count - 1;
    this.through = through + count;
  }

  #add(row: number): void {
    const atom = this.#atomOf(row);
    this.#last = atom;
    const youngest = this.#youngest[atom] as number;
    if (youngest !== row) this.younger[youngest] = row + 1;
    this.#youngest[atom] = row;
  }

  /** The atom of the row, which is its oldest if the atom is new. */
  #atomOf(row: number): number {
    const added = this.#distinct.add(this, row);
    if (added < 0) {
      const atom = this.#distinct.find(this, row);
      assert(atom >= 0, 'an atom never goes');
      return atom;
    }
    if (added === this.oldest.length) {
      this.oldest = grown(this.oldest, added + 1);
      this.#youngest = grown(this.#youngest, added + 1);
    }
    this.oldest[added] = row;
    this.#youngest[added] = row;
    return added;
  }
}

/** A larger copy with at least `room` elements. */
function grown(array: Int32Array, room: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(room, array.length * 2));
  larger.set(array);
  return larger;
}
