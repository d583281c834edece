/**
 * Replaces the whole contents of a folder with one snapshot that needs no segment to continue it.
 *
 * It serves what the log itself does not write: a folder that was restored, repaired or given another key. The rename
 * of the snapshot is the atomic step: a power cut leaves the folder either as before or as intended. The snapshot
 * covers everything that was there, whatever its key, and that is removed once the snapshot is durable. The caller must
 * hold the folder's lock.
 */
import type { StorageBackend } from './backend.ts';
import { type FolderKey, sealingOf } from './cipher.ts';
import { hexadecimal, SALT_BYTES } from './codec.ts';
import type { LogPosition } from './log.ts';
import { removeLeftOver, segmentId, segmentNames } from './recovery.ts';
import { snapshotName } from './snapshot-reader.ts';
import { type SnapshotPart, writeSnapshot } from './snapshot-writer.ts';

export interface AloneOptions {
  /** The folder's key from now on; null: no encryption. */
  readonly key: FolderKey | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
}

/**
 * Writes the snapshot; returns its bytes. `sequence` must not be below that of any snapshot in the folder. Rejects with
 * the system's error or the error of the parts; the folder is unchanged then, unless the rename happened and is not
 * durable yet.
 */
export async function putAlone(
  backend: StorageBackend,
  covered: LogPosition,
  parts: AsyncIterable<SnapshotPart>,
  { key, now, random, onWarn }: AloneOptions,
): Promise<number> {
  const last = segmentNames(await backend.list()).at(-1);
  const salt = random(SALT_BYTES);
  const segment = (last === undefined ? 0 : segmentId(last)) + 1;
  const header = { ...covered, segment, isAlone: true, salt, createdAt: now() };
  const sealing = sealingOf(key, salt, random);
  const { bytes, start, opener, install, discard } = await writeSnapshot(
    backend,
    header,
    sealing,
    parts,
    onWarn,
  );
  try {
    await install();
  } catch (error) {
    await discard();
    throw error;
  }
  const name = snapshotName(covered.sequence);
  try {
    await removeLeftOver(backend, { name, header, bytes, start, opener });
  } catch (error) {
    onWarn(
      `Files that the snapshot covers could not be removed; the next start tries again: ${String(error)}`,
    );
  }
  return bytes;
}

/** A new, unique history id. */
export function freshHistory(random: (bytes: number) => Uint8Array): string {
  return hexadecimal(random(16));
}
