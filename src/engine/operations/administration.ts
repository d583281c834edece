/** Operations on databases and tenants, and what the service asks of an engine. */
import type { Caller } from '../base/caller.ts';
import type { DatabaseList, SnapshotTaken, StorageState, TenantList } from '../contract/administration.ts';
import type { Backup } from '../commit/snapshots.ts';
import type { EngineFigures, EngineCounters } from '../session/live-state.ts';
import type { Journal, JournalName } from '../log/journal.ts';
import type { EngineContext } from './engine-context.ts';

/** Time for the last snapshot, in milliseconds. */
const lastSnapshotMs = 8000;

/** The databases that the caller may see, by name. */
export async function databases(engine: EngineContext, caller: Caller): Promise<DatabaseList> {
  engine.live.refuseClosed();
  return engine.databases.list(caller);
}

/** The tenants of a database that the caller may see, by name. */
export async function tenants(engine: EngineContext, caller: Caller, database: string): Promise<TenantList> {
  engine.live.refuseClosed();
  return engine.databases.tenants(caller, database);
}

/** Sequence of the last durable record, and the history that it belongs to; null if there is none. */
export function position(engine: EngineContext): {
  position: number;
  historyId: string | null;
  epoch: number;
} {
  const { lastSequence: position, historyId, epoch } = engine.parts.log;
  return { position, historyId: position === 0 ? null : historyId, epoch };
}

/** Writes a snapshot of the present state, and removes the part of the log that it covers. */
export async function snapshot(engine: EngineContext): Promise<SnapshotTaken> {
  engine.live.refuseClosed();
  return engine.snapshots.take();
}

/** A snapshot of the present state, as a file to be kept elsewhere. */
export async function backup(engine: EngineContext): Promise<Backup> {
  engine.live.refuseClosed();
  return engine.backups.take();
}

/** Position, size and durability of the log, its snapshot and the last backup. */
export function storageState(engine: EngineContext): StorageState {
  const { log } = engine.parts;
  const { isEncrypted: encrypted, fsync } = log;
  const { storedBytes: bytes, segments, inFlightBytes: waitingBytes } = log.statistics();
  const snapshot = log.snapshot();
  return {
    status: log.status(),
    encrypted,
    fsync,
    historyId: log.historyId,
    parent: log.parent && { historyId: log.parent.historyId, position: log.parent.sequence },
    position: log.lastSequence,
    log: { bytes, segments, waitingBytes },
    snapshot: snapshot && {
      position: snapshot.sequence,
      bytes: snapshot.bytes,
      createdAt: snapshot.createdAt,
    },
    backup: engine.backups.last,
  };
}

/** State of the log: `failed` while writes are refused. */
export function storage(engine: EngineContext): 'ready' | 'failed' {
  return engine.parts.log.status();
}

/**
 * True if a write with the caller's idempotency key was made in the last 24 hours: repeated, it changes nothing and gets
 * the same outcome. Refuses with IdempotencyMismatch if that was another request.
 */
export function remembers(engine: EngineContext, caller: Caller): boolean {
  return engine.earlierOutcome(caller) !== null;
}

/** True where the database exists; the surfaces refuse an unknown one before they look at the body. */
export function hasDatabase(engine: EngineContext, name: string): boolean {
  return engine.parts.state.databases.has(name);
}

/**
 * Tells subscribers of the caller's database and tenant that an agent called a tool there; `id` names the call. Nothing
 * is written, and a database or tenant that does not exist is not made.
 */
export function tellOfToolCall(engine: EngineContext, caller: Caller, id: string): void {
  engine.live.publishToolCall(caller, id);
}

/** Totals since the start, for metrics. */
export function counters(engine: EngineContext): EngineCounters {
  const { records, commits, bytes: logBytes } = engine.parts.log.statistics();
  return {
    ...engine.live.counters(),
    records,
    commits,
    logBytes,
    snapshots: engine.snapshots.written,
    backups: engine.backups.count,
  };
}

/** Present sizes, for gauges. */
export function figures(engine: EngineContext): EngineFigures {
  const { log } = engine.parts;
  const { storedBytes, segments, inFlightBytes } = log.statistics();
  const snapshot = log.snapshot();
  return {
    ...engine.live.figures(),
    openTransactions: engine.transactions.count,
    windowSessions: engine.windows.sessions,
    logBytes: storedBytes,
    logSegments: segments,
    logWaitingBytes: inFlightBytes,
    snapshot: snapshot === null ? null : { bytes: snapshot.bytes, at: snapshot.createdAt },
    snapshotTookMs: engine.snapshots.tookMs,
    position: log.lastSequence,
    isEncrypted: log.isEncrypted,
    backupAt: engine.backups.last?.takenAt ?? null,
  };
}

/** What the service keeps beside the log under this name; one owner, which loads it first. Closed with the engine. */
export function journal(engine: EngineContext, name: JournalName): Journal {
  const journal = engine.parts.openJournal(name);
  engine.journals.push(journal);
  return journal;
}

/**
 * Finishes what runs, makes all durable, writes a last snapshot if that takes no longer than `snapshotWithinMs`, and
 * releases the folder. Later calls are refused with NotReady.
 */
export async function close(engine: EngineContext, snapshotWithinMs = lastSnapshotMs): Promise<void> {
  if (engine.live.isClosed) return;
  engine.transactions.close();
  const decayed = engine.decaySchedule?.close();
  await engine.live.close();
  await decayed;
  await engine.pipeline.close();
  // Nobody would read one that is in memory.
  await engine.snapshots.close(engine.parts.lock === null ? 0 : snapshotWithinMs);
  await Promise.all(engine.journals.map((journal) => journal.close()));
  await engine.parts.log.close();
  await engine.parts.lock?.release();
}
