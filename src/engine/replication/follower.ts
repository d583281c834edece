/**
 * Replicates a leader step by step: each step asks the leader once and returns when to take the next.
 *
 * Invariant: the replica equals the leader's log up to the replica's position, record by record. It starts from a
 * snapshot if it is empty, is behind the start of the leader's log, or differs: another history, or records that the
 * leader has lost. An older epoch of its own history, or of its parent history, is refused, since going back would
 * discard what a later leader acknowledged. Time, connection and storage are injected; the host waits between steps.
 */
import { EngineError } from '../base/errors.ts';
import type { LogRecord } from '../log/codec.ts';
import type { LogPosition, Log, ReceivedSnapshot } from '../log/log.ts';
import { type AnswerHead, readParts, decodeLines, ReplicationError, type WirePart } from './wire.ts';
import { assert } from '../base/assert.ts';
import type { LiveState } from '../session/live-state.ts';
import { operationVersion } from '../state/operation.ts';
import type { Snapshots } from '../commit/snapshots.ts';
import type { State } from '../state/state.ts';
import { readState } from '../state/state-snapshot.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { StartupError } from '../log/startup-error.ts';
import type { CommitPipeline } from '../commit/commit-pipeline.ts';

/** A follower's log and state. */
interface Replica {
  /** Sequence of the last record; 0: empty. */
  readonly position: number;
  readonly historyId: string;
  readonly epoch: number;
  /** The history that this one branched off; null: it is original. */
  readonly parentId: string | null;
  /** `recordChecksum` of the last record; null: unknown. */
  lastChecksum(): Promise<number | null>;
  /** Stores and applies the next records; resolves when both are done. */
  append(records: readonly LogRecord[]): Promise<void>;
  /** Replaces everything with this snapshot, atomically; readers see the old or the new state. */
  install(of: LogPosition, state: AsyncIterable<Uint8Array>): Promise<void>;
}

/** The connection to the leader. Both methods fail with a ReplicationError, at once or while streaming. */
export interface LeaderConnection {
  records(after: number): AsyncIterable<Uint8Array>;
  snapshot(): AsyncIterable<Uint8Array>;
}

/** What a follower needs from its host. */
interface FollowerHost {
  readonly replica: Replica;
  readonly leader: LeaderConnection;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds between two requests while there is nothing new. */
  readonly pollIntervalMs: number;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn: (message: string) => void;
  readonly onInfo: (message: string) => void;
  /** Receives internal errors: bugs. */
  readonly onBug: (error: unknown) => void;
}

type FollowerState = 'connecting' | 'snapshot' | 'streaming' | 'stale' | 'refused';

export interface FollowerStatus {
  readonly state: FollowerState;
  readonly position: number;
  /** null: unknown until the leader's first answer. The same goes for both lags. */
  readonly leaderPosition: number | null;
  readonly lagRecords: number | null;
  /** Milliseconds since it last knew to be up to date; 0: it is, as far as it knows. */
  readonly lagMs: number | null;
  /** Time of the leader's last answer, epoch milliseconds. */
  readonly lastContactAt: number | null;
  /** The current problem; null: none. */
  readonly lastError: string | null;
}

/**
 * First pause after a failure and after a refusal, and longest pause after a refusal, in milliseconds. Pauses double.
 */
const firstPauseMs = 250;
const firstRefusedPauseMs = 1000;
const maxRefusedPauseMs = 60_000;

/** Keeps a replica up to date with its leader and reports its status. */
export class Follower {
  readonly #host: FollowerHost;
  #state: FollowerState = 'connecting';
  #leaderPosition: number | null = null;
  #lastContactAt: number | null = null;
  #caughtUpAt: number | null = null;
  #lastError: string | null = null;
  #failures = 0;
  #canServe = false;
  /** The history that a warning was given about, until its snapshot is installed. */
  #warnedOf: string | null = null;

  constructor(host: FollowerHost) {
    this.#host = host;
  }

  /** True after the first catch-up; also true if an earlier process caught up and the leader cannot be reached now. */
  get canServe(): boolean {
    return this.#canServe;
  }

  status(): FollowerStatus {
    const { position } = this.#host.replica;
    const leaderPosition = this.#leaderPosition;
    return {
      state: this.#state,
      position,
      leaderPosition,
      lagRecords: leaderPosition === null ? null : Math.max(0, leaderPosition - position),
      lagMs: this.#lagMs(),
      lastContactAt: this.#lastContactAt,
      lastError: this.#lastError,
    };
  }

  /**
   * Asks the leader once and takes in the answer. Resolves with the milliseconds until the next step and never rejects.
   * One step at a time.
   */
  async step(): Promise<number> {
    let took: 'records' | 'snapshot';
    try {
      took = await this.#follow();
    } catch (error) {
      return this.#failed(error);
    }
    this.#failures = 0;
    this.#lastError = null;
    if (this.#state === 'stale') this.#host.onInfo('the leader answers again');
    this.#state = 'streaming';
    // The leader may have advanced while the snapshot arrived.
    if (took === 'snapshot' || !this.#isCaughtUp()) return 0;
    this.#canServe = true;
    this.#caughtUpAt = this.#host.now();
    return this.#host.pollIntervalMs;
  }

  async #follow(): Promise<'records' | 'snapshot'> {
    const { replica, leader } = this.#host;
    const asked = replica.position;
    const parts = readParts(leader.records(asked));
    try {
      const head = await this.#headOf(parts, asked);
      this.#refuseOlder(head);
      const needed = await this.#whySnapshot(head);
      if (needed !== null) {
        await parts.return();
        await this.#exchange(head, needed);
        return 'snapshot';
      }
      for await (const part of parts) if (part.kind === 'records') await this.#append(part.bytes);
    } finally {
      await parts.return();
    }
    if (replica.position === asked && !this.#isCaughtUp())
      throw new ReplicationError('broken', 'the leader did not send the records that it says it has');
    return 'records';
  }

  async #headOf(parts: AsyncIterator<WirePart>, asked: number | null): Promise<AnswerHead> {
    const first = await parts.next();
    if (first.done === true || first.value.kind !== 'head')
      throw new ReplicationError('broken', "the leader's answer has no valid beginning");
    const { head } = first.value;
    if (head.after !== asked)
      throw new ReplicationError(
        'broken',
        'the leader answered a different request: is there a cache in between?',
      );
    this.#leaderPosition = head.position;
    this.#lastContactAt = this.#host.now();
    return head;
  }

  #refuseOlder({ historyId, epoch }: AnswerHead): void {
    const { replica } = this.#host;
    const isOwn = historyId === replica.historyId || historyId === replica.parentId;
    if (replica.position > 0 && isOwn && epoch < replica.epoch)
      throw new ReplicationError(
        'refused',
        `the leader has epoch ${epoch} and this folder epoch ${replica.epoch}: another leader has succeeded ` +
          'it since. Set LEADER_URL to the current leader; to follow this one anyway, give the follower an empty STORAGE_DIR',
      );
  }

  /** Why the records cannot be continued, in words for the operator; '' if that is routine; null: they can be. */
  async #whySnapshot(head: AnswerHead): Promise<string | null> {
    const { replica } = this.#host;
    const { position } = replica;
    if (position === 0) return '';
    if (head.historyId !== replica.historyId)
      return `the leader has another history (${head.historyId}) than this follower (${replica.historyId})`;
    if (position > head.position)
      return `the leader ends with record ${head.position} and this follower with ${position}: it has lost what came after`;
    if (head.first > position + 1) return '';
    const mine = await replica.lastChecksum();
    if (mine !== null && mine !== head.before)
      return `the leader does not have record ${position} of this follower: it has lost what it had sent`;
    return null;
  }

  async #exchange(seen: AnswerHead, why: string): Promise<void> {
    const { replica, leader, onWarn } = this.#host;
    if (why !== '' && this.#warnedOf !== seen.historyId) {
      this.#warnedOf = seen.historyId;
      onWarn(
        `${why}. Everything is fetched again from a snapshot of the leader and replaces the ${replica.position} records here.`,
      );
    }
    this.#state = 'snapshot';
    const parts = readParts(leader.snapshot());
    try {
      const { historyId, epoch, parent, snapshot } = await this.#headOf(parts, null);
      if (snapshot === null) throw new ReplicationError('broken', 'the leader sent no snapshot');
      await replica.install({ historyId, epoch, parent, ...snapshot }, statesOf(parts));
      this.#warnedOf = null;
    } finally {
      await parts.return();
    }
  }

  async #append(lines: Uint8Array): Promise<void> {
    const { replica } = this.#host;
    const { position } = replica;
    const records = decodeLines(lines).filter(({ sequence }) => sequence > position);
    if (records.some(({ sequence }, index) => sequence !== position + 1 + index))
      throw new ReplicationError('broken', `the leader sent other records than those after ${position}`);
    if (records.length > 0) await replica.append(records);
  }

  #isCaughtUp(): boolean {
    return this.#host.replica.position >= (this.#leaderPosition ?? Number.POSITIVE_INFINITY);
  }

  #lagMs(): number | null {
    if (this.#caughtUpAt === null) return null;
    if (this.#state === 'streaming' && this.#isCaughtUp()) return 0;
    return Math.max(0, this.#host.now() - this.#caughtUpAt);
  }

  /** Records the problem; returns the pause before the next attempt. */
  #failed(error: unknown): number {
    const { replica, pollIntervalMs, onWarn, onInfo, onBug } = this.#host;
    const isKnown = error instanceof ReplicationError || error instanceof EngineError;
    if (!isKnown) onBug(error);
    const message = isKnown ? error.message : "an internal error; see this service's log";
    const isRefused = error instanceof ReplicationError && error.kind === 'refused';
    const before = this.#state;
    this.#lastError = message;
    if (isRefused) this.#state = 'refused';
    else this.#state = this.#canServe || replica.position > 0 ? 'stale' : 'connecting';
    // State from an earlier process is served if nothing newer is available.
    this.#canServe ||= replica.position > 0;
    if (before !== this.#state || this.#failures === 0)
      (isRefused ? onWarn : onInfo)(`not following: ${message}`);
    const growth = 2 ** Math.min(this.#failures++, 16);
    return isRefused
      ? Math.min(maxRefusedPauseMs, firstRefusedPauseMs * growth)
      : Math.min(pollIntervalMs, firstPauseMs * growth);
  }
}

/** The pieces of a snapshot, up to its end. */
async function* statesOf(parts: AsyncIterable<WirePart>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of parts) if (part.kind === 'state') yield part.bytes;
}

/** What a replica is made of. */
interface ReplicaParts {
  readonly state: State;
  readonly log: Log;
  readonly pipeline: CommitPipeline;
  readonly live: LiveState;
  readonly snapshots: Snapshots;
  readonly pause: () => Promise<void>;
}

/**
 * A follower's replica: the engine's own log and state, fed by a leader instead of callers.
 *
 * Records are appended to the log and applied like every write, and nothing else writes. A snapshot is stored and read
 * completely before it counts; then it replaces the log durably, and the state in one turn.
 */
export class EngineReplica implements Replica {
  readonly #parts: ReplicaParts;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  get position(): number {
    return this.#parts.log.lastSequence;
  }

  get historyId(): string {
    return this.#parts.log.historyId;
  }

  get epoch(): number {
    return this.#parts.log.epoch;
  }

  get parentId(): string | null {
    return this.#parts.log.parent?.historyId ?? null;
  }

  lastChecksum(): Promise<number | null> {
    const { log } = this.#parts;
    return log.checksumAt(log.lastSequence);
  }

  async append(records: readonly LogRecord[]): Promise<void> {
    const newer = records.find(({ version }) => version > operationVersion);
    if (newer !== undefined)
      throw new ReplicationError(
        'refused',
        `the leader writes operations of version ${newer.version}, and this program knows version ${operationVersion}: ` +
          'run the same version of Corollary on both',
      );
    await this.#parts.pipeline.follow(records);
  }

  async install(of: LogPosition, state: AsyncIterable<Uint8Array>): Promise<void> {
    const { log, pause, snapshots } = this.#parts;
    const received = await log.receive(of, partsOf(state));
    try {
      const restored = await readable(readState(received, pause));
      assert(restored.state.sequence === of.sequence, 'a snapshot holds the state of its last record');
      await snapshots.without(() => this.#become(received, restored.state));
    } finally {
      await received.discard();
    }
  }

  async #become(received: ReceivedSnapshot, next: State): Promise<void> {
    const { state, pipeline, live } = this.#parts;
    await received.install();
    await pipeline.between(() => {
      const before = [...state.databases.values()];
      state.become(next);
      live.replaced(before);
    });
  }
}

async function* partsOf(state: AsyncIterable<Uint8Array>): AsyncGenerator<SnapshotPart, void, undefined> {
  for await (const bytes of state) yield { section: 'state', bytes };
}

/**
 * Turns a StartupError about the snapshot into a refusal: the snapshot cannot be read, but the folder can be opened.
 */
async function readable<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof EngineError || !(error instanceof StartupError)) throw error;
    throw new ReplicationError(
      'refused',
      'the leader runs a newer version: run the same version of Corollary on both',
      {
        cause: error,
      },
    );
  }
}
