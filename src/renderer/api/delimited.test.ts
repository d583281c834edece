import { describe, expect, test } from 'vitest';
import { writtenField } from './delimited-writing.ts';
import { pastedTable, delimitedRecordsOf, separatorOf } from './delimited.ts';

function fieldsOf(text: string, separator = ','): (readonly string[] | string)[] {
  return delimitedRecordsOf(text, separator).map(({ fields, problem }) => problem ?? fields);
}

describe('records of a table', () => {
  test('are parsed by RFC 4180: quotes doubled, separators and line breaks within them', () => {
    expect(fieldsOf('a,"b ""c"", d","e\nf"\r\n1,2,3')).toEqual([
      ['a', 'b "c", d', 'e\nf'],
      ['1', '2', '3'],
    ]);
  });

  test('keep empty fields, the last one too, and skip blank lines', () => {
    expect(fieldsOf('a,,\n\n\r\n"",b,')).toEqual([
      ['a', '', ''],
      ['', 'b', ''],
    ]);
  });

  test('know their first line and their number of lines', () => {
    const lines = delimitedRecordsOf('a\n\n"b\nc"\nd', ',').map(({ line, lines: count }) => [line, count]);
    expect(lines).toEqual([
      [1, 1],
      [3, 2],
      [5, 1],
    ]);
  });

  test('that are malformed fail alone, and parsing continues', () => {
    expect(fieldsOf('a"b,c\n"a"b,c\nd,e\n"open')).toEqual([
      'a field that contains a quotation mark must be in quotation marks',
      'after a closing quotation mark the field ends; within it a quotation mark is doubled',
      ['d', 'e'],
      'the quotation mark of this record is never closed',
    ]);
  });

  test('are separated by the given character', () => {
    expect(fieldsOf('a;b,c;"d;e"', ';')).toEqual([['a', 'b,c', 'd;e']]);
    expect(fieldsOf('a\tb', '\t')).toEqual([['a', 'b']]);
  });
});

test('detects the separator that gives rows of equal length', () => {
  expect(separatorOf('a;b;c\n1;2,5;3\n4;5,5;6', ',')).toBe(';');
  expect(separatorOf('a,b\n1,2', ',')).toBe(',');
  expect(separatorOf('a|b\n1|2', ',')).toBe('|');
  expect(separatorOf('alone\nand alone', '\t')).toBe('\t');
  expect(separatorOf('', ',')).toBe(',');
});

test('quotes a field if necessary, and reads it back', () => {
  for (const text of ['plain', '', 'a,b', 'say "so"', 'two\nlines', 'a\rb', ' space ', ';'])
    expect(fieldsOf(`${writtenField(text, ',')},x`)).toEqual([[text, 'x']]);
  expect(writtenField('a,b', '\t')).toBe('a,b');
});

describe('a pasted table', () => {
  test('is recognized by tabs, with its cells as the spreadsheet wrote them, one row a line', () => {
    const table = pastedTable('name\tnote\r\nann\t"two\nlines"\nbob\t5" pipe\n\ncyd\t"so" they say\ndan\t\n');
    expect(table).toMatchObject({ kind: 'tsv', rows: 5, columns: 2 });
    expect(delimitedRecordsOf(table?.text ?? '', '\t').map(({ line, fields }) => [line, ...fields])).toEqual([
      [1, 'name', 'note'],
      [2, 'ann', 'two\nlines'],
      [4, 'bob', '5" pipe'],
      [6, 'cyd', '"so" they say'],
      [7, 'dan', ''],
    ]);
  });

  test('is recognized by equal numbers of fields in every line, by commas or semicolons; numbers stay as written', () => {
    expect(pastedTable('ann;1,5\nbob;2,5\n')).toMatchObject({ kind: 'csv', rows: 2, columns: 2 });
    expect(pastedTable('ann,1.50\nbob,"a, b"')).toMatchObject({ rows: 2, columns: 2 });
  });

  test('keeps an unreadable row, to report it by its line', () => {
    const table = pastedTable('a\tb\nc\t"never closed');
    expect(
      delimitedRecordsOf(table?.text ?? '', '\t').map(({ line, problem }) => [line, problem === null]),
    ).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  test('is neither statements, complete or not, nor prose', () => {
    for (const text of [
      'parent(alice, bob).\nparent(bob, ann).',
      'parent(alice,\n bob',
      'one, two and three',
      '',
    ])
      expect(pastedTable(text), text).toBeNull();
  });
});
