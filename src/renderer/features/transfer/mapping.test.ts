import { describe, expect, test } from 'vitest';
import { delimitedRecordsOf } from '../../api/delimited.ts';
import {
  columnName,
  declarationOfColumns,
  factOf,
  isAsItIs,
  looksLikeHeader,
  type Mapping,
  mappedRecord,
  mappingProblem,
  predicateOfFileName,
  proposedMapping,
  withMovedColumn,
} from './mapping.ts';

const named: Mapping = {
  separator: ',',
  hasHeader: false,
  predicate: { kind: 'name', name: 'p' },
  columns: [0, 1],
};

function mapped(text: string, mapping: Mapping, width: number | null = null) {
  return delimitedRecordsOf(text, mapping.separator).map((record) => mappedRecord(record, mapping, width));
}

describe('a row becomes a fact', () => {
  test('from the chosen columns, in order', () => {
    expect(mapped('a,b,c', { ...named, columns: [2, 0] })).toEqual([{ kind: 'fields', fields: ['c', 'a'] }]);
  });

  test('with the predicate of a column, which is sent first', () => {
    const mapping: Mapping = { ...named, predicate: { kind: 'column', column: 1 }, columns: [2, 0] };
    expect(mapped('a,p,c', mapping)).toEqual([{ kind: 'fields', fields: ['p', 'c', 'a'] }]);
    expect(factOf(['p', 'c', 'a'], mapping)).toEqual({ predicate: 'p', args: ['c', 'a'] });
    expect(factOf(['c', 'a'], named)).toEqual({ predicate: 'p', args: ['c', 'a'] });
  });

  test('or fails if a column is missing, or there are more or fewer than in the header', () => {
    expect(mapped('a', named)).toEqual([{ kind: 'problem', problem: 'the row has no column 2' }]);
    expect(mapped('a,b,c', named, 2)).toEqual([
      { kind: 'problem', problem: 'the row has 3 columns, the header 2' },
    ]);
    expect(mapped('a', named, 2)).toEqual([
      { kind: 'problem', problem: 'the row has 1 column, the header 2' },
    ]);
  });
});

describe('a file is sent unchanged', () => {
  test('if nothing is skipped, omitted or reordered', () => {
    expect(isAsItIs(named, ',', 2)).toBe(true);
    expect(isAsItIs({ ...named, predicate: { kind: 'column', column: 0 }, columns: [1] }, ',', 2)).toBe(true);
  });

  test('and not otherwise', () => {
    expect(isAsItIs({ ...named, hasHeader: true }, ',', 2)).toBe(false);
    expect(isAsItIs({ ...named, separator: ';' }, ',', 2)).toBe(false);
    expect(isAsItIs(named, ',', 3)).toBe(false);
    expect(isAsItIs({ ...named, columns: [1, 0] }, ',', 2)).toBe(false);
    expect(isAsItIs({ ...named, predicate: { kind: 'column', column: 1 }, columns: [0] }, ',', 2)).toBe(
      false,
    );
  });
});

test('rejects a mapping without a name, with an invalid name, or without columns', () => {
  expect(mappingProblem(named)).toBeNull();
  expect(mappingProblem({ ...named, predicate: { kind: 'name', name: '' } })).toBe('Name the predicate.');
  expect(mappingProblem({ ...named, predicate: { kind: 'name', name: 'a b' } })).toMatch(/^Predicate: /);
  expect(mappingProblem({ ...named, columns: [] })).toBe('Choose at least one column.');
  expect(mappingProblem({ ...named, predicate: { kind: 'column', column: 0 }, columns: [] })).toBeNull();
  expect(mappingProblem({ ...named, columns: Array.from({ length: 65 }, (_, at) => at) })).toBe(
    'A fact has at most 64 arguments.',
  );
});

test('recognizes the first row as a header if it has words that do not repeat', () => {
  const looks = (text: string) => looksLikeHeader(delimitedRecordsOf(text, ','));
  expect(looks('name,year\nbob,1970')).toBe(true);
  expect(looks('bob,1970\neve,1971')).toBe(false);
  expect(looks('alice,bob\nalice,carol')).toBe(false);
  expect(looks('name,name\na,b')).toBe(false);
  expect(looks('name,year')).toBe(false);
});

test('suggests a predicate from the name of the file', () => {
  expect(predicateOfFileName('parents.csv')).toBe('parents');
  expect(predicateOfFileName('my data (2).v1.csv')).toBe('my_data_2_v1');
  expect(predicateOfFileName('Über.csv')).toBe('Über');
  expect(predicateOfFileName('--.csv')).toBe('');
  expect(predicateOfFileName('.csv')).toBe('');
});

test('suggests all columns as arguments, up to the limit of a fact', () => {
  const records = delimitedRecordsOf('a,b\n1,2', ',');
  expect(proposedMapping(records, ',', 2, 'p')).toEqual({ ...named, hasHeader: true });
  expect(proposedMapping(records, ',', 100, 'p').columns).toHaveLength(64);
});

test('names a column by the header, or by its number', () => {
  expect(columnName(['a', ' '], 0)).toBe('a');
  expect(columnName(['a', ' '], 1)).toBe('Column 2');
  expect(columnName(null, 2)).toBe('Column 3');
});

test('moves columns by one position, within the ends', () => {
  expect(withMovedColumn([3, 1, 2], 0, 1)).toEqual([1, 3, 2]);
  expect(withMovedColumn([3, 1, 2], 0, -1)).toEqual([3, 1, 2]);
  expect(withMovedColumn([3, 1, 2], 2, 1)).toEqual([3, 1, 2]);
});

test('the header and the values below it declare the predicate', () => {
  const mapping = {
    separator: ',' as const,
    hasHeader: true,
    predicate: { kind: 'name' as const, name: 'lives' },
  };
  const rows = [
    ['ann', '1990-04-01', '12'],
    ['bob', '1991-05-02', '7'],
  ];
  const header = ['Person', 'birth day', 'n'];
  expect(declarationOfColumns(header, rows, { ...mapping, columns: [1, 0, 2] })).toMatchObject({
    arguments: [
      { name: 'birth_day', description: 'birth day', type: 'date' },
      { name: 'Person', description: null, type: 'entity' },
      { name: 'n', type: 'integer' },
    ],
    key: [],
    check: 'warn',
  });
  expect(declarationOfColumns(null, rows, { ...mapping, columns: [0] })).toBeNull();
  const fromColumn = { ...mapping, predicate: { kind: 'column' as const, column: 0 }, columns: [1] };
  expect(declarationOfColumns(header, rows, fromColumn)).toBeNull();
});
