import { systemClock, type Clock } from './base/clock.ts';
import { EngineError } from './base/errors.ts';
import type { Engine } from './operations/engine.ts';
import { KnowledgeEngine } from './operations/knowledge-engine.ts';
import { apply } from './state/apply.ts';
import { type Operation, operationVersion } from './state/operation.ts';
import type { State } from './state/state.ts';
import { stateOf, type RestoredState } from './state/state-snapshot.ts';
import { type StorageBackend, systemErrorCode } from './log/backend.ts';
import { folderKeyOf } from './log/cipher.ts';
import type { LogRecord } from './log/codec.ts';
import { openFileBackend } from './log/file-backend.ts';
import { type Following, markBegun, markFollowing, readFollowing, unmarkFollowing } from './log/following.ts';
import { Journal } from './log/journal.ts';
import type { FolderLock } from './log/lock-file.ts';
import { lockFolder } from './log/lock.ts';
import { type FsyncMode, type Log, openLog } from './log/log.ts';
import { memoryBackend } from './log/memory-backend.ts';
import { StartupError } from './log/startup-error.ts';

export interface EngineOptions {
  /** The folder of the log; null: all in memory, gone with the process. */
  readonly storageDir: string | null;
  /** Encrypts the files: 64 hexadecimal digits; null, or not given: they are not encrypted. */
  readonly encryptionKey?: string | null;
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
  /**
   * Address of the leader that this engine follows: it takes no writes, and has what its `replica` is given. null, or not
   * given: it leads; where the folder was a follower's, a history of its own begins, which has all there was.
   */
  readonly leaderUrl?: string | null;
  /** Told what an operator should know, in words for people. */
  readonly onWarn?: (message: string) => void;
  /** Told of an error inside that no caller hears of: a bug. Warned of unless given. */
  readonly onBug?: (error: unknown) => void;
  /** Told how long each sync of the log took, in milliseconds. */
  readonly onSync?: (elapsedMs: number) => void;
  readonly clock?: Clock;
  /** So many random bytes that no user can foresee; the system's unless given. */
  readonly random?: (bytes: number) => Uint8Array;
  /** Lets everything else that waits run; between two slices of a long question. */
  readonly pause?: () => Promise<void>;
}

const defaultMemoryBytes = 1024 ** 3;
const defaultSnapshotIntervalMs = 300_000;

/**
 * Opens the engine: locks the folder, reads the snapshot and the log after it. Rejects with a StartupError where the folder
 * is in use, damaged, of a newer version, or the key is not its key; nothing has been changed then.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { storageDir } = options;
  if (storageDir === null) return (await openEngineOn(memoryBackend(), null, options)).engine;
  const backend = await openFileBackend(storageDir);
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const lock = await lockFolder(storageDir, { now: () => clock.now(), onWarn });
  try {
    if (options.address !== undefined) await lock.announce(options.address);
    return (await openEngineOn(backend, lock, options)).engine;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** True where the folder is a follower's: who opens it to lead makes it a leader's. Rejects with a StartupError. */
export async function isFollowersFolder(storageDir: string): Promise<boolean> {
  return (await readFollowing(await openFileBackend(storageDir))) !== null;
}

/** An engine, with the state that it keeps: for those who compare what is logged. */
export interface OpenedEngine {
  readonly engine: Engine;
  readonly state: State;
}

/** Opens the engine of these files, which are locked where that is needed. Rejects as `openEngine`. */
export async function openEngineOn(
  backend: StorageBackend,
  lock: FolderLock | null,
  options: Omit<EngineOptions, 'storageDir' | 'address'>,
): Promise<OpenedEngine> {
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const pause = options.pause ?? (() => new Promise((resolve) => setImmediate(resolve)));
  const random = options.random ?? systemRandom;
  const { log, state, tallies } = await openStored(backend, { ...options, pause });
  const engine = new KnowledgeEngine({
    state,
    tallies,
    log,
    lock,
    openJournal: (name) =>
      new Journal({ backend, name, key: folderKeyOf(options.encryptionKey), random, onWarn }),
    clock,
    memoryBytes: options.memoryBudgetBytes ?? defaultMemoryBytes,
    snapshotIntervalMs: options.snapshotIntervalMs ?? defaultSnapshotIntervalMs,
    decayIntervalMs: options.decayIntervalMs ?? null,
    leaderUrl: options.leaderUrl ?? null,
    onWarn,
    onBug: options.onBug ?? ((error) => onWarn(`a bug: ${String(error)}`)),
    pause,
  });
  return { engine, state };
}

/** A log, and what it amounts to. */
export interface Stored extends RestoredState {
  readonly log: Log;
}

/** What of the options is about what is stored. */
export type StoredOptions = Pick<
  EngineOptions,
  'fsync' | 'segmentBytes' | 'encryptionKey' | 'leaderUrl' | 'onWarn' | 'onSync' | 'clock'
> & {
  readonly pause: () => Promise<void>;
  /** So many random bytes, unpredictable to users; those of the system unless given. */
  readonly random?: (bytes: number) => Uint8Array;
};

/** Opens what is stored, to lead or to follow: what the folder was before, it is that from now on. */
export async function openStored(backend: StorageBackend, options: StoredOptions): Promise<Stored> {
  const clock = options.clock ?? systemClock;
  const onWarn = options.onWarn ?? (() => {});
  const random = options.random ?? systemRandom;
  const leads = (options.leaderUrl ?? null) === null;
  const following = await readFollowing(backend);
  const { log } = await openLog(backend, {
    ...(following !== null && leads ? { branch: following } : {}),
    fsync: options.fsync ?? 'always',
    key: folderKeyOf(options.encryptionKey),
    ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
    now: () => clock.now(),
    random,
    onWarn,
    ...(options.onSync === undefined ? {} : { onSync: options.onSync }),
  });
  try {
    const { state, tallies } = await stateOf(log, options.pause);
    if (!leads) await markFollowing(backend);
    else if (following !== null) await promote(backend, following, log, onWarn);
    if (state.sequence === 0 && leads) await begin(state, log, clock);
    return { log, state, tallies };
  } catch (error) {
    // It may look for room again and again: not in a folder that is let go.
    await log.close().catch((failed: unknown) => onWarn(`The log could not be closed: ${String(failed)}`));
    throw error;
  }
}

/**
 * Makes the history that begins here durable, before anything is answered for in it, and the folder nobody's but its own.
 * Where the power goes meanwhile, the next start goes on with that history, or begins one where there is none yet.
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
      `This folder was a follower's, and leads from now on: history ${log.historyId} goes on from record ` +
        `${log.lastSequence} of ${log.parent?.historyId ?? 'another one'}. Other followers begin anew from a snapshot.`,
    );
  }
  await unmarkFollowing(backend);
}

function systemRandom(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(bytes));
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
  await log
    .append([record], () => void apply(state, record))
    .catch((error: unknown) => {
      throw error instanceof EngineError ? notBegun(error) : error;
    });
}

function notBegun(error: EngineError): StartupError {
  const code = systemErrorCode(error.cause) || error.code;
  const message = `The log cannot be begun: ${code}. Make room on the disk of the storage folder, or check the disk and the rights of the folder, and start again.`;
  return new StartupError(message, {}, { cause: error });
}
