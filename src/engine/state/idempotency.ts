import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { Outcome } from './outcome.ts';

/**
 * What became of the writes that carried an idempotency key, for a day: logged state, so that a request that is
 * repeated after a crash is answered by what it came to, and not executed again.
 *
 * A key belongs to a credential; callers without one share a space for each database and tenant. The fingerprint tells
 * whether it is the same request again. Answers in full, and those of requests that logged nothing, are not kept here.
 */
export interface IdempotencyMark {
  /** As the client chose it: visible ASCII. */
  readonly key: string;
  /** A digest of the request. */
  readonly fingerprint: string;
  /** Whose key it is among those of one actor; empty for an actor with a credential. */
  readonly space: string;
}

/** How long a key is remembered, in milliseconds. */
export const idempotencyWindowMs = 86_400_000;

/** Expired keys that are forgotten with each that comes. */
const maxEvictedPerPut = 16;

/** The mark that the record of a write gets; null: the caller wants none. */
export function markOf(caller: Caller): IdempotencyMark | null {
  if (caller.idempotency === null) return null;
  const { key, fingerprint } = caller.idempotency;
  return { key, fingerprint, space: spaceOf(caller) };
}

/** Whose keys they are among those of the caller's credential. */
export function spaceOf({ credential, database, tenant }: Caller): string {
  return credential === null ? JSON.stringify([database, tenant]) : '';
}

/** What is kept of one write. `outcome` is an `Outcome` as JSON. */
export interface StoredOutcome {
  readonly actor: string | null;
  readonly mark: IdempotencyMark;
  /** Epoch milliseconds: the stamp of its record. */
  readonly time: number;
  readonly outcome: string;
}

export class StoredOutcomes {
  /** The oldest first. */
  readonly #outcomes = new Map<string, StoredOutcome>();

  /** All that are kept, the oldest first: put in again in this order they make the same state. */
  all(): IterableIterator<StoredOutcome> {
    return this.#outcomes.values();
  }

  get size(): number {
    return this.#outcomes.size;
  }

  /** Keeps the outcome, in the place of an older one with its key. Times never go back. */
  put(kept: StoredOutcome): void {
    let left = maxEvictedPerPut;
    for (const [place, { time }] of this.#outcomes) {
      if (left-- === 0 || time > kept.time - idempotencyWindowMs) break;
      this.#outcomes.delete(place);
    }
    const place = placeOf(kept.actor, kept.mark);
    this.#outcomes.delete(place);
    this.#outcomes.set(place, kept);
  }

  /**
   * What the first write with this key came to; null where there was none in the day before this time. Refuses with
   * IdempotencyMismatch where that was another request.
   */
  find(actor: string | null, mark: IdempotencyMark, time: number): Outcome | null {
    const kept = this.get(actor, mark.space, mark.key, time);
    if (kept === null) return null;
    if (kept.mark.fingerprint !== mark.fingerprint) throw keyReused();
    return JSON.parse(kept.outcome) as Outcome;
  }

  /** What is kept of the first write with this key, whatever its request; null where there was none in that day. */
  get(actor: string | null, space: string, key: string, time: number): StoredOutcome | null {
    const kept = this.#outcomes.get(placeOf(actor, { space, key }));
    return kept === undefined || kept.time <= time - idempotencyWindowMs ? null : kept;
  }
}

/** The refusal of a key that was used for another request. */
export function keyReused(): EngineError {
  return new EngineError(
    'IdempotencyMismatch',
    'this Idempotency-Key was used for another request: choose a new key for each write, and repeat a write unchanged',
  );
}

function placeOf(actor: string | null, { space, key }: Pick<IdempotencyMark, 'space' | 'key'>): string {
  return JSON.stringify([actor, space, key]);
}
