/** Where keys lead in a grid, and which rows are chosen together. Pure. */
import type { KeyboardEvent } from 'react';

/** The last is exclusive. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

export interface CellPosition {
  row: number;
  column: number;
}

export function clamp(value: number, greatest: number): number {
  return Math.max(0, Math.min(greatest, value));
}

/** Where a key leads from a place, or null where it leads nowhere. Home and End at the end of a row go on to all rows. */
export function nextPlace(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>,
  place: CellPosition,
  size: { rows: number; columns: number; page: number },
): CellPosition | null {
  const isWide = event.ctrlKey || event.metaKey;
  const lastRow = size.rows - 1;
  const lastColumn = size.columns - 1;
  switch (event.key) {
    case 'ArrowDown':
      return { ...place, row: clamp(place.row + 1, lastRow) };
    case 'ArrowUp':
      return { ...place, row: clamp(place.row - 1, lastRow) };
    case 'ArrowRight':
      return { ...place, column: clamp(place.column + 1, lastColumn) };
    case 'ArrowLeft':
      return { ...place, column: clamp(place.column - 1, lastColumn) };
    case 'PageDown':
      return { ...place, row: clamp(place.row + size.page, lastRow) };
    case 'PageUp':
      return { ...place, row: clamp(place.row - size.page, lastRow) };
    case 'Home':
      return isWide || place.column === 0 ? { row: 0, column: 0 } : { ...place, column: 0 };
    case 'End':
      return isWide || place.column === lastColumn
        ? { row: lastRow, column: lastColumn }
        : { ...place, column: lastColumn };
    default:
      return null;
  }
}

/** The rows from one to another, whichever comes first. */
export function rangeBetween(one: number, other: number): RowRange {
  return { first: Math.min(one, other), last: Math.max(one, other) + 1 };
}

/** Rows that are chosen together: ranges from top to bottom that neither overlap nor touch. */
export type RowRanges = readonly RowRange[];

export function chosenRowCount(ranges: RowRanges): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first, 0);
}

export function isInRanges(ranges: RowRanges, row: number): boolean {
  return ranges.some(({ first, last }) => row >= first && row < last);
}

/** With a range more; what overlaps or touches becomes one. */
export function withRange(ranges: RowRanges, range: RowRange): RowRange[] {
  let { first, last } = range;
  const apart = ranges.filter((each) => {
    const isApart = each.last < first || each.first > last;
    if (!isApart) [first, last] = [Math.min(first, each.first), Math.max(last, each.last)];
    return isApart;
  });
  return [...apart, { first, last }].sort((left, right) => left.first - right.first);
}

/** With a row chosen that was not, or the other way round. */
export function withToggled(ranges: RowRanges, row: number): RowRange[] {
  if (!isInRanges(ranges, row)) return withRange(ranges, { first: row, last: row + 1 });
  return ranges.flatMap((each) => {
    if (row < each.first || row >= each.last) return [each];
    const parts = [
      { first: each.first, last: row },
      { first: row + 1, last: each.last },
    ];
    return parts.filter(({ first, last }) => last > first);
  });
}
