/**
 * The premises of an attempt in the order of the rule, each with whether it was met.
 *
 * The service reports met and unmet premises as text. Substituting the bindings into the body locates them in the
 * rule; those not found come last, so that nothing is omitted.
 */
import { type Atom, type Literal, isVariable } from '../../../engine/contract/language.ts';
import type { WhyNot } from '../../../engine/contract/explanation.ts';
import { parseBody, parseRule } from '../../../engine/language/parse.ts';
import { renderLiteral } from '../../../engine/language/print.ts';
import { isAbsence, isAggregate, isBuiltin } from '../../../engine/language/terms.ts';

/** An attempt of a rule. */
export type Attempt = WhyNot['attempts'][number];

/** A premise. */
export interface PremiseOfAttempt {
  readonly text: string;
  readonly holds: boolean;
  /** The atom stated, or whose absence is; null for comparisons, arithmetic and aggregates. */
  readonly atom: Atom | null;
  /** True if it requires the absence of `atom`. */
  readonly isAbsence: boolean;
  /** True if `atom` has no variables. */
  readonly isGround: boolean;
}

function bind(term: string, bindings: Readonly<Record<string, string>>): string {
  return isVariable(term) ? (bindings[term.slice(1)] ?? term) : term;
}

function substitute(literal: Literal, bindings: Readonly<Record<string, string>>): Literal {
  if (!isAggregate(literal)) return { ...literal, args: literal.args.map((term) => bind(term, bindings)) };
  return {
    ...literal,
    result: bind(literal.result, bindings),
    over: literal.over.map((term) => bind(term, bindings)),
    body: literal.body.map((inner) => substitute(inner, bindings)),
  };
}

/** The literals of the rule's body with the bindings substituted, as text. */
function expectedOrder({ rule, bindings }: Attempt): string[] {
  return parseRule(rule).body.map((literal) => renderLiteral(substitute(literal, bindings)));
}

function premiseOf(text: string, holds: boolean): PremiseOfAttempt {
  const literal = parseBody(text)[0];
  const plain = { text, holds, atom: null, isAbsence: false, isGround: false };
  if (literal === undefined || isAggregate(literal) || isBuiltin(literal)) return plain;
  const { predicate, args, negated } = literal;
  return {
    ...plain,
    atom: { predicate, args, negated },
    isAbsence: isAbsence(literal),
    isGround: !args.some(isVariable),
  };
}

/** Returns the premises of an attempt. */
export function attemptPremisesOf(attempt: Attempt): PremiseOfAttempt[] {
  const held = new Set(attempt.satisfied);
  const failed = new Set(attempt.missing);
  const ordered: PremiseOfAttempt[] = [];
  for (const text of expectedOrder(attempt)) {
    if (held.delete(text)) ordered.push(premiseOf(text, true));
    else if (failed.delete(text)) ordered.push(premiseOf(text, false));
  }
  return [
    ...ordered,
    ...[...held].map((text) => premiseOf(text, true)),
    ...[...failed].map((text) => premiseOf(text, false)),
  ];
}
