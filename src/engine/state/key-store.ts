import type { OutcomeKey } from './outcome.ts';
import type { KeyToStore } from './operation.ts';

/**
 * The keys of the service: logged state, of which nothing lets anybody in, since it has hashes alone.
 *
 * A key that was revoked is gone; its id is never given again. When a key was last used is observed: it is noted here,
 * to the minute, and no operation reads it.
 */
export interface KeyRecord extends KeyToStore {
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Uses that follow one another within so many milliseconds count as one. */
const useIntervalMs = 60_000;

export class KeyStore {
  /** By id, the first made first. */
  readonly #keys = new Map<string, KeyRecord>();
  readonly #byPrefix = new Map<string, Set<string>>();
  readonly #lastUsed = new Map<string, number>();
  #admins = 0;
  /** Moves with every use that is noted. */
  usesVersion = 0;

  get size(): number {
    return this.#keys.size;
  }

  /** True where there is a key of the role admin, whatever its restrictions, and though it has expired. */
  get hasAdmin(): boolean {
    return this.#admins > 0;
  }

  /** The first made first. */
  all(): IterableIterator<KeyRecord> {
    return this.#keys.values();
  }

  get(id: string): KeyRecord | undefined {
    return this.#keys.get(id);
  }

  /** Those that begin so. */
  withPrefix(prefix: string): KeyRecord[] {
    return Array.from(this.#byPrefix.get(prefix) ?? []).flatMap((id) => this.#keys.get(id) ?? []);
  }

  /** Adds a key, or puts it in the place of the one with its id. */
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

  /** Epoch milliseconds; null: it was not used. */
  lastUsedAt(id: string): number | null {
    return this.#lastUsed.get(id) ?? null;
  }

  noteUse(id: string, time: number): void {
    const last = this.#lastUsed.get(id);
    if (!this.#keys.has(id) || (last !== undefined && time < last + useIntervalMs)) return;
    this.#lastUsed.set(id, time);
    this.usesVersion++;
  }

  /** All uses, for a snapshot, in no order that matters. */
  uses(): [string, number][] {
    return [...this.#lastUsed];
  }
}

/** What may be told of a key. */
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
