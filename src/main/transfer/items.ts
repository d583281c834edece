/**
 * Items read from a file: facts and rules, each with its first line, and problems of lines.
 *
 * Facts are validated here as `/assert/fact` does, whatever the format; rules are validated when they are taught.
 */
import {
  isBuiltinName,
  isWellFormed,
  maxArguments,
  predicateProblem,
} from '../../engine/contract/language.ts';
import type { RuleInput } from '../../engine/contract/rules.ts';
import type { ImportedFact } from '../../engine/contract/transfer.ts';

export interface ImportItem {
  /** Counts from 1. */
  readonly line: number;
  /** Approximate number of characters. */
  readonly size: number;
  readonly what:
    | { readonly kind: 'fact'; readonly fact: ImportedFact }
    | { readonly kind: 'rule'; readonly rule: RuleInput }
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
    args: [...parts.args],
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
  for (const [at, arg] of args.entries()) {
    if (arg.startsWith('?')) return `args.${at}: a fact is ground: a constant does not start with ?`;
    if (!isWellFormed(arg)) return `args.${at}: the text holds a lone surrogate`;
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
