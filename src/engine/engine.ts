import type { ChangeData, ChangeKind, CreatedDatabase, DatabaseList } from './contract/administration.ts';
import type { AggregateInput, AggregateResult } from './contract/aggregation.ts';
import type {
  ExplainInput,
  Explanation,
  Trace,
  TraceInput,
  WhatIfInput,
  WhatIfResult,
} from './contract/explanation.ts';
import type {
  FactDetail,
  FactInput,
  FactList,
  FactOutcome,
  FactsOutcome,
  ListFactsQuery,
  PredicateList,
  QueryInput,
  QueryResult,
  RetractInput,
  RetractOutcome,
  RetractPatternOutcome,
} from './contract/facts.ts';
import type { Answer, AskInput } from './contract/inference.ts';
import type {
  RuleInput,
  RuleOutcome,
  RuleRetracted,
  RuleUpdate,
  StoredRule,
  ValidateResult,
} from './contract/rules.ts';
import type { Caller } from './base/caller.ts';

/**
 * One change, as subscribers and GET /events get it. `id` is `generation.index`: who resumes names it, and gets what came
 * after it. What a change withdrew is told when it is known, so changes of a later write can come before.
 */
export interface Change {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly database: string;
  /** null: concerns every tenant of the database (rules, scopes of rules). */
  readonly tenant: string | null;
  readonly data: ChangeData;
}

/** What the engine counts, for metrics. All are totals since the start, but for `facts`. */
export interface EngineCounters {
  factsAsserted: number;
  factsRetracted: number;
  rulesFired: number;
  /** Stored facts now, over all databases and tenants. */
  facts: number;
  records: number;
  commits: number;
}

/**
 * The engine: knowledge that is durable, asked with inference. Every call takes the caller, refuses with an
 * EngineError, and every write resolves after it is durable. All times are epoch milliseconds.
 */
export interface Engine {
  tell(caller: Caller, fact: FactInput & { ifGeneration: number | null }): Promise<FactOutcome>;
  tellAll(caller: Caller, facts: readonly FactInput[]): Promise<FactsOutcome>;
  forget(caller: Caller, input: RetractInput): Promise<RetractOutcome>;
  forgetPattern(caller: Caller, input: RetractInput): Promise<RetractPatternOutcome>;
  forgetById(caller: Caller, id: string): Promise<RetractOutcome>;
  query(caller: Caller, input: QueryInput): Promise<QueryResult>;
  facts(caller: Caller, query: ListFactsQuery): Promise<FactList>;
  fact(caller: Caller, id: string): Promise<FactDetail>;
  predicates(caller: Caller): Promise<PredicateList>;
  teach(caller: Caller, rule: RuleInput): Promise<RuleOutcome>;
  updateRule(caller: Caller, id: string, rule: RuleUpdate): Promise<RuleOutcome>;
  forgetRule(caller: Caller, id: string): Promise<RuleRetracted>;
  rules(caller: Caller): Promise<StoredRule[]>;
  validateRules(caller: Caller, text: string): Promise<ValidateResult>;
  ask(caller: Caller, question: AskInput): Promise<Answer>;
  aggregate(caller: Caller, input: AggregateInput): Promise<AggregateResult>;
  explain(caller: Caller, input: ExplainInput): Promise<Explanation>;
  whatIf(caller: Caller, input: WhatIfInput): Promise<WhatIfResult>;
  trace(caller: Caller, input: TraceInput): Promise<Trace>;
  databases(caller: Caller): Promise<DatabaseList>;
  createDatabase(caller: Caller, name: string): Promise<CreatedDatabase>;
  /** True where the database exists; the surfaces refuse an unknown one before they look at the body. */
  hasDatabase(name: string): boolean;
  /**
   * Changes of the caller's database and tenant from now on, or after `lastEventId` where those are still
   * remembered; otherwise the first change is a `reset`. Ends with the caller's signal. A subscriber that falls
   * too far behind gets a `reset` and loses what it missed.
   */
  changes(caller: Caller, lastEventId: string | null): AsyncIterable<Change>;
  /** Calls `listener` synchronously for every change of every database; returns the way to stop. */
  subscribe(listener: (change: Change) => void): () => void;
  /** State of the log: `failed` while writes are refused. */
  storage(): 'ready' | 'failed';
  counters(): EngineCounters;
  /** Finishes what runs, makes all durable, releases the folder. Later calls are refused with NotReady. */
  close(): Promise<void>;
}
