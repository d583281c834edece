import type { Slices } from '../base/slices.ts';
import { EngineError } from '../base/errors.ts';
import { changedRule, changeRules } from '../state/apply-rules.ts';
import type { FactIdentity, FactStore } from '../store/fact-store.ts';
import { openBounds } from '../store/fact-store.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { ruleIdentity } from '../language/identity.ts';
import { renderAtom } from '../language/print.ts';
import type { NetFact, NetWrites } from './net-writes.ts';
import type { RuleKey } from './open-transactions.ts';
import type { RuleOperation } from '../state/operation.ts';
import { checkValidity } from '../commit/prepare-facts.ts';
import { checkRuleOperation } from '../commit/prepare-rules.ts';

/** What a commit is checked against: knowledge as it is when it is its turn. */
export interface CommittedKnowledge {
  readonly name: string;
  /** null: the tenant has no facts. */
  readonly facts: FactStore | null;
  readonly rules: RuleStore;
  /** The generation that last changed a rule, by its id or by what makes it that rule; 0: none since the begin. */
  readonly ruleChangedAt: (rule: string | RuleKey) => number;
}

/** What is in a transaction, and the generation in which it began. */
export interface ToCommit {
  readonly writes: NetWrites;
  readonly generation: number;
}

const betweenBreaths = 256;

/**
 * Refuses a commit that another's write stands against, first committer wins: with Conflict where a fact or rule that
 * it writes has changed since it began, unless all that it does to that is an assertion that finds nothing to change;
 * with RuleException where its rules do not fit those there are by now.
 */
export async function checkCommit(
  { writes, generation }: ToCommit,
  committed: CommittedKnowledge,
  time: number,
  slices: Slices,
): Promise<void> {
  const { facts, rules, name } = committed;
  let looked = 0;
  for (const fact of writes.facts) {
    if (facts !== null) refuseChangedFact(fact, generation, facts, time);
    if (fact.asserted !== null) {
      const kept = fact.isRetracted ? openBounds : facts?.boundsOf(fact.asserted, time);
      checkValidity(fact.asserted, '', kept);
    }
    if (++looked % betweenBreaths === 0) await slices.breathe();
  }
  if (writes.rules.length === 0) return;
  for (const operation of writes.rules) refuseChangedRule(operation, generation, committed);
  await checkRulesInTurn({ name, rules }, writes.rules, { time, generation }, slices);
}

/**
 * Refuses where one of the operations is not allowed by the rules there are and the operations before it. To be called
 * when nothing else is under way: no write of a rule may come between.
 */
export async function checkRulesInTurn(
  { name, rules }: { readonly name: string; readonly rules: RuleStore },
  operations: readonly RuleOperation[],
  { time, generation }: { readonly time: number; readonly generation: number },
  slices: Slices,
): Promise<void> {
  if (operations.length === 0) return;
  const copy = rules.copy();
  for (const [at, operation] of operations.entries()) {
    checkRuleOperation({ name, rules: copy }, operation);
    changeRules(copy, operation, { id: `checked-${at}`, time, generation });
    await slices.breathe();
  }
}

function refuseChangedFact(
  { identity, isRetracted, asserted }: NetFact,
  begun: number,
  facts: FactStore,
  time: number,
): void {
  const { predicate, args, truthVal, scope } = identity;
  const changedAt = facts.changedAt(predicate, args, truthVal, scope);
  if (changedAt <= begun) return;
  if (!isRetracted && asserted !== null && facts.isAlready(asserted, time)) return;
  throw conflict(renderedFact(identity), changedAt, begun);
}

function refuseChangedRule(
  operation: RuleOperation,
  begun: number,
  { rules, ruleChangedAt }: CommittedKnowledge,
): void {
  if (operation.kind !== 'teach') {
    const changedAt = Math.max(ruleChangedAt(operation.id), rules.get(operation.id)?.changedIn ?? 0);
    if (changedAt > begun) throw conflict(`the rule ${operation.id}`, changedAt, begun);
    return;
  }
  const { rule, scope } = operation.rule;
  if (rule === null) return;
  const key = { identity: ruleIdentity(rule), scope };
  const same = rules.same(key.identity, scope);
  const changedAt = Math.max(ruleChangedAt(key), same?.changedIn ?? 0);
  if (changedAt <= begun) return;
  if (same !== null && changedRule(same, { ...operation.rule, rule: null }, begun) === null) return;
  throw conflict(`the rule ${same?.id ?? 'that was taught'}`, changedAt, begun);
}

function conflict(what: string, changedAt: number, begun: number): EngineError {
  return new EngineError(
    'Conflict',
    `${what} was changed in generation ${changedAt}, and the transaction began in ${begun}: ` +
      'begin another one, read again and repeat its writes',
  );
}

export function renderedFact({ predicate, args, truthVal }: FactIdentity): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}
