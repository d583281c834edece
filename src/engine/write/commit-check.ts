import { TextSet } from '../base/text-map.ts';
import { runInSlices, type Slices } from '../base/slices.ts';
import { EngineError } from '../base/errors.ts';
import { changedRule, changeRules } from '../state/apply-rules.ts';
import { KeyCheck, refuseMisfits } from '../commit/prepare-shape.ts';
import { wildcard } from '../language/terms.ts';
import { constraintsAfter, declarationsAfter } from '../state/apply-shape.ts';
import { StrictKeys } from '../state/key-rule.ts';
import type { ConstraintStore } from '../store/constraint-store.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import type { TestStore } from '../store/test-store.ts';
import { type FactStore, type FactToStore, openBounds, type ScopeChoice } from '../store/fact-store.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { ruleIdentity, renderIdentity } from '../language/print.ts';
import type { NetFact, NetWrites } from './net-writes.ts';
import type { RuleKey } from './open-transactions.ts';
import type { RuleOperation, ShapeOperation } from '../state/operation.ts';
import type { AliasStore } from '../store/alias-store.ts';
import { aliasesAfter, refuseName } from './entities.ts';
import { checkTests } from './stored-tests.ts';
import { checkValidity } from '../commit/prepare-facts.ts';
import { checkRuleOperation } from '../commit/prepare-rules.ts';

/** The state a commit is checked against: what is committed when the commit's turn comes. */
export interface CommittedKnowledge {
  readonly name: string;
  /** null: the tenant has no facts. */
  readonly facts: FactStore | null;
  readonly rules: RuleStore;
  /** The generation that last changed a rule, given by id or by identity; 0: unchanged since the transaction began. */
  readonly ruleChangedAt: (rule: string | RuleKey) => number;
  readonly declarations: DeclarationStore;
  readonly constraints: ConstraintStore;
  readonly tests: TestStore;
  /** Those of the tenant. */
  readonly aliases: AliasStore;
  /** The generation that last changed what the operation changes; 0: unchanged since the transaction began. */
  readonly shapeChangedAt: (operation: ShapeOperation) => number;
}

/** The net writes of a transaction and the generation in which it began. */
interface ToCommit {
  readonly writes: NetWrites;
  readonly generation: number;
}

const betweenBreaths = 256;

/**
 * Enforces first committer wins. Refuses with Conflict if a fact or rule that the transaction writes has changed since
 * it began, except when its only write to it is an assertion that changes nothing; with RuleException if its rules do
 * not fit the rules committed by now.
 */
export async function checkCommit(
  { writes, generation }: ToCommit,
  committed: CommittedKnowledge,
  time: number,
  slices: Slices,
): Promise<void> {
  const { facts, rules, name } = committed;
  for (const operation of writes.shape) {
    const changedAt = committed.shapeChangedAt(operation);
    if (changedAt > generation) throw conflict(shapeName(operation), changedAt, generation);
  }
  refuseTwins(committed, writes.shape);
  refuseAliases(committed, writes.shape);
  checkTests(committed.tests, writes.shape);
  const declarations = declarationsAfter(committed, writes.shape);
  const keys = new KeyCheck(declarations, facts, time, (each) => writes.find(each)?.isRetracted === true);
  let looked = 0;
  for (const fact of writes.facts) {
    if (facts !== null) refuseChangedFact(fact, generation, facts, time);
    if (fact.asserted !== null) {
      const bounds = fact.isRetracted ? openBounds : facts?.boundsOf(fact.asserted, time);
      checkValidity(fact.asserted, '', bounds);
      if (declarations.size > 0) {
        refuseMisfits(declarations, fact.asserted, '');
        if (facts !== null) refuseChangedKey(fact.asserted, declarations, generation, facts, time);
        await runInSlices(keys.check(fact.asserted, ''), () => slices.breathe());
      }
    }
    if (++looked % betweenBreaths === 0) await slices.breathe();
  }
  if (writes.rules.length === 0) return;
  for (const operation of writes.rules) refuseChangedRule(operation, generation, committed);
  await checkRulesInTurn({ name, rules }, writes.rules, { time, generation }, slices);
}

/**
 * Refuses an operation that the rules, together with the operations before it, do not allow. Call it only with
 * exclusive access: no rule may be written in between.
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
  throw conflict(renderIdentity(identity), changedAt, begun);
}

/** Refuses if another fact with the same value of a strict key was changed since the transaction began. */
function refuseChangedKey(
  fact: FactToStore,
  declarations: DeclarationStore,
  begun: number,
  facts: FactStore,
  time: number,
): void {
  const key = StrictKeys.of(declarations).keyOf(fact);
  if (key === null || facts.isAlready(fact, time)) return;
  const { predicate, scope } = fact;
  const args = fact.args.map((text, position) => (key.positions.includes(position) ? text : wildcard));
  const where: ScopeChoice = scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope };
  for (const changed of facts.matchChanged({ predicate, args, truthVal: true, scope: where }, begun)) {
    const identity = facts.identityOf(changed);
    if (identity.args.every((text, position) => text === fact.args[position])) continue;
    const { relation, row } = changed;
    const died = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
    const changedAt = Number.isFinite(died) ? died : relation.bornIn(row);
    throw conflict(`${renderIdentity(identity)}, which has the same key,`, changedAt, begun);
  }
}

/** Refuses a constraint with the text and scope of one that another commit has added. */
function refuseTwins(
  committed: Pick<CommittedKnowledge, 'constraints'>,
  operations: readonly ShapeOperation[],
): void {
  const after = constraintsAfter(committed, operations);
  if (after === committed.constraints) return;
  const known = new TextSet();
  for (const { text, scope } of after.all()) {
    const key = JSON.stringify([text, scope]);
    if (known.has(key))
      throw new EngineError(
        'Conflict',
        `the constraint ${text} was added since the transaction began: begin another one, and change that one`,
      );
    known.add(key);
  }
}

/** Refuses an alias that the aliases of the tenant, as they are by now, do not allow. */
function refuseAliases(
  { aliases }: Pick<CommittedKnowledge, 'aliases'>,
  operations: readonly ShapeOperation[],
): void {
  const after = aliasesAfter(aliases, []);
  for (const each of operations) {
    if (each.kind !== 'addAlias' && each.kind !== 'removeAlias') continue;
    if (each.kind === 'addAlias') refuseName(after, each.entity, each.alias);
    after.change(each.kind, each.entity, each.alias);
  }
}

function shapeName(operation: ShapeOperation): string {
  switch (operation.kind) {
    case 'declare':
      return `the declaration of ${operation.declaration.name}/${operation.declaration.arity}`;
    case 'withdraw':
      return `the declaration of ${operation.name}/${operation.arity}`;
    case 'addConstraint':
      return 'the constraint';
    case 'updateConstraint':
    case 'deleteConstraint':
      return `the constraint ${operation.id}`;
    case 'putTest':
      return `the test ${JSON.stringify(operation.test.name)}`;
    case 'deleteTest':
      return `the test ${JSON.stringify(operation.name)}`;
    case 'addAlias':
    case 'removeAlias':
      return `the alias ${operation.alias}`;
  }
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
