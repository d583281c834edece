import { apply } from '../state/apply.ts';
import { contentsOf, type Contents, noPause } from './locked-folder.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { State } from '../state/state.ts';
import { readState } from '../state/state-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import { type Damage, examine } from '../log/examine.ts';
import { StartupError } from '../log/startup-error.ts';
import { readStoredLog } from '../log/stored-log.ts';

/** The result of a verification. A folder is sound if a start accepts it; otherwise `damages` gives the reasons. */
export interface Verified {
  readonly damages: readonly Damage[];
  /** null: the folder is not sound. */
  readonly contents: Contents | null;
  /** Sequence of the last record. */
  readonly position: number;
  readonly records: number;
  readonly segments: number;
  /** Bytes of the newest snapshot; null: none. */
  readonly snapshotBytes: number | null;
  /** The torn tail that the next start cuts off, in words; null: none. */
  readonly tail: string | null;
}

/**
 * Reads and verifies a whole folder and rebuilds its state as a start does, without changing anything. Refuses with a
 * StartupError if the key is not the folder's or a file is of a newer version.
 */
export async function verifyFolder(backend: StorageBackend, encryptionKey: string | null): Promise<Verified> {
  const key = folderKeyOf(encryptionKey);
  try {
    return await sound(backend, encryptionKey);
  } catch (error) {
    if (!(error instanceof StartupError) || error.key !== null || error.offset === null) throw error;
    const examined = await examine(backend, key);
    const { damages } = examined;
    const first = { file: error.file ?? '', from: error.offset, to: error.offset, what: error.message };
    const position = examined.frames.at(-1)?.lastSequence ?? examined.snapshot?.header.sequence ?? 0;
    return {
      damages: damages.length === 0 ? [first] : damages,
      contents: null,
      position,
      records: examined.frames.reduce((sum, { header }) => sum + header.count, 0),
      segments: examined.segments,
      snapshotBytes: examined.snapshot?.bytes ?? null,
      tail: null,
    };
  }
}

async function sound(backend: StorageBackend, encryptionKey: string | null): Promise<Verified> {
  const { contents, tail, log } = await readStoredLog(backend, folderKeyOf(encryptionKey));
  const { snapshot, segments, lastSequence } = contents;
  const state = snapshot === null ? new State() : (await readState(log, noPause)).state;
  let records = 0;
  for await (const record of log.read(state.sequence)) {
    apply(state, record);
    records++;
  }
  return {
    damages: [],
    contents: contentsOf(state),
    position: lastSequence,
    records,
    segments: segments.length,
    snapshotBytes: snapshot?.bytes ?? null,
    tail:
      tail === null
        ? null
        : `${backend.location(tail.name)}, offset ${tail.offset}: ${tail.reason} (${tail.bytes} bytes)`,
  };
}
