/**
 * Records of CSV and similar formats after RFC 4180, parsed line by line.
 *
 * Same reading as the service's: a record ends at a line break outside quotation marks, blank lines are skipped, an
 * error concerns the line in which the record begins. Here any single character may be the separator.
 */
import { writtenField } from './delimited-writing.ts';

export interface DelimitedRecord {
  /** Line in which it begins, from 1. */
  readonly line: number;
  /** Number of lines it spans. */
  readonly lines: number;
  readonly fields: readonly string[];
  /** Its error; null if it has none. */
  readonly problem: string | null;
}

const longestRecord = 10_000_000;

/** Clipboard text of spreadsheets quotes a field only if necessary and leaves other quotation marks alone. */
type Quotes = 'strict' | 'lenient';

/** Parses records, holding at most one. `lenient` reads a quotation mark that RFC 4180 rejects as itself. */
export class RecordReader {
  readonly #separator: string;
  readonly #quotes: Quotes;
  #line = 0;
  #first = 0;
  #size = 0;
  #fields: string[] = [];
  /** Parts of a quoted field that continues on the next line; null if none does. */
  #quoted: string[] | null = null;

  constructor(separator: string, quotes: Quotes = 'strict') {
    this.#separator = separator;
    this.#quotes = quotes;
  }

  /**
   * Takes the next line, without its LF, and returns the record it completes. `null` stands for a line that is not
   * text.
   */
  take(text: string | null): DelimitedRecord | null {
    this.#line += 1;
    const isOpen = this.#quoted !== null;
    if (!isOpen) {
      if (text === '' || text === '\r') return null;
      this.#first = this.#line;
      this.#size = 0;
    }
    if (text === null) return this.#ended('the line is not valid UTF-8');
    this.#size += text.length + 1;
    if (this.#size > longestRecord) return this.#ended('the record is too long');
    const found = this.#read(text);
    return found === 'open' ? null : this.#ended(found);
  }

  /** Returns the unterminated record at the end of the text; null if there is none. */
  end(): DelimitedRecord | null {
    return this.#quoted === null ? null : this.#ended('the quotation mark of this record is never closed');
  }

  #ended(problem: string | null): DelimitedRecord {
    const record = {
      line: this.#first,
      lines: this.#line - this.#first + 1,
      fields: this.#fields,
      problem,
    };
    this.#fields = [];
    this.#quoted = null;
    return record;
  }

  /** Parses a line of a record; returns 'open' if it continues on the next line, else its error or null. */
  #read(text: string): string | null {
    const separator = this.#separator;
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    if (this.#quoted === null && !text.includes('"')) {
      this.#fields = text.slice(0, end).split(separator);
      return null;
    }
    for (let at = 0; ; at += 1) {
      if (this.#quoted !== null || text[at] === '"') {
        const begin = this.#quoted === null ? at : null;
        const after = this.#readQuoted(text, begin === null ? at : begin + 1);
        if (after === null) return 'open';
        at = after;
        if (at < end && text[at] !== separator) {
          if (begin === null || this.#quotes === 'strict')
            return 'after a closing quotation mark the field ends; within it a quotation mark is doubled';
          const next = text.indexOf(separator, at);
          at = next < 0 || next > end ? end : next;
          this.#fields.splice(-1, 1, text.slice(begin, at));
        }
      } else {
        const next = text.indexOf(separator, at);
        const stop = next < 0 || next > end ? end : next;
        const field = text.slice(at, stop);
        if (field.includes('"') && this.#quotes === 'strict')
          return 'a field that contains a quotation mark must be in quotation marks';
        this.#fields.push(field);
        at = stop;
      }
      if (at >= end) return null;
    }
  }

  /** The index after a quoted field; null if it continues on the next line. */
  #readQuoted(text: string, from: number): number | null {
    const parts = (this.#quoted ??= []);
    for (let at = from; ; ) {
      const quote = text.indexOf('"', at);
      if (quote < 0) {
        parts.push(text.slice(at), '\n');
        return null;
      }
      parts.push(text.slice(at, quote));
      if (text[quote + 1] !== '"') {
        this.#fields.push(parts.join(''));
        this.#quoted = null;
        return quote + 1;
      }
      parts.push('"');
      at = quote + 2;
    }
  }
}

/** Separators that are detected. */
export const separators = [',', ';', '\t', '|'] as const;
/** A separator. */
export type Separator = (typeof separators)[number];

/** Returns all records of a text. */
export function delimitedRecordsOf(
  text: string,
  separator: string,
  quotes: Quotes = 'strict',
): DelimitedRecord[] {
  const reader = new RecordReader(separator, quotes);
  const found = text.split('\n').map((line) => reader.take(line));
  return [...found, reader.end()].filter((record) => record !== null);
}

/**
 * Returns the separator that gives the first records the most fields, the same number in each; `usual` if there is
 * none.
 */
export function separatorOf(text: string, usual: Separator): Separator {
  const lines = text.split('\n').slice(0, 20).join('\n');
  const scored = separators.map((separator) => {
    const counts = delimitedRecordsOf(lines, separator)
      .filter(({ problem }) => problem === null)
      .map(({ fields }) => fields.length);
    const [width = 1] = counts;
    const alike = counts.filter((count) => count === width).length;
    return { separator, score: width < 2 ? 0 : (alike / counts.length) * 100 + Math.min(width, 50) };
  });
  const best = scored.reduce((one, other) => (other.score > one.score ? other : one));
  const ofUsual = scored.find(({ separator }) => separator === usual)?.score ?? 0;
  return ofUsual === best.score ? usual : best.separator;
}

/** Cells copied from a spreadsheet, as an importable file. */
export interface PastedTable {
  readonly text: string;
  readonly kind: 'tsv' | 'csv';
  readonly rows: number;
  readonly columns: number;
}

const looksStated = /^\s*-?[^\s"(,;]+\([^)]*\)?[^\t]*$/;

/**
 * Returns the table in a pasted text; null if it does not look like one. Spreadsheets separate cells by tabs; text
 * without tabs is a table if each of several lines has the same number of fields. Every row keeps its line, and an
 * unreadable row is kept as it is, so that the import reports it.
 */
export function pastedTable(text: string): PastedTable | null {
  const first = text.split('\n').find((line) => line.trim() !== '') ?? '';
  if (looksStated.test(first)) return null;
  if (first.trimEnd().includes('\t')) {
    const records = delimitedRecordsOf(text, '\t', 'lenient');
    return { text: writtenTable(text, records), kind: 'tsv', ...sizeOf(records) };
  }
  const records = delimitedRecordsOf(text, separatorOf(text, ','));
  const size = sizeOf(records);
  const isEven = records.every(({ problem, fields }) => problem === null && fields.length === size.columns);
  return isEven && records.length > 1 && size.columns > 1 ? { text, kind: 'csv', ...size } : null;
}

function sizeOf(records: readonly DelimitedRecord[]): { rows: number; columns: number } {
  const columns = records.reduce((most, { fields }) => Math.max(most, fields.length), 0);
  return { rows: records.length, columns };
}

/** The records as RFC 4180 writes them, each on its own line. */
function writtenTable(text: string, records: readonly DelimitedRecord[]): string {
  const given = text.split('\n');
  const lines: string[] = [];
  for (const { line, lines: count, fields, problem } of records) {
    while (lines.length < line - 1) lines.push('');
    const written = fields.map((field) => writtenField(field, '\t')).join('\t');
    lines.push(...(problem === null ? written.split('\n') : given.slice(line - 1, line - 1 + count)));
  }
  return lines.join('\n');
}
