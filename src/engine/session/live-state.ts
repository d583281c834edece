import { Compactions } from './compactions.ts';
import {
  boundsPassed,
  changesOf,
  factChanges,
  type Origin,
  resetChange,
  EventIds,
  toolCallOf,
  withdrawalsOf,
  type Change,
  ChangeFeed,
} from './change-feed.ts';
import type { LiveCounters, LiveFigures } from './live-figures.ts';
import { BackgroundCounts } from './background-counts.ts';
import { BackgroundMaintenance } from './background-maintenance.ts';
import { present } from '../base/assert.ts';
import { type Caller, signalOf } from '../base/caller.ts';
import { type Clock, type ClockSetting, ValidityTimer, WallClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { FactCopies, FactMeaning, LookupContext, ReadContext } from './read-context.ts';
import type { Answer } from '../contract/inference.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import type { Dependents, KnownBefore } from './dependents.ts';
import type { AnswerCache, ListingCache } from './caches.ts';
import type { DerivedMemory } from './derived-memory.ts';
import { defaultLimits, type ReadLimits } from './read-limits.ts';
import { relationOf } from '../language/terms.ts';
import { countsAlike } from '../commit/prepare-rules.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import type { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program, type Tallies } from '../datalog/model/program.ts';
import { type PinnedReader, Reasoner, waitFor } from '../datalog/maintain/reasoner.ts';
import type { Claim, Hold } from '../datalog/maintain/withdrawals.ts';
import type { Operation } from '../state/operation.ts';
import { erasureOf } from '../state/redaction.ts';
import type { ClearedTenants, Report } from '../state/report.ts';
import { type DatabaseState, newTenant, type State, type TenantState } from '../state/state.ts';
import type { LogRecord } from '../log/codec.ts';
import { type CommitObserver, judgedAt } from '../commit/commit-pipeline.ts';

/** What the live state is made of. */
export interface LiveParts {
  readonly state: State;
  readonly clock: Clock;
  readonly derived: DerivedMemory;
  readonly scheduler: Scheduler;
  /** Absent or null: facts are not compared by meaning. */
  readonly meaning?: FactMeaning | null;
  /** How often rules fired before the start, if known. */
  readonly tallies: ReadonlyMap<DatabaseState, Tallies>;
  /** Called when the wall clock was set, with the step and the offset since the start, in milliseconds. */
  readonly onClockStep?: ((by: number, offset: number) => void) | undefined;
  /** Receives internal errors that no caller sees: bugs. */
  readonly onBug: (error: unknown) => void;
  /** Ends the ids of this node's events; absent: no other node publishes the same. */
  readonly feed?: string | undefined;
}

/** A view of the state right before a write, kept until it has been compared with the state after. */
export interface Watch {
  /** Call it in the turn of the write, before it. */
  readonly before: () => void;
  readonly seen: () => { readonly context: ReadContext; readonly known: KnownBefore; readonly hold: Hold };
  /** Claims these withdrawn conclusions: the caller reports them, so nothing else publishes them. */
  readonly claim: (found: Dependents) => void;
  readonly end: () => void;
}

/**
 * Everything derived from the state: a program per database, a reasoner with its tables per tenant in use, caches, and
 * the change feed.
 *
 * All of it can be discarded and rebuilt. Reads use snapshot isolation: a pinned reader sees one generation at one time
 * (MVCC) until it ends. Every change is taken in in the turn in which it happens (`applying`, `applied`), and so is
 * every validity boundary (`#passBoundaries`), before any later read.
 */
export class LiveState implements CommitObserver {
  readonly #parts: LiveParts;
  readonly #feed = new ChangeFeed();
  readonly #memory: MemoryBudget;
  readonly #listings: ListingCache;
  readonly #meaning: FactMeaning | null;
  readonly #answers: AnswerCache;
  readonly #reasoners = new Map<TenantState, Reasoner>();
  readonly #maintenance = new Map<TenantState, BackgroundMaintenance>();
  /** Maintenance of removed tenants that is still ending. */
  readonly #ending = new Set<Promise<void>>();
  readonly #timer: ValidityTimer;
  readonly #counts: BackgroundCounts;
  readonly #compactions: Compactions;
  readonly #eventIds = new Map<DatabaseState, EventIds>();
  readonly #origins = new WeakMap<Report, Origin>();
  /** Includes removed databases that still have readers. */
  readonly #programs = new WeakMap<DatabaseState, { version: number; program: Program }>();
  /** How often each rule derived something new, by database. */
  readonly #tallies: Map<DatabaseState, Tallies>;
  readonly #counters = { factsAsserted: 0, factsRetracted: 0, factsEvicted: 0, clockSteps: 0 };
  /** Firings of rules that were removed with their whole database. */
  #firedBefore = 0;
  /** The generation after which a tenant's dead rows are still needed; Infinity: none are. */
  rememberedSince: (database: string, tenant: string) => number = () => Number.POSITIVE_INFINITY;
  readonly #wall: WallClock;
  /** The time that the last reader saw. */
  #lastTimeRead = 0;
  #isClosed = false;
  /** True once somebody follows the changes. */
  isFollowed = false;
  /** Called after validities passed, with the time before the first of them. */
  onPassed: (tenant: TenantState, passed: readonly number[], since: number, origin: Origin) => void =
    () => {};
  /** Called when the wall clock was set. What depends on it is not yet up to date. */
  onClockSet: (setting: ClockSetting) => void = () => {};
  /** Told of changed facts in the turn of the change; null: there are no copies. */
  copies: FactCopies | null = null;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#tallies = new Map(parts.tallies);
    this.#memory = parts.derived.budget;
    this.#listings = parts.derived.listings;
    this.#meaning = parts.meaning ?? null;
    this.#answers = parts.derived.answers;
    const { clock, scheduler, onBug, onClockStep } = parts;
    const pause = scheduler.pauseOf(null, 'count conclusions');
    const stepped = (by: number, offset: number, settings: readonly ClockSetting[]): void => {
      this.#counters.clockSteps++;
      onClockStep?.(by, offset);
      for (const setting of settings) this.onClockSet(setting);
    };
    this.#wall = new WallClock(clock, parts.state.wall, { stepped });
    this.#counts = new BackgroundCounts({ clock, pause, memory: this.#memory, onBug });
    const droppableThrough = (database: DatabaseState, name: string, tenant: TenantState): number | null => {
      const reasoner = this.#reasoners.get(tenant);
      if (reasoner !== undefined && (reasoner.readers > 0 || reasoner.holdsFacts)) return null;
      return Math.min(database.generationOf(name), this.rememberedSince(database.name, name));
    };
    this.#compactions = new Compactions({ scheduler, droppableThrough, onBug });
    // Boundaries before the start are not published.
    this.#lastTimeRead = this.#wall.read();
    const start = this.#lastTimeRead;
    for (const { tenant } of this.everyTenant()) {
      tenant.facts.turnBack(start, start);
      tenant.facts.boundaries.takeUntil(start);
      tenant.uses.turnBack(start);
    }
    // Start with ids that an earlier process cannot have assigned.
    for (const database of parts.state.databases.values())
      this.#eventIds.set(database, new EventIds(database.name, database.lastGeneration, start, parts.feed));
    this.#timer = new ValidityTimer({
      clock: parts.clock,
      next: () => this.#nextBoundary(),
      reached: () => this.#passAllBoundaries(),
    });
  }

  /** Frees the memory of cached answers, and of derived tables and dead rows that no question is using. */
  freeMemory(): void {
    this.#parts.derived.free();
    for (const { database, tenant, name } of this.everyTenant())
      this.#compactions.goOn(database, name, tenant);
  }

  /** Refuses new work; resolves when no background work runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.close();
    const maintenance = Array.from(this.#maintenance.values(), (each) => each.close());
    await Promise.all([this.#counts.close(), this.#compactions.close(), ...maintenance, ...this.#ending]);
  }

  /** Drops everything derived, of an engine that ends while others of the process go on. */
  release(): void {
    for (const database of this.#parts.state.databases.values()) {
      const { tenants, rules } = database;
      this.#drop(database, { tenants, facts: 0, rules: rules.size, isDatabaseGone: true });
    }
  }

  /** The memory for derived data. */
  get memory(): MemoryBudget {
    return this.#memory;
  }

  /** Milliseconds since the last question or write. */
  get quietForMs(): number {
    return this.#counts.quietForMs;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Reads under snapshot isolation: the state stays as it is until `read` has ended. `about` are the relations whose
   * conclusions the read needs; null: any.
   */
  async reading<Result>(
    caller: Caller,
    limits: ReadLimits,
    read: (context: ReadContext) => Promise<Result>,
    about: readonly string[] | null = [],
  ): Promise<Result> {
    const context = await this.#pinMaintained(caller, limits, about);
    context.reasoner.readers++;
    try {
      return await read(context);
    } catch (error) {
      throw context.pacer.withElapsed(error);
    } finally {
      context.reasoner.readers--;
      this.#compactions.goOn(context.database, caller.tenant, context.tenant);
    }
  }

  /**
   * Runs a question in one of the tenant's places for running questions. Waiting for the place counts as its time:
   * `run` gets the limits with the time of the call. Refuses with InferenceLimitExceeded if the time passes before.
   */
  async asQuestion<Limits extends ReadLimits, Result>(
    caller: Caller,
    limits: Limits,
    run: (limits: Limits) => Promise<Result>,
  ): Promise<Result> {
    this.refuseClosed();
    const { scheduler } = this.#parts;
    let leave = scheduler.place(caller);
    let timed = limits;
    if (leave === null) {
      timed = { ...limits, startedAt: performance.now() };
      leave = await this.#placeFor(caller, timed);
    }
    try {
      return await run(timed);
    } finally {
      leave();
    }
  }

  /** Waits for a place as long as the question may take. */
  async #placeFor(caller: Caller, { timeoutMs, startedAt = 0 }: ReadLimits): Promise<() => void> {
    const { signal } = caller;
    const leave = await this.#parts.scheduler.waitForPlace(caller, {
      deadline: startedAt + timeoutMs,
      signal,
    });
    if (leave !== null) return leave;
    refuseGone(signal);
    throw new EngineError(
      'InferenceLimitExceeded',
      `the question waited longer than ${timeoutMs} ms for others of its tenant: ask fewer at once, or raise timeoutMs`,
      { limit: 'timeoutMs', elapsedMs: Math.round(performance.now() - startedAt) },
    );
  }

  /** Reads stored facts synchronously, without pinning the state, and records the uses. Returns null if `read` does. */
  look<Result>(
    caller: Caller,
    read: (context: LookupContext) => { readonly result: Result; readonly facts: readonly FactRow[] } | null,
  ): Result | null {
    this.refuseClosed();
    refuseGone(caller.signal);
    const database = this.database(caller);
    const tenant = database.tenants.get(caller.tenant) ?? newTenant(0);
    const context = { database, tenant, reader: this.#readerOf(database, tenant, caller.tenant) };
    this.#counts.disturbed(context.reader.time);
    const found = read(context);
    if (found === null) return null;
    for (const fact of found.facts) this.noteUse(context, fact);
    return found.result;
  }

  /** A cached answer to the question with this key that is still valid, found synchronously; null: none. */
  answerAgain(caller: Caller, key: string): Answer | null {
    this.refuseClosed();
    const context = this.pin(caller, defaultLimits);
    const { reasoner, reader, pacer, tenant } = context;
    const cached = this.#answers.find(reasoner, reader, key);
    if (cached === null) return null;
    // Its facts existed when it was cached; facts that have lost their uses since have changed and invalidated the
    // answer.
    tenant.uses.noteAgain(cached.used, reader.time);
    const { proof, hints, ...answer } = cached.answer;
    const { generation } = reader;
    return {
      ...answer,
      generation,
      elapsedMs: pacer.elapsedRounded,
      ...(proof === undefined ? {} : { proof }),
      ...(hints === undefined ? {} : { hints }),
    };
  }

  /** Caches an answer and the stored facts that it used, for `answerAgain`. */
  keepAnswer({ reasoner, reader }: ReadContext, key: string, answer: Answer, used: Set<FactRow>): void {
    const { generation: _now, elapsedMs: _then, ...written } = answer;
    this.#answers.keep(reasoner, reader, key, written, used);
  }

  /**
   * Records what is known right before a write, in its turn, for comparison with the state after. The state stays
   * pinned until `end`.
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
      claim: ({ atoms, isComplete }) => {
        claim = { atoms: new Set(atoms), isComplete };
      },
      end: () => {
        if (seen === null) return;
        const { reasoner } = seen.context;
        reasoner.readers--;
        seen.known.losses?.end();
        reasoner.withdrawals.release(seen.hold, claim);
        reasoner.onLeft();
        this.#compactions.goOn(seen.context.database, caller.tenant, seen.context.tenant);
      },
    };
  }

  /**
   * The context after a write: its generation and these rules, at the time of `before`. `version` is the version that a
   * change of facts created.
   */
  after(before: ReadContext, generation: number, program: Program, version?: number): ReadContext {
    const { reasoner, reader } = before;
    const after = reasoner.reader(generation, reader.time, program);
    return { ...before, reader: version === undefined ? after : { ...after, version } };
  }

  /** Requests counts of the tenant's uncounted conclusions, to be computed while the engine is idle. */
  countWhenQuiet({ database, tenant, reasoner }: ReadContext, { tenant: name }: Caller): void {
    if (this.#isClosed || database.tenants.get(name) !== tenant) return;
    this.#counts.wanted(reasoner, () => this.#readerOf(database, tenant, name));
  }

  pin(caller: Pick<Caller, 'database' | 'tenant' | 'signal'>, limits: ReadLimits): ReadContext {
    if (limits.isAside !== true) this.#counts.disturbed();
    const database = this.database(caller);
    const tenant = database.tenants.get(caller.tenant) ?? newTenant(0);
    const reasoner = this.#reasonerOf(database, tenant, caller.tenant);
    const { timeoutMs, maxDerivations, startedAt, patienceMs, handOver } = limits;
    const { signal } = caller;
    return {
      database,
      tenant,
      reasoner,
      reader: this.#readerOf(database, tenant, caller.tenant, reasoner),
      pacer: reasoner.pacer({ timeoutMs, maxDerivations, startedAt, patienceMs, handOver, signal }),
      listings: this.#listings,
      meaning: this.#meaning,
      tokens: shippedTokens,
      elsewhere: this.copies?.conclusionsOf(caller, tenant) ?? null,
    };
  }

  /** A reader of the current state, or of the tenant's last state if the tenant was removed since. */
  latest(caller: Caller, { reasoner, reader }: ReadContext): PinnedReader {
    return reasoner.isRetired ? reasoner.lastReader(reader) : this.pin(caller, defaultLimits).reader;
  }

  /** Throws DatabaseNotFound. */
  database(caller: Pick<Caller, 'database'>): DatabaseState {
    return this.#parts.state.database(caller.database);
  }

  databaseIfAny({ database }: Pick<Caller, 'database'>): DatabaseState | undefined {
    return this.#parts.state.databases.get(database);
  }

  /** The current facts of the tenant; null: none, and none were forgotten. */
  storeOf(caller: Caller): FactStore | null {
    const database = this.databaseIfAny(caller);
    const facts = database?.tenants.get(caller.tenant)?.facts ?? null;
    const forgotten = database?.forgottenThrough(caller.tenant) ?? 0;
    return facts === null && forgotten > 0 ? newTenant(0, forgotten).facts : facts;
  }

  programOf(database: DatabaseState): Program {
    const { version } = database.rules;
    let known = this.#programs.get(database);
    if (known?.version !== version) {
      known = { version, program: new Program(database.rules.all(), known?.program) };
      this.#programs.set(database, known);
    }
    return known.program;
  }

  talliesOf(database: DatabaseState): Tallies {
    let tallies = this.#tallies.get(database);
    if (tallies === undefined) this.#tallies.set(database, (tallies = new Map()));
    return tallies;
  }

  /** Records one use for every fact that a question used. Uses by questions are not writes. */
  async noteUses(context: ReadContext, used: Iterable<FactRow>): Promise<void> {
    context.pacer.staysHere();
    let noted = 0;
    for (const fact of used) {
      this.noteUse(context, fact);
      if ((++noted & 0x3ff) === 0) await context.pacer.breathe();
    }
  }

  noteUse({ database, tenant, reader }: LookupContext, fact: FactRow): void {
    tenant.uses.noteLater(fact, database, reader.time);
  }

  /** The current visible time: the wall clock. It goes back only if that was set back by more than a minute. */
  showTime(): number {
    const time = this.#wall.read();
    if (time < this.#lastTimeRead) this.#turnBack(time);
    else this.#lastTimeRead = time;
    return time;
  }

  /** By how many milliseconds the wall clock was set since the start, and for how long it has not been set. */
  get clockOffset(): Pick<WallClock, 'offset' | 'steadyForMs'> {
    this.showTime();
    return this.#wall;
  }

  /** Makes visible again whose validity ended, and hides what began, between this time and the last one read. */
  #turnBack(time: number): void {
    const from = this.#lastTimeRead;
    this.#lastTimeRead = time;
    for (const { database, tenant } of this.everyTenant()) {
      const turned = tenant.facts.turnBack(time, from);
      tenant.uses.turnBack(time);
      this.copies?.forget(tenant);
      if (turned.length > 0) {
        this.#reasoners.get(tenant)?.turnedBack(turned, time);
        const ids = present(this.#eventIds.get(database), 'every database has event ids');
        this.#maintenance.get(tenant)?.changed({ ids, time, requestId: null });
      }
      this.#listings.forget(tenant.facts);
      this.#timer.expect(tenant.facts.boundaries.next);
    }
    for (const { name, lastGeneration } of this.#parts.state.databases.values())
      this.#feed.publish(resetChange(name, null, lastGeneration, time));
  }

  refuseClosed(): void {
    if (this.#isClosed)
      throw new EngineError('NotReady', 'the service is shutting down: try again when it is back');
  }

  /** Publishes the conclusions that a change withdrew, after the change itself, once they are known. */
  publishWithdrawn(caller: Caller, report: Report, atoms: readonly string[]): void {
    const origin = this.#origins.get(report);
    if (origin === undefined) return;
    const { names } = report.database.declarations;
    for (const change of withdrawalsOf(caller.tenant, atoms, names, origin)) this.#feed.publish(change);
  }

  databaseNamed(name: string): DatabaseState | undefined {
    return this.#parts.state.databases.get(name);
  }

  /** Pins the tenant's current state for work that nobody waits for; null: the database has no such tenant. */
  pinBackground(database: DatabaseState, name: string, limits: ReadLimits): ReadContext | null {
    if (this.#parts.state.databases.get(database.name) !== database || !database.tenants.has(name))
      return null;
    const nobody = { database: database.name, tenant: name, signal: new AbortController().signal };
    return this.pin(nobody, { ...limits, isAside: true });
  }

  /** The origin of the write's events; undefined: the write was made before this process. */
  originOf(report: Report): Origin | undefined {
    return this.#origins.get(report);
  }

  publish(changes: readonly Change[]): void {
    for (const change of changes) this.#feed.publish(change);
  }

  /**
   * Tells subscribers of the caller's database and tenant that an agent called a tool there; `id` names the call. Writes
   * nothing, and creates neither database nor tenant.
   */
  tellOfToolCall(caller: Pick<Caller, 'database' | 'tenant' | 'requestId'>, id: string): void {
    const { tenant, requestId } = caller;
    const database = this.databaseIfAny(caller);
    // The database may have been deleted while the call ran.
    if (database === undefined) return;
    const ids = present(this.#eventIds.get(database), 'every database has event ids');
    this.#feed.publish(toolCallOf(tenant, id, { ids, time: this.showTime(), requestId }));
  }

  /**
   * Changes of the caller's database and tenant from now on, or after `lastEventId` if those are still remembered;
   * otherwise the first change is a `reset`. Ends with the caller's signal. A subscriber that falls too far behind gets a
   * `reset` and loses what it missed.
   */
  changes(caller: Caller, lastEventId: string | null): AsyncIterable<Change> {
    this.refuseClosed();
    const { database: name, tenant } = caller;
    const concerns = (change: Change): boolean =>
      change.database === name && (change.tenant === null || change.tenant === tenant);
    const { databases, goneDatabases } = this.#parts.state;
    const generation = (): number =>
      databases.get(name)?.generationOf(tenant) ?? goneDatabases.get(name) ?? 0;
    const reset = (): Change => resetChange(name, tenant, generation(), this.showTime());
    this.isFollowed = true;
    return this.#feed.stream(concerns, lastEventId, reset, signalOf(caller));
  }

  /** Calls `listener` synchronously for every change of every database; returns how to stop. */
  subscribe(listener: (change: Change) => void): () => void {
    return this.#feed.subscribe(listener);
  }

  figures(): LiveFigures {
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
      deadRows: this.#deadRows(),
      clockOffsetMs: this.clockOffset.offset,
    };
  }

  #deadRows(): number {
    let rows = 0;
    for (const { tenant } of this.everyTenant())
      for (const { count, live } of tenant.facts.relations.values()) rows += count - live;
    return rows;
  }

  counters(): LiveCounters {
    const time = this.showTime();
    let stored = 0;
    for (const database of this.#parts.state.databases.values())
      for (const [name, tenant] of database.tenants)
        stored += tenant.facts.countStored(database.generationOf(name), time);
    let rulesFired = this.#firedBefore;
    for (const tallies of this.#tallies.values())
      for (const tally of tallies.values()) rulesFired += tally.fired;
    return { ...this.#counters, rulesFired, facts: stored };
  }

  /** Publishes validity boundaries that passed before a write, before the write. */
  applying(record: LogRecord): void {
    this.#counts.disturbed();
    this.#wall.heard(judgedAt(record));
    const about = record.operation as Operation;
    if (!('tenant' in about) || about.tenant === null) return;
    const database = this.#parts.state.database(record.database);
    const tenant = database.tenants.get(about.tenant);
    if (tenant !== undefined) {
      const time = Math.min(this.showTime(), judgedAt(record));
      this.#passBoundaries(database, tenant, about.tenant, time);
    }
  }

  /** Updates everything that depends on a change, in the turn of the change. */
  applied(record: LogRecord, report: Report): void {
    const { database, tenant, changes } = report;
    const origin = this.#originOf(record, report);
    const erasure = erasureOf(record);
    if (erasure !== null) this.#feed.erase(erasure);
    const asserted = changes.countOf('fact.asserted');
    this.#counters.factsAsserted += asserted;
    this.#counters.factsRetracted += changes.length - asserted;
    this.#counters.factsEvicted += changes.countOf('memory.evicted');
    const state = tenant === null ? undefined : database.tenants.get(tenant);
    const reasoner = state === undefined ? undefined : this.#reasoners.get(state);
    // The clock that judged the record is ahead: of this one, or it was set back since.
    const judged = judgedAt(record);
    if (judged > this.#lastTimeRead) state?.facts.turnBack(this.#lastTimeRead, judged);
    const numbers = changes.numbers;
    if (changes.length > 0) reasoner?.touched(numbers, report.generation);
    if (state !== undefined) this.copies?.changed(state, numbers);
    for (const change of changesOf(report, origin)) this.#feed.publish(change);
    if (state !== undefined && changes.length > 0) {
      this.#maintenance.get(state)?.changed(origin);
      this.#timer.expect(state.facts.boundaries.next);
    }
    this.#rulesChanged(report, origin);
    if (report.cleared !== null) this.#drop(database, report.cleared);
    if (state !== undefined && tenant !== null)
      this.#compactions.goOn(database, tenant, state, changes.relations);
  }

  /**
   * Call it in the turn in which another state replaced this one, with the databases that it had: all subscribers must
   * read again. Running reads finish on the old state.
   */
  replaced(before: readonly DatabaseState[]): void {
    for (const database of before) {
      const { tenants, rules } = database;
      this.#drop(database, { tenants, facts: 0, rules: rules.size, isDatabaseGone: true });
    }
    const time = this.showTime();
    const { databases, goneDatabases } = this.#parts.state;
    for (const { tenant } of this.everyTenant()) {
      tenant.facts.turnBack(time, time);
      tenant.facts.boundaries.takeUntil(time);
      this.#timer.expect(tenant.facts.boundaries.next);
    }
    for (const each of databases.values())
      this.#eventIds.set(each, new EventIds(each.name, each.lastGeneration, time, this.#parts.feed));
    const names = new Set([...before.map(({ name }) => name), ...databases.keys()]);
    for (const name of names) {
      // What was erased meanwhile is not known.
      this.#feed.erase({ sequence: 0, database: name, tenant: null, facts: null });
      const generation = databases.get(name)?.lastGeneration ?? goneDatabases.get(name) ?? 0;
      this.#feed.publish(resetChange(name, null, generation, time));
    }
  }

  /** Drops everything derived from cleared tenants; running reads continue with what they hold. */
  #drop(database: DatabaseState, { tenants, facts, rules, isDatabaseGone }: ClearedTenants): void {
    this.#counters.factsRetracted += facts;
    for (const tenant of tenants.values()) {
      this.#reasoners.get(tenant)?.retire();
      this.copies?.forget(tenant);
      const maintenance = this.#maintenance.get(tenant);
      if (maintenance !== undefined) {
        const ended = maintenance.close().finally(() => this.#ending.delete(ended));
        this.#ending.add(ended);
      }
      this.#reasoners.delete(tenant);
      this.#maintenance.delete(tenant);
      this.#compactions.drop(tenant);
      this.#listings.forget(tenant.facts);
    }
    if (rules > 0 || isDatabaseGone) {
      for (const { fired } of this.#tallies.get(database)?.values() ?? []) this.#firedBefore += fired;
      this.#tallies.delete(database);
      this.#programs.delete(database);
    }
    if (isDatabaseGone) this.#eventIds.delete(database);
  }

  /** Removes dead rows that a transaction of this tenant held, when its caller is done with them. */
  compactSoon({ database: of, tenant: name }: Pick<Caller, 'database' | 'tenant'>): void {
    queueMicrotask(() => {
      const database = this.#parts.state.databases.get(of);
      const tenant = database?.tenants.get(name);
      if (database !== undefined && tenant !== undefined) this.#compactions.goOn(database, name, tenant);
    });
  }

  /** The origin of the write's events: its generation, time and request. */
  #originOf({ time, requestId }: LogRecord, report: Report): Origin {
    const { database, generation } = report;
    let ids = this.#eventIds.get(database);
    if (ids?.generation !== generation) {
      // A recreated database begins with its predecessor's generation. Of one that was taken before there can be events.
      const isLatest = ids === undefined || ids.generation < generation;
      const first = ids !== undefined && isLatest ? 0 : time;
      ids = new EventIds(database.name, generation, first, this.#parts.feed);
      if (isLatest) this.#eventIds.set(database, ids);
    }
    const origin = { ids, time, requestId };
    this.#origins.set(report, origin);
    return origin;
  }

  /** Schedules a check of the conclusions that a rule change may have withdrawn. */
  #rulesChanged({ database, rules }: Report, origin: Origin): void {
    const heads = new Set<string>();
    for (const { after, before, isChange } of rules) {
      if (!isChange || (before !== null && countsAlike(before, database.rules.get(after.id)))) continue;
      for (const each of before === null ? [after] : [after, before]) heads.add(relationOf(each.rule.head));
    }
    if (heads.size === 0) return;
    for (const tenant of database.tenants.values()) {
      const reasoner = this.#reasoners.get(tenant);
      if (reasoner?.doubtConcluded([...heads]) !== true) continue;
      reasoner.use(this.programOf(database));
      this.#maintenance.get(tenant)?.changed(origin);
    }
  }

  /** Pins a reader for the caller once the tables of these relations are maintained. */
  async #pinMaintained(
    caller: Caller,
    limits: ReadLimits,
    about: readonly string[] | null,
  ): Promise<ReadContext> {
    this.refuseClosed();
    const first = this.pin(caller, limits);
    const { pacer, reader } = first;
    let context = first;
    for (;;) {
      const { reasoner } = context;
      const maintenance = reasoner.maintenanceFor(about);
      if (maintenance === null) return context;
      if (!(await waitFor(maintenance.done, pacer))) return { ...this.pin(caller, limits), pacer };
      this.refuseClosed();
      // The state of the tables will do if it is not older than the call.
      if (maintenance.reader.version >= reader.version && reasoner.isShared(maintenance.reader))
        return { ...context, reader: maintenance.reader };
      await pacer.rest();
      this.refuseClosed();
      context = { ...this.pin(caller, limits), pacer };
    }
  }

  /** A reader of the tenant's current state. */
  #readerOf(
    database: DatabaseState,
    tenant: TenantState,
    name: string,
    reasoner = this.#reasonerOf(database, tenant, name),
  ): PinnedReader {
    const time = this.showTime();
    this.#passBoundaries(database, tenant, name, time);
    return reasoner.reader(database.generationOf(name), time);
  }

  /** Publishes the validity boundaries of a tenant that passed up to this time, and updates what depends on them. */
  #passBoundaries(database: DatabaseState, tenant: TenantState, name: string, time: number): void {
    const { boundaries } = tenant.facts;
    const since = boundaries.next;
    if (since > time) return;
    const passed = boundaries.takeUntil(time);
    const ids = present(this.#eventIds.get(database), 'a database with facts has a generation');
    const origin = { ids, time, requestId: null };
    const changes = factChanges(
      tenant.facts,
      name,
      boundsPassed(tenant.facts, passed, database.generationOf(name), { since, time }),
      database.declarations.names,
      origin,
    );
    for (const change of changes) this.#feed.publish(change);
    this.#reasoners.get(tenant)?.passed(passed, time);
    this.#maintenance.get(tenant)?.changed(origin);
    this.onPassed(tenant, passed, since - 1, origin);
  }

  #passAllBoundaries(): void {
    const time = this.showTime();
    for (const { database, tenant, name } of this.everyTenant())
      this.#passBoundaries(database, tenant, name, time);
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

  /**
   * Creates reasoners lazily, one per existing tenant. For any other tenant it returns an empty one that is not stored.
   */
  #reasonerOf(database: DatabaseState, tenant: TenantState, name: string): Reasoner {
    const program = this.programOf(database);
    let reasoner = this.#reasoners.get(tenant);
    if (reasoner !== undefined) {
      reasoner.declared = database.declarations;
      if (reasoner.program !== program) reasoner.use(program);
      return reasoner;
    }
    const { scheduler, onBug } = this.#parts;
    const pause = scheduler.pauseOf({ database: database.name, tenant: name });
    reasoner = new Reasoner(tenant.facts, program, this.talliesOf(database), pause, this.#memory);
    reasoner.onBug = onBug;
    reasoner.declared = database.declarations;
    if (database.tenants.get(name) !== tenant) return reasoner;
    this.#reasoners.set(tenant, reasoner);
    const maintenance = new BackgroundMaintenance(reasoner, {
      pin: () => this.#readerOf(database, tenant, name),
      publish: (atoms, origin) => {
        for (const change of withdrawalsOf(name, atoms, database.declarations.names, origin))
          this.#feed.publish(change);
      },
      settled: () => this.#compactions.goOn(database, name, tenant),
      onBug,
    });
    this.#maintenance.set(tenant, maintenance);
    return reasoner;
  }
}
