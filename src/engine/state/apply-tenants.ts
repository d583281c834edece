import { present } from '../base/assert.ts';
import { type Draft, type Prepared, rowsInSlice, type Slice } from './report.ts';
import type { FactStore } from '../store/fact-store.ts';
import { RuleStore } from '../store/rule-store.ts';
import { type DatabaseState, newTenant, type State, type TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/**
 * What operations on whole databases and tenants do.
 *
 * What is cleared is not emptied fact by fact: new, empty states take the place of the old ones, whose memory goes when
 * the last who reads them has ended. All that grows with the knowledge is done before that, in slices. The generation
 * moves where facts or rules went, and with every deletion of a database.
 */

export function createTenant(database: DatabaseState, tenant: string, record: LogRecord): void {
  database.tenants.set(tenant, newTenant(record.time, database.forgottenThrough(tenant)));
}

export function* deleteTenant(
  database: DatabaseState,
  name: string,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = tenantOf(database, name);
  const facts = yield* countStored(tenant.facts, database.generation, record.time);
  return () => {
    if (facts > 0) database.advance(record.time, record.requestId);
    database.tenants.delete(name);
    database.goneTenants.set(name, database.generation);
    draft.cleared = { tenants: new Map([[name, tenant]]), facts, rules: 0, isDatabaseGone: false };
  };
}

export function* nukeTenant(
  database: DatabaseState,
  name: string,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = tenantOf(database, name);
  const facts = yield* countStored(tenant.facts, database.generation, record.time);
  return () => {
    if (facts > 0) database.advance(record.time, record.requestId);
    database.tenants.set(name, newTenant(tenant.facts.createdAt, database.generation));
    draft.cleared = { tenants: new Map([[name, tenant]]), facts, rules: 0, isDatabaseGone: false };
  };
}

export function* deleteDatabase(
  state: State,
  database: DatabaseState,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const facts = yield* countAll(database, record.time);
  return () => {
    database.advance(record.time, record.requestId);
    state.databases.delete(database.name);
    state.goneDatabases.set(database.name, database.generation);
    const { tenants, rules } = database;
    draft.cleared = { tenants, facts, rules: rules.size, isDatabaseGone: true };
  };
}

export function* nukeDatabase(database: DatabaseState, record: LogRecord, draft: Draft): Prepared<void> {
  const facts = yield* countAll(database, record.time);
  const { tenants, rules } = database;
  const isChange = facts + rules.size > 0;
  const after = database.generation + (isChange ? 1 : 0);
  const empty = new Map<string, TenantState>();
  for (const [name, tenant] of tenants) {
    empty.set(name, newTenant(tenant.facts.createdAt, after));
    if (empty.size % rowsInSlice === 0) yield 'more';
  }
  return () => {
    if (isChange) database.advance(record.time, record.requestId);
    database.tenants = empty;
    database.rules = new RuleStore();
    // Whatever was compiled from the rules that went knows by the version that it is out of date.
    database.rules.version = rules.version + 1;
    draft.cleared = { tenants, facts, rules: rules.size, isDatabaseGone: false };
  };
}

function tenantOf(database: DatabaseState, name: string): TenantState {
  return present(database.tenants.get(name), 'the tenant was there when it was checked');
}

function* countAll(database: DatabaseState, time: number): Generator<Slice, number, undefined> {
  let count = 0;
  for (const { facts } of database.tenants.values()) {
    count += yield* countStored(facts, database.generation, time);
    yield 'more';
  }
  return count;
}

/** As `FactStore.countStored`, in slices. */
function* countStored(
  facts: FactStore,
  generation: number,
  time: number,
): Generator<Slice, number, undefined> {
  let count = 0;
  for (const relation of facts.relations.values()) {
    yield 'more';
    if (relation.validUntil === null) {
      count += relation.liveAt(generation);
      continue;
    }
    for (let row = 0; row < relation.count; row++) {
      if (relation.isHeld(row, generation, time)) count++;
      if (row % rowsInSlice === rowsInSlice - 1) yield 'more';
    }
  }
  return count;
}
