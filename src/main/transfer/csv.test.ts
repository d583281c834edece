import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { readCsv } from './csv.ts';
import { singly } from './items.ts';

const pause = (): Promise<void> => Promise.resolve();

/** What the parser reads of the text, cut into chunks: the line and the arguments, or the problem. */
async function read(text: string | Buffer, size = 65_536, separator: ',' | '\t' = ','): Promise<unknown[]> {
  const bytes = Buffer.from(text as string);
  const chunks = (async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  })();
  const found: unknown[] = [];
  for await (const items of singly(readCsv(chunks, { separator, predicate: 'p', scope: null, pause })))
    for (const { line, what } of items)
      found.push(
        what.kind === 'fact'
          ? [line, ...what.fact.args]
          : [line, what.kind === 'problem' ? what.message : what.kind],
      );
  return found;
}

const unopened = 'a field that contains a quotation mark must be in quotation marks';
const unended = 'after a closing quotation mark the field ends; within it a quotation mark is doubled';
const unclosed = 'the quotation mark of this record is never closed: the lines after it are read without it';

it('CSV is RFC 4180 without a header: quoted fields may contain separators, line breaks and doubled quotation marks', async () => {
  const text =
    '\uFEFF"a","b, ""c""\r\nd",\r\n\r\n \r\n"",x\n"""",""""""\n"1\n2\n","3\r\n"\r\nplain,\rreturn,\u2028\nlast,"';
  expect(await read(text.replace(/"$/, '"one"'))).toEqual([
    [1, 'a', 'b, "c"\r\nd', ''],
    [4, ' '],
    [5, '', 'x'],
    [6, '"', '""'],
    [7, '1\n2\n', '3\r\n'],
    [11, 'plain', '\rreturn', '\u2028'],
    [12, 'last', 'one'],
  ]);
});

it('TSV is quoted as CSV is', async () => {
  expect(await read('a\t"b\tc\n""d"""\te, f\n"x"y\tz\n1\t2', 3, '\t')).toEqual([
    [1, 'a', 'b\tc\n"d"', 'e, f'],
    [3, unended],
    [4, '1', '2'],
  ]);
});

it('reports an unreadable CSV record for its own lines and continues after it', async () => {
  const text =
    'a\nb,"x"y\nc\n5" disk,d\nsaid "so"\ne,"one\ntwo"three\nf\ng,"one\nand ""two""\nthe "bad" one\nh,"i"\n';
  for (const size of [1, 7, 65_536])
    expect(await read(text, size)).toEqual([
      [1, 'a'],
      [2, unended],
      [3, 'c'],
      [4, unopened],
      [5, unopened],
      [6, `${unended} (lines 6 to 7 are skipped)`],
      [8, 'f'],
      [9, `${unended} (lines 9 to 11 are skipped)`],
      [12, 'h', 'i'],
    ]);
});

it('reports an unclosed CSV record by its first line and continues after it', async () => {
  const text = 'a,"b\nc,d\n\ne,""\nf,""""\n';
  for (const size of [1, 5, 65_536])
    expect(await read(text, size)).toEqual([
      [1, unclosed],
      [2, 'c', 'd'],
      [4, 'e', ''],
      [5, 'f', '"'],
    ]);
});

it('gives up an unclosed CSV record longer than the longest line, but not the rest of the file', async () => {
  const filler = `${'x'.repeat(99_999)}\n`;
  const found = await read(`a,b\nc,"d\n${filler.repeat(100)}e,f\ng,"h\ni"\n`);
  expect(found).toHaveLength(104);
  expect(found.slice(0, 2)).toEqual([
    [1, 'a', 'b'],
    [2, unclosed],
  ]);
  expect(found.slice(-2)).toEqual([
    [103, 'e', 'f'],
    [104, 'g', 'h\ni'],
  ]);
});

it('fails only the line and record with bytes that are not UTF-8', async () => {
  const text = Buffer.concat([
    Buffer.from('a\nb,'),
    Buffer.from([0xff]),
    Buffer.from('\nc,"d\n'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"\nf,"ü"\n'),
  ]);
  for (const size of [1, 65_536])
    expect(await read(text, size)).toEqual([
      [1, 'a'],
      [2, 'the line is not valid UTF-8'],
      [3, 'a line of the record cannot be read'],
      [4, 'the line is not valid UTF-8'],
      [5, 'f', 'ü'],
    ]);
});

it('reads a long CSV record whole, whatever its chunk boundaries', async () => {
  const long = `x${'😀"",\n'.repeat(9000)}`;
  const field = long.replaceAll('""', '"');
  expect(await read(`a,"${long}"\n"b","${'ü'.repeat(32_000)}"\n"c","${'y'.repeat(32_000)}"z\nd\n`)).toEqual([
    [1, 'a', field],
    [9002, 'b', 'ü'.repeat(32_000)],
    [9003, unended],
    [9004, 'd'],
  ]);
});
