import { assert } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import type { Literal, Rule } from '../contract/language.ts';
import type { RuleInput, RuleOutcome, StoredRule } from '../contract/rules.ts';
import type { RuleRecord, RuleStore } from '../store/rule-store.ts';
import { checkRule } from '../language/check.ts';
import { ruleIdentity } from '../language/print.ts';
import { type ArgumentNames, resolveNames } from '../language/argument-names.ts';
import { parseRule } from '../language/parse.ts';
import { checkStratified, dependenciesOf } from '../language/stratify.ts';
import { isAbsence, isAggregate, relationOf } from '../language/terms.ts';
import { type RuleOperation, type RuleToStore, type Outcome, outcomeAs } from '../state/operation.ts';
import type { Tallies } from '../datalog/model/program.ts';

/**
 * Parses and checks a rule by itself. `path` is its path in the request, with a trailing full stop unless empty. `names`: puts
 * arguments by name in order; null: there are none left.
 */
export function ruleToStore(input: RuleInput, path = '', names: ArgumentNames | null = null): RuleToStore {
  const { scope, name, description, enabled } = input;
  return { rule: ruleOf(input, path, names), scope, name, description, enabled };
}

function ruleOf(input: RuleInput, path: string, names: ArgumentNames | null): Rule | null {
  let rule: Rule;
  if (input.text !== null) rule = parseRule(input.text, `${path}text`, names);
  else if (input.head === null || input.body === null) return null;
  else {
    rule = { head: input.head, body: input.body };
    if (names !== null) resolveNames(rule, () => names, path);
  }
  if (rule.body.length > 256) throw invalid(`${path}body`, 'a body has at most 256 literals');
  checkRule(rule, path);
  return rule;
}

/**
 * Refuses a rule that would make the database's rules unstratifiable, with a 422 that names the cycle. `replaced` is
 * the rule it replaces; null: none.
 */
export function checkFits(rules: RuleStore, rule: Rule, scope: string | null, replaced: string | null): void {
  if (rules.surelyFits(rule)) return;
  const read = dependenciesOf(rule.body).map(({ relation }) => relation);
  // The other rules are stratified already, so a forbidden cycle goes through this rule.
  const others = rules.around(relationOf(rule.head), read).filter(({ id }) => id !== replaced);
  // Without default negation and aggregates there is nothing to stratify.
  if (![rule, ...others.map((stored) => stored.rule)].some(({ body }) => body.some(mustWait))) return;
  checkStratified([...others, { rule, scope, id: 'this rule' }], scope);
}

function mustWait(literal: Literal): boolean {
  return isAggregate(literal) || isAbsence(literal);
}

/** The rule with this id. Refuses if the database has none. */
export function requireRule(
  database: { readonly name: string; readonly rules: RuleStore },
  id: string,
): RuleRecord {
  const stored = database.rules.get(id);
  if (stored === null)
    throw new EngineError('RuleNotFound', `there is no rule ${id} in the database ${database.name}`);
  return stored;
}

/** Refuses to replace the rule with this id if another rule is the same, or if the result is not stratified. */
function checkReplaces(rules: RuleStore, rule: Rule, scope: string | null, id: string): void {
  const other = rules.same(ruleIdentity(rule), scope);
  if (other !== null && other.id !== id)
    throw new EngineError(
      'Conflict',
      `rule ${other.id} is the same: ${other.text}. Change or delete that one`,
    );
  checkFits(rules, rule, scope, id);
}

/** Refuses a rule operation that the database's rules do not allow. */
export function checkRuleOperation(
  database: { readonly name: string; readonly rules: RuleStore },
  operation: RuleOperation,
): void {
  const { rules } = database;
  if (operation.kind !== 'teach') requireRule(database, operation.id);
  if (operation.kind === 'forgetRule' || operation.rule.rule === null) return;
  const { rule, scope } = operation.rule;
  if (operation.kind === 'teach') checkFits(rules, rule, scope, null);
  else checkReplaces(rules, rule, scope, operation.id);
}

/** True if the rule still derives the same conclusions; null: the rule no longer exists. */
export function countsAlike(before: RuleRecord, now: RuleRecord | null): boolean {
  return (
    now !== null && before.rule === now.rule && before.scope === now.scope && before.enabled === now.enabled
  );
}

/** The entity tag of a rule, a strong validator: the rule's id and the generation that last changed it. */
function etagOf({ id, changedIn }: Pick<RuleRecord, 'id' | 'changedIn'>): string {
  return `"${id}-${changedIn}"`;
}

/** Refuses with PreconditionFailed if the caller's entity tags do not include the current one. */
export function requireMatch({ ifMatch }: Caller, stored: RuleRecord): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(etagOf(stored))) return;
  throw new EngineError(
    'PreconditionFailed',
    `rule ${stored.id} was changed in generation ${stored.changedIn} and is ${etagOf(stored)} now: read it again and repeat the write`,
  );
}

/** The rule as listed. `tallies` count how often rules derived something new. */
export function storedRule(stored: RuleRecord, tallies: Tallies): StoredRule {
  const { id, text, rule, scope, name, description, enabled, createdAt } = stored;
  const { head, body } = rule;
  const fired = tallies.get(id)?.fired ?? 0;
  return {
    id,
    text,
    head,
    body,
    scope,
    name,
    description,
    enabled,
    createdAt,
    etag: etagOf(stored),
    fired,
  };
}

/** The answer to a write of a rule. */
export function ruleOutcome(outcome: Outcome): RuleOutcome {
  const { id, rule, status, changedIn, generation } = outcomeAs(outcome, 'rule');
  assert(status !== 'retracted', 'a rule was written');
  return { status, rule, id, etag: etagOf({ id, changedIn }), generation };
}
