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

/**
 * The one way to change the state: seal a record, make it durable, apply it, answer.
 *
 * Writes that cannot fail on the state are sealed one after the other and share a sync. A write that can is a
 * barrier: it is checked when nothing is under way, and nothing is sealed until it was applied; else two writes
 * that stand against each other could both become durable. What is durable is applied in the order of the log, a
 * write of many facts in slices between which everything else runs; those behind it wait for it.
 */
export interface Write {
  readonly caller: Caller;
  readonly database: string;
  /**
   * What is written; or what decides that on the state as it is, at the logical time given, which makes the write a
   * barrier. null: there is nothing to write.
   */
  readonly operation: Operation | ((time: number) => Promise<DecidedWrite | null>);
  /**
   * Refuses what the state does not allow at the logical time given, in slices where that takes long. Its presence
   * makes the write a barrier.
   */
  readonly check?: (time: number) => void | Promise<void>;
  /** Called right before the state shows the operation, in the same turn. */
  readonly before?: (time: number) => void;
  /** The operation as UTF-8 of its JSON, where that was written already. */
  readonly encoded?: Uint8Array;
}

/** An operation, and its JSON as UTF-8 where that was written already. */
export interface DecidedWrite {
  readonly operation: Operation;
  readonly encoded?: Uint8Array;
}

/** More durable writes do not wait to be applied: later ones wait before they are sealed, since all are held in memory. */
const maxBehind = 64;

/** What a write wants when the state shows it. */
type Showing = Pick<Write, 'before'>;

const asItIs: Showing = {};

type Steps = Generator<Slice, Report, undefined>;

/** Told of every change in the turn that it is made: right before it, and right after. */
export interface CommitObserver {
  applying(record: LogRecord): void;
  applied(record: LogRecord, report: Report): void;
}

export class CommitPipeline {
  readonly #state: State;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #observer: CommitObserver;
  readonly #slices: Slices;
  /** Durable writes that wait for one before them to be applied. */
  #behind = 0;
  /** Resolves when what is being applied in slices has been; null: nothing is. */
  #applying: Promise<void> | null = null;
  /** Resolves when the write before has been sealed: they go one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #underWay = 0;
  #isExclusive = false;
  #waiting: (() => void)[] = [];
  #stamp: number;
  isClosed = false;

  constructor(state: State, log: Log, clock: Clock, pause: () => Promise<void>, watcher: CommitObserver) {
    this.#state = state;
    this.#slices = new Slices(pause);
    this.#log = log;
    this.#clock = clock;
    this.#observer = watcher;
    this.#stamp = state.time;
  }

  /** Resolves with the report after the write is durable and applied. */
  async write(write: Write): Promise<Report> {
    const isBarrier = write.check !== undefined || typeof write.operation === 'function';
    const before = this.#turn;
    let pass = (): void => {};
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    let committed: Promise<Report>;
    try {
      await before;
      await this.#log.room();
      while (this.#isExclusive || (isBarrier && this.#underWay > 0) || this.#behind >= maxBehind)
        await this.#change();
      committed = this.#seal(write, isBarrier);
    } finally {
      pass();
    }
    return committed;
  }

  async #seal(write: Write, isBarrier: boolean): Promise<Report> {
    if (this.isClosed) throw closed();
    this.#stamp = Math.max(this.#clock.now(), this.#stamp, this.#state.time);
    const time = this.#stamp;
    this.#state.database(write.database);
    this.#isExclusive = isBarrier;
    this.#underWay++;
    try {
      const checked = write.check?.(time);
      if (checked !== undefined) await checked;
      const { operation, encoded } = write;
      if (typeof operation !== 'function')
        return await this.#commit(write, time, { operation, ...(encoded === undefined ? {} : { encoded }) });
      const decided = await operation(time);
      if (decided === null) return nothingWritten(this.#state.database(write.database));
      return await this.#commit(write, time, decided);
    } finally {
      this.#underWay--;
      if (isBarrier) this.#isExclusive = false;
      this.#wake();
    }
  }

  /**
   * Makes records of another log durable as they are, and applies them; resolves when all are. They follow the last one
   * here, and nothing else is written beside them. Rejects as the log does.
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

  /**
   * Calls `look` in a turn in which no record is half applied. All that were durable before the call have been applied
   * then.
   */
  async between<Result>(look: () => Result): Promise<Result> {
    return this.#applying === null ? look() : this.#inTurn(this.#applying.then(look));
  }

  /** Resolves when nothing is under way; later writes are refused. */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.#underWay > 0) await this.#change();
  }

  async #commit(write: Write, time: number, { operation, encoded }: DecidedWrite): Promise<Report> {
    const mark = markOf(write.caller);
    const record: LogRecord = {
      sequence: this.#log.nextSequence,
      time,
      requestId: write.caller.requestId,
      actor: write.caller.credential,
      ...(mark === null ? {} : { idempotency: mark }),
      database: write.database,
      generation: this.#state.database(write.database).generation,
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

  /** Applies what is durable: in this turn where nothing is being applied and there is little to do. */
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

  /** Makes what is applied later wait until this has been, even where it fails. */
  #inTurn<Result>(applied: Promise<Result>): Promise<Result> {
    const ended = applied.then(
      () => {},
      // Whoever asked for the write is told of it.
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
    // Whatever happens beside it, what is durable is applied.
    try {
      this.#observer.applying(record);
      write.before?.(record.time);
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

function closed(): EngineError {
  return new EngineError('NotReady', 'the service is shutting down: try again when it is back');
}
