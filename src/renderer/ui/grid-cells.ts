/** Cursor movement and row ranges of a grid. Pure. */
import type { KeyboardEvent } from 'react';

/** Rows from `first` to `last`, exclusive. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

/** A cell by row and column. */
export interface CellPosition {
  row: number;
  column: number;
}

/** Returns the value limited to 0 and `greatest`. */
export function clamp(value: number, greatest: number): number {
  return Math.max(0, Math.min(greatest, value));
}

/** Returns the position that a key leads to, or null. Home and End at the end of a row continue to all rows. */
export function nextCell(
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

/** Returns the range between two rows in either order. */
export function rangeBetween(one: number, other: number): RowRange {
  return { first: Math.min(one, other), last: Math.max(one, other) + 1 };
}

/** Selected rows: ordered ranges that neither overlap nor touch. */
export type RowRanges = readonly RowRange[];

/** Returns the number of selected rows. */
export function chosenRowCount(ranges: RowRanges): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first, 0);
}

/** Returns true if the row is selected. */
export function isInRanges(ranges: RowRanges, row: number): boolean {
  return ranges.some(({ first, last }) => row >= first && row < last);
}

/** Adds a range, joining overlapping and adjacent ones. */
export function withRange(ranges: RowRanges, range: RowRange): RowRange[] {
  let { first, last } = range;
  const apart = ranges.filter((each) => {
    const isApart = each.last < first || each.first > last;
    if (!isApart) [first, last] = [Math.min(first, each.first), Math.max(last, each.last)];
    return isApart;
  });
  return [...apart, { first, last }].sort((left, right) => left.first - right.first);
}

/** Toggles the selection of a row. */
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
