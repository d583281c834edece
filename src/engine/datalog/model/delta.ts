import { tupleAt, Tuples } from '../../store/tuples.ts';
import type { Constants } from './constants.ts';
import { type Candidates, plainRows } from './known-conclusions.ts';
import { viewKey } from './reader.ts';
import type { Relation, Table } from './table.ts';

/** The conclusions that changes of facts delete while a recording runs, once for each view. */
export class Losses {
  /** Ends the recording. */
  readonly end: () => void;
  /** True if deleted rows were certainly true when the recording began: no earlier change was pending. */
  readonly #isCertain: boolean;
  /** The rows of tables that were dropped meanwhile. */
  readonly #dropped: Candidates[] = [];
  /** Number of deleted rows. */
  count = 0;
  /** The last version that deleted any of them. */
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

  /** Records a dropped table: which of its rows are still true is not known. */
  drop(table: Table, constants: Constants): void {
    const demand = plainRows(table.demand.rows, constants).rows;
    const of = { boundPositions: table.boundPositions, demand: { rows: demand } };
    const held = plainRows(table.rows.rows, constants);
    this.#dropped.push({ ...table, ...held, table: of, isCertain: this.#isCertain });
  }

  get dropped(): readonly Candidates[] {
    return this.#dropped;
  }

  /** The deleted rows. */
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
