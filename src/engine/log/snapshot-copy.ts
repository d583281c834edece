/**
 * A snapshot's file as it lies in the folder, handed out in pieces: what a backup is.
 *
 * The file is held open, so that it can be read to its end though a later snapshot has taken its place meanwhile; nothing
 * of the state is. Each frame's checksums are verified once more before it is handed out.
 */
import { type StorageBackend, type StorageFile, systemErrorCode } from './backend.ts';
import { plainOpener } from './cipher.ts';
import { damaged } from './damage.ts';
import { SegmentReader } from './segment-reader.ts';
import type { StoredSnapshot } from './snapshot-reader.ts';

/** To be closed, however far it was read. */
export interface SnapshotCopy {
  /** Of the last record that it covers. */
  readonly sequence: number;
  readonly bytes: number;
  /** All of it, once, in pieces of less than 1 MiB. Throws a StartupError where the file is damaged. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>;
  close(): Promise<void>;
}

/** Opens the newest snapshot; `newest` says which that is, and is asked again where it was removed meanwhile. */
export async function openCopy(backend: StorageBackend, newest: () => StoredSnapshot): Promise<SnapshotCopy> {
  for (;;) {
    const snapshot = newest();
    try {
      return copyOf(backend, snapshot, await backend.open(snapshot.name, 'read'));
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT' || newest() === snapshot) throw error;
    }
  }
}

function copyOf(
  backend: StorageBackend,
  { name, header, start, bytes }: StoredSnapshot,
  file: StorageFile,
): SnapshotCopy {
  return {
    sequence: header.sequence,
    bytes,
    pieces: async function* () {
      // As it is in the file: it is opened by whoever restores it.
      const reader = new SegmentReader(file, bytes, plainOpener);
      yield (await reader.bytes(0, start)).slice();
      for (let offset = start; offset < bytes; ) {
        const reading = await reader.verifyFrame(header.salt, offset);
        if (reading.kind !== 'frame') throw damaged(backend, name, offset, reading.reason);
        yield (await reader.bytes(offset, reading.next - offset)).slice();
        offset = reading.next;
      }
    },
    close: () => file.close(),
  };
}
