/** Declarations as views use them: the arguments' names and types by position. */
import type { ArgumentType } from '../../engine/contract/declarations.ts';
import type { PredicateList } from '../../engine/contract/facts.ts';
import type { Atom } from '../../engine/contract/language.ts';
import { isOfType, misfit } from '../../engine/language/argument-types.ts';
import { usePredicates } from './queries.ts';

/** A predicate with its counts and its declaration, if it has one. */
export type PredicateRow = PredicateList['predicates'][number];
/** What is declared of a predicate. */
type DeclaredRow = Pick<PredicateRow, 'name' | 'arity' | 'declaration'>;
/** A declaration as the service lists it. */
export type ShownDeclaration = NonNullable<PredicateRow['declaration']>;
/** An argument of it. */
export type ShownArgument = ShownDeclaration['arguments'][number];

/** The declared argument at a position, from 0; null if the predicate is undeclared or its arguments have no names. */
export function declaredArgument(
  rows: readonly DeclaredRow[] | undefined,
  name: string,
  arity: number,
  position: number,
): ShownArgument | null {
  const row = rows?.find((each) => each.name === name && each.arity === arity);
  return row?.declaration?.arguments[position] ?? null;
}

/** The declared arguments of a predicate, by position; empty if they have no names. */
export function useDeclaredArguments(
  name: string | undefined,
  arity: number | null,
): readonly ShownArgument[] {
  const rows = usePredicates().data;
  if (name === undefined || arity === null) return none;
  return rows?.find((each) => each.name === name && each.arity === arity)?.declaration?.arguments ?? none;
}

const none: readonly ShownArgument[] = [];

/** The declared arguments that variables stand for, by name without `?`: that of the first atom that has each. */
export function declaredVariables(
  atoms: readonly Atom[],
  rows: readonly PredicateRow[] | undefined,
): ReadonlyMap<string, ShownArgument> {
  const found = new Map<string, ShownArgument>();
  for (const { predicate, args } of atoms)
    for (const [position, term] of args.entries()) {
      const argument = term.startsWith('?') ? declaredArgument(rows, predicate, args.length, position) : null;
      if (argument !== null && !found.has(term.slice(1))) found.set(term.slice(1), argument);
    }
  return found;
}

/** A variable for each argument of a predicate: its declared name, else `?x1` and so on. */
export function argumentVariables(
  rows: readonly DeclaredRow[] | undefined,
  name: string,
  arity: number,
): string[] {
  return Array.from({ length: arity }, (_, position) => {
    const argument = declaredArgument(rows, name, arity, position);
    // `?_` matches anything and is no variable of the answer.
    return argument === null || argument.name === '_' ? `?x${position + 1}` : `?${argument.name}`;
  });
}

/** The title of an argument: its name, or its position from 1. */
export function argumentTitle(argument: ShownArgument | null | undefined, position: number): string {
  return argument?.name ?? `Argument ${position + 1}`;
}

/** True for a type whose values are right-aligned. */
export function isNumeric(type: ArgumentType): boolean {
  return type === 'integer' || type === 'number';
}

/** Choices that are named; the rest is counted. */
const maxNamed = 4;

/** A type in words: `date`, `one of red, green`. */
export function typeInWords(type: ArgumentType): string {
  if (typeof type === 'string') return type;
  const named = type.oneOf.slice(0, maxNamed).join(', ');
  const rest = type.oneOf.length - maxNamed;
  return `one of ${named}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** The choices of a type, with a value that is none of them; null: any constant can be written. */
export function choicesOf(type: ArgumentType, value: string): readonly string[] | null {
  const choices =
    typeof type === 'object' ? [...new Set(type.oneOf)] : type === 'boolean' ? ['true', 'false'] : null;
  if (choices === null || value === '' || choices.includes(value)) return choices;
  return [...choices, value];
}

/** True if the browser's field for dates can show the value: it shows no other text. */
export function isDateField(type: ArgumentType, value: string): boolean {
  return type === 'date' && (value === '' || isOfType('date', value));
}

/** Says that a value is not of the declared type; null if it is, or if nothing is written yet. */
export function misfitOf(argument: ShownArgument | null | undefined, value: string): string | null {
  if (argument === null || argument === undefined || value === '') return null;
  return isOfType(argument.type, value) ? null : misfit(argument, value);
}
