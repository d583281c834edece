import { EngineError } from './base/errors.ts';
import { FactUses } from './context/fact-uses.ts';
import { type FactRow, FactStore } from './facts/fact-store.ts';
import { Generations } from './facts/generations.ts';
import { RuleStore } from './facts/rule-store.ts';

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
  readonly rules: RuleStore;
  readonly tenants = new Map<string, TenantState>();
  /** When each generation was made, and by which request. */
  readonly generations: Generations;

  /** `generations`: those of the database that had the name before, which it goes on counting after. */
  constructor(
    name: string,
    createdAt: number,
    generations: Generations = new Generations(),
    rules: RuleStore = new RuleStore(),
  ) {
    this.name = name;
    this.createdAt = createdAt;
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
  sequence = 0;
  /** Logical time: the stamp of the last record. */
  time = 0;
  /** True while a record is being applied and is not shown yet: rows of the generation to come are there already. */
  isChanging = false;

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

export function newTenant(time: number): TenantState {
  const facts = new FactStore(time);
  return { facts, uses: new FactUses(facts) };
}
