/**
 * CSV and TSV after RFC 4180, without a header: each record is a fact.
 *
 * A record ends at a line break outside of quotation marks. What is wrong with a record is a problem of the line in
 * which it begins, and reading goes on with the next line. Blank lines are passed over.
 */
import { factItem, type Item, type Items, problemItem } from './items.ts';
import { type Line, maxLineBytes, readLines } from './lines.ts';

export interface CsvOptions {
  readonly separator: ',' | '\t';
  /** The predicate of every record; null: the first column. */
  readonly predicate: string | null;
  readonly scope: string | null;
}

export async function* readCsv(chunks: AsyncIterable<Uint8Array>, options: CsvOptions): Items {
  const reader = new RecordReader(options.separator);
  for await (const lines of readLines(chunks)) {
    const items: Item[] = [];
    for (const line of lines) for (const record of reader.take(line)) items.push(itemOf(record, options));
    yield items;
  }
  const last = reader.end();
  if (last !== null) yield [itemOf(last, options)];
}

function itemOf({ line, fields, problem, size }: CsvRecord, { predicate, scope }: CsvOptions): Item {
  if (problem !== null) return problemItem(line, problem);
  const [first = '', ...rest] = fields;
  const parts = predicate === null ? { predicate: first, args: rest } : { predicate, args: fields };
  return factItem(line, size, { ...parts, truthVal: true }, scope);
}

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  readonly problem: string | null;
  readonly size: number;
}

const whole = { isOpen: false, problem: null };

function bad(problem: string): { readonly isOpen: boolean; readonly problem: string } {
  return { isOpen: false, problem };
}

class RecordReader {
  readonly #separator: string;
  #line = 0;
  #size = 0;
  #fields: string[] = [];
  /** Parts of a field within quotation marks that goes on in the next line; null: none does. */
  #quoted: string[] | null = null;

  constructor(separator: string) {
    this.#separator = separator;
  }

  /** The records that the line completes: none or one, or, where an open one cannot go on, two. */
  take({ number, text, problem }: Line): CsvRecord[] {
    const isOpen = this.#quoted !== null;
    if (text === null) {
      const bad = this.#ended(number, problem);
      return isOpen ? [this.#ended(this.#line, 'a line of the record cannot be read'), bad] : [bad];
    }
    if (!isOpen) {
      if (text === '' || text === '\r') return [];
      this.#line = number;
      this.#size = 0;
    }
    this.#size += text.length + 1;
    if (this.#size > maxLineBytes) return [this.#ended(this.#line, 'the record is too long')];
    const { isOpen: goesOn, problem: found } = this.#read(text);
    return goesOn ? [] : [this.#ended(this.#line, found)];
  }

  /** The record that lacks its end; null: there is none. */
  end(): CsvRecord | null {
    return this.#quoted === null
      ? null
      : this.#ended(this.#line, 'the quotation mark of this record is never closed');
  }

  #ended(line: number, problem: string | null): CsvRecord {
    const record = { line, fields: this.#fields, problem, size: this.#size };
    this.#fields = [];
    this.#quoted = null;
    return record;
  }

  /** Reads a line of a record: whether the record goes on, and what is wrong with it; null: nothing is. */
  #read(text: string): { readonly isOpen: boolean; readonly problem: string | null } {
    const separator = this.#separator;
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    if (this.#quoted === null && !text.includes('"')) {
      this.#fields = (end === text.length ? text : text.slice(0, end)).split(separator);
      return whole;
    }
    let at = 0;
    for (;;) {
      if (this.#quoted !== null || text.charCodeAt(at) === 0x22) {
        const after = this.#readQuoted(text, this.#quoted === null ? at + 1 : at);
        if (after === null) return { isOpen: true, problem: null };
        at = after;
        if (at < end && text[at] !== separator)
          return bad('after a closing quotation mark the field ends; within it a quotation mark is doubled');
      } else {
        const next = text.indexOf(separator, at);
        const stop = next < 0 ? end : next;
        const field = text.slice(at, stop);
        if (field.includes('"')) return bad('a field with a quotation mark stands in quotation marks');
        this.#fields.push(field);
        at = stop;
      }
      if (at >= end) return whole;
      at++;
    }
  }

  /** Reads a quoted field from the place on; where it ends, null where it goes on in the next line. */
  #readQuoted(text: string, from: number): number | null {
    const parts = (this.#quoted ??= []);
    for (let at = from; ; ) {
      const quote = text.indexOf('"', at);
      if (quote < 0) {
        parts.push(text.slice(at), '\n');
        return null;
      }
      parts.push(text.slice(at, quote));
      if (text.charCodeAt(quote + 1) !== 0x22) {
        this.#fields.push(parts.join(''));
        this.#quoted = null;
        return quote + 1;
      }
      parts.push('"');
      at = quote + 2;
    }
  }
}
