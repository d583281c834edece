/**
 * Converts a table with mapped columns to the uploaded file, in chunks.
 *
 * Every fact keeps its line number: skipped lines (header, unmappable rows) become blank lines, so that line numbers
 * in the service's messages match the chosen file. Bytes that are not UTF-8 fail their own line. Holds at most a
 * chunk, a line and a record.
 */
import { type DelimitedRecord, RecordReader } from '../../api/delimited.ts';
import { writtenField } from '../../api/delimited-writing.ts';
import { type Mapping, mappedRecord } from './mapping.ts';

/** A row that failed. */
export interface RowFailure {
  readonly line: number;
  readonly message: string;
}

/** Result of the conversion. */
export interface Transformed {
  readonly rows: number;
  readonly failed: number;
  /** The first failures, as many as the service would list. */
  readonly failures: readonly RowFailure[];
}

const maxFailures = 1000;
const longestLine = 10_000_000;
const newline = 0x0a;

/** The complete lines of the bytes, null for invalid UTF-8; text after the last LF is not included. */
function linesOf(bytes: Uint8Array): (string | null)[] {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).split('\n');
  } catch {
    // Some line is invalid: decode each separately.
  }
  const lines: (string | null)[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const next = bytes.indexOf(newline, start);
    const end = next < 0 ? bytes.length : next;
    lines.push(lineOf(bytes.subarray(start, end)));
    start = end + 1;
  }
  return lines;
}

function lineOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Invalid UTF-8: its record fails.
    return null;
  }
}

/** Takes a file in chunks and returns the text to send. */
export class TableTransformer {
  readonly #mapping: Mapping;
  readonly #written: ',' | '\t';
  readonly #reader: RecordReader;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isFirstLine = true;
  /** Number of header columns; null before it is read, or without one. */
  #width: number | null = null;
  #isHeaderWanted: boolean;
  /** Number of the next output line, from 1. */
  #next = 1;
  #rows = 0;
  #failed = 0;
  readonly #failures: RowFailure[] = [];

  constructor(mapping: Mapping, written: ',' | '\t') {
    this.#mapping = mapping;
    this.#written = written;
    this.#reader = new RecordReader(mapping.separator);
    this.#isHeaderWanted = mapping.hasHeader;
  }

  push(piece: Uint8Array): string {
    const last = piece.lastIndexOf(newline);
    if (last < 0) {
      this.#hold(piece);
      return '';
    }
    const whole = this.#withHeld(piece.subarray(0, last));
    this.#hold(piece.slice(last + 1));
    return this.#lines(linesOf(whole));
  }

  end(): { readonly text: string; readonly outcome: Transformed } {
    let text = this.#heldBytes === 0 ? '' : this.#lines(linesOf(this.#withHeld(new Uint8Array())));
    const open = this.#reader.end();
    if (open !== null) text += this.#record(open);
    return { text, outcome: { rows: this.#rows, failed: this.#failed, failures: this.#failures } };
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > longestLine)
      throw new RangeError(`a line of this file is longer than ${longestLine} bytes: is it a table?`);
  }

  #withHeld(end: Uint8Array): Uint8Array {
    if (this.#heldBytes === 0) return end;
    const whole = new Uint8Array(this.#heldBytes + end.length);
    let at = 0;
    for (const part of [...this.#held, end]) {
      whole.set(part, at);
      at += part.length;
    }
    this.#held = [];
    this.#heldBytes = 0;
    return whole;
  }

  #lines(lines: readonly (string | null)[]): string {
    const parts: string[] = [];
    for (const line of lines) {
      const record = this.#reader.take(
        this.#isFirstLine && line !== null ? line.replace(/^\uFEFF/, '') : line,
      );
      this.#isFirstLine = false;
      if (record !== null) parts.push(this.#record(record));
    }
    return parts.join('');
  }

  #record(record: DelimitedRecord): string {
    if (this.#isHeaderWanted) {
      this.#isHeaderWanted = false;
      if (record.problem === null) this.#width = record.fields.length;
      else this.#fail(record.line, record.problem);
      return '';
    }
    this.#rows += 1;
    const mapped = mappedRecord(record, this.#mapping, this.#width);
    if (mapped.kind === 'problem') {
      this.#fail(record.line, mapped.problem);
      return '';
    }
    const text = mapped.fields.map((field) => writtenField(field, this.#written)).join(this.#written);
    const blank = '\n'.repeat(Math.max(0, record.line - this.#next));
    // A single empty field would be a blank line, which is not a fact.
    const row = text === '' ? '""' : text;
    this.#next = record.line + 1 + newlinesIn(row);
    return `${blank}${row}\n`;
  }

  #fail(line: number, message: string): void {
    this.#failed += 1;
    if (this.#failures.length < maxFailures) this.#failures.push({ line, message });
  }
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
