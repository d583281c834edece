import type { OutcomeKey, KeyToStore } from './operation.ts';

/** An API key as stored: its hash, never its secret. */
export interface KeyRecord extends KeyToStore {
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Uses within this many milliseconds count as one. */
const useIntervalMs = 60_000;

/**
 * The service's keys. They are logged state and contain only hashes, so they grant no access.
 *
 * A revoked key is removed and its id never reused. The time of last use is observed, not logged: it is recorded to the
 * minute, and no operation reads it.
 */
export class KeyStore {
  /** By id, in order of creation. */
  readonly #keys = new Map<string, KeyRecord>();
  readonly #byPrefix = new Map<string, Set<string>>();
  readonly #lastUsed = new Map<string, number>();
  #admins = 0;
  /** Incremented with every recorded use. */
  usesVersion = 0;

  get size(): number {
    return this.#keys.size;
  }

  /** True if a key with the role admin exists, whatever its restrictions, even an expired one. */
  get hasAdmin(): boolean {
    return this.#admins > 0;
  }

  /** In order of creation. */
  all(): IterableIterator<KeyRecord> {
    return this.#keys.values();
  }

  get(id: string): KeyRecord | undefined {
    return this.#keys.get(id);
  }

  /** The keys with this prefix. */
  withPrefix(prefix: string): KeyRecord[] {
    return Array.from(this.#byPrefix.get(prefix) ?? []).flatMap((id) => this.#keys.get(id) ?? []);
  }

  /** Adds a key, or replaces the one with its id. */
  put(key: KeyRecord): void {
    const before = this.#keys.get(key.id);
    if (before === undefined && key.role === 'admin') this.#admins++;
    this.#keys.set(key.id, key);
    const alike = this.#byPrefix.get(key.prefix);
    if (alike === undefined) this.#byPrefix.set(key.prefix, new Set([key.id]));
    else alike.add(key.id);
  }

  delete({ id, prefix, role }: KeyRecord): void {
    if (!this.#keys.delete(id)) return;
    if (role === 'admin') this.#admins--;
    const alike = this.#byPrefix.get(prefix);
    alike?.delete(id);
    if (alike?.size === 0) this.#byPrefix.delete(prefix);
    this.#lastUsed.delete(id);
  }

  /** Epoch milliseconds; null: never used. */
  lastUsedAt(id: string): number | null {
    return this.#lastUsed.get(id) ?? null;
  }

  noteUse(id: string, time: number): void {
    const last = this.#lastUsed.get(id);
    if (!this.#keys.has(id) || (last !== undefined && time < last + useIntervalMs)) return;
    this.#lastUsed.set(id, time);
    this.usesVersion++;
  }

  /** All recorded uses, for a snapshot; their order is irrelevant. */
  uses(): [string, number][] {
    return [...this.#lastUsed];
  }
}

/** The parts of a key that answers may contain. */
export function outcomeKey(key: KeyRecord): OutcomeKey {
  const { id, prefix, role, databases, tenants, description, createdAt, expiresAt } = key;
  return {
    id,
    prefix,
    role,
    databases: [...databases],
    tenants: [...tenants],
    description,
    createdAt,
    expiresAt,
  };
}
