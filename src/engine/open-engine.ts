import { systemClock } from './base/clock.ts';
import { memoryBackend, type StorageBackend } from './log/backend.ts';
import { openFileBackend } from './log/file-backend.ts';
import { readFollowing } from './log/following.ts';
import type { FolderLock } from './log/lock-file.ts';
import { lockFolder } from './log/lock.ts';
import {
  type EngineOptions,
  type OpenedEngine,
  openPart,
  commonParts,
  type StoredOptions,
} from './open-part.ts';
import type { Engine } from './operations/engine.ts';

/**
 * Opens the engine: locks the folder, loads the snapshot and replays the log after it. Rejects with a StartupError if
 * the folder is in use, damaged, of a newer version, or encrypted with another key; the folder is unchanged then.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { storageDir } = options;
  if (storageDir === null) return openOn(memoryBackend(), null, options);
  const backend = await openFileBackend(storageDir);
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const lock = await lockFolder(storageDir, { now: () => clock.now(), onWarn });
  try {
    if (options.address !== undefined) await lock.announce(options.address);
    return await openOn(backend, lock, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Loaded on demand: most services keep their log in a folder. */
async function openOn(
  backend: StorageBackend,
  lock: FolderLock | null,
  options: Omit<EngineOptions, 'storageDir'>,
): Promise<Engine> {
  const { storeUrl = null } = options;
  if (storeUrl === null) return (await openEngineOn(backend, lock, options)).engine;
  const { openShelf } = await import('./open-shelf.ts');
  return openShelf({ backend, lock }, storeUrl, options);
}

/** True if the folder is a follower's. Opening it to lead turns it into a leader's. Rejects with a StartupError. */
export async function isFollowersFolder(storageDir: string): Promise<boolean> {
  return (await readFollowing(await openFileBackend(storageDir))) !== null;
}

/** Opens the engine over these files; the caller has locked them if needed. Rejects like `openEngine`. */
export async function openEngineOn(
  backend: StorageBackend,
  lock: FolderLock | null,
  options: Omit<EngineOptions, 'storageDir' | 'storeUrl'> & Pick<StoredOptions, 'frames'>,
): Promise<OpenedEngine> {
  return openPart(backend, lock, options, commonParts(backend, options));
}
