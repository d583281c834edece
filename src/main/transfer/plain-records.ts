import type { Buffer } from 'node:buffer';
import { maxArguments } from '../../engine/contract/language.ts';
import type { FactBlockBuilder } from '../../engine/index.ts';
import { isPredicate } from './items.ts';

/**
 * Records of CSV or TSV without quotation marks, put into columns as the bytes that they are.
 *
 * It takes only records that are valid facts. Any other line is left to the reader that knows what is wrong with it.
 */
export class PlainRecords {
  readonly #separator: number;
  readonly #scope: string | null;
  /** Of every record; null: its first field. */
  readonly #given: string | null;
  /** Begin and end of each field of the line. */
  readonly #fields = new Int32Array(2 * (maxArguments + 1));
  /** The predicate of the last record, and its bytes. */
  #predicate = '';
  #predicateBytes: Uint8Array = new Uint8Array(0);

  constructor({ separator, predicate, scope }: CsvForm) {
    this.#separator = separator.charCodeAt(0);
    this.#given = predicate;
    this.#scope = scope;
  }

  /**
   * Adds the fact of the line, these bytes of well-formed UTF-8 without its LF, if it is a plain record; a blank line has none.
   * False: it is neither. `into`: where a fact is added.
   */
  take(line: Buffer, start: number, end: number, into: () => FactBlockBuilder): boolean {
    const stop = end > start && line[end - 1] === carriageReturn ? end - 1 : end;
    if (stop === start) return true;
    const fields = this.#fields;
    const separator = this.#separator;
    let count = 0;
    fields[count++] = start;
    for (let at = start; at < stop; at++) {
      const byte = line[at];
      if (byte === quotationMark) return false;
      if (byte !== separator) continue;
      if (count + 3 > fields.length) return false;
      fields[count++] = at;
      fields[count++] = at + 1;
    }
    fields[count++] = stop;
    const predicate = this.#given ?? this.#predicateAt(line, start, fields[1] as number);
    const first = this.#given === null ? 2 : 0;
    const arity = (count - first) / 2;
    if (predicate === null || arity > maxArguments) return false;
    if (this.#given !== null && !isPredicate(predicate)) return false;
    for (let field = first; field < count; field += 2) {
      const from = fields[field] as number;
      const length = (fields[field + 1] as number) - from;
      if (length > maxPlainBytes || (length > 0 && line[from] === questionMark)) return false;
    }
    const block = into();
    block.begin(predicate, arity, true, this.#scope);
    for (let field = first; field < count; field += 2)
      block.addUtf8(line, fields[field] as number, fields[field + 1] as number);
    return true;
  }

  /** The predicate of these bytes; null: it is none. */
  #predicateAt(line: Buffer, start: number, end: number): string | null {
    const known = this.#predicateBytes;
    let isKnown = known.length === end - start;
    for (let at = 0; isKnown && at < known.length; at++) isKnown = known[at] === line[start + at];
    if (isKnown && known.length > 0) return this.#predicate;
    const name = line.toString('utf8', start, end);
    if (!isPredicate(name)) return null;
    this.#predicate = name;
    this.#predicateBytes = Uint8Array.from(line.subarray(start, end));
    return name;
  }
}

/** How the records of a file are read; see `CsvOptions`. */
interface CsvForm {
  readonly separator: string;
  readonly predicate: string | null;
  readonly scope: string | null;
}

/** Longer constants are left to the validation, which knows their limit. */
const maxPlainBytes = 4096;
const carriageReturn = 0x0d;
const quotationMark = 0x22;
const questionMark = 0x3f;
