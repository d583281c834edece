/**
 * A folder that is read as it is, for who only looks: nothing of it is changed, and a torn tail stays where it is.
 */
import type { StorageBackend } from './backend.ts';
import type { FolderKey } from './cipher.ts';
import type { Log } from './log.ts';
import { readSegment } from './log-reader.ts';
import { inspect, type LogContents, type TornTail } from './recovery.ts';
import { describeSnapshot, readSection } from './snapshot-reader.ts';

/** What a state is made of. */
export type ReadableLog = Pick<Log, 'snapshot' | 'readSnapshot' | 'read'>;

export interface StoredLog {
  readonly contents: LogContents;
  /** What the next start cuts off; null: nothing. */
  readonly tail: TornTail | null;
  readonly log: ReadableLog;
}

/** Verifies the folder as a start does. Rejects with a StartupError where a start would. */
export async function readStoredLog(backend: StorageBackend, key: FolderKey | null): Promise<StoredLog> {
  const { contents, tail } = await inspect(backend, key);
  const { snapshot, segments } = contents;
  return {
    contents,
    tail,
    log: {
      snapshot: () => (snapshot === null ? null : describeSnapshot(snapshot)),
      readSnapshot: async function* (section) {
        if (snapshot !== null) yield* readSection(backend, snapshot, section);
      },
      read: async function* (after) {
        for (const segment of segments) yield* readSegment(backend, segment, after);
      },
    },
  };
}
