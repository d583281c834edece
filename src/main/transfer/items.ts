/**
 * What is read of a file: facts and rules, each with the line it begins in, and what is wrong with a line.
 *
 * Facts are checked here as `/assert/fact` checks them, whatever the format; rules are checked where they are taught.
 */
import {
  isBuiltinName,
  isWellFormed,
  maxArguments,
  predicateProblem,
} from '../../engine/contract/language.ts';
import type { RuleInput } from '../../engine/contract/rules.ts';
import type { ImportedFact } from '../../engine/contract/transfer.ts';

export interface Item {
  /** From 1 on. */
  readonly line: number;
  /** About how many characters it is made of. */
  readonly size: number;
  readonly what:
    | { readonly kind: 'fact'; readonly fact: ImportedFact }
    | { readonly kind: 'rule'; readonly rule: RuleInput }
    | { readonly kind: 'problem'; readonly message: string };
}

/** Items in pieces, in the order of the file. */
export type Items = AsyncIterable<readonly Item[]>;

export function problemItem(line: number, message: string): Item {
  return { line, size: message.length, what: { kind: 'problem', message } };
}

/** The item of a fact that has no more than these parts, in the scope; one that cannot be stored is a problem. */
export function factItem(
  line: number,
  size: number,
  parts: { readonly predicate: string; readonly args: readonly string[]; readonly truthVal: boolean },
  scope: string | null,
): Item {
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

/** Names that were found good: a file has few predicates, and many lines. */
const goodPredicates = new Set<string>();
const mostKnown = 10_000;

/** True for what can be the predicate of a fact. */
function isPredicate(name: string): boolean {
  if (goodPredicates.has(name)) return true;
  if (predicateProblem(name) !== null || isBuiltinName(name)) return false;
  if (goodPredicates.size === mostKnown) goodPredicates.clear();
  goodPredicates.add(name);
  return true;
}
