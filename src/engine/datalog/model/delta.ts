import { Tuples } from '../../store/tuples.ts';
import type { Constants } from './constants.ts';
import { type Candidates, plainRows, tupleAt } from './known-conclusions.ts';
import { viewKey } from './reader.ts';
import type { Relation, Table } from './table.ts';

/** Conclusions that changes of facts take away while someone watches, each once for a view. */
export class Losses {
  /** To be called when it is over. */
  readonly end: () => void;
  /** True where what is taken away held when the watch began, for sure: no change before it was still to be taken in. */
  readonly #isCertain: boolean;
  /** What stood in tables that were dropped meanwhile. */
  readonly #dropped: Candidates[] = [];
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

  /** Notes that a table was dropped: what of it still holds nobody has looked at. */
  drop(table: Table, constants: Constants): void {
    const demand = plainRows(table.demand.rows, constants).rows;
    const of = { boundPositions: table.boundPositions, demand: { rows: demand } };
    const held = plainRows(table.rows.rows, constants);
    this.#dropped.push({ ...table, ...held, table: of, isCertain: this.#isCertain });
  }

  get dropped(): readonly Candidates[] {
    return this.#dropped;
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
