/**
 * The mark of a folder whose log is that of another.
 *
 * It is there, durably, before the first record of a leader is, and goes only after a history of its own has begun: so
 * whoever opens the folder to write knows that the records that follow are no longer the leader's. It is empty, until that
 * history is about to begin: then it names it, durably. So where the power goes before the mark is gone, the next
 * start knows whether the history in the log is that one, or still the leader's. What is torn of the name, or was never
 * begun, is the name of no log.
 */
import { type StorageBackend, systemErrorCode } from './backend.ts';
import { withFile } from './recovery.ts';
import { StartupError } from './startup-error.ts';

const name = 'following';

/** What the mark says. */
export interface Following {
  /** The history that was about to begin in the place of the leader's; '': none was. */
  readonly begun: string;
}

/** null: the folder is nobody's but its own. Rejects with a StartupError. */
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

/** Sets the mark, where there is none, durably. Rejects with a StartupError. */
export function markFollowing(backend: StorageBackend): Promise<void> {
  return orRefused(backend, async () => {
    if ((await backend.list()).includes(name)) return;
    await (await backend.create(name)).close();
    await backend.syncDirectory();
  });
}

/** Has the mark, which is there, name the history that is about to begin, durably. Rejects with a StartupError. */
export function markBegun(backend: StorageBackend, historyId: string): Promise<void> {
  return orRefused(backend, () =>
    withFile(backend, name, 'write', async (file) => {
      await file.write(new TextEncoder().encode(historyId), 0);
      await file.sync();
    }),
  );
}

/** Takes the mark away, durably. Rejects with a StartupError. */
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
        'the disk, or check the disk and the rights of the folder, and start again.',
      { file: name },
      { cause: error },
    );
  }
}
