/**
 * Items read from a file: facts, rules, constraints and tests, each with its first line, and problems of lines.
 *
 * Facts are validated here as `/assert/fact` does, whatever the format; rules, constraints and tests when they are added.
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
import type { ImportedDeclaration, ImportedFact, ImportedTest } from '../../engine/contract/transfer.ts';
import { type FactBlock, FactBlockBuilder } from '../../engine/index.ts';
import { Buffer, isUtf8 } from 'node:buffer';

export interface ImportItem {
  /** Counts from 1. */
  readonly line: number;
  /** Approximate number of characters. */
  readonly size: number;
  readonly what:
    | { readonly kind: 'fact'; readonly fact: ImportedFact }
    /** Many, each with its line; null: of as many consecutive lines. */
    | { readonly kind: 'facts'; readonly facts: FactBlock; readonly lines: Int32Array | null }
    /** `isDefault`: a rule that is there keeps its name, description and switch. */
    | { readonly kind: 'rule'; readonly rule: RuleInput; readonly isDefault?: boolean }
    /** `isBare`: the text has neither name nor mode. */
    | { readonly kind: 'constraint'; readonly constraint: ConstraintInput; readonly isBare: boolean }
    | { readonly kind: 'test'; readonly test: ImportedTest }
    | { readonly kind: 'alias'; readonly alias: AliasInput }
    /** `isBare`: the names of arguments alone were given, which change no declaration that has them. */
    | { readonly kind: 'declaration'; readonly declaration: ImportedDeclaration; readonly isBare?: boolean }
    /** Something that was read and has no counterpart. */
    | { readonly kind: 'leftOut'; readonly message: string }
    | { readonly kind: 'problem'; readonly message: string };
}

/** Items in chunks, in the order of the file. */
export type ImportItems = AsyncIterable<readonly ImportItem[]>;

/** What is stored in one write at most: facts, and characters of their lines. */
export const factsInBatch = 5000;
export const charactersInBatch = 4_000_000;
/** What a line has beside its constants, counted alike for all that come in columns. */
export const charactersAround = 32;

/**
 * The items of lines, of which those of facts that come in columns are put together: as many as a batch takes, so that it
 * can store them as they are.
 */
export class LineItems {
  #items: ImportItem[] = [];
  #facts: FactBlockBuilder | null = null;
  /** The line of the first of these facts. */
  #first = 0;
  /** The line of each of these facts; null: they are consecutive. */
  #lines: Int32Array | null = null;
  /** The last facts that were put together, if they were as many as a batch takes. */
  #last: FactBlock | null = null;

  /** How many `taken` gives, counting each fact. */
  length = 0;

  /** Where the fact of this line is added, if it comes in columns. */
  factsAt(line: number): FactBlockBuilder {
    if (this.#facts !== null && this.#isBatch(this.#facts)) this.#endFacts();
    this.#facts ??= FactBlockBuilder.like(this.#last);
    this.#noteLine(line, this.#facts.count);
    return this.#facts;
  }

  /** Adds a fact with only these parts, in the scope; an invalid one is a problem. */
  addFact(line: number, size: number, parts: FactParts, scope: string | null): void {
    const { predicate, args, truthVal } = parts;
    if (args instanceof NamedTerms || problemOf(predicate, args) !== null)
      this.push(factItem(line, size, parts, scope));
    else this.factsAt(line).addPlain(predicate, args, truthVal, scope);
  }

  /** Adds a fact of a line, in columns if it has neither named arguments nor a condition. */
  addInput(line: number, size: number, fact: ImportedFact): void {
    if (fact.args instanceof NamedTerms || fact.ifGeneration !== null)
      this.push({ line, size, what: { kind: 'fact', fact } });
    else addInColumns(this.factsAt(line), fact);
  }

  /** Notes the line of the next fact, which is the one with this index among those put together. */
  #noteLine(line: number, index: number): void {
    if (index === 0) {
      this.#first = line;
      this.#lines = null;
    }
    if (this.#lines === null && line !== this.#first + index)
      this.#lines = new Int32Array(factsInBatch).map((_, at) => this.#first + at);
    if (this.#lines !== null) this.#lines[index] = line;
  }

  #isBatch({ count, textBytes }: FactBlockBuilder): boolean {
    return count >= factsInBatch || textBytes + count * charactersAround >= charactersInBatch;
  }

  /** Adds the item of a line; null: it has none. */
  push(item: ImportItem | null): void {
    this.#endFacts();
    if (item === null) return;
    this.#items.push(item);
    this.length++;
  }

  /** The items so far, which are then no longer kept, but for facts that are fewer than a batch takes. */
  taken(): ImportItem[] {
    const items = this.#items;
    this.#items = [];
    this.length = 0;
    return items;
  }

  /** The remaining items, at the end. */
  rest(): ImportItem[] {
    this.#endFacts();
    return this.taken();
  }

  #endFacts(): void {
    const facts = this.#facts;
    if (facts === null || facts.count === 0) return;
    this.#facts = null;
    const [line, size] = [this.#first, facts.textBytes];
    const block = facts.built();
    this.#last = facts.count === factsInBatch ? block : null;
    this.length += facts.count;
    const lines = this.#lines?.subarray(0, facts.count) ?? null;
    this.#items.push({ line, size, what: { kind: 'facts', facts: block, lines } });
  }
}

function addInColumns(into: FactBlockBuilder, fact: ImportedFact): void {
  const { validFrom, validUntil, ttl, metadata } = fact;
  into.addPlain(fact.predicate, fact.args, fact.truthVal, fact.scope);
  if (validFrom !== null) into.giveValidFrom(validFrom === 'always' ? Number.NEGATIVE_INFINITY : validFrom);
  if (validUntil !== null)
    into.giveValidUntil(validUntil === 'never' ? Number.POSITIVE_INFINITY : validUntil);
  if (ttl !== null) into.giveTtl(ttl);
  if (metadata === null) return;
  const json = encoder.encode(JSON.stringify(metadata));
  into.giveMetadata(json, 0, json.length);
}

const encoder = new TextEncoder();

/** The item of a line that cannot be read. */
export function problemItem(line: number, message: string): ImportItem {
  return { line, size: message.length, what: { kind: 'problem', message } };
}

interface FactParts {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

/** The items with every fact as one of its own. */
export async function* singly(items: ImportItems): ImportItems {
  for await (const some of items)
    yield some.flatMap((item) => {
      const { what, line } = item;
      if (what.kind !== 'facts') return [item];
      return factsOfBlock(what.facts, 0, what.facts.length).map((fact, at): ImportItem => {
        const size = what.facts.bytesAt(at) + charactersAround;
        return { line: what.lines?.[at] ?? line + at, size, what: { kind: 'fact', fact } };
      });
    });
}

/** The item of a fact with only these parts, in the scope; an invalid one is a problem. */
function factItem(line: number, size: number, parts: FactParts, scope: string | null): ImportItem {
  const problem = problemOf(parts.predicate, parts.args);
  if (problem !== null) return problemItem(line, problem);
  return { line, size, what: { kind: 'fact', fact: bareFact(parts, scope) } };
}

/** Facts of a block as the items of single lines have them. */
export function factsOfBlock(block: FactBlock, from: number, end: number): ImportedFact[] {
  const facts: ImportedFact[] = [];
  for (let at = from; at < end; at++) {
    const { scope, validFrom = null, validUntil = null, metadata = null, ...parts } = block.at(at);
    facts.push({ ...bareFact(parts, scope), validFrom, validUntil, metadata, ttl: block.ttlAt(at) });
  }
  return facts;
}

function bareFact(parts: FactParts, scope: string | null): ImportedFact {
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
export function isPredicate(name: string): boolean {
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

export const newline = 0x0a;
const tooLong = `the line is longer than ${maxLineBytes} bytes`;

/** Whole lines of a file, one after the other: as bytes with an LF between two of them, or one that cannot be read. */
export type WholeLines =
  | { readonly bytes: Buffer; readonly problem: null }
  | { readonly bytes: null; readonly problem: string };

/**
 * Splits a stream of bytes into lines of text, numbered from 1: those that each chunk completes, in order. The last may
 * lack its LF.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let next = 1;
  for await (const parts of readWholeLines(chunks)) {
    const lines: Line[] = [];
    for (const part of parts) for (const line of textLines(part, next + lines.length)) lines.push(line);
    next += lines.length;
    yield lines;
  }
}

/**
 * Splits a stream of bytes after its lines: those that each chunk completes, in order. The last may lack its LF.
 *
 * Holds at most one line, and none that is too long: a line that is too long is a problem of that line alone. A line ends
 * at LF; a CR before it stays, since it may be in a quoted text. A byte order mark at the start is skipped.
 */
export async function* readWholeLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly WholeLines[]> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    const lines = splitter.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

class LineSplitter {
  #isAtStart = true;
  /** The beginning of an incomplete line. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** True within a line that is too long, which is not held. */
  #isSkipping = false;

  take(chunk: Buffer): WholeLines[] {
    const lines: WholeLines[] = [];
    let rest = chunk;
    if (this.#isSkipping) {
      const end = rest.indexOf(newline);
      if (end < 0) return lines;
      this.#isSkipping = false;
      lines.push({ bytes: null, problem: tooLong });
      rest = rest.subarray(end + 1);
    }
    if (this.#heldBytes > 0) {
      // The held line alone is completed: the others stay where they are.
      const end = rest.indexOf(newline);
      if (end >= 0) {
        lines.push(this.#whole(this.#withHeld(rest.subarray(0, end))));
        rest = rest.subarray(end + 1);
      }
    }
    const last = rest.lastIndexOf(newline);
    if (last >= 0) {
      lines.push(this.#whole(rest.subarray(0, last)));
      rest = rest.subarray(last + 1);
    }
    this.#hold(rest);
    return lines;
  }

  end(): WholeLines[] {
    if (this.#isSkipping) return [{ bytes: null, problem: tooLong }];
    return this.#heldBytes === 0 ? [] : [this.#whole(this.#withHeld(Buffer.alloc(0)))];
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
    this.#isAtStart = false;
    this.#held = [];
    this.#heldBytes = 0;
  }

  #whole(bytes: Buffer): WholeLines {
    const isMarked = this.#isAtStart && byteOrderMark.every((byte, at) => bytes[at] === byte);
    this.#isAtStart = false;
    return { bytes: isMarked ? bytes.subarray(byteOrderMark.length) : bytes, problem: null };
  }
}

/** The lines as texts, numbered from `first` on; one that is too long or not UTF-8 is a problem of that line alone. */
export function textLines({ bytes, problem }: WholeLines, first: number): Line[] {
  if (bytes === null) return [{ number: first, text: null, problem }];
  if (isUtf8(bytes))
    return bytes
      .toString('utf8')
      .split('\n')
      .map((text, at) => textLine(text, first + at));
  const lines: Line[] = [];
  for (let start = 0, number = first; start <= bytes.length; number++) {
    const next = bytes.indexOf(newline, start);
    const end = next < 0 ? bytes.length : next;
    const line = bytes.subarray(start, end);
    const isText = isUtf8(line);
    if (isText) lines.push(textLine(line.toString('utf8'), number));
    else lines.push({ number, text: null, problem: 'the line is not valid UTF-8' });
    start = end + 1;
  }
  return lines;
}

/** The line of this text, which is a problem if it is too long. */
export function textLine(text: string, number: number): Line {
  // A UTF-16 code unit takes at most three bytes.
  const isTooLong = text.length * 3 > maxLineBytes && Buffer.byteLength(text) > maxLineBytes;
  return isTooLong ? { number, text: null, problem: tooLong } : { number, text, problem: null };
}

const byteOrderMark = [0xef, 0xbb, 0xbf];
