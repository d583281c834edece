import { contentsOf, type Contents, type FolderTask, noPause, talliesOf } from './locked-folder.ts';
import { stateOf, pinState } from '../state/state-snapshot.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { putAlone } from '../log/standalone-snapshot.ts';
import { asideName, journalNames, readJournal, writeJournal } from '../log/journal.ts';
import { openLog } from '../log/log.ts';
import { StartupError } from '../log/startup-error.ts';

/** The folder's key before and after: 64 hexadecimal digits each; null: not encrypted. */
export interface FolderKeyChange {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Re-encrypts everything in a folder under another key, or decrypts it.
 *
 * A power cut leaves the folder under one key or the other: the rename of one snapshot switches it atomically, and what
 * that covers is removed afterwards. Refuses with a StartupError, as a start with the key `from` does.
 */
export async function convertFolder(task: FolderTask, { from, to }: FolderKeyChange): Promise<Contents> {
  const { backend, clock, random, onWarn } = task;
  const now = (): number => clock.now();
  const { log } = await openLog(backend, { fsync: 'always', key: folderKeyOf(from), now, random, onWarn });
  if (log.lastSequence === 0)
    throw new StartupError(
      'The storage folder is still empty. Start the service with the key that you want to use.',
    );
  const restored = await stateOf(log, noPause);
  const pin = pinState(restored.state, talliesOf(restored));
  const { sequence, time } = pin;
  const { historyId, parent, epoch } = log;
  const checksum = await log.checksumAt(sequence);
  await log.close();
  const parts = pin.parts(noPause, () => true);
  await putAlone(backend, { sequence, time, checksum, historyId, parent, epoch }, parts, {
    key: folderKeyOf(to),
    now,
    random,
    onWarn,
  });
  await convertJournals(task, { from, to });
  return contentsOf(restored.state);
}

/**
 * Re-encrypts the journals. After a power cut meanwhile, the next start reads unencrypted ones and sets aside what it
 * cannot read.
 */
async function convertJournals(
  { backend, random, onWarn }: FolderTask,
  change: FolderKeyChange,
): Promise<void> {
  const names = await backend.list();
  for (const name of journalNames) {
    // A journal that was set aside is useless, and may be unencrypted.
    if (names.includes(asideName(name))) await backend.remove(asideName(name));
    if (!names.includes(name)) continue;
    const { records } = await readJournal({ backend, name, key: folderKeyOf(change.from), random, onWarn });
    await writeJournal({ backend, name, key: folderKeyOf(change.to), random }, records);
  }
  await backend.syncDirectory();
}
