import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { Slices } from '../base/slices.ts';
import { applying } from '../state/apply.ts';
import { nothingWritten, type Report, type Slice } from '../state/report.ts';
import { markOf } from '../state/idempotency.ts';
import { type Operation, operationVersion } from '../state/operation.ts';
import type { State } from '../state/state.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log } from '../log/log.ts';
import { type GrowthGate, type Reservation, openGate } from './write-admission.ts';

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
}

/**
 * Maximum of durable writes waiting to be applied. Later writes wait before they are stamped, since waiting records are
 * held in memory.
 */
const maxBehind = 64;

/** The callback of a write that runs when it becomes visible. */
type Showing = Pick<Write, 'before'>;

const asItIs: Showing = {};

type Steps = Generator<Slice, Report, undefined>;

/** Observes every change in its turn: right before and right after it becomes visible. */
export interface CommitObserver {
  applying(record: LogRecord): void;
  applied(record: LogRecord, report: Report): void;
}

/**
 * The commit pipeline, the only way to change the state: check, stamp, append to the write-ahead log, apply, answer.
 *
 * There is one writer. Writes that cannot fail on the state are stamped one after another and share a sync (group
 * commit). A write with a check commits exclusively: it is checked when no write is in progress, and nothing else is
 * stamped until it is applied; otherwise two conflicting writes could both become durable. So does a write that adds
 * knowledge near a quota or the memory's limit (`WriteAdmission`). Durable records are applied
 * in log order, large ones in slices between which other work runs; later records wait.
 */
export class CommitPipeline {
  readonly #state: State;
  readonly #log: Log;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #observer: CommitObserver;
  readonly #slices: Slices;
  readonly #admission: GrowthGate;
  /** Durable writes that wait for an earlier one to be applied. */
  #behind = 0;
  /** Resolves when the record being applied in slices is done; null: none is. */
  #applying: Promise<void> | null = null;
  /** Resolves when the previous write is stamped; writes are stamped in order of arrival. */
  #turn: Promise<void> = Promise.resolve();
  #underWay = 0;
  #isExclusive = false;
  #waiting: (() => void)[] = [];
  #stamp: number;
  isClosed = false;

  /** `clock` tells the time by which writes are judged. */
  constructor(
    state: State,
    log: Log,
    clock: Pick<Clock, 'now'>,
    pause: () => Promise<void>,
    watcher: CommitObserver,
    admission: GrowthGate = openGate,
  ) {
    this.#admission = admission;
    this.#state = state;
    this.#slices = new Slices(pause);
    this.#log = log;
    this.#clock = clock;
    this.#observer = watcher;
    this.#stamp = state.time;
  }

  /** Commits a write. Resolves with its report once it is durable and applied. */
  async write(write: Write): Promise<Report> {
    const { operation, encoded } = write;
    let isBarrier = write.check !== undefined || typeof operation === 'function';
    let reservation: Reservation | null = null;
    const before = this.#turn;
    let pass = (): void => {};
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    let committed: Promise<Report>;
    try {
      await before;
      await this.#log.room();
      while (this.#mustWait(isBarrier)) await this.#change();
      if (!isBarrier && typeof operation !== 'function') {
        reservation = this.#admission.reserve(databaseOf(write), operation, encoded);
        isBarrier = reservation === null;
        while (this.#mustWait(isBarrier)) await this.#change();
      }
      committed = this.#seal(write, isBarrier, reservation);
    } finally {
      pass();
    }
    return committed;
  }

  /** True if a write may not be stamped yet: an exclusive one waits for every other. */
  #mustWait(isBarrier: boolean): boolean {
    return this.#isExclusive || (isBarrier && this.#underWay > 0) || this.#behind >= maxBehind;
  }

  async #seal(write: Write, isBarrier: boolean, reservation: Reservation | null): Promise<Report> {
    if (this.isClosed) throw closed();
    const time = this.#clock.now();
    this.#stamp = Math.max(time, this.#stamp, this.#state.time);
    const stamp = this.#stamp;
    this.#state.database(databaseOf(write));
    this.#isExclusive = isBarrier;
    this.#underWay++;
    try {
      const checked = write.check?.(time);
      if (checked !== undefined) await checked;
      const { operation } = write;
      const decided = typeof operation === 'function' ? await operation(time) : { ...write, operation };
      if (decided === null) return nothingWritten(this.#state.database(databaseOf(write)));
      if (isBarrier) {
        const judged = this.#admission.judge(databaseOf(write), decided.operation, time, decided.encoded);
        if (judged !== undefined) await judged;
      }
      return await this.#commit(write, { time: stamp, ...(stamp === time ? {} : { wall: time }) }, decided);
    } finally {
      reservation?.release();
      this.#underWay--;
      if (isBarrier) this.#isExclusive = false;
      this.#wake();
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
      this.#underWay--;
      this.#wake();
    }
  }

  /** Calls `look` in a turn between two records. All records that were durable before the call are applied by then. */
  async between<Result>(look: () => Result): Promise<Result> {
    return this.#applying === null ? look() : this.#inTurn(this.#applying.then(look));
  }

  /** Refuses later writes; resolves when no write is in progress. */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.#underWay > 0) await this.#change();
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
      version: operationVersion,
      operation,
    };
    let applied: Report | Promise<Report> | null = null;
    await this.#log.append(
      [record],
      () => {
        applied = this.#apply(write, record);
      },
      encoded,
    );
    if (applied === null) throw new Error('assertion failed: a committed record was applied');
    return applied;
  }

  /** Applies a durable record: in this turn if nothing else is being applied and there is little to do. */
  #apply(write: Showing, record: LogRecord): Report | Promise<Report> {
    if (this.#applying !== null) {
      this.#behind++;
      return this.#inTurn(
        this.#applying.then(() => {
          this.#behind--;
          return this.#inSlices(write, record);
        }),
      );
    }
    const steps = applying(this.#state, record);
    if (steps.next().value === 'ready') return this.#show(write, record, steps);
    return this.#inTurn(this.#inSlices(write, record, steps));
  }

  /** Queues later applications behind this one, even if it fails. */
  #inTurn<Result>(applied: Promise<Result>): Promise<Result> {
    const ended = applied.then(
      () => {},
      // The write's caller receives the error.
      () => {},
    );
    const isLast = ended.then(() => {
      if (this.#applying === isLast) this.#applying = null;
    });
    this.#applying = isLast;
    return applied;
  }

  async #inSlices(
    write: Showing,
    record: LogRecord,
    steps: Steps = applying(this.#state, record),
  ): Promise<Report> {
    while (steps.next().value === 'more') await this.#slices.breathe();
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

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The wall clock by which a record is judged. */
export function judgedAt({ time, wall }: Pick<LogRecord, 'time' | 'wall'>): number {
  return wall ?? time;
}

/** The database that the write changes. */
export function databaseOf({ caller, database }: Pick<Write, 'caller' | 'database'>): string {
  return database ?? caller.database;
}

function closed(): EngineError {
  return new EngineError('NotReady', 'the service is shutting down: try again when it is back');
}
