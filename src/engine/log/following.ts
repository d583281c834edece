/**
 * The mark of a follower's folder, whose log is a copy of its leader's.
 *
 * It is durable before the leader's first record is stored, and removed only after a history of the folder's own has
 * begun. So whoever opens the folder to write knows that further records are no longer the leader's. The mark is empty
 * until that history is about to begin; then it durably contains the history's id. If the power fails before the mark
 * is removed, the next start can tell whether the log already has the new history or still the leader's. An id that is
 * torn, or was never begun, matches no log.
 */
import { type StorageBackend, systemErrorCode } from './backend.ts';
import { withFile } from './recovery.ts';
import { StartupError } from './startup-error.ts';

const name = 'following';

/** The contents of the mark. */
export interface Following {
  /** Id of the history that was about to replace the leader's; '': none. */
  readonly begun: string;
}

/** Reads the mark; null: the folder is not a follower's. Rejects with a StartupError. */
export function readFollowing(backend: StorageBackend): Promise<Following | null> {
  return orRefused(backend, async () => {
    if (!(await backend.list()).includes(name)) return null;
    return withFile(backend, name, 'read', async (file) => {
      const bytes = new Uint8Array(Math.min(await file.size(), historyIdLength));
      await file.read(bytes, 0);
      return { begun: new TextDecoder().decode(bytes) };
    });
  });
}

/** Sets the mark durably unless it is set. Rejects with a StartupError. */
export function markFollowing(backend: StorageBackend): Promise<void> {
  return orRefused(backend, async () => {
    if ((await backend.list()).includes(name)) return;
    await (await backend.create(name)).close();
    await backend.syncDirectory();
  });
}

/** Durably writes the id of the history about to begin into the existing mark. Rejects with a StartupError. */
export function markBegun(backend: StorageBackend, historyId: string): Promise<void> {
  return orRefused(backend, () =>
    withFile(backend, name, 'write', async (file) => {
      await file.write(new TextEncoder().encode(historyId), 0);
      await file.sync();
    }),
  );
}

/** Removes the mark durably. Rejects with a StartupError. */
export function unmarkFollowing(backend: StorageBackend): Promise<void> {
  return orRefused(backend, async () => {
    await backend.remove(name);
    await backend.syncDirectory();
  });
}

const historyIdLength = 32;

async function orRefused<Result>(backend: StorageBackend, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === '') throw error;
    throw new StartupError(
      `The mark of a follower's folder cannot be read or changed: ${code} at ${backend.location(name)}. Make room on ` +
        "the disk, or check the disk and the folder's permissions, and start again.",
      { file: name },
      { cause: error },
    );
  }
}
