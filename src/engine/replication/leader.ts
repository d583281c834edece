/**
 * Serves followers: records from any position, or a snapshot if those are gone; and lists the followers.
 *
 * Invariant: an answer buffers only a few mebibytes of records, and files read for it are closed before it is sent, so
 * a slow follower pins neither memory nor the log. For a follower that was sent a snapshot, the leader retains the log
 * that continues it, within bounds. The leader knows about a follower only what its last request said; it may return at
 * any time, or never.
 */
import { present } from '../base/assert.ts';
import type { Log } from '../log/log.ts';
import { type AnswerHead, type WirePart, PartWriter, wireVersion } from './wire.ts';

interface LeaderHost {
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Writes a snapshot of the current state. */
  readonly takeSnapshot: () => Promise<unknown>;
}

/** A follower as of its last request. */
interface FollowerView {
  /** Its self-chosen id; null: not given. */
  readonly id: string | null;
  readonly address: string | null;
  /** Sequence of its last record. */
  readonly position: number;
  readonly lagRecords: number;
  /** Milliseconds since it was last up to date; 0: it is. */
  readonly lagMs: number;
  readonly lastContactAt: number;
}

/** A requesting follower. */
interface Asker {
  readonly id: string | null;
  readonly address: string | null;
}

interface KnownFollower extends Asker {
  readonly position: number;
  readonly lastContactAt: number;
  readonly caughtUpAt: number;
}

/**
 * The log retained for a follower that was sent a snapshot: everything after a record. Times are epoch milliseconds.
 */
interface Retention {
  readonly after: number;
  readonly begun: number;
  readonly lastContactAt: number;
}

/** Bytes of records in one answer; it ends after the frame that reaches this size. */
const batchBytes = 4 * 1024 * 1024;
/** Maximum number of remembered followers, and how long after their last request, in milliseconds. */
const maxFollowers = 100;
const contactTimeoutMs = 600_000;
/** Maximum number of followers for which the log is retained, and how long after their snapshot, in milliseconds. */
const maxRetentions = 8;
const maxRetentionMs = 6 * 3_600_000;

/** Answers followers and tracks which log records they still need. */
export class Leader {
  readonly #host: LeaderHost;
  readonly #followers = new Map<string, KnownFollower>();
  readonly #retentions = new Map<string, Retention>();

  constructor(host: LeaderHost) {
    this.#host = host;
  }

  /** Streams an answer with records after sequence `after`: all of them, or as many as one answer contains. */
  async *records(after: number, asker: Asker): AsyncGenerator<Uint8Array, void, undefined> {
    const { log } = this.#host;
    const writer = new PartWriter();
    const { lastSequence: position, firstSequence: first } = log;
    this.#note(after, asker);
    this.#release(asker, after);
    const isThere = after <= position && after + 1 >= first;
    const before = isThere ? await log.checksumAt(after) : null;
    const parts = isThere ? await this.#batch(after) : [];
    yield writer.write({
      kind: 'head',
      head: { ...this.#head(), first, position, after, before, snapshot: null },
    });
    for (const part of parts) yield writer.write(part);
    yield writer.write({ kind: 'end' });
  }

  /**
   * Streams an answer with a snapshot of the logged state. The log retains all later records until this follower has
   * caught up, within the bounds of `neededAfter`.
   */
  async *snapshot(asker: Asker): AsyncGenerator<Uint8Array, void, undefined> {
    const { log, now, takeSnapshot } = this.#host;
    if (log.snapshot() === null) await takeSnapshot();
    const begun = now();
    const { snapshot, pieces, first } = await this.#opened(asker, begun);
    const { sequence, time, checksum } = snapshot;
    try {
      this.#note(0, asker);
      const writer = new PartWriter();
      const head = {
        ...this.#head(),
        first: log.firstSequence,
        position: log.lastSequence,
        after: null,
        before: null,
        snapshot: { sequence, time, checksum },
      };
      yield writer.write({ kind: 'head', head });
      for (let piece = first; piece.done !== true; piece = await pieces.next()) {
        this.#retain(asker, { after: sequence, begun });
        yield writer.write({ kind: 'state', bytes: piece.value });
      }
      yield writer.write({ kind: 'end' });
    } finally {
      await pieces.return();
    }
  }

  /**
   * The record after which a follower that was sent a snapshot still needs the log; Infinity: none does. Counted are
   * followers that have not caught up since, made contact in the last ten minutes and began in the last six hours; at
   * most the latest eight. Without this, a follower that fetches a snapshot more slowly than new ones are taken would
   * start over forever.
   */
  neededAfter(): number {
    const now = this.#host.now();
    for (const [key, { begun, lastContactAt }] of this.#retentions)
      if (now - lastContactAt > contactTimeoutMs || now - begun > maxRetentionMs)
        this.#retentions.delete(key);
    return Math.min(...Array.from(this.#retentions.values(), ({ after }) => after));
  }

  /** Followers with recent requests, latest first. */
  followers(): FollowerView[] {
    const { log, now } = this.#host;
    this.#forget();
    return Array.from(this.#followers.values(), ({ id, address, position, lastContactAt, caughtUpAt }) => {
      const lagRecords = Math.max(0, log.lastSequence - position);
      const lagMs = lagRecords === 0 ? 0 : Math.max(0, now() - caughtUpAt);
      return { id, address, position, lagRecords, lagMs, lastContactAt };
    }).toReversed();
  }

  #head(): Pick<AnswerHead, 'version' | 'historyId' | 'epoch' | 'parent'> {
    const { historyId, epoch, parent } = this.#host.log;
    return { version: wireVersion, historyId, epoch, parent };
  }

  /** Frames with records above `after`. */
  async #batch(after: number): Promise<WirePart[]> {
    const parts: WirePart[] = [];
    let bytes = 0;
    for await (const { lines } of this.#host.log.readStored(after)) {
      parts.push({ kind: 'records', bytes: lines.slice() });
      bytes += lines.length;
      if (bytes >= batchBytes) break;
    }
    return parts;
  }

  /** The newest snapshot with its file open, so that it can be read to the end even if another replaces it. */
  async #opened(asker: Asker, begun: number) {
    const { log } = this.#host;
    for (;;) {
      const snapshot = present(log.snapshot(), 'a snapshot that was taken is there');
      const pieces = log.readSnapshot('state');
      this.#retain(asker, { after: snapshot.sequence, begun });
      try {
        return { snapshot, pieces, first: await pieces.next() };
      } catch (error) {
        // Another snapshot replaced it before it was open.
        if (log.snapshot()?.sequence === snapshot.sequence) throw error;
      }
    }
  }

  #retain(asker: Asker, { after, begun }: Pick<Retention, 'after' | 'begun'>): void {
    const key = keyOf(asker);
    this.#retentions.delete(key);
    this.#retentions.set(key, { after, begun, lastContactAt: this.#host.now() });
    const [first] = this.#retentions.keys();
    if (this.#retentions.size > maxRetentions && first !== undefined) this.#retentions.delete(first);
  }

  /** A follower that continues from `after` needs nothing before it, and nothing at all once it has caught up. */
  #release(asker: Asker, after: number): void {
    const key = keyOf(asker);
    const retention = this.#retentions.get(key);
    if (retention === undefined) return;
    if (after >= this.#host.log.lastSequence) this.#retentions.delete(key);
    else this.#retain(asker, { after: Math.max(retention.after, after), begun: retention.begun });
  }

  #note(position: number, asker: Asker): void {
    const now = this.#host.now();
    const key = keyOf(asker);
    const known = this.#followers.get(key);
    const caughtUpAt = position >= this.#host.log.lastSequence ? now : (known?.caughtUpAt ?? now);
    this.#followers.delete(key);
    this.#followers.set(key, { ...asker, position, lastContactAt: now, caughtUpAt });
    this.#forget();
  }

  /** Forgets the followers with the oldest requests first. */
  #forget(): void {
    const since = this.#host.now() - contactTimeoutMs;
    for (const [key, { lastContactAt }] of this.#followers)
      if (lastContactAt < since || this.#followers.size > maxFollowers) this.#followers.delete(key);
  }
}

function keyOf({ id, address }: Asker): string {
  return JSON.stringify([id, address]);
}
