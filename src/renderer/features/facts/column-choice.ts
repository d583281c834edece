/** The columns of the grid of facts that can be hidden (`ui/column-choice.ts`), and which of them say something. */
import type { FactGridRow } from './staged-rows.ts';

/** The columns that can be hidden, in order, with their titles. */
export const choosableColumns = {
  scope: 'Scope',
  truth: 'Truth',
  salience: 'Salience',
  validity: 'Valid',
  origin: 'Origin',
  updated: 'Updated',
} as const;

/** A column that can be hidden. */
export type ChoosableColumn = keyof typeof choosableColumns;

/** Their ids, in order. */
export const choosableIds = Object.keys(choosableColumns) as ChoosableColumn[];

/** The table of a predicate's facts; undefined: of all facts. No predicate is empty. */
export function factTable(predicate: string | undefined): string {
  return predicate ?? '';
}

/** Saliences closer than this look the same in their bars; they drift apart with the times of the writes. */
const tellingSalience = 0.05;

/** The columns in which a row is not as almost all are, or in which two rows differ. */
export function differingColumns(rows: readonly FactGridRow[]): Set<ChoosableColumn> {
  const found = new Set<ChoosableColumn>(['updated']);
  let least = 1;
  let greatest = 0;
  for (const row of rows) {
    const { scope, truthVal, validFrom, validUntil } = row.fact;
    if (scope !== null || row.changed.has('scope')) found.add('scope');
    if (!truthVal || row.changed.has('truthVal')) found.add('truth');
    if (validFrom !== null || validUntil !== null) found.add('validity');
    if (row.changed.has('validFrom') || row.changed.has('validUntil')) found.add('validity');
    if (row.stored?.derived === true) found.add('origin');
    if (row.stored !== null) {
      least = Math.min(least, row.stored.salience);
      greatest = Math.max(greatest, row.stored.salience);
    }
  }
  if (greatest - least >= tellingSalience) found.add('salience');
  return found;
}
