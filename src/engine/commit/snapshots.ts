import { present } from '../base/assert.ts';
import { MAX_TICKS, type TimerWheel, type Visited } from '../base/timer-wheel.ts';
import { EngineError } from '../base/errors.ts';
import type { SnapshotTaken, StorageState } from '../contract/administration.ts';
import type { Tallies } from '../datalog/model/program.ts';
import type { DatabaseState, State } from '../state/state.ts';
import { type PinnedState, pinState } from '../state/state-snapshot.ts';
import { noOwner } from '../log/frame-store.ts';
import type { Log } from '../log/log.ts';
import type { CommitPipeline } from './commit-pipeline.ts';

/** What snapshots need from the engine. */
export interface SnapshotsHost {
  readonly state: State;
  readonly log: Log;
  readonly pipeline: Pick<CommitPipeline, 'between'>;
  readonly talliesOf: (database: DatabaseState) => Tallies;
  readonly pause: () => Promise<void>;
  /** Records after this one stay in the log although a snapshot covers them: a follower is fetching them. */
  readonly neededAfter: () => number;
  /** Milliseconds between two snapshots. */
  readonly intervalMs: number;
  /** Visits whatever is due. */
  readonly wheel: TimerWheel;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn: (message: string) => void;
}

/** Wait after a failed snapshot, in milliseconds. */
const retryMs = 30_000;
/** The log may grow to twice the last snapshot, and to at least this many bytes. */
const minLogBytes = 64 * 1024 * 1024;
/** A snapshot requested by `soon` waits until this many times the duration of the last one has passed. */
const restFactor = 10;

/**
 * Schedules snapshots, the engine's checkpoints: periodically if anything changed, when the log has outgrown the last
 * one, on demand, and at shutdown.
 *
 * One is written at a time, from a state pinned between two records, while reads and writes go on. If one fails, the
 * operator is warned and it is retried later; the log has everything that it would contain.
 */
export class Snapshots {
  readonly #host: SnapshotsHost;
  readonly #visited: Visited;
  /** The snapshot in progress. */
  #running: Promise<SnapshotTaken> | null = null;
  /** Work during which no snapshot may be written. */
  #exclusive: Promise<void> | null = null;
  /** The snapshot that begins after the current one. */
  #next: Promise<SnapshotTaken> | null = null;
  #lastAt = performance.now();
  #failedAt = Number.NEGATIVE_INFINITY;
  #isSoon = false;
  /** It is visited with each tick. */
  #isWatched = true;
  /** Duration of the last snapshot, in milliseconds. */
  #lastTook = 0;
  #written = 0;
  /** Value of `#usesVersion` in the last snapshot. */
  #uses: number;
  #isClosing = false;
  #isWanted = true;

  constructor(host: SnapshotsHost) {
    this.#host = host;
    this.#uses = this.#usesVersion();
    this.#visited = host.wheel.add(() => this.#visit());
  }

  /** Number of snapshots written. */
  get written(): number {
    return this.#written;
  }

  /** Duration of the last snapshot in milliseconds; null: none was written. */
  get tookMs(): number | null {
    return this.#written === 0 ? null : this.#lastTook;
  }

  /** Writes a snapshot of the current state. Rejects with StorageUnavailable, or with NotReady at shutdown. */
  take(): Promise<SnapshotTaken> {
    if (this.#isClosing)
      return Promise.reject(new EngineError('NotReady', 'the service is shutting down: nothing is lost'));
    if (this.#isCopy) return Promise.reject(noOwner('Snapshots are written by the node that has the log.'));
    return this.#takeNext();
  }

  /** Requests a snapshot soon, because much may have been deleted and the disk usage should shrink. */
  soon(): void {
    this.#isSoon = true;
    this.#isWatched = true;
    this.#visited.soon();
  }

  /** Something was applied, so that a snapshot will be due. */
  changed(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#visited.soon();
  }

  /** Runs work that must not overlap with a snapshot; settles as it does. */
  async without(run: () => Promise<void>): Promise<void> {
    while (this.#running !== null) await this.#settled(this.#running);
    const other = run().finally(() => {
      this.#exclusive = null;
    });
    // The caller receives its error.
    this.#exclusive = other.catch(() => {});
    await other;
  }

  /** Runs with the state pinned between two records. No snapshot is written meanwhile. */
  async pinned<Result>(run: (pin: PinnedState) => Promise<Result>): Promise<Result> {
    const { state, pipeline, talliesOf } = this.#host;
    let result: { readonly value: Result } | null = null;
    await this.without(async () => {
      const pin = await pipeline.between(() => pinState(state, talliesOf));
      try {
        result = { value: await run(pin) };
      } finally {
        pin.release();
      }
    });
    return present<{ readonly value: Result }>(result, 'it ran').value;
  }

  /**
   * Writes a last snapshot if anything changed and it finishes within this many milliseconds; otherwise gives it up.
   * The log has everything it would contain, except uses by questions. The pipeline must accept no more writes.
   */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    this.#visited.end();
    this.#isWanted = withinMs > 0;
    const timer = setTimeout(() => {
      this.#isWanted = false;
    }, withinMs);
    try {
      // The next snapshot becomes the current one when that has ended.
      for (let taken = this.#running ?? this.#next; taken !== null; taken = this.#running ?? this.#next)
        await this.#settled(taken);
      if (this.#isWanted && !this.#isCopy && this.#hasChanged()) await this.#settled(this.#takeNext());
    } finally {
      clearTimeout(timer);
    }
  }

  /** True if another node has the log, and writes the snapshots. */
  get #isCopy(): boolean {
    return this.#host.log.shared?.role === 'copy';
  }

  /** With each tick while there is something to write; seldom if not, as what questions used is not told. */
  #visit(): number {
    this.#takeIfDue();
    this.#isWatched = !this.#isCopy && (this.#running !== null || this.#hasChanged());
    return this.#isWatched ? 1 : MAX_TICKS;
  }

  #takeIfDue(): void {
    if (this.#isCopy || this.#running !== null || performance.now() - this.#failedAt < retryMs) return;
    const { uncoveredBytes, snapshotBytes } = this.#host.log.statistics();
    const isLong = uncoveredBytes > Math.max(minLogBytes, 2 * snapshotBytes);
    const since = performance.now() - this.#lastAt;
    const isTime = since >= this.#host.intervalMs || (this.#isSoon && since >= restFactor * this.#lastTook);
    if ((isLong || isTime) && this.#hasChanged()) void this.#settled(this.#takeNext());
  }

  /** Resolves when the snapshot has ended. Its requester receives an error; the operator is warned. */
  async #settled(taken: Promise<SnapshotTaken> | null): Promise<void> {
    try {
      await taken;
    } catch (error) {
      if (this.#isWanted)
        this.#host.onWarn(
          `No snapshot was written: ${error instanceof Error ? error.message : String(error)}`,
        );
    }
  }

  /** A snapshot that begins after the call. */
  #takeNext(): Promise<SnapshotTaken> {
    if (this.#running === null) return this.#next ?? this.#begin();
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<SnapshotTaken> {
    this.#next = null;
    this.#isSoon = false;
    const running = this.#write().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  async #write(): Promise<SnapshotTaken> {
    const { state, log, pipeline, talliesOf, pause, neededAfter } = this.#host;
    const startedAt = performance.now();
    try {
      await this.#exclusive;
      await log.beginSegment();
      const { pin, uses } = await pipeline.between(() => ({
        pin: pinState(state, talliesOf),
        uses: this.#usesVersion(),
      }));
      try {
        const { sequence, bytes } = await log.putSnapshot(
          pin,
          pin.parts(pause, () => this.#isWanted),
          neededAfter,
        );
        this.#uses = uses;
        this.#lastAt = performance.now();
        this.#lastTook = this.#lastAt - startedAt;
        this.#failedAt = Number.NEGATIVE_INFINITY;
        this.#written++;
        return { position: sequence, bytes, elapsedMs: this.#lastTook };
      } finally {
        pin.release();
      }
    } catch (error) {
      this.#failedAt = performance.now();
      throw error;
    }
  }

  #hasChanged(): boolean {
    const { state, log } = this.#host;
    return state.sequence > (log.snapshot()?.sequence ?? 0) || this.#uses !== this.#usesVersion();
  }

  /** Increases with every recorded use of a fact or a key. */
  #usesVersion(): number {
    let version = 0;
    for (const { tenants } of this.#host.state.databases.values())
      for (const { uses } of tenants.values()) version += uses.version;
    return version + this.#host.state.keys.usesVersion;
  }
}

/**
 * Backups: copies of a snapshot file written for the purpose.
 *
 * A slow reader holds one file open but no state. The caller decides how long a backup may take.
 */
export class Backups {
  readonly #snapshots: { take(): Promise<unknown> };
  readonly #log: Pick<Log, 'copySnapshot'>;
  readonly #now: () => number;
  /** The last backup that was sent completely. */
  last: StorageState['backup'] = null;
  /** Number of backups sent completely. */
  count = 0;

  constructor(snapshots: { take(): Promise<unknown> }, log: Pick<Log, 'copySnapshot'>, now: () => number) {
    this.#snapshots = snapshots;
    this.#log = log;
    this.#now = now;
  }

  /** Takes a snapshot and opens its file. Rejects with StorageUnavailable, or with NotReady at shutdown. */
  async take(): Promise<Backup> {
    await this.#snapshots.take();
    const copy = await this.#log.copySnapshot();
    const { sequence: position, bytes } = copy;
    const takenAt = this.#now();
    return {
      position,
      bytes,
      pieces: () => copy.pieces(),
      close: async (isWhole) => {
        await copy.close();
        if (!isWhole) return;
        this.count++;
        this.last = { position, bytes, takenAt };
      },
    };
  }
}

/** A complete backup in the format of a snapshot. Close it, however far it was read. */
export interface Backup {
  /** Sequence of the last record that it covers. */
  readonly position: number;
  readonly bytes: number;
  /** All bytes, readable once, in pieces of less than 1 MiB. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>;
  /** `isWhole`: it was sent completely. */
  close(isWhole: boolean): Promise<void>;
}

/** Runs with the states of all of these pinned, in their order, each between two of its records. */
export function allPinned<Result>(
  all: readonly Pick<Snapshots, 'pinned'>[],
  run: (pins: readonly PinnedState[]) => Promise<Result>,
): Promise<Result> {
  const pins: PinnedState[] = [];
  const next = (): Promise<Result> =>
    all[pins.length]?.pinned((pin) => {
      pins.push(pin);
      return next();
    }) ?? run(pins);
  return next();
}
