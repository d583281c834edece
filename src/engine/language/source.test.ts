import { expect, test } from 'vitest';
import { lineTable } from './source.ts';

test('lines end at LF, CR LF or a lone CR; lines and columns count from 1, the end is exclusive', () => {
  const { range } = lineTable('ab\ncd\r\ne\rf');
  expect(range({ start: 0, end: 2 })).toEqual({ startLine: 1, startColumn: 1, endLine: 1, endColumn: 3 });
  expect(range({ start: 3, end: 8 })).toEqual({ startLine: 2, startColumn: 1, endLine: 3, endColumn: 2 });
  expect(range({ start: 9, end: 10 })).toEqual({ startLine: 4, startColumn: 1, endLine: 4, endColumn: 2 });
});

test('columns are UTF-16 units', () => {
  expect(lineTable('😀x').range({ start: 2, end: 3 })).toEqual({
    startLine: 1,
    startColumn: 3,
    endLine: 1,
    endColumn: 4,
  });
});
