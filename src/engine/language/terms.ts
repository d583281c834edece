/**
 * Small predicates and helpers about terms and literals.
 *
 * A literal is exactly one of: aggregate, comparison, arithmetic, atom (positive or under default negation).
 * A relation is (predicate, arity, truth value): `p/1`, `p/2` and `-p/1` are unrelated.
 */
import {
  type AggregateLiteral,
  type Atom,
  type AtomLiteral,
  arithmeticNames,
  comparisonNames,
  isBuiltinName,
  isVariable,
  type Literal,
  type Rule,
} from '../contract/language.ts';

/** The variable that matches anything and binds nothing. */
export const wildcard = '?_';

/** How deep aggregates may be nested. */
export const maxAggregateDepth = 16;

type ComparisonName = (typeof comparisonNames)[number];
type ArithmeticName = (typeof arithmeticNames)[number];
export type Comparison = AtomLiteral & { predicate: ComparisonName };
export type Arithmetic = AtomLiteral & { predicate: ArithmeticName };

const comparisons: ReadonlySet<string> = new Set(comparisonNames);
const arithmetic: ReadonlySet<string> = new Set(arithmeticNames);

/** True for `?n = count { .. }` and its like. */
export function isAggregate(literal: Literal): literal is AggregateLiteral {
  return 'aggregate' in literal;
}

/** True for `<`, `<=`, `>`, `>=`, `=` and `!=`. */
export function isComparison(literal: Literal): literal is Comparison {
  return !isAggregate(literal) && comparisons.has(literal.predicate);
}

/** True for `?z = ?x + ?y` and its like. */
export function isArithmetic(literal: Literal): literal is Arithmetic {
  return !isAggregate(literal) && arithmetic.has(literal.predicate);
}

/** A comparison or arithmetic. */
export function isBuiltin(literal: Literal): literal is Comparison | Arithmetic {
  return !isAggregate(literal) && isBuiltinName(literal.predicate);
}

/** True for an atom that is matched and binds: neither a built-in nor under default negation. */
export function isPositiveAtom(literal: Literal): literal is AtomLiteral & { naf: false } {
  return !isAggregate(literal) && !literal.naf && !isBuiltinName(literal.predicate);
}

/** True for an atom under default negation (`not p(..)`). */
export function isAbsence(literal: Literal): literal is AtomLiteral & { naf: true } {
  return !isAggregate(literal) && literal.naf && !isBuiltinName(literal.predicate);
}

/** True for a variable that can have a value: any but `?_`. */
export function isNamedVariable(term: string): boolean {
  return isVariable(term) && term !== wildcard;
}

function collect(literal: Literal, into: Set<string>): void {
  if (!isAggregate(literal)) {
    for (const term of literal.args) if (isNamedVariable(term)) into.add(term);
    return;
  }
  if (isNamedVariable(literal.result)) into.add(literal.result);
  collectBraces(literal, into);
}

function collectBraces(literal: AggregateLiteral, into: Set<string>): void {
  for (const term of literal.over) if (isNamedVariable(term)) into.add(term);
  for (const inner of literal.body) collect(inner, into);
}

/** The variables of a literal, including those inside braces, in order of first occurrence, without `?_`. */
export function variablesOf(literal: Literal): string[] {
  const found = new Set<string>();
  collect(literal, found);
  return [...found];
}

/** The variables inside an aggregate's braces, in order of first occurrence, without `?_`. */
export function variablesOfBraces(literal: AggregateLiteral): string[] {
  const found = new Set<string>();
  collectBraces(literal, found);
  return [...found];
}

/**
 * The variables that occur at this level: in arguments of atoms and built-ins and results of aggregates, but
 * not only inside braces.
 */
export function variablesAtLevel(body: readonly Literal[]): Set<string> {
  const found = new Set<string>();
  for (const literal of body) {
    if (isAggregate(literal)) {
      if (isNamedVariable(literal.result)) found.add(literal.result);
    } else for (const term of literal.args) if (isNamedVariable(term)) found.add(term);
  }
  return found;
}

/**
 * The key of a relation: `p/2`, or `-p/2` for the explicitly negated one. Different relations have different
 * keys.
 */
export function relationKey(predicate: string, arity: number, negated: boolean): string {
  return `${negated ? '-' : ''}${predicate}/${arity}`;
}

/** The relation of an atom. */
export function relationOf(atom: Atom): string {
  return relationKey(atom.predicate, atom.args.length, atom.negated);
}

/**
 * The atoms of a rule, its head first, including those under `not` and inside aggregates, without built-ins.
 */
export function* atomsOf({ head, body }: Rule): Generator<Atom> {
  yield head;
  yield* atomsIn(body);
}

/** Like `atomsOf`, for a body. */
export function* atomsIn(body: readonly Literal[]): Generator<AtomLiteral> {
  for (const literal of body) {
    if (isAggregate(literal)) yield* atomsIn(literal.body);
    else if (!isBuiltinName(literal.predicate)) yield literal;
  }
}
