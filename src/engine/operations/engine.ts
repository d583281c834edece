import type {
  Cleared,
  CreatedDatabase,
  CreatedTenant,
  DatabaseList,
  DeletedDatabase,
  SnapshotTaken,
  StorageState,
  TenantList,
} from '../contract/administration.ts';
import type {
  ClearSessionInput,
  ContextSummary,
  ContextWindow,
  OptimizeInput,
  SummaryInput,
  WindowDiff,
  WindowDiffInput,
} from '../contract/context.ts';
import type {
  ContextEntry,
  Consolidated,
  ConsolidateInput,
  Decayed,
  DecayInput,
  MemoryStats,
  MemoryStatsQuery,
  Recalled,
  RecallInput,
  Restored,
  RestoreInput,
} from '../contract/memory.ts';
import type { AggregateInput, AggregateResult } from '../contract/aggregation.ts';
import type {
  ExplainInput,
  Explanation,
  Trace,
  TraceInput,
  WhatIfInput,
  WhatIfResult,
} from '../contract/explanation.ts';
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
} from '../contract/facts.ts';
import type { Answer, AskInput } from '../contract/inference.ts';
import type {
  RuleInput,
  RuleOutcome,
  RuleRetracted,
  RuleUpdate,
  StoredRule,
  ValidateResult,
} from '../contract/rules.ts';
import type {
  DiffInput,
  Forked,
  ForkInput,
  Merged,
  MergeInput,
  ScopeDeleted,
  ScopeDiff,
  ScopeList,
} from '../contract/scopes.ts';
import type { Committed, RolledBack, TransactionBegun } from '../contract/transactions.ts';
import type { Caller } from '../base/caller.ts';
import type { ImportUndone } from '../contract/transfer.ts';
import type { ExportTaker } from '../read/export-knowledge.ts';
import type { ExportChoice } from '../read/export-knowledge.ts';
import type { StoredImport } from '../write/importing.ts';
import type { Import } from '../write/importing.ts';
import type { AboutInput } from '../memory/mentioned-facts.ts';
import type { ViewFields } from '../session/read-context.ts';
import type { VocabularyEntry } from '../read/vocabulary.ts';
import type { Learned } from '../write/learn.ts';
import type { Learning } from '../write/learn.ts';
import type { Replica } from '../replication/follower.ts';
import type { Leader } from '../replication/leader.ts';
import type { Journal, JournalName } from '../log/journal.ts';
import type { Change } from '../session/change-feed.ts';
import type { EngineCounters, EngineFigures } from '../session/live-state.ts';
import type { Backup } from '../commit/snapshots.ts';
import type { Keys } from '../write/keys.ts';
import type { TransactionWrites } from '../write/transactions.ts';

/**
 * The engine: knowledge that is durable, asked with inference. Every call takes the caller, refuses with an
 * EngineError, and every write resolves after it is durable. All times are epoch milliseconds. Questions see the writes of
 * the transaction that the caller names; writes to it go to `within`.
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
  rule(caller: Caller, id: string): Promise<StoredRule>;
  validateRules(caller: Caller, text: string): Promise<ValidateResult>;
  ask(caller: Caller, question: AskInput): Promise<Answer>;
  aggregate(caller: Caller, input: AggregateInput): Promise<AggregateResult>;
  explain(caller: Caller, input: ExplainInput): Promise<Explanation>;
  whatIf(caller: Caller, input: WhatIfInput): Promise<WhatIfResult>;
  trace(caller: Caller, input: TraceInput): Promise<Trace>;
  begin(caller: Caller): Promise<TransactionBegun>;
  /** Where writes become part of the transaction that the caller names. */
  within(caller: Caller): TransactionWrites;
  /**
   * Rolls back the transaction that the caller names, since a write in it was refused before it came here. False where
   * it is not open, not the caller's, or being committed.
   */
  abandon(caller: Caller): boolean;
  /** `timeoutMs`: how long a dry run works out what would follow. */
  commit(caller: Caller, id: string, dryRun: boolean, timeoutMs?: number): Promise<Committed>;
  rollback(caller: Caller, id: string): Promise<RolledBack>;
  scopes(caller: Caller): Promise<ScopeList>;
  fork(caller: Caller, input: ForkInput): Promise<Forked>;
  diff(caller: Caller, input: DiffInput): Promise<ScopeDiff>;
  merge(caller: Caller, input: MergeInput): Promise<Merged>;
  deleteScope(caller: Caller, name: string): Promise<ScopeDeleted>;
  /** The facts of highest salience; reading them here is no use of them. */
  recall(caller: Caller, input: RecallInput): Promise<Recalled>;
  memoryStats(caller: Caller, query: MemoryStatsQuery): Promise<MemoryStats>;
  consolidate(caller: Caller, input: ConsolidateInput): Promise<Consolidated>;
  restore(caller: Caller, input: RestoreInput): Promise<Restored>;
  decay(caller: Caller, input: DecayInput): Promise<Decayed>;
  /** A window of facts; being in it is no use of them. */
  optimizeContext(caller: Caller, input: OptimizeInput): Promise<ContextWindow>;
  diffContext(caller: Caller, input: WindowDiffInput): Promise<WindowDiff>;
  summarizeContext(caller: Caller, input: SummaryInput): Promise<ContextSummary>;
  /** Forgets the window of the session, known or not; answers with a sentence that says so. */
  clearContextSession(caller: Caller, input: ClearSessionInput): Promise<string>;
  /** Stores all that a text taught, in one generation, or nothing. */
  learn(caller: Caller, learning: Learning): Promise<Learned>;
  /** What the first request with the caller's idempotency key came to, where that learned something; else null. */
  learned(caller: Caller): Learned | null;
  /** For each rule why it cannot be taught beside those there are and those before it; null: it can. */
  ruleRefusals(caller: Caller, rules: readonly RuleInput[]): Promise<(string | null)[]>;
  /** The relations that can be said and asked of in a view, those of most facts first. */
  vocabulary(caller: Caller, view: ViewFields): Promise<VocabularyEntry[]>;
  /** The stored facts that a text is about, by the names in it, those of highest salience first. */
  factsAbout(caller: Caller, input: AboutInput): Promise<ContextEntry[]>;
  /** The constants of the tenant's facts that a text mentions, by code point. */
  constantsIn(caller: Caller, text: string): Promise<string[]>;
  /** Begins an import, of a new id; `dryRun`: it writes nothing, and counts what it would. */
  import(caller: Caller, dryRun: boolean): Import;
  undoImport(caller: Caller, id: string): Promise<ImportUndone>;
  /** What the caller's first request with this idempotency key came to, in the last 24 hours; null: there was none. */
  keptImport(caller: Caller, key: string): StoredImport | null;
  /** Hands what is stored over, piece by piece: see `exportKnowledge`. */
  export(caller: Caller, choice: ExportChoice, taker: ExportTaker): Promise<void>;
  databases(caller: Caller): Promise<DatabaseList>;
  createDatabase(caller: Caller, name: string): Promise<CreatedDatabase>;
  deleteDatabase(caller: Caller, name: string): Promise<DeletedDatabase>;
  nukeDatabase(caller: Caller, name: string): Promise<Cleared>;
  tenants(caller: Caller, database: string): Promise<TenantList>;
  createTenant(caller: Caller, database: string, name: string): Promise<CreatedTenant>;
  deleteTenant(caller: Caller, database: string, name: string): Promise<Cleared>;
  nukeTenant(caller: Caller, database: string, name: string): Promise<Cleared>;
  readonly keys: Keys;
  /** What those are sent who follow this engine. */
  readonly leader: Leader;
  /** What a leader's records go into; null: this engine takes writes. */
  readonly replica: Replica | null;
  /** Sequence of the last record that is durable, and whose history it belongs to; null where there is none. */
  position(): { readonly position: number; readonly historyId: string | null; readonly epoch: number };
  /** Writes a snapshot of the present state, and lets go of what of the log it covers. */
  snapshot(): Promise<SnapshotTaken>;
  /** A snapshot of the present state, as a file to be kept elsewhere. */
  backup(): Promise<Backup>;
  storageState(): StorageState;
  /**
   * True where a write with the caller's idempotency key was made in the last 24 hours: repeated, it changes nothing and
   * is answered by what it came to. Refuses with IdempotencyMismatch where that was another request.
   */
  remembers(caller: Caller): boolean;
  /** True where the database exists; the surfaces refuse an unknown one before they look at the body. */
  hasDatabase(name: string): boolean;
  /**
   * Changes of the caller's database and tenant from now on, or after `lastEventId` where those are still
   * remembered; otherwise the first change is a `reset`. Ends with the caller's signal. A subscriber that falls
   * too far behind gets a `reset` and loses what it missed.
   */
  changes(caller: Caller, lastEventId: string | null): AsyncIterable<Change>;
  /**
   * Tells subscribers of the caller's database and tenant that an agent called a tool there; `id` names the call. Nothing
   * is written, and a database or tenant that does not exist is not made.
   */
  tellOfToolCall(caller: Caller, id: string): void;
  /** Calls `listener` synchronously for every change of every database; returns the way to stop. */
  subscribe(listener: (change: Change) => void): () => void;
  /** State of the log: `failed` while writes are refused. */
  storage(): 'ready' | 'failed';
  /** What the service keeps beside the log under this name; one owner, which loads it first. Closed with the engine. */
  journal(name: JournalName): Journal;
  counters(): EngineCounters;
  figures(): EngineFigures;
  /**
   * Finishes what runs, makes all durable, writes a last snapshot where so much time is enough for it (8 s unless
   * given), releases the folder. Later calls are refused with NotReady.
   */
  close(snapshotWithinMs?: number): Promise<void>;
}
