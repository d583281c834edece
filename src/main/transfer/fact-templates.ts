import type { Buffer } from 'node:buffer';
import type { FactBlockBuilder } from '../../engine/index.ts';
import { NamedTerms } from '../../engine/contract/language.ts';
import type { ImportedFact } from '../../engine/contract/transfer.ts';

/**
 * Lines of NDJSON that differ from one read before in nothing but their constants.
 *
 * A file of facts repeats what stands before and after the arguments on every line: the names of the fields, the predicate,
 * the scope. So the first line of a kind is parsed and validated, and later ones are compared with it, byte by byte; what is
 * between are strings without escapes, which need no parser. Any other line is none of these.
 */
export class FactTemplates {
  readonly #templates: Template[] = [];
  /** The index of the one that the last line was like. */
  #last = 0;
  /** Begin and end of each argument of the line that was compared last. */
  readonly #found = new Int32Array(2 * maxTemplateArguments);

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
      this.#last = at;
      const { predicate, arity, truthVal, scope } = template;
      into.begin(predicate, arity, truthVal, scope);
      const found = this.#found;
      for (let index = 0; index < 2 * arity; index += 2)
        into.addUtf8(line, found[index] as number, found[index + 1] as number);
      return true;
    }
    return false;
  }

  /** Learns the line of a fact, unless it says more than what is true in which scope, or names its arguments. */
  learn(line: Buffer, fact: ImportedFact): void {
    const { predicate, args, truthVal, scope } = fact;
    const [open, close] = [line.indexOf(bracket), line.indexOf(closingBracket)];
    // Only then these are the brackets of the arguments.
    const isOnly = open === line.lastIndexOf(bracket) && close === line.lastIndexOf(closingBracket);
    if (open < 0 || close < open || !isOnly || !isBare(fact) || args.length > maxTemplateArguments) return;
    const [before, after] = [line.subarray(0, open + 1), line.subarray(close)];
    const template = { before, after, predicate, arity: args.length, truthVal, scope };
    if (!this.#isLike(template, line, 0, line.length)) return;
    // A copy: the line is a part of a large buffer.
    const kept = { ...template, before: Uint8Array.from(before), after: Uint8Array.from(after) };
    if (this.#templates.length === maxTemplates) this.#templates.shift();
    this.#last = this.#templates.push(kept) - 1;
  }

  /** True if the line is like the template; notes where its arguments are. */
  #isLike({ before, after, arity }: Template, line: Buffer, start: number, end: number): boolean {
    if (end - start < before.length + after.length) return false;
    for (let at = before.length - 1; at >= 0; at--) if (line[start + at] !== before[at]) return false;
    const found = this.#found;
    const last = end - after.length;
    let at = start + before.length;
    for (let index = 0; index < 2 * arity; index += 2) {
      if (index > 0) {
        if (line[at++] !== comma) return false;
        if (line[at] === space) at++;
      }
      if (line[at++] !== quotationMark || line[at] === questionMark) return false;
      found[index] = at;
      for (let byte = line[at]; byte !== quotationMark; byte = line[++at])
        if (byte === undefined || byte < 0x20 || byte === backslash) return false;
      found[index + 1] = at;
      if (at - (found[index] as number) > maxTemplateBytes) return false;
      at++;
    }
    if (at !== last) return false;
    for (let index = 0; index < after.length; index++) if (line[last + index] !== after[index]) return false;
    return true;
  }
}

function isBare({ args, ttl, validFrom, validUntil, metadata, ifGeneration }: ImportedFact): boolean {
  const others = [ttl, validFrom, validUntil, metadata, ifGeneration];
  return !(args instanceof NamedTerms) && others.every((each) => each === null);
}

/** A line without its arguments. */
interface Template {
  /** Up to and including the opening bracket. */
  readonly before: Uint8Array;
  /** From the closing bracket on. */
  readonly after: Uint8Array;
  readonly predicate: string;
  readonly arity: number;
  readonly truthVal: boolean;
  readonly scope: string | null;
}

const maxTemplates = 8;
const maxTemplateArguments = 16;
/** Longer constants are left to the validation, which knows their limit. */
const maxTemplateBytes = 4096;

const space = 0x20;
const quotationMark = 0x22;
const comma = 0x2c;
const questionMark = 0x3f;
const bracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
