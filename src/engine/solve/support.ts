import { present } from '../base/assert.ts';
import type { Derived } from './derived.ts';
import type { UpkeepRule } from './compile-rule.ts';
import type { Table } from './table.ts';

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
export class Support {
  readonly derived: Derived;
  readonly number: number;
  /** The table whose rows these are, null for what a rewriting added. */
  readonly table: Table | null;
  /** The rules that conclude the relation. */
  readonly rules: UpkeepRule[] = [];
  readonly watchers: Watcher[] = [];
  /** By row: the first place of its justification. */
  since = new Int32Array(16);
  /** By row: 1 + the newest place where it is a premise. */
  heads = new Int32Array(16);
  /** Places taken by justifications of rows of this relation. */
  places = 0;
  /** Rows whose dependents have not been followed. */
  killed: number[] = [];
  /** Rows to look for another reason for. */
  doubtful: number[] = [];
  /** Rows that died since the levels above were told, with the heights that they had. */
  fallen: { readonly row: number; readonly height: number }[] = [];
  /** Rows long gone that came back since then. */
  risen: number[] = [];
  /** Rows up to here are no news to watchers. */
  told = 0;
  /** Rows up to here, without those that came back since, were held when the upkeep in hand began. */
  #held = 0;
  readonly #back = new Set<number>();

  constructor(derived: Derived, number: number, table: Table | null) {
    this.derived = derived;
    this.number = number;
    this.table = table;
  }

  get bytes(): number {
    return this.since.byteLength + this.heads.byteLength;
  }

  /** Forgets what was kept for rows that are no more. */
  clear(): void {
    this.since = new Int32Array(16);
    this.heads = new Int32Array(16);
    this.places = 0;
    this.killed = [];
    this.doubtful = [];
    this.fallen = [];
    this.risen = [];
    this.told = 0;
    this.noteHeld();
  }

  /** What is alive now counts as held from here on. */
  noteHeld(): void {
    this.#held = this.derived.rows.count;
    this.#back.clear();
  }

  /** Notes that a row long gone is alive again. */
  cameBack(row: number): void {
    if (row < this.#held) this.#back.add(row);
  }

  /**
   * Whether a row that died was held when the upkeep began. Joins of a level meet rows above that have not heard yet of
   * what died: what they conclude from those dies again, and never held.
   */
  wasHeld(row: number): boolean {
    return row < this.#held && !this.#back.has(row);
  }
}

/** Which rows of a waiting relation a changed row concerns: those with its values for the key. */
export interface Watcher {
  readonly waits: Derived;
  /** Columns of the changed row that must hold these constants. */
  readonly constants: readonly { readonly position: number; readonly id: number }[];
  /** Columns of the changed row that must be equal. */
  readonly equal: readonly (readonly [number, number])[];
  /** Columns of the changed row, and those of the waiting relation (ascending) that they are the key of. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

export class Justifications {
  readonly supports: Support[] = [];
  count = 0;
  /** Places that no row's justification begins at or reaches any more, about. */
  garbage = 0;
  #target = new Int32Array(64);
  #row = new Int32Array(64);
  #next = new Int32Array(64);
  /** By the number of a stored fact: 1 + the newest place where it is a premise. */
  #facts = new Int32Array(64);

  get bytes(): number {
    let bytes = this.#target.byteLength * 3 + this.#facts.byteLength;
    for (const support of this.supports) bytes += support.bytes;
    return bytes;
  }

  /** From now on the relation's rows are justified. */
  keep(derived: Derived, table: Table | null): void {
    derived.support = new Support(derived, this.supports.length, table);
    this.supports.push(derived.support);
  }

  /** Begins the justification of a row; what it had before no longer counts. `add` follows for every premise. */
  begin(support: Support, row: number): void {
    if (row >= support.since.length) support.since = grown(support.since, row);
    support.since[row] = this.count;
  }

  /** Adds a row as a premise of the row in hand. */
  add(premise: Support, premiseRow: number, target: Support, row: number): void {
    const place = this.#place(target, row);
    if (premiseRow >= premise.heads.length) premise.heads = grown(premise.heads, premiseRow);
    this.#next[place] = premise.heads[premiseRow] as number;
    premise.heads[premiseRow] = place + 1;
  }

  /** Adds a stored fact as a premise of the row in hand. */
  addFact(number: number, target: Support, row: number): void {
    const place = this.#place(target, row);
    if (number >= this.#facts.length) this.#facts = grown(this.#facts, number);
    this.#next[place] = this.#facts[number] as number;
    this.#facts[number] = place + 1;
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
    for (let next = first; next !== 0; next = this.#next[next - 1] as number) {
      const place = next - 1;
      const target = present(this.supports[this.#target[place] as number], 'a place has its relation');
      const row = this.#row[place] as number;
      const { rows } = target.derived;
      if (row < rows.count && place >= (target.since[row] as number) && !rows.isDead(row)) visit(target, row);
    }
  }

  #place(target: Support, row: number): number {
    const place = this.count++;
    if (place === this.#row.length) {
      this.#target = grown(this.#target, place);
      this.#row = grown(this.#row, place);
      this.#next = grown(this.#next, place);
    }
    this.#target[place] = target.number;
    this.#row[place] = row;
    target.places++;
    return place;
  }
}

/** A larger copy that has a place for `index`. */
function grown(array: Int32Array, index: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(array.length * 2, index + 1));
  larger.set(array);
  return larger;
}
