import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { KeyList, KeyView, RevokedKey, UpdateKeyInput } from '../contract/authentication.ts';
import { type KeyRecord, outcomeKey } from '../state/key-store.ts';
import {
  type KeyChange,
  type KeyToStore,
  type Operation,
  outcomeAs,
  type OutcomeKey,
} from '../state/operation.ts';
import type { Report } from '../state/report.ts';
import type { Writer } from '../session/writer.ts';
import type { State } from '../state/state.ts';

/**
 * The API keys of the service: create, list, update, revoke, and find by prefix. It stores hashes only; the caller
 * formats and verifies keys.
 *
 * A caller can create, change or revoke a key only if its restrictions cover the key, before and after; lists show the
 * covered keys. Every write is an exclusive commit, checked against the keys at the time it is logged.
 */
export class Keys {
  readonly #state: State;
  readonly #writer: Writer;

  constructor(state: State, writer: Writer) {
    this.#state = state;
    this.#writer = writer;
  }

  /** True if an admin key exists, even an expired one: the bootstrap is closed. */
  get hasAdmin(): boolean {
    return this.#state.keys.hasAdmin;
  }

  /** The key with this id; null: revoked or never created. */
  find(id: string): KeyRecord | null {
    return this.#state.keys.get(id) ?? null;
  }

  /** The keys with this prefix, expired ones included. */
  withPrefix(prefix: string): readonly KeyRecord[] {
    return this.#state.keys.withPrefix(prefix);
  }

  hasExpired({ expiresAt }: KeyRecord): boolean {
    return expiresAt !== null && this.#now() >= expiresAt;
  }

  /** Records that the key was used now. Not logged: a crash loses uses after the last snapshot. */
  noteUse(id: string): void {
    this.#state.keys.noteUse(id, this.#now());
  }

  /** The keys that the caller covers, oldest first. */
  list(caller: Caller): KeyList {
    this.#writer.live.refuseClosed();
    const covered = [...this.#state.keys.all()].filter((key) => coversKey(caller, key));
    return { keys: covered.map((key) => this.#viewOf(outcomeKey(key))) };
  }

  /**
   * Creates a key that expires `lifeMs` milliseconds after its creation; null: never. `isFirst`: throws Conflict if an
   * admin key exists. Also throws Conflict if an earlier request with the same idempotency key created a key, because
   * that key cannot be shown again.
   */
  async create(
    caller: Caller,
    key: Omit<KeyToStore, 'id' | 'expiresAt'>,
    lifeMs: number | null,
    isFirst = false,
  ): Promise<OutcomeKey> {
    requireCoversKey(caller, key);
    const id = crypto.randomUUID();
    const report = await this.#write(caller, (time) => {
      if (isFirst && this.hasAdmin)
        throw new EngineError('Conflict', 'the bootstrap is closed: an admin key exists');
      const expiresAt = lifeMs === null ? null : time + Math.max(1, Math.round(lifeMs));
      return { kind: 'createKey', key: { id, ...key, expiresAt } };
    });
    const made = onlyKey(report);
    if (report.isRepeated)
      throw new EngineError(
        'Conflict',
        `the first request with this Idempotency-Key created the key ${made.id}, which was shown only then: revoke it and create another`,
      );
    return made;
  }

  /** Throws NotFound if there is no such key. */
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

  /** Throws NotFound if there is no such key. */
  async revoke(caller: Caller, id: string): Promise<RevokedKey> {
    await this.#write(caller, () => {
      this.#covered(caller, id);
      return { kind: 'revokeKey', id };
    });
    return { id, status: 'revoked' };
  }

  /** Revokes all admin keys and returns them. Checks no permission: for whoever has access to the folder. */
  async resetAdmin(caller: Caller): Promise<readonly OutcomeKey[]> {
    const report = await this.#write(caller, () => ({ kind: 'revokeAdminKeys' }));
    return outcomeAs(report.outcome, 'keys').keys;
  }

  #write(caller: Caller, decide: (time: number) => Operation): Promise<Report> {
    const operation = async (time: number) => ({ operation: decide(time) });
    return this.#writer.write({ caller, database: 'default', operation });
  }

  /** The key, if the caller covers it; otherwise throws NotFound or Forbidden. */
  #covered(caller: Caller, id: string): KeyRecord {
    const key = this.find(id);
    if (key === null) throw new EngineError('NotFound', 'no key has this id: GET /auth/keys lists the keys');
    requireCoversKey(caller, key);
    return key;
  }

  #viewOf(key: OutcomeKey): KeyView {
    return { ...key, lastUsedAt: this.#state.keys.lastUsedAt(key.id) };
  }

  /** Setting the clock back by up to a minute does not revive an expired key. */
  #now(): number {
    return this.#writer.live.showTime();
  }
}

type Restrictions = Pick<KeyToStore, 'databases' | 'tenants'>;

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
      'the key must not reach further than the credential: its databases and tenants must be among those of the credential',
    );
}

function onlyKey({ outcome }: Report): OutcomeKey {
  const [key] = outcomeAs(outcome, 'keys').keys;
  if (key === undefined) throw new Error('assertion failed: the write was about one key');
  return key;
}
