/**
 * The expected statement, parsed: a ground atom can be explained; a pattern needs one value per variable; of several
 * conditions the user selects one.
 */
import { type Atom, isVariable } from '../../../engine/contract/language.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isNamedVariable, isPositiveAtom } from '../../../engine/language/terms.ts';
import { bareQuestion } from '../../api/question-text.ts';

/** A variable of a pattern that needs a value. */
export interface Blank {
  /** Identifies the blank in its pattern. */
  readonly id: string;
  /** `?who`, or `argument 2` for a `?_`. */
  readonly label: string;
}

/** A parsed expectation. */
export type Expected =
  | { readonly kind: 'ground'; readonly atom: Atom; readonly text: string }
  | {
      readonly kind: 'pattern';
      readonly atom: Atom;
      readonly text: string;
      readonly blanks: readonly Blank[];
    }
  /** Several conditions: their atoms as text, without duplicates. */
  | { readonly kind: 'several'; readonly atoms: readonly string[] }
  | { readonly kind: 'wrong'; readonly message: string };

function blankOf(term: string, index: number): Blank {
  return isNamedVariable(term)
    ? { id: term, label: term }
    : { id: `argument ${index + 1}`, label: `argument ${index + 1}` };
}

/** The blanks of a pattern in argument order, without duplicates. */
function blanksOf(atom: Atom): Blank[] {
  const found = new Map<string, Blank>();
  for (const [index, term] of atom.args.entries()) {
    if (!isVariable(term)) continue;
    const blank = blankOf(term, index);
    found.set(blank.id, blank);
  }
  return [...found.values()];
}

/** Parses a question; a final question mark is allowed. */
export function readExpected(text: string): Expected {
  const bare = bareQuestion(text);
  try {
    const body = parseBody(bare);
    const atoms = body.filter(isPositiveAtom);
    const [only] = atoms;
    if (only === undefined)
      return { kind: 'wrong', message: 'Write the statement that you expect, such as parent(alice, bob).' };
    if (body.length > 1) return { kind: 'several', atoms: [...new Set(atoms.map(renderAtom))] };
    const atom: Atom = { predicate: only.predicate, args: only.args, negated: only.negated };
    const blanks = blanksOf(atom);
    const rendered = renderAtom(atom);
    return blanks.length === 0
      ? { kind: 'ground', atom, text: rendered }
      : { kind: 'pattern', atom, text: rendered, blanks };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: 'wrong', message: error.message };
  }
}

/**
 * Returns the pattern with a value for every blank, as text; null while one is missing. Values are constants as typed:
 * surrounding white space is ignored, and none may start with a question mark.
 */
export function fillIn(pattern: Atom, values: Readonly<Record<string, string>>): string | null {
  const args: string[] = [];
  for (const [index, term] of pattern.args.entries()) {
    const value = isVariable(term) ? (values[blankOf(term, index).id] ?? '').trim() : term;
    if (isVariable(term) && (value === '' || isVariable(value))) return null;
    args.push(value);
  }
  return renderAtom({ ...pattern, args });
}
