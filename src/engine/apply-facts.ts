import type { FactRow, FactStore } from './facts/fact-store.ts';
import { type Prepared, rowsInSlice } from './apply-slices.ts';
import { relationKey } from './logic/terms.ts';
import type { Operation } from './operation.ts';
import type { Draft } from './report.ts';
import { type DatabaseState, newTenant } from './state.ts';
import type { LogRecord } from './storage/codec.ts';

/** What operations on facts do to the stored facts of a tenant. */

/** Stores the facts, and shows them in the next generation where that changes anything. */
export function* storeFacts(
  database: DatabaseState,
  operation: Extract<Operation, { kind: 'assert' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant =
    database.tenants.get(operation.tenant) ??
    newTenant(record.time, database.forgottenThrough(operation.tenant));
  const { facts, uses } = tenant;
  const generation = database.generation + 1;
  let sliceEnd = rowsInSlice;
  for (const fact of operation.facts) {
    if (--sliceEnd === 0) {
      sliceEnd = rowsInSlice;
      yield 'more';
    }
    const outcome = facts.store(fact, generation, record.time);
    draft[outcome.status]++;
    draft.fact = outcome;
    if (outcome.status !== 'asserted') {
      const asserted = facts.assertedIn(outcome);
      const since = asserted === generation ? record.time : database.createdAtOf(facts, outcome);
      uses.note(outcome, since, record.time);
    }
    if (outcome.status === 'unchanged') continue;
    draft.changes.push({ kind: 'fact.asserted', fact: outcome });
    draft.touched.add(relationKey(fact.predicate, fact.args.length, !fact.truthVal));
  }
  return () => {
    database.tenants.set(operation.tenant, tenant);
    if (draft.changes.length > 0) database.advance(record.time, record.requestId);
  };
}

/** Retracts what is found, and shows that in the next generation where there is anything. */
export function* retractAll(
  database: DatabaseState,
  tenantName: string,
  record: LogRecord,
  draft: Draft,
  find: (facts: FactStore) => Iterable<FactRow>,
): Prepared<void> {
  const tenant = database.tenants.get(tenantName);
  if (tenant === undefined) return () => {};
  const { facts, uses } = tenant;
  const rows: FactRow[] = [];
  for (const fact of find(facts)) {
    rows.push(fact);
    if (rows.length % rowsInSlice === 0) yield 'more';
  }
  if (rows.length === 0) return () => {};
  const generation = database.generation + 1;
  for (const [at, fact] of rows.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    facts.retract(fact, generation);
    draft.changes.push({ kind: 'fact.retracted', fact });
    const { predicate, arity, negated } = fact.relation;
    draft.touched.add(relationKey(predicate, arity, negated));
  }
  return () => {
    database.advance(record.time, record.requestId);
    for (const fact of rows) uses.drop(fact);
  };
}
