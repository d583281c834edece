import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { writtenOrigin } from '../base/origin.ts';
import type { Owner, Scheduler } from '../base/scheduler.ts';
import { Slices } from '../base/slices.ts';
import { applying, changesOnlyFacts } from '../state/apply.ts';
import { nothingWritten, type Report, type Slice } from '../state/report.ts';
import { markOf } from '../state/idempotency.ts';
import { type Operation, versionOf } from '../state/operation.ts';
import type { DatabaseState, State } from '../state/state.ts';
import type { LogRecord } from '../log/codec.ts';
import { noOwner } from '../log/frame-store.ts';
import type { AppendOptions, Log } from '../log/log.ts';
import { type GrowthGate, openGate } from './write-admission.ts';
import { type ClaimedNames, type Exclusion, WriteQueue } from './write-queue.ts';

/** One write to the state. */
export interface Write {
  readonly caller: Caller;
  /** Default: the caller's. */
  readonly database?: string;
  /**
   * The operation; or a function that decides it from the state at the given time of the wall clock, which makes the commit
   * exclusive. null: there is nothing to write.
   */
  readonly operation: Operation | ((time: number) => Promise<DecidedWrite | null>);
  /**
   * True: the operation that the function decides changes only facts of the caller's tenant, and is decided by these and
   * the rules. Then the commit excludes only the writes of that tenant.
   */
  readonly isOfTenant?: boolean;
  /**
   * Refuses what the state does not allow at the given time of the wall clock, in slices if that takes long. Makes the commit
   * exclusive. Of an operation on a tenant's facts it may read only these and the rules (`exclusionOf`).
   */
  readonly check?: (time: number) => void | Promise<void>;
  /**
   * Whether the check is needed, asked when the write is admitted, after all writes that it waited for; absent: it is. If not,
   * it is left out, also when the commit is exclusive for another reason.
   */
  readonly needsCheck?: () => boolean;
  /**
   * What of the tenant its check reads and its operation changes, by name, as the declarations are when it is called; then
   * the commit excludes only those of the tenant that do not say so, or say the same.
   */
  readonly claim?: () => ClaimedNames;
  /** Called right before the write becomes visible, in the same turn. */
  readonly before?: (time: number) => void;
  /** The operation's JSON in UTF-8, if already encoded. */
  readonly encoded?: Uint8Array;
}

/** An operation, and its JSON in UTF-8 if already encoded. */
export interface DecidedWrite {
  readonly operation: Operation;
  readonly encoded?: Uint8Array;
  /** No constraint refuses it. */
  readonly isUnjudged?: true;
  /** The state from which it was decided says that it makes a generation; others need not wait to see it. */
  readonly isCertain?: boolean;
}

/** Judges what a write would make of the knowledge, before it is logged. */
export interface WriteJudge {
  /** True if the write must be judged. */
  concerns(caller: Caller, operation: Operation): boolean;
  /**
   * Lets a write without a check go beside others, at this time of the wall clock: null if it must be judged alone, in an
   * exclusive commit. Call the result once it is applied or has failed. What it lets go must be logged in this order.
   */
  admit(caller: Caller, operation: Operation, time: number): (() => void) | null;
  /** Throws if the write is refused at this time of the wall clock. */
  judge(caller: Caller, operation: Operation, time: number): Promise<void>;
}

/** Refuses no write. */
const acceptingJudge: WriteJudge = {
  concerns: () => false,
  admit: () => () => {},
  judge: () => Promise.resolve(),
};

/** The callback of a write that runs when it becomes visible. */
type Showing = Pick<Write, 'before'>;

const asItIs: Showing = {};

/** A write to a log that other nodes may take over. */
interface SharedWrite {
  /** In which it was asked for: it is appended in no other one. */
  readonly term: number | undefined;
  /** Answers its caller before its outcome is known. */
  readonly reject: (error: EngineError) => void;
}

type Steps = Generator<Slice, Report, undefined>;

/** A record that is applied in slices. */
interface Application {
  readonly write: Showing;
  readonly record: LogRecord;
  readonly queue: WriteQueue;
  /** Call it when the record has taken its generation. */
  readonly taken: () => void;
  /** Absent: it has not begun. */
  readonly steps?: Steps;
  /** True: also the first slice waits for its turn. */
  readonly isLarge?: boolean;
  /** See `DecidedWrite`. */
  readonly isCertain?: boolean;
}

/** Observes every change in its turn: right before and right after it becomes visible. */
export interface CommitObserver {
  applying(record: LogRecord): void;
  applied(record: LogRecord, report: Report): void;
}

/** `between` waits this often for a moment without an application before it holds new ones back. */
const patientTries = 8;

/**
 * The commit pipeline, the only way to change the state: check, stamp, append to the write-ahead log, apply, answer.
 *
 * There is one writer. Writes that cannot fail on the state are stamped one after another and share a sync (group
 * commit). A write with a check commits exclusively: it is checked when no other write that could contradict it is in
 * progress, and none is stamped until it is applied; otherwise two conflicting writes could both become durable. These are
 * the writes of its tenant if it changes only facts of one tenant, else those of its database (`exclusionOf`). So does a
 * write that adds knowledge near a quota or the memory's limit (`WriteAdmission`).
 *
 * The durable records of a database are begun in log order, large ones in slices between which other work runs; later
 * records of the database wait. Databases share no state that a record changes in slices, so the others do not wait;
 * `State.applied` brings what they do share into log order.
 */
export class CommitPipeline {
  readonly #state: State;
  readonly #log: Log;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #observer: CommitObserver;
  readonly #admission: GrowthGate;
  readonly #judge: WriteJudge;
  readonly #scheduler: Scheduler;
  /** The writes of each database, by its name, while there are any. */
  readonly #queues = new Map<string, WriteQueue>();
  /** Holds back applications while `between` waits for the present ones. */
  #cut: Promise<void> | null = null;
  #underWay = 0;
  #closing: (() => void)[] = [];
  /** Writes to a log that other nodes may take over, until they are appended. */
  readonly #waiting = new Set<SharedWrite>();
  /** While `quiet` runs its step; null: writes begin at once. */
  #quiet: Promise<void> | null = null;
  #stamp: number;
  isClosed = false;

  /** `clock` tells the time by which writes are judged. */
  constructor(
    state: State,
    log: Log,
    clock: Pick<Clock, 'now'>,
    scheduler: Scheduler,
    watcher: CommitObserver,
    admission: GrowthGate = openGate,
    judge: WriteJudge = acceptingJudge,
  ) {
    this.#admission = admission;
    this.#judge = judge;
    this.#state = state;
    this.#scheduler = scheduler;
    this.#log = log;
    this.#clock = clock;
    this.#observer = watcher;
    this.#stamp = state.time;
  }

  /** Commits a write. Resolves with its report once it is durable and applied. */
  async write(write: Write): Promise<Report> {
    const { operation, encoded } = write;
    const database = databaseOf(write);
    /** Called when the write has ended. */
    const ends: (() => void)[] = [];
    let admittedAt: number | null = null;
    const stored = (): DatabaseState | undefined => this.#state.databases.get(database);
    const excludes = (): Exclusion => exclusionOf(write, stored());
    const strengthened = (has: 'nothing' | 'claim'): Exclusion => {
      assert(typeof operation !== 'function', 'what is decided is exclusive');
      if (has === 'claim') {
        if (this.#judge.concerns(callerIn(write), operation)) return alone(operation, stored());
      } else {
        const time = this.#clock.now();
        const end = this.#judge.admit(callerIn(write), operation, time);
        if (end === null) return alone(operation, stored());
        admittedAt = time;
        ends.push(end);
      }
      const reservation = this.#admission.reserve(database, operation, encoded);
      if (reservation === null) return 'database';
      ends.push(() => reservation.release());
      return has;
    };
    const claim = (): ClaimedNames => write.claim?.() ?? null;
    const room = (): Promise<void> => this.#log.room();
    const tenant = tenantOf(write);
    const run = async (shared: SharedWrite | null): Promise<Report> => {
      const start = (excluded: Exclusion): Promise<Report> =>
        this.#seal(write, excluded, excluded === 'nothing' ? admittedAt : null, shared);
      try {
        return await this.#queueOf(database).run({ tenant, excludes, claim, room, strengthened, start });
      } finally {
        for (const end of ends) end();
        this.#forget(database);
      }
    };
    // A write in doubt goes on, and excludes others, until its outcome is known; only its caller is answered before.
    if (!this.#log.isRemote) return run(null);
    return new Promise((resolve, reject) => {
      const shared = { term: this.#log.shared?.term, reject };
      this.#waiting.add(shared);
      const ended = (): void => void this.#waiting.delete(shared);
      run(shared).then(resolve, reject).finally(ended);
    });
  }

  /** This node may have lost the log: what is not appended yet never is, and its callers hear that now. */
  refuseWaiting(refusal: EngineError): void {
    for (const { reject } of this.#waiting) reject(refusal);
    this.#waiting.clear();
  }

  async #seal(
    write: Write,
    excluded: Exclusion,
    admittedAt: number | null,
    shared: SharedWrite | null,
  ): Promise<Report> {
    while (this.#quiet !== null) await this.#quiet;
    if (this.isClosed) throw closed();
    const time = admittedAt ?? this.#clock.now();
    if (!createsDatabase(write)) this.#state.database(databaseOf(write));
    this.#underWay++;
    try {
      // It may be exclusive for its judge or for its growth alone.
      const isChecked = excluded !== 'nothing' && write.needsCheck?.() !== false;
      const checked = isChecked ? write.check?.(time) : undefined;
      if (checked !== undefined) await checked;
      const { operation } = write;
      const decided = typeof operation === 'function' ? await operation(time) : { ...write, operation };
      if (decided === null) return nothingWritten(this.#state.database(databaseOf(write)));
      if (excluded === 'tenant' || excluded === 'database') {
        const judged = this.#admission.judge(databaseOf(write), decided.operation, time, decided.encoded);
        if (judged !== undefined) await judged;
        const caller = callerIn(write);
        const isJudged = decided.isUnjudged !== true && this.#judge.concerns(caller, decided.operation);
        if (isJudged) await this.#judge.judge(caller, decided.operation, time);
      }
      // Judged before another node had the log, it was judged against a state without that node's records.
      if (shared !== null && this.#log.shared?.term !== shared.term)
        throw noOwner('Another node had the log meanwhile.');
      return await this.#commit(write, time, decided, shared);
    } finally {
      this.#ended();
    }
  }

  /**
   * Appends records of another log unchanged, and applies them; resolves when all are applied. They must continue this
   * log, and no other write may run. Rejects as the log does.
   */
  async follow(records: readonly LogRecord[]): Promise<void> {
    if (this.isClosed) throw closed();
    await this.#log.room();
    const applied: Promise<Report>[] = [];
    this.#underWay++;
    try {
      await this.#log.append(records, () => {
        for (const record of records) applied.push(Promise.resolve(this.#apply(asItIs, record)));
      });
      await Promise.all(applied);
    } finally {
      for (const { database } of records) this.#forget(database);
      this.#ended();
    }
  }

  /**
   * Applies records that another node has stored in the shared log, in order and in slices; resolves when all are applied.
   * They must continue the state, and no other write may run.
   */
  async applyStored(records: readonly LogRecord[]): Promise<void> {
    if (this.isClosed) throw closed();
    const slices = new Slices(this.#scheduler.pauseOf(null, 'apply stored records'));
    this.#underWay++;
    try {
      for (const record of records) {
        const applied = this.#apply(asItIs, record);
        if (applied instanceof Promise) await applied;
        await slices.breathe();
      }
    } finally {
      for (const { database } of records) this.#forget(database);
      this.#ended();
    }
  }

  /**
   * Calls `look` in a turn between two records: all records that were durable before the call are applied by then, and
   * none is in part.
   */
  async between<Result>(look: () => Result): Promise<Result> {
    for (let tries = 0; tries < patientTries; tries++) {
      const applying = this.#applying();
      if (applying.length === 0) return look();
      await Promise.all(applying);
    }
    const applying = this.#applying();
    let release = (): void => {};
    const cut = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#cut = cut;
    for (const queue of this.#queues.values()) queue.hold(cut);
    try {
      await Promise.all(applying);
      return look();
    } finally {
      if (this.#cut === cut) this.#cut = null;
      release();
    }
  }

  /** Runs the step when no write is in progress; those that come meanwhile wait for it. One at a time. */
  async quiet<Result>(step: () => Promise<Result>): Promise<Result> {
    assert(this.#quiet === null, 'one step at a time');
    let release = (): void => {};
    this.#quiet = new Promise<void>((resolve) => {
      release = resolve;
    });
    try {
      await this.#idle();
      return await step();
    } finally {
      this.#quiet = null;
      release();
    }
  }

  /** Refuses later writes; resolves when no write is in progress. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.#idle();
  }

  async #idle(): Promise<void> {
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#closing.push(resolve));
  }

  /** Logs and applies a write that was judged at this time; others may have been logged since. */
  async #commit(
    write: Write,
    judged: number,
    { operation, encoded, isCertain = false }: DecidedWrite,
    shared: SharedWrite | null,
  ): Promise<Report> {
    const database = databaseOf(write);
    const mark = markOf(write.caller);
    const version = versionOf(operation);
    const { writesVersion = version } = this.#log.shared ?? {};
    if (version > writesVersion) throw notReadByAll();
    this.#stamp = Math.max(judged, this.#stamp, this.#state.time);
    const record: LogRecord = {
      sequence: this.#log.nextSequence,
      time: this.#stamp,
      ...(this.#stamp === judged ? {} : { wall: judged }),
      requestId: write.caller.requestId,
      actor: write.caller.credential,
      ...(mark === null ? {} : { idempotency: mark }),
      database,
      generation: this.#state.databases.get(database)?.lastGeneration ?? 0,
      version,
      operation,
      origin: writtenOrigin(write.caller.origin),
    };
    let applied: Report | Promise<Report> | null = null;
    // A large operation is encoded already.
    const durable = encoded === undefined ? this.#scheduler.shortWrite() : null;
    if (shared !== null) this.#waiting.delete(shared);
    try {
      await this.#log.append(
        [record],
        () => {
          applied = this.#apply(write, record, { isLarge: encoded !== undefined, isCertain });
        },
        optionsOf(encoded, shared?.reject),
      );
    } finally {
      durable?.();
    }
    if (applied === null) throw new Error('assertion failed: a committed record was applied');
    return applied;
  }

  /**
   * Applies a durable record: in this turn if nothing of its database is being applied and there is little to do. A large
   * one begins in its turn: a group commit may have made many durable.
   */
  #apply(
    write: Showing,
    record: LogRecord,
    { isLarge = false, isCertain = false }: Pick<Application, 'isLarge' | 'isCertain'> = {},
  ): Report | Promise<Report> {
    const queue = this.#queueOf(record.database);
    const operation = record.operation as Operation;
    const tenant = 'tenant' in operation ? operation.tenant : null;
    // The names of deleted databases are kept in log order.
    const others = operation.kind === 'deleteDatabase' ? this.#applying() : [];
    const isApart = (): boolean => {
      const database = this.#state.databases.get(record.database);
      return database !== undefined && changesOnlyFacts(operation, database);
    };
    const own = queue.before(tenant, isApart);
    if (own !== null || others.length > 0) {
      const before = Promise.all([own, ...others]);
      return queue.apply(tenant, before, (taken) =>
        this.#inSlices({ write, record, queue, taken, isCertain }),
      );
    }
    const steps = applying(this.#state, record, isCertain);
    const first = isLarge ? 'more' : steps.next().value;
    if (first === 'ready') return this.#show(write, record, steps);
    return queue.apply(tenant, null, (taken) => {
      if (first === 'taken') taken();
      return this.#inSlices({ write, record, queue, taken, steps, isLarge });
    });
  }

  async #inSlices({
    write,
    record,
    queue,
    taken,
    isCertain = false,
    steps = applying(this.#state, record, isCertain),
    isLarge = false,
  }: Application): Promise<Report> {
    const [owner, work] = workOf(record);
    const own = this.#scheduler.pauseOf(owner, work);
    const ofSystem = this.#scheduler.pauseOf(null, work);
    // Else a tenant whose questions take its share would hold back the writes of others.
    const slices = new Slices(() => (queue.delaysOthersThan(owner?.tenant ?? null) ? ofSystem() : own()));
    if (isLarge) await slices.pause();
    for (let slice = steps.next().value; slice !== 'ready'; slice = steps.next().value) {
      if (slice === 'taken') taken();
      await slices.breathe();
    }
    return this.#show(write, record, steps);
  }

  #show(write: Showing, record: LogRecord, steps: Steps): Report {
    let report: Report;
    // Whatever the callbacks do, a durable record must be applied.
    try {
      this.#observer.applying(record);
      write.before?.(judgedAt(record));
    } finally {
      const shown = steps.next();
      assert(shown.done === true, 'showing is the last step');
      report = shown.value;
      this.#observer.applied(record, report);
    }
    return report;
  }

  #queueOf(database: string): WriteQueue {
    let queue = this.#queues.get(database);
    if (queue !== undefined) return queue;
    queue = new WriteQueue();
    if (this.#cut !== null) queue.hold(this.#cut);
    this.#queues.set(database, queue);
    return queue;
  }

  #forget(database: string): void {
    if (this.#queues.get(database)?.isIdle === true) this.#queues.delete(database);
  }

  /** What is being applied: for each database, the end of its last durable record. */
  #applying(): Promise<unknown>[] {
    return [...this.#queues.values()].flatMap(({ applying: last }) => (last === null ? [] : [last]));
  }

  #ended(): void {
    if (--this.#underWay > 0) return;
    const closing = this.#closing;
    this.#closing = [];
    for (const resolve of closing) resolve();
  }
}

function optionsOf(
  operation: Uint8Array | undefined,
  doubted: AppendOptions['doubted'] | undefined,
): AppendOptions | undefined {
  if (doubted === undefined) return operation === undefined ? undefined : { operation };
  return operation === undefined ? { doubted } : { operation, doubted };
}

/** The tenant whose writes this one follows in order; null: it concerns none, or all. */
function tenantOf({ caller, operation, isOfTenant = false }: Write): string | null {
  if (typeof operation === 'function') return isOfTenant ? caller.tenant : null;
  return 'tenant' in operation ? operation.tenant : null;
}

/**
 * What the write excludes while it is checked, logged and applied: nothing if it cannot fail on the state; what it claims, or
 * writes of its tenant, if it concerns nothing but facts of that tenant; else all of its database, such as a change of rules. A quota of
 * the database makes every checked write exclude all, since their growth together is judged.
 */
function exclusionOf(
  { operation, check, needsCheck, isOfTenant, claim }: Write,
  database: DatabaseState | undefined,
): Exclusion {
  const isDecided = typeof operation === 'function';
  const isChecked = check !== undefined && needsCheck?.() !== false;
  if (!isChecked && !isDecided) return 'nothing';
  if (database === undefined || database.quota !== null) return 'database';
  if (isDecided) return isOfTenant === true ? 'tenant' : 'database';
  const excluded = alone(operation, database);
  return excluded === 'tenant' && claim !== undefined ? 'claim' : excluded;
}

/** What an operation excludes that is judged against the state. */
function alone(operation: Operation, database: DatabaseState | undefined): 'tenant' | 'database' {
  if (database === undefined || database.quota !== null) return 'database';
  return changesOnlyFacts(operation, database) ? 'tenant' : 'database';
}

/** For whom a record is applied, and the name of that work. */
function workOf({ database, operation }: LogRecord): [Owner, string] {
  const about = operation as Operation;
  const tenant = 'tenant' in about ? about.tenant : null;
  return [tenant === null ? null : { database, tenant }, `apply ${about.kind}`];
}

/** The wall clock by which a record is judged. */
export function judgedAt({ time, wall }: Pick<LogRecord, 'time' | 'wall'>): number {
  return wall ?? time;
}

/** The caller, in the database that the write changes. */
function callerIn(write: Pick<Write, 'caller' | 'database'>): Caller {
  const database = databaseOf(write);
  return database === write.caller.database ? write.caller : { ...write.caller, database };
}

/** The database that the write changes. */
export function databaseOf({ caller, database }: Pick<Write, 'caller' | 'database'>): string {
  return database ?? caller.database;
}

/** It needs no database, and in a log of its own there is none. */
function createsDatabase({ operation }: Write): boolean {
  return typeof operation !== 'function' && operation.kind === 'createDatabase';
}

function notReadByAll(): EngineError {
  return new EngineError(
    'NotReady',
    'a node of the store runs an earlier version, which cannot apply this: try again when all nodes run this one',
  );
}

function closed(): EngineError {
  return new EngineError('NotReady', 'the service is shutting down: try again when it is back');
}
