import { assert } from '../base/assert.ts';
import { DistinctAtoms, type Tuples } from './tuples.ts';

/** When so many runs wait, they are linked before more are added. */
const maxWaiting = 0x1000;
/** Three numbers, the header and the place in the list. */
const bytesOfRun = 40;

/**
 * The distinct atoms of a relation that several scopes store, each with its rows, oldest first.
 *
 * A join in the view of everything uses it to meet every atom once, however many scopes have a copy: it scans
 * `atoms` and takes the first visible row of each. The oldest copy comes first, so that forking a scope and
 * deleting the fork changes no justification. A join adds rows when it needs them, in slices, in row order;
 * rows are never removed, and the reader decides which are visible. For readers of earlier states, younger
 * rows may follow those that they see.
 *
 * Copies are added as runs of rows with consecutive atoms, as forks are, and linked with the rows before them only
 * when a reader cannot see the oldest row of some atom.
 */
export class AtomCopies {
  /** By atom: its oldest row. */
  oldest = new Int32Array(16);
  /** Rows below this have been added. */
  through = 0;
  /** The relation's columns, which it may replace by larger ones: one for each argument, then the scope. */
  readonly columns: readonly Int32Array[];
  /** One tuple of arguments per atom, with the indexes that joins ask for. */
  readonly atoms: Tuples;
  readonly #distinct: DistinctAtoms;
  /** By row that was linked: 1 + the next younger row of the same atom, 0 at the end. */
  #younger = new Int32Array(0);
  /** By atom: its youngest row, of those that were linked. */
  #youngest = new Int32Array(16);
  /** The copies to be linked, in the order of rows. */
  #waiting: Run[] = [];
  /** How many of these were linked. */
  #linked = 0;
  /** The atom of the row added last. */
  #last = 0;

  constructor(columns: readonly Int32Array[]) {
    this.columns = columns;
    this.#distinct = new DistinctAtoms(columns.length - 1);
    this.atoms = this.#distinct.atoms;
  }

  get bytes(): number {
    const waiting = this.#waiting.length * bytesOfRun;
    return this.atoms.bytes + this.oldest.byteLength * 2 + this.#younger.byteLength + waiting;
  }

  /** Adds rows below `limit`, at most `most` of them. True if all are in. The rows must exist. */
  takeIn(limit: number, most: number): boolean {
    if (this.#waiting.length >= maxWaiting && !this.link(most)) return false;
    const to = Math.min(limit, this.through + most);
    while (this.through < to) {
      this.#takeRun(to);
      if (this.through < to) this.#add(this.through++);
    }
    return this.through >= limit;
  }

  /** Links about `most` of the rows that were added. True if all are linked: only then `youngerThan` is right. */
  link(most: number): boolean {
    const waiting = this.#waiting;
    for (let left = most; this.#linked < waiting.length && left > 0; this.#linked++) {
      const run = waiting[this.#linked] as Run;
      this.#link(run);
      left -= run.count;
    }
    if (this.#linked < waiting.length) return false;
    this.#waiting = [];
    this.#linked = 0;
    return true;
  }

  /** 1 + the next younger row of the same atom; 0: there is none. */
  youngerThan(row: number): number {
    return this.#younger[row] ?? 0;
  }

  #link({ row, atom, count }: Run): void {
    if (row + count > this.#younger.length)
      this.#younger = grown(this.#younger, Math.max(row + count, this.columns[0]?.length ?? 0));
    const younger = this.#younger;
    const youngest = this.#youngest;
    for (let at = 0; at < count; at++) {
      younger[youngest[atom + at] as number] = row + at + 1;
      youngest[atom + at] = row + at;
    }
  }

  /** Adds rows below `to` as long as they have the atoms that follow that of the last row. */
  #takeRun(to: number): void {
    const { atoms, columns, through } = this;
    const first = this.#last + 1 >= atoms.count ? 0 : this.#last + 1;
    let count = Math.min(to - through, atoms.count - first);
    for (let position = 0; position < atoms.arity; position++)
      count = repeated(
        atoms.columns[position] as Int32Array,
        first,
        columns[position] as Int32Array,
        through,
        count,
      );
    if (count === 0) return;
    this.#waiting.push({ row: through, atom: first, count });
    this.#last = first + count - 1;
    this.through = through + count;
  }

  #add(row: number): void {
    const atom = this.#atomOf(row);
    this.#last = atom;
    if (this.oldest[atom] !== row) this.#waiting.push({ row, atom, count: 1 });
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

/** Rows whose atoms are known and follow one another. */
interface Run {
  /** The first of them. */
  readonly row: number;
  /** Its atom. */
  readonly atom: number;
  readonly count: number;
}

/** How many values from `at` on, at most `most`, are those from `start` on of the other column. */
function repeated(known: Int32Array, start: number, column: Int32Array, at: number, most: number): number {
  let same = 0;
  while (same < most && known[start + same] === column[at + same]) same++;
  return same;
}

/** A larger copy with at least `room` elements. */
function grown(array: Int32Array, room: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(room, array.length * 2));
  larger.set(array);
  return larger;
}
