import { Tuples } from '../facts/tuples.ts';
import type { Constants } from './constants.ts';
import { type Candidates, tupleAt } from './known-conclusions.ts';
import { viewKey } from './reader.ts';
import type { Relation, Table } from './table.ts';

/** Conclusions that changes of facts take away while someone watches, each once for a view. */
export class Losses {
  /** False where tables were dropped meanwhile: what they held is known, and not compared. */
  isComplete = true;
  /** To be called when it is over. */
  readonly end: () => void;
  /** True where what is taken away held when the watch began, for sure: no change before it was still to be taken in. */
  readonly #isCertain: boolean;
  /** Rows taken away. */
  count = 0;
  /** The latest version that any of it came with. */
  through = 0;
  readonly #byRelation = new Map<string, Relation & { readonly relation: string; readonly rows: Tuples }>();

  constructor(isCertain: boolean, end: () => void) {
    this.#isCertain = isCertain;
    this.end = end;
  }

  add(table: Table, row: number, constants: Constants): void {
    const key = `${viewKey(table.view)}\n${table.relation}`;
    let lost = this.#byRelation.get(key);
    if (lost === undefined) {
      const { view, predicate, arity, negated, relation } = table;
      lost = { view, predicate, arity, negated, relation, rows: new Tuples(arity) };
      this.#byRelation.set(key, lost);
    }
    const tuple = tupleAt(table.rows.rows, row, new Int32Array(table.arity));
    if (lost.rows.insert(tuple.map((id) => constants.plain(id))) >= 0) this.count++;
  }

  /** What was taken away. */
  candidates(): Candidates[] {
    return [...this.#byRelation.values()].map((lost) => ({
      ...lost,
      count: lost.rows.count,
      dead: null,
      table: null,
      isCertain: this.#isCertain,
    }));
  }
}
