import { present } from '../base/assert.ts';
import { type Derived, Support } from './derived.ts';

/**
 * Why every row is there, kept so that a change costs in proportion to what it affects.
 *
 * A row has one justification: the rows and stored facts that a rule joined when the row came, or when it was revived
 * or lowered. It is set only from what is alive at that moment, so no row justifies itself, however long the way round.
 * Kept is the way back: each premise has the chain of what it is a premise of. A row that gets another justification
 * leaves its old places in those chains; they are known by being older than the row's `since`.
 *
 * Stored facts stand here under their number, which outlives versions and compaction. Demand is no premise: it only
 * grows. What a row owes to an absence or an aggregate is in no chain: those rows wait in a relation of their own
 * (`BodyCompiler`), and its `Watcher`s name the rows that a change concerns.
 */
export class Justifications {
  readonly supports: Support[] = [];
  count = 0;
  /** Places that no row's justification begins at or reaches any more, about. */
  garbage = 0;
  /** Three numbers a place: the relation and the row that it is of, and 1 + the older place of the same premise. */
  #places = new Int32Array(0);
  /** By the number of a stored fact: 1 + the newest place where it is a premise. */
  #facts = new Int32Array(0);

  get bytes(): number {
    let bytes = this.#places.byteLength + this.#facts.byteLength;
    for (const support of this.supports) bytes += support.bytes;
    return bytes;
  }

  /** From now on the relation's rows are justified; `lost` is told of those that a change of facts takes away. */
  keep(derived: Derived, lost: ((row: number) => void) | null): void {
    derived.support = new Support(derived, this.supports.length, lost);
    this.supports.push(derived.support);
  }

  /** Begins the justification of a row; what it had before no longer counts. `add` follows for every premise. */
  begin(support: Support, row: number): void {
    if (row >= support.since.length) support.since = grown(support.since, row);
    support.since[row] = this.count;
  }

  /** Adds a row as a premise of the row in hand. */
  add(premise: Support, premiseRow: number, target: Support, row: number): void {
    if (premiseRow >= premise.heads.length) premise.heads = grown(premise.heads, premiseRow);
    premise.heads[premiseRow] = this.#place(target, row, premise.heads[premiseRow] as number);
  }

  /** Adds a stored fact as a premise of the row in hand. */
  addFact(number: number, target: Support, row: number): void {
    if (number >= this.#facts.length) this.#facts = grown(this.#facts, number);
    this.#facts[number] = this.#place(target, row, this.#facts[number] as number);
  }

  /** Visits the rows alive that the row is a premise of. */
  dependents(support: Support, row: number, visit: (target: Support, row: number) => void): void {
    this.#walk(support.heads[row] ?? 0, visit);
  }

  /** Visits the rows alive that the stored fact is a premise of. */
  dependentsOfFact(number: number, visit: (target: Support, row: number) => void): void {
    this.#walk(this.#facts[number] ?? 0, visit);
  }

  #walk(first: number, visit: (target: Support, row: number) => void): void {
    for (let next = first; next !== 0; ) {
      const place = next - 1;
      const target = present(this.supports[this.#places[place * 3] as number], 'a place has its relation');
      const row = this.#places[place * 3 + 1] as number;
      next = this.#places[place * 3 + 2] as number;
      const { rows } = target.derived;
      if (row < rows.count && place >= (target.since[row] as number) && !rows.isDead(row)) visit(target, row);
    }
  }

  /** Takes the next place. Returns 1 + its number. */
  #place(target: Support, row: number, older: number): number {
    const at = this.count * 3;
    if (at + 2 >= this.#places.length) this.#places = grown(this.#places, at + 2);
    const places = this.#places;
    places[at] = target.number;
    places[at + 1] = row;
    places[at + 2] = older;
    target.places++;
    return ++this.count;
  }
}

/** A larger copy that has a place for `index`. */
function grown(array: Int32Array, index: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(16, array.length * 2, index + 1));
  larger.set(array);
  return larger;
}
