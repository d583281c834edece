/** A question parsed from its text: its variables, its single atom if it is one, its errors. */
import type { Atom } from '../../../engine/contract/language.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isNamedVariable, isPositiveAtom, variablesAtLevel } from '../../../engine/language/terms.ts';
import { bareQuestion } from '../../api/question-text.ts';

/** A parsed question. */
export interface ParsedQuestion {
  readonly text: string;
  /** Without `?`, in order of first occurrence: the columns of the answers. */
  readonly variables: readonly string[];
  /** The atom, if the question is a single atom. */
  readonly atom: Atom | null;
  /** Its positive atoms, built-ins excluded. */
  readonly atoms: readonly Atom[];
}

type ReadQuestion = { ok: true; question: ParsedQuestion } | { ok: false; message: string };

/** Parses a question: the body of a rule, with an optional question mark at the end. */
export function readQuestion(text: string): ReadQuestion {
  const bare = bareQuestion(text);
  try {
    const body = parseBody(bare);
    const atoms = body.filter(isPositiveAtom);
    const [first] = atoms;
    const atom = body.length === 1 && first !== undefined ? first : null;
    const variables = [...variablesAtLevel(body)].map((name) => name.slice(1));
    return { ok: true, question: { text: bare, variables, atom, atoms } };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, message: error.message };
  }
}

/** The bindings of a pattern matched by a stored fact. Names without `?`. */
export function bindingsOf(pattern: Atom, args: readonly string[]): Record<string, string> {
  const bindings: Record<string, string> = {};
  for (const [index, term] of pattern.args.entries())
    if (isNamedVariable(term)) bindings[term.slice(1)] = args[index] ?? '';
  return bindings;
}

/**
 * The atoms of a question, rendered, without duplicates, as patterns to compare before and after a change.
 */
export function goalsOfQuestion({ atoms }: ParsedQuestion): string[] {
  return [...new Set(atoms.map(renderAtom))];
}
