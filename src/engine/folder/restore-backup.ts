import { contentsOf, type Contents, type FolderTask, noPause } from './locked-folder.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { readState } from '../state/state-snapshot.ts';
import { freshHistory, putAlone } from '../log/standalone-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import { readSection, verifySnapshot } from '../log/snapshot-reader.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { StartupError } from '../log/startup-error.ts';

/** A verified backup. */
export interface VerifiedBackup {
  /** Sequence of the last record that it covers. */
  readonly position: number;
  readonly contents: Contents;
  /**
   * Restores the backup into an empty folder, encrypted like the backup; a power cut leaves either an empty folder or
   * all of it. The restored folder begins a new history that names the backup's as its parent, so followers of that one
   * do not take it for the same. Refuses with a StartupError if the folder is not empty.
   */
  install(task: FolderTask): Promise<void>;
}

/**
 * Verifies a whole backup and reads its contents. Refuses with a StartupError if it is damaged or encrypted with
 * another key.
 */
export async function openBackup(
  from: StorageBackend,
  name: string,
  encryptionKey: string | null,
): Promise<VerifiedBackup> {
  const key = folderKeyOf(encryptionKey);
  const backup = await verifySnapshot(from, name, key);
  const { sequence, time, checksum, epoch, historyId } = backup.header;
  const readSnapshot = (section: SnapshotPart['section']) => readSection(from, backup, section);
  const { state } = await readState({ readSnapshot }, noPause);
  return {
    position: sequence,
    contents: contentsOf(state),
    install: async (task) => {
      const { backend, clock, random, onWarn } = task;
      await requireEmpty(backend);
      const covered = {
        sequence,
        time,
        checksum,
        epoch,
        historyId: freshHistory(random),
        parent: { historyId, sequence },
      };
      const parts = partsOf(readSnapshot);
      await putAlone(backend, covered, parts, { key, now: () => clock.now(), random, onWarn });
    },
  };
}

/** Refuses a folder with files other than those of a lock or an interrupted restore. */
async function requireEmpty(backend: StorageBackend): Promise<void> {
  const names = await backend.list();
  const found = names.find((name) => !/^lock\b|\.snapshot\.tmp$/.test(name));
  if (found === undefined) return;
  throw new StartupError(
    `The storage folder is not empty: it contains ${backend.location(found)}. Nothing was changed. Restore ` +
      'into an empty STORAGE_DIR.',
  );
}

async function* partsOf(
  read: (section: SnapshotPart['section']) => AsyncGenerator<Uint8Array>,
): AsyncGenerator<SnapshotPart> {
  for (const section of ['state', 'observed'] as const)
    for await (const bytes of read(section)) yield { section, bytes };
}
