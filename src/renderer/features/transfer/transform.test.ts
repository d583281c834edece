import { describe, expect, test } from 'vitest';
import { delimitedRecordsOf } from '../../api/delimited.ts';
import type { Mapping } from './mapping.ts';
import { TableTransformer } from './transform.ts';

const mapping: Mapping = {
  separator: ';',
  hasHeader: true,
  predicate: { kind: 'name', name: 'p' },
  columns: [2, 0],
};

/** Converts in chunks of that many bytes. */
function transformed(bytes: Uint8Array, size: number, how: Mapping = mapping) {
  const transformer = new TableTransformer(how, ',');
  let text = '';
  for (let at = 0; at < bytes.length; at += size) text += transformer.push(bytes.slice(at, at + size));
  const { text: last, outcome } = transformer.end();
  return { text: text + last, outcome };
}

const encode = (text: string) => new TextEncoder().encode(text);

describe('the replacement of a table', () => {
  test('keeps the number of every line, whatever is skipped', () => {
    const source = '\uFEFFa;b;c\n1;2;3\n\n4;5\n"6";"seven\nmore";"8, 9"\n10;11;12';
    const { text, outcome } = transformed(encode(source), 1000);
    expect(delimitedRecordsOf(text, ',').map(({ line, fields }) => [line, fields])).toEqual([
      [2, ['3', '1']],
      [5, ['8, 9', '6']],
      [7, ['12', '10']],
    ]);
    expect(outcome).toEqual({
      rows: 4,
      failed: 1,
      failures: [{ line: 4, message: 'the row has 2 columns, the header 3' }],
    });
  });

  test('is the same however the file is split', () => {
    const source = encode('häder;b;c\r\n"ü\n""x""";2;3\r\n4;5;€\n7;8');
    const whole = transformed(source, source.length);
    for (let size = 1; size < source.length; size += 1) expect(transformed(source, size)).toEqual(whole);
    expect(delimitedRecordsOf(whole.text, ',').map(({ fields }) => fields)).toEqual([
      ['3', 'ü\n"x"'],
      ['€', '4'],
    ]);
  });

  test('fails only the line that is not UTF-8', () => {
    const bytes = encode('a;b;c\n1;2;3\n1;?;3\n4;5;6\n');
    bytes[bytes.indexOf(0x3f)] = 0xff;
    const { text, outcome } = transformed(bytes, 1000);
    expect(delimitedRecordsOf(text, ',').map(({ line }) => line)).toEqual([2, 4]);
    expect(outcome.failures).toEqual([{ line: 3, message: 'the line is not valid UTF-8' }]);
  });

  test('quotes a single empty argument, since a blank line is no fact', () => {
    const { text } = transformed(encode('x;\n'), 1000, { ...mapping, hasHeader: false, columns: [1] });
    expect(text).toBe('""\n');
  });

  test('counts every failure and lists the first thousand', () => {
    const { outcome } = transformed(encode(`a;b;c\n${'x\n'.repeat(1500)}`), 1000);
    expect(outcome.failed).toBe(1500);
    expect(outcome.failures).toHaveLength(1000);
  });

  test('is refused if a line has no end', () => {
    const transformer = new TableTransformer(mapping, ',');
    const piece = new Uint8Array(6_000_000).fill(0x61);
    transformer.push(piece);
    expect(() => transformer.push(piece)).toThrow('is it a table?');
  });
});
