import { aggregateFacts } from '../read/aggregate-facts.ts';
import { ask, askByPointLookup, bodyOf } from '../read/ask.ts';
import { withoutCancellation, unlimited } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError, notLeader } from '../base/errors.ts';
import type { FactPattern } from '../store/fact-store.ts';
import { Slices, runInSlices } from '../base/slices.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
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
  Consolidated,
  ConsolidateInput,
  ContextEntry,
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
import type * as facts from '../contract/facts.ts';
import { isVariable } from '../contract/language.ts';
import type { Answer, AskInput } from '../contract/inference.ts';
import type * as rules from '../contract/rules.ts';
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
import {
  consequencesOf,
  consequencesTimeoutMs,
  completenessPart,
  viewOfWrites,
} from '../session/consequences.ts';
import type { ImportUndone } from '../contract/transfer.ts';
import type { Committed, RolledBack, TransactionBegun } from '../contract/transactions.ts';
import { consolidate } from '../memory/consolidate.ts';
import { Databases } from '../write/databases.ts';
import { decay } from '../memory/decay.ts';
import { DecaySchedule } from '../memory/decay-schedule.ts';
import { factDetail, listPredicates, noSuchFact, requireFact } from '../read/describe.ts';
import type { Engine } from './engine.ts';
import type { TransactionWrites } from '../write/transactions.ts';
import type { Backup } from '../commit/snapshots.ts';
import type { EngineFigures } from '../session/live-state.ts';
import type { EngineCounters } from '../session/live-state.ts';
import type { Change } from '../session/change-feed.ts';
import { explain } from '../read/explain.ts';
import { exportKnowledge } from '../read/export-knowledge.ts';
import { dependentsAmong, patternOf } from '../session/forget.ts';
import { markOf, spaceOf } from '../state/idempotency.ts';
import { Keys } from '../write/keys.ts';
import { memoryStats } from '../memory/memory-stats.ts';
import { recall } from '../memory/recall.ts';
import { summarize } from '../memory/context-summary.ts';
import { beginImport, supposeImport, revertImport } from '../write/importing.ts';
import type { ExportTaker } from '../read/export-knowledge.ts';
import type { ExportChoice } from '../read/export-knowledge.ts';
import type { StoredImport } from '../write/importing.ts';
import type { Import } from '../write/importing.ts';
import { learn, learnedOf, ruleRefusals } from '../write/learn.ts';
import type { AboutInput } from '../memory/mentioned-facts.ts';
import type { ViewFields } from '../session/read-context.ts';
import type { VocabularyEntry } from '../read/vocabulary.ts';
import type { Learned } from '../write/learn.ts';
import type { Learning } from '../write/learn.ts';
import { askedKey } from '../session/answer-cache.ts';
import { hintsOfFacts, hintsOfRule, hintsPart } from '../read/hints.ts';
import { KnownNames } from '../read/known-names.ts';
import { hintsOfRetraction, limitsOfHint } from '../read/conclusion-hint.ts';
import { listFacts } from '../read/list-facts.ts';
import { defaultLimits, type LiveParts, LiveState } from '../session/live-state.ts';
import { diagnosis } from '../language/diagnose.ts';
import { renderAtom } from '../language/print.ts';
import { isPositiveAtom, relationOf } from '../language/terms.ts';
import { checkNoneChanged } from '../commit/prepare-facts.ts';
import {
  checkRuleOperation,
  requireMatch,
  requireRule,
  ruleOutcome,
  ruleToStore,
  storedRule,
} from '../commit/prepare-rules.ts';
import { mentionedConstants, mentionedFacts } from '../memory/mentioned-facts.ts';
import { queryFacts, queryByPointLookup } from '../read/query.ts';
import { restore } from '../memory/restore.ts';
import { retract, tryRetract } from '../write/retract.ts';
import { type Writer } from '../session/writer.ts';
import { trace } from '../read/trace.ts';
import { whatIf } from '../read/what-if.ts';
import { relationsRead } from '../datalog/model/program.ts';
import { decayEverywhere } from '../memory/scheduled-decay.ts';
import { Leader } from '../replication/leader.ts';
import { EngineReplica } from '../replication/replica.ts';
import { Backups, Snapshots } from '../commit/snapshots.ts';
import type { Tallies } from '../datalog/model/rule-tallies.ts';
import type { DatabaseState } from '../state/state.ts';
import { deleteScope, diffScopes, forkScope, listScopes, mergeScopes } from '../write/scopes.ts';
import type { Operation, RuleOperation } from '../state/operation.ts';
import { type Outcome, outcomeAs } from '../state/outcome.ts';
import { repeatedReport, type Report } from '../state/report.ts';
import type { Journal, JournalName } from '../log/journal.ts';
import type { FolderLock } from '../log/lock-file.ts';
import type { Log } from '../log/log.ts';
import { Transactions } from '../write/transactions.ts';
import { factOutcome, factsOutcome, factsWrite, factWrite } from '../write/tell.ts';
import { vocabularyOf } from '../read/vocabulary.ts';
import { Windows } from '../window/windows.ts';
import { type Write, CommitPipeline } from '../commit/commit-pipeline.ts';

/**
 * The engine: a state folded from the log, a reasoner for each tenant that was asked, and a feed of changes.
 *
 * Every method reads as its contract: refuse what can be refused, write through the lane or read through a pinned
 * reader, answer. What is derived hangs on the state and is thrown away when the state changes.
 */
export interface EngineParts extends LiveParts {
  readonly log: Log;
  /** Of the folder; no other engine has one of the same name. */
  readonly openJournal: (name: JournalName) => Journal;
  /** null: all is in memory. */
  readonly lock: FolderLock | null;
  readonly snapshotIntervalMs: number;
  /** null: nothing decays by the clock. */
  readonly decayIntervalMs: number | null;
  /** Address of the leader whose records these are; null: callers write. */
  readonly leaderUrl: string | null;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
}

/** A question that names a constant is likely to be worked out sooner than long upkeep ends. */
const patienceOfBoundMs = 50;

/** After these there may be much less than there was. */
const clearing: ReadonlySet<Operation['kind']> = new Set([
  'deleteTenant',
  'nukeTenant',
  'deleteDatabase',
  'nukeDatabase',
]);

/** Time for the last snapshot, in milliseconds. */
const lastSnapshotMs = 8000;

export class KnowledgeEngine implements Engine {
  readonly #parts: EngineParts;
  readonly #live: LiveState;
  readonly #lane: CommitPipeline;
  readonly #writer: Writer;
  readonly #transactions: Transactions;
  readonly #databases: Databases;
  readonly keys: Keys;
  readonly leader: Leader;
  readonly replica: EngineReplica | null;
  readonly #snapshots: Snapshots;
  readonly #backups: Backups;
  readonly #windows: Windows;
  readonly #decay: DecaySchedule | null;
  readonly #newId: () => string;
  readonly #journals: Journal[] = [];

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#live = new LiveState(parts);
    this.#writer = { live: this.#live, write: (write) => this.#write(write) };
    const { state, log, clock, pause, snapshotIntervalMs: intervalMs, onWarn } = parts;
    const newId = (): string => crypto.randomUUID();
    this.#newId = newId;
    this.#transactions = new Transactions({ writer: this.#writer, clock, pause, newId });
    this.#windows = new Windows(this.#live, newId);
    this.#live.rememberedSince = (database, tenant) => this.#transactions.rememberedSince(database, tenant);
    this.#lane = new CommitPipeline(state, log, clock, pause, {
      applying: (record) => this.#live.applying(record),
      applied: (record, report) => {
        this.#transactions.applied(record, report);
        this.#live.applied(record, report);
        this.#windows.applied(report);
      },
    });
    this.#databases = new Databases(state, this.#writer, () => new Slices(pause));
    this.keys = new Keys(state, this.#writer, clock);
    const talliesOf = (database: DatabaseState): Tallies => this.#live.talliesOf(database);
    const neededAfter = (): number => this.leader.neededAfter();
    const pipeline = this.#lane;
    this.#snapshots = new Snapshots({
      state,
      log,
      pipeline,
      talliesOf,
      pause,
      neededAfter,
      intervalMs,
      onWarn,
    });
    this.#backups = new Backups(this.#snapshots, log, () => clock.now());
    this.leader = new Leader({ log, now: () => clock.now(), takeSnapshot: () => this.#snapshots.take() });
    const [live, snapshots] = [this.#live, this.#snapshots];
    const follows = parts.leaderUrl !== null;
    this.replica = follows ? new EngineReplica({ state, log, pipeline, live, snapshots, pause }) : null;
    const { decayIntervalMs, onBug } = parts;
    const run = (signal: AbortSignal): Promise<void> =>
      decayEverywhere({ writer: this.#writer, onWarn, onBug }, signal);
    this.#decay =
      decayIntervalMs === null || follows
        ? null
        : new DecaySchedule({ clock, intervalMs: decayIntervalMs, run });
  }

  async tell(
    caller: Caller,
    input: facts.FactInput & { ifGeneration: number | null },
  ): Promise<facts.FactOutcome> {
    const { ifGeneration, ...fact } = input;
    const write = factWrite(
      caller.tenant,
      fact,
      ifGeneration,
      this.#live.showTime(),
      this.#live.storeOf(caller),
    );
    const hints = this.#hintsOfFacts(caller, [fact]);
    const { outcome } = await this.#write({ caller, database: caller.database, ...write });
    return { ...factOutcome(outcome, fact), ...hintsPart(hints) };
  }

  async tellAll(caller: Caller, inputs: readonly facts.FactInput[]): Promise<facts.FactsOutcome> {
    const slices = new Slices(this.#parts.pause);
    const write = await factsWrite(
      caller.tenant,
      inputs,
      this.#live.showTime(),
      this.#live.storeOf(caller),
      slices,
    );
    const hints = this.#hintsOfFacts(caller, inputs);
    const { outcome } = await this.#write({ caller, database: caller.database, ...write });
    return { ...factsOutcome(outcome), ...hintsPart(hints) };
  }

  async forget(caller: Caller, input: facts.RetractInput): Promise<facts.RetractOutcome> {
    const { predicate, args, truthVal } = input;
    const atom = renderAtom({ predicate, args, negated: truthVal === false });
    return { atom, ...(await this.forgetPattern(caller, input)) };
  }

  async forgetPattern(caller: Caller, input: facts.RetractInput): Promise<facts.RetractPatternOutcome> {
    const pattern = patternOf(input);
    const { ifGeneration } = input;
    const check = (time: number): void => {
      if (ifGeneration === null) return;
      const { generation } = this.#live.database(caller);
      checkNoneChanged(this.#live.storeOf(caller)(), pattern, ifGeneration, { generation, time });
    };
    const operation: Operation = { kind: 'retract', tenant: caller.tenant, pattern };
    const whenSame = ifGeneration === null ? undefined : check;
    const answer = input.dryRun
      ? await tryRetract(this.#live, caller, input, check)
      : (await retract(this.#writer, caller, operation, input, whenSame)).answer;
    if (answer.status !== 'absent') return answer;
    return { ...answer, ...hintsPart(await this.#hintsOfRetraction(caller, pattern)) };
  }

  async forgetById(caller: Caller, id: string): Promise<facts.RetractOutcome> {
    const check = (time: number): void => {
      const store = this.#live.storeOf(caller)();
      const fact = store?.byId(id) ?? null;
      if (store === null || fact === null || !store.isStored(fact, time)) throw noSuchFact(id);
    };
    const operation: Operation = { kind: 'retractById', tenant: caller.tenant, id };
    const { atom, answer } = await retract(
      this.#writer,
      caller,
      operation,
      { dependents: 'known', dryRun: false, timeoutMs: consequencesTimeoutMs },
      check,
    );
    return { atom: present(atom, 'what was retracted by its id has an atom'), ...answer };
  }

  async query(caller: Caller, input: facts.QueryInput): Promise<facts.QueryResult> {
    const queried = async (context: ReadContext, plain = context): Promise<facts.QueryResult> => {
      const { result, facts: used } = await queryFacts(context, input);
      await this.#live.noteUses(plain, used);
      return result;
    };
    if (caller.transaction !== null) return this.#transactions.reading(caller, defaultLimits, queried);
    const few = this.#live.look(caller, (context) => queryByPointLookup(context, input));
    return few ?? this.#live.reading(caller, defaultLimits, (context) => queried(context));
  }

  async facts(caller: Caller, query: facts.ListFactsQuery): Promise<facts.FactList> {
    const about = query.derived ? null : [];
    return this.#live.reading(caller, defaultLimits, (context) => listFacts(context, query), about);
  }

  async fact(caller: Caller, id: string): Promise<facts.FactDetail> {
    const read = (context: ReadContext) => factDetail(context, requireFact(context, id));
    return this.#live.reading(caller, defaultLimits, read, null);
  }

  async predicates(caller: Caller): Promise<facts.PredicateList> {
    const read = async (context: ReadContext): Promise<facts.PredicateList> => {
      const list = await listPredicates(context);
      if (list.predicates.some(({ derivedComplete }) => !derivedComplete))
        this.#live.countWhenQuiet(context, caller);
      return list;
    };
    return this.#live.reading(caller, { ...defaultLimits, isAside: true }, read, null);
  }

  async teach(caller: Caller, input: rules.RuleInput): Promise<rules.RuleOutcome> {
    const operation: RuleOperation = { kind: 'teach', rule: ruleToStore(input) };
    let hints: string[] = [];
    const check = (): void => {
      checkRuleOperation(this.#live.database(caller), operation);
      hints = this.#hintsOfRule(caller, operation);
    };
    const { outcome } = await this.#write({ caller, database: caller.database, operation, check });
    return { ...ruleOutcome(outcome), ...hintsPart(hints) };
  }

  async updateRule(caller: Caller, id: string, input: rules.RuleUpdate): Promise<rules.RuleOutcome> {
    const operation: RuleOperation = { kind: 'updateRule', id, rule: ruleToStore(input) };
    let hints: string[] = [];
    const check = (): void => {
      const database = this.#live.database(caller);
      requireMatch(caller, requireRule(database, id));
      checkRuleOperation(database, operation);
      hints = this.#hintsOfRule(caller, operation);
    };
    const { outcome } = await this.#write({ caller, database: caller.database, operation, check });
    return { ...ruleOutcome(outcome), ...hintsPart(hints) };
  }

  async forgetRule(caller: Caller, id: string): Promise<rules.RuleRetracted> {
    const operation: Operation = { kind: 'forgetRule', id };
    const watch = this.#live.watch(caller, defaultLimits, ({ reasoner, database }) => {
      const concluded = relationOf(requireRule(database, id).rule.head);
      return { candidates: reasoner.candidates(reasoner.reached([concluded])), losses: null };
    });
    try {
      const check = (): void => requireMatch(caller, requireRule(this.#live.database(caller), id));
      const { before } = watch;
      const report = await this.#write({
        caller,
        database: caller.database,
        operation,
        check,
        before,
      });
      const { generation } = outcomeAs(report.outcome, 'rule');
      if (report.isRepeated)
        return { status: 'retracted', dependentsCount: 0, consequencesComplete: false, generation };
      const { context, known } = watch.seen();
      const after = this.#live.after(context, generation, this.#live.programOf(context.database));
      const { atoms } = await dependentsAmong(after, context, known, []);
      this.#live.publishWithdrawn(caller, report, atoms);
      watch.claim({ atoms, isComplete: false });
      const [rule] = report.rules;
      const { head, scope } = present(
        rule && { head: rule.after.rule.head, scope: rule.after.scope },
        'it went',
      );
      const found = await consequencesOf(
        { before: context, after, relations: [relationOf(head)], views: [viewOfWrites(scope)] },
        { ...defaultLimits, timeoutMs: consequencesTimeoutMs, signal: withoutCancellation(caller).signal },
      );
      // Where not all is worked out, what is known of other views may be more.
      const isComplete = found.notWorkedOut.length === 0;
      const dependentsCount = isComplete ? found.lost : Math.max(found.lost, atoms.length);
      return { status: 'retracted', dependentsCount, ...completenessPart(found), generation };
    } finally {
      watch.end();
    }
  }

  async rules(caller: Caller): Promise<rules.StoredRule[]> {
    this.#live.refuseClosed();
    const database = this.#live.database(caller);
    const tallies = this.#live.talliesOf(database);
    return database.rules.all().map((kept) => storedRule(kept, tallies));
  }

  async rule(caller: Caller, id: string): Promise<rules.StoredRule> {
    this.#live.refuseClosed();
    const database = this.#live.database(caller);
    return storedRule(requireRule(database, id), this.#live.talliesOf(database));
  }

  async validateRules(caller: Caller, text: string): Promise<rules.ValidateResult> {
    const { predicates } = await this.predicates(caller);
    const kept = this.#live.database(caller).rules.all();
    const slices = new Slices(this.#parts.pause);
    const result = await runInSlices(diagnosis(text, { predicates, rules: kept }), () => slices.breathe());
    return { valid: result.diagnostics.every(({ severity }) => severity !== 'error'), ...result };
  }

  async ask(caller: Caller, input: AskInput): Promise<Answer> {
    const key = askedKey(input);
    const again = caller.transaction === null ? this.#live.answerAgain(caller, key) : null;
    if (again !== null) return again;
    const body = bodyOf(input);
    const answered = async (context: ReadContext, plain = context): Promise<Answer> => {
      const { answer, used } = await ask(context, input, body);
      await this.#live.noteUses(plain, used);
      this.#live.keepAnswer(context, key, answer, used);
      return answer;
    };
    if (caller.transaction !== null) return this.#transactions.reading(caller, input, answered);
    const few = this.#live.look(caller, (context) => askByPointLookup(context, input, body));
    if (few !== null) return few;
    const isBound = body.some((each) => isPositiveAtom(each) && !each.args.every(isVariable));
    const limits = isBound ? { ...input, patienceMs: patienceOfBoundMs } : input;
    return this.#live.reading(caller, limits, (context) => answered(context), relationsRead(body));
  }

  async aggregate(caller: Caller, input: AggregateInput): Promise<AggregateResult> {
    return this.#live.reading(caller, input, (context) => aggregateFacts(context, input), null);
  }

  async explain(caller: Caller, input: ExplainInput): Promise<Explanation> {
    return this.#live.reading(
      caller,
      input,
      async (context) => {
        const { explanation, used } = await explain(context, input);
        await this.#live.noteUses(context, used);
        return explanation;
      },
      null,
    );
  }

  async whatIf(caller: Caller, input: WhatIfInput): Promise<WhatIfResult> {
    return this.#live.reading(caller, input, (context) => whatIf(context, input), null);
  }

  async trace(caller: Caller, input: TraceInput): Promise<Trace> {
    const body = bodyOf(input);
    return this.#live.reading(caller, input, (context) => trace(context, input, body));
  }

  async begin(caller: Caller): Promise<TransactionBegun> {
    this.#live.refuseClosed();
    if (this.#parts.leaderUrl !== null) throw notLeader(this.#parts.leaderUrl);
    return this.#transactions.begin(caller);
  }

  within(caller: Caller): TransactionWrites {
    return this.#transactions.within(caller);
  }

  abandon(caller: Caller): boolean {
    return this.#transactions.abandon(caller);
  }

  async commit(
    caller: Caller,
    id: string,
    dryRun: boolean,
    timeoutMs = consequencesTimeoutMs,
  ): Promise<Committed> {
    // After a restart the transaction is gone, and what became of its commit is remembered all the same.
    const kept = dryRun ? null : this.#kept(caller);
    if (kept === null) return this.#transactions.commit(caller, id, dryRun, timeoutMs);
    const { operations, generation } = outcomeAs(kept, 'committed');
    return { id, status: 'committed', operations, generation };
  }

  async rollback(caller: Caller, id: string): Promise<RolledBack> {
    return this.#transactions.rollback(caller, id);
  }

  scopes(caller: Caller): Promise<ScopeList> {
    return listScopes(this.#writer, caller);
  }

  fork(caller: Caller, input: ForkInput): Promise<Forked> {
    return forkScope(this.#writer, caller, input);
  }

  diff(caller: Caller, input: DiffInput): Promise<ScopeDiff> {
    return diffScopes(this.#writer, caller, input);
  }

  merge(caller: Caller, input: MergeInput): Promise<Merged> {
    return mergeScopes(this.#writer, caller, input);
  }

  deleteScope(caller: Caller, name: string): Promise<ScopeDeleted> {
    return deleteScope(this.#writer, caller, name);
  }

  async recall(caller: Caller, input: RecallInput): Promise<Recalled> {
    const limits = { ...defaultLimits, timeoutMs: input.timeoutMs };
    const about = input.includeInferred ? null : [];
    return this.#live.reading(caller, limits, (context) => recall(context, input), about);
  }

  async memoryStats(caller: Caller, query: MemoryStatsQuery): Promise<MemoryStats> {
    const limits = { ...defaultLimits, isAside: true };
    return this.#live.reading(caller, limits, (context) => memoryStats(context, query), null);
  }

  consolidate(caller: Caller, input: ConsolidateInput): Promise<Consolidated> {
    return consolidate(this.#writer, caller, input);
  }

  restore(caller: Caller, input: RestoreInput): Promise<Restored> {
    return restore(this.#writer, caller, input);
  }

  decay(caller: Caller, input: DecayInput): Promise<Decayed> {
    return decay(this.#writer, input.dryRun ? caller : withoutCancellation(caller), input);
  }

  async optimizeContext(caller: Caller, input: OptimizeInput): Promise<ContextWindow> {
    return this.#windows.optimize(caller, input);
  }

  async diffContext(caller: Caller, input: WindowDiffInput): Promise<WindowDiff> {
    return this.#windows.diff(caller, input);
  }

  async summarizeContext(caller: Caller, input: SummaryInput): Promise<ContextSummary> {
    return this.#live.reading(caller, defaultLimits, (context) => summarize(context, input));
  }

  async clearContextSession(caller: Caller, { sessionId }: ClearSessionInput): Promise<string> {
    return this.#windows.clear(caller, sessionId);
  }

  learn(caller: Caller, learning: Learning): Promise<Learned> {
    return learn(this.#writer, caller, learning, this.#parts.pause);
  }

  learned(caller: Caller): Learned | null {
    const kept = this.#kept(caller);
    return kept === null ? null : learnedOf(kept);
  }

  async ruleRefusals(caller: Caller, inputs: readonly rules.RuleInput[]): Promise<(string | null)[]> {
    this.#live.refuseClosed();
    return ruleRefusals(this.#live.database(caller), inputs, new Slices(this.#parts.pause));
  }

  async vocabulary(caller: Caller, view: ViewFields): Promise<VocabularyEntry[]> {
    return this.#live.reading(caller, defaultLimits, (context) => vocabularyOf(context, scopeChoice(view)));
  }

  async factsAbout(caller: Caller, input: AboutInput): Promise<ContextEntry[]> {
    const { text, maxFacts } = input;
    return this.#live.reading(caller, defaultLimits, (context) =>
      mentionedFacts(context, scopeChoice(input), text, maxFacts),
    );
  }

  async constantsIn(caller: Caller, text: string): Promise<string[]> {
    return this.#live.reading(caller, defaultLimits, (context) => mentionedConstants(context, text));
  }

  import(caller: Caller, dryRun: boolean): Import {
    this.#live.refuseClosed();
    const begin = dryRun ? supposeImport : beginImport;
    return begin(this.#writer, caller, this.#newId(), new Slices(this.#parts.pause));
  }

  async undoImport(caller: Caller, id: string): Promise<ImportUndone> {
    return revertImport(this.#writer, caller, id);
  }

  keptImport(caller: Caller, key: string): StoredImport | null {
    const { idempotency } = this.#parts.state;
    const kept = idempotency.get(caller.credential, spaceOf(caller), key, this.#live.showTime());
    if (kept === null) return null;
    const { note } = JSON.parse(kept.outcome) as { readonly note?: string };
    return { fingerprint: kept.mark.fingerprint, answer: note ?? null };
  }

  async export(caller: Caller, choice: ExportChoice, taker: ExportTaker): Promise<void> {
    return this.#live.reading(caller, unlimited, (context) => exportKnowledge(context, choice, taker));
  }

  async databases(caller: Caller): Promise<DatabaseList> {
    this.#live.refuseClosed();
    return this.#databases.list(caller);
  }

  createDatabase(caller: Caller, name: string): Promise<CreatedDatabase> {
    return this.#databases.create(caller, name);
  }

  deleteDatabase(caller: Caller, name: string): Promise<DeletedDatabase> {
    return this.#databases.delete(caller, name);
  }

  nukeDatabase(caller: Caller, name: string): Promise<Cleared> {
    return this.#databases.nuke(caller, name);
  }

  async tenants(caller: Caller, database: string): Promise<TenantList> {
    this.#live.refuseClosed();
    return this.#databases.tenants(caller, database);
  }

  createTenant(caller: Caller, database: string, name: string): Promise<CreatedTenant> {
    return this.#databases.createTenant(caller, database, name);
  }

  deleteTenant(caller: Caller, database: string, name: string): Promise<Cleared> {
    return this.#databases.deleteTenant(caller, database, name);
  }

  nukeTenant(caller: Caller, database: string, name: string): Promise<Cleared> {
    return this.#databases.nukeTenant(caller, database, name);
  }

  position(): { position: number; historyId: string | null; epoch: number } {
    const { lastSequence: position, historyId, epoch } = this.#parts.log;
    return { position, historyId: position === 0 ? null : historyId, epoch };
  }

  async snapshot(): Promise<SnapshotTaken> {
    this.#live.refuseClosed();
    return this.#snapshots.take();
  }

  async backup(): Promise<Backup> {
    this.#live.refuseClosed();
    return this.#backups.take();
  }

  storageState(): StorageState {
    const { log } = this.#parts;
    const { isEncrypted: encrypted, fsync } = log;
    const { storedBytes: bytes, segments, inFlightBytes: waitingBytes } = log.statistics();
    const snapshot = log.snapshot();
    return {
      status: log.status(),
      encrypted,
      fsync,
      historyId: log.historyId,
      parent: log.parent && { historyId: log.parent.historyId, position: log.parent.sequence },
      position: log.lastSequence,
      log: { bytes, segments, waitingBytes },
      snapshot: snapshot && {
        position: snapshot.sequence,
        bytes: snapshot.bytes,
        createdAt: snapshot.createdAt,
      },
      backup: this.#backups.last,
    };
  }

  remembers(caller: Caller): boolean {
    return this.#kept(caller) !== null;
  }

  hasDatabase(name: string): boolean {
    return this.#parts.state.databases.has(name);
  }

  changes(caller: Caller, lastEventId: string | null): AsyncIterable<Change> {
    return this.#live.changes(caller, lastEventId);
  }

  tellOfToolCall(caller: Caller, id: string): void {
    this.#live.publishToolCall(caller, id);
  }

  subscribe(listener: (change: Change) => void): () => void {
    return this.#live.subscribe(listener);
  }

  counters(): EngineCounters {
    const { records, commits, bytes: logBytes } = this.#parts.log.statistics();
    return {
      ...this.#live.counters(),
      records,
      commits,
      logBytes,
      snapshots: this.#snapshots.written,
      backups: this.#backups.count,
    };
  }

  figures(): EngineFigures {
    const { log } = this.#parts;
    const { storedBytes, segments, inFlightBytes } = log.statistics();
    const snapshot = log.snapshot();
    return {
      ...this.#live.figures(),
      openTransactions: this.#transactions.count,
      windowSessions: this.#windows.sessions,
      logBytes: storedBytes,
      logSegments: segments,
      logWaitingBytes: inFlightBytes,
      snapshot: snapshot === null ? null : { bytes: snapshot.bytes, at: snapshot.createdAt },
      snapshotTookMs: this.#snapshots.tookMs,
      position: log.lastSequence,
      isEncrypted: log.isEncrypted,
      backupAt: this.#backups.last?.takenAt ?? null,
    };
  }

  storage(): 'ready' | 'failed' {
    return this.#parts.log.status();
  }

  journal(name: JournalName): Journal {
    const journal = this.#parts.openJournal(name);
    this.#journals.push(journal);
    return journal;
  }

  async close(snapshotWithinMs = lastSnapshotMs): Promise<void> {
    if (this.#live.isClosed) return;
    this.#transactions.close();
    const decayed = this.#decay?.close();
    await this.#live.close();
    await decayed;
    await this.#lane.close();
    // Nobody would read one that is in memory.
    await this.#snapshots.close(this.#parts.lock === null ? 0 : snapshotWithinMs);
    await Promise.all(this.#journals.map((journal) => journal.close()));
    await this.#parts.log.close();
    await this.#parts.lock?.release();
  }

  async #hintsOfRetraction(caller: Caller, pattern: FactPattern): Promise<string[]> {
    const hints = (context: ReadContext): Promise<string[]> => hintsOfRetraction(context, pattern);
    try {
      return await this.#live.reading(withoutCancellation(caller), limitsOfHint, hints);
    } catch (error) {
      // The retraction was made, and is answered: what went or closed since then is not its failure.
      if (error instanceof EngineError) return [];
      throw error;
    }
  }

  /** Of facts before they are written. */
  #hintsOfFacts(caller: Caller, inputs: readonly facts.FactInput[]): string[] {
    const known = this.#knownBefore(caller);
    return known === null ? [] : hintsOfFacts(known, inputs);
  }

  /** Of a rule before it is kept. */
  #hintsOfRule(caller: Caller, operation: RuleOperation): string[] {
    const rule = operation.kind === 'forgetRule' ? null : operation.rule.rule;
    const known = this.#knownBefore(caller);
    return rule === null || known === null ? [] : hintsOfRule(known, rule);
  }

  /** What a writer can mean; null where there is no such database. */
  #knownBefore(caller: Caller): KnownNames | null {
    const database = this.#parts.state.databases.get(caller.database);
    if (database === undefined) return null;
    const { generation, rules } = database;
    const store = database.tenants.get(caller.tenant)?.facts ?? null;
    return KnownNames.forWriting(store, rules, { generation, time: this.#live.showTime() });
  }

  async #write(write: Write): Promise<Report> {
    this.#live.refuseClosed();
    if (this.#parts.leaderUrl !== null) throw notLeader(this.#parts.leaderUrl);
    const outcome = this.#kept(write.caller);
    if (outcome !== null) return repeatedReport(write.database, outcome);
    const report = await this.#lane.write(write);
    if (typeof write.operation !== 'function' && clearing.has(write.operation.kind)) this.#snapshots.soon();
    return report;
  }

  /** What the first request with the caller's idempotency key came to, where that wrote something. */
  #kept(caller: Caller): Outcome | null {
    const mark = markOf(caller);
    if (mark === null) return null;
    return this.#parts.state.idempotency.find(caller.credential, mark, this.#live.showTime());
  }
}
