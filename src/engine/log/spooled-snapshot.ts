/** A snapshot that belongs to no log: written to a temporary file beside the journals, and removed once it was read. */
import type { StorageBackend } from './backend.ts';
import { type FolderKey, sealingOf } from './cipher.ts';
import { SALT_BYTES } from './codec.ts';
import type { LogPosition } from './log.ts';
import type { SnapshotCopy } from './snapshot-reader.ts';
import { type SnapshotPart, writeSnapshot } from './snapshot-writer.ts';

/** What writing needs. */
interface SpoolOptions {
  readonly key: FolderKey | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
}

const name = 'backup.snapshot';
const pieceBytes = 512 * 1024;

/** Writes the parts as a file that a folder can be restored from; closing it removes it. One at a time. */
export async function spoolSnapshot(
  backend: StorageBackend,
  covered: LogPosition,
  parts: AsyncIterable<SnapshotPart>,
  { key, now, random, onWarn }: SpoolOptions,
): Promise<SnapshotCopy> {
  const salt = random(SALT_BYTES);
  const header = { ...covered, segment: 0, isAlone: true, salt, createdAt: now() };
  const { temporaryName, bytes, discard } = await writeSnapshot(
    backend,
    header,
    sealingOf(key, salt, random),
    parts,
    onWarn,
    name,
  );
  return {
    sequence: covered.sequence,
    bytes,
    pieces: async function* () {
      const file = await backend.open(temporaryName, 'read');
      try {
        for (let at = 0; at < bytes; ) {
          const piece = new Uint8Array(Math.min(pieceBytes, bytes - at));
          at += await file.read(piece, at);
          yield piece;
        }
      } finally {
        await file.close();
      }
    },
    close: discard,
  };
}
