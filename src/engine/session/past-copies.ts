import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { KnownAt } from '../contract/moments.ts';
import type { MemoryHolder } from '../datalog/model/memory-budget.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import type { Log } from '../log/log.ts';
import { RetainedFileGone, type RetainedBase, type RetainedLog } from '../log/retained.ts';
import { StartupError } from '../log/startup-error.ts';
import type { LateBase, LostPast, PastDatabase, WantedPast } from '../state/past-state.ts';
import type { DatabaseState } from '../state/state.ts';
import type { LiveState } from './live-state.ts';

/** A database as it was, wherever it is kept. */
export interface FoldedPast extends Pick<PastDatabase, 'stamp' | 'wall' | 'nextStamp'> {
  readonly generation: number;
  readonly bytes: number;
  /** False: what kept it has ended. */
  readonly isThere: boolean;
  /** Ends what reads it, and frees its memory; resolves when that has happened. */
  drop(): Promise<void>;
}

/** A copy was lost while it was made or read: the question begins again. */
export class PastLost extends Error {
  /** Whether the thread ended by itself, for which the copy or the question may be the reason. */
  readonly isByItself: boolean;

  constructor(isByItself: boolean) {
    super('the copy of the past was lost');
    this.name = 'PastLost';
    this.isByItself = isByItself;
  }
}

/** Where copies are made, and what they need of it. */
export interface PastFolding<Folded extends FoldedPast> {
  /**
   * Rebuilds the database from a base. Rejects with PastLost, with RetainedFileGone, a StartupError, or with
   * InferenceLimitExceeded if it takes too much memory.
   */
  fold(
    caller: Caller,
    retained: RetainedLog,
    base: RetainedBase,
    wanted: WantedPast,
  ): Promise<Folded | LateBase | LostPast>;
  /** Drops what is being rebuilt; resolves when that has happened. */
  abandon(): Promise<void>;
}

/** What copies of the past are made of. */
interface PastCopiesHost {
  readonly live: LiveState;
  readonly log: Pick<Log, 'retained'>;
  readonly onWarn: (message: string) => void;
}

/** Copies of databases that are kept at a time. */
const maxCopies = 4;
/** Between two looks at whether a question still waits, in milliseconds. */
const lookMs = 50;

/** A copy, and the questions that read it. */
interface Copy<Folded> extends MemoryHolder {
  /** The database of which it is a copy. */
  readonly of: DatabaseState;
  readonly folded: Folded;
  /** Instants from the stamp of its generation up to this one are known to have it as their last generation. */
  readonly through: number;
  readonly bytes: number;
  /** Questions that are reading it. */
  readers: number;
  /** False: nothing else finds it, and it goes with its last reader. */
  isKept: boolean;
}

/**
 * Copies of databases as they were, rebuilt from the retained log: single-flight, one after the other, few at a time, in
 * the memory of derived data. A copy is dropped when something is erased from the past.
 */
export class PastCopies<Folded extends FoldedPast> {
  readonly #host: PastCopiesHost;
  readonly #folding: PastFolding<Folded>;
  /** Least recently used first. */
  readonly #copies: Copy<Folded>[] = [];
  readonly #flights = new Map<string, Promise<Copy<Folded>>>();
  /** How often something was erased from the past. */
  #erasures = 0;
  /** Copies are rebuilt one after the other. */
  #building: Promise<unknown> = Promise.resolve();

  constructor(host: PastCopiesHost, folding: PastFolding<Folded>) {
    this.#host = host;
    this.#folding = folding;
  }

  /**
   * Drops all copies, since something was erased from the past; those that are being rebuilt begin again. Resolves when
   * they are gone.
   */
  async forget(): Promise<void> {
    this.#erasures++;
    const dropped = [this.#folding.abandon()];
    for (let [copy] = this.#copies; copy !== undefined; [copy] = this.#copies) {
      this.#remove(copy);
      dropped.push(copy.folded.drop());
    }
    await Promise.all(dropped);
  }

  /**
   * Reads the copy of a moment, within the time since `startedAt`. Rejects with HistoryGone, with InferenceLimitExceeded,
   * with an AbortError, or with PastLost.
   */
  async use<Result>(
    { caller, database, at, timeoutMs, startedAt }: WantedCopy,
    read: (folded: Folded) => Promise<Result>,
  ): Promise<Result> {
    const copy = await awaited(this.#copyOf(caller, database, at), caller, timeoutMs, startedAt);
    copy.readers++;
    try {
      return await read(copy.folded);
    } finally {
      copy.readers--;
      if (!copy.isKept && copy.readers === 0) void copy.folded.drop();
    }
  }

  #copyOf(caller: Caller, database: DatabaseState, at: KnownAt): Promise<Copy<Folded>> {
    for (const lost of this.#copies.filter(({ folded }) => !folded.isThere)) this.#remove(lost);
    const known = this.#copies.find(
      ({ of, folded, through }) =>
        of === database &&
        (at.kind === 'generation'
          ? folded.generation === at.generation
          : folded.stamp <= at.time && at.time < through),
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

  async #build(caller: Caller, of: DatabaseState, at: KnownAt): Promise<Copy<Folded>> {
    const folded = await this.#rebuiltAsItIs(caller, of, at);
    const { nextStamp, stamp } = folded;
    const last = at.kind === 'instant' ? at.time : stamp;
    const copy: Copy<Folded> = {
      of,
      folded,
      through: Number.isFinite(nextStamp) ? nextStamp : last + 1,
      get bytes() {
        return folded.bytes;
      },
      readers: 0,
      isKept: true,
      evict: () => {
        if (copy.readers > 0) return false;
        this.#remove(copy);
        void folded.drop();
        return true;
      },
    };
    const { memory } = this.#host.live;
    const [oldest] = this.#copies.filter(({ readers }) => readers === 0);
    if (this.#copies.length >= maxCopies && oldest !== undefined && oldest.evict()) memory.forget(oldest);
    // The questions that it was made for read it even if it is not kept.
    if (!memory.fits(copy.bytes, copy)) {
      copy.isKept = false;
      return copy;
    }
    memory.use(copy, copy.bytes);
    this.#copies.push(copy);
    return copy;
  }

  /** Like `#rebuilt`, again if files of the history were removed or rewritten meanwhile. */
  async #rebuiltAsItIs(caller: Caller, of: DatabaseState, at: KnownAt): Promise<Folded> {
    for (let isAgain = false; ; isAgain = true) {
      const erasures = this.#erasures;
      try {
        const folded = await this.#rebuilt(caller, of, at);
        if (erasures === this.#erasures) return folded;
        void folded.drop();
      } catch (error) {
        this.#host.live.refuseClosed();
        if (erasures !== this.#erasures) continue;
        // What is left may still do.
        if (!(error instanceof RetainedFileGone) || isAgain) throw this.#refusalOf(error);
      }
    }
  }

  async #rebuilt(caller: Caller, database: DatabaseState, at: KnownAt): Promise<Folded> {
    const { name, firstGeneration } = database;
    const before = { name, at: { kind: 'generation', generation: 0 }, firstGeneration } as const;
    let earliest: LateBase['lateAt'] | null = null;
    // What was known before a gap is in an earlier part.
    for (let part: RetainedLog | null = await this.#host.log.retained(); part !== null; part = part.earlier) {
      const [first] = part.bases;
      if (first === undefined) continue;
      const bases = basesFor(part, database, at);
      for (const base of bases) {
        const folded = await this.#folding.fold(caller, part, base, { name, at, firstGeneration });
        if ('lostAfter' in folded) throw lost(database, folded.lostAfter, earliest);
        if (!('lateAt' in folded)) return folded;
        earliest = folded.lateAt;
      }
      if (bases.at(-1) === first) continue;
      const folded = await this.#folding.fold(caller, part, first, before);
      if ('lateAt' in folded) earliest = folded.lateAt;
      // Nothing of the database had been written then.
      else if (part.earlier === null && !('lostAfter' in folded)) return folded;
      else if (!('lostAfter' in folded)) await folded.drop();
    }
    throw gone(database, earliest?.generation ?? database.generation, earliest?.stamp);
  }

  #refusalOf(error: unknown): unknown {
    if (!(error instanceof StartupError)) return error;
    this.#host.onWarn(`A part of the history cannot be read: ${error.message}`);
    return new EngineError(
      'HistoryGone',
      'a part of the retained history cannot be read: the service logged which file; ask about a later moment',
      {},
      { cause: error },
    );
  }

  #remove(copy: Copy<Folded>): void {
    this.#host.live.memory.forget(copy);
    copy.isKept = false;
    const at = this.#copies.indexOf(copy);
    if (at >= 0) this.#copies.splice(at, 1);
  }
}

/** Whose question is about which moment of which database; `startedAt` as `performance.now()`. */
export interface WantedCopy {
  readonly caller: Caller;
  readonly database: DatabaseState;
  readonly at: KnownAt;
  readonly timeoutMs: number;
  readonly startedAt: number;
}

/** Waits for a copy as long as the question may take; it is rebuilt even if the question ends before. */
async function awaited<Folded>(
  copy: Promise<Copy<Folded>>,
  caller: Caller,
  timeoutMs: number,
  startedAt: number,
): Promise<Copy<Folded>> {
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

/**
 * The bases from which the moment can be rebuilt, the best first. The time of a generation is a hint: whether a base is
 * too late shows when it is read.
 */
function basesFor(retained: RetainedLog, database: DatabaseState, at: KnownAt) {
  const time = at.kind === 'instant' ? at.time : database.generations.timeUpTo(at.generation);
  return retained.bases.filter((base) => base.time <= time).reverse();
}

/** The history of the database begins with a later generation. */
export function gone(database: DatabaseState, generation: number, stamp: number | null = null): EngineError {
  const time = stamp ?? database.generations.knownTimeOf(generation);
  const when = time === null ? '' : ` (${new Date(time).toISOString()})`;
  return new EngineError(
    'HistoryGone',
    `the history does not reach back so far: the earliest moment is generation ${generation}${when}`,
    { earliest: { generation, time } },
  );
}

/** A repair lost what was known between two generations. */
function lost(
  database: DatabaseState,
  after: LostPast['lostAfter'],
  until: LateBase['lateAt'] | null,
): EngineError {
  const { generation, stamp: time } = until ?? { generation: database.generation, stamp: null };
  return new EngineError(
    'HistoryGone',
    `what was known after generation ${after.generation} and before ${generation} was lost with damaged records of the log: ask about generation ${after.generation} or earlier, or ${generation} or later`,
    { earliest: { generation, time }, lostAfter: { generation: after.generation, time: after.stamp } },
  );
}

function tooLate(timeoutMs: number, startedAt: number): EngineError {
  return new EngineError(
    'InferenceLimitExceeded',
    `rebuilding the knowledge of then takes longer than ${timeoutMs} ms: it goes on, ask again or raise timeoutMs`,
    { limit: 'timeoutMs', elapsedMs: Math.round(performance.now() - startedAt) },
  );
}

/** A copy takes more memory than all derived data may. */
export function tooLarge(bytes: number): EngineError {
  return new EngineError(
    'InferenceLimitExceeded',
    `the knowledge of then takes ${Math.round(bytes / 2 ** 20)} MiB, more than all derived data may: raise MEMORY_BUDGET_BYTES`,
    { limit: 'memory', elapsedMs: 0 },
  );
}
