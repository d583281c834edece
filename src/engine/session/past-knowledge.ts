import type { Caller, Moment } from '../base/caller.ts';
import type { KnownAt } from '../contract/moments.ts';
import { EngineError, invalid } from '../base/errors.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { MemoryHolder } from '../datalog/model/memory-budget.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import type { Log } from '../log/log.ts';
import { RetainedFileGone, type RetainedLog } from '../log/retained.ts';
import { bytesOfPast, type LateBase, type PastDatabase, rebuilt } from '../state/past-state.ts';
import { type DatabaseState, newTenant, type TenantState } from '../state/state.ts';
import { FactUses } from '../store/fact-uses.ts';
import { ListingCache } from './caches.ts';
import type { LiveState } from './live-state.ts';
import { defaultLimits, type ReadLimits } from './read-limits.ts';
import type { LookupContext, ReadContext } from './read-context.ts';

/** What questions read: the present, or a moment of the past. */
export type KnowledgeReader = Pick<
  LiveState,
  | 'reading'
  | 'asQuestion'
  | 'look'
  | 'answerAgain'
  | 'keepAnswer'
  | 'noteUses'
  | 'database'
  | 'talliesOf'
  | 'countWhenQuiet'
  | 'refuseClosed'
>;

/** What the past is read from. */
export interface PastHost {
  readonly live: LiveState;
  readonly log: Pick<Log, 'retained'>;
  readonly scheduler: Scheduler;
}

/** Copies of databases that are kept at a time, and views of moments with their tables. */
const maxCopies = 4;
const maxViews = 16;
/** Listings of a view may use this part of the memory for derived data. */
const listingsDivisor = 64;

/**
 * Picks what a question about a moment reads, and keeps it while it is asked.
 *
 * Valid time over the latest knowledge is read in place: rows whose validity ended are still there, and a reader's time
 * decides which it sees (MVCC). Earlier knowledge is read from a copy of the database, rebuilt from the retained log:
 * single-flight, few at a time, in the memory of derived data. Tables of a view belong to one generation and one instant,
 * so nothing has to be maintained. A question about the past leaves nothing behind: no uses, no known conclusions.
 */
export class PastKnowledge {
  readonly #host: PastHost;
  readonly #copies: Copy[] = [];
  readonly #flights = new Map<string, Promise<Copy>>();
  /** Least recently used first. */
  readonly #views: PastView[] = [];
  /** How often something was erased from the past. */
  #erasures = 0;
  /** Copies are rebuilt one after the other. */
  #building: Promise<unknown> = Promise.resolve();

  constructor(host: PastHost) {
    this.#host = host;
  }

  /** Drops all copies, since something was erased from the past; those that are being rebuilt begin again. */
  forget(): void {
    this.#erasures++;
    for (let [copy] = this.#copies; copy !== undefined; [copy] = this.#copies) this.#drop(copy);
  }

  /**
   * Reads the moment that the caller names. Rejects with ValidationException if it is in the future, with HistoryGone if
   * it is before the retained history, and with InferenceLimitExceeded if rebuilding it takes too long or too much memory.
   */
  async reading<Result>(
    caller: Caller,
    moment: Moment,
    timeoutMs: number,
    read: (knowledge: KnowledgeReader) => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly generation: number }> {
    const { live } = this.#host;
    live.refuseClosed();
    const { asOf, asKnown } = moment;
    const database = live.database(caller);
    if (asKnown !== null) this.#refuse(caller, database, asKnown);
    if (asKnown === null || isLatest(database, caller.tenant, asKnown)) {
      const time = asOf ?? (asKnown?.kind === 'instant' ? asKnown.time : (database.stamped?.wall ?? 0));
      return resultOf(this.#inPlace(caller, database, time, moment), read);
    }
    const copy = await this.#awaited(this.#copyOf(caller, database, asKnown), caller, timeoutMs);
    const { past } = copy;
    const erased = erasedThrough(database, caller.tenant);
    if (past.database.lastGeneration < erased) throw gone(database, erased);
    const time = asOf ?? (asKnown.kind === 'instant' ? asKnown.time : past.wall);
    copy.readers++;
    try {
      return await resultOf(this.#ofCopy(caller, copy, time, moment), read);
    } finally {
      copy.readers--;
    }
  }

  #refuse(caller: Caller, database: DatabaseState, at: KnownAt): void {
    if (at.kind === 'instant') {
      if (at.time > this.#host.live.showTime())
        throw invalid(
          'asKnown',
          'is in the future: nothing is known of it yet; what will be true then is asOf',
        );
      return;
    }
    if (at.generation > database.lastGeneration)
      throw invalid(
        'asKnown',
        `there is no generation ${at.generation} yet: the last is ${database.lastGeneration}`,
      );
    const erased = erasedThrough(database, caller.tenant);
    if (at.generation < erased) throw gone(database, erased);
  }

  /** The latest knowledge at an instant of valid time. */
  #inPlace(caller: Caller, database: DatabaseState, time: number, { onKnown }: Moment): PastReader {
    const { live } = this.#host;
    const pinned: Pinned = {
      live,
      database,
      generation: () => database.generationOf(caller.tenant),
      time,
      onKnown,
      view: () => this.#viewOf(database, caller.tenant, time),
      hold: () => {
        const { reasoner } = live.pin(caller, defaultLimits);
        reasoner.readers++;
        return () => {
          reasoner.readers--;
          live.compactSoon(caller);
        };
      },
    };
    return new PastReader(pinned);
  }

  #ofCopy({ tenant }: Caller, { past: { database } }: Copy, time: number, { onKnown }: Moment): PastReader {
    const view = this.#viewOf(database, tenant, time);
    const { live } = this.#host;
    const generation = (): number => database.lastGeneration;
    return new PastReader({
      live,
      database,
      generation,
      time,
      onKnown,
      view: () => view,
      hold: () => () => {},
    });
  }

  /** The view of the tenant at an instant: the kept one, if nothing has changed since. */
  #viewOf(database: DatabaseState, name: string, time: number): PastView {
    const stored = database.tenants.get(name);
    const tenant = stored ?? newTenant(0);
    const generation = database.generationOf(name);
    const { facts } = tenant;
    const at = this.#views.findIndex((view) => view.tenant.facts === facts && view.time === time);
    const [known] = at < 0 ? [] : this.#views.splice(at, 1);
    if (known?.generation === generation && known.version === facts.version) {
      this.#views.push(known);
      return known;
    }
    known?.reasoner.retire();
    const { live, scheduler } = this.#host;
    const pause = scheduler.pauseOf(null, 'ask about the past');
    const reasoner = new Reasoner(facts, live.programOf(database), new Map(), pause, live.memory);
    reasoner.declared = database.declarations;
    const view: PastView = {
      generation,
      time,
      version: facts.version,
      tenant: { ...tenant, uses: new FactUses(facts) },
      reasoner,
      listings: new ListingCache(live.memory.limit / listingsDivisor),
    };
    if (stored === undefined) return view;
    this.#views.push(view);
    if (this.#views.length > maxViews) this.#views.shift()?.reasoner.retire();
    return view;
  }

  /** Waits for a copy as long as the question may take; it is rebuilt even if the question ends before. */
  async #awaited(copy: Promise<Copy>, caller: Caller, timeoutMs: number): Promise<Copy> {
    const startedAt = performance.now();
    let timer: ReturnType<typeof setInterval> | null = null;
    const ended = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        try {
          refuseGone(caller.signal);
          if (performance.now() - startedAt > timeoutMs) throw tooLate(timeoutMs, startedAt);
        } catch (error) {
          reject(error);
        }
      }, lookMs);
    });
    try {
      return await Promise.race([copy, ended]);
    } finally {
      if (timer !== null) clearInterval(timer);
    }
  }

  #copyOf(caller: Caller, database: DatabaseState, at: KnownAt): Promise<Copy> {
    const known = this.#copies.find(
      ({ of, past, through }) =>
        of === database &&
        (at.kind === 'generation'
          ? past.database.lastGeneration === at.generation
          : past.stamp <= at.time && at.time < through),
    );
    if (known !== undefined) {
      this.#copies.splice(this.#copies.indexOf(known), 1);
      this.#copies.push(known);
      this.#host.live.memory.use(known, known.bytes);
      return Promise.resolve(known);
    }
    const key = JSON.stringify([database.name, database.createdAt, database.clearedIn, at]);
    const running = this.#flights.get(key);
    if (running !== undefined) return running;
    const flight = this.#building
      .then(() => this.#build(caller, database, at))
      .finally(() => this.#flights.delete(key));
    // Whoever waits for it gets its error.
    this.#building = flight.catch(() => {});
    this.#flights.set(key, flight);
    return flight;
  }

  async #build(caller: Caller, of: DatabaseState, at: KnownAt): Promise<Copy> {
    const past = await this.#rebuiltAsItIs(caller, of, at);
    const { nextStamp, stamp } = past;
    const last = at.kind === 'instant' ? at.time : stamp;
    const bytes = bytesOfPast(past);
    const copy: Copy = {
      of,
      past,
      through: Number.isFinite(nextStamp) ? nextStamp : last + 1,
      bytes,
      readers: 0,
      evict: () => {
        if (copy.readers > 0) return false;
        this.#remove(copy);
        return true;
      },
    };
    const { memory } = this.#host.live;
    const [oldest] = this.#copies.filter(({ readers }) => readers === 0);
    if (this.#copies.length >= maxCopies && oldest !== undefined) this.#drop(oldest);
    // The question that it was made for reads it even if it is not kept.
    if (!memory.fits(bytes, copy)) return copy;
    memory.use(copy, bytes);
    this.#copies.push(copy);
    return copy;
  }

  /** Like `#rebuilt`, again if files of the history were removed or rewritten meanwhile. */
  async #rebuiltAsItIs(caller: Caller, of: DatabaseState, at: KnownAt): Promise<PastDatabase> {
    for (let isAgain = false; ; isAgain = true) {
      const erasures = this.#erasures;
      try {
        const past = await this.#rebuilt(caller, of, at);
        if (erasures === this.#erasures) return past;
      } catch (error) {
        // What is left may still do.
        if (!(error instanceof RetainedFileGone) || (isAgain && erasures === this.#erasures)) throw error;
      }
    }
  }

  async #rebuilt(caller: Caller, database: DatabaseState, at: KnownAt): Promise<PastDatabase> {
    const { live, log, scheduler } = this.#host;
    const { name, firstGeneration } = database;
    const retained = await log.retained();
    const limits = {
      pause: scheduler.pauseOf(caller, 'rebuild the past'),
      check: (bytes: number): void => {
        live.refuseClosed();
        if (bytes > live.memory.limit) throw tooLarge(bytes);
      },
    };
    const [first] = retained.bases;
    if (first === undefined) throw gone(database, database.lastGeneration);
    const bases = basesFor(retained, database, at);
    let earliest: LateBase['lateAt'] | null = null;
    for (const base of bases) {
      const past = await rebuilt(retained, base, { name, at, firstGeneration }, limits);
      if (!('lateAt' in past)) return past;
      earliest = past.lateAt;
    }
    if (bases.at(-1) !== first) {
      const before = { kind: 'generation', generation: 0 } as const;
      const past = await rebuilt(retained, first, { name, at: before, firstGeneration }, limits);
      // Nothing of the database had been written then.
      if (!('lateAt' in past)) return past;
      earliest = past.lateAt;
    }
    throw gone(database, earliest?.generation ?? database.lastGeneration, earliest?.stamp);
  }

  #drop(copy: Copy): void {
    this.#host.live.memory.forget(copy);
    this.#remove(copy);
  }

  #remove(copy: Copy): void {
    const at = this.#copies.indexOf(copy);
    if (at >= 0) this.#copies.splice(at, 1);
    const stores = new Set(Array.from(copy.past.database.tenants.values(), ({ facts }) => facts));
    for (const view of this.#views.filter(({ tenant }) => stores.has(tenant.facts))) {
      this.#views.splice(this.#views.indexOf(view), 1);
      view.reasoner.retire();
    }
  }
}

/** Between two looks at whether a question still waits, in milliseconds. */
const lookMs = 50;

/** A rebuilt copy of a database. */
interface Copy extends MemoryHolder {
  /** The database of which it is a copy. */
  readonly of: DatabaseState;
  readonly past: PastDatabase;
  /** Instants from the stamp of its generation up to this one are known to have it as their last generation. */
  readonly through: number;
  readonly bytes: number;
  /** Questions that are reading it. */
  readers: number;
}

/** What is derived of a tenant at one generation and instant. */
interface PastView {
  readonly generation: number;
  readonly time: number;
  /** `FactStore.version` */
  readonly version: number;
  /** The tenant without uses by questions. */
  readonly tenant: TenantState;
  readonly reasoner: Reasoner;
  readonly listings: ListingCache;
}

interface Pinned {
  readonly live: LiveState;
  readonly database: DatabaseState;
  /** The generation that is read. */
  readonly generation: () => number;
  readonly time: number;
  /** See `Moment`. */
  readonly onKnown: Moment['onKnown'];
  readonly view: () => PastView;
  /** Holds the rows of the tenant; the returned function releases them. */
  readonly hold: () => () => void;
}

/** Reads one moment; see `KnowledgeReader`. Nothing that it reads is a use. */
class PastReader implements KnowledgeReader {
  readonly #pinned: Pinned;
  /** The generation that was read last. */
  generation: number;

  constructor(pinned: Pinned) {
    this.#pinned = pinned;
    this.generation = pinned.generation();
  }

  async reading<Result>(
    caller: Caller,
    limits: ReadLimits,
    read: (context: ReadContext) => Promise<Result>,
  ): Promise<Result> {
    const { live, hold } = this.#pinned;
    live.refuseClosed();
    const release = hold();
    const { pacer, meaning, tokens } = live.pin(caller, limits);
    const { tenant, reasoner, listings } = this.#pinned.view();
    const pinned = { ...this.#looked(), tenant, reasoner, pacer, listings, meaning, tokens };
    const context = { ...pinned, elsewhere: null };
    try {
      return await read(context);
    } catch (error) {
      throw pacer.withElapsed(error);
    } finally {
      release();
    }
  }

  look<Result>(
    caller: Caller,
    read: (context: LookupContext) => { readonly result: Result } | null,
  ): Result | null {
    this.#pinned.live.refuseClosed();
    refuseGone(caller.signal);
    return read(this.#looked())?.result ?? null;
  }

  #looked() {
    const { database, generation, time, view, onKnown } = this.#pinned;
    const { tenant, reasoner } = view();
    this.generation = generation();
    onKnown?.(this.generation);
    return { database, tenant, reader: reasoner.reader(this.generation, time) };
  }

  asQuestion: KnowledgeReader['asQuestion'] = (caller, limits, run) =>
    this.#pinned.live.asQuestion(caller, limits, run);

  /** The database as it was. */
  database(): DatabaseState {
    return this.#pinned.database;
  }

  refuseClosed(): void {
    this.#pinned.live.refuseClosed();
  }

  /** No answers about the past are cached: its tables are. */
  answerAgain(): null {
    return null;
  }

  keepAnswer(): void {
    // See `answerAgain`.
  }

  async noteUses(): Promise<void> {
    // Questions about the past are no uses.
  }

  /** How often rules fired then is not known. */
  talliesOf(): Map<string, { fired: number }> {
    return new Map();
  }

  countWhenQuiet(): void {
    // Nobody waits for counts of the past in the background.
  }
}

async function resultOf<Result>(
  reader: PastReader,
  read: (knowledge: KnowledgeReader) => Promise<Result>,
): Promise<{ readonly result: Result; readonly generation: number }> {
  const result = await read(reader);
  return { result, generation: reader.generation };
}

/** True if the moment has the last generation of the database, and the tenant's readers see that. */
function isLatest(database: DatabaseState, tenant: string, at: KnownAt): boolean {
  const { stamped, lastGeneration } = database;
  if (at.kind === 'generation')
    return at.generation === lastGeneration && database.generationOf(tenant) === lastGeneration;
  return stamped === null || at.time >= stamped.time;
}

/** The generation before which nothing of the tenant's past is left. */
function erasedThrough(database: DatabaseState, tenant: string): number {
  const forgotten = database.tenants.get(tenant)?.facts.forgottenThrough ?? database.forgottenThrough(tenant);
  return Math.max(database.firstGeneration, database.clearedIn, forgotten);
}

/**
 * The bases from which the moment can be rebuilt, the best first. The time of a generation is a hint: whether a base is
 * too late shows when it is read.
 */
function basesFor(retained: RetainedLog, database: DatabaseState, at: KnownAt) {
  const time = at.kind === 'instant' ? at.time : database.generations.timeUpTo(at.generation);
  return retained.bases.filter((base) => base.time <= time).reverse();
}

function gone(database: DatabaseState, generation: number, stamp: number | null = null): EngineError {
  const time = stamp ?? database.generations.knownTimeOf(generation);
  const when = time === null ? '' : ` (${new Date(time).toISOString()})`;
  return new EngineError(
    'HistoryGone',
    `the history does not reach back so far: the earliest moment is generation ${generation}${when}`,
    { earliest: { generation, time } },
  );
}

function tooLate(timeoutMs: number, startedAt: number): EngineError {
  return new EngineError(
    'InferenceLimitExceeded',
    `rebuilding the knowledge of then takes longer than ${timeoutMs} ms: it goes on, ask again or raise timeoutMs`,
    { limit: 'timeoutMs', elapsedMs: Math.round(performance.now() - startedAt) },
  );
}

function tooLarge(bytes: number): EngineError {
  return new EngineError(
    'InferenceLimitExceeded',
    `the knowledge of then takes ${Math.round(bytes / 2 ** 20)} MiB, more than all derived data may: raise MEMORY_BUDGET_BYTES`,
    { limit: 'memory', elapsedMs: 0 },
  );
}
