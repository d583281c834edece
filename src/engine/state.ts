import { present } from './base/assert.ts';
import { EngineError } from './base/errors.ts';
import { FactUses } from './context/fact-uses.ts';
import { type FactRow, FactStore } from './facts/fact-store.ts';
import { RuleStore } from './facts/rule-store.ts';
import { KeptOutcomes } from './idempotency.ts';

/**
 * The state of the service: databases, their rules and tenants, and how far the log has been applied.
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
  rules = new RuleStore();
  tenants = new Map<string, TenantState>();
  /** The last generation of tenants that were deleted, by name: what they held changed until then. */
  readonly goneTenants = new Map<string, number>();
  /** Not 0 where a database of this name was there before: it goes on with the generation of that one. */
  readonly firstGeneration: number;
  /** The write counter. */
  generation: number;
  /** Time and request of each generation, from the first on. */
  readonly #times: number[] = [0];
  readonly #requestIds: string[] = [''];

  constructor(name: string, createdAt: number, firstGeneration = 0) {
    this.name = name;
    this.createdAt = createdAt;
    this.firstGeneration = firstGeneration;
    this.generation = firstGeneration;
  }

  /** Begins the next generation. */
  advance(time: number, requestId: string): number {
    this.#times.push(time);
    this.#requestIds.push(requestId);
    return ++this.generation;
  }

  timeOf(generation: number): number {
    return present(this.#times[generation - this.firstGeneration], 'a generation has its time');
  }

  requestOf(generation: number): string {
    return present(this.#requestIds[generation - this.firstGeneration], 'a generation has its request');
  }

  /** The last generation of which nobody can say any more what a tenant that is not there held; 0: there is none. */
  forgottenThrough(tenant: string): number {
    return this.goneTenants.get(tenant) ?? this.firstGeneration;
  }

  /** When the fact was asserted, and when it last changed. */
  timesOf(facts: FactStore, fact: FactRow): { createdAt: number; updatedAt: number } {
    return {
      createdAt: this.timeOf(facts.assertedIn(fact)),
      updatedAt: this.timeOf(fact.relation.birth[fact.row] as number),
    };
  }
}

export class State {
  readonly databases = new Map<string, DatabaseState>();
  /** The last generation of databases that were deleted, by name. */
  readonly goneDatabases = new Map<string, number>();
  readonly idempotency = new KeptOutcomes();
  sequence = 0;
  /** Logical time: the stamp of the last record. */
  time = 0;

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
