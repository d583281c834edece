import type { Buffer } from 'node:buffer';
import type { FactBlockBuilder } from '../../engine/index.ts';
import { plainInstant } from '../../engine/contract/facts.ts';
import { maxTime } from '../../engine/contract/fields.ts';
import { NamedTerms } from '../../engine/contract/language.ts';
import type { ImportedFact } from '../../engine/contract/transfer.ts';
import { MetadataTexts } from './metadata-texts.ts';

/**
 * Lines of NDJSON that differ from one read before in nothing but their constants, times and metadata.
 *
 * A file of facts repeats the rest on every line: the names of the fields, the predicate, the scope. So the first line of a
 * kind is parsed and validated, and later ones are compared with it, byte by byte; what is between are strings without
 * escapes, whole numbers and objects of metadata, which need no parser or a small one. Any other line is none of these.
 */
export class FactTemplates {
  readonly #templates: Template[] = [];
  /** The index of the one that the last line was like. */
  #last = 0;
  /** Begin and end of each argument of the line that was compared last. */
  readonly #found = new Int32Array(2 * maxTemplateArguments);
  /** Of the line that was compared last: the values of its times, as the builder takes them. */
  readonly #times = { ttl: 0, validFrom: 0, validUntil: 0 };
  /** Begin and end of its metadata. */
  #metadata = { start: 0, end: 0 };
  readonly #metadataTexts = new MetadataTexts();

  /**
   * Adds the fact of the line, these bytes without its LF, if it is like one learned before. The bytes must be well-formed
   * UTF-8. False: it is like none.
   */
  take(line: Buffer, start: number, end: number, into: FactBlockBuilder): boolean {
    const templates = this.#templates;
    for (let tries = 0, at = this.#last; tries < templates.length; tries++, at++) {
      if (at >= templates.length) at = 0;
      const template = templates[at] as Template;
      if (!this.#isLike(template, line, start, end)) continue;
      if (template.hasMetadata && !this.#metadataTexts.take(line, this.#metadata.start, this.#metadata.end))
        return false;
      this.#last = at;
      this.#add(template, line, into);
      return true;
    }
    return false;
  }

  #add(template: Template, line: Buffer, into: FactBlockBuilder): void {
    const { predicate, arity, truthVal, scope, holes } = template;
    into.begin(predicate, arity, truthVal, scope);
    const found = this.#found;
    for (let index = 0; index < 2 * arity; index += 2)
      into.addUtf8(line, found[index] as number, found[index + 1] as number);
    for (const hole of holes)
      if (hole === 'ttl') into.giveTtl(this.#times.ttl);
      else if (hole === 'validFrom') into.giveValidFrom(this.#times.validFrom);
      else if (hole === 'validUntil') into.giveValidUntil(this.#times.validUntil);
      else if (hole === 'metadata') {
        const { bytes, start, end } = this.#metadataTexts;
        into.giveMetadata(bytes, start, end);
      }
  }

  /** Learns the line of a fact, unless it names its arguments or has a condition. */
  learn(line: Buffer, fact: ImportedFact): void {
    const { predicate, args, truthVal, scope, ifGeneration } = fact;
    if (args instanceof NamedTerms || ifGeneration !== null || args.length > maxTemplateArguments) return;
    const parts = partsOf(line);
    if (parts === null) return;
    const holes = parts.holes;
    const hasMetadata = holes.includes('metadata');
    // A copy: the line is a part of a large buffer.
    const literals = parts.literals.map((literal) => Uint8Array.from(literal));
    const template = { literals, holes, predicate, arity: args.length, truthVal, scope, hasMetadata };
    if (!this.#isLike(template, line, 0, line.length)) return;
    if (this.#templates.length === maxTemplates) this.#templates.shift();
    this.#last = this.#templates.push(template) - 1;
  }

  /** True if the line is like the template; notes what is in its holes. */
  #isLike({ literals, holes, arity }: Template, line: Buffer, start: number, end: number): boolean {
    let at = start;
    for (let part = 0; part < literals.length; part++) {
      const literal = literals[part] as Uint8Array;
      const { length } = literal;
      if (end - at < length) return false;
      for (let index = length - 1; index >= 0; index--) if (line[at + index] !== literal[index]) return false;
      at += length;
      const hole = holes[part];
      if (hole === undefined) break;
      at = hole === 'args' ? this.#readArguments(line, at, arity) : this.#readHole(hole, line, at, end);
      if (at < 0) return false;
    }
    return at === end;
  }

  /** The end of the arguments that begin here; -1: they are not what a template takes. */
  #readArguments(line: Buffer, start: number, arity: number): number {
    const found = this.#found;
    let at = start;
    for (let index = 0; index < 2 * arity; index += 2) {
      if (index > 0) {
        if (line[at++] !== comma) return -1;
        if (line[at] === space) at++;
      }
      if (line[at++] !== quotationMark || line[at] === questionMark) return -1;
      found[index] = at;
      at = endOfText(line, at);
      if (at < 0 || at - (found[index] as number) > maxTemplateBytes) return -1;
      found[index + 1] = at++;
    }
    return at;
  }

  #readHole(hole: Exclude<Hole, 'args'>, line: Buffer, start: number, end: number): number {
    if (hole === 'metadata') {
      const after = endOfObject(line, start, end);
      this.#metadata = { start, end: after };
      return after;
    }
    if (line[start] !== quotationMark) {
      const after = endOfWhole(line, start);
      if (after < 0) return -1;
      const value = wholeAt(line, start, after);
      if (value > maxTime || value < (hole === 'ttl' ? 1 : -maxTime)) return -1;
      this.#times[hole] = value;
      return after;
    }
    if (hole === 'ttl') return -1;
    const stop = endOfText(line, start + 1);
    const time = stop < 0 ? null : this.#timeOf(hole, line, start + 1, stop);
    if (time === null) return -1;
    this.#times[hole] = time;
    return stop + 1;
  }

  #timeOf(hole: 'validFrom' | 'validUntil', line: Buffer, start: number, end: number): number | null {
    const utc = utcTimeAt(line, start, end);
    if (!Number.isNaN(utc)) return utc;
    const isFrom = hole === 'validFrom';
    const time = plainInstant(line.toString('latin1', start, end), isFrom ? 'always' : 'never');
    if (typeof time === 'string') return isFrom ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return time ?? null;
  }
}

/** What is between the arguments, times and metadata of a line, if these can be told from the rest; else null. */
function partsOf(line: Buffer): { readonly literals: Uint8Array[]; readonly holes: Hole[] } | null {
  const [literals, holes]: [Uint8Array[], Hole[]] = [[], []];
  const names = new Set<string>();
  let from = 0;
  let at = afterSpace(line, 0);
  if (line[at++] !== brace) return null;
  for (;;) {
    at = afterSpace(line, at);
    const end = line[at] === quotationMark ? endOfText(line, at + 1) : -1;
    if (end < 0) return null;
    const name = line.toString('utf8', at + 1, end);
    // The last one of two counts.
    if (names.has(name)) return null;
    names.add(name);
    at = afterSpace(line, end + 1);
    if (line[at++] !== colon) return null;
    at = afterSpace(line, at);
    const after = endOfValue(line, at);
    if (after < 0) return null;
    if (name === 'args') {
      literals.push(line.subarray(from, at + 1));
      holes.push(name);
      from = after - 1;
    } else if (isHole(name) && line[at] !== startOfNull) {
      literals.push(line.subarray(from, at));
      holes.push(name);
      from = after;
    }
    at = afterSpace(line, after);
    if (line[at] === closingBrace) break;
    if (line[at++] !== comma) return null;
  }
  literals.push(line.subarray(from));
  return holes.includes('args') ? { literals, holes } : null;
}

function isHole(name: string): name is Hole {
  return name === 'ttl' || name === 'validFrom' || name === 'validUntil' || name === 'metadata';
}

function afterSpace(line: Buffer, start: number): number {
  let at = start;
  while (line[at] === space || line[at] === tabulator || line[at] === carriageReturn) at++;
  return at;
}

/** The end of a value of valid JSON; -1: a text with an escape. */
function endOfValue(line: Buffer, start: number): number {
  const first = line[start];
  if (first === quotationMark) {
    const end = endOfText(line, start + 1);
    return end < 0 ? -1 : end + 1;
  }
  if (first === brace || first === bracket) return endOfObject(line, start, line.length);
  let at = start;
  for (let byte = line[at]; byte !== comma && byte !== closingBrace && byte !== space; byte = line[++at])
    if (byte === undefined) return -1;
  return at;
}

/** The place of the quotation mark that ends a text without escapes and control characters; -1: it is no such text. */
function endOfText(line: Buffer, start: number): number {
  let at = start;
  for (let byte = line[at]; byte !== quotationMark; byte = line[++at])
    if (byte === undefined || byte < 0x20 || byte === backslash) return -1;
  return at;
}

/** The end of an object or list, if it is well-formed, that begins here; -1: there is none, or it nests too deep. */
function endOfObject(line: Buffer, start: number, end: number): number {
  if (line[start] !== brace && line[start] !== bracket) return -1;
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = line[at];
    if (byte === quotationMark) {
      for (at++; at < end && line[at] !== quotationMark; at++) if (line[at] === backslash) at++;
    } else if (byte === brace || byte === bracket) {
      if (++depth > maxTemplateDepth) return -1;
    } else if ((byte === closingBrace || byte === closingBracket) && --depth === 0) return at + 1;
  }
  return -1;
}

/** The end of a whole number, as JSON writes it, of up to 16 digits; -1: it is none. */
function endOfWhole(line: Buffer, start: number): number {
  const first = line[start] === minus ? start + 1 : start;
  let at = first;
  while (isDigit(line[at])) at++;
  const digits = at - first;
  if (digits === 0 || digits > 16) return -1;
  // No number begins with a zero, and -0 is none of those that a template takes.
  return line[first] === zero && (digits > 1 || first > start) ? -1 : at;
}

/** The whole number of these bytes: exact up to 2^53. */
function wholeAt(line: Buffer, start: number, end: number): number {
  const isNegative = line[start] === minus;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++)
    value = value * 10 + (line[at] as number) - zero;
  return isNegative ? -value : value;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= zero + 9;
}

/** The time of a text such as `2024-05-06T07:08:09Z`, perhaps with milliseconds; NaN: it is none. */
function utcTimeAt(line: Buffer, start: number, end: number): number {
  const length = end - start;
  const hasMilliseconds = length === 24 && line[start + 19] === dot;
  if ((length !== 20 && !hasMilliseconds) || line[end - 1] !== upperZ) return Number.NaN;
  const isWritten =
    line[start + 4] === minus &&
    line[start + 7] === minus &&
    line[start + 10] === upperT &&
    line[start + 13] === colon &&
    line[start + 16] === colon;
  if (!isWritten) return Number.NaN;
  const year = digitsAt(line, start, 4);
  const month = digitsAt(line, start + 5, 2);
  const day = digitsAt(line, start + 8, 2);
  const hour = digitsAt(line, start + 11, 2);
  const minute = digitsAt(line, start + 14, 2);
  const second = digitsAt(line, start + 17, 2);
  const millisecond = hasMilliseconds ? digitsAt(line, start + 20, 3) : 0;
  // Other years, and days that not every month has, are left to the parser.
  const isUsual = year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28;
  if (!isUsual || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
    return Number.NaN;
  return millisecond < 0 ? Number.NaN : Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
}

/** The number of so many digits; -1: they are not all digits. */
function digitsAt(line: Buffer, start: number, count: number): number {
  let value = 0;
  for (let at = start; at < start + count; at++) {
    if (!isDigit(line[at])) return -1;
    value = value * 10 + (line[at] as number) - zero;
  }
  return value;
}

/** What lines of one kind differ in. */
type Hole = 'args' | 'ttl' | 'validFrom' | 'validUntil' | 'metadata';

/** A line without what is in its holes. */
interface Template {
  /** What is before each hole, and after the last. */
  readonly literals: readonly Uint8Array[];
  readonly holes: readonly Hole[];
  readonly hasMetadata: boolean;
  readonly predicate: string;
  readonly arity: number;
  readonly truthVal: boolean;
  readonly scope: string | null;
}

const maxTemplates = 8;
const maxTemplateArguments = 16;
/** Longer constants are left to the validation, which knows their limit. */
const maxTemplateBytes = 4096;
/** Less than what a line may nest. */
const maxTemplateDepth = 32;

const tabulator = 0x09;
const carriageReturn = 0x0d;
const space = 0x20;
const quotationMark = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const questionMark = 0x3f;
const upperT = 0x54;
const upperZ = 0x5a;
const bracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const startOfNull = 0x6e;
const brace = 0x7b;
const closingBrace = 0x7d;
