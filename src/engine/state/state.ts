import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { isUnlimited, type Quota } from '../contract/quotas.ts';
import { FactUses } from '../store/fact-uses.ts';
import { type FactRow, FactStore } from '../store/fact-store.ts';
import { Generations, Imports } from '../store/generations.ts';
import { AliasStore } from '../store/alias-store.ts';
import type { TenantPackages } from '../store/package-record.ts';
import { ConstraintStore } from '../store/constraint-store.ts';
import { DeclarationStore } from '../store/declaration-store.ts';
import { RuleStore } from '../store/rule-store.ts';
import { TestStore } from '../store/test-store.ts';
import { type StoredOutcome, StoredOutcomes } from './idempotency.ts';
import { KeyStore } from './key-store.ts';

/** The state of one tenant. `apply` alone changes `facts`, `aliases` and `packages`; it may write the observed `uses` but never reads them. */
export interface TenantState {
  readonly facts: FactStore;
  readonly uses: FactUses;
  readonly aliases: AliasStore;
  readonly packages: TenantPackages;
}

/** The state of one database: its rules, declarations, constraints, tests, tenants, generations and imports. */
export class DatabaseState {
  readonly name: string;
  readonly createdAt: number;
  rules: RuleStore;
  declarations = new DeclarationStore();
  constraints = new ConstraintStore();
  tests = new TestStore();
  tenants = new Map<string, TenantState>();
  /** Last generation of each deleted tenant, by name: until then its facts could change. */
  readonly goneTenants = new Map<string, number>();
  /** Nonzero if a database of this name existed before: generations continue from that one's last. */
  readonly firstGeneration: number;
  /** The time and request of each generation. */
  readonly generations: Generations;
  readonly imports = new Imports();
  /** null: no quota for all tenants together. */
  quota: Quota | null = null;
  /** Incremented by every change of the packages of any tenant. */
  packagesVersion = 0;
  /** The quotas of single tenants, by name. */
  readonly tenantQuotas = new Map<string, Quota>();
  /**
   * The stamp of the record that made the last generation, and the wall clock by which it was judged. Of a database that
   * was restored from an earlier version's snapshot and not written since: of the snapshot's last record. null: no record
   * is applied yet.
   */
  stamped: Stamped | null = null;
  /** The generation in which all of it was removed; its past before is gone. */
  clearedIn = 0;
  /** The tenants of records that are being applied and are not published yet; null: of one that concerns all. */
  readonly #changing = new Set<string | null>();
  /** The generations that large writes took before they are published, by tenant. */
  readonly #taken = new Map<string, number>();

  constructor(
    name: string,
    createdAt: number,
    firstGeneration = 0,
    generations: Generations = new Generations(firstGeneration),
    rules: RuleStore = new RuleStore(),
  ) {
    this.name = name;
    this.createdAt = createdAt;
    this.firstGeneration = firstGeneration;
    this.generations = generations;
    this.rules = rules;
  }

  /** The same under another name. They share everything, so this one must not be used again. */
  renamed(name: string): DatabaseState {
    const other = new DatabaseState(name, this.createdAt, this.firstGeneration, this.generations, this.rules);
    other.declarations = this.declarations;
    other.constraints = this.constraints;
    other.tests = this.tests;
    other.tenants = this.tenants;
    for (const [tenant, generation] of this.goneTenants) other.goneTenants.set(tenant, generation);
    for (const known of this.imports.saved()) other.imports.restore(known);
    other.quota = this.quota;
    for (const [tenant, quota] of this.tenantQuotas) other.tenantQuotas.set(tenant, quota);
    other.stamped = this.stamped;
    other.clearedIn = this.clearedIn;
    return other;
  }

  /** The newest generation, also if a large write has taken it and is not published yet. */
  get lastGeneration(): number {
    return this.generations.last;
  }

  /**
   * The generation that readers of the tenant see: the newest, or the one before that of a write of the tenant that is not
   * published yet; meanwhile only other tenants change.
   */
  generationOf(tenant: string): number {
    const taken = this.#taken.get(tenant);
    return taken === undefined ? this.lastGeneration : taken - 1;
  }

  /** The newest generation that readers of every tenant see. */
  get shownGeneration(): number {
    return Math.min(this.lastGeneration, ...Array.from(this.#taken.values(), (taken) => taken - 1));
  }

  /** Begins the next generation. */
  advance(time: number, requestId: string): number {
    return this.generations.advance(time, requestId);
  }

  /** Takes the next generation for a write of the tenant that changes nothing but its facts, before it is published. */
  take(tenant: string, time: number, requestId: string): number {
    assert(!this.#taken.has(tenant), 'writes of a tenant are applied one after the other');
    const generation = this.advance(time, requestId);
    this.#taken.set(tenant, generation);
    return generation;
  }

  /** Publishes the generation of a write of the tenant: the one that it took, else the next. */
  publish(tenant: string, time: number, requestId: string): number {
    const taken = this.#taken.get(tenant);
    if (taken === undefined) return this.advance(time, requestId);
    this.#taken.delete(tenant);
    return taken;
  }

  /** Begins to apply a record of the tenant; null: of one that concerns all. The result ends it. */
  changing(tenant: string | null): () => void {
    assert(!this.isChangingFor(tenant), 'records of a tenant are applied one after the other');
    this.#changing.add(tenant);
    return () => this.#changing.delete(tenant);
  }

  /** True while a record is being applied and is not published yet: rows of the next generation may exist. */
  get isChanging(): boolean {
    return this.#changing.size > 0;
  }

  /** Like `isChanging`, of a record that concerns the tenant; null: all. */
  isChangingFor(tenant: string | null): boolean {
    return tenant === null ? this.#changing.size > 0 : this.#changing.has(tenant) || this.#changing.has(null);
  }

  timeOf(generation: number): number {
    return this.generations.timeOf(generation);
  }

  requestOf(generation: number): string {
    return this.generations.requestOf(generation);
  }

  /** Sets the quota of the tenant, or of all together if the tenant is null; one that limits nothing is none. */
  setQuota(tenant: string | null, quota: Quota): void {
    if (tenant === null) this.quota = isUnlimited(quota) ? null : quota;
    else if (isUnlimited(quota)) this.tenantQuotas.delete(tenant);
    else this.tenantQuotas.set(tenant, quota);
  }

  /** The last generation whose contents are lost for a tenant that does not exist; 0: none. */
  forgottenThrough(tenant: string): number {
    return this.goneTenants.get(tenant) ?? this.firstGeneration;
  }

  /** The tenant, or a new one that is not yet in the database. */
  tenantOrNew(name: string, time: number): TenantState {
    return this.tenants.get(name) ?? newTenant(time, this.forgottenThrough(name));
  }

  /** When the fact was asserted; for a restored fact, when it was asserted originally. */
  createdAtOf(facts: FactStore, fact: FactRow): number {
    return this.assertedAtOf(facts, fact.relation.number[fact.row] as number);
  }

  /** The same for the fact with this number. */
  assertedAtOf({ numbers }: FactStore, number: number): number {
    return numbers.createdAtOf(number) ?? this.timeOf(numbers.assertedIn(number));
  }

  /** The import that asserted the fact; null: none. */
  importOf(facts: FactStore, fact: FactRow): string | null {
    return this.imports.idOf(facts.assertedIn(fact));
  }

  /** When the fact was asserted, and when it last changed. */
  timesOf(facts: FactStore, fact: FactRow): { createdAt: number; updatedAt: number } {
    return {
      createdAt: this.createdAtOf(facts, fact),
      updatedAt: this.timeOf(fact.relation.bornIn(fact.row)),
    };
  }
}

/** When a record was stamped, and the wall clock by which it was judged; epoch milliseconds. */
export interface Stamped {
  readonly time: number;
  readonly wall: number;
}

/** What the state keeps of a record, in log order: when it was judged, and the outcome under its idempotency key. */
interface AppliedRecord {
  readonly wall: number;
  readonly outcome: StoredOutcome | null;
}

/**
 * The state of the service: databases, keys, idempotency outcomes, and the position of the last applied record.
 *
 * It is a fold of the log; only `apply` changes it.
 */
export class State {
  readonly databases = new Map<string, DatabaseState>();
  /** Last generation of each deleted database, by name. */
  readonly goneDatabases = new Map<string, number>();
  idempotency = new StoredOutcomes();
  keys = new KeyStore();
  /** All records up to this one are applied. */
  sequence = 0;
  /** Logical time: the latest stamp of an applied record. */
  time = 0;
  /** The wall clock by which the last record was judged; it may have been set back since an earlier one. */
  wall = 0;
  /** Records applied before an earlier one of another database, by sequence. */
  readonly #ahead = new Map<number, AppliedRecord>();

  /** Replaces everything in this state with the contents of another, which must not be used again. */
  become(other: State): void {
    this.databases.clear();
    for (const [name, database] of other.databases) this.databases.set(name, database);
    this.goneDatabases.clear();
    for (const [name, generation] of other.goneDatabases) this.goneDatabases.set(name, generation);
    this.idempotency = other.idempotency;
    this.keys = other.keys;
    this.sequence = other.sequence;
    this.time = other.time;
    this.wall = other.wall;
  }

  hasApplied(sequence: number): boolean {
    return sequence <= this.sequence || this.#ahead.has(sequence);
  }

  /** True while a record is being applied, or an earlier one than an applied one is not. */
  get isChanging(): boolean {
    for (const { isChanging } of this.databases.values()) if (isChanging) return true;
    return this.#ahead.size > 0;
  }

  /**
   * Records that a record is applied, with the outcome to keep under its idempotency key; null: it has none. Outcomes
   * are kept in log order, and found at once.
   */
  applied({ sequence, wall }: { sequence: number; wall: number }, outcome: StoredOutcome | null): void {
    if (sequence === this.sequence + 1) {
      this.#advance({ wall, outcome });
      for (let next = this.#ahead.get(this.sequence + 1); next !== undefined; ) {
        this.#ahead.delete(this.sequence + 1);
        this.#advance(next);
        next = this.#ahead.get(this.sequence + 1);
      }
      return;
    }
    this.#ahead.set(sequence, { wall, outcome });
    if (outcome !== null) this.idempotency.expect(outcome);
  }

  #advance({ wall, outcome }: AppliedRecord): void {
    this.sequence++;
    this.wall = wall;
    if (outcome !== null) this.idempotency.put(outcome);
  }

  database(name: string): DatabaseState {
    const database = this.databases.get(name);
    if (database === undefined)
      throw new EngineError(
        'DatabaseNotFound',
        `there is no database ${name}: create it with POST /databases, or name another in X-Database`,
      );
    return database;
  }
}

/** A tenant without facts, aliases and packages. History up to the generation `forgottenThrough` is lost. */
export function newTenant(time: number, forgottenThrough = 0): TenantState {
  const facts = new FactStore(time);
  facts.forgottenThrough = forgottenThrough;
  return { facts, uses: new FactUses(facts), aliases: new AliasStore(), packages: new Map() };
}
