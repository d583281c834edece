import type { FactRow, FactStore, StoreOutcome } from '../store/fact-store.ts';
import { type Draft, type Prepared, rowsInSlice, type RuleChange, type FactChange } from './report.ts';
import { renderAtom } from '../language/print.ts';
import type {
  Operation,
  Commit,
  RuleOperation,
  Consolidate,
  Decay,
  Restore,
  SummaryToStore,
} from './operation.ts';
import { type DatabaseState, newTenant, type TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';
import { changeRules } from './apply-rules.ts';
import type { ConsolidatedValue, Consolidation } from '../contract/memory.ts';

/** Applies operations on a tenant's stored facts: assertions, retractions, transactions and those of the memory. */

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

/** Evicts facts, and forgets the ends of validity of facts that had ended and were asserted again. */
export function* applyDecay(
  database: DatabaseState,
  { tenant: name, scope, facts: numbers }: Decay,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(name);
  if (tenant === undefined) return () => {};
  const writer = new MemoryWriter(database, tenant, record, draft);
  yield* writer.retract(numbers, 'memory.evicted');
  return () => {
    tenant.facts.forgetEnds(scope);
    writer.show();
  };
}

/** Retracts facts and former summaries, then asserts the summaries. */
export function* applyConsolidation(
  database: DatabaseState,
  { tenant: name, retract, summaries, values }: Consolidate,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(name);
  if (tenant === undefined) return () => {};
  const writer = new MemoryWriter(database, tenant, record, draft);
  yield* writer.retract(retract, 'fact.retracted');
  let from = 0;
  for (const [at, summary] of summaries.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    const members = values.slice(from, (from += summary.count));
    const { predicate, args, truthVal, scope } = summary;
    const metadata = { ...summary.metadata, consolidated: consolidationOf(summary, members) };
    writer.store({ predicate, args, truthVal, scope, metadata });
  }
  return () => writer.show();
}

function consolidationOf(
  { from, position, count, first, last }: SummaryToStore,
  values: ConsolidatedValue[],
): Consolidation {
  return { from, position, values, count, first, last };
}

/** Retracts a summary, then asserts facts that it replaced; restoring a fact counts as a use. */
export function* applyRestoring(
  database: DatabaseState,
  { tenant: name, summary, facts }: Restore,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(name);
  if (tenant === undefined) return () => {};
  const writer = new MemoryWriter(database, tenant, record, draft);
  yield* writer.retract([summary], 'fact.retracted');
  for (const [at, { createdAt, ...fact }] of facts.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    const stored = writer.store(fact);
    if (stored.status !== 'asserted') continue;
    tenant.facts.setCreatedAt(stored, createdAt);
    tenant.uses.note(stored, createdAt, record.time);
  }
  return () => writer.show();
}

/**
 * Writes the facts of decay, consolidation and restoring into the next generation, exactly as recorded, and reports
 * them.
 *
 * Records name the facts to retract by number; those facts are stored when the record is logged. A number without a
 * live version retracts nothing. Uses are written here, never read.
 */
class MemoryWriter {
  readonly #database: DatabaseState;
  readonly #tenant: TenantState;
  readonly #record: LogRecord;
  readonly #draft: Draft;
  readonly #generation: number;
  readonly #retracted: FactRow[] = [];

  constructor(database: DatabaseState, tenant: TenantState, record: LogRecord, draft: Draft) {
    this.#database = database;
    this.#tenant = tenant;
    this.#record = record;
    this.#draft = draft;
    this.#generation = database.generation + 1;
  }

  *retract(
    numbers: readonly number[],
    kind: Exclude<FactChange['kind'], 'fact.asserted'>,
  ): Generator<'more', void, undefined> {
    const { facts } = this.#tenant;
    for (const [at, number] of numbers.entries()) {
      if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
      const fact = facts.versionOf(number);
      if (fact.row < 0 || !fact.relation.isAlive(fact.row)) continue;
      facts.retract(fact, this.#generation);
      this.#retracted.push(fact);
      this.#draft.changes.add(kind, fact);
    }
  }

  store(fact: Parameters<FactStore['store']>[0]): ReturnType<FactStore['store']> {
    const stored = this.#tenant.facts.store(fact, this.#generation, this.#record.time);
    this.#draft[stored.status]++;
    if (stored.status !== 'unchanged') this.#draft.changes.add('fact.asserted', stored);
    return stored;
  }

  /** Publishes the generation if anything changed. */
  show(): void {
    if (this.#draft.changes.length > 0) this.#database.advance(this.#record.time, this.#record.requestId);
    for (const fact of this.#retracted) this.#tenant.uses.drop(fact);
  }
}
