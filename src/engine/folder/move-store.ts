/**
 * Moves everything from a folder into a store in PostgreSQL, and back: all databases with ids, generations, times, keys and
 * outcomes.
 *
 * What was written is read back and compared with what was meant before it counts, so a move is whole or it is not there.
 * Journals stay: calls of agents, MCP sessions and the history of metrics.
 */
import { operationVersion } from '../state/operation.ts';
import { pinState, readState, type RestoredState, stateOf } from '../state/state-snapshot.ts';
import { type FolderKey, folderKeyOf } from '../log/cipher.ts';
import { digestOfParts } from '../log/digest.ts';
import type { Log } from '../log/log.ts';
import { openLog, openLogOver } from '../log/open-log.ts';
import type { PostgresStore } from '../log/postgres-store.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { StartupError } from '../log/startup-error.ts';
import {
  type Contents,
  contentsOf,
  type FolderTask,
  freshHistory,
  noPause,
  putAlone,
  requireEmpty,
  talliesOf,
} from './folder-tasks.ts';

/** A store, and the key of what is stored in it and in the folder. */
interface StorePlace {
  readonly storeUrl: string;
  readonly encryptionKey: string | null;
}

/** What was moved. */
export interface Moved {
  readonly contents: Contents;
  /** Sequence of the last record that it covers. */
  readonly position: number;
  /** SHA-256 of the state, which both sides have in common. */
  readonly digest: string;
}

/**
 * Puts what a locked folder holds into an empty store, as a snapshot with which a new history begins. The folder stays as it
 * is. Rejects with a StartupError if the folder is empty, damaged or of another key, or the store is not empty.
 */
export async function importFolder(task: FolderTask, place: StorePlace): Promise<Moved> {
  const key = folderKeyOf(place.encryptionKey);
  const log = await openFolder(task, key);
  try {
    const restored = await stateOf(log, noPause);
    const { sequence, time } = restored.state;
    if (sequence === 0)
      throw new StartupError('The folder is empty: there is nothing to move. Nothing was changed.', {});
    const digest = await digestOf(restored);
    const store = await openStore(task, place, key);
    try {
      if (store.shared.role !== 'owner' || store.lastSequence > 0)
        throw new StartupError(
          'STORE_URL: The store there is not empty. Nothing was changed. Name an empty database: a start with STORE_URL is ' +
            'enough to fill one.',
          {},
        );
      const checksum = await log.checksumAt(sequence);
      await store.beginWith({ sequence, time, checksum }, partsOf(restored), async (readSnapshot) =>
        requireSame(digest, await readState({ readSnapshot }, noPause)),
      );
    } finally {
      await store.close();
    }
    return { contents: contentsOf(restored.state), position: sequence, digest };
  } finally {
    await log.close();
  }
}

/**
 * Puts what a store holds into an empty locked folder, as a snapshot with which a new history begins. The store stays as it
 * is. Takes the log, so that nobody writes meanwhile: rejects with a StartupError while a node has it, or if the folder is
 * not empty.
 */
export async function exportStore(task: FolderTask, place: StorePlace): Promise<Moved> {
  const { backend, clock, random, onWarn } = task;
  await requireEmpty(backend);
  const key = folderKeyOf(place.encryptionKey);
  const store = await openStore(task, place, key);
  const log = openLogOver(store);
  try {
    if (store.shared.role !== 'owner')
      throw new StartupError(
        'STORE_URL: A node that runs has the log of the store. Nothing was changed. End all nodes first.',
        {},
      );
    const restored = await stateOf(log, noPause);
    const { sequence, time } = restored.state;
    if (sequence === 0)
      throw new StartupError('STORE_URL: The store there is empty: there is nothing to move.', {});
    const digest = await digestOf(restored);
    const { historyId, epoch } = log;
    const checksum = await log.checksumAt(sequence);
    const covered = { sequence, time, checksum, epoch, historyId: freshHistory(random) };
    const options = { key, now: () => clock.now(), random, onWarn };
    await putAlone(backend, { ...covered, parent: { historyId, sequence } }, partsOf(restored), options);
    const written = await openFolder(task, key);
    try {
      await requireSame(digest, await stateOf(written, noPause));
    } finally {
      await written.close();
    }
    return { contents: contentsOf(restored.state), position: sequence, digest };
  } finally {
    await log.close();
  }
}

/** See `storeSql`. The driver is loaded on demand. */
export async function storeStatements(): Promise<string> {
  return (await import('../log/postgres-log.ts')).storeSql();
}

async function openFolder(
  { backend, clock, random, onWarn }: FolderTask,
  key: FolderKey | null,
): Promise<Log> {
  const { log } = await openLog(backend, { fsync: 'always', key, now: () => clock.now(), random, onWarn });
  return log;
}

/** Loaded on demand: most services keep their log in a folder. */
async function openStore(
  { clock, random, onWarn }: FolderTask,
  { storeUrl: url }: StorePlace,
  key: FolderKey | null,
): Promise<PostgresStore> {
  const { openPostgres } = await import('../log/open-postgres.ts');
  const now = (): number => clock.now();
  return openPostgres({ url, address: '', readsVersion: operationVersion, key, now, random, onWarn });
}

async function* partsOf(restored: RestoredState): AsyncGenerator<SnapshotPart, void, undefined> {
  const pin = pinState(restored.state, talliesOf(restored));
  try {
    yield* pin.parts(noPause, () => true);
  } finally {
    pin.release();
  }
}

/** SHA-256 of the state as a snapshot has it. */
async function digestOf(restored: RestoredState): Promise<string> {
  return digestOfParts(partsOf(restored));
}

async function requireSame(digest: string, read: RestoredState): Promise<void> {
  if ((await digestOf(read)) === digest) return;
  throw new StartupError(
    'What was written is not what was read: a bug. The copy does not count; what was moved stays where it was.',
    {},
  );
}
