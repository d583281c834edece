import { EngineError } from './base/errors.ts';
import type { Caller } from './base/caller.ts';
import type { Clock } from './base/clock.ts';
import { apply, type Operation, operationVersion, type Report, type State } from './state.ts';
import type { LogRecord } from './storage/codec.ts';
import type { Log } from './storage/log.ts';

/**
 * The one way to change the state: seal a record, make it durable, apply it, answer.
 *
 * Writes that cannot fail on the state are sealed one after the other and share a sync. A write that can is a
 * barrier: it is checked when nothing is under way, and nothing is sealed until it was applied; else two writes
 * that stand against each other could both become durable.
 */
export interface Write {
  readonly caller: Caller;
  readonly database: string;
  readonly operation: Operation;
  /** Refuses what the state does not allow at the logical time given. Its presence makes the write a barrier. */
  readonly check?: (time: number) => void;
  /** Called right before the operation is applied, in the same turn. */
  readonly before?: (time: number) => void;
}

/** Told of every change in the turn that it is made: right before it, and right after. */
export interface LaneWatcher {
  applying(record: LogRecord): void;
  applied(record: LogRecord, report: Report): void;
}

export class WriteLane {
  readonly #state: State;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #watcher: LaneWatcher;
  /** Resolves when the write before has been sealed: they go one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #underWay = 0;
  #isBarred = false;
  #waiting: (() => void)[] = [];
  #stamp: number;
  isClosed = false;

  constructor(state: State, log: Log, clock: Clock, watcher: LaneWatcher) {
    this.#state = state;
    this.#log = log;
    this.#clock = clock;
    this.#watcher = watcher;
    this.#stamp = state.time;
  }

  /** Resolves with the report after the write is durable and applied. */
  async write(write: Write): Promise<Report> {
    const isBarrier = write.check !== undefined;
    const before = this.#turn;
    let pass = (): void => {};
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    let committed: Promise<Report>;
    try {
      await before;
      await this.#log.room();
      while (this.#isBarred || (isBarrier && this.#underWay > 0)) await this.#change();
      committed = this.#seal(write, isBarrier);
    } finally {
      pass();
    }
    return committed;
  }

  async #seal(write: Write, isBarrier: boolean): Promise<Report> {
    if (this.isClosed)
      throw new EngineError('NotReady', 'the service is shutting down: try again when it is back');
    this.#stamp = Math.max(this.#clock.now(), this.#stamp, this.#state.time);
    const time = this.#stamp;
    this.#state.database(write.database);
    write.check?.(time);
    this.#isBarred = isBarrier;
    this.#underWay++;
    try {
      return await this.#commit(write, time);
    } finally {
      this.#underWay--;
      if (isBarrier) this.#isBarred = false;
      this.#wake();
    }
  }

  /** Resolves when nothing is under way; later writes are refused. */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.#underWay > 0) await this.#change();
  }

  async #commit(write: Write, time: number): Promise<Report> {
    const record: LogRecord = {
      sequence: this.#log.nextSequence,
      time,
      requestId: write.caller.requestId,
      actor: write.caller.credential,
      database: write.database,
      generation: this.#state.database(write.database).generation,
      version: operationVersion,
      operation: write.operation,
    };
    let report: Report | null = null;
    await this.#log.append([record], () => {
      // Whatever happens beside it, what is durable is applied.
      try {
        this.#watcher.applying(record);
        write.before?.(time);
      } finally {
        report = apply(this.#state, record);
        this.#watcher.applied(record, report);
      }
    });
    if (report === null) throw new Error('assertion failed: a committed record was applied');
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
