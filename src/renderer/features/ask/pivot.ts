/** Answers as a pivot table: a measure of one column for each value of one or two others. Pure. */
import { compareNumbersFirst } from '../../../engine/language/numbers.ts';
import type { ShownAnswer } from './answer.ts';
import type { PivotAxes } from './answer-forms.ts';
import { NumberTally } from './tally.ts';

/** Maximum number of columns; the values that have fewest answers are left out, and the table says so. */
export const MAX_PIVOT_COLUMNS = 40;

/** A row of a pivot table. */
export interface PivotRow {
  readonly key: string;
  /** By position of the column; null where nothing is measured. */
  readonly cells: readonly (number | null)[];
  /** Over all columns, those left out included. */
  readonly total: number | null;
}

/** A pivot table. */
export interface PivotTable {
  /** Keys of the columns in their order; empty if the table has only totals. */
  readonly columns: readonly string[];
  readonly rows: readonly PivotRow[];
  /** Of each column over all rows. */
  readonly totals: PivotRow;
  /** Number of values whose columns are left out. */
  readonly columnsLeftOut: number;
}

function tallyIn(tallies: Map<string, NumberTally>, key: string): NumberTally {
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = new NumberTally();
    tallies.set(key, tally);
  }
  return tally;
}

/** Returns the pivot table of answers; keys in the order of sorted answers. */
export function pivotTable(bindings: ShownAnswer['bindings'], axes: PivotAxes): PivotTable {
  const { measure } = axes;
  const cells = new Map<string, Map<string, NumberTally>>();
  const ofRow = new Map<string, NumberTally>();
  const ofColumn = new Map<string, NumberTally>();
  const all = new NumberTally();
  for (const row of bindings) {
    const key = row[axes.rows] ?? '';
    const value = axes.value === null ? null : Number(row[axes.value]);
    const tallies = [tallyIn(ofRow, key), all];
    if (axes.columns !== null) {
      const column = row[axes.columns] ?? '';
      const inRow = cells.get(key) ?? new Map<string, NumberTally>();
      cells.set(key, inRow);
      tallies.push(tallyIn(inRow, column), tallyIn(ofColumn, column));
    }
    for (const tally of tallies) tally.add(value);
  }
  const mostFirst = [...ofColumn].sort(
    ([a, left], [b, right]) => right.count - left.count || compareNumbersFirst(a, b),
  );
  const columns = mostFirst
    .slice(0, MAX_PIVOT_COLUMNS)
    .map(([key]) => key)
    .sort(compareNumbersFirst);
  const rows = [...ofRow]
    .map(([key, tally]): PivotRow => {
      const inRow = cells.get(key);
      return {
        key,
        cells: columns.map((column) => inRow?.get(column)?.of(measure) ?? null),
        total: tally.of(measure),
      };
    })
    .sort((left, right) => compareNumbersFirst(left.key, right.key));
  return {
    columns,
    rows,
    totals: {
      key: 'All',
      cells: columns.map((column) => ofColumn.get(column)?.of(measure) ?? null),
      total: all.of(measure),
    },
    columnsLeftOut: mostFirst.length - columns.length,
  };
}
