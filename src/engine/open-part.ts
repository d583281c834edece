import { systemClock, type Clock } from './base/clock.ts';
import { ClockWatch } from './base/clock-watch.ts';
import { EngineError } from './base/errors.ts';
import { systemOrigin, writtenOrigin } from './base/origin.ts';
import { EngineContext, type EngineParts } from './operations/engine-context.ts';
import { serving } from './base/serving.ts';
import { heapOf } from './commit/high-water-mark.ts';
import { DerivedMemory } from './session/derived-memory.ts';
import { unshared } from './base/scheduler.ts';
import { TICK_MS, TimerWheel } from './base/timer-wheel.ts';
import { type Engine, engineOver } from './operations/engine.ts';
import { apply } from './state/apply.ts';
import { OpeningProgress } from './state/opening-progress.ts';
import { type Operation, versionOf } from './state/operation.ts';
import type { State } from './state/state.ts';
import { stateOf, type RestoredState } from './state/state-snapshot.ts';
import { type StorageBackend, systemErrorCode } from './log/backend.ts';
import { folderKeyOf } from './log/cipher.ts';
import type { LogRecord } from './log/codec.ts';
import { type Following, markBegun, markFollowing, readFollowing, unmarkFollowing } from './log/following.ts';
import { Journal, type JournalName } from './log/journal.ts';
import type { FolderLock } from './log/lock-file.ts';
import type { FsyncMode, Log } from './log/log.ts';
import { openLog, openLogOver } from './log/open-log.ts';
import type { FrameStore } from './log/frame-store.ts';
import { StartupError } from './log/startup-error.ts';

export interface EngineOptions {
  /** The log's folder; null: everything stays in memory and ends with the process. */
  readonly storageDir: string | null;
  /**
   * A database of PostgreSQL that keeps the log and its snapshots: `postgres://user:password@host/database`. The folder then
   * only keeps journals. null or absent: the folder keeps everything.
   */
  readonly storeUrl?: string | null;
  /** Where other nodes of the store reach this one; default: `address`. */
  readonly nodeAddress?: string | null;
  /** Of a store, how many nodes have each database, if there are as many; default 2. */
  readonly copies?: number;
  /** Of a store, how long a node may be gone before its databases get another copy, in milliseconds; default 10,000. */
  readonly awaitedMs?: number;
  /** Of a store, how long owners are left uneven, in milliseconds; default 30,000. */
  readonly unevenMs?: number;
  /** Runs the step while no write to the database is answered by this service; default: at once. Rejects as the step does. */
  readonly holdWrites?: <Result>(database: string, step: () => Promise<Result>) => Promise<Result>;
  /** Tells the node at this address that it was given the log of the database; resolves when it has looked, or cannot be told. */
  readonly tellGiven?: (address: string, database: string) => Promise<void>;
  /** Resolves when the service answers nothing from the database any more, which it is about to close; default: at once. */
  readonly whenUnused?: (database: string) => Promise<void>;
  /** Encrypts the files: 64 hexadecimal digits; null or absent: no encryption. */
  readonly encryptionKey?: string | null;
  /** When a write counts as durable; default `always`. */
  readonly fsync?: FsyncMode;
  /** Size in bytes at which the log starts a new segment; default 64 MiB. */
  readonly segmentBytes?: number;
  /** For how many days the past stays in the folder; default 0: only what the present needs. */
  readonly historyDays?: number;
  /** Memory budget of derived tables, in bytes; default 1 GiB. */
  readonly memoryBudgetBytes?: number;
  /** Measures the memory of the process: near its limit, knowledge is no longer stored. null or absent: no limit. */
  readonly memoryGauge?: EngineParts['memoryGauge'];
  /** Memory that one question may take, in bytes; default a quarter of `memoryBudgetBytes`. */
  readonly questionMemoryBytes?: number;
  /** Starts threads to which heavy questions move; null or absent: all are answered on this thread. */
  readonly threadHost?: EngineParts['threadHost'];
  /** A provider of embeddings; null or absent: facts are not compared by meaning. */
  readonly embeddings?: EngineParts['embeddings'];
  /** Address of the service, shown to a process that finds the folder locked. */
  readonly address?: string;
  /** Milliseconds between two snapshots if anything changed; default five minutes. */
  readonly snapshotIntervalMs?: number;
  /** Milliseconds between two decay runs over every database and tenant; null or absent: none. */
  readonly decayIntervalMs?: number | null;
  /** Milliseconds between two looks for ended facts that need not be kept any longer; null or absent: none. */
  readonly endedIntervalMs?: number | null;
  /**
   * Address of the leader to follow: the engine then accepts no writes, and its `replica` receives the leader's
   * records. null or absent: the engine leads; if the folder was a follower's, a new history branches off that includes
   * everything stored so far.
   */
  readonly leaderUrl?: string | null;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn?: (message: string) => void;
  /** Receives internal errors that no caller sees: bugs. Default: a warning. */
  readonly onBug?: (error: unknown) => void;
  /** Receives the duration of each sync of the log, in milliseconds. */
  readonly onSync?: (elapsedMs: number) => void;
  /** Receives the duration of each append to a store, in milliseconds, and its number of records. */
  readonly onAppend?: (elapsedMs: number, records: number) => void;
  /** Receives how much of the stored data has been read, in whole per cent: each at most once, in order, first 0. */
  readonly onOpening?: (percent: number) => void;
  readonly clock?: Clock;
  /** Returns that many unpredictable random bytes; default: the system's generator. */
  readonly random?: (bytes: number) => Uint8Array;
  /**
   * Yields to all waiting work between two slices of a long task; by default the tasks take turns in the thread's
   * scheduler.
   */
  readonly pause?: () => Promise<void>;
}

const defaultMemoryBytes = 1024 ** 3;
const defaultSnapshotIntervalMs = 300_000;

/** An engine with its state, for tests that compare what is logged. */
export interface OpenedEngine {
  readonly engine: Engine;
  readonly state: State;
  readonly context: EngineContext;
}

/** What all engines of a process can have in common: time, memory, and what warnings go to. */
export type CommonParts = ReturnType<typeof commonParts>;

/** The parts of an engine that do not depend on its log. Journals are kept in the backend. */
export function commonParts(backend: StorageBackend, options: Omit<EngineOptions, 'storageDir'>) {
  const { clock = systemClock, onWarn = () => {}, random = systemRandom, memoryGauge = null } = options;
  const memoryBytes = options.memoryBudgetBytes ?? defaultMemoryBytes;
  const snapshotIntervalMs = options.snapshotIntervalMs ?? defaultSnapshotIntervalMs;
  const wheel = new TimerWheel(Math.min(TICK_MS, snapshotIntervalMs));
  const questionBytes = options.questionMemoryBytes ?? Math.floor(memoryBytes / 4);
  return {
    openJournal: (name: JournalName) =>
      new Journal({ backend, name, key: folderKeyOf(options.encryptionKey), random, onWarn }),
    clock,
    wheel,
    clockWatch: new ClockWatch(clock, wheel),
    derived: new DerivedMemory(memoryBytes, questionBytes, heapOf(memoryGauge)),
    memoryGauge,
    embeddings: options.embeddings ?? null,
    threadHost: options.threadHost ?? null,
    snapshotIntervalMs,
    historyDays: options.historyDays ?? 0,
    decayIntervalMs: options.decayIntervalMs ?? null,
    endedIntervalMs: options.endedIntervalMs ?? null,
    leaderUrl: options.leaderUrl ?? null,
    onWarn,
    onClockStep: (by: number, offset: number) => onWarn(clockStepWarning(by, offset)),
    onBug: options.onBug ?? ((error: unknown) => onWarn(`a bug: ${String(error)}`)),
    scheduler: options.pause === undefined ? serving : unshared(options.pause),
  };
}

/** Opens one log and the engine over it. Rejects with a StartupError. */
export async function openPart(
  backend: StorageBackend,
  lock: FolderLock | null,
  options: Omit<EngineOptions, 'storageDir' | 'storeUrl'> & Pick<StoredOptions, 'frames' | 'begins'>,
  common: CommonParts & Pick<EngineParts, 'shared'>,
): Promise<OpenedEngine> {
  const pause = common.scheduler.pauseOf(null, 'start');
  const { log, state, tallies, isErasing } = await openStored(backend, { ...options, pause });
  const context = new EngineContext({ ...common, state, tallies, log, lock, isErasing });
  await log.resumeErasing();
  return { engine: engineOver(context), state, context };
}

function clockStepWarning(by: number, offset: number): string {
  const seconds = Math.round(Math.abs(by) / 1000);
  const now =
    offset === 0
      ? 'It is now as it was at the start.'
      : `It is now ${Math.round(Math.abs(offset) / 1000)} s ${offset > 0 ? 'ahead of' : 'behind'} its course since the start.`;
  return (
    `The wall clock moved ${by > 0 ? 'forward' : 'back'} by ${seconds} s, or this machine slept. ${now} ` +
    'Validity, ttl and decay follow it; scheduled decay waits an hour. Check the time of this machine.'
  );
}

/** A log and the state recovered from it. */
export interface Stored extends RestoredState {
  /** True if something was erased that no snapshot covers yet. */
  readonly isErasing: boolean;
  readonly log: Log;
}

/** The options that concern storage. */
export type StoredOptions = Pick<
  EngineOptions,
  | 'fsync'
  | 'segmentBytes'
  | 'historyDays'
  | 'encryptionKey'
  | 'leaderUrl'
  | 'onWarn'
  | 'onSync'
  | 'onOpening'
  | 'clock'
> & {
  readonly pause: () => Promise<void>;
  /** Returns that many unpredictable random bytes; default: the system's generator. */
  readonly random?: (bytes: number) => Uint8Array;
  /** Opens the store of the log's frames; absent: they are files of the folder. */
  readonly frames?: () => Promise<FrameStore>;
  /** False: an empty log stays empty; else it begins with the database `default`. */
  readonly begins?: boolean;
};

/** Opens stored data as a leader or as a follower; the folder keeps that role until opened in the other one. */
export async function openStored(backend: StorageBackend, options: StoredOptions): Promise<Stored> {
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const random = options.random ?? systemRandom;
  const leads = (options.leaderUrl ?? null) === null;
  const { frames } = options;
  const following = frames === undefined ? await readFollowing(backend) : null;
  const inFolder = {
    ...(following !== null && leads ? { branch: following } : {}),
    fsync: options.fsync ?? 'always',
    key: folderKeyOf(options.encryptionKey),
    ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
    historyDays: options.historyDays ?? 0,
    now: () => clock.now(),
    random,
    onWarn,
    ...(options.onSync === undefined ? {} : { onSync: options.onSync }),
  };
  const log = frames === undefined ? (await openLog(backend, inFolder)).log : openLogOver(await frames());
  try {
    const restored = await restoredOf(log, options);
    const { state, tallies, clearedAt = null } = restored;
    if (clearedAt !== null) log.eraseHistory(clearedAt);
    if (!leads) await markFollowing(backend);
    else if (following !== null) await promote(backend, following, log, onWarn);
    const begins = state.sequence === 0 && leads && options.begins !== false;
    if (begins && log.shared?.role !== 'copy') await begin(state, log, clock);
    return { log, state, tallies, isErasing: clearedAt !== null };
  } catch (error) {
    // The log may keep probing for free space, which must not happen in a folder that is being released.
    await log.close().catch((failed: unknown) => onWarn(`The log could not be closed: ${String(failed)}`));
    throw error;
  }
}

/** The state in the log. Of a shared log, other nodes can trim what is being read: then it is read once more. */
async function restoredOf(
  log: Log,
  { pause, onOpening }: Pick<StoredOptions, 'pause' | 'onOpening'>,
): Promise<RestoredState> {
  const { shared } = log;
  if (shared?.role !== 'copy') return stateOf(log, pause, progressOf(log, onOpening));
  const snapshot = log.snapshot();
  let restored: RestoredState;
  try {
    restored = await stateOf(log, pause, progressOf(log, onOpening));
  } catch (error) {
    await shared.restart(false);
    if (log.snapshot()?.sequence === snapshot?.sequence) throw error;
    restored = await stateOf(log, pause);
  }
  shared.loaded(restored.state.sequence);
  return restored;
}

function progressOf(log: Log, report: StoredOptions['onOpening']): OpeningProgress | null {
  if (report === undefined) return null;
  const { snapshotBytes, uncoveredBytes } = log.statistics();
  const records = log.lastSequence - (log.snapshot()?.sequence ?? 0);
  return new OpeningProgress({ snapshotBytes, recordBytes: uncoveredBytes, records }, report);
}

/**
 * Makes the new history durable before it answers any request, then removes the follower mark. After a power cut
 * meanwhile, the next start continues that history, or begins one if there is none yet.
 */
async function promote(
  backend: StorageBackend,
  { begun }: Following,
  log: Log,
  onWarn: (message: string) => void,
): Promise<void> {
  if (log.lastSequence > 0) {
    if (begun !== log.historyId) {
      await markBegun(backend, log.historyId);
      await log.beginSegment();
    }
    onWarn(
      `This folder was a follower's and leads from now on: history ${log.historyId} continues from record ` +
        `${log.lastSequence} of ${log.parent?.historyId ?? 'another one'}. Other followers start over from a snapshot.`,
    );
  }
  await unmarkFollowing(backend);
}

/** Bytes of the system's generator. */
export function systemRandom(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(bytes));
}

/** Appends the first record of a log: the database `default` always exists. */
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
    version: versionOf(operation),
    operation,
    origin: writtenOrigin(systemOrigin),
  };
  await log
    .append([record], () => void apply(state, record))
    .catch((error: unknown) => {
      throw error instanceof EngineError ? notBegun(error) : error;
    });
}

function notBegun(error: EngineError): StartupError {
  const code = systemErrorCode(error.cause) || error.code;
  const message = `The log cannot be created: ${code}. Make room on the storage folder's disk, or check the disk and the folder's permissions, and start again.`;
  return new StartupError(message, {}, { cause: error });
}
