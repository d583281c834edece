/** Renaming a predicate or a variable in a text: whether a name can be given, and the text with it. */
import { isBuiltinName, predicateProblem } from '../engine/contract/language.ts';
import {
  applyTextEdits,
  type ParsedText,
  parseEditorText,
  type SymbolUse,
  type TextMode,
} from './read-text.ts';

/** Returns why a predicate cannot have this name; null: it can. */
export function predicateNameProblem(name: string): string | null {
  return isBuiltinName(name) ? `${name} is the name of a built-in` : predicateProblem(name);
}

/** The new name as the text writes it, or why it is invalid. */
export function checkedName(
  text: ParsedText,
  symbol: SymbolUse,
  name: string,
): { name: string } | { reason: string } {
  if (symbol.kind === 'predicate') {
    const reason = predicateNameProblem(name);
    return reason === null ? { name } : { reason };
  }
  const variable = name.startsWith('?') ? name : `?${name}`;
  if (!/^\?[\p{L}\p{N}_]+$/u.test(variable)) return { reason: 'A variable is ? and letters, digits or _.' };
  const isTaken = text.variables.some(
    (use) => use.name === variable && use.statement === symbol.statement && variable !== symbol.name,
  );
  if (isTaken && variable !== '?_') return { reason: `${variable} is a variable of this statement already.` };
  return { name: variable };
}

/** Returns the text with a predicate renamed in all parsable statements. */
export function renameInText(
  text: string,
  mode: TextMode,
  from: { name: string; arity: number },
  to: string,
) {
  const { predicates } = parseEditorText(text, mode);
  const edits = predicates
    .filter(({ name, arity }) => name === from.name && arity === from.arity)
    .map(({ span }) => ({ ...span, text: to }));
  return applyTextEdits(text, edits);
}
