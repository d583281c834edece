import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { KeyList, KeyView, RevokedKey, UpdateKeyInput } from '../contract/authentication.ts';
import { type KeyRecord, outcomeKey } from '../state/key-store.ts';
import type { KeyChange, KeyToKeep, Operation } from '../state/operation.ts';
import { outcomeAs, type OutcomeKey } from '../state/outcome.ts';
import type { Report } from '../state/report.ts';
import type { Writer } from '../session/barrier.ts';
import type { State } from '../state/state.ts';

/**
 * The API keys of the service: create, list, update, revoke, and find by prefix. It stores hashes only; formatting and
 * checking a presented key is up to the caller of this class.
 *
 * A key can be made, changed or revoked only by a caller whose restrictions cover it, before and after; lists show
 * those that are covered. Every write is a barrier, checked on the keys as they are when it is logged.
 */
export class Keys {
  readonly #state: State;
  readonly #writer: Writer;
  readonly #clock: Clock;

  constructor(state: State, writer: Writer, clock: Clock) {
    this.#state = state;
    this.#writer = writer;
    this.#clock = clock;
  }

  /** True where there is a key of the role admin, though it has expired: the bootstrap is closed. */
  get hasAdmin(): boolean {
    return this.#state.keys.hasAdmin;
  }

  /** The key of this id as it is now; null: it was revoked, or there never was one. */
  find(id: string): KeyRecord | null {
    return this.#state.keys.get(id) ?? null;
  }

  /** The keys that begin so, expired ones too. */
  withPrefix(prefix: string): readonly KeyRecord[] {
    return this.#state.keys.withPrefix(prefix);
  }

  hasExpired({ expiresAt }: KeyRecord): boolean {
    return expiresAt !== null && this.#now() >= expiresAt;
  }

  /** Remembers that the key was used now. It is observed: a crash forgets what came after the last snapshot. */
  noteUse(id: string): void {
    this.#state.keys.noteUse(id, this.#now());
  }

  /** Those that the caller covers, the first made first. */
  list(caller: Caller): KeyList {
    this.#writer.live.refuseClosed();
    const covered = [...this.#state.keys.all()].filter((key) => coversKey(caller, key));
    return { keys: covered.map((key) => this.#viewOf(outcomeKey(key))) };
  }

  /**
   * Makes a key that ends `lifeMs` after it is made, null: never. `isFirst`: refuses with Conflict where there is an
   * admin key. Refuses with Conflict what was made by an earlier request of the same idempotency key, too: the key was
   * shown then, and nobody knows it any more.
   */
  async create(
    caller: Caller,
    key: Omit<KeyToKeep, 'id' | 'expiresAt'>,
    lifeMs: number | null,
    isFirst = false,
  ): Promise<OutcomeKey> {
    requireCoversKey(caller, key);
    const id = crypto.randomUUID();
    const report = await this.#write(caller, (time) => {
      if (isFirst && this.hasAdmin)
        throw new EngineError('Conflict', 'the bootstrap is done: there is an admin key already');
      const expiresAt = lifeMs === null ? null : time + Math.max(1, Math.round(lifeMs));
      return { kind: 'createKey', key: { id, ...key, expiresAt } };
    });
    const made = onlyKey(report);
    if (report.isRepeated)
      throw new EngineError(
        'Conflict',
        `the first request with this Idempotency-Key made the key ${made.id}, which was shown then and cannot be shown again: revoke it and make another`,
      );
    return made;
  }

  /** Refuses with NotFound where there is no such key. */
  async update(caller: Caller, id: string, input: UpdateKeyInput): Promise<KeyView> {
    const { databases, tenants, description, expiresAt } = input;
    const change: KeyChange = {
      ...(databases === null ? {} : { databases }),
      ...(tenants === null ? {} : { tenants }),
      ...(description === null ? {} : { description }),
      ...(expiresAt === null ? {} : { expiresAt: expiresAt === 'never' ? null : expiresAt }),
    };
    const report = await this.#write(caller, () => {
      const key = this.#covered(caller, id);
      requireCoversKey(caller, { ...key, ...change });
      return { kind: 'updateKey', id, change };
    });
    return this.#viewOf(onlyKey(report));
  }

  /** Refuses with NotFound where there is no such key. */
  async revoke(caller: Caller, id: string): Promise<RevokedKey> {
    await this.#write(caller, () => {
      this.#covered(caller, id);
      return { kind: 'revokeKey', id };
    });
    return { id, status: 'revoked' };
  }

  /** Revokes all admin keys; answers which those were. Nobody is asked: for whoever has the folder. */
  async resetAdmin(caller: Caller): Promise<readonly OutcomeKey[]> {
    const report = await this.#write(caller, () => ({ kind: 'revokeAdminKeys' }));
    return outcomeAs(report.outcome, 'keys').keys;
  }

  #write(caller: Caller, decide: (time: number) => Operation): Promise<Report> {
    const operation = async (time: number) => ({ operation: decide(time) });
    return this.#writer.write({ caller, database: 'default', operation });
  }

  /** The key, where the caller may touch it. Refuses with NotFound or Forbidden. */
  #covered(caller: Caller, id: string): KeyRecord {
    const key = this.find(id);
    if (key === null)
      throw new EngineError('NotFound', 'there is no key of this id: GET /auth/keys lists them');
    requireCoversKey(caller, key);
    return key;
  }

  #viewOf(key: OutcomeKey): KeyView {
    return { ...key, lastUsedAt: this.#state.keys.lastUsedAt(key.id) };
  }

  /** A clock that was put back brings no key back. */
  #now(): number {
    return Math.max(this.#clock.now(), this.#state.time);
  }
}

type Restrictions = Pick<KeyToKeep, 'databases' | 'tenants'>;

function coversKey(caller: Restrictions, key: Restrictions): boolean {
  return coversAll(caller.databases, key.databases) && coversAll(caller.tenants, key.tenants);
}

/** Empty lists mean no restriction. */
function coversAll(restriction: readonly string[], names: readonly string[]): boolean {
  if (restriction.length === 0) return true;
  const covered = new Set(restriction);
  return names.length > 0 && names.every((name) => covered.has(name));
}

function requireCoversKey(caller: Restrictions, key: Restrictions): void {
  if (!coversKey(caller, key))
    throw new EngineError(
      'Forbidden',
      'the key is, or would be, good for more than the credential: its databases and tenants must be among those of the credential',
    );
}

function onlyKey({ outcome }: Report): OutcomeKey {
  const [key] = outcomeAs(outcome, 'keys').keys;
  if (key === undefined) throw new Error('assertion failed: the write was about one key');
  return key;
}
