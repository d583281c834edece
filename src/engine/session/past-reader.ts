import type { Caller, Moment } from '../base/caller.ts';
import type { Owner } from '../base/scheduler.ts';
import type { Pause } from '../base/slices.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import type { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { Program } from '../datalog/model/program.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import { type DatabaseState, newTenant, type TenantState } from '../state/state.ts';
import { FactUses } from '../store/fact-uses.ts';
import { ListingCache } from './caches.ts';
import type { LiveState } from './live-state.ts';
import type { LookupContext, ReadContext } from './read-context.ts';
import type { ReadLimits } from './read-limits.ts';

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

/** What is derived of a tenant at one generation and instant. */
export interface PastView {
  readonly generation: number;
  readonly time: number;
  /** `FactStore.version` */
  readonly version: number;
  /** The tenant without uses by questions. */
  readonly tenant: TenantState;
  readonly reasoner: Reasoner;
  readonly listings: ListingCache;
}

/** What views are made with. */
interface PastViewParts {
  readonly memory: MemoryBudget;
  readonly programOf: (database: DatabaseState) => Program;
  readonly pauseOf: (owner: Owner) => Pause;
}

/** Views that are kept at a time, with their tables. */
const maxViews = 16;
/** Listings of a view may use this part of the memory for derived data. */
const listingsDivisor = 64;

/** The views of moments, with their tables. Those of one generation and one instant never have to be maintained. */
export class PastViews {
  readonly #parts: PastViewParts;
  /** Least recently used first. */
  readonly #views: PastView[] = [];

  constructor(parts: PastViewParts) {
    this.#parts = parts;
  }

  /** The view of the tenant at an instant: the kept one, if nothing has changed since. */
  viewOf(database: DatabaseState, name: string, time: number): PastView {
    const stored = database.tenants.get(name);
    const tenant = stored ?? newTenant(0);
    const { generation } = database;
    const { facts } = tenant;
    const at = this.#views.findIndex((view) => view.tenant.facts === facts && view.time === time);
    const [known] = at < 0 ? [] : this.#views.splice(at, 1);
    if (known?.generation === generation && known.version === facts.version) {
      this.#views.push(known);
      return known;
    }
    known?.reasoner.retire();
    const { memory, programOf, pauseOf } = this.#parts;
    const pause = pauseOf({ database: database.name, tenant: name });
    const reasoner = new Reasoner(facts, programOf(database), new Map(), pause, memory);
    reasoner.declared = database.declarations;
    const view: PastView = {
      generation,
      time,
      version: facts.version,
      tenant: { ...tenant, uses: new FactUses(facts) },
      reasoner,
      listings: new ListingCache(memory.limit / listingsDivisor),
    };
    if (stored === undefined) return view;
    this.#views.push(view);
    if (this.#views.length > maxViews) this.#views.shift()?.reasoner.retire();
    return view;
  }

  /** Bytes of what is derived of the database. */
  bytesOf(database: DatabaseState): number {
    return this.#of(database).reduce((sum, { reasoner }) => sum + reasoner.bytes, 0);
  }

  /** Drops the views of the database. */
  drop(database: DatabaseState): void {
    for (const view of this.#of(database)) {
      this.#views.splice(this.#views.indexOf(view), 1);
      view.reasoner.retire();
    }
  }

  #of(database: DatabaseState): PastView[] {
    const stores = new Set(Array.from(database.tenants.values(), ({ facts }) => facts));
    return this.#views.filter(({ tenant }) => stores.has(tenant.facts));
  }
}

/** What a moment is read with. */
export interface PastReading {
  readonly database: DatabaseState;
  readonly time: number;
  /** When the question came, as `performance.now()`: rebuilding the past counts as its time. */
  readonly startedAt: number;
  /** See `Moment`. */
  readonly onKnown: Moment['onKnown'];
  readonly view: () => PastView;
  /** Holds the rows of the tenant; the returned function releases them. */
  readonly hold: () => () => void;
  readonly asQuestion: KnowledgeReader['asQuestion'];
  readonly refuseClosed: () => void;
  /** What a read needs beside the view. */
  readonly with: (
    caller: Caller,
    limits: ReadLimits,
    view: PastView,
  ) => Pick<ReadContext, 'pacer' | 'meaning' | 'tokens'>;
}

/** Reads one moment; see `KnowledgeReader`. Nothing that it reads is a use. */
export class PastReader implements KnowledgeReader {
  readonly #moment: PastReading;
  /** The generation that was read last. */
  generation: number;
  readonly asQuestion: KnowledgeReader['asQuestion'];

  constructor(moment: PastReading) {
    this.#moment = moment;
    this.generation = moment.database.generation;
    this.asQuestion = moment.asQuestion;
  }

  async reading<Result>(
    caller: Caller,
    limits: ReadLimits,
    read: (context: ReadContext) => Promise<Result>,
  ): Promise<Result> {
    this.refuseClosed();
    const release = this.#moment.hold();
    try {
      const view = this.#moment.view();
      const startedAt = Math.min(limits.startedAt ?? Number.POSITIVE_INFINITY, this.#moment.startedAt);
      const { pacer, meaning, tokens } = this.#moment.with(caller, { ...limits, startedAt }, view);
      const { tenant, reasoner, listings } = view;
      const pinned = { ...this.#looked(view), tenant, reasoner, pacer, listings, meaning, tokens };
      try {
        return await read({ ...pinned, elsewhere: null });
      } catch (error) {
        throw pacer.withElapsed(error);
      }
    } finally {
      release();
    }
  }

  look<Result>(
    caller: Caller,
    read: (context: LookupContext) => { readonly result: Result } | null,
  ): Result | null {
    this.refuseClosed();
    refuseGone(caller.signal);
    return read(this.#looked(this.#moment.view()))?.result ?? null;
  }

  #looked({ tenant, reasoner }: PastView): LookupContext {
    const { database, time, onKnown } = this.#moment;
    this.generation = database.generation;
    onKnown?.(this.generation);
    return { database, tenant, reader: reasoner.reader(database.generation, time) };
  }

  /** The database as it was. */
  database(): DatabaseState {
    return this.#moment.database;
  }

  refuseClosed(): void {
    this.#moment.refuseClosed();
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
