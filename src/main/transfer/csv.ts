/**
 * CSV and TSV after RFC 4180, without a header: each record is a fact.
 *
 * Records without quotation marks go into columns byte by byte; csv-parse reads the others. A record that cannot be read is a
 * problem of its own lines, reported at the first of them, and reading continues after it. If a quotation mark is never
 * closed, within the length of a line or before the file ends, only that line is lost: the lines after it are read
 * again without it. Blank lines are skipped.
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { CsvError, type Options, Parser } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { Slices } from '../../engine/index.ts';
import {
  type ImportItem,
  type ImportItems,
  type Line,
  LineItems,
  maxLineBytes,
  newline,
  problemItem,
  readWholeLines,
  textLine,
  textLines,
  type WholeLines,
} from './items.ts';
import { PlainRecords } from './plain-records.ts';

export interface CsvOptions {
  readonly separator: ',' | '\t';
  /** The predicate of every record; null: the first column. */
  readonly predicate: string | null;
  readonly scope: string | null;
  /** Called between slices. */
  readonly pause: () => Promise<void>;
}

/** Reads the records of a file as facts. */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>, options: CsvOptions): ImportItems {
  const reader = new RecordReader(options);
  for await (const parts of readWholeLines(chunks)) yield* reader.take(parts);
  yield* reader.end();
}

type ReadableLine = Line & { readonly text: string };

/** Lines parsed together, and records returned together. */
const together = 512;
const linesBetweenBreaths = 128;
/** A longer record is parsed in pieces of this many bytes. */
const piece = 64 * 1024;
const neverClosed = 'the quotation mark of this record is never closed';

class RecordReader {
  readonly #given: CsvOptions;
  readonly #options: Options;
  readonly #slices: Slices;
  readonly #items = new LineItems();
  readonly #plain: PlainRecords;
  /** Of the next line. */
  #number = 1;
  /** Lines with quotation marks, all of them closed if they are valid. */
  #together: ReadableLine[] = [];
  /** The record whose quotation mark is open; null: none. */
  #open: HeldLines | null = null;
  /** Lines to read once more before any other. */
  #again: HeldLines | null = null;

  constructor(given: CsvOptions) {
    this.#given = given;
    const { separator, pause } = given;
    this.#slices = new Slices(pause);
    this.#plain = new PlainRecords(given);
    this.#options = { delimiter: separator, record_delimiter: '\n', relax_column_count: true };
  }

  /** The items of the records that these lines complete, in the order of their ends. */
  async *take(parts: readonly WholeLines[]): AsyncGenerator<ImportItem[]> {
    for (const part of parts)
      if (part.bytes !== null && isUtf8(part.bytes)) yield* this.#readBytes(part.bytes);
      else {
        const lines = textLines(part, this.#number);
        this.#number += lines.length;
        yield* this.#readAll(lines);
      }
    await this.#parseTogether();
    yield this.#items.taken();
  }

  async *#readBytes(bytes: Buffer): AsyncGenerator<ImportItem[]> {
    for (let start = 0, at = 0; start <= bytes.length; at++) {
      if (at % linesBetweenBreaths === 0) await this.#slices.breathe();
      const next = bytes.indexOf(newline, start);
      const end = next < 0 ? bytes.length : next;
      const number = this.#number++;
      const isInPlace = this.#open === null && this.#together.length === 0;
      if (!isInPlace || !this.#plain.take(bytes, start, end, () => this.#items.factsAt(number)))
        yield* this.#readAll([textLine(bytes.toString('utf8', start, end), number)]);
      start = end + 1;
    }
  }

  /** Those of the remaining records at the end of the file. */
  async *end(): AsyncGenerator<ImportItem[]> {
    while (this.#open !== null) {
      await this.#giveUp(this.#open);
      yield* this.#readAgain();
    }
    await this.#parseTogether();
    yield this.#items.rest();
  }

  async *#readAll(lines: Iterable<Line>): AsyncGenerator<ImportItem[]> {
    for (const line of lines) {
      await this.#read(line);
      if (this.#again !== null) yield* this.#readAgain();
      if (this.#items.length >= together) yield this.#items.taken();
    }
  }

  async *#readAgain(): AsyncGenerator<ImportItem[]> {
    const again = this.#again;
    this.#again = null;
    if (again !== null) yield* this.#readAll(again.afterFirst());
  }

  /** Reads a line within a record, or at the beginning of one. */
  async #read(line: Line): Promise<void> {
    const { number, text, problem } = line;
    if (text === null) {
      if (this.#open !== null) await this.#passOver(this.#open, 'a line of the record cannot be read');
      await this.#bad(number, problem ?? '');
    } else if (this.#open !== null) await this.#goOn(this.#open, text);
    else if (withoutReturn(text) === '') return;
    else if (!text.includes('"'))
      await this.#good(number, withoutReturn(text).split(this.#given.separator), text.length);
    else if (isEven(text) && text.length <= piece) {
      this.#together.push({ number, text, problem });
      if (this.#together.length >= together) await this.#parseTogether();
    } else await this.#begin(number, text);
  }

  async #begin(number: number, text: string): Promise<void> {
    const read = await this.#parsed(Buffer.from(withoutReturn(text)));
    await this.#slices.breathe();
    if (!(read instanceof CsvError)) await this.#good(number, read, text.length);
    else if (read.code !== 'CSV_QUOTE_NOT_CLOSED') await this.#bad(number, wordingOf(read));
    else {
      await this.#parseTogether();
      this.#open = new HeldLines(number, text);
    }
  }

  async #goOn(open: HeldLines, text: string): Promise<void> {
    open.add(text);
    if (open.size > maxLineBytes) {
      await this.#giveUp(open);
      return;
    }
    if (isEven(text)) await this.#probe(open, text);
    else await this.#close(open);
  }

  /** After an even number of quotation marks the record is open again, if they are valid. */
  async #probe(open: HeldLines, text: string): Promise<void> {
    if (!text.replaceAll('""', '').includes('"')) return;
    const read = await this.#parsed(Buffer.from(`"${withoutReturn(text)}`));
    if (!(read instanceof CsvError)) await this.#close(open);
    else if (read.code !== 'CSV_QUOTE_NOT_CLOSED') await this.#passOver(open, wordingOf(read));
    await this.#slices.breathe();
  }

  async #close(open: HeldLines): Promise<void> {
    const read = await this.#parsed(open.bytes());
    if (read instanceof CsvError) await this.#passOver(open, wordingOf(read));
    else {
      this.#open = null;
      await this.#good(open.first, read, open.size);
    }
    await this.#slices.breathe();
  }

  /** Ends the open record; none of its lines is read again. */
  async #passOver({ first, last }: HeldLines, problem: string): Promise<void> {
    this.#open = null;
    await this.#bad(first, first === last ? problem : `${problem} (lines ${first} to ${last} are skipped)`);
  }

  /** Ends the open record with its first line. */
  async #giveUp(open: HeldLines): Promise<void> {
    this.#open = null;
    this.#again = open;
    await this.#bad(open.first, `${neverClosed}: the lines after it are read without it`);
  }

  async #good(line: number, fields: readonly string[], size: number): Promise<void> {
    await this.#parseTogether();
    this.#push(line, fields, size);
  }

  #push(line: number, fields: readonly string[], size: number): void {
    const { predicate, scope } = this.#given;
    const args = predicate === null ? fields.slice(1) : fields;
    const parts = { predicate: predicate ?? fields[0] ?? '', args, truthVal: true };
    this.#items.addFact(line, size, parts, scope);
  }

  async #bad(line: number, problem: string): Promise<void> {
    await this.#parseTogether();
    this.#items.push(problemItem(line, problem));
  }

  async #parseTogether(): Promise<void> {
    const lines = this.#together;
    if (lines.length === 0) return;
    this.#together = [];
    const texts = lines.map(({ text }) => withoutReturn(text));
    const records = parsedNow(texts.join('\n'), this.#options);
    const isRight = !(records instanceof CsvError) && records.length === lines.length;
    for (const [at, { number, text }] of lines.entries()) {
      const fields = isRight ? records[at] : firstOf(parsedNow(texts[at] ?? '', this.#options));
      if (fields instanceof CsvError) await this.#bad(number, wordingOf(fields));
      else await this.#good(number, fields ?? [], text.length);
      if (!isRight) await this.#slices.breathe();
    }
  }

  /** The fields of one record, or what is wrong with it. */
  async #parsed(bytes: Buffer): Promise<string[] | CsvError> {
    if (bytes.length <= piece) return firstOf(parsedNow(bytes, this.#options)) ?? [];
    const parser = new Parser(this.#options);
    let read: string[] | CsvError = [];
    parser.on('data', (fields: string[]) => {
      read = fields;
    });
    const ended = new Promise<void>((resolve, reject) => {
      parser.on('end', resolve);
      parser.on('error', (error) => {
        if (!(error instanceof CsvError)) reject(error);
        else {
          read = error;
          resolve();
        }
      });
    });
    for (let at = 0; at < bytes.length && !parser.destroyed; at += piece) {
      parser.write(bytes.subarray(at, at + piece));
      await this.#slices.breathe();
    }
    parser.end();
    await ended;
    return read;
  }
}

/** Consecutive lines, as bytes: there may be very many short ones. */
class HeldLines {
  readonly first: number;
  last: number;
  /** In characters. */
  size = 0;
  readonly #parts: Buffer[] = [];
  #newest: string[] = [];

  constructor(first: number, text: string) {
    this.first = first;
    this.last = first - 1;
    this.add(text);
  }

  add(text: string): void {
    this.last++;
    this.size += text.length + 1;
    this.#newest.push(text);
    if (this.#newest.length === together) this.#pack();
  }

  /** Without the last line break. */
  bytes(): Buffer {
    this.#pack();
    const bytes = Buffer.concat(this.#parts);
    const length = bytes.length - 1;
    return bytes.subarray(0, bytes[length - 1] === 0x0d ? length - 1 : length);
  }

  *afterFirst(): Generator<ReadableLine> {
    this.#pack();
    let number = this.first;
    for (const part of this.#parts)
      for (const text of part.toString('utf8', 0, part.length - 1).split('\n')) {
        if (number > this.first) yield { number, text, problem: null };
        number++;
      }
  }

  #pack(): void {
    if (this.#newest.length > 0) this.#parts.push(Buffer.from(`${this.#newest.join('\n')}\n`));
    this.#newest = [];
  }
}

/** Without the CR of its line break. */
function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** Whether the text has an even number of quotation marks. */
function isEven(text: string): boolean {
  let even = true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) even = !even;
  return even;
}

function parsedNow(text: string | Buffer, options: Options): string[][] | CsvError {
  try {
    return parse(text, options);
  } catch (error) {
    if (error instanceof CsvError) return error;
    throw error;
  }
}

function firstOf(records: string[][] | CsvError): string[] | CsvError | undefined {
  return records instanceof CsvError ? records : records[0];
}

function wordingOf({ code }: CsvError): string {
  switch (code) {
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'after a closing quotation mark the field ends; within it a quotation mark is doubled';
    case 'INVALID_OPENING_QUOTE':
      return 'a field that contains a quotation mark must be in quotation marks';
    case 'CSV_QUOTE_NOT_CLOSED':
      return neverClosed;
    default:
      return 'the record cannot be read';
  }
}
