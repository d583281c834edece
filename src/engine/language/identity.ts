/**
 * When two rules are the same: same head, same body in the same order, up to renaming of variables. The scope
 * does not matter. `?_` is never renamed, since each occurrence is a variable of its own.
 */
import type { Literal, Rule } from '../contract/language.ts';
import { isAggregate, isNamedVariable } from './terms.ts';

/** A text that is equal for two rules exactly if they are the same up to renaming of variables. */
export function ruleIdentity(rule: Rule): string {
  const names = new Map<string, string>();
  function rename(term: string): string {
    if (!isNamedVariable(term)) return term;
    let name = names.get(term);
    if (name === undefined) {
      name = `?${names.size}`;
      names.set(term, name);
    }
    return name;
  }
  function shape(literal: Literal): unknown[] {
    if (isAggregate(literal))
      return [literal.aggregate, rename(literal.result), literal.over.map(rename), literal.body.map(shape)];
    return [literal.predicate, literal.negated, literal.naf, ...literal.args.map(rename)];
  }
  const { predicate, negated, args } = rule.head;
  return JSON.stringify([predicate, negated, args.map(rename), rule.body.map(shape)]);
}
