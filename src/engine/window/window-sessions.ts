/**
 * The last window of every session: what a later one is compared with.
 *
 * In memory, and gone with the process. Of a window only its atoms and its parameters are kept. There are at most
 * `mostSessions`, in at most `mostBytes`, but for the last one; the one used longest ago goes first. A session belongs
 * to a database and a tenant, and goes with either.
 */
export interface WindowSnapshot<Parameters> {
  readonly windowId: string;
  readonly parameters: Parameters;
  /** Rendered, each once, in the order of the window. */
  readonly atoms: readonly string[];
  /** Of the entries, in the same order. */
  readonly scopes: readonly (string | null)[];
}

export interface SessionOwner {
  readonly database: string;
  readonly tenant: string;
}

interface Kept<Parameters> {
  readonly snapshot: WindowSnapshot<Parameters>;
  readonly owner: SessionOwner;
  readonly bytes: number;
}

const defaultMostSessions = 100_000;
const defaultMostBytes = 64 * 2 ** 20;
/** About what a session costs beside its texts, and an entry. */
const bytesOfSession = 512;
const bytesOfEntry = 48;

export class WindowSessions<Parameters> {
  /** The one used longest ago first. */
  readonly #kept = new Map<string, Kept<Parameters>>();
  readonly #mostSessions: number;
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostSessions = defaultMostSessions, mostBytes = defaultMostBytes) {
    this.#mostSessions = mostSessions;
    this.#mostBytes = mostBytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** The last window of the session; null where there is none. */
  find(owner: SessionOwner, session: string): WindowSnapshot<Parameters> | null {
    const key = keyOf(owner, session);
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.snapshot;
  }

  keep({ database, tenant }: SessionOwner, session: string, snapshot: WindowSnapshot<Parameters>): void {
    const owner = { database, tenant };
    this.drop(owner, session);
    const bytes = bytesOf(session, snapshot);
    this.#kept.set(keyOf(owner, session), { snapshot, owner, bytes });
    this.#bytes += bytes;
    for (const [key, { bytes: freed }] of this.#kept) {
      if (this.#kept.size === 1) return;
      if (this.#kept.size <= this.#mostSessions && this.#bytes <= this.#mostBytes) return;
      this.#kept.delete(key);
      this.#bytes -= freed;
    }
  }

  drop(owner: SessionOwner, session: string): void {
    const key = keyOf(owner, session);
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }

  /** Forgets the sessions of tenants that have gone. */
  forget(database: string, isGone: (tenant: string) => boolean): void {
    for (const [key, { owner, bytes }] of this.#kept) {
      if (owner.database !== database || !isGone(owner.tenant)) continue;
      this.#kept.delete(key);
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
