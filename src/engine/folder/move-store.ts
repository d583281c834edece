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
import { digestOfDigests, digestOfParts } from '../log/digest.ts';
import type { Log } from '../log/log.ts';
import { openLog, openLogOver } from '../log/open-log.ts';
import type { PostgresNode } from '../log/open-postgres.ts';
import { isUnfinished, UNDIVIDED } from '../log/log-names.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { StartupError } from '../log/startup-error.ts';
import { dividedState, joinedState, type StateOfLog } from './divide-state.ts';
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
export interface StorePlace {
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
 * Puts what a locked folder holds into an empty store: a log for each database, which begins with a snapshot and a new history.
 * The folder stays as it is. Rejects with a StartupError if the folder is empty, damaged or of another key, or the store is
 * not empty.
 */
export async function importFolder(task: FolderTask, place: StorePlace): Promise<Moved> {
  const key = folderKeyOf(place.encryptionKey);
  const log = await openFolder(task, key);
  try {
    const restored = await stateOf(log, noPause);
    const { sequence } = restored.state;
    if (sequence === 0)
      throw new StartupError('The folder is empty: there is nothing to move. Nothing was changed.', {});
    const contents = contentsOf(restored.state);
    const node = await joinStore(task, place, key);
    try {
      if ((await node.logs.look()).some((each) => !isUnfinished(each)))
        throw new StartupError(
          'STORE_URL: The store there is not empty. Nothing was changed. Name an empty database: a start with STORE_URL is ' +
            'enough to fill one.',
          {},
        );
      const digest = await fillStore(node, restored, null);
      return { contents, position: sequence, digest };
    } finally {
      await node.close();
    }
  } finally {
    await log.close();
  }
}

/**
 * Fills an empty store with the state, and names the logs once all are there; they replace the log with this id. What was
 * written is read back and compared before. Resolves with a digest of what was written. Rejects with a StatementFailed.
 */
export async function fillStore(
  node: PostgresNode,
  restored: RestoredState,
  replaced: number | null,
): Promise<string> {
  const digests: string[] = [];
  for (const part of dividedState(restored)) digests.push(await fillLog(node, part));
  await node.logs.publish(node.id, replaced);
  return digestOfDigests(digests);
}

/** Fills a new log, which has no name yet; see `fillStore`. */
export async function fillLog(node: PostgresNode, { name, isEnded, ...part }: StateOfLog): Promise<string> {
  const store = await node.open(await node.logs.begin(name, node.id, isEnded), false);
  try {
    const digest = await digestOf(part);
    const { sequence, time } = part.state;
    await store.beginWith({ sequence, time, checksum: null }, partsOf(part), async (readSnapshot) =>
      requireSame(digest, await readState({ readSnapshot }, noPause)),
    );
    return digest;
  } finally {
    store.leave();
  }
}

/** Replaces the one log of a store of an earlier format by one for each database. Waits while another node has it. */
export async function divideStore(
  node: PostgresNode,
  id: number,
  onWarn: (message: string) => void,
): Promise<void> {
  onWarn('The store has one log for all databases: from now on each has its own.');
  const store = await node.open(id, false);
  const log = openLogOver(store);
  if (store.shared.role === 'copy') {
    await log.close();
    throw new StartupError(
      'STORE_URL: A node of an earlier version has the log of the store, or another one is dividing it. Nothing was changed. ' +
        'End all nodes of the earlier version, and start again.',
      {},
    );
  }
  await fillStore(node, await stateOf(log, noPause), id);
  await log.close();
}

/**
 * Puts what a store holds into an empty locked folder, as a snapshot with which a new history begins. The store stays as it
 * is. Takes all logs, so that nobody writes meanwhile: rejects with a StartupError while a node has one, or if the folder is
 * not empty.
 */
export async function exportStore(task: FolderTask, place: StorePlace): Promise<Moved> {
  const { backend, clock, random, onWarn } = task;
  await requireEmpty(backend);
  const key = folderKeyOf(place.encryptionKey);
  const node = await joinStore(task, place, key);
  try {
    const restored = joinedState(await readStore(node));
    const { sequence, time } = restored.state;
    const digest = await digestOf(restored);
    const contents = contentsOf(restored.state);
    const covered = { sequence, time, checksum: null, epoch: 1, historyId: freshHistory(random) };
    const options = { key, now: () => clock.now(), random, onWarn };
    await putAlone(backend, { ...covered, parent: null }, partsOf(restored), options);
    const written = await openFolder(task, key);
    try {
      await requireSame(digest, await stateOf(written, noPause));
    } finally {
      await written.close();
    }
    return { contents, position: sequence, digest };
  } finally {
    await node.close();
  }
}

/** The states of all logs, which this process takes and gives up again when it has read them all. */
async function readStore(node: PostgresNode): Promise<StateOfLog[]> {
  const opened: Log[] = [];
  try {
    const parts: StateOfLog[] = [];
    for (const { id, name, isEnded } of (await node.logs.look()).filter((each) => !isUnfinished(each))) {
      if (name === UNDIVIDED)
        throw new StartupError(
          'STORE_URL: The store is of an earlier format. Start this version with it once.',
          {},
        );
      const store = await node.open(id, false);
      const log = openLogOver(store);
      opened.push(log);
      if (store.shared.role !== 'owner' && !isEnded)
        throw new StartupError(
          'STORE_URL: A node that runs has a log of the store. Nothing was changed. End all nodes first.',
          {},
        );
      const part = await stateOf(log, noPause);
      parts.push({ name, isEnded, ...part });
    }
    if (!parts.some(({ state }) => state.sequence > 0))
      throw new StartupError('STORE_URL: The store there is empty: there is nothing to move.', {});
    return parts;
  } finally {
    await Promise.all(opened.map((log) => log.close()));
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
export async function joinStore(
  { clock, random, onWarn }: Omit<FolderTask, 'backend'>,
  { storeUrl: url }: StorePlace,
  key: FolderKey | null,
): Promise<PostgresNode> {
  const { PostgresNode: Node } = await import('../log/open-postgres.ts');
  const now = (): number => clock.now();
  return Node.join({ url, address: '', readsVersion: operationVersion, key, now, random, onWarn });
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
