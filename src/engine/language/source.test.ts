import { expect, test } from 'vitest';
import { lineTable } from './source.ts';

test('ends lines at LF, CR LF or a lone CR, and counts lines and columns from 1 with an exclusive end', () => {
  const { range } = lineTable('ab\ncd\r\ne\rf');
  expect(range({ start: 0, end: 2 })).toEqual({ startLine: 1, startColumn: 1, endLine: 1, endColumn: 3 });
  expect(range({ start: 3, end: 8 })).toEqual({ startLine: 2, startColumn: 1, endLine: 3, endColumn: 2 });
  expect(range({ start: 9, end: 10 })).toEqual({ startLine: 4, startColumn: 1, endLine: 4, endColumn: 2 });
});

test('counts columns in UTF-16 units', () => {
  expect(lineTable('😀x').range({ start: 2, end: 3 })).toEqual({
    startLine: 1,
    startColumn: 3,
    endLine: 1,
    endColumn: 4,
  });
});
