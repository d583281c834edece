/** The substitution of a step's rule, read from the texts of the rule and the steps. */
import type { Literal } from '../engine/contract/language.ts';
import { parseBody, parseRule } from '../engine/language/parse.ts';
import { isAggregate, isNamedVariable } from '../engine/language/terms.ts';

/** A variable, with `?`, and its constant. */
export type VariableBinding = readonly [variable: string, constant: string];

function termsOf(literal: Literal): readonly string[] {
  return isAggregate(literal) ? [literal.result] : literal.args;
}

function match(pattern: readonly string[], terms: readonly string[], into: Map<string, string>): void {
  for (const [index, term] of pattern.entries()) {
    const constant = terms[index];
    if (isNamedVariable(term) && constant !== undefined && !constant.startsWith('?'))
      into.set(term, constant);
  }
}

function readLiteral(atom: string): Literal | undefined {
  return parseBody(atom)[0];
}

/**
 * Returns the substitution of a step in order of first occurrence. `atom`: the conclusion; `premises`: their atoms,
 * one per body literal.
 */
export function substitutionOf(
  ruleText: string,
  atom: string,
  premises: readonly string[],
): VariableBinding[] {
  const rule = parseRule(ruleText);
  const found = new Map<string, string>();
  const conclusion = readLiteral(atom);
  if (conclusion !== undefined) match(rule.head.args, termsOf(conclusion), found);
  for (const [index, literal] of rule.body.entries()) {
    const premise = premises[index];
    const ground = premise === undefined ? undefined : readLiteral(premise);
    if (ground !== undefined) match(termsOf(literal), termsOf(ground), found);
  }
  return [...found];
}
