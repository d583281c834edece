import type { FactRow, FactStore, StoreOutcome } from '../store/fact-store.ts';
import { type Draft, type Prepared, rowsInSlice } from './report.ts';
import { renderAtom } from '../language/print.ts';
import type { Operation } from './operation.ts';
import { type DatabaseState, newTenant } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/** Applies operations on a tenant's stored facts. */

/** Stores the facts and publishes them in the next generation if anything changed. */
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
  const noteStored = (outcome: StoreOutcome): void => {
    draft[outcome.status]++;
    draft.fact = outcome;
    if (outcome.status !== 'asserted') {
      const asserted = facts.assertedIn(outcome);
      const since = asserted === generation ? record.time : database.createdAtOf(facts, outcome);
      uses.note(outcome, since, record.time);
    }
    if (outcome.status !== 'unchanged') draft.changes.add('fact.asserted', outcome);
  };
  const { length } = operation.facts;
  for (let from = 0; from < length; from += rowsInSlice) {
    if (from > 0) yield 'more';
    const end = Math.min(length, from + rowsInSlice);
    facts.storeAll(operation.facts, { from, end }, generation, record.time, noteStored);
  }
  return () => {
    database.tenants.set(operation.tenant, tenant);
    const isChange = draft.changes.length > 0;
    if (isChange) database.advance(record.time, record.requestId);
    if (operation.importId !== undefined)
      database.imports.note(operation.importId, operation.tenant, isChange ? generation : null);
  };
}

/** Retracts the facts found and publishes that in the next generation, if there are any. */
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
    draft.changes.add('fact.retracted', fact);
  }
  return () => {
    database.advance(record.time, record.requestId);
    for (const fact of rows) uses.drop(fact);
  };
}

/**
 * Retracts the facts that an import asserted and no other write has changed since, and publishes that in the next
 * generation, if there are any. Facts changed since stay; the outcome lists them in order of assertion.
 */
export function* applyImportUndo(
  database: DatabaseState,
  operation: Extract<Operation, { kind: 'undoImport' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const { tenant, importId } = operation;
  const facts = database.tenants.get(tenant)?.facts;
  const own = new Set(database.imports.generationsOf(importId, tenant) ?? []);
  const rows: FactRow[] = [];
  const kept: string[] = [];
  let looked = 0;
  for (const generation of own) {
    if (facts === undefined) break;
    const { first, end } = facts.numbersOf(generation);
    for (let number = first; number < end; number++) {
      if (++looked % rowsInSlice === 0) yield 'more';
      const fact = facts.versionOf(number);
      if (fact.row < 0 || !facts.isStored(fact, record.time)) continue;
      if (own.has(fact.relation.birth[fact.row] as number)) rows.push(fact);
      else {
        const { predicate, negated } = fact.relation;
        kept.push(renderAtom({ predicate, args: facts.argsOf(fact), negated }));
      }
    }
  }
  const show = yield* retractAll(database, tenant, record, draft, () => rows);
  return () => {
    show();
    draft.outcome = { kind: 'undone', retracted: rows.length, kept, generation: database.generation };
  };
}
