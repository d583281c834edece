import { present } from '../base/assert.ts';
import { type Draft, type Prepared, rowsInSlice, type Slice } from './report.ts';
import type { FactStore } from '../store/fact-store.ts';
import { RuleStore } from '../store/rule-store.ts';
import { type DatabaseState, newTenant, type State, type TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/**
 * Applies operations on whole databases and tenants.
 *
 * Clearing replaces a state with a new, empty one instead of retracting facts one by one; the old state is freed when
 * its last reader ends. Work proportional to the data happens before that, in slices. The generation advances if facts
 * or rules go, and with every deletion of a database.
 */

/** Creates an empty tenant. */
export function createTenant(database: DatabaseState, tenant: string, record: LogRecord): void {
  database.tenants.set(tenant, newTenant(record.time, database.forgottenThrough(tenant)));
}

/** Removes a tenant with its facts. */
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

/** Removes all facts of a tenant; the tenant stays. */
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

/** Removes a database with its tenants, facts and rules. */
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

/** Removes all facts and rules of a database; the database and its tenants stay. */
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
    // The version tells programs compiled from the removed rules that they are out of date.
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

/** Like `FactStore.countStored`, in slices. */
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
