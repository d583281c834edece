import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { Outcome } from './operation.ts';

/**
 * Outcomes of writes that carried an idempotency key, for a day. They are logged state, so a request repeated after a
 * crash gets its first outcome and is not executed again.
 *
 * A key belongs to a credential; anonymous callers share a key space per database and tenant. The fingerprint tells
 * whether the request is the same. Full answers, and outcomes of requests that logged nothing, are not stored here.
 */
interface IdempotencyMark {
  /** As the client chose it: visible ASCII. */
  readonly key: string;
  /** A digest of the request. */
  readonly fingerprint: string;
  /** The key space within one actor; empty for an actor with a credential. */
  readonly space: string;
}

/** How long a key is remembered, in milliseconds. */
export const idempotencyWindowMs = 86_400_000;

/** Expired keys evicted with each new one. */
const maxEvictedPerPut = 16;

/** The idempotency mark for the record of a write; null: the caller gave no key. */
export function markOf(caller: Caller): IdempotencyMark | null {
  if (caller.idempotency === null) return null;
  const { key, fingerprint } = caller.idempotency;
  return { key, fingerprint, space: spaceOf(caller) };
}

/** The caller's key space within its credential. */
export function spaceOf({ credential, database, tenant }: Caller): string {
  return credential === null ? JSON.stringify([database, tenant]) : '';
}

/** The stored outcome of one write. `outcome` is an `Outcome` as JSON. */
export interface StoredOutcome {
  readonly actor: string | null;
  readonly mark: IdempotencyMark;
  /** Epoch milliseconds: the stamp of its record. */
  readonly time: number;
  readonly outcome: string;
}

/** Stored outcomes by actor, key space and key. Evicts expired ones as new ones arrive. */
export class StoredOutcomes {
  /** Oldest first. */
  readonly #outcomes = new Map<string, StoredOutcome>();
  /** Outcomes found already, to be stored when it is their turn in log order. */
  readonly #expected = new Map<string, StoredOutcome>();

  /** All outcomes, oldest first; storing them again in this order restores the same state. */
  all(): IterableIterator<StoredOutcome> {
    return this.#outcomes.values();
  }

  get size(): number {
    return this.#outcomes.size;
  }

  /** Stores an outcome and replaces an older one with its key. Times never decrease. */
  put(stored: StoredOutcome): void {
    let left = maxEvictedPerPut;
    for (const [mapKey, { time }] of this.#outcomes) {
      if (left-- === 0 || time > stored.time - idempotencyWindowMs) break;
      this.#outcomes.delete(mapKey);
    }
    const mapKey = mapKeyOf(stored.actor, stored.mark);
    this.#outcomes.delete(mapKey);
    this.#outcomes.set(mapKey, stored);
    this.#expected.delete(mapKey);
  }

  /** Finds the outcome from now on; `put` will store it. */
  expect(stored: StoredOutcome): void {
    this.#expected.set(mapKeyOf(stored.actor, stored.mark), stored);
  }

  /**
   * The outcome of the first write with this key in the day before `time`; null: none. Refuses with IdempotencyMismatch
   * if that was a different request.
   */
  find(actor: string | null, mark: IdempotencyMark, time: number): Outcome | null {
    const stored = this.get(actor, mark.space, mark.key, time);
    if (stored === null) return null;
    if (stored.mark.fingerprint !== mark.fingerprint) throw keyReused();
    return JSON.parse(stored.outcome) as Outcome;
  }

  /** The stored outcome under this key in the day before `time`, whatever its request; null: none. */
  get(actor: string | null, space: string, key: string, time: number): StoredOutcome | null {
    const mapKey = mapKeyOf(actor, { space, key });
    const stored = this.#expected.get(mapKey) ?? this.#outcomes.get(mapKey);
    return stored === undefined || stored.time <= time - idempotencyWindowMs ? null : stored;
  }
}

/** The refusal of a key that another request already used. */
export function keyReused(): EngineError {
  return new EngineError(
    'IdempotencyMismatch',
    'this Idempotency-Key was used for another request: choose a new key for each write, and repeat a write unchanged',
  );
}

function mapKeyOf(actor: string | null, { space, key }: Pick<IdempotencyMark, 'space' | 'key'>): string {
  return JSON.stringify([actor, space, key]);
}
