import { EngineError, invalid } from './base/errors.ts';
import type { Literal, Rule } from './contract/language.ts';
import type { RuleInput } from './contract/rules.ts';
import { checkRule } from './logic/check.ts';
import { parseRule } from './logic/parse.ts';
import { renderLiteral } from './logic/print.ts';
import { isAbsence, isAggregate, isArithmetic } from './logic/terms.ts';
import type { RuleToKeep } from './state.ts';

/** The rule that is to be kept, parsed and checked by itself. */
export function ruleToKeep(input: RuleInput): RuleToKeep {
  const { scope, name, description, enabled } = input;
  return { rule: ruleOf(input), scope, name, description, enabled };
}

function ruleOf(input: RuleInput): Rule | null {
  let rule: Rule;
  if (input.text !== null) rule = parseRule(input.text);
  else if (input.head === null || input.body === null) return null;
  else rule = { head: input.head, body: input.body };
  if (rule.body.length > 256) throw invalid('body', 'a body has at most 256 literals');
  checkRule(rule);
  checkEvaluable(rule.body);
  return rule;
}

/** Refuses what the language has and the evaluator does not answer yet. */
export function checkEvaluable(body: readonly Literal[]): void {
  for (const literal of body) {
    const what = isAggregate(literal)
      ? 'aggregates'
      : isArithmetic(literal)
        ? 'arithmetic'
        : isAbsence(literal)
          ? 'default negation (not)'
          : null;
    if (what !== null)
      throw new EngineError(
        'RuleException',
        `${renderLiteral(literal)}: this version does not evaluate ${what} yet; use atoms, explicit negation (-p) and comparisons`,
      );
  }
}
