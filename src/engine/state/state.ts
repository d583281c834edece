import { EngineError } from '../base/errors.ts';
import { FactUses } from '../store/fact-uses.ts';
import { type FactRow, FactStore } from '../store/fact-store.ts';
import { Generations } from '../store/generations.ts';
import { Imports } from '../store/imports.ts';
import { RuleStore } from '../store/rule-store.ts';
import { StoredOutcomes } from './idempotency.ts';
import { KeyStore } from './key-store.ts';

/**
 * The state of the service: databases, their rules and tenants, keys, and how far the log has been applied.
 *
 * It is a fold of the log. `apply` alone changes it; what is observed (`FactUses`) `apply` may write and never reads.
 */
export interface TenantState {
  readonly facts: FactStore;
  readonly uses: FactUses;
}

export class DatabaseState {
  readonly name: string;
  readonly createdAt: number;
  rules: RuleStore;
  tenants = new Map<string, TenantState>();
  /** The last generation of tenants that were deleted, by name: what they held changed until then. */
  readonly goneTenants = new Map<string, number>();
  /** Not 0 where a database of this name was there before: it goes on with the generation of that one. */
  readonly firstGeneration: number;
  /** When each generation was made, and by which request. */
  readonly generations: Generations;
  readonly imports = new Imports();

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

  /** The write counter. */
  get generation(): number {
    return this.generations.last;
  }

  /** Begins the next generation. */
  advance(time: number, requestId: string): number {
    return this.generations.advance(time, requestId);
  }

  timeOf(generation: number): number {
    return this.generations.timeOf(generation);
  }

  requestOf(generation: number): string {
    return this.generations.requestOf(generation);
  }

  /** The last generation of which nobody can say any more what a tenant that is not there held; 0: there is none. */
  forgottenThrough(tenant: string): number {
    return this.goneTenants.get(tenant) ?? this.firstGeneration;
  }

  /** When the fact was asserted; one that was restored, when it was before that. */
  createdAtOf(facts: FactStore, fact: FactRow): number {
    return facts.createdAtOf(fact) ?? this.timeOf(facts.assertedIn(fact));
  }

  /** The import that asserted the fact; null: none did. */
  importOf(facts: FactStore, fact: FactRow): string | null {
    return this.imports.idOf(facts.assertedIn(fact));
  }

  /** When the fact was asserted, and when it last changed. */
  timesOf(facts: FactStore, fact: FactRow): { createdAt: number; updatedAt: number } {
    return {
      createdAt: this.createdAtOf(facts, fact),
      updatedAt: this.timeOf(fact.relation.birth[fact.row] as number),
    };
  }
}

export class State {
  readonly databases = new Map<string, DatabaseState>();
  /** The last generation of databases that were deleted, by name. */
  readonly goneDatabases = new Map<string, number>();
  idempotency = new StoredOutcomes();
  keys = new KeyStore();
  sequence = 0;
  /** Logical time: the stamp of the last record. */
  time = 0;
  /** True while a record is being applied and is not shown yet: rows of the generation to come are there already. */
  isChanging = false;

  /** Takes over all that another state holds, in the place of what this one held. The other one is not used again. */
  become(other: State): void {
    this.databases.clear();
    for (const [name, database] of other.databases) this.databases.set(name, database);
    this.goneDatabases.clear();
    for (const [name, generation] of other.goneDatabases) this.goneDatabases.set(name, generation);
    this.idempotency = other.idempotency;
    this.keys = other.keys;
    this.sequence = other.sequence;
    this.time = other.time;
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

/** A tenant without facts. Those that it may have had up to the generation `forgottenThrough` are forgotten. */
export function newTenant(time: number, forgottenThrough = 0): TenantState {
  const facts = new FactStore(time);
  facts.forgottenThrough = forgottenThrough;
  return { facts, uses: new FactUses(facts) };
}
