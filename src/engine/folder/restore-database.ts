/**
 * A database of a store as it was at a generation, as a new database: what the store retains of its log is replayed.
 *
 * The log is only read, so nodes go on meanwhile. The new one begins a history; ids and generations are those of then.
 */
import { folderKeyOf } from '../log/cipher.ts';
import { isUnfinished } from '../log/log-names.ts';
import type { PostgresStore } from '../log/postgres-store.ts';
import { StartupError } from '../log/startup-error.ts';
import { apply } from '../state/apply.ts';
import { State } from '../state/state.ts';
import { readState, type RestoredState } from '../state/state-snapshot.ts';
import { type Contents, contentsOf, folderTask, noPause } from './folder-tasks.ts';
import { memoryBackend } from '../log/backend.ts';
import { fillLog, joinStore, type StorePlace } from './move-store.ts';

/** Which database, as of which generation, and the name of the new one. */
interface RestoredDatabase {
  readonly name: string;
  readonly generation: number;
  readonly as: string;
}

/** Makes the new database; resolves with what is in it. Rejects with a StartupError, and changes nothing then. */
export async function restoreDatabase(
  place: StorePlace,
  { name, generation, as }: RestoredDatabase,
  onWarn: (message: string) => void,
): Promise<Contents> {
  const node = await joinStore(folderTask(memoryBackend(), onWarn), place, folderKeyOf(place.encryptionKey));
  try {
    const logs = (await node.logs.look()).filter((log) => !isUnfinished(log));
    const log = logs.find((each) => each.name === name && !each.isEnded);
    if (log === undefined) throw refusal(`there is no database ${name}.`);
    if (logs.some((each) => each.name === as))
      throw refusal(`there is a database ${as}, or there was one. Choose another name.`);
    const store = await node.open(log.id, false);
    try {
      const { state, tallies } = await stateAt(store, name, generation);
      const database = state.databases.get(name);
      if (database === undefined)
        throw refusal(`the database ${name} did not exist at generation ${generation}.`);
      const restored = new State();
      const renamed = database.renamed(as);
      restored.databases.set(as, renamed);
      restored.sequence = 1;
      restored.time = state.time;
      restored.wall = state.wall;
      const fired = new Map([[renamed, tallies.get(database) ?? new Map()]]);
      await fillLog(node, { name: as, isEnded: false, state: restored, tallies: fired });
      await node.logs.publish(node.id, null);
      return contentsOf(restored);
    } finally {
      await store.close();
    }
  } finally {
    await node.close();
  }
}

/** The state after the last record of the generation. */
async function stateAt(store: PostgresStore, name: string, generation: number): Promise<RestoredState> {
  const last = (state: State): number =>
    state.databases.get(name)?.lastGeneration ?? state.goneDatabases.get(name) ?? 0;
  // Applied to the end of the generation, it has one record too many: that many are applied to another copy.
  let through = Number.POSITIVE_INFINITY;
  for (;;) {
    const restored = await beginningOf(store, (state) => last(state) <= generation);
    const { state } = restored;
    let isPast = false;
    for await (const record of store.read(state.sequence)) {
      if (record.sequence > through) return restored;
      apply(state, record);
      if (last(state) <= generation) continue;
      through = record.sequence - 1;
      isPast = true;
      break;
    }
    if (isPast) continue;
    if (last(state) < generation)
      throw refusal(
        `the database ${name} is at generation ${last(state)}, and has none of ${generation} yet.`,
      );
    return restored;
  }
}

/** The newest snapshot that is early enough, or nothing where the log has its first record. */
async function beginningOf(store: PostgresStore, isEarly: (state: State) => boolean): Promise<RestoredState> {
  for (const snapshot of store.storedSnapshots()) {
    const restored = await readState(snapshot, noPause);
    if (isEarly(restored.state)) return restored;
  }
  if (store.firstSequence === 1) return { state: new State(), tallies: new Map() };
  throw refusal(
    'the store does not retain that generation any more: it has what was written since the second newest snapshot.',
  );
}

function refusal(why: string): StartupError {
  return new StartupError(`STORE_URL: ${why} Nothing was changed.`, {});
}
