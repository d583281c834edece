import { noPause } from '../folder/folder-tasks.ts';
import { readState } from '../state/state-snapshot.ts';
import { memoryBackend } from '../log/backend.ts';
import { readSection, verifySnapshot } from '../log/snapshot-reader.ts';
import { loggedTold } from './told-state.ts';

/** Everything logged in an unencrypted backup, including keys and idempotency outcomes, as JSON. */
export async function toldInBackup(backup: Uint8Array): Promise<unknown> {
  const name = 'a.backup';
  const backend = memoryBackend(new Map([[name, backup]]));
  const snapshot = await verifySnapshot(backend, name, null);
  const { state } = await readState(
    { readSnapshot: (section) => readSection(backend, snapshot, section) },
    noPause,
  );
  return JSON.parse(loggedTold(state));
}
