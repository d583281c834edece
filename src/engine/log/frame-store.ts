/**
 * Where a log's frames and snapshots are kept: files (`SegmentStore`) or PostgreSQL (`PostgresStore`).
 *
 * `GroupCommit` decides which records share a frame and in which order callers hear of them; a store keeps one frame at a
 * time, whole or not at all. Invariant: frames follow each other in sequence order without a gap, and a frame that
 * `append` resolved for, or `settle` found, is never lost or replaced.
 */
import { EngineError } from '../base/errors.ts';
import type { LogRecord } from './codec.ts';
import type { FsyncMode, LogPosition, ReceivedSnapshot } from './log.ts';
import type { HistoryRewrite } from './rewriting.ts';
import type { StoredRecords } from './log-reader.ts';
import type { SharedStore } from './shared-store.ts';
import type { RetainedLog } from './retained.ts';
import type { HistoryUsage } from './retention.ts';
import type { Branch, Group } from './segment-writer.ts';
import type { Snapshot, SnapshotCopy } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';

/** The write loop of a log, as its store sees it. */
export interface WriteLoop {
  /** Runs this between two frames. Rejects as it does, or with NotReady after `close`. */
  between(run: () => Promise<void>): Promise<void>;
  /** Makes the loop ask for `due` work. */
  wake(): void;
  /**
   * This node may have lost the log: appends that wait are refused, and the callers of those under way hear at once that
   * their outcome is unknown.
   */
  lose(refusal: EngineError): void;
}

/** What a store occupies. */
export interface StoreSizes {
  readonly syncs: number;
  readonly segments: number;
  /** Bytes of all frames. */
  readonly storedBytes: number;
  /** Bytes of the frames that the newest snapshot does not cover. */
  readonly uncoveredBytes: number;
  /** Bytes of the newest snapshot; 0: none. */
  readonly snapshotBytes: number;
  /** Of what is retained of the past. */
  readonly history: HistoryUsage;
}

/** Keeps the frames and snapshots of one log. Only the log's write loop calls `append`, `settle` and `due`. */
export interface FrameStore {
  readonly branch: Branch;
  readonly isEncrypted: boolean;
  readonly fsync: FsyncMode;
  /** True if `append` may reject with OutcomeUnknown, after which `settle` tells the outcome. */
  readonly isRemote: boolean;
  /** null: only one process can have the log. */
  readonly shared: SharedStore | null;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Maximum bytes of one append's encoded records. */
  readonly maxAppendBytes: number;
  /** Why nothing is stored: until a restart, or while another node has the log; null: it is. */
  readonly latched: EngineError | null;
  status(): 'ready' | 'failed';
  sizes(): StoreSizes;
  /** Called once, before anything else. */
  attach(loop: WriteLoop): void;
  /** Maintenance that must run between two frames; null: none. If it rejects, all waiting appends are refused. */
  due(isIdle: boolean): (() => Promise<void>) | null;
  /**
   * Stores a frame of the records after `lastSequence` as durably as `fsync` promises, and resolves with its bytes.
   * Rejects with StorageUnavailable or NoOwner if nothing was stored, or latched; with OutcomeUnknown if only `settle` can
   * tell.
   */
  append(group: Group): Promise<number>;
  /**
   * After OutcomeUnknown: the bytes of the frame if it is stored; null: it is not, and cannot be any more. Takes as long as
   * the store cannot be asked. Rejects, latched, if another node continues the log.
   */
  settle(group: Group): Promise<number | null>;
  /** Resolves with the last sequence that is stored, if no other node has continued the log; rejects with NoOwner. */
  confirm(): Promise<number>;
  /** See `Log`. */
  read(after: number): AsyncGenerator<LogRecord, void, undefined>;
  readStored(after: number): AsyncGenerator<StoredRecords, void, undefined>;
  checksumAt(sequence: number): Promise<number | null>;
  snapshot(): Snapshot | null;
  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined>;
  retained(): Promise<RetainedLog>;
  eraseHistory(sequence: number): void;
  /** See `Log`. */
  resumeErasing(): Promise<void>;
  /** See `Log`. */
  rewriteHistoryBy(rewrite: HistoryRewrite): void;
  copySnapshot(): Promise<SnapshotCopy>;
  /** Runs between two frames. */
  beginSegment(): Promise<void>;
  putSnapshot(
    covers: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter: () => number,
  ): Promise<Snapshot>;
  /** `install` of what it resolves with runs between two frames. Absent: the store cannot follow another log. */
  receive?(of: LogPosition, parts: AsyncIterable<SnapshotPart>): Promise<ReceivedSnapshot>;
  close(): Promise<void>;
}

/** The refusal of a write of which nothing was stored, since this node cannot store it now. */
export function noOwner(why: string, cause?: unknown): EngineError {
  return new EngineError(
    'NoOwner',
    `${why} Nothing of this write was stored; try again. Reads continue.`,
    { retryAfterSeconds: 1 },
    { cause },
  );
}

/** The answer to a write of which nobody knows yet whether it was stored. */
export function outcomeUnknown(cause?: unknown): EngineError {
  return new EngineError(
    'OutcomeUnknown',
    'The connection to the store broke while this write was committed, and the store could not be asked since. It is ' +
      'stored whole or not at all: read it back, or repeat the request with the same Idempotency-Key.',
    {},
    { cause },
  );
}
