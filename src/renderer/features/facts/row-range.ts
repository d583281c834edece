/** How many rows can be chosen together, and what is taken of more. Pure. */
import { type RowRange, type RowRanges, chosenRowCount } from '../../ui/grid-cells.ts';

export const mostChosen = 10_000;

/** The ranges, or as much of them as can be chosen; the same where all of it can. What has gaps stays as it was. */
export function clampedRanges(before: RowRanges, next: RowRanges, most: number = mostChosen): RowRanges {
  if (chosenRowCount(next) <= most) return next;
  const [only, ...others] = next;
  return only === undefined || others.length > 0
    ? before
    : [clampedRange(before.length === 1 ? (before[0] ?? null) : null, only, most)];
}

/** As much of a range as can be chosen from the end that stayed where it was. */
function clampedRange(before: RowRange | null, next: RowRange, most: number): RowRange {
  const isFromLast = before !== null && before.last === next.last && before.first !== next.first;
  return isFromLast
    ? { first: next.last - most, last: next.last }
    : { first: next.first, last: next.first + most };
}
