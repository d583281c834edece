/** Read-only access to a folder: nothing is changed, and a torn tail stays in place. */
import type { StorageBackend } from './backend.ts';
import type { FolderKey } from './cipher.ts';
import type { Log } from './log.ts';
import { readSegment } from './log-reader.ts';
import { inspect, type LogContents, type TornTail } from './recovery.ts';
import { describeSnapshot, readSection } from './snapshot-reader.ts';

/** What recovering a state reads from a log. */
export type ReadableLog = Pick<Log, 'snapshot' | 'readSnapshot' | 'read'>;

/** A verified log, opened read-only. */
export interface StoredLog {
  readonly contents: LogContents;
  /** The torn tail that the next start would cut off; null: none. */
  readonly tail: TornTail | null;
  readonly log: ReadableLog;
}

/** Verifies the folder like a start. Rejects with a StartupError whenever a start would. */
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
