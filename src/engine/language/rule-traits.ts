import { isVariable, type Literal, type Rule } from '../contract/language.ts';
import { isAggregate, isArithmetic, relationOf } from './terms.ts';

/** What evaluation asks of every rule of a database, whatever the question. */
export interface RuleTraits {
  /** The relation that it concludes. */
  readonly head: string;
  /** Every constant that it names, some perhaps repeatedly. */
  readonly constants: readonly string[];
  /** True if it can make new constants, by arithmetic or an aggregate. */
  readonly makesConstants: boolean;
}

const known = new WeakMap<Rule, RuleTraits>();

/** The rule's traits, worked out once: a rule never changes. */
export function traitsOf(rule: Rule): RuleTraits {
  let traits = known.get(rule);
  if (traits === undefined) {
    const { head, body } = rule;
    const constants = head.args.filter(isConstant);
    noteConstants(body, constants);
    const makesConstants = body.some((each) => isAggregate(each) || isArithmetic(each));
    traits = { head: relationOf(head), constants, makesConstants };
    known.set(rule, traits);
  }
  return traits;
}

function isConstant(term: string): boolean {
  return !isVariable(term);
}

/** Includes the literals inside aggregates, and the results of aggregates. */
function noteConstants(body: readonly Literal[], constants: string[]): void {
  for (const literal of body) {
    for (const term of isAggregate(literal) ? [literal.result] : literal.args)
      if (isConstant(term)) constants.push(term);
    if (isAggregate(literal)) noteConstants(literal.body, constants);
  }
}
