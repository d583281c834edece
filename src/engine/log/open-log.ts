/** Opens logs: over the files of a folder, or over another store. */
import type { StorageBackend } from './backend.ts';
import type { FrameStore } from './frame-store.ts';
import { GroupCommit } from './group-commit.ts';
import { checksumAt } from './log-reader.ts';
import type { Log, LogOptions } from './log.ts';
import { recover } from './recovery.ts';
import { RetainedHistory } from './retention.ts';
import { SegmentStore } from './segment-store.ts';

/** A recovered log with the sequence of its last record (0: none); `log.read(0)` replays its records. */
interface OpenedLog {
  readonly log: Log;
  readonly lastSequence: number;
}

/**
 * Opens a folder's log: verifies everything and cuts off a torn tail with one warning. Rejects with a StartupError,
 * changing nothing, if anything else is wrong. This process must hold the folder's lock.
 */
export async function openLog(backend: StorageBackend, options: LogOptions): Promise<OpenedLog> {
  const history = new RetainedHistory(backend, options.historyDays ?? 0, options);
  const contents = await recover(backend, options.onWarn, options.key ?? null, ({ header }) =>
    history.atStart(header),
  );
  await history.opened();
  const last = contents.segments.at(-1);
  if (last !== undefined) last.lastChecksum = await checksumAt(backend, contents, contents.lastSequence);
  const folder = (await backend.identityOf?.('')) ?? null;
  const log = new GroupCommit(new SegmentStore(backend, contents, options, { folder, history }), options);
  return { log, lastSequence: contents.lastSequence };
}

/** The log over a store that was opened elsewhere. */
export function openLogOver(store: FrameStore): Log {
  return new GroupCommit(store);
}
