import { LruCache } from '../base/lru-cache.ts';
import type { LastRun } from '../contract/stored-tests.ts';
import type { DatabaseState } from '../state/state.ts';

/** Entries that are kept, of all databases together. */
const maxRuns = 20_000;
/** Of an entry beside its names, about. */
const bytesOfRun = 200;

/** The outcome of the last run of each stored test, by tenant. Kept in memory, since the start; the oldest are dropped. */
export class LastTestRuns {
  readonly #runs = new LruCache<DatabaseState, NonNullable<LastRun>>(maxRuns, maxRuns * bytesOfRun * 2);

  note(database: DatabaseState, tenant: string, name: string, run: NonNullable<LastRun>): void {
    const key = keyOf(tenant, name);
    this.#runs.set(database, key, run, bytesOfRun + key.length * 2);
  }

  /** That of the test since it was last changed; undefined: none is known. */
  of(
    database: DatabaseState,
    tenant: string,
    { name, changedIn }: { readonly name: string; readonly changedIn: number },
  ): LastRun {
    const run = this.#runs.get(database, keyOf(tenant, name));
    return run !== undefined && run.generation >= changedIn ? run : undefined;
  }
}

function keyOf(tenant: string, name: string): string {
  return `${tenant}\n${name}`;
}
