/** What a question is, read from its text: its variables, its one atom where it is one, what is wrong with it. */
import type { Atom } from '../../../engine/contract/language.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isNamedVariable, isPositiveAtom, variablesAtLevel } from '../../../engine/language/terms.ts';
import { bareQuestion } from '../../api/question-text.ts';

export interface Question {
  readonly text: string;
  /** Without `?`, in order of first occurrence: the columns of the answer. */
  readonly variables: readonly string[];
  /** The atom, where the question is one atom and nothing else. */
  readonly atom: Atom | null;
  /** Its atoms that are matched, neither built-in nor absent. */
  readonly atoms: readonly Atom[];
}

type ReadQuestion = { ok: true; question: Question } | { ok: false; message: string };

/** Reads a question; `text` is the body of a rule, a question mark at the end is allowed. */
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

/** What a stored fact binds in a pattern that it matches. Names without `?`. */
export function bindingsOf(pattern: Atom, args: readonly string[]): Record<string, string> {
  const bindings: Record<string, string> = {};
  for (const [index, term] of pattern.args.entries())
    if (isNamedVariable(term)) bindings[term.slice(1)] = args[index] ?? '';
  return bindings;
}

/** The atoms of a question as patterns to compare before and after a change, rendered, each once. */
export function goalsOf({ atoms }: Question): string[] {
  return [...new Set(atoms.map(renderAtom))];
}
