/** Words for the kinds of proof steps, and the substitution of a step's rule. */
import type { Literal, Rule } from '../../../engine/contract/language.ts';
import type { ProofStep } from '../../../engine/contract/inference.ts';
import { parseBody, parseRule } from '../../../engine/language/parse.ts';
import { isAggregate, isNamedVariable } from '../../../engine/language/terms.ts';
import type { Tone } from '../../ui/tags.tsx';

const words: Record<ProofStep['kind'], { word: string; tone: Tone }> = {
  fact: { word: 'asserted', tone: 'good' },
  rule: { word: 'derived', tone: 'derived' },
  absence: { word: 'absent', tone: 'warn' },
  builtin: { word: 'computed', tone: 'computed' },
  aggregate: { word: 'computed', tone: 'computed' },
};

/** Returns the kind of a step as a word, so that colour is never the only cue. */
export function wordOf(step: Pick<ProofStep, 'kind'>): { word: string; tone: Tone } {
  return words[step.kind];
}

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
  const rule: Rule = parseRule(ruleText);
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
