import { boundsPassed } from './validity-changes.ts';
import { BackgroundCounts } from './background-counts.ts';
import { BackgroundMaintenance } from './background-maintenance.ts';
import { present } from '../base/assert.ts';
import { type Caller, signalOf } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { ReadContext, LookupContext } from './read-context.ts';
import type { Answer } from '../contract/inference.ts';
import { ChangeFeed } from './change-feed.ts';
import type { Change } from './change-feed.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import type { Dependents, KnownBefore } from './forget.ts';
import { AnswerCache } from './answer-cache.ts';
import { ListingCache } from './listing-cache.ts';
import { relationOf } from '../language/terms.ts';
import { countsAlike } from '../commit/prepare-rules.ts';
import {
  changesOf,
  factChanges,
  type Origin,
  resetChange,
  ToldGeneration,
  toolCallOf,
  withdrawalsOf,
} from './publish-changes.ts';
import { type EvaluationLimits, type Pause, refuseGone } from '../datalog/tables/evaluation.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { type PinnedReader, Reasoner, waitFor } from '../datalog/maintain/reasoner.ts';
import type { Claim, Hold } from '../datalog/maintain/withdrawals.ts';
import type { Tallies } from '../datalog/model/rule-tallies.ts';
import type { Operation } from '../state/operation.ts';
import type { ClearedTenants, Report } from '../state/report.ts';
import { type DatabaseState, newTenant, type State, type TenantState } from '../state/state.ts';
import type { LogRecord } from '../log/codec.ts';
import { ValidityTimer } from './validity-timer.ts';
import type { CommitObserver } from '../commit/commit-pipeline.ts';

/**
 * The state as it is worked with: a program for the rules of each database, a reasoner for each tenant that was asked,
 * and the feed of changes.
 *
 * All of it hangs on the state and can be thrown away. Whoever reads gets a pinned reader, which sees one generation at
 * one time until it has ended; every change is taken in in the turn in which it is made (`applying`, `applied`), and so
 * is every instant at which a validity begins or ends (`pass`), before anybody reads after it.
 */
export interface LiveParts {
  readonly state: State;
  readonly clock: Clock;
  readonly memoryBytes: number;
  readonly pause: Pause;
  /** How often rules concluded something before the start, where that is known. */
  readonly tallies: ReadonlyMap<DatabaseState, Tallies>;
  /** Told of an error inside that no caller hears of: a bug. */
  readonly onBug: (error: unknown) => void;
}

export type ReadLimits = Pick<EvaluationLimits, 'timeoutMs' | 'maxDerivations' | 'patienceMs'> & {
  /** True for a look at what is worked out in the background, which goes on meanwhile. */
  readonly isAside?: boolean;
};

export const defaultLimits = { timeoutMs: 10_000, maxDerivations: Number.POSITIVE_INFINITY };

/** A look at the state right before a write, kept until what holds after it has been compared. */
export interface Watch {
  /** To be called in the turn of the write, before it. */
  readonly before: () => void;
  readonly seen: () => { readonly context: ReadContext; readonly known: KnownBefore; readonly hold: Hold };
  /** What was found has been told: it is told by nobody else. */
  readonly told: (found: Dependents) => void;
  readonly end: () => void;
}

type LiveFigures = 'databases' | 'tenants' | 'rules' | 'conclusions' | 'derivedBytes' | 'derivedBudgetBytes';
type LiveCounters = Exclude<
  keyof EngineCounters,
  'records' | 'commits' | 'logBytes' | 'snapshots' | 'backups'
>;

/** Of the memory for what is derived, the parts that listings and answers may take. */
const partOfListings = 8;
const partOfAnswers = 64;

export class LiveState implements CommitObserver {
  readonly #parts: LiveParts;
  readonly #feed = new ChangeFeed();
  readonly #memory: MemoryBudget;
  readonly #listings: ListingCache;
  readonly #answers: AnswerCache;
  readonly #reasoners = new Map<TenantState, Reasoner>();
  readonly #upkeep = new Map<TenantState, BackgroundMaintenance>();
  /** Upkeep of tenants that have gone, until it has ended. */
  readonly #ending = new Set<Promise<void>>();
  readonly #timer: ValidityTimer;
  readonly #counts: BackgroundCounts;
  /** Relations that changed and could not be compacted then, since someone may still have read what was. */
  readonly #uncompacted = new Map<TenantState, Set<string>>();
  readonly #told = new Map<DatabaseState, ToldGeneration>();
  readonly #origins = new WeakMap<Report, Origin>();
  /** Of databases that have gone too, as long as somebody still reads them. */
  readonly #programs = new WeakMap<DatabaseState, { version: number; program: Program }>();
  /** How often each rule concluded something new, by database. */
  readonly #tallies: Map<DatabaseState, Tallies>;
  readonly #counters = { factsAsserted: 0, factsRetracted: 0, factsEvicted: 0 };
  /** How often rules concluded something that have gone with all others of their database. */
  #firedBefore = 0;
  /** Of a tenant the generation after which rows that died are still asked about; Infinity: none are. */
  rememberedSince: (database: string, tenant: string) => number = () => Number.POSITIVE_INFINITY;
  /** The latest time that anybody was shown. */
  #shown = 0;
  #isClosed = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#tallies = new Map(parts.tallies);
    this.#memory = new MemoryBudget(parts.memoryBytes);
    this.#listings = new ListingCache(parts.memoryBytes / partOfListings);
    this.#answers = new AnswerCache(parts.memoryBytes / partOfAnswers);
    const { clock, pause, onBug } = parts;
    this.#counts = new BackgroundCounts({ clock, pause, memory: this.#memory, onBug });
    // What ended or began before the start is told to nobody.
    const start = this.showTime();
    for (const { tenant } of this.everyTenant()) tenant.facts.boundaries.takeUntil(start);
    // Other numbers than an earlier process can have given.
    for (const database of parts.state.databases.values())
      this.#told.set(database, new ToldGeneration(database.name, database.generation, start));
    this.#timer = new ValidityTimer({
      clock: parts.clock,
      next: () => this.#nextBoundary(),
      reached: () => this.#passAll(),
    });
  }

  /** Refuses from now on; resolves when nothing is worked out in the background any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.close();
    const upkeep = Array.from(this.#upkeep.values(), (each) => each.close());
    await Promise.all([this.#counts.close(), ...upkeep, ...this.#ending]);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Reads in a state that stays as it is until `read` has ended. `about` are relations whose conclusions it is about,
   * null for any.
   */
  async reading<Result>(
    caller: Caller,
    limits: ReadLimits,
    read: (context: ReadContext) => Promise<Result>,
    about: readonly string[] | null = [],
  ): Promise<Result> {
    const context = await this.#whenTrue(caller, limits, about);
    context.reasoner.readers++;
    try {
      return await read(context);
    } catch (error) {
      throw context.pacer.withElapsed(error);
    } finally {
      context.reasoner.readers--;
    }
  }

  /**
   * Reads stored facts in this turn: nothing has to be kept from changing, and notes those that were used. null where
   * `read` gives it up.
   */
  look<Result>(
    caller: Caller,
    read: (context: LookupContext) => { readonly result: Result; readonly facts: readonly FactRow[] } | null,
  ): Result | null {
    this.refuseClosed();
    refuseGone(caller.signal);
    this.#counts.disturbed();
    const database = this.database(caller);
    const tenant = database.tenants.get(caller.tenant) ?? newTenant(0);
    const context = { database, tenant, reader: this.#readerOf(database, tenant, caller.tenant) };
    const found = read(context);
    if (found === null) return null;
    for (const fact of found.facts) this.noteUse(context, fact);
    return found.result;
  }

  /** In this turn: the answer to a question with this key that was given before and still holds; null: there is none. */
  answerAgain(caller: Caller, key: string): Answer | null {
    this.refuseClosed();
    const context = this.pin(caller, defaultLimits);
    const { reasoner, reader, pacer, tenant } = context;
    const kept = this.#answers.find(reasoner, reader, key);
    if (kept === null) return null;
    // They were noted when it was given; what has lost its uses since has changed, and the answer with it.
    tenant.uses.noteAgain(kept.used, reader.time);
    const { proof, hints, ...answer } = kept.answer;
    const { generation } = reader;
    return {
      ...answer,
      generation,
      elapsedMs: pacer.elapsedRounded,
      ...(proof === undefined ? {} : { proof }),
      ...(hints === undefined ? {} : { hints }),
    };
  }

  /** Keeps what was answered, and which stored facts it used, for `answerAgain`. */
  keepAnswer({ reasoner, reader }: ReadContext, key: string, answer: Answer, used: Set<FactRow>): void {
    const { generation: _now, elapsedMs: _then, ...written } = answer;
    this.#answers.keep(reasoner, reader, key, written, used);
  }

  /**
   * Looks at the state in the turn of a write, right before it: what was known then is compared with what holds
   * after. The state is kept until `end`.
   */
  watch(caller: Caller, limits: ReadLimits, look: (context: ReadContext) => KnownBefore): Watch {
    let seen: { context: ReadContext; known: KnownBefore; hold: Hold } | null = null;
    let claim: Omit<Claim, 'version'> | null = null;
    return {
      before: () => {
        const context = this.pin(caller, limits);
        const { reasoner } = context;
        reasoner.readers++;
        seen = { context, known: look(context), hold: reasoner.withdrawals.hold(reasoner.version + 1) };
      },
      seen: () => present(seen, 'the write was applied'),
      told: ({ atoms, isComplete }) => {
        claim = { atoms: new Set(atoms), isComplete };
      },
      end: () => {
        if (seen === null) return;
        const { reasoner } = seen.context;
        reasoner.readers--;
        seen.known.losses?.end();
        reasoner.withdrawals.release(seen.hold, claim);
        reasoner.onLeft();
      },
    };
  }

  /**
   * The context after a write: its generation and these rules, at the time of the one before. `version` is the one
   * that a change of facts made.
   */
  after(before: ReadContext, generation: number, program: Program, version?: number): ReadContext {
    const { reasoner, reader } = before;
    const after = reasoner.reader(generation, reader.time, program);
    return { ...before, reader: version === undefined ? after : { ...after, version } };
  }

  /** Has the conclusions of the context's tenant counted that are not, when nobody asks. */
  countWhenQuiet({ database, tenant, reasoner }: ReadContext, { tenant: name }: Caller): void {
    if (this.#isClosed || database.tenants.get(name) !== tenant) return;
    this.#counts.wanted(reasoner, () => this.#readerOf(database, tenant, name));
  }

  pin(caller: Caller, limits: ReadLimits): ReadContext {
    if (limits.isAside !== true) this.#counts.disturbed();
    const database = this.database(caller);
    const tenant = database.tenants.get(caller.tenant) ?? newTenant(0);
    const reasoner = this.#reasonerOf(database, tenant, caller.tenant);
    const { timeoutMs, maxDerivations, patienceMs = Number.POSITIVE_INFINITY } = limits;
    return {
      database,
      tenant,
      reasoner,
      reader: this.#readerOf(database, tenant, caller.tenant, reasoner),
      pacer: reasoner.pacer({ timeoutMs, maxDerivations, patienceMs, signal: caller.signal }),
      listings: this.#listings,
    };
  }

  /** A reader of the present state; of the last one that it had where the tenant has gone since the context was made. */
  latest(caller: Caller, { reasoner, reader }: ReadContext): PinnedReader {
    return reasoner.isRetired ? reasoner.lastReader(reader) : this.pin(caller, defaultLimits).reader;
  }

  database(caller: Caller): DatabaseState {
    return this.#parts.state.database(caller.database);
  }

  storeOf(caller: Caller): () => FactStore | null {
    return () => {
      const database = this.#parts.state.databases.get(caller.database);
      const facts = database?.tenants.get(caller.tenant)?.facts ?? null;
      const forgotten = database?.forgottenThrough(caller.tenant) ?? 0;
      return facts === null && forgotten > 0 ? newTenant(0, forgotten).facts : facts;
    };
  }

  programOf(database: DatabaseState): Program {
    const { version } = database.rules;
    let known = this.#programs.get(database);
    if (known?.version !== version) {
      known = { version, program: new Program(database.rules.all()) };
      this.#programs.set(database, known);
    }
    return known.program;
  }

  talliesOf(database: DatabaseState): Tallies {
    let tallies = this.#tallies.get(database);
    if (tallies === undefined) this.#tallies.set(database, (tallies = new Map()));
    return tallies;
  }

  /** A question counts once for every fact it used. Uses by questions are no writes. */
  async noteUses(context: ReadContext, used: Iterable<FactRow>): Promise<void> {
    let noted = 0;
    for (const fact of used) {
      this.noteUse(context, fact);
      if ((++noted & 0x3ff) === 0) await context.pacer.breathe();
    }
  }

  noteUse({ database, tenant, reader }: LookupContext, fact: FactRow): void {
    tenant.uses.note(fact, database.createdAtOf(tenant.facts, fact), reader.time);
  }

  /** Visible time: never before what anybody was shown, nor before logical time. */
  showTime(): number {
    this.#shown = Math.max(this.#shown, this.#now());
    return this.#shown;
  }

  refuseClosed(): void {
    if (this.#isClosed)
      throw new EngineError('NotReady', 'the service is shutting down: try again when it is back');
  }

  /** Told after the change itself, when the conclusions that it withdrew are known. */
  publishWithdrawn(caller: Caller, report: Report, atoms: readonly string[]): void {
    const origin = this.#origins.get(report);
    if (origin === undefined) return;
    for (const change of withdrawalsOf(caller.tenant, atoms, origin)) this.#feed.publish(change);
  }

  /** Told beside the changes, and no change: nothing is written, and a tenant that does not exist still does not. */
  publishToolCall({ database: name, tenant, requestId }: Caller, id: string): void {
    const database = this.#parts.state.databases.get(name);
    // It may have been deleted while the call ran.
    if (database === undefined) return;
    const told = present(this.#told.get(database), 'a database is told of from when it is made');
    this.#feed.publish(toolCallOf(tenant, id, { told, time: this.showTime(), requestId }));
  }

  changes(caller: Caller, lastEventId: string | null): AsyncIterable<Change> {
    this.refuseClosed();
    const { database: name, tenant } = caller;
    const concerns = (change: Change): boolean =>
      change.database === name && (change.tenant === null || change.tenant === tenant);
    const { databases, goneDatabases } = this.#parts.state;
    const generation = (): number => databases.get(name)?.generation ?? goneDatabases.get(name) ?? 0;
    const reset = (): Change => resetChange(name, tenant, generation(), this.showTime());
    return this.#feed.stream(concerns, lastEventId, reset, signalOf(caller));
  }

  subscribe(listener: (change: Change) => void): () => void {
    return this.#feed.subscribe(listener);
  }

  figures(): Pick<EngineFigures, LiveFigures> {
    const databases = [...this.#parts.state.databases.values()];
    let conclusions = 0;
    for (const reasoner of this.#reasoners.values()) conclusions += reasoner.conclusions;
    return {
      databases: databases.length,
      tenants: databases.reduce((sum, { tenants }) => sum + tenants.size, 0),
      rules: databases.reduce((sum, { rules }) => sum + rules.size, 0),
      conclusions,
      derivedBytes: this.#memory.heldBytes,
      derivedBudgetBytes: this.#memory.limit,
    };
  }

  counters(): Pick<EngineCounters, LiveCounters> {
    const time = this.showTime();
    let stored = 0;
    for (const database of this.#parts.state.databases.values())
      for (const tenant of database.tenants.values())
        stored += tenant.facts.countStored(database.generation, time);
    let rulesFired = this.#firedBefore;
    for (const tallies of this.#tallies.values())
      for (const tally of tallies.values()) rulesFired += tally.fired;
    return { ...this.#counters, rulesFired, facts: stored };
  }

  /** Validities that ended before a write are told before it. */
  applying({ database: name, time, operation }: LogRecord): void {
    this.#counts.disturbed();
    const about = operation as Operation;
    if (!('tenant' in about)) return;
    const database = this.#parts.state.database(name);
    const tenant = database.tenants.get(about.tenant);
    if (tenant !== undefined) this.#pass(database, tenant, about.tenant, time);
  }

  /** What every change sets going, in the turn it is made. */
  applied(record: LogRecord, report: Report): void {
    const { database, tenant, changes } = report;
    const origin = this.#originOf(record, report);
    const asserted = changes.countOf('fact.asserted');
    this.#counters.factsAsserted += asserted;
    this.#counters.factsRetracted += changes.length - asserted;
    this.#counters.factsEvicted += changes.countOf('memory.evicted');
    const state = tenant === null ? undefined : database.tenants.get(tenant);
    const reasoner = state === undefined ? undefined : this.#reasoners.get(state);
    if (changes.length > 0) reasoner?.touched(changes.numbers(), report.generation);
    for (const change of changesOf(report, origin)) this.#feed.publish(change);
    if (state !== undefined && changes.length > 0) {
      this.#upkeep.get(state)?.changed(origin);
      this.#timer.expect(state.facts.boundaries.next);
    }
    this.#rulesChanged(report, origin);
    if (report.cleared !== null) this.#letGo(database, report.cleared);
    if (state !== undefined && tenant !== null) this.#compact(database, tenant, state, changes.relations);
  }

  /**
   * To be called in the turn in which the state became another, with the databases that it had: everybody who follows
   * changes is to read again. Who reads what was there reads it to the end.
   */
  replaced(before: readonly DatabaseState[]): void {
    for (const database of before) {
      const { tenants, rules } = database;
      this.#letGo(database, { tenants, facts: 0, rules: rules.size, isDatabaseGone: true });
    }
    const time = this.showTime();
    const { databases, goneDatabases } = this.#parts.state;
    for (const { tenant } of this.everyTenant()) {
      tenant.facts.boundaries.takeUntil(time);
      this.#timer.expect(tenant.facts.boundaries.next);
    }
    for (const database of databases.values())
      this.#told.set(database, new ToldGeneration(database.name, database.generation, time));
    const names = new Set([...before.map(({ name }) => name), ...databases.keys()]);
    for (const name of names) {
      const generation = databases.get(name)?.generation ?? goneDatabases.get(name) ?? 0;
      this.#feed.publish(resetChange(name, null, generation, time));
    }
  }

  /** Keeps nothing more for what was cleared: who still reads it goes on with what they hold. */
  #letGo(database: DatabaseState, { tenants, facts, rules, isDatabaseGone }: ClearedTenants): void {
    this.#counters.factsRetracted += facts;
    for (const tenant of tenants.values()) {
      this.#reasoners.get(tenant)?.retire();
      const upkeep = this.#upkeep.get(tenant);
      if (upkeep !== undefined) {
        const ended = upkeep.close().finally(() => this.#ending.delete(ended));
        this.#ending.add(ended);
      }
      this.#reasoners.delete(tenant);
      this.#upkeep.delete(tenant);
      this.#uncompacted.delete(tenant);
      this.#listings.forget(tenant.facts);
    }
    if (rules > 0 || isDatabaseGone) {
      for (const { fired } of this.#tallies.get(database)?.values() ?? []) this.#firedBefore += fired;
      this.#tallies.delete(database);
      this.#programs.delete(database);
    }
    if (isDatabaseGone) this.#told.delete(database);
  }

  /** Lets go of what is dead of these relations and of those left from before, unless someone may still read it. */
  #compact(database: DatabaseState, name: string, tenant: TenantState, touched: Iterable<string>): void {
    const relations = this.#uncompacted.get(tenant) ?? new Set();
    for (const relation of touched) relations.add(relation);
    this.#uncompacted.set(tenant, relations);
    // Rows that a write under way has found, and what it has ended unseen, must stay where they are.
    if (this.#parts.state.isChanging) return;
    const reasoner = this.#reasoners.get(tenant);
    if (reasoner !== undefined && (reasoner.readers > 0 || reasoner.holdsFacts)) return;
    const through = Math.min(database.generation, this.rememberedSince(database.name, name));
    this.#uncompacted.set(tenant, new Set(tenant.facts.compact(relations, through)));
  }

  /** The generation that the write made, with its time and request. */
  #originOf({ time, requestId }: LogRecord, report: Report): Origin {
    const { database, generation } = report;
    let told = this.#told.get(database);
    if (told?.generation !== generation) {
      // A database that is made anew begins with the generation in which the one before it was deleted.
      told = new ToldGeneration(database.name, generation, told === undefined ? time : 0);
      this.#told.set(database, told);
    }
    const origin = { told, time, requestId };
    this.#origins.set(report, origin);
    return origin;
  }

  /** Has the tenants' conclusions looked at that changes of rules can have withdrawn. */
  #rulesChanged({ database, rules }: Report, origin: Origin): void {
    const heads = new Set<string>();
    for (const { kept, before, isChange } of rules) {
      if (!isChange || (before !== null && countsAlike(before, database.rules.get(kept.id)))) continue;
      for (const each of before === null ? [kept] : [kept, before]) heads.add(relationOf(each.rule.head));
    }
    if (heads.size === 0) return;
    for (const tenant of database.tenants.values()) {
      const reasoner = this.#reasoners.get(tenant);
      if (reasoner?.doubtConcluded([...heads]) !== true) continue;
      reasoner.use(this.programOf(database));
      this.#upkeep.get(tenant)?.changed(origin);
    }
  }

  /** Pins a reader for the caller when no upkeep is under way that conclusions of these relations wait for. */
  async #whenTrue(caller: Caller, limits: ReadLimits, about: readonly string[] | null): Promise<ReadContext> {
    this.refuseClosed();
    const first = this.pin(caller, limits);
    const { pacer, reader } = first;
    let context = first;
    for (;;) {
      const { reasoner } = context;
      const upkeep = reasoner.maintenanceFor(about);
      if (upkeep === null) return context;
      if (!(await waitFor(upkeep.done, pacer))) return { ...this.pin(caller, limits), pacer };
      this.refuseClosed();
      // The state that the tables hold now will do where it is not from before the call.
      if (upkeep.reader.version >= reader.version && reasoner.isShared(upkeep.reader))
        return { ...context, reader: upkeep.reader };
      await pacer.rest();
      this.refuseClosed();
      context = { ...this.pin(caller, limits), pacer };
    }
  }

  /** A reader of the tenant's state as it is now. */
  #readerOf(
    database: DatabaseState,
    tenant: TenantState,
    name: string,
    reasoner = this.#reasonerOf(database, tenant, name),
  ): PinnedReader {
    const time = this.showTime();
    this.#pass(database, tenant, name, time);
    return reasoner.reader(database.generation, time);
  }

  /** Notices the validities of a tenant that began or ended up to this time, and tells of them. */
  #pass(database: DatabaseState, tenant: TenantState, name: string, time: number): void {
    const { boundaries } = tenant.facts;
    const since = boundaries.next;
    if (since > time) return;
    const passed = [...boundaries.takeUntil(time)];
    const told = present(this.#told.get(database), 'a database with facts has a generation');
    const origin = { told, time, requestId: null };
    const changes = factChanges(
      tenant.facts,
      name,
      boundsPassed(tenant.facts, passed, database.generation, { since, time }),
      origin,
    );
    for (const change of changes) this.#feed.publish(change);
    this.#reasoners.get(tenant)?.passed(passed, time);
    this.#upkeep.get(tenant)?.changed(origin);
  }

  #passAll(): void {
    const time = this.showTime();
    for (const { database, tenant, name } of this.everyTenant()) this.#pass(database, tenant, name, time);
  }

  #nextBoundary(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { tenant } of this.everyTenant()) next = Math.min(next, tenant.facts.boundaries.next);
    return next;
  }

  *everyTenant(): Generator<{ database: DatabaseState; tenant: TenantState; name: string }> {
    for (const database of this.#parts.state.databases.values())
      for (const [name, tenant] of database.tenants) yield { database, tenant, name };
  }

  /** Reasoners are kept for tenants that exist; another is answered from nothing, and leaves nothing behind. */
  #reasonerOf(database: DatabaseState, tenant: TenantState, name: string): Reasoner {
    const program = this.programOf(database);
    let reasoner = this.#reasoners.get(tenant);
    if (reasoner !== undefined) {
      if (reasoner.program !== program) reasoner.use(program);
      return reasoner;
    }
    const { pause, onBug } = this.#parts;
    reasoner = new Reasoner(tenant.facts, program, this.talliesOf(database), pause, this.#memory);
    reasoner.onBug = onBug;
    if (database.tenants.get(name) !== tenant) return reasoner;
    this.#reasoners.set(tenant, reasoner);
    const upkeep = new BackgroundMaintenance(reasoner, {
      pin: () => this.#readerOf(database, tenant, name),
      tell: (atoms, origin) => {
        for (const change of withdrawalsOf(name, atoms, origin)) this.#feed.publish(change);
      },
      settled: () => this.#compact(database, name, tenant, []),
      onBug,
    });
    this.#upkeep.set(tenant, upkeep);
    return reasoner;
  }

  #now(): number {
    return Math.max(this.#parts.clock.now(), this.#parts.state.time);
  }
}

/** What the engine counts, for metrics. All are totals since the start, but for `facts`. */
export interface EngineCounters {
  factsAsserted: number;
  factsRetracted: number;
  /** Retracted since they had expired or faded; among `factsRetracted`. */
  factsEvicted: number;
  rulesFired: number;
  /** Stored facts now, over all databases and tenants. */
  facts: number;
  records: number;
  commits: number;
  /** Bytes of the frames that were written. */
  logBytes: number;
  /** Snapshots that were written. */
  snapshots: number;
  /** Backups that were sent whole. */
  backups: number;
}

/** What there is at present, for gauges. Bytes of tables are as they were last measured. */
export interface EngineFigures {
  readonly databases: number;
  readonly tenants: number;
  readonly rules: number;
  /** Conclusions in the tables that later questions share: one that several tables hold counts for each. */
  readonly conclusions: number;
  readonly derivedBytes: number;
  readonly derivedBudgetBytes: number;
  readonly openTransactions: number;
  /** Sessions whose last context window is remembered. */
  readonly windowSessions: number;
  /** Of all segments of the log on disk. */
  readonly logBytes: number;
  readonly logSegments: number;
  /** Records that are not yet durable. */
  readonly logWaitingBytes: number;
  /** The last snapshot; null: there is none. `at` in epoch milliseconds. */
  readonly snapshot: { readonly bytes: number; readonly at: number } | null;
  /** What the last snapshot of this process took; null: it has written none. */
  readonly snapshotTookMs: number | null;
  /** Sequence of the last record. */
  readonly position: number;
  readonly isEncrypted: boolean;
  /** When the last backup was taken that was sent whole, epoch milliseconds; null: none was since the start. */
  readonly backupAt: number | null;
}
