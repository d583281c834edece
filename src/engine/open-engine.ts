import { systemClock, type Clock } from './base/clock.ts';
import type { Engine } from './engine.ts';
import { KnowledgeEngine } from './knowledge-engine.ts';
import { apply } from './apply.ts';
import { type Operation, operationVersion } from './operation.ts';
import { State } from './state.ts';
import { readState, type RestoredState } from './state-snapshot.ts';
import type { LogRecord } from './storage/codec.ts';
import { openFileBackend } from './storage/file-backend.ts';
import type { FolderLock } from './storage/lock-file.ts';
import { lockFolder } from './storage/lock.ts';
import { type FsyncMode, type Log, openLog } from './storage/log.ts';
import { memoryBackend } from './storage/memory-backend.ts';

export interface EngineOptions {
  /** The folder of the log; null: all in memory, gone with the process. */
  readonly storageDir: string | null;
  /** When a write counts as durable; `always` unless given. */
  readonly fsync?: FsyncMode;
  /** Bytes after which the log begins another segment; 64 MiB unless given. */
  readonly segmentBytes?: number;
  /** Bytes that the derived tables of one tenant may take; 1 GiB unless given. */
  readonly memoryBudgetBytes?: number;
  /** Where the service is reached, told to whoever finds the folder locked. */
  readonly address?: string;
  /** Milliseconds between two snapshots where something changed; five minutes unless given. */
  readonly snapshotIntervalMs?: number;
  /** Milliseconds between two runs of decay over every database and tenant; null, or not given: none. */
  readonly decayIntervalMs?: number | null;
  /** Told what an operator should know, in words for people. */
  readonly onWarn?: (message: string) => void;
  /** Told of an error inside that no caller hears of: a bug. Warned of unless given. */
  readonly onBug?: (error: unknown) => void;
  /** Told how long each sync of the log took, in milliseconds. */
  readonly onSync?: (elapsedMs: number) => void;
  readonly clock?: Clock;
  /** Lets everything else that waits run; between two slices of a long question. */
  readonly pause?: () => Promise<void>;
}

const defaultMemoryBytes = 1024 ** 3;
const defaultSnapshotIntervalMs = 300_000;

/**
 * Opens the engine: locks the folder, reads the snapshot and the log after it. Rejects with a StartupError where the folder
 * is in use, damaged, or of a newer version; nothing has been changed then.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { storageDir } = options;
  if (storageDir === null) return start(options, null);
  await openFileBackend(storageDir);
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const lock = await lockFolder(storageDir, { now: () => clock.now(), onWarn });
  try {
    if (options.address !== undefined) await lock.announce(options.address);
    return await start(options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function start(options: EngineOptions, lock: FolderLock | null): Promise<Engine> {
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const pause = options.pause ?? (() => new Promise((resolve) => setImmediate(resolve)));
  const backend = options.storageDir === null ? memoryBackend() : await openFileBackend(options.storageDir);
  const { log } = await openLog(backend, {
    fsync: options.fsync ?? 'always',
    ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
    now: () => clock.now(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    onWarn,
    ...(options.onSync === undefined ? {} : { onSync: options.onSync }),
  });
  const { state, tallies } = await recover(log, pause);
  if (state.sequence === 0) await begin(state, log, clock);
  return new KnowledgeEngine({
    state,
    tallies,
    log,
    lock,
    clock,
    memoryBytes: options.memoryBudgetBytes ?? defaultMemoryBytes,
    snapshotIntervalMs: options.snapshotIntervalMs ?? defaultSnapshotIntervalMs,
    decayIntervalMs: options.decayIntervalMs ?? null,
    onWarn,
    onBug: options.onBug ?? ((error) => onWarn(`a bug: ${String(error)}`)),
    pause,
  });
}

/** The first record of every log: there is always a database `default`. */
async function begin(state: State, log: Log, clock: Clock): Promise<void> {
  const name = 'default';
  const operation: Operation = { kind: 'createDatabase', name };
  const record: LogRecord = {
    sequence: log.nextSequence,
    time: clock.now(),
    requestId: 'start',
    actor: null,
    database: name,
    generation: 0,
    version: operationVersion,
    operation,
  };
  await log.append([record], () => void apply(state, record));
}

/** The state that the log tells of: its snapshot, where it has one, and the records after it. */
async function recover(log: Log, pause: () => Promise<void>): Promise<RestoredState> {
  const restored = log.snapshot() === null ? nothing() : await readState(log, pause);
  const { state } = restored;
  for await (const record of log.read(state.sequence)) apply(state, record);
  return restored;
}

function nothing(): RestoredState {
  return { state: new State(), tallies: new Map() };
}
