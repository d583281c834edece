import type { Tuples } from '../../store/tuples.ts';
import { notify, phases, type RunPremise, type Support } from '../model/derived.ts';
import type { MachineParts } from './machine.ts';
import { type Selected, valuesOf } from './row-selection.ts';

/** What justifies rows: one row of a relation; or those that were selected, as rows of a relation or of facts with these numbers. */
export type JustifiedBy =
  | { readonly support: Support; readonly row: number }
  | { readonly support: Support | null; readonly selected: Selected; readonly numbers: Int32Array | null };

/**
 * Adds the conclusions of a join to their target, as whole columns, and justifies those that are new. The target has no heights
 * and no dead rows.
 */
export class ColumnSink {
  readonly #parts: MachineParts;
  /** The rows of the target, all of which are from this sink if it has `#appended` of them. */
  #rows: Tuples | null = null;
  #appended = 0;
  /** True if the conclusions differ from each other and from all that the target has: none is looked up. */
  isDistinct = false;
  matches = 0;

  constructor(parts: MachineParts) {
    this.#parts = parts;
  }

  /**
   * Called when a join begins. `isLossless`: all its matches make different rows; `isLater`: different ones also from those of
   * the joins before.
   */
  begin(isLossless: boolean, isLater: boolean): void {
    const { rows } = this.#parts.emission.target;
    if (this.#rows !== rows || !isLater) this.#appended = 0;
    this.#rows = rows;
    this.isDistinct = isLossless && rows.count === this.#appended;
  }

  /** Adds rows with these columns, of which `by` has the premises. */
  take(columns: readonly Int32Array[], count: number, by: readonly (JustifiedBy | null)[]): void {
    if (count === 0) return;
    this.matches += count;
    const { target, tally } = this.#parts.emission;
    const { rows, support } = target;
    const first = rows.count;
    const added = this.isDistinct || support === null ? null : new Int32Array(count);
    if (this.isDistinct) {
      rows.appendDistinct(columns, 0, count);
      this.#appended += count;
    } else this.#insert(columns, count, added);
    const fresh = rows.count - first;
    if (fresh === 0) return;
    this.#parts.work.add(target, phases.join);
    if (tally !== null) tally.fired += fresh;
    if (support === null) return;
    const premises: RunPremise[] = [];
    for (const each of by)
      if (each !== null) premises.push(premiseOf(each, added?.subarray(0, fresh) ?? null));
    this.#parts.justifications.justifyNew(support, first, premises);
    notify(this.#parts.work, support);
  }

  /** `added` gets the numbers of the new ones. */
  #insert(columns: readonly Int32Array[], count: number, added: Int32Array | null): void {
    const { rows } = this.#parts.emission.target;
    const { batch } = this.#parts;
    let fresh = 0;
    for (let at = 0; at < count; ) {
      at = batch.takeColumns(columns, at, count);
      batch.insertInto(rows, columns.length + 1);
      if (added !== null) fresh = batch.newOnes(added, fresh, columns.length);
      batch.count = 0;
    }
  }
}

/** The premise of the new rows: those selected at these indexes, or all. */
function premiseOf(by: JustifiedBy, added: Int32Array | null): RunPremise {
  const { support } = by;
  const epoch = support?.epoch ?? 0;
  if ('row' in by) return { support, epoch, numbers: by.row };
  const { selected, numbers } = by;
  if (added === null && selected.rows === null && numbers === null)
    return { support, epoch, numbers: { at: selected.first } };
  const rows =
    added === null ? selected : { first: 0, rows: selectedAt(selected, added), count: added.length };
  const of = numbers === null ? (rows.rows as Int32Array).slice(0, rows.count) : valuesOf(numbers, rows);
  return { support, epoch, numbers: numbers !== null && rows.rows === null ? of.slice() : of };
}

/** The numbers of those of the selected rows that have these indexes. */
export function selectedAt({ first, rows }: Selected, indexes: Int32Array): Int32Array {
  return rows === null
    ? indexes.map((index) => first + index)
    : valuesOf(rows, { first: 0, rows: indexes, count: indexes.length });
}
