/**
 * A question as a form: a list of conditions, each a pattern, a comparison, a calculation, or an aggregate.
 *
 * The form has every body of patterns (also denied with `-` or `not`), comparisons, arithmetic, and aggregates over patterns.
 * Aggregates over more than patterns are beyond it: then the text alone is edited. Reading and writing are inverse:
 * a text that the form can show means the same when the form has written it. Pure.
 */
import {
  type AggregateLiteral,
  type AggregateName,
  arithmeticNames,
  type AtomLiteral,
  comparisonNames,
  constantProblem,
  type Literal,
  NamedTerms,
  predicateProblem,
} from '../../../engine/contract/language.ts';
import { ArgumentNames } from '../../../engine/language/argument-names.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderBody, renderLiteral } from '../../../engine/language/print.ts';
import { isAggregate, isArithmetic, isComparison } from '../../../engine/language/terms.ts';
import { bareQuestion } from '../../api/question-text.ts';
import { message } from '../../ui/texts.ts';

/** What stands at one argument: a constant, a variable with `?`, or anything, which is `?_`. */
export type ComposedTerm =
  | { readonly kind: 'constant'; readonly text: string }
  | { readonly kind: 'variable'; readonly text: string }
  | { readonly kind: 'anything' };

/** How a pattern is meant: it is true, it is explicitly false (`-p`), or there is none (`not p`). */
export type PatternMode = 'is' | 'false' | 'not' | 'not-false';

/** One pattern. */
export interface ComposedPattern {
  readonly predicate: string;
  readonly terms: readonly ComposedTerm[];
  readonly mode: PatternMode;
}

/** One condition of a question. */
export type Condition =
  | ({ readonly kind: 'pattern' } & ComposedPattern)
  | {
      readonly kind: 'comparison';
      readonly operator: string;
      readonly left: ComposedTerm;
      readonly right: ComposedTerm;
    }
  | {
      readonly kind: 'calculation';
      readonly result: ComposedTerm;
      readonly left: ComposedTerm;
      readonly operator: string;
      readonly right: ComposedTerm;
    }
  | {
      readonly kind: 'aggregate';
      readonly operation: AggregateName;
      /** The variable that gets the result. */
      readonly result: string;
      /** The variables whose distinct tuples are counted; of the first, the values are added up, compared or averaged. */
      readonly over: readonly string[];
      readonly patterns: readonly ComposedPattern[];
    };

/** A question as a form, or why it is beyond the form. */
export type ComposedReading = { readonly conditions: readonly Condition[] } | { readonly reason: string };

/** The operations of aggregates, with their words. */
export const aggregateWords: Readonly<Record<AggregateName, string>> = {
  count: 'number of',
  sum: 'sum of',
  min: 'least of',
  max: 'greatest of',
  avg: 'mean of',
};

/** The operators of arithmetic, with their words. */
export const arithmeticWords: Readonly<Record<string, string>> = {
  '+': message('plus'),
  '-': message('minus'),
  '*': message('times'),
  '/': 'divided by',
  mod: message('modulo'),
};

/** The operators of comparisons, with their words. */
export const comparisonWords: Readonly<Record<string, string>> = {
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is more than',
  '>=': 'is at least',
  '=': message('equals'),
  '!=': 'differs from',
};

function termOf(text: string): ComposedTerm {
  if (text === '?_') return { kind: 'anything' };
  return text.startsWith('?') ? { kind: 'variable', text } : { kind: 'constant', text };
}

function textOfTerm(term: ComposedTerm): string {
  return term.kind === 'anything' ? '?_' : term.text;
}

function modeOf({ negated, naf }: AtomLiteral): PatternMode {
  if (naf) return negated ? 'not-false' : 'not';
  return negated ? 'false' : 'is';
}

function patternOf(literal: AtomLiteral): ComposedPattern {
  return { predicate: literal.predicate, terms: [...literal.args].map(termOf), mode: modeOf(literal) };
}

class Beyond extends Error {}

const noNames = new ArgumentNames([]);

function aggregateOf({ aggregate, result, over, body }: AggregateLiteral): Condition {
  if (!result.startsWith('?')) throw new Beyond('An aggregate that is compared at once is beyond the form');
  const patterns = body.map((literal) => {
    if (isAggregate(literal) || isComparison(literal) || isArithmetic(literal))
      throw new Beyond('An aggregate over more than patterns is beyond the form');
    return patternOf(literal);
  });
  return { kind: 'aggregate', operation: aggregate, result, over, patterns };
}

function conditionOf(literal: Literal): Condition {
  if (isAggregate(literal)) return aggregateOf(literal);
  if (!isComparison(literal) && !isArithmetic(literal)) return { kind: 'pattern', ...patternOf(literal) };
  if (literal.naf) throw new Beyond('A denied comparison or calculation is beyond the form');
  const [left = '', right = '', result = ''] = literal.args;
  const operands = { operator: literal.predicate, left: termOf(left), right: termOf(right) };
  return isComparison(literal)
    ? { kind: 'comparison', ...operands }
    : { kind: 'calculation', ...operands, result: termOf(result) };
}

/** Reads a question as a form. `names`: of the declared arguments, for those in braces. */
export function composedOf(text: string, names: ArgumentNames = noNames): ComposedReading {
  const bare = bareQuestion(text);
  if (bare === '') return { conditions: [] };
  if (/(?:^|\s)[%#]/.test(bare)) return { reason: 'A text with comments is beyond the form' };
  try {
    const body = parseBody(bare, 'text', names);
    return { conditions: body.map(conditionOf) };
  } catch (error) {
    if (error instanceof Beyond) return { reason: error.message };
    if (!(error instanceof Error)) throw error;
    return { reason: 'The text cannot be read as a question' };
  }
}

/** All arguments by name, in their order, if they are declared. */
function argsOf({ predicate, terms }: ComposedPattern, names: ArgumentNames): string[] {
  const args = terms.map(textOfTerm);
  const declared = names.of(predicate, args.length) ?? [];
  if (declared.length === 0) return args;
  return new NamedTerms(new Map(declared.map((name, at) => [name, args[at] as string])), false);
}

function literalOfPattern(pattern: ComposedPattern, names: ArgumentNames): AtomLiteral {
  const { predicate, mode } = pattern;
  return {
    predicate,
    args: argsOf(pattern, names),
    negated: mode === 'false' || mode === 'not-false',
    naf: mode === 'not' || mode === 'not-false',
  };
}

function literalOf(condition: Condition, names: ArgumentNames): Literal {
  if (condition.kind === 'pattern') return literalOfPattern(condition, names);
  if (condition.kind !== 'aggregate') {
    const { operator, left, right } = condition;
    const terms = condition.kind === 'comparison' ? [left, right] : [left, right, condition.result];
    return { predicate: operator, args: terms.map(textOfTerm), negated: false, naf: false };
  }
  const { operation, result, over, patterns } = condition;
  return {
    aggregate: operation,
    result,
    over: [...over],
    body: patterns.map((each) => literalOfPattern(each, names)),
  };
}

/** Writes a form as a question; declared arguments by their names, in braces. */
export function composedText(conditions: readonly Condition[], names: ArgumentNames = noNames): string {
  const literals = conditions.map((each) => literalOf(each, names));
  const text = renderBody(literals);
  return text.length <= 72 ? text : literals.map(renderLiteral).join(',\n');
}

/** Why a term cannot be written; null if it can. */
export function termProblem(term: ComposedTerm, isOperand = false): string | null {
  if (term.kind === 'anything') return isOperand ? 'Choose a value or a variable' : null;
  if (term.kind === 'variable')
    return /^\?[\p{L}\p{N}_]+$/u.test(term.text) && term.text !== '?_'
      ? null
      : 'A variable has letters, digits and _ only';
  if (term.text.startsWith('?')) return 'A value does not begin with ?: choose a variable';
  return constantProblem(term.text);
}

function patternProblem({ predicate, terms }: ComposedPattern): string | null {
  if (predicate === '') return 'Choose a predicate';
  return (
    predicateProblem(predicate) ??
    terms.map((term) => termProblem(term)).find((each) => each !== null) ??
    null
  );
}

/** Why a condition cannot be written as text; null if it can. */
export function conditionProblem(condition: Condition): string | null {
  if (condition.kind === 'pattern') return patternProblem(condition);
  if (condition.kind === 'comparison')
    return comparisonNames.some((name) => name === condition.operator)
      ? (termProblem(condition.left, true) ?? termProblem(condition.right, true))
      : 'Choose a comparison';
  if (condition.kind === 'calculation')
    return arithmeticNames.some((name) => name === condition.operator)
      ? ([condition.result, condition.left, condition.right]
          .map((term) => termProblem(term, true))
          .find((problem) => problem !== null) ?? null)
      : 'Choose a calculation';
  if (condition.patterns.length === 0) return 'Choose what it is of';
  if (condition.over.length === 0) return 'Name a variable in its patterns';
  return (
    termProblem({ kind: 'variable', text: condition.result }) ??
    condition.patterns.map(patternProblem).find((each) => each !== null) ??
    null
  );
}

function variablesIn(terms: readonly ComposedTerm[]): string[] {
  return terms.flatMap((term) => (term.kind === 'variable' ? [term.text] : []));
}

/** The variables of a form, in the order in which they occur. Those inside a count are left out unless they are shared. */
export function variablesOfForm(conditions: readonly Condition[]): string[] {
  const found = conditions.flatMap((condition) => {
    if (condition.kind === 'pattern') return variablesIn(condition.terms);
    if (condition.kind === 'comparison') return variablesIn([condition.left, condition.right]);
    if (condition.kind === 'calculation')
      return variablesIn([condition.result, condition.left, condition.right]);
    return [condition.result];
  });
  return [...new Set(found)];
}

/** A variable that no condition has: a name for people, from the argument's declared name if there is one. */
export function freshVariable(conditions: readonly Condition[], named: string | null): string {
  const taken = new Set([
    ...variablesOfForm(conditions),
    ...conditions.flatMap((condition) =>
      condition.kind === 'aggregate' ? condition.patterns.flatMap(({ terms }) => variablesIn(terms)) : [],
    ),
  ]);
  const base = named !== null && /^[\p{L}\p{N}_]+$/u.test(named) ? named : null;
  if (base !== null && !taken.has(`?${base}`)) return `?${base}`;
  for (const letter of base === null ? 'xyzuvwabcdefghijklmnopqrst' : '')
    if (!taken.has(`?${letter}`)) return `?${letter}`;
  for (let number = 2; ; number++) {
    const name = `?${base ?? 'x'}${number}`;
    if (!taken.has(name)) return name;
  }
}

/** A new pattern of a predicate, with a fresh variable at every argument. `names`: of its arguments, if declared. */
export function newPattern(
  conditions: readonly Condition[],
  { name, arity }: { readonly name: string; readonly arity: number },
  names: readonly string[],
): ComposedPattern {
  const terms: ComposedTerm[] = [];
  for (let position = 0; position < arity; position++) {
    const others: Condition = { kind: 'pattern', predicate: name, terms, mode: 'is' };
    const text = freshVariable([...conditions, others], names[position] ?? null);
    terms.push({ kind: 'variable', text });
  }
  return { predicate: name, terms, mode: 'is' };
}
