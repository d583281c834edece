import { EngineError } from '../base/errors.ts';
import type { SnapshotTaken, StorageState } from '../contract/administration.ts';
import type { Tallies } from '../datalog/model/rule-tallies.ts';
import type { DatabaseState, State } from '../state/state.ts';
import { pinState } from '../state/state-snapshot.ts';
import type { Log } from '../log/log.ts';
import type { CommitPipeline } from './commit-pipeline.ts';

/**
 * When snapshots are written: every so often where something has changed, where the log has outgrown the last one,
 * when somebody asks for one, and at the end.
 *
 * One is written at a time, from a state that is pinned between two records; writers and readers go on meanwhile. One
 * that fails is told to the operator and tried again later: the log has all that it would have held.
 */
export interface SnapshotsHost {
  readonly state: State;
  readonly log: Log;
  readonly pipeline: Pick<CommitPipeline, 'between'>;
  readonly talliesOf: (database: DatabaseState) => Tallies;
  readonly pause: () => Promise<void>;
  /** Records after this one are kept though a snapshot covers them: somebody is fetching them. */
  readonly neededAfter: () => number;
  /** Milliseconds between two snapshots. */
  readonly intervalMs: number;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
}

/** How often it is looked whether one is due, in milliseconds. */
const checkIntervalMs = 1000;
/** After one that failed, the next is tried after so long. */
const retryMs = 30_000;
/** The log may grow to twice the last snapshot, and to so much in any case. */
const minLogBytes = 64 * 1024 * 1024;
/** After one, another is written soon only when so many times as long has passed as it took. */
const restFactor = 10;

export class Snapshots {
  readonly #host: SnapshotsHost;
  readonly #timer: ReturnType<typeof setInterval>;
  /** The one under way. */
  #running: Promise<SnapshotTaken> | null = null;
  /** What none may be written beside. */
  #exclusive: Promise<void> | null = null;
  /** The one that begins after it. */
  #next: Promise<SnapshotTaken> | null = null;
  #lastAt = performance.now();
  #failedAt = Number.NEGATIVE_INFINITY;
  #isSoon = false;
  /** What the last one took, in milliseconds. */
  #lastTook = 0;
  #written = 0;
  /** The uses that the last one holds, as `#usesVersion` counts them. */
  #uses: number;
  #isClosing = false;
  #isWanted = true;

  constructor(host: SnapshotsHost) {
    this.#host = host;
    this.#uses = this.#usesVersion();
    this.#timer = setInterval(() => this.#takeIfDue(), Math.min(checkIntervalMs, host.intervalMs));
    this.#timer.unref();
  }

  /** Those that were written. */
  get written(): number {
    return this.#written;
  }

  /** Milliseconds that the last one took; null where none was written. */
  get tookMs(): number | null {
    return this.#written === 0 ? null : this.#lastTook;
  }

  /** Writes a snapshot of what is there now. Rejects with StorageUnavailable, or NotReady at the end. */
  take(): Promise<SnapshotTaken> {
    if (this.#isClosing)
      return Promise.reject(new EngineError('NotReady', 'the service is shutting down: nothing is lost'));
    return this.#takeNext();
  }

  /** Much may have been let go of: a snapshot is written soon, so that the disk shrinks too. */
  soon(): void {
    this.#isSoon = true;
  }

  /** Runs what must not meet one that is being written; resolves as it does. */
  async without(run: () => Promise<void>): Promise<void> {
    while (this.#running !== null) await this.#settled(this.#running);
    const other = run().finally(() => {
      this.#exclusive = null;
    });
    // Whoever asked for it is told of what it ends with.
    this.#exclusive = other.catch(() => {});
    await other;
  }

  /**
   * Writes a last one where something has changed and there is so much time, in milliseconds; else gives it up. What
   * it would have held the log has, but for uses by questions. The pipeline takes no more writes.
   */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    this.#isWanted = withinMs > 0;
    const timer = setTimeout(() => {
      this.#isWanted = false;
    }, withinMs);
    try {
      // The one that is to begin becomes the one under way when that has ended.
      for (let taken = this.#running ?? this.#next; taken !== null; taken = this.#running ?? this.#next)
        await this.#settled(taken);
      if (this.#isWanted && this.#hasChanged()) await this.#settled(this.#takeNext());
    } finally {
      clearTimeout(timer);
    }
  }

  #takeIfDue(): void {
    if (this.#running !== null || performance.now() - this.#failedAt < retryMs) return;
    const { uncoveredBytes, snapshotBytes } = this.#host.log.statistics();
    const isLong = uncoveredBytes > Math.max(minLogBytes, 2 * snapshotBytes);
    const since = performance.now() - this.#lastAt;
    const isTime = since >= this.#host.intervalMs || (this.#isSoon && since >= restFactor * this.#lastTook);
    if ((isLong || isTime) && this.#hasChanged()) void this.#settled(this.#takeNext());
  }

  /** Resolves when it has ended, however: who asked for it is told, and the operator. */
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

  /** One that begins after the call. */
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

  /** Moves with every use of a fact or a key that is noted. */
  #usesVersion(): number {
    let version = 0;
    for (const { tenants } of this.#host.state.databases.values())
      for (const { uses } of tenants.values()) version += uses.version;
    return version + this.#host.state.keys.usesVersion;
  }
}

/**
 * Backups: the file of a snapshot that is written for the purpose.
 *
 * Who reads one slowly holds a file open and nothing of the state; how long that may last is for the surface to say.
 */
export class Backups {
  readonly #snapshots: Pick<Snapshots, 'take'>;
  readonly #log: Pick<Log, 'copySnapshot'>;
  readonly #now: () => number;
  /** The last one that was sent whole. */
  last: StorageState['backup'] = null;
  /** Those that were sent whole. */
  count = 0;

  constructor(snapshots: Pick<Snapshots, 'take'>, log: Pick<Log, 'copySnapshot'>, now: () => number) {
    this.#snapshots = snapshots;
    this.#log = log;
    this.#now = now;
  }

  /** Rejects with StorageUnavailable, or NotReady at the end. */
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

/** Everything there was when it was taken, in the format of a snapshot. To be closed, however far it was read. */
export interface Backup {
  /** Sequence of the last record that it covers. */
  readonly position: number;
  readonly bytes: number;
  /** All of it, once, in pieces of less than 1 MiB. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>;
  /** `isWhole`: it was sent to its end. */
  close(isWhole: boolean): Promise<void>;
}
