/**
 * The write-ahead log (WAL): an append resolves once its records are durable, in sequence order.
 *
 * Invariant: records are committed in sequence order without a gap, and an append resolves only when it is as durable as
 * `fsync` promises. Beside the log there is at most one snapshot that a start uses, the checkpoint of the records it
 * covers. `GroupCommit` is the log, over a `FrameStore` that knows where the frames are kept; the engine interprets the
 * records.
 */
import type { EngineError } from '../base/errors.ts';
import type { FolderKey } from './cipher.ts';
import type { HistoryParent, LogRecord } from './codec.ts';
import type { HistoryRewrite } from './rewriting.ts';
import type { StoredRecords } from './log-reader.ts';
import type { RetainedLog } from './retained.ts';
import type { HistoryUsage } from './retention.ts';
import type { Branch } from './segment-writer.ts';
import type { SharedStore } from './shared-store.ts';
import type { Snapshot, SnapshotCopy } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';

/**
 * When an append counts as durable: after its sync (`always`), at most 100 ms before it (`interval`), or without one
 * (`never`).
 */
export type FsyncMode = 'always' | 'interval' | 'never';

export interface LogOptions {
  readonly fsync: FsyncMode;
  /** Encrypts the files; absent or null: no encryption. */
  readonly key?: FolderKey | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Returns that many unpredictable random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  /** Receives warnings for the operator, in plain language. Must not throw. */
  readonly onWarn: (message: string) => void;
  /** Receives the duration of each sync of the log, in milliseconds. Must not throw. */
  readonly onSync?: (elapsedMs: number) => void;
  /** Size in bytes at which the log starts a new segment; default 64 MiB. */
  readonly segmentBytes?: number;
  /** Maximum bytes of encoded records before appends wait for room; default 64 MiB. */
  readonly inFlightBytes?: number;
  /** A frame accepts no further append once it has this many bytes; default 16 MiB. */
  readonly groupBytes?: number;
  /** For how many days the past is retained (see `retention.ts`); default 0: only what the present needs. */
  readonly historyDays?: number;
  /**
   * For a folder that followed another log: the next records begin a new history with the old one as its parent.
   * `begun` is that new history's id if an earlier start may have begun it; then it continues.
   */
  readonly branch?: { readonly begun: string };
}

/** The last record of a log, and the log's history. */
export interface LogPosition extends Branch {
  readonly sequence: number;
  /** The stamp of that record, epoch milliseconds. */
  readonly time: number;
  /** `recordChecksum` of it; null: unknown. */
  readonly checksum: number | null;
}

/** A completely received snapshot of another log, not yet installed. */
export interface ReceivedSnapshot {
  /** Like `Log.readSnapshot`. */
  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Replaces the log's whole contents with the snapshot; a power cut leaves one or the other. No write may be in
   * progress. Rejects with StorageUnavailable.
   */
  install(): Promise<void>;
  /** Removes it unless it was installed. Never rejects. */
  discard(): Promise<void>;
}

/** Totals since the log was opened, unless noted otherwise. */
export interface LogStatistics {
  readonly records: number;
  readonly commits: number;
  readonly syncs: number;
  readonly bytes: number;
  /** Current value. */
  readonly inFlightBytes: number;
  /** Current value. */
  readonly segments: number;
  /** Current value, of all segments. */
  readonly storedBytes: number;
  /** Current value, of the segments that the snapshot does not cover. */
  readonly uncoveredBytes: number;
  /** Current value, of the snapshot; 0: none. */
  readonly snapshotBytes: number;
  /** Current value, of what is retained of the past beside segments and snapshot. */
  readonly history: HistoryUsage;
}

/** What an append may come with. */
export interface AppendOptions {
  /** The single record's operation, as for `encodeRecord`. */
  readonly operation?: Uint8Array;
  /**
   * Called if it is unknown for long whether the append was stored. The append goes on: it resolves or rejects once that
   * is known.
   */
  readonly doubted?: (error: EngineError) => void;
}

export interface Log {
  /** Unique id of this log's history, 32 hexadecimal digits. */
  readonly historyId: string;
  /** Number of leaders that this history and its ancestors have had, from 1. */
  readonly epoch: number;
  /** Where this history branched off another; null: it is original. */
  readonly parent: HistoryParent | null;
  readonly isEncrypted: boolean;
  /** True if other nodes can take the log over, and appends can be in doubt; see `AppendOptions.doubted`. */
  readonly isRemote: boolean;
  /** null: only this process can have the log. */
  readonly shared: SharedStore | null;
  readonly fsync: FsyncMode;
  /** Sequence of the first readable record; if there is none, of the next record. */
  readonly firstSequence: number;
  /** The sequence that the next record given to `append` must have. */
  readonly nextSequence: number;
  /** Sequence of the last committed record; 0: none. */
  readonly lastSequence: number;
  /**
   * Commits records atomically; their sequences continue from `nextSequence`. `committed` is called once they are
   * committed, before the promise resolves and strictly in log order over all appends: apply the records there. An
   * error it throws rejects this append only. The records must not change until then. Rejects with StorageUnavailable
   * (nothing was stored or, after a failed sync, it is unknown whether it was), NoOwner (nothing was stored),
   * PayloadTooLarge, or NotReady after `close`.
   */
  append(records: readonly LogRecord[], committed?: () => void, options?: AppendOptions): Promise<void>;
  /**
   * Resolves when there is room for another append. Await it before creating the records. Rejects with NoOwner while it is
   * unknown whether earlier records were stored.
   */
  room(): Promise<void>;
  /**
   * Resolves if no other node has continued the log, once all that was stored before the call has been reported to its
   * callers; rejects with NoOwner. Also a write without an answer yet may be stored, and shown by other nodes.
   */
  confirm(): Promise<void>;
  /** Resolves when all appends so far have ended. */
  settled(): Promise<void>;
  /**
   * The committed records with a sequence above `after`, in order, including those committed while reading. Records up
   * to the snapshot's may be gone; all later ones are present.
   */
  read(after: number): AsyncGenerator<LogRecord, void, undefined>;
  /** The same in stored form; the first frame may begin with earlier records. Each is valid until the next. */
  readStored(after: number): AsyncGenerator<StoredRecords, void, undefined>;
  /** `recordChecksum` of the record with this sequence; null: there is none, or it is no longer known. */
  checksumAt(sequence: number): Promise<number | null>;
  /** The newest snapshot; null: none. */
  snapshot(): Snapshot | null;
  /** The bytes of a section of the newest snapshot, in order, in pieces; each is valid until the next. */
  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined>;
  /** What is retained of the past. Rejects with HistoryGone, the system's error or a StartupError. */
  retained(): Promise<RetainedLog>;
  /** What this record erased leaves the history with the next snapshot that covers it. */
  eraseHistory(sequence: number): void;
  /** Completes what a power cut interrupted; call it before anybody reads the past, after `rewriteHistoryBy`. */
  resumeErasing(): Promise<void>;
  /** How the history is rewritten then; without this, what is retained goes. */
  rewriteHistoryBy(rewrite: HistoryRewrite): void;
  /** Opens the newest snapshot's file for copying; a snapshot must exist. Rejects with the system's error. */
  copySnapshot(): Promise<SnapshotCopy>;
  /**
   * Starts a new segment, so that a snapshot can cover everything before it. Resolves with the sequence of the last
   * record before it. Rejects like `append`.
   */
  beginSegment(): Promise<number>;
  /**
   * Stores a snapshot that covers the records up to this sequence, with their logical time, and replaces the previous
   * one. Then it removes the segments that are completely covered, except those with records after `neededAfter()`,
   * which stay until a later snapshot or the next start. Appends continue meanwhile. One at a time. Rejects with
   * StorageUnavailable or the error of the parts; the log is unchanged then.
   */
  putSnapshot(
    covers: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter?: () => number,
  ): Promise<Snapshot>;
  /**
   * Stores a snapshot of another log beside this one as its parts arrive. Rejects with StorageUnavailable or the error
   * of the parts; nothing of it remains then. One at a time.
   */
  receive(of: LogPosition, parts: AsyncIterable<SnapshotPart>): Promise<ReceivedSnapshot>;
  /** `failed` while writes are refused; returns to `ready` by itself when they would succeed again. */
  status(): 'ready' | 'failed';
  statistics(): LogStatistics;
  /** Commits and syncs all appends, in every mode, and closes the files. Later appends are refused. */
  close(): Promise<void>;
}

/** What recovering a state reads from a log. */
export type ReadableLog = Pick<Log, 'snapshot' | 'readSnapshot' | 'read'>;
