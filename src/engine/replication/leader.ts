/**
 * What a leader sends those who follow it: its records from any place on, or a snapshot where those are gone; and who
 * they are.
 *
 * Invariant: an answer holds no more than a few mebibytes of records at a time, and a file that was read for it is
 * closed before the answer goes out; so a follower that reads slowly holds neither memory nor the log. Who is given a
 * snapshot finds the log that continues it when it is there, within bounds. Nothing here
 * knows of a follower but what it told when it asked last: it may come back after any time, or never.
 */
import { present } from '../base/assert.ts';
import type { Log } from '../log/log.ts';
import { type AnswerHead, type WirePart, PartWriter, wireVersion } from './wire.ts';

export interface LeaderHost {
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Writes a snapshot of what is there. */
  readonly takeSnapshot: () => Promise<unknown>;
}

/** A follower as it was when it last asked. */
export interface FollowerView {
  /** As it calls itself; null: it did not say. */
  readonly id: string | null;
  readonly address: string | null;
  /** Sequence of the last record that it has. */
  readonly position: number;
  readonly lagRecords: number;
  /** Milliseconds since it had all there was; 0 where it has. */
  readonly lagMs: number;
  readonly lastContactAt: number;
}

/** Who asks. */
export interface Asker {
  readonly id: string | null;
  readonly address: string | null;
}

interface KnownFollower extends Asker {
  readonly position: number;
  readonly lastContactAt: number;
  readonly caughtUpAt: number;
}

/** The log that is kept for who was given a snapshot: what comes after a record. Times are epoch milliseconds. */
interface Retention {
  readonly after: number;
  readonly begun: number;
  readonly lastContactAt: number;
}

/** Records that one answer holds, in bytes: it ends after the frame that reaches them. */
const batchBytes = 4 * 1024 * 1024;
/** Followers that are remembered, and for how long after they last asked, in milliseconds. */
const maxFollowers = 100;
const contactTimeoutMs = 600_000;
/** For so many the log is kept that have not caught up, and for how long since they were given a snapshot. */
const maxRetentions = 8;
const maxRetentionMs = 6 * 3_600_000;

export class Leader {
  readonly #host: LeaderHost;
  readonly #followers = new Map<string, KnownFollower>();
  readonly #retentions = new Map<string, Retention>();

  constructor(host: LeaderHost) {
    this.#host = host;
  }

  /** Records with a sequence above `after`, as bytes: as many as there are, or as an answer holds. */
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
   * The logged state as of some record, as bytes. The log keeps all records after it until this follower has caught up, but
   * not for longer than `neededAfter` says.
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
   * The record after which somebody who was given a snapshot still needs the log; Infinity: nobody does. That is who has
   * not caught up since, was here in the last ten minutes, and began in the last six hours; of eight at most, the last
   * ones. Else one that takes longer to fetch than the next is away would be fetched again and again.
   */
  neededAfter(): number {
    const now = this.#host.now();
    for (const [key, { begun, lastContactAt }] of this.#retentions)
      if (now - lastContactAt > contactTimeoutMs || now - begun > maxRetentionMs)
        this.#retentions.delete(key);
    return Math.min(...Array.from(this.#retentions.values(), ({ after }) => after));
  }

  /** Those who asked lately, the last one first. */
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
    let held = 0;
    for await (const { lines } of this.#host.log.readStored(after)) {
      parts.push({ kind: 'records', bytes: lines.slice() });
      held += lines.length;
      if (held >= batchBytes) break;
    }
    return parts;
  }

  /** The newest snapshot, whose file is open: it can be read to its end though another takes its place. */
  async #opened(asker: Asker, begun: number) {
    const { log } = this.#host;
    for (;;) {
      const snapshot = present(log.snapshot(), 'a snapshot that was taken is there');
      const pieces = log.readSnapshot('state');
      this.#retain(asker, { after: snapshot.sequence, begun });
      try {
        return { snapshot, pieces, first: await pieces.next() };
      } catch (error) {
        // Another one took its place before it was open.
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

  /** Who goes on from there needs nothing before it, and nothing at all any more once it has caught up. */
  #release(asker: Asker, after: number): void {
    const key = keyOf(asker);
    const held = this.#retentions.get(key);
    if (held === undefined) return;
    if (after >= this.#host.log.lastSequence) this.#retentions.delete(key);
    else this.#retain(asker, { after: Math.max(held.after, after), begun: held.begun });
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

  /** The one that asked first is forgotten first. */
  #forget(): void {
    const since = this.#host.now() - contactTimeoutMs;
    for (const [key, { lastContactAt }] of this.#followers)
      if (lastContactAt < since || this.#followers.size > maxFollowers) this.#followers.delete(key);
  }
}

function keyOf({ id, address }: Asker): string {
  return JSON.stringify([id, address]);
}
