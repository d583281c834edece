import { changeRules } from './apply-rules.ts';
import { type Draft, type Prepared, rowsInSlice, type RuleChange } from './report.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { Commit, RuleOperation } from './operation.ts';
import { type DatabaseState, newTenant, type TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/** Applies a transaction in one generation: readers see all of its writes or none. */
export function* applyCommit(
  database: DatabaseState,
  operation: Commit,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant =
    database.tenants.get(operation.tenant) ??
    newTenant(record.time, database.forgottenThrough(operation.tenant));
  const generation = database.generation + 1;
  const retracted = yield* retractFacts(tenant, operation, { generation, time: record.time }, draft);
  yield* assertFacts(database, tenant, operation, { generation, time: record.time }, draft);
  return () => {
    if (operation.assert.length > 0) database.tenants.set(operation.tenant, tenant);
    for (const fact of retracted) tenant.uses.drop(fact);
    const { rules } = operation;
    draft.rules.push(...applyRules(database, rules, { generation, time: record.time }));
    if (draft.changes.length > 0 || draft.rules.some(({ isChange }) => isChange))
      database.advance(record.time, record.requestId);
  };
}

interface Moment {
  readonly generation: number;
  readonly time: number;
}

/** Retracts those of the facts that are stored; returns their rows. */
function* retractFacts(
  { facts }: TenantState,
  { retract }: Commit,
  { generation, time }: Moment,
  draft: Draft,
): Generator<'more', FactRow[], undefined> {
  const rows: FactRow[] = [];
  for (const [at, { predicate, args, truthVal, scope }] of retract.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    const fact = facts.find(predicate, args, truthVal, scope);
    if (fact === null || !facts.isStored(fact, time)) continue;
    facts.retract(fact, generation);
    rows.push(fact);
    draft.changes.add('fact.retracted', fact);
  }
  return rows;
}

function* assertFacts(
  database: DatabaseState,
  { facts, uses }: TenantState,
  { assert }: Commit,
  { generation, time }: Moment,
  draft: Draft,
): Generator<'more', void, undefined> {
  for (const [at, fact] of assert.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    const outcome = facts.store(fact, generation, time);
    draft[outcome.status]++;
    draft.fact = outcome;
    if (outcome.status !== 'asserted') uses.note(outcome, database.createdAtOf(facts, outcome), time);
    if (outcome.status !== 'unchanged') draft.changes.add('fact.asserted', outcome);
  }
}

/** Applies rule operations in order. New rules get the ids `r12`, `r12-1`, `r12-2`, … */
function applyRules(
  database: DatabaseState,
  operations: readonly RuleOperation[],
  { generation, time }: Moment,
): RuleChange[] {
  const changes = new Map<string, RuleChange>();
  let taught = 0;
  for (const operation of operations) {
    const id = taught === 0 ? `r${generation}` : `r${generation}-${taught}`;
    const change = changeRules(database.rules, operation, { id, time, generation });
    if (change.status === 'asserted') taught++;
    const earlier = changes.get(change.after.id);
    changes.set(change.after.id, earlier === undefined ? change : merged(earlier, change));
  }
  return [...changes.values()];
}

/** Merges two changes of one rule into one. */
function merged(first: RuleChange, last: RuleChange): RuleChange {
  const status = first.status === 'asserted' ? 'asserted' : last.status;
  return { after: last.after, before: first.before, status, isChange: first.isChange || last.isChange };
}
