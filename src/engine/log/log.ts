/**
 * The write-ahead log (WAL): an append resolves once its records are durable, in sequence order.
 *
 * Invariant: records are committed in sequence order without a gap, each append whole in one frame, and an append
 * resolves only when its frame is as durable as `fsync` promises. One frame is written at a time; appends that arrive
 * meanwhile share the next one (group commit). If a frame fails, every uncommitted append fails with it, since their
 * sequences depend on it, and `nextSequence` moves back. Beside the log there is at most one snapshot, the checkpoint
 * of the records it covers. Covered segments are removed only after the snapshot is durable, and so are all records
 * that it can reflect. The segment writer knows the file format; the engine interprets the records.
 */
import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { type StorageBackend, systemErrorCode } from './backend.ts';
import { type FolderKey, sealingOf } from './cipher.ts';
import {
  encodeRecord,
  frameBytes,
  hexadecimal,
  type HistoryParent,
  type LogRecord,
  MAX_PAYLOAD_BYTES,
  SALT_BYTES,
} from './codec.ts';
import { checksumAt, readSegment, readStored, type StoredRecords } from './log-reader.ts';
import { type HistoryUsage, RetainedHistory } from './retention.ts';
import { RetainedLog } from './retained.ts';
import { type LogContents, recover, type Segment, takeReceived } from './recovery.ts';
import { type Branch, SegmentWriter, unavailable } from './segment-writer.ts';
import type { SnapshotHeader } from './snapshot-codec.ts';
import {
  describeSnapshot,
  openCopy,
  readSection,
  receivedName,
  type Snapshot,
  type SnapshotCopy,
  snapshotName,
  type StoredSnapshot,
} from './snapshot-reader.ts';
import { type SnapshotPart, writeSnapshot, type WrittenSnapshot } from './snapshot-writer.ts';

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
interface LogStatistics {
  readonly records: number;
  readonly commits: number;
  readonly syncs: number;
  readonly bytes: number;
  /** Current values, `storedBytes` of all segments. */
  readonly inFlightBytes: number;
  readonly segments: number;
  readonly storedBytes: number;
  /** Current value, of the segments that the snapshot does not cover. */
  readonly uncoveredBytes: number;
  /** Current value, of the snapshot; 0: none. */
  readonly snapshotBytes: number;
  /** Current value, of what is retained of the past beside segments and snapshot. */
  readonly history: HistoryUsage;
}

export interface Log {
  /** Unique id of this log's history, 32 hexadecimal digits. */
  readonly historyId: string;
  /** Number of leaders that this history and its ancestors have had, from 1. */
  readonly epoch: number;
  /** Where this history branched off another; null: it is original. */
  readonly parent: HistoryParent | null;
  readonly isEncrypted: boolean;
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
   * error it throws rejects this append only. The records must not change until then. `operation`: the single record's
   * operation, as for `encodeRecord`. Rejects with StorageUnavailable (nothing was stored or, after a failed sync, it
   * is unknown whether it was), PayloadTooLarge, or NotReady after `close`.
   */
  append(records: readonly LogRecord[], committed?: () => void, operation?: Uint8Array): Promise<void>;
  /** Resolves when there is room for another append. Await it before creating the records. */
  room(): Promise<void>;
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
  /** What the folder still has of the past. Rejects with the system's error or a StartupError. */
  retained(): Promise<RetainedLog>;
  /** What the folder retains of the past. */
  readonly history: Pick<RetainedHistory, 'erase'>;
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
  const history = new RetainedHistory(backend, options.historyDays ?? 0, options.now);
  const contents = await recover(backend, options.onWarn, options.key ?? null, ({ header }) =>
    history.atStart(header),
  );
  await history.opened();
  const last = contents.segments.at(-1);
  if (last !== undefined) last.lastChecksum = await checksumAt(backend, contents, contents.lastSequence);
  const folder = (await backend.identityOf?.('')) ?? null;
  const log = new SegmentedLog(backend, contents, options, { folder, history });
  return { log, lastSequence: contents.lastSequence };
}

/** The encoded records of one append. */
interface EncodedRecords {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

/** An append in progress. `encoded` is null while it waits for room. */
interface Pending {
  readonly records: readonly LogRecord[];
  readonly operation: Uint8Array | undefined;
  encoded: EncodedRecords | null;
  readonly committed: (() => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Other work that the write loop runs between two frames. */
interface Task {
  readonly run: () => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const MEBIBYTE = 1024 * 1024;
/** An append of this size still fits a frame after the group before it. */
const MAX_APPEND_BYTES = MAX_PAYLOAD_BYTES / 2;
/** Below the promised 100 ms, to leave time for the sync itself. */
const SYNC_INTERVAL_MS = 50;
/** Readiness must return within 5 s after space becomes available. */
const PROBE_INTERVAL_MS = 1000;
/** A folder that was moved must stop writes within 2 s. */
const LOOK_INTERVAL_MS = 1000;
const PROBE_BYTES = { least: 4096, most: MEBIBYTE };

class SegmentedLog implements Log {
  readonly #backend: StorageBackend;
  readonly #segments: Segment[];
  readonly #writer: SegmentWriter;
  readonly fsync: FsyncMode;
  readonly isEncrypted: boolean;
  readonly #options: LogOptions;
  #branch: Branch;
  #snapshot: StoredSnapshot | null;
  readonly history: RetainedHistory;
  #isPutting = false;
  readonly #tasks: Task[] = [];
  readonly #onWarn: (message: string) => void;
  readonly #inFlightLimit: number;
  readonly #groupLimit: number;
  readonly #queue: Pending[] = [];
  /** Number of encoded appends at the front of the queue; the others wait for room. */
  #encoded = 0;
  #inFlightBytes = 0;
  #lastSequence: number;
  #nextSequence: number;
  #roomWaiters: (() => void)[] = [];
  #running: Promise<void> | null = null;
  #syncTimer: ReturnType<typeof setTimeout> | null = null;
  #syncDue = false;
  #probeTimer: ReturnType<typeof setTimeout> | null = null;
  #probeDue = false;
  /** null: nobody can move the folder. */
  #lookTimer: ReturnType<typeof setInterval> | null = null;
  #lookDue = false;
  /** Bytes of the last frame that failed for lack of space; 0: no failure. */
  #failedBytes = 0;
  #closing: Promise<void> | null = null;
  readonly #totals = { records: 0, commits: 0, bytes: 0 };

  /** `folder`: see `StorageBackend.identityOf`; null: nobody can move it. */
  constructor(
    backend: StorageBackend,
    contents: LogContents,
    options: LogOptions,
    { folder, history }: { readonly folder: string | null; readonly history: RetainedHistory },
  ) {
    this.#backend = backend;
    this.#segments = contents.segments;
    this.fsync = options.fsync;
    this.isEncrypted = (options.key ?? null) !== null;
    this.#options = options;
    this.#branch = branchOf(contents, options);
    this.#snapshot = contents.snapshot;
    this.history = history;
    this.#onWarn = options.onWarn;
    this.#inFlightLimit = options.inFlightBytes ?? 64 * MEBIBYTE;
    this.#groupLimit = options.groupBytes ?? 16 * MEBIBYTE;
    this.#lastSequence = contents.lastSequence;
    this.#nextSequence = contents.lastSequence + 1;
    this.#writer = new SegmentWriter(backend, contents, {
      segmentBytes: options.segmentBytes ?? 64 * MEBIBYTE,
      isSyncedLater: options.fsync === 'interval',
      branch: this.#branch,
      folder,
      key: options.key ?? null,
      now: options.now,
      random: options.random,
      onWarn: options.onWarn,
      onSync: options.onSync ?? (() => {}),
    });
    if (folder === null) return;
    this.#lookTimer = setInterval(() => {
      this.#lookDue = true;
      this.#wake();
    }, LOOK_INTERVAL_MS);
    this.#lookTimer.unref();
  }

  get historyId(): string {
    return this.#branch.historyId;
  }

  get epoch(): number {
    return this.#branch.epoch;
  }

  get parent(): HistoryParent | null {
    return this.#branch.parent;
  }

  get firstSequence(): number {
    return this.#segments[0]?.header.firstSequence ?? this.#lastSequence + 1;
  }

  get nextSequence(): number {
    return this.#nextSequence;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  async append(records: readonly LogRecord[], committed?: () => void, operation?: Uint8Array): Promise<void> {
    if (this.#closing !== null) throw new EngineError('NotReady', 'The service is shutting down.');
    if (this.#writer.latched !== null) throw this.#writer.latched;
    assert(records.length > 0, 'an append has records');
    assert(operation === undefined || records.length === 1, 'one record has the operation');
    records.forEach((record, index) => {
      assert(record.sequence === this.#nextSequence + index, 'records continue the log');
    });
    const encoded = this.#hasRoom() ? encodeAll(records, operation) : null;
    const done = new Promise<void>((resolve, reject) => {
      this.#queue.push({ records, operation, encoded, committed, resolve, reject });
    });
    this.#nextSequence += records.length;
    if (encoded !== null) {
      this.#encoded++;
      this.#inFlightBytes += encoded.bytes;
    }
    this.#wake();
    return done;
  }

  async room(): Promise<void> {
    while (!this.#hasRoom()) {
      await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
    }
  }

  async *read(after: number): AsyncGenerator<LogRecord, void, undefined> {
    for (const segment of this.#segmentsAfter(after)) yield* readSegment(this.#backend, segment, after);
  }

  async *readStored(after: number): AsyncGenerator<StoredRecords, void, undefined> {
    for (const segment of this.#segmentsAfter(after)) yield* readStored(this.#backend, segment, after);
  }

  *#segmentsAfter(after: number): Generator<Segment, void, undefined> {
    assert(after >= this.firstSequence - 1, 'records that are covered by a snapshot are read from it');
    let done = 0;
    for (;;) {
      // Segments can be removed and added while one is read.
      const next = this.#segments.find(
        ({ header, lastSequence }) => header.id > done && lastSequence > after,
      );
      if (next === undefined) return;
      yield next;
      done = next.header.id;
    }
  }

  checksumAt(sequence: number): Promise<number | null> {
    return checksumAt(this.#backend, { segments: this.#segments, snapshot: this.#snapshot }, sequence);
  }

  snapshot(): Snapshot | null {
    return this.#snapshot === null ? null : describeSnapshot(this.#snapshot);
  }

  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined> {
    return readSection(this.#backend, present(this.#snapshot, 'there is a snapshot'), section);
  }

  retained(): Promise<RetainedLog> {
    const { key = null } = this.#options;
    return RetainedLog.find(this.#backend, key, { segments: [...this.#segments], snapshot: this.#snapshot });
  }

  copySnapshot(): Promise<SnapshotCopy> {
    return openCopy(this.#backend, () => present(this.#snapshot, 'there is a snapshot'));
  }

  async beginSegment(): Promise<number> {
    let last = 0;
    await this.#between(async () => {
      await this.#writer.begin();
      last = this.#lastSequence;
    });
    return last;
  }

  async putSnapshot(
    covers: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter: () => number = () => covers.sequence,
  ): Promise<Snapshot> {
    assert(!this.#isPutting, 'snapshots are put one at a time');
    assert(covers.sequence <= this.#lastSequence, 'a snapshot covers what is committed');
    this.#isPutting = true;
    try {
      const header = await this.#snapshotHeader(covers);
      const written = await this.#written(header, parts);
      const { bytes, start, opener } = written;
      this.#snapshot = { name: snapshotName(header.sequence), header, bytes, start, opener };
      await this.#removeCovered(this.#snapshot, neededAfter());
      return describeSnapshot(this.#snapshot);
    } finally {
      this.#isPutting = false;
    }
  }

  async receive(of: LogPosition, parts: AsyncIterable<SnapshotPart>): Promise<ReceivedSnapshot> {
    const { random, now } = this.#options;
    const salt = random(SALT_BYTES);
    const { historyId, epoch, parent, sequence, time, checksum } = of;
    const covered = { historyId, epoch, parent, sequence, time, checksum };
    // It continues into segments created later, so it needs no existing one.
    const header = { ...covered, segment: 0, isAlone: false, salt, createdAt: now() };
    const sealing = sealingOf(this.#options.key ?? null, salt, random);
    const name = receivedName(sequence);
    let written: WrittenSnapshot;
    try {
      written = await writeSnapshot(this.#backend, header, sealing, parts, this.#onWarn, name);
    } catch (error) {
      throw systemErrorCode(error) === '' ? error : unavailable(error, 'snapshot');
    }
    const { temporaryName, bytes, start, opener } = written;
    const stored = { name: temporaryName, header, bytes, start, opener };
    return {
      readSnapshot: (section) => readSection(this.#backend, stored, section),
      install: () => this.#between(() => this.#install(stored, written)),
      discard: () => written.discard(),
    };
  }

  status(): 'ready' | 'failed' {
    return this.#writer.latched !== null || this.#failedBytes > 0 ? 'failed' : 'ready';
  }

  statistics(): LogStatistics {
    const covered = this.#snapshot?.header.segment ?? 0;
    return {
      ...this.#totals,
      syncs: this.#writer.syncs,
      inFlightBytes: this.#inFlightBytes,
      segments: this.#segments.length,
      storedBytes: bytesOf(this.#segments),
      uncoveredBytes: bytesOf(this.#segments.filter(({ header }) => header.id >= covered)),
      snapshotBytes: this.#snapshot?.bytes ?? 0,
      history: this.history.usage,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#running;
    if (this.#syncTimer !== null) clearTimeout(this.#syncTimer);
    if (this.#probeTimer !== null) clearTimeout(this.#probeTimer);
    if (this.#lookTimer !== null) clearInterval(this.#lookTimer);
    await this.#writer.close();
  }

  async #snapshotHeader({ sequence, time }: Pick<LogPosition, 'sequence' | 'time'>): Promise<SnapshotHeader> {
    const checksum = await this.checksumAt(sequence);
    const needed =
      this.#segments.find(({ lastSequence }) => lastSequence > sequence) ?? this.#segments.at(-1);
    return {
      sequence,
      time,
      checksum,
      segment: needed?.header.id ?? 0,
      salt: this.#options.random(SALT_BYTES),
      isAlone: false,
      historyId: this.historyId,
      parent: this.parent,
      epoch: this.epoch,
      createdAt: this.#options.now(),
    };
  }

  async #install(received: StoredSnapshot, written: WrittenSnapshot): Promise<void> {
    assert(this.#queue.length === 0, 'nothing is written while the log is replaced');
    assert(!this.#isPutting, 'no snapshot is put while the log is replaced');
    if (this.#writer.latched !== null) throw this.#writer.latched;
    const { sequence, checksum, historyId, epoch, parent } = received.header;
    const branch = { historyId, epoch, parent };
    try {
      await written.install();
      await this.#writer.restart(branch, { sequence, checksum });
      this.#snapshot = await takeReceived(this.#backend, { ...received, name: receivedName(sequence) });
      this.history.replaced(received.header.time);
    } catch (error) {
      // The snapshot may already be in the folder; the next start would then continue from it.
      throw this.#writer.latch(error);
    }
    this.#branch = branch;
    this.#lastSequence = sequence;
    this.#nextSequence = sequence + 1;
  }

  /** Writes a snapshot and renames it into place. */
  async #written(header: SnapshotHeader, parts: AsyncIterable<SnapshotPart>): Promise<WrittenSnapshot> {
    const sealing = sealingOf(this.#options.key ?? null, header.salt, this.#options.random);
    let written: WrittenSnapshot | null = null;
    try {
      written = await writeSnapshot(this.#backend, header, sealing, parts, this.#onWarn);
      // It may reflect records that are not synced yet; those must not be lost while it remains.
      await this.#between(() => this.#writer.sync());
      await this.history.prepare(header);
      await written.install();
      return written;
    } catch (error) {
      await written?.discard();
      throw systemErrorCode(error) === '' ? error : unavailable(error, 'snapshot');
    }
  }

  /** Removes what the snapshot covers and is not retained. A failed removal is retried by the next snapshot or start. */
  async #removeCovered(snapshot: StoredSnapshot, neededAfter: number): Promise<void> {
    const needed = this.#segments.findIndex(
      ({ header, lastSequence }) => header.id >= snapshot.header.segment || lastSequence > neededAfter,
    );
    if (needed > 0) this.#segments.splice(0, needed);
    try {
      await this.history.trim(snapshot, this.#segments[0]?.header.id);
    } catch (error) {
      this.#onWarn(`Files that the snapshot covers could not be removed: ${reason(error)}`);
    }
  }

  /** Runs this in the write loop, between two frames. */
  #between(run: () => Promise<void>): Promise<void> {
    if (this.#closing !== null)
      return Promise.reject(new EngineError('NotReady', 'The service is shutting down.'));
    return new Promise((resolve, reject) => {
      this.#tasks.push({ run, resolve, reject });
      this.#wake();
    });
  }

  #hasRoom(): boolean {
    return this.#encoded === this.#queue.length && this.#inFlightBytes < this.#inFlightLimit;
  }

  /** Starts the write loop unless it is running. */
  #wake(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // Appends of the same turn of the event loop share the first frame.
    await Promise.resolve();
    for (;;) {
      const task = this.#tasks.shift();
      if (task !== undefined) await task.run().then(task.resolve, task.reject);
      else if (this.#syncDue) await this.#syncWritten();
      else if (this.#lookDue) await this.#look();
      else if (this.#queue.length > 0) await this.#commitGroup();
      else if (this.#probeDue) await this.#probe();
      else break;
    }
    this.#running = null;
  }

  async #commitGroup(): Promise<void> {
    const group = this.#nextGroup();
    const parts = group.flatMap((pending) => pending.encoded?.parts ?? []);
    const bytes = heldBytes(group);
    let written: number;
    try {
      if (this.#failedBytes > 0) await this.#checkFiles();
      written = await this.#writer.write(
        { firstSequence: this.#lastSequence + 1, count: parts.length, parts },
        this.fsync === 'always',
      );
    } catch (error) {
      this.#fail(error, frameBytes(bytes));
      return;
    }
    this.#totals.commits++;
    this.#totals.records += parts.length;
    this.#totals.bytes += written;
    if (this.fsync === 'interval') this.#scheduleSync();
    this.#lastSequence += parts.length;
    this.#queue.splice(0, group.length);
    this.#encoded -= group.length;
    this.#inFlightBytes -= bytes;
    this.#recovered();
    for (const pending of group) settle(pending);
    this.#admit();
  }

  /** The appends of the next frame: at least one, then as many as the limit allows. */
  #nextGroup(): Pending[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#encoded && (count === 0 || bytes < this.#groupLimit)) {
      bytes += this.#queue[count]?.encoded?.bytes ?? 0;
      count++;
    }
    assert(count > 0, 'the first append of the queue is always encoded');
    return this.#queue.slice(0, count);
  }

  /** Encodes waiting appends in order while there is room, then resolves `room`. */
  #admit(): void {
    while (this.#encoded < this.#queue.length && this.#inFlightBytes < this.#inFlightLimit) {
      const pending = this.#queue[this.#encoded] as Pending;
      try {
        pending.encoded = encodeAll(pending.records, pending.operation);
        this.#inFlightBytes += pending.encoded.bytes;
        this.#encoded++;
      } catch (error) {
        // Its sequences are taken, so the appends behind it cannot be written either.
        this.#rejectFrom(this.#encoded, error);
        break;
      }
    }
    if (!this.#hasRoom()) return;
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #fail(error: unknown, bytes: number): void {
    if (this.#writer.latched === null) {
      if (this.#failedBytes === 0) this.#onWarn(`Writes are refused: ${reason(error)}`);
      this.#failedBytes = bytes;
      this.#scheduleProbe();
    }
    this.#rejectFrom(0, error);
    this.#admit();
  }

  #rejectFrom(first: number, error: unknown): void {
    const rejected = this.#queue.splice(first);
    this.#encoded = Math.min(this.#encoded, first);
    this.#inFlightBytes = heldBytes(this.#queue);
    this.#nextSequence -= rejected.reduce((sum, pending) => sum + pending.records.length, 0);
    for (const pending of rejected) pending.reject(error);
  }

  #recovered(): void {
    if (this.#failedBytes === 0) return;
    this.#failedBytes = 0;
    this.#onWarn('Writes work again.');
  }

  #scheduleSync(): void {
    if (this.#syncTimer !== null) return;
    this.#syncTimer = setTimeout(() => {
      this.#syncTimer = null;
      this.#syncDue = true;
      this.#wake();
    }, SYNC_INTERVAL_MS);
  }

  async #syncWritten(): Promise<void> {
    this.#syncDue = false;
    try {
      await this.#writer.sync();
    } catch (error) {
      this.#fail(error, 0);
    }
  }

  #scheduleProbe(): void {
    if (this.#probeTimer !== null || this.#closing !== null) return;
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = null;
      this.#probeDue = true;
      this.#wake();
    }, PROBE_INTERVAL_MS);
  }

  /** Refuses writes while the folder is not in its place; the probe finds it when it is back. */
  async #look(): Promise<void> {
    this.#lookDue = false;
    if (this.#failedBytes > 0 || this.#writer.latched !== null) return;
    try {
      if (!(await this.#writer.isInPlace())) throw this.#writer.misplaced();
    } catch (error) {
      this.#fail(error, PROBE_BYTES.least);
    }
  }

  /** Throws if a file of the log is missing or shorter than what it holds. */
  async #checkFiles(): Promise<void> {
    if (this.#lookTimer === null) return;
    const files = this.#segments.map(({ name, end }) => ({ name, bytes: end }));
    if (this.#snapshot !== null) files.push(this.#snapshot);
    try {
      for (const { name, bytes } of files) {
        const file = await this.#backend.open(name, 'read');
        try {
          if ((await file.size()) < bytes) throw this.#writer.misplaced();
        } finally {
          await file.close();
        }
      }
    } catch (error) {
      throw systemErrorCode(error) === '' ? error : this.#writer.misplaced();
    }
  }

  /** Tests whether a write would succeed now, so that readiness returns without a write. */
  async #probe(): Promise<void> {
    this.#probeDue = false;
    if (this.#failedBytes === 0) return;
    try {
      await this.#checkFiles();
      await this.#writer.probe(Math.min(Math.max(this.#failedBytes, PROBE_BYTES.least), PROBE_BYTES.most));
      this.#recovered();
    } catch (error) {
      // Still no space: stay failed and probe again later. (A latched writer has given its own warning.)
      this.#fail(error, this.#failedBytes);
    }
  }
}

/** The history of the records written from now on. */
function branchOf({ historyId, epoch, parent, lastSequence }: LogContents, options: LogOptions): Branch {
  const isOwn = options.branch === undefined || options.branch.begun === historyId;
  if (historyId !== null && isOwn) return { historyId, epoch: Math.max(1, epoch), parent };
  const fresh = hexadecimal(options.random(16));
  if (historyId === null) return { historyId: fresh, epoch: 1, parent: null };
  return {
    historyId: fresh,
    epoch: Math.max(1, epoch) + 1,
    parent: { historyId, sequence: lastSequence },
  };
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { end }) => sum + end, 0);
}

function settle(pending: Pending): void {
  try {
    pending.committed?.();
  } catch (error) {
    pending.reject(error);
    return;
  }
  pending.resolve();
}

function encodeAll(records: readonly LogRecord[], operation: Uint8Array | undefined): EncodedRecords {
  const parts = records.map((record) => encodeRecord(record, operation));
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes > MAX_APPEND_BYTES) {
    throw new EngineError('PayloadTooLarge', 'The write is too large for the log.');
  }
  return { parts, bytes };
}

function heldBytes(appends: readonly Pending[]): number {
  return appends.reduce((sum, pending) => sum + (pending.encoded?.bytes ?? 0), 0);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
