/** The last window of a session, as the baseline for later ones. */
export interface WindowSnapshot<Parameters> {
  readonly windowId: string;
  readonly parameters: Parameters;
  /** Rendered, each once, in window order. */
  readonly atoms: readonly string[];
  /** Of the entries, in the same order. */
  readonly scopes: readonly (string | null)[];
}

export interface SessionOwner {
  readonly database: string;
  readonly tenant: string;
}

interface CachedSession<Parameters> {
  readonly snapshot: WindowSnapshot<Parameters>;
  readonly owner: SessionOwner;
  readonly bytes: number;
}

const defaultMaxSessions = 100_000;
const defaultMaxBytes = 64 * 2 ** 20;
/** Approximate overhead in bytes of a session and of an entry. */
const bytesOfSession = 512;
const bytesOfEntry = 48;

/**
 * LRU cache of the last window of every session.
 *
 * In memory only. It keeps the atoms and parameters of a window, for at most `maxSessions` sessions in at most
 * `maxBytes`, except that the latest always stays. A session belongs to a database and a tenant and is dropped with
 * either.
 */
export class WindowSessions<Parameters> {
  /** Least recently used first. */
  readonly #sessions = new Map<string, CachedSession<Parameters>>();
  readonly #maxSessions: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxSessions = defaultMaxSessions, maxBytes = defaultMaxBytes) {
    this.#maxSessions = maxSessions;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The last window of the session; null: none. */
  find(owner: SessionOwner, session: string): WindowSnapshot<Parameters> | null {
    const key = keyOf(owner, session);
    const cached = this.#sessions.get(key);
    if (cached === undefined) return null;
    this.#sessions.delete(key);
    this.#sessions.set(key, cached);
    return cached.snapshot;
  }

  keep({ database, tenant }: SessionOwner, session: string, snapshot: WindowSnapshot<Parameters>): void {
    const owner = { database, tenant };
    this.drop(owner, session);
    const bytes = bytesOf(session, snapshot);
    this.#sessions.set(keyOf(owner, session), { snapshot, owner, bytes });
    this.#bytes += bytes;
    for (const [key, { bytes: freed }] of this.#sessions) {
      if (this.#sessions.size === 1) return;
      if (this.#sessions.size <= this.#maxSessions && this.#bytes <= this.#maxBytes) return;
      this.#sessions.delete(key);
      this.#bytes -= freed;
    }
  }

  drop(owner: SessionOwner, session: string): void {
    const key = keyOf(owner, session);
    this.#bytes -= this.#sessions.get(key)?.bytes ?? 0;
    this.#sessions.delete(key);
  }

  /** Drops the sessions of deleted tenants. */
  forget(database: string, isGone: (tenant: string) => boolean): void {
    for (const [key, { owner, bytes }] of this.#sessions) {
      if (owner.database !== database || !isGone(owner.tenant)) continue;
      this.#sessions.delete(key);
      this.#bytes -= bytes;
    }
  }
}

function keyOf({ database, tenant }: SessionOwner, session: string): string {
  return JSON.stringify([database, tenant, session]);
}

function bytesOf(session: string, { parameters, atoms, scopes }: WindowSnapshot<unknown>): number {
  let characters = session.length + JSON.stringify(parameters).length;
  for (const atom of atoms) characters += atom.length;
  for (const scope of scopes) characters += scope?.length ?? 0;
  return bytesOfSession + 2 * characters + bytesOfEntry * atoms.length;
}
