import { expect, test } from 'vitest';
import { isInRanges, nextCell, rangeBetween, chosenRowCount, withRange, withToggled } from './grid-cells.ts';

const size = { rows: 1_000_000, columns: 5, page: 20 };
const press = (key: string, ctrlKey = false) => ({ key, ctrlKey, metaKey: false });

test('goes to the end of the row by End, and from there to the last row', () => {
  const atEnd = nextCell(press('End'), { row: 3, column: 1 }, size);
  expect(atEnd).toEqual({ row: 3, column: 4 });
  expect(nextCell(press('End'), { row: 3, column: 4 }, size)).toEqual({ row: 999_999, column: 4 });
  expect(nextCell(press('End', true), { row: 3, column: 1 }, size)).toEqual({ row: 999_999, column: 4 });
});

test('goes to the first column by Home, and from there to the first row', () => {
  expect(nextCell(press('Home'), { row: 3, column: 1 }, size)).toEqual({ row: 3, column: 0 });
  expect(nextCell(press('Home'), { row: 3, column: 0 }, size)).toEqual({ row: 0, column: 0 });
});

test('stops at the ends with arrows and pages', () => {
  expect(nextCell(press('ArrowUp'), { row: 0, column: 0 }, size)).toEqual({ row: 0, column: 0 });
  expect(nextCell(press('PageDown'), { row: 999_990, column: 0 }, size)).toEqual({
    row: 999_999,
    column: 0,
  });
  expect(nextCell(press('x'), { row: 0, column: 0 }, size)).toBeNull();
});

test('selects the same range in either direction', () => {
  expect(rangeBetween(2, 5)).toEqual({ first: 2, last: 6 });
  expect(rangeBetween(5, 2)).toEqual({ first: 2, last: 6 });
  expect(rangeBetween(4, 4)).toEqual({ first: 4, last: 5 });
});

test('selects and deselects rows one by one, with gaps between them', () => {
  const rows = [4, 9, 5, 4].reduce<ReturnType<typeof withToggled>>(withToggled, []);
  expect(rows).toEqual([
    { first: 5, last: 6 },
    { first: 9, last: 10 },
  ]);
  expect(chosenRowCount(rows)).toBe(2);
  expect([4, 5, 8, 9].map((row) => isInRanges(rows, row))).toEqual([false, true, false, true]);
  expect(withToggled([{ first: 2, last: 5 }], 3)).toEqual([
    { first: 2, last: 3 },
    { first: 4, last: 5 },
  ]);
});

test('joins ranges that overlap or touch', () => {
  const rows = [
    { first: 1, last: 3 },
    { first: 8, last: 9 },
    { first: 20, last: 21 },
  ];
  expect(withRange(rows, { first: 3, last: 8 })).toEqual([
    { first: 1, last: 9 },
    { first: 20, last: 21 },
  ]);
});
