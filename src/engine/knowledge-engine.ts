import { aggregateFacts } from './aggregate-facts.ts';
import { boundsPassed } from './bounds-passed.ts';
import { ask, bodyOf } from './ask.ts';
import { BackgroundUpkeep } from './background-upkeep.ts';
import { present } from './base/assert.ts';
import type { Caller } from './base/caller.ts';
import type { Clock } from './base/clock.ts';
import { EngineError } from './base/errors.ts';
import { Slices } from './base/slices.ts';
import { compareText } from './base/text-order.ts';
import type { BrowseContext } from './browse.ts';
import { ChangeFeed } from './change-feed.ts';
import { FactUses } from './context/fact-uses.ts';
import type { CreatedDatabase, DatabaseList } from './contract/administration.ts';
import type { AggregateInput, AggregateResult } from './contract/aggregation.ts';
import type {
  ExplainInput,
  Explanation,
  Trace,
  TraceInput,
  WhatIfInput,
  WhatIfResult,
} from './contract/explanation.ts';
import type * as facts from './contract/facts.ts';
import { isVariable } from './contract/language.ts';
import type { Answer, AskInput } from './contract/inference.ts';
import type * as rules from './contract/rules.ts';
import { factDetail, listPredicates, noSuchFact, requireFact } from './describe.ts';
import type { Change, Engine, EngineCounters } from './engine.ts';
import { explain } from './explain.ts';
import { type FactRow, FactStore } from './facts/fact-store.ts';
import {
  type Dependents,
  dependentsAmong,
  dependentsAmongAll,
  dependentsPart,
  type Known,
  knownBefore,
  noDependents,
  patternOf,
  relationsAbout,
  relationsOf,
} from './forget.ts';
import { KeptListings } from './kept-listings.ts';
import { listFacts } from './list-facts.ts';
import { diagnose } from './logic/diagnose.ts';
import { renderAtom } from './logic/print.ts';
import { isPositiveAtom, relationOf } from './logic/terms.ts';
import { checkUnchanged } from './prepare-facts.ts';
import {
  checkFits,
  checkReplaces,
  countsAlike,
  requireRule,
  ruleOutcome,
  ruleToKeep,
} from './prepare-rules.ts';
import {
  changesOf,
  factChanges,
  type Origin,
  resetChange,
  ToldGeneration,
  withdrawalsOf,
} from './publish.ts';
import { queryFacts } from './query.ts';
import { trace } from './trace.ts';
import { whatIf } from './what-if.ts';
import type { Limits, Pause } from './solve/evaluation.ts';
import { FactOverlay } from './solve/fact-overlay.ts';
import { MemoryBudget } from './solve/memory-budget.ts';
import { Program, relationsRead } from './solve/program.ts';
import { type PinnedReader, Reasoner, waitFor } from './solve/reasoner.ts';
import type { Claim, Hold } from './solve/withdrawals.ts';
import type { Tallies } from './solve/table-set.ts';
import type { DatabaseState, Operation, Report, State, TenantState } from './state.ts';
import type { LogRecord } from './storage/codec.ts';
import type { FolderLock } from './storage/lock-file.ts';
import type { Log } from './storage/log.ts';
import { factOutcome, factsWrite, factWrite } from './tell.ts';
import { ValidityTimer } from './validity-timer.ts';
import { type Write, WriteLane } from './write-lane.ts';

/**
 * The engine: a state folded from the log, a reasoner for each tenant that was asked, and a feed of changes.
 *
 * Every method reads as its contract: refuse what can be refused, write through the lane or read through a pinned
 * reader, answer. What is derived hangs on the state and is thrown away when the state changes.
 */
export interface EngineParts {
  readonly state: State;
  readonly log: Log;
  readonly lock: FolderLock | null;
  readonly clock: Clock;
  readonly memoryBytes: number;
  readonly pause: Pause;
  /** Told of an error inside that no caller hears of: a bug. */
  readonly onBug: (error: unknown) => void;
}

type ReadLimits = Pick<Limits, 'timeoutMs' | 'maxDerivations' | 'patienceMs'>;

/** A question that names a constant is likely to be worked out sooner than long upkeep ends. */
const patienceOfBoundMs = 50;

interface Watch {
  /** To be called in the turn of the write, before it. */
  readonly before: () => void;
  readonly seen: () => { readonly context: BrowseContext; readonly known: Known; readonly hold: Hold };
  /** What was found has been told: it is told by nobody else. */
  readonly told: (found: Dependents) => void;
  readonly end: () => void;
}

const defaultLimits = { timeoutMs: 10_000, maxDerivations: Number.POSITIVE_INFINITY };

/** Of the memory for what is derived, the part that listings may take. */
const partOfListings = 8;

export class KnowledgeEngine implements Engine {
  readonly #parts: EngineParts;
  readonly #lane: WriteLane;
  readonly #feed = new ChangeFeed();
  readonly #memory: MemoryBudget;
  readonly #listings: KeptListings;
  readonly #reasoners = new Map<TenantState, Reasoner>();
  readonly #upkeep = new Map<TenantState, BackgroundUpkeep>();
  readonly #timer: ValidityTimer;
  /** Relations that changed and could not be compacted then, since someone may still have read what was. */
  readonly #uncompacted = new Map<TenantState, Set<string>>();
  readonly #told = new Map<DatabaseState, ToldGeneration>();
  readonly #origins = new WeakMap<Report, Origin>();
  readonly #programs = new Map<DatabaseState, { version: number; program: Program }>();
  /** How often each rule concluded something new, by database. */
  readonly #tallies = new Map<DatabaseState, Tallies>();
  readonly #counters = { factsAsserted: 0, factsRetracted: 0 };
  /** The latest time that anybody was shown. */
  #shown = 0;
  #isClosed = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#memory = new MemoryBudget(parts.memoryBytes);
    this.#listings = new KeptListings(parts.memoryBytes / partOfListings);
    this.#lane = new WriteLane(parts.state, parts.log, parts.clock, parts.pause, {
      applying: (record) => this.#applying(record),
      applied: (record, report) => this.#applied(record, report),
    });
    // What ended or began before the start is told to nobody.
    const start = this.#showTime();
    for (const { tenant } of this.#everyTenant()) tenant.facts.boundaries.takeUntil(start);
    // Other numbers than an earlier process can have given.
    for (const database of parts.state.databases.values())
      this.#told.set(database, new ToldGeneration(database.name, database.generation, start));
    this.#timer = new ValidityTimer({
      clock: parts.clock,
      next: () => this.#nextBoundary(),
      reached: () => this.#passAll(),
    });
  }

  async tell(
    caller: Caller,
    input: facts.FactInput & { ifGeneration: number | null },
  ): Promise<facts.FactOutcome> {
    const { ifGeneration, ...fact } = input;
    const write = factWrite(caller.tenant, fact, ifGeneration, this.#showTime(), this.#storeOf(caller));
    return factOutcome(await this.#write({ caller, database: caller.database, ...write }), fact);
  }

  async tellAll(caller: Caller, inputs: readonly facts.FactInput[]): Promise<facts.FactsOutcome> {
    const slices = new Slices(this.#parts.pause);
    const write = await factsWrite(caller.tenant, inputs, this.#showTime(), this.#storeOf(caller), slices);
    const report = await this.#write({ caller, database: caller.database, ...write });
    const { asserted, updated, unchanged, generation } = report;
    return { status: 'asserted', asserted, updated, unchanged, generation };
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
      const store = this.#storeOf(caller)();
      if (store === null || ifGeneration === null) return;
      for (const fact of store.match(pattern, this.#database(caller).generation, time, true))
        checkUnchanged(store, store.identityOf(fact), ifGeneration);
    };
    if (input.dryRun) return this.#tryForget(caller, input, check);
    const operation: Operation = { kind: 'retract', tenant: caller.tenant, pattern };
    return this.#retract(caller, operation, input, ifGeneration === null ? undefined : check);
  }

  async forgetById(caller: Caller, id: string): Promise<facts.RetractOutcome> {
    let atom = '';
    const check = (time: number): void => {
      const store = this.#storeOf(caller)();
      const fact = store?.byId(id) ?? null;
      if (store === null || fact === null || !store.isStored(fact, time)) throw noSuchFact(id);
      const { predicate, negated } = fact.relation;
      atom = renderAtom({ predicate, args: store.argsOf(fact), negated });
    };
    const operation: Operation = { kind: 'retractById', tenant: caller.tenant, id };
    const outcome = await this.#retract(caller, operation, { dependents: 'known', timeoutMs: 10_000 }, check);
    return { atom, ...outcome };
  }

  async query(caller: Caller, input: facts.QueryInput): Promise<facts.QueryResult> {
    return this.#reading(caller, defaultLimits, async (context) => {
      const { result, facts: used } = await queryFacts(context, input);
      await this.#noteUses(context, used);
      return result;
    });
  }

  async facts(caller: Caller, query: facts.ListFactsQuery): Promise<facts.FactList> {
    const about = query.derived ? null : [];
    return this.#reading(caller, defaultLimits, (context) => listFacts(context, query), about);
  }

  async fact(caller: Caller, id: string): Promise<facts.FactDetail> {
    const read = (context: BrowseContext) => factDetail(context, requireFact(context, id));
    return this.#reading(caller, defaultLimits, read, null);
  }

  async predicates(caller: Caller): Promise<facts.PredicateList> {
    return this.#reading(caller, defaultLimits, listPredicates, null);
  }

  async teach(caller: Caller, input: rules.RuleInput): Promise<rules.RuleOutcome> {
    const rule = ruleToKeep(input);
    const operation: Operation = { kind: 'teach', rule };
    const check = (): void => {
      if (rule.rule !== null) checkFits(this.#database(caller).rules, rule.rule, rule.scope, null);
    };
    const report = await this.#write({ caller, database: caller.database, operation, check });
    return ruleOutcome(report);
  }

  async updateRule(caller: Caller, id: string, input: rules.RuleUpdate): Promise<rules.RuleOutcome> {
    const rule = ruleToKeep(input);
    const check = (): void => {
      const database = this.#database(caller);
      requireRule(database, id);
      if (rule.rule !== null) checkReplaces(database.rules, rule.rule, rule.scope, id);
    };
    const operation: Operation = { kind: 'updateRule', id, rule };
    return ruleOutcome(await this.#write({ caller, database: caller.database, operation, check }));
  }

  async forgetRule(caller: Caller, id: string): Promise<rules.RuleRetracted> {
    const operation: Operation = { kind: 'forgetRule', id };
    const watch = this.#watch(caller, defaultLimits, ({ reasoner, database }) => {
      const concluded = relationOf(requireRule(database, id).rule.head);
      return { candidates: reasoner.candidates(reasoner.reached([concluded])), losses: null };
    });
    try {
      const check = (): void => void requireRule(this.#database(caller), id);
      const { before } = watch;
      const report = await this.#write({
        caller,
        database: caller.database,
        operation,
        check,
        before,
      });
      const { context, known } = watch.seen();
      const { generation } = report;
      const after = this.#after(context, generation, this.#programOf(context.database));
      const { atoms } = await dependentsAmong(after, context, known, []);
      this.#publishWithdrawn(caller, report, atoms);
      watch.told({ atoms, isComplete: false });
      return { status: 'retracted', dependentsCount: atoms.length, generation };
    } finally {
      watch.end();
    }
  }

  async rules(caller: Caller): Promise<rules.StoredRule[]> {
    this.#refuseClosed();
    const database = this.#database(caller);
    const tallies = this.#talliesOf(database);
    return database.rules.all().map((kept) => ({
      id: kept.id,
      text: kept.text,
      head: kept.rule.head,
      body: kept.rule.body,
      scope: kept.scope,
      name: kept.name,
      description: kept.description,
      enabled: kept.enabled,
      createdAt: kept.createdAt,
      fired: tallies.get(kept.id)?.fired ?? 0,
    }));
  }

  async validateRules(caller: Caller, text: string): Promise<rules.ValidateResult> {
    const { predicates } = await this.predicates(caller);
    const kept = this.#database(caller).rules.all();
    const result = diagnose(text, { predicates, rules: kept });
    return { valid: result.diagnostics.every(({ severity }) => severity !== 'error'), ...result };
  }

  async ask(caller: Caller, input: AskInput): Promise<Answer> {
    const body = bodyOf(input);
    const answered = async (context: BrowseContext): Promise<Answer> => {
      const { answer, used } = await ask(context, input, body);
      await this.#noteUses(context, used);
      return answer;
    };
    const isBound = body.some((each) => isPositiveAtom(each) && !each.args.every(isVariable));
    const limits = isBound ? { ...input, patienceMs: patienceOfBoundMs } : input;
    return this.#reading(caller, limits, answered, relationsRead(body));
  }

  async aggregate(caller: Caller, input: AggregateInput): Promise<AggregateResult> {
    return this.#reading(caller, input, (context) => aggregateFacts(context, input), null);
  }

  async explain(caller: Caller, input: ExplainInput): Promise<Explanation> {
    return this.#reading(
      caller,
      input,
      async (context) => {
        const { explanation, used } = await explain(context, input);
        await this.#noteUses(context, used);
        return explanation;
      },
      null,
    );
  }

  async whatIf(caller: Caller, input: WhatIfInput): Promise<WhatIfResult> {
    return this.#reading(caller, input, (context) => whatIf(context, input), null);
  }

  async trace(caller: Caller, input: TraceInput): Promise<Trace> {
    const body = bodyOf(input);
    return this.#reading(caller, input, (context) => trace(context, input, body));
  }

  async databases(caller: Caller): Promise<DatabaseList> {
    this.#refuseClosed();
    const reachable = [...this.#parts.state.databases.values()]
      .filter(({ name }) => caller.databases.length === 0 || caller.databases.includes(name))
      .sort((left, right) => compareText(left.name, right.name));
    const time = this.#showTime();
    return {
      databases: reachable.map((database) => ({
        name: database.name,
        createdAt: database.createdAt,
        tenants: database.tenants.size,
        facts: [...database.tenants.values()].reduce(
          (sum, tenant) => sum + tenant.facts.countStored(database.generation, time),
          0,
        ),
        rules: database.rules.size,
      })),
    };
  }

  async createDatabase(caller: Caller, name: string): Promise<CreatedDatabase> {
    const { databases } = this.#parts.state;
    const check = (): void => {
      if (databases.has(name)) throw new EngineError('Conflict', `the database ${name} exists already`);
    };
    const operation: Operation = { kind: 'createDatabase', name };
    const { database } = await this.#write({ caller, database: 'default', operation, check });
    return { name: database.name, createdAt: database.createdAt };
  }

  hasDatabase(name: string): boolean {
    return this.#parts.state.databases.has(name);
  }

  changes(caller: Caller, lastEventId: string | null): AsyncIterable<Change> {
    this.#refuseClosed();
    const { database: name, tenant, signal } = caller;
    const concerns = (change: Change): boolean =>
      change.database === name && (change.tenant === null || change.tenant === tenant);
    const reset = (): Change =>
      resetChange(name, tenant, this.#database(caller).generation, this.#showTime());
    return this.#feed.stream(concerns, lastEventId, reset, signal);
  }

  subscribe(listener: (change: Change) => void): () => void {
    return this.#feed.subscribe(listener);
  }

  storage(): 'ready' | 'failed' {
    return this.#parts.log.status();
  }

  counters(): EngineCounters {
    const { records, commits } = this.#parts.log.statistics();
    const time = this.#showTime();
    let stored = 0;
    for (const database of this.#parts.state.databases.values())
      for (const tenant of database.tenants.values())
        stored += tenant.facts.countStored(database.generation, time);
    let rulesFired = 0;
    for (const tallies of this.#tallies.values())
      for (const tally of tallies.values()) rulesFired += tally.fired;
    return { ...this.#counters, rulesFired, facts: stored, records, commits };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.close();
    await Promise.all(Array.from(this.#upkeep.values(), (upkeep) => upkeep.close()));
    await this.#lane.close();
    await this.#parts.log.close();
    await this.#parts.lock?.release();
  }

  async #write(write: Write): Promise<Report> {
    this.#refuseClosed();
    return this.#lane.write(write);
  }

  /** Validities that ended before a write are told before it. */
  #applying({ database: name, time, operation }: LogRecord): void {
    const about = operation as Operation;
    if (!('tenant' in about)) return;
    const database = this.#parts.state.database(name);
    const tenant = database.tenants.get(about.tenant);
    if (tenant !== undefined) this.#pass(database, tenant, about.tenant, time);
  }

  /** What every change sets going, in the turn it is made. */
  #applied(record: LogRecord, report: Report): void {
    const { database, tenant, touched } = report;
    const origin = this.#originOf(record, report);
    for (const change of report.changes)
      if (change.kind === 'fact.asserted') this.#counters.factsAsserted++;
      else this.#counters.factsRetracted++;
    const state = tenant === null ? undefined : database.tenants.get(tenant);
    const reasoner = state === undefined ? undefined : this.#reasoners.get(state);
    if (report.changes.length > 0) reasoner?.touched(numbersOf(report), report.generation);
    for (const change of changesOf(report, origin)) this.#feed.publish(change);
    if (state !== undefined && report.changes.length > 0) {
      this.#upkeep.get(state)?.changed(origin);
      this.#timer.expect(state.facts.boundaries.next);
    }
    if (report.rule?.isChange === true) this.#rulesChanged(report, origin);
    if (state !== undefined) this.#compact(state, touched, report.generation);
  }

  /** Lets go of what is dead of these relations and of those left from before, unless someone may still read it. */
  #compact(tenant: TenantState, touched: Iterable<string>, generation: number): void {
    const left = this.#uncompacted.get(tenant) ?? new Set();
    for (const relation of touched) left.add(relation);
    this.#uncompacted.set(tenant, left);
    const reasoner = this.#reasoners.get(tenant);
    if (reasoner !== undefined && (reasoner.readers > 0 || reasoner.holdsFacts)) return;
    tenant.facts.compact(left, generation);
    left.clear();
  }

  /** The generation that the write made, with its time and request. */
  #originOf({ time, requestId }: LogRecord, report: Report): Origin {
    const { database, generation } = report;
    let told = this.#told.get(database);
    if (told?.generation !== generation) {
      told = new ToldGeneration(database.name, generation);
      this.#told.set(database, told);
    }
    const origin = { told, time, requestId };
    this.#origins.set(report, origin);
    return origin;
  }

  /** Has the tenants' conclusions looked at that a change of a rule can have withdrawn. */
  #rulesChanged({ database, rule }: Report, origin: Origin): void {
    const { kept, before } = present(rule, 'a rule changed');
    if (before !== null && countsAlike(before, database.rules.get(kept.id))) return;
    const heads = [kept, ...(before === null ? [] : [before])].map((each) => relationOf(each.rule.head));
    for (const tenant of database.tenants.values()) {
      const reasoner = this.#reasoners.get(tenant);
      if (reasoner?.doubtConcluded(heads) !== true) continue;
      reasoner.use(this.#programOf(database));
      this.#upkeep.get(tenant)?.changed(origin);
    }
  }

  async #retract(
    caller: Caller,
    operation: Operation,
    ways: Pick<facts.RetractInput, 'dependents' | 'timeoutMs'>,
    check: ((time: number) => void) | undefined,
  ): Promise<facts.RetractPatternOutcome> {
    const limits = { ...defaultLimits, timeoutMs: ways.timeoutMs };
    const watch = this.#watch(caller, limits, ({ reasoner, tenant }) =>
      ways.dependents === 'known'
        ? knownBefore(reasoner, reasoner.reached(relationsAbout(operation, tenant.facts)))
        : { candidates: [], losses: null },
    );
    try {
      const write = { caller, database: caller.database, operation, before: watch.before };
      const report = await this.#write(check === undefined ? write : { ...write, check });
      const { context, known, hold } = watch.seen();
      const retracted = report.changes.map((change) => change.fact);
      const after = this.#after(context, report.generation, context.reader.program, hold.version);
      const found = await this.#dependents(context, after, known, retracted, ways, caller);
      this.#publishWithdrawn(caller, report, found.atoms);
      if (retracted.length > 0)
        watch.told(ways.dependents === 'known' ? found : { ...found, isComplete: false });
      return {
        status: retracted.length > 0 ? 'retracted' : 'absent',
        retracted: retracted.length,
        ...dependentsPart(found),
        generation: report.generation,
      };
    } finally {
      watch.end();
    }
  }

  /** Told after the change itself, when the conclusions that it withdrew are known. */
  #publishWithdrawn(caller: Caller, report: Report, atoms: readonly string[]): void {
    const origin = this.#origins.get(report);
    if (origin === undefined) return;
    for (const change of withdrawalsOf(caller.tenant, atoms, origin)) this.#feed.publish(change);
  }

  async #dependents(
    before: BrowseContext,
    after: BrowseContext,
    known: Known,
    retracted: readonly FactRow[],
    ways: Pick<facts.RetractInput, 'dependents'>,
    caller: Caller,
  ): Promise<Dependents> {
    if (retracted.length === 0) return noDependents;
    const now = (): PinnedReader => this.#pin(caller, defaultLimits).reader;
    return ways.dependents === 'known'
      ? dependentsAmong(after, before, known, retracted, now)
      : dependentsAmongAll(after, before, retracted);
  }

  async #tryForget(
    caller: Caller,
    input: facts.RetractInput,
    check: (time: number) => void,
  ): Promise<facts.RetractPatternOutcome> {
    return this.#reading(caller, { ...defaultLimits, timeoutMs: input.timeoutMs }, async (before) => {
      const { reasoner, reader } = before;
      check(reader.time);
      const overlay = new FactOverlay(reader);
      // In one turn, as the write would be: time is limited for finding dependents alone.
      const retracted = [...overlay.retract(patternOf(input))];
      const candidates = reasoner.candidates(reasoner.reached(relationsOf(retracted)), true);
      const known = { candidates, losses: null };
      const after = { ...before, reader: { ...reader, overlay } };
      return {
        status: retracted.length > 0 ? 'retracted' : 'absent',
        retracted: retracted.length,
        ...dependentsPart(await this.#dependents(before, after, known, retracted, input, caller)),
        generation: reader.generation,
        dryRun: true,
      };
    });
  }

  /**
   * Reads in a state that stays as it is until `read` has ended. `about` are relations whose conclusions it is about,
   * null for any.
   */
  async #reading<Result>(
    caller: Caller,
    limits: ReadLimits,
    read: (context: BrowseContext) => Promise<Result>,
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
   * Looks at the state in the turn of a write, right before it: what was known then is compared with what holds
   * after. The state is kept until `end`.
   */
  #watch(caller: Caller, limits: ReadLimits, look: (context: BrowseContext) => Known): Watch {
    let seen: { context: BrowseContext; known: Known; hold: Hold } | null = null;
    let claim: Omit<Claim, 'version'> | null = null;
    return {
      before: () => {
        const context = this.#pin(caller, limits);
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
  #after(before: BrowseContext, generation: number, program: Program, version?: number): BrowseContext {
    const { reasoner, reader } = before;
    const after = reasoner.reader(generation, reader.time, program);
    return { ...before, reader: version === undefined ? after : { ...after, version } };
  }

  /** Pins a reader for the caller when no upkeep is under way that conclusions of these relations wait for. */
  async #whenTrue(
    caller: Caller,
    limits: ReadLimits,
    about: readonly string[] | null,
  ): Promise<BrowseContext> {
    this.#refuseClosed();
    const first = this.#pin(caller, limits);
    const { pacer, reader } = first;
    let context = first;
    for (;;) {
      const { reasoner } = context;
      const upkeep = reasoner.upkeepOf(about);
      if (upkeep === null) return context;
      if (!(await waitFor(upkeep.done, pacer))) return { ...this.#pin(caller, limits), pacer };
      this.#refuseClosed();
      // The state that the tables hold now will do where it is not from before the call.
      if (upkeep.reader.version >= reader.version && reasoner.isShared(upkeep.reader))
        return { ...context, reader: upkeep.reader };
      await pacer.rest();
      this.#refuseClosed();
      context = { ...this.#pin(caller, limits), pacer };
    }
  }

  #pin(caller: Caller, limits: ReadLimits): BrowseContext {
    const database = this.#database(caller);
    const tenant = database.tenants.get(caller.tenant) ?? emptyTenant();
    const reasoner = this.#reasonerOf(database, tenant, caller.tenant);
    const { timeoutMs, maxDerivations, patienceMs = Number.POSITIVE_INFINITY } = limits;
    return {
      database,
      tenant,
      reasoner,
      reader: this.#readerOf(database, tenant, caller.tenant),
      pacer: reasoner.pacer({ timeoutMs, maxDerivations, patienceMs, signal: caller.signal }),
      listings: this.#listings,
    };
  }

  /** A reader of the tenant's state as it is now. */
  #readerOf(database: DatabaseState, tenant: TenantState, name: string): PinnedReader {
    const time = this.#showTime();
    const reasoner = this.#reasonerOf(database, tenant, name);
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
    const time = this.#showTime();
    for (const { database, tenant, name } of this.#everyTenant()) this.#pass(database, tenant, name, time);
  }

  #nextBoundary(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { tenant } of this.#everyTenant()) next = Math.min(next, tenant.facts.boundaries.next);
    return next;
  }

  *#everyTenant(): Generator<{ database: DatabaseState; tenant: TenantState; name: string }> {
    for (const database of this.#parts.state.databases.values())
      for (const [name, tenant] of database.tenants) yield { database, tenant, name };
  }

  /** Reasoners are kept for tenants that exist; another is answered from nothing, and leaves nothing behind. */
  #reasonerOf(database: DatabaseState, tenant: TenantState, name: string): Reasoner {
    const program = this.#programOf(database);
    let reasoner = this.#reasoners.get(tenant);
    if (reasoner !== undefined) {
      if (reasoner.program !== program) reasoner.use(program);
      return reasoner;
    }
    const { pause, onBug } = this.#parts;
    reasoner = new Reasoner(tenant.facts, program, this.#talliesOf(database), pause, this.#memory);
    reasoner.onBug = onBug;
    if (database.tenants.get(name) !== tenant) return reasoner;
    this.#reasoners.set(tenant, reasoner);
    const upkeep = new BackgroundUpkeep(reasoner, {
      pin: () => this.#readerOf(database, tenant, name),
      tell: (atoms, origin) => {
        for (const change of withdrawalsOf(name, atoms, origin)) this.#feed.publish(change);
      },
      settled: () => this.#compact(tenant, [], database.generation),
      onBug,
    });
    this.#upkeep.set(tenant, upkeep);
    return reasoner;
  }

  #programOf(database: DatabaseState): Program {
    const { version } = database.rules;
    let known = this.#programs.get(database);
    if (known?.version !== version) {
      known = { version, program: new Program(database.rules.all()) };
      this.#programs.set(database, known);
    }
    return known.program;
  }

  #talliesOf(database: DatabaseState): Tallies {
    let tallies = this.#tallies.get(database);
    if (tallies === undefined) this.#tallies.set(database, (tallies = new Map()));
    return tallies;
  }

  #database(caller: Caller): DatabaseState {
    return this.#parts.state.database(caller.database);
  }

  #storeOf(caller: Caller): () => FactStore | null {
    return () => this.#parts.state.databases.get(caller.database)?.tenants.get(caller.tenant)?.facts ?? null;
  }

  /** A question counts once for every fact it used. Uses by questions are no writes. */
  async #noteUses(
    { database, tenant, reader, pacer }: BrowseContext,
    used: Iterable<FactRow>,
  ): Promise<void> {
    let noted = 0;
    for (const fact of used) {
      tenant.uses.note(fact, database.timeOf(tenant.facts.assertedIn(fact)), reader.time);
      if ((++noted & 0x3ff) === 0) await pacer.breathe();
    }
  }

  #now(): number {
    return Math.max(this.#parts.clock.now(), this.#parts.state.time);
  }

  /** Visible time: never before what anybody was shown, nor before logical time. */
  #showTime(): number {
    this.#shown = Math.max(this.#shown, this.#now());
    return this.#shown;
  }

  #refuseClosed(): void {
    if (this.#isClosed)
      throw new EngineError('NotReady', 'the service is shutting down: try again when it is back');
  }
}

function emptyTenant(): TenantState {
  const store = new FactStore(0);
  return { facts: store, uses: new FactUses(store) };
}

/** The numbers of the stored facts that a write changed. */
function numbersOf({ changes }: Report): number[] {
  return changes.map(({ fact }) => fact.relation.number[fact.row] as number);
}
