/**
 * A snapshot that takes the place of everything in a folder and stands alone: without a segment that continues it.
 *
 * For what is not written by the log itself: a folder that was restored, repaired, or given another key. The one moment
 * at which all changes is the snapshot's name: what a power cut leaves is the folder as it was, or as it is to be. What was
 * there before is covered by it, whichever key it was written with, and goes after it is durable. The folder must be locked.
 */
import type { StorageBackend } from './backend.ts';
import { type FolderKey, sealingOf } from './cipher.ts';
import { hexadecimal, SALT_BYTES } from './codec.ts';
import type { LogPosition } from './log.ts';
import { removeLeftOver, segmentId, segmentNames } from './recovery.ts';
import { snapshotName } from './snapshot-reader.ts';
import { type SnapshotPart, writeSnapshot } from './snapshot-writer.ts';

export interface AloneOptions {
  /** Of the folder from now on; null: its files are not encrypted. */
  readonly key: FolderKey | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
}

/**
 * Writes it, and answers its bytes. `sequence` is not below that of any snapshot in the folder. Rejects with the system's
 * error, or with what the parts throw: then the folder is as it was, but where the name was given and is not durable yet.
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
    onWarn(`What the snapshot covers could not be removed; the next start tries again: ${String(error)}`);
  }
  return bytes;
}

/** The id of a history that nobody has. */
export function freshHistory(random: (bytes: number) => Uint8Array): string {
  return hexadecimal(random(16));
}
