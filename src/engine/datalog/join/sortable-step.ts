import type { SortedRuns } from '../../store/sorted-runs.ts';
import type { Reader } from '../model/reader.ts';
import { type AtomShape, KeyedStep } from './machine.ts';

/** The relation of a step, to be sorted. */
export interface Sortable {
  readonly runs: SortedRuns;
  /** By position; of a stored relation the last one has the scope. */
  readonly columns: readonly Int32Array[];
  /** The step meets only rows below this, of the `count` that the relation has. */
  readonly limit: number;
  readonly count: number;
  /** The column and the value by which the rows of a view differ from others; null if all are of the view. */
  readonly scope: { readonly position: number; readonly value: number } | null;
}

/** A literal whose rows can be sorted: they do not grow while they are joined, and none changes its columns. */
export abstract class SortableStep extends KeyedStep {
  abstract override readonly shape: AtomShape;

  /** True if the other step reads the same rows. */
  abstract reads(other: SortableStep): boolean;

  /** The rows that it meets for the reader, to be sorted; null if an overlay adds some. */
  abstract sortable(reader: Reader): Sortable | null;

  /** True if the step meets the row, of all that have the current values. */
  abstract meets(row: number): boolean;
}
