import { type Draft, type Prepared, rowsInSlice } from './report.ts';
import type { ConsolidatedValue, Consolidation } from '../contract/memory.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import type { Consolidate, Decay, Restore, SummaryToStore } from './operation.ts';
import type { FactChange } from './fact-changes.ts';
import type { DatabaseState, TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/**
 * Applies decay, consolidation and restoring to a tenant's stored facts, exactly as recorded.
 *
 * Records name the facts to retract by number; those facts are stored when the record is logged. A number without a
 * live version retracts nothing. Uses are written here, never read.
 */

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

/** Writes facts into the next generation and reports them. */
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
