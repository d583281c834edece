import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { writtenOrigin } from '../base/origin.ts';
import type { Owner, Scheduler } from '../base/scheduler.ts';
import { Slices } from '../base/slices.ts';
import { applying } from '../state/apply.ts';
import { nothingWritten, type Report, type Slice } from '../state/report.ts';
import { markOf } from '../state/idempotency.ts';
import { type Operation, versionOf } from '../state/operation.ts';
import type { State } from '../state/state.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log } from '../log/log.ts';
import { type GrowthGate, type Reservation, openGate } from './write-admission.ts';
import { WriteQueue } from './write-queue.ts';

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
   * Refuses what the state does not allow at the given time of the wall clock, in slices if that takes long. Makes the commit
   * exclusive.
   */
  readonly check?: (time: number) => void | Promise<void>;
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
}

/** Judges what a write would make of the knowledge, before it is logged. */
export interface WriteJudge {
  /** True if the write must be judged, in an exclusive commit. */
  concerns(caller: Caller, operation: Operation): boolean;
  /** Throws if the write is refused at this time of the wall clock. */
  judge(caller: Caller, operation: Operation, time: number): Promise<void>;
}

/** Refuses no write. */
const acceptingJudge: WriteJudge = { concerns: () => false, judge: () => Promise.resolve() };

/** The callback of a write that runs when it becomes visible. */
type Showing = Pick<Write, 'before'>;

const asItIs: Showing = {};

type Steps = Generator<Slice, Report, undefined>;

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
 * commit). A write with a check commits exclusively in its database: it is checked when no other write of the database
 * is in progress, and nothing else is stamped there until it is applied; otherwise two conflicting writes could both
 * become durable. So does a write that adds knowledge near a quota or the memory's limit (`WriteAdmission`).
 *
 * The durable records of a database are applied in log order, large ones in slices between which other work runs; later
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
    const isExclusive = write.check !== undefined || typeof operation === 'function';
    const reserved: Reservation[] = [];
    const becomesExclusive = (): boolean => {
      if (typeof operation === 'function') return true;
      if (this.#judge.concerns(callerIn(write), operation)) return true;
      const reservation = this.#admission.reserve(database, operation, encoded);
      if (reservation !== null) reserved.push(reservation);
      return reservation === null;
    };
    const room = (): Promise<void> => this.#log.room();
    const start = (isAlone: boolean): Promise<Report> => this.#seal(write, isAlone);
    try {
      return await this.#queueOf(database).run({ isExclusive, room, becomesExclusive, start });
    } finally {
      for (const reservation of reserved) reservation.release();
      this.#forget(database);
    }
  }

  async #seal(write: Write, isAlone: boolean): Promise<Report> {
    if (this.isClosed) throw closed();
    const time = this.#clock.now();
    this.#stamp = Math.max(time, this.#stamp, this.#state.time);
    const stamp = this.#stamp;
    this.#state.database(databaseOf(write));
    this.#underWay++;
    try {
      const checked = write.check?.(time);
      if (checked !== undefined) await checked;
      const { operation } = write;
      const decided = typeof operation === 'function' ? await operation(time) : { ...write, operation };
      if (decided === null) return nothingWritten(this.#state.database(databaseOf(write)));
      if (isAlone) {
        const judged = this.#admission.judge(databaseOf(write), decided.operation, time, decided.encoded);
        if (judged !== undefined) await judged;
        const caller = callerIn(write);
        const isJudged = decided.isUnjudged !== true && this.#judge.concerns(caller, decided.operation);
        if (isJudged) await this.#judge.judge(caller, decided.operation, time);
      }
      return await this.#commit(write, { time: stamp, ...(stamp === time ? {} : { wall: time }) }, decided);
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

  /** Refuses later writes; resolves when no write is in progress. */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#closing.push(resolve));
  }

  async #commit(
    write: Write,
    times: Pick<LogRecord, 'time' | 'wall'>,
    { operation, encoded }: DecidedWrite,
  ): Promise<Report> {
    const database = databaseOf(write);
    const mark = markOf(write.caller);
    const record: LogRecord = {
      sequence: this.#log.nextSequence,
      ...times,
      requestId: write.caller.requestId,
      actor: write.caller.credential,
      ...(mark === null ? {} : { idempotency: mark }),
      database,
      generation: this.#state.database(database).generation,
      version: versionOf(operation),
      operation,
      origin: writtenOrigin(write.caller.origin),
    };
    let applied: Report | Promise<Report> | null = null;
    // A large operation is encoded already.
    const durable = encoded === undefined ? this.#scheduler.shortWrite() : null;
    try {
      await this.#log.append(
        [record],
        () => {
          applied = this.#apply(write, record);
        },
        encoded,
      );
    } finally {
      durable?.();
    }
    if (applied === null) throw new Error('assertion failed: a committed record was applied');
    return applied;
  }

  /** Applies a durable record: in this turn if nothing of its database is being applied and there is little to do. */
  #apply(write: Showing, record: LogRecord): Report | Promise<Report> {
    const queue = this.#queueOf(record.database);
    // The names of deleted databases are kept in log order.
    const others = (record.operation as Operation).kind === 'deleteDatabase' ? this.#applying() : [];
    if (queue.applying !== null || others.length > 0) {
      const before = Promise.all([queue.applying, ...others]);
      return queue.apply(before, () => this.#inSlices(write, record, applying(this.#state, record)));
    }
    const steps = applying(this.#state, record);
    if (steps.next().value === 'ready') return this.#show(write, record, steps);
    return queue.apply(null, () => this.#inSlices(write, record, steps));
  }

  async #inSlices(write: Showing, record: LogRecord, steps: Steps): Promise<Report> {
    const slices = new Slices(this.#scheduler.pauseOf(...workOf(record)));
    while (steps.next().value === 'more') await slices.breathe();
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
  #applying(): Promise<void>[] {
    return [...this.#queues.values()].flatMap(({ applying: last }) => (last === null ? [] : [last]));
  }

  #ended(): void {
    if (--this.#underWay > 0) return;
    const closing = this.#closing;
    this.#closing = [];
    for (const resolve of closing) resolve();
  }
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

function closed(): EngineError {
  return new EngineError('NotReady', 'the service is shutting down: try again when it is back');
}
