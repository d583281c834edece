import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import type {
  Cleared,
  CreatedDatabase,
  CreatedTenant,
  DatabaseList,
  DeletedDatabase,
  TenantList,
} from '../contract/administration.ts';
import { noQuota, type Quota, type QuotaState, type QuotaUse } from '../contract/quotas.ts';
import { type Operation, clearedPart, createdPart, outcomeAs } from '../state/operation.ts';
import type { Writer } from '../session/writer.ts';
import type { DatabaseState, State, TenantState } from '../state/state.ts';

/**
 * Databases and tenants: list, create, empty and delete.
 *
 * Lists show what the caller's credential covers; naming anything outside it is refused with Forbidden, whether it
 * exists or not.
 */
export class Databases {
  readonly #state: State;
  readonly #writer: Writer;
  readonly #openTransactions: (database: string, tenant: string | null) => number;

  /** `openTransactions` counts those of a tenant, or of all tenants of the database if it is null. */
  constructor(
    state: State,
    writer: Writer,
    openTransactions: (database: string, tenant: string | null) => number,
  ) {
    this.#state = state;
    this.#writer = writer;
    this.#openTransactions = openTransactions;
  }

  /** The databases that the caller can reach, by name. */
  async databases(caller: Caller): Promise<DatabaseList> {
    this.#writer.live.refuseClosed();
    const slices = this.#writer.slices(caller);
    const databases = [];
    for (const database of sorted(this.#state.databases.values(), ({ name }) => name)) {
      if (!covers(caller.databases, database.name)) continue;
      const tenants = reachable(caller, database);
      let facts = 0;
      for (const [name, tenant] of tenants) {
        facts += this.#countStored(database, name, tenant);
        await slices.breathe();
      }
      const { name, createdAt, rules } = database;
      databases.push({ name, createdAt, tenants: tenants.length, facts, rules: rules.size });
    }
    return { databases };
  }

  async createDatabase(caller: Caller, name: string): Promise<CreatedDatabase> {
    requireReach(caller, name, null);
    const check = (): void => {
      if (this.#state.databases.has(name)) throw databaseExists(name);
    };
    const operation: Operation = { kind: 'createDatabase', name };
    // In a log of its own there is no other.
    const database = this.#state.databases.has('default') ? 'default' : name;
    const { outcome } = await this.#writer.write({ caller, database, operation, check });
    return { name, ...createdPart(outcome) };
  }

  async deleteDatabase(caller: Caller, name: string): Promise<DeletedDatabase> {
    requireReach(caller, name, null);
    const check = (): void => {
      if (name === 'default')
        throw new EngineError('Conflict', 'the database default cannot be deleted: nuke it to empty it');
    };
    const operation: Operation = { kind: 'deleteDatabase' };
    const { outcome } = await this.#writer.write({ caller, database: name, operation, check });
    const { facts, rules } = clearedPart(outcome);
    return { name, status: 'deleted', facts, rules };
  }

  async nukeDatabase(caller: Caller, name: string): Promise<Cleared> {
    requireReach(caller, name, null);
    // The database need only exist. The check makes the commit exclusive, because it concerns all tenants.
    const check = (): void => {};
    const operation: Operation = { kind: 'nukeDatabase' };
    const { outcome } = await this.#writer.write({ caller, database: name, operation, check });
    return { status: 'nuked', ...clearedPart(outcome) };
  }

  /** The quota of the database, or of one of its tenants, and what is in use. Throws TenantNotFound. */
  async quota(caller: Caller, name: string, tenant: string | null): Promise<QuotaState> {
    this.#writer.live.refuseClosed();
    requireReach(caller, name, tenant);
    const database = this.#state.database(name);
    if (tenant !== null && !database.tenants.has(tenant)) throw noTenant(name, tenant);
    const quota = tenant === null ? database.quota : database.tenantQuotas.get(tenant);
    return { quota: { ...(quota ?? noQuota) }, use: await this.#useOf(database, tenant) };
  }

  /** Sets the quota of the database, or of one of its tenants, which it creates if there is none. */
  async setQuota(caller: Caller, name: string, tenant: string | null, quota: Quota): Promise<QuotaState> {
    requireReach(caller, name, tenant);
    // It concerns writes of others: the check makes the commit exclusive.
    const check = (): void => {};
    const operation: Operation = { kind: 'setQuota', tenant, quota };
    const { outcome } = await this.#writer.write({ caller, database: name, operation, check });
    const database = this.#state.database(name);
    return {
      quota: { ...outcomeAs(outcome, 'quota').quota },
      use: await this.#useOf(database, tenant),
    };
  }

  async #useOf(database: DatabaseState, tenant: string | null): Promise<QuotaUse> {
    const { live, admission, questions } = this.#writer;
    const { facts, bytes } = await admission.use(database.name, tenant, live.showTime());
    const counted = tenant === null ? database : database.tenants.get(tenant);
    return {
      facts,
      bytes,
      ...questions.use(counted),
      openTransactions: this.#openTransactions(database.name, tenant),
    };
  }

  /** The tenants that the caller can reach, by name. */
  async tenants(caller: Caller, database: string): Promise<TenantList> {
    this.#writer.live.refuseClosed();
    requireReach(caller, database, null);
    const slices = this.#writer.slices(caller);
    const state = this.#state.database(database);
    const tenants = [];
    for (const [name, tenant] of sorted(reachable(caller, state), ([name]) => name)) {
      const facts = this.#countStored(state, name, tenant);
      tenants.push({ name, createdAt: tenant.facts.createdAt, facts });
      await slices.breathe();
    }
    return { tenants };
  }

  async createTenant(caller: Caller, database: string, name: string): Promise<CreatedTenant> {
    requireReach(caller, database, name);
    const check = (): void => {
      if (this.#state.database(database).tenants.has(name))
        throw new EngineError('Conflict', `the tenant ${name} exists already in the database ${database}`);
    };
    const operation: Operation = { kind: 'createTenant', tenant: name };
    const { outcome } = await this.#writer.write({ caller, database, operation, check });
    return { name, ...createdPart(outcome) };
  }

  async deleteTenant(caller: Caller, database: string, name: string): Promise<Cleared> {
    return { status: 'deleted', ...(await this.#clearTenant(caller, database, name, 'deleteTenant')) };
  }

  async nukeTenant(caller: Caller, database: string, name: string): Promise<Cleared> {
    return { status: 'nuked', ...(await this.#clearTenant(caller, database, name, 'nukeTenant')) };
  }

  async #clearTenant(
    caller: Caller,
    database: string,
    name: string,
    kind: 'deleteTenant' | 'nukeTenant',
  ): Promise<Omit<Cleared, 'status'>> {
    requireReach(caller, database, name);
    const check = (): void => requireTenant(this.#state.database(database), name);
    const operation: Operation = { kind, tenant: name };
    const { outcome } = await this.#writer.write({ caller, database, operation, check });
    return clearedPart(outcome);
  }

  #countStored(database: DatabaseState, name: string, { facts }: TenantState): number {
    return facts.countStored(database.generationOf(name), this.#writer.live.showTime());
  }
}

/** Throws TenantNotFound. */
export function requireTenant({ name, tenants }: DatabaseState, tenant: string): void {
  if (!tenants.has(tenant)) throw noTenant(name, tenant);
}

function noTenant(database: string, tenant: string): EngineError {
  return new EngineError('TenantNotFound', `there is no tenant ${tenant} in the database ${database}`);
}

function sorted<Item>(items: Iterable<Item>, nameOf: (item: Item) => string): Item[] {
  return [...items].sort((left, right) => compareText(nameOf(left), nameOf(right)));
}

function reachable(caller: Caller, database: DatabaseState): [string, TenantState][] {
  return [...database.tenants].filter(([name]) => covers(caller.tenants, name));
}

/** An empty list means no restriction. */
function covers(restriction: readonly string[], name: string): boolean {
  return restriction.length === 0 || restriction.includes(name);
}

/** The refusal of a creation of what there is already. */
export function databaseExists(name: string): EngineError {
  return new EngineError('Conflict', `the database ${name} exists already`);
}

/** Throws Forbidden if the credential does not cover the database, or the tenant. */
export function requireReach(caller: Caller, database: string, tenant: string | null): void {
  if (!covers(caller.databases, database))
    throw new EngineError('Forbidden', 'the credential does not cover this database');
  if (tenant !== null && !covers(caller.tenants, tenant))
    throw new EngineError('Forbidden', 'the credential does not cover this tenant');
}
