/**
 * Items read from a file: facts, rules and constraints, each with its first line, and problems of lines.
 *
 * Facts are validated here as `/assert/fact` does, whatever the format; rules and constraints when they are added.
 */
import {
  constantProblem,
  isBuiltinName,
  maxArguments,
  NamedTerms,
  predicateProblem,
} from '../../engine/contract/language.ts';
import type { ConstraintInput } from '../../engine/contract/constraints.ts';
import type { AliasInput } from '../../engine/contract/entities.ts';
import type { RuleInput } from '../../engine/contract/rules.ts';
import type { ImportedDeclaration, ImportedFact } from '../../engine/contract/transfer.ts';
import { Buffer, isUtf8 } from 'node:buffer';

export interface ImportItem {
  /** Counts from 1. */
  readonly line: number;
  /** Approximate number of characters. */
  readonly size: number;
  readonly what:
    | { readonly kind: 'fact'; readonly fact: ImportedFact }
    | { readonly kind: 'rule'; readonly rule: RuleInput }
    /** `isBare`: the text has neither name nor mode. */
    | { readonly kind: 'constraint'; readonly constraint: ConstraintInput; readonly isBare: boolean }
    | { readonly kind: 'alias'; readonly alias: AliasInput }
    /** `isBare`: the names of arguments alone were given, which change no declaration that has them. */
    | { readonly kind: 'declaration'; readonly declaration: ImportedDeclaration; readonly isBare?: boolean }
    /** Something that was read and has no counterpart. */
    | { readonly kind: 'leftOut'; readonly message: string }
    | { readonly kind: 'problem'; readonly message: string };
}

/** Items in chunks, in the order of the file. */
export type ImportItems = AsyncIterable<readonly ImportItem[]>;

/** The item of a line that cannot be read. */
export function problemItem(line: number, message: string): ImportItem {
  return { line, size: message.length, what: { kind: 'problem', message } };
}

/** The item of a fact with only these parts, in the scope; an invalid one is a problem. */
export function factItem(
  line: number,
  size: number,
  parts: { readonly predicate: string; readonly args: readonly string[]; readonly truthVal: boolean },
  scope: string | null,
): ImportItem {
  const problem = problemOf(parts.predicate, parts.args);
  if (problem !== null) return problemItem(line, problem);
  return { line, size, what: { kind: 'fact', fact: bareFact(parts, scope) } };
}

function bareFact(
  parts: { readonly predicate: string; readonly args: readonly string[]; readonly truthVal: boolean },
  scope: string | null,
): ImportedFact {
  return {
    predicate: parts.predicate,
    // A copy of arguments by name would be without names.
    args: parts.args instanceof NamedTerms ? parts.args : parts.args.slice(),
    truthVal: parts.truthVal,
    scope,
    unscoped: false,
    ttl: null,
    validFrom: null,
    validUntil: null,
    metadata: null,
    ifGeneration: null,
  };
}

function problemOf(predicate: string, args: readonly string[]): string | null {
  if (!isPredicate(predicate)) {
    const why = predicateProblem(predicate) ?? 'a fact cannot have the name of a built-in as predicate';
    return `predicate: ${why}`;
  }
  if (args.length > maxArguments) return `args: at most ${maxArguments} arguments`;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg.startsWith('?')) return `args.${at}: a fact must be ground: a constant cannot start with ?`;
    const problem = constantProblem(arg);
    if (problem !== null) return `args.${at}: ${problem}`;
  }
  return null;
}

/** Names already validated: a file has few predicates and many lines. */
const goodPredicates = new Set<string>();
const maxKnown = 10_000;

/** Whether the name is a legal predicate of a fact. */
function isPredicate(name: string): boolean {
  if (goodPredicates.has(name)) return true;
  if (predicateProblem(name) !== null || isBuiltinName(name)) return false;
  if (goodPredicates.size === maxKnown) goodPredicates.clear();
  goodPredicates.add(name);
  return true;
}

export interface Line {
  readonly number: number;
  /** Without its LF; null if it cannot be read. */
  readonly text: string | null;
  /** Why it cannot be read. */
  readonly problem: string | null;
}

export const maxLineBytes = 10_000_000;

const newline = 0x0a;
const tooLong = `the line is longer than ${maxLineBytes} bytes`;

/**
 * Splits a stream of bytes into lines of text, numbered from 1: those that each chunk completes, in order. The last may
 * lack its LF.
 *
 * Holds at most one line, and none that is too long: a line that is too long or not UTF-8 is a problem of that line
 * alone. A line ends at LF; a CR before it stays, since it may be in a quoted text. A byte order mark at the start is
 * skipped.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    const lines = splitter.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

class LineSplitter {
  #number = 0;
  /** The beginning of an incomplete line. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** True within a line that is too long, which is not held. */
  #isSkipping = false;

  take(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let rest = chunk;
    if (this.#isSkipping) {
      const end = rest.indexOf(newline);
      if (end < 0) return lines;
      this.#isSkipping = false;
      lines.push(this.#bad(tooLong));
      rest = rest.subarray(end + 1);
    }
    const last = rest.lastIndexOf(newline);
    if (last >= 0) {
      this.#read(this.#withHeld(rest.subarray(0, last)), lines);
      rest = rest.subarray(last + 1);
    }
    this.#hold(rest);
    return lines;
  }

  end(): Line[] {
    if (this.#isSkipping) return [this.#bad(tooLong)];
    const lines: Line[] = [];
    if (this.#heldBytes > 0) this.#read(this.#withHeld(Buffer.alloc(0)), lines);
    return lines;
  }

  #withHeld(end: Buffer): Buffer {
    if (this.#heldBytes === 0) return end;
    const whole = Buffer.concat([...this.#held, end]);
    this.#held = [];
    this.#heldBytes = 0;
    return whole;
  }

  #hold(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#held.push(rest);
    this.#heldBytes += rest.length;
    if (this.#heldBytes <= maxLineBytes) return;
    this.#isSkipping = true;
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** Reads whole lines; the last has no LF. */
  #read(bytes: Buffer, lines: Line[]): void {
    if (isUtf8(bytes)) {
      for (const text of bytes.toString('utf8').split('\n')) lines.push(this.#good(text));
      return;
    }
    for (let start = 0; start <= bytes.length; ) {
      const next = bytes.indexOf(newline, start);
      const end = next < 0 ? bytes.length : next;
      const line = bytes.subarray(start, end);
      lines.push(isUtf8(line) ? this.#good(line.toString('utf8')) : this.#bad('the line is not valid UTF-8'));
      start = end + 1;
    }
  }

  #good(read: string): Line {
    // A UTF-16 code unit takes at most three bytes.
    if (read.length * 3 > maxLineBytes && Buffer.byteLength(read) > maxLineBytes) return this.#bad(tooLong);
    const number = ++this.#number;
    const text = number === 1 && read.startsWith('\uFEFF') ? read.slice(1) : read;
    return { number, text, problem: null };
  }

  #bad(problem: string): Line {
    return { number: ++this.#number, text: null, problem };
  }
}
