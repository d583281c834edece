import { contentsOf, type Contents, type FolderTask, noPause, talliesOf } from './locked-folder.ts';
import { stateOf } from '../state/state-snapshot.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { pinState } from '../state/state-snapshot.ts';
import { putAlone } from '../log/standalone-snapshot.ts';
import { asideName, journalNames, readJournal, writeJournal } from '../log/journal.ts';
import { openLog } from '../log/log.ts';
import { StartupError } from '../log/startup-error.ts';

/** Keys of a folder, before and after: 64 hexadecimal digits each; null: it is not encrypted. */
export interface FolderKeyChange {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Writes everything in the folder anew, under another key or under none.
 *
 * What a power cut leaves is the folder under the one key or under the other: all turns with the name of one snapshot.
 * What it covers goes afterwards. Refuses with a StartupError, as a start with the key `from` does.
 */
export async function convertFolder(task: FolderTask, { from, to }: FolderKeyChange): Promise<Contents> {
  const { backend, clock, random, onWarn } = task;
  const now = (): number => clock.now();
  const { log } = await openLog(backend, { fsync: 'always', key: folderKeyOf(from), now, random, onWarn });
  if (log.lastSequence === 0)
    throw new StartupError(
      'The storage folder holds nothing yet. Start the service with the key that it is to have.',
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
 * The same for what lies beside the log. Where the power goes meanwhile, the next start reads what is not encrypted, and
 * sets aside what it cannot read.
 */
async function convertJournals(
  { backend, random, onWarn }: FolderTask,
  change: FolderKeyChange,
): Promise<void> {
  const names = await backend.list();
  for (const name of journalNames) {
    // One that was set aside is of no use, and may be readable by anybody.
    if (names.includes(asideName(name))) await backend.remove(asideName(name));
    if (!names.includes(name)) continue;
    const { records } = await readJournal({ backend, name, key: folderKeyOf(change.from), random, onWarn });
    await writeJournal({ backend, name, key: folderKeyOf(change.to), random }, records);
  }
  await backend.syncDirectory();
}
