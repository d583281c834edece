/** Limits the number of rows selected together. Pure. */
import { type RowRange, type RowRanges, chosenRowCount } from '../../ui/grid-cells.ts';

/** Maximum number of rows in a selection. */
export const maxSelectedRows = 10_000;

/**
 * The ranges, shortened to the limit if they are a single range; several ranges beyond the limit leave the
 * selection unchanged.
 */
export function clampedRanges(before: RowRanges, next: RowRanges, most: number = maxSelectedRows): RowRanges {
  if (chosenRowCount(next) <= most) return next;
  const [only, ...others] = next;
  return only === undefined || others.length > 0
    ? before
    : [clampedRange(before.length === 1 ? (before[0] ?? null) : null, only, most)];
}

/** The part of a range within the limit, measured from the end that did not move. */
function clampedRange(before: RowRange | null, next: RowRange, most: number): RowRange {
  const isFromLast = before !== null && before.last === next.last && before.first !== next.first;
  return isFromLast
    ? { first: next.last - most, last: next.last }
    : { first: next.first, last: next.first + most };
}
