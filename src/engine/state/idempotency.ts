import type { Caller } from '../base/caller.ts';
import { maxClockStepMs } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Outcome } from './operation.ts';
import { TextQueue } from './text-queue.ts';

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

/** Bytes of outcomes that are remembered; past them the oldest ones are dropped, and their keys stay. */
export const maxOutcomeBytes = 256 * 1024 * 1024;
/**
 * Bytes of the facts that an outcome may list. One that lists more is dropped at once: it would be written and read as one text, in
 * one turn.
 */
export const maxListedInOutcome = 4 * 1024 * 1024;
/** Keys that are remembered. More are refused before they are logged, so nothing is forgotten that was promised. */
export const maxRememberedKeys = 1_000_000;
/** When to try again if there are too many keys; the oldest ones end a day after their write. */
const retryAfterSeconds = 60;

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

/** The stored outcome of one write. */
export interface StoredOutcome {
  readonly actor: string | null;
  readonly mark: IdempotencyMark;
  /** Epoch milliseconds: the wall clock of its record. */
  readonly time: number;
  /** An `Outcome` as JSON; null: it was dropped, since newer ones needed the room or since it was long. */
  readonly outcome: string | null;
  /** The generation after the write; null: none. Absent in what earlier versions stored: that of the outcome. */
  readonly generation?: number | null;
}

/** What is remembered of a key beside its outcome. */
interface RememberedKey {
  readonly fingerprint: string;
  readonly time: number;
  readonly generation: number | null;
  /** Number of its outcome in the queue. */
  readonly number: number;
}

/**
 * Stored outcomes by actor, key space and key. Evicts expired ones as new ones arrive, and drops the oldest outcomes
 * past a number of bytes: both decided by the records alone, so that every replica remembers the same.
 */
export class StoredOutcomes {
  /** By actor, key space and key as JSON, oldest first. */
  readonly #keys = new Map<string, RememberedKey>();
  /** In the order of the keys, with those of replaced keys between them. */
  readonly #outcomes = new TextQueue();
  /** Outcomes found already, to be stored when it is their turn in log order. */
  readonly #expected = new Map<string, StoredOutcome>();
  /** An outcome was dropped that is not one of the oldest. */
  #mayHaveDropped = false;
  readonly #maxBytes: number;
  readonly #maxKeys: number;

  constructor(maxBytes = maxOutcomeBytes, maxKeys = maxRememberedKeys) {
    this.#maxBytes = maxBytes;
    this.#maxKeys = maxKeys;
  }

  /**
   * All outcomes of this moment, oldest first, however late they are read; storing them again in this order restores the
   * same state.
   */
  all(): Iterable<StoredOutcome> {
    const [keys, textOf] = [[...this.#keys], this.#outcomes.pinned()];
    return {
      *[Symbol.iterator]() {
        for (const [mapKey, remembered] of keys) yield storedOf(mapKey, remembered, textOf);
      },
    };
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Drops outcomes by their JSON; their keys stay. */
  drop(isDropped: (outcome: string) => boolean): void {
    for (const [mapKey, remembered] of this.#keys) {
      const text = this.#outcomes.text(remembered.number);
      if (text === null || text === '' || !isDropped(text)) continue;
      this.#keys.set(mapKey, { ...remembered, number: this.#outcomes.add('') });
      this.#mayHaveDropped = true;
    }
  }

  /** True if the outcome of some remembered key was dropped. */
  get hasDropped(): boolean {
    if (this.#mayHaveDropped) return true;
    for (const { number } of this.#keys.values()) return !this.#outcomes.text(number);
    return false;
  }

  /** Bytes of the outcomes. */
  get bytes(): number {
    return this.#outcomes.bytes;
  }

  /** Refuses a new key with RateLimited if as many as allowed are remembered; `time` is the wall clock. */
  refuseMore(time: number): void {
    if (this.#keys.size < this.#maxKeys) return;
    for (const { time: oldest } of this.#keys.values()) {
      // Its place is free: the next write evicts it.
      if (oldest <= time - idempotencyWindowMs) return;
      break;
    }
    throw new EngineError(
      'RateLimited',
      `${this.#maxKeys} Idempotency-Keys of the last 24 hours are remembered, as many as there may be: try again later, or write without a key`,
      { retryAfterSeconds },
    );
  }

  /** Stores an outcome and replaces an older one with its key. */
  put({ actor, mark, time, outcome, generation = generationOf(outcome) }: StoredOutcome): void {
    this.#evict(time);
    const mapKey = mapKeyOf(actor, mark);
    this.#keys.delete(mapKey);
    const number = this.#outcomes.add(outcome ?? '');
    this.#mayHaveDropped ||= outcome === null;
    this.#keys.set(mapKey, { fingerprint: mark.fingerprint, time, generation, number });
    while (this.#outcomes.bytes > this.#maxBytes) this.#outcomes.removeFirst();
    this.#expected.delete(mapKey);
  }

  /** Finds the outcome from now on; `put` will store it. */
  expect(stored: StoredOutcome): void {
    this.#expected.set(mapKeyOf(stored.actor, stored.mark), stored);
  }

  /**
   * The outcome of the first write with this key in the day before `time`; null: none. Refuses with IdempotencyMismatch
   * if that was a different request, and with Conflict if its outcome was dropped.
   */
  find(actor: string | null, mark: IdempotencyMark, time: number): Outcome | null {
    const stored = this.get(actor, mark.space, mark.key, time);
    if (stored === null) return null;
    if (stored.mark.fingerprint !== mark.fingerprint) throw keyReused();
    return JSON.parse(outcomeOf(stored)) as Outcome;
  }

  /** The stored outcome under this key in the day before `time`, whatever its request; null: none. */
  get(actor: string | null, space: string, key: string, time: number): StoredOutcome | null {
    const mapKey = mapKeyOf(actor, { space, key });
    const expected = this.#expected.get(mapKey);
    if (expected !== undefined) return expected.time <= time - idempotencyWindowMs ? null : expected;
    const remembered = this.#keys.get(mapKey);
    return remembered === undefined || remembered.time <= time - idempotencyWindowMs
      ? null
      : storedOf(mapKey, remembered, (number) => this.#outcomes.text(number));
  }

  /** Evicts expired keys, a few at a time, and the outcomes before that of the oldest key. */
  #evict(time: number): void {
    let left = maxEvictedPerPut;
    for (const [mapKey, remembered] of this.#keys) {
      if (remembered.time > time + maxClockStepMs) this.#turnBack(time);
      if (left-- === 0 || remembered.time > time - idempotencyWindowMs) {
        while (this.#outcomes.first < remembered.number) this.#outcomes.removeFirst();
        return;
      }
      this.#keys.delete(mapKey);
    }
  }

  /** Keys that were used while the clock was ahead count as used now, so that they are remembered for a day. */
  #turnBack(time: number): void {
    for (const [mapKey, remembered] of this.#keys)
      if (remembered.time > time) this.#keys.set(mapKey, { ...remembered, time });
  }
}

/** `textOf` reads an outcome. */
function storedOf(
  mapKey: string,
  { fingerprint, time, generation, number }: RememberedKey,
  textOf: (number: number) => string | null,
): StoredOutcome {
  const [actor, space, key] = JSON.parse(mapKey) as [string | null, string, string];
  return { actor, mark: { key, fingerprint, space }, time, outcome: textOf(number) || null, generation };
}

/** The outcome as JSON. Throws Conflict with the generation if it was dropped. */
export function outcomeOf({ outcome, generation = null }: StoredOutcome): string {
  if (outcome !== null) return outcome;
  throw answerGone(generation);
}

/** The refusal of a repeated request whose answer was dropped; `generation`: after its write, if known. */
export function answerGone(generation: number | null): EngineError {
  return new EngineError(
    'Conflict',
    'the first request with this Idempotency-Key was executed, and its answer is no longer remembered: nothing was ' +
      'written now; read what it stored',
    generation === null ? {} : { generation },
  );
}

function generationOf(outcome: string | null): number | null {
  if (outcome === null) return null;
  const parsed = JSON.parse(outcome) as { readonly generation?: number };
  return parsed.generation ?? null;
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
