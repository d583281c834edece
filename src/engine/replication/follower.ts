/**
 * How a follower keeps up with its leader: step by step, each of which asks once and says when to take the next.
 *
 * Invariant: what the replica holds is what the leader's log held up to the replica's position, record by record. It
 * begins with a snapshot where it holds nothing, less than the leader's log can continue, or something else: another
 * history, or records that the leader has lost. An older epoch of its own history, or of the one it branched off, is
 * refused: going back to it would throw away what a later leader answered for. Time, the way to the leader and what is
 * stored are passed in; whoever hosts it waits between two steps.
 */
import { EngineError } from '../base/errors.ts';
import type { LogRecord } from '../log/codec.ts';
import type { LogPosition } from '../log/log.ts';
import { type AnswerHead, readParts, decodeLines, ReplicationError, type WirePart } from './wire.ts';

/** What a follower keeps: a log of its own, and the state that it amounts to. */
export interface Replica {
  /** Sequence of the last record; 0: it holds nothing. */
  readonly position: number;
  readonly historyId: string;
  readonly epoch: number;
  /** The history that this one branched off; null where it began by itself. */
  readonly parentId: string | null;
  /** `recordChecksum` of the last record; null where it is not known. */
  lastChecksum(): Promise<number | null>;
  /** Stores and applies the next records, and resolves when both are done. */
  append(records: readonly LogRecord[]): Promise<void>;
  /** Puts this snapshot in the place of all there is; readers see the one or the other. All or nothing. */
  install(of: LogPosition, state: AsyncIterable<Uint8Array>): Promise<void>;
}

/** The way to the leader. Both reject, or throw on the way, with a ReplicationError. */
export interface LeaderConnection {
  records(after: number): AsyncIterable<Uint8Array>;
  snapshot(): AsyncIterable<Uint8Array>;
}

export interface FollowerHost {
  readonly replica: Replica;
  readonly leader: LeaderConnection;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds between two questions while there is nothing new. */
  readonly pollIntervalMs: number;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
  readonly onInfo: (message: string) => void;
  /** Told of an error inside: a bug. */
  readonly onBug: (error: unknown) => void;
}

export type FollowerState = 'connecting' | 'snapshot' | 'streaming' | 'stale' | 'refused';

export interface FollowerStatus {
  readonly state: FollowerState;
  readonly position: number;
  /** null: the leader has not said yet. So are the two lags. */
  readonly leaderPosition: number | null;
  readonly lagRecords: number | null;
  /** Milliseconds since it was known to have all there was; 0 where it has as far as it knows. */
  readonly lagMs: number | null;
  /** When the leader last answered, epoch milliseconds. */
  readonly lastContactAt: number | null;
  /** What is in the way; null: nothing. */
  readonly lastError: string | null;
}

/** The first pause after a failure, and the longest after a refusal, in milliseconds; each doubles the one before. */
const firstPauseMs = 250;
const firstRefusedPauseMs = 1000;
const maxRefusedPauseMs = 60_000;

export class Follower {
  readonly #host: FollowerHost;
  #state: FollowerState = 'connecting';
  #leaderPosition: number | null = null;
  #lastContactAt: number | null = null;
  #caughtUpAt: number | null = null;
  #lastError: string | null = null;
  #failures = 0;
  #canServe = false;
  /** The history of a leader that was warned of, until the exchange has succeeded. */
  #warnedOf: string | null = null;

  constructor(host: FollowerHost) {
    this.#host = host;
  }

  /** True from the first catch-up on, and where there is one of an earlier process and no way to the leader now. */
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
   * Asks the leader once, and takes what it answers. Resolves with the milliseconds until the next step, and never
   * rejects. One at a time.
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
    // While a snapshot came the leader may have gone on.
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
      throw new ReplicationError('broken', 'the answer of the leader does not begin as one');
    const { head } = first.value;
    if (head.after !== asked)
      throw new ReplicationError('broken', 'the leader answered another question: is there a cache between?');
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
        `the leader is of epoch ${epoch}, and this folder of epoch ${replica.epoch}: another leader has followed ` +
          'that one since. Name the present leader in LEADER_URL; to follow this one all the same, give the follower an empty STORAGE_DIR',
      );
  }

  /** Why the records cannot be continued, in words for who should know; '' where nobody needs to; null: they can be. */
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
        `${why}. Everything is fetched anew from a snapshot of the leader, in the place of the ${replica.position} records here.`,
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

  /** Notes what is in the way; answers the pause before the next try. */
  #failed(error: unknown): number {
    const { replica, pollIntervalMs, onWarn, onInfo, onBug } = this.#host;
    const isKnown = error instanceof ReplicationError || error instanceof EngineError;
    if (!isKnown) onBug(error);
    const message = isKnown ? error.message : 'an error inside, which the log of this service has';
    const isRefused = error instanceof ReplicationError && error.kind === 'refused';
    const before = this.#state;
    this.#lastError = message;
    if (isRefused) this.#state = 'refused';
    else this.#state = this.#canServe || replica.position > 0 ? 'stale' : 'connecting';
    // What an earlier process caught up with is served when nothing newer can be had.
    this.#canServe ||= replica.position > 0;
    if (before !== this.#state || this.#failures === 0)
      (isRefused ? onWarn : onInfo)(`not following: ${message}`);
    const growth = 2 ** Math.min(this.#failures++, 16);
    return isRefused
      ? Math.min(maxRefusedPauseMs, firstRefusedPauseMs * growth)
      : Math.min(pollIntervalMs, firstPauseMs * growth);
  }
}

/** The pieces of a snapshot, to its end. */
async function* statesOf(parts: AsyncIterable<WirePart>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of parts) if (part.kind === 'state') yield part.bytes;
}
