/**
 * The log: records go in, and once they are durable their callers go on, in the order of their sequence.
 *
 * Invariant: records are committed in sequence order without a gap, each whole append in one frame, and an append
 * resolves only when its frame is as durable as `fsync` promises. One frame is under way at a time; what arrives
 * meanwhile shares the next one (group commit). When a frame fails, every append not yet committed fails with it,
 * since their sequences presuppose it, and `nextSequence` falls back. Beside the records lies at most one snapshot of
 * what they amount to: what it covers goes only after it is durable, and so is everything that it can have seen.
 * What the files look like is the segment writer's business, what a record means the engine's.
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
import { type LogContents, recover, removeLeftOver, type Segment, takeReceived } from './recovery.ts';
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

/** When an append counts as durable: after a sync, at the latest 100 ms before one, or without. */
export type FsyncMode = 'always' | 'interval' | 'never';

export interface LogOptions {
  readonly fsync: FsyncMode;
  /** Encrypts the files; not given, or null: they are not encrypted. */
  readonly key?: FolderKey | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** So many random bytes, unpredictable to users. */
  readonly random: (bytes: number) => Uint8Array;
  /** Told, in words for people, what an operator should know. Does not throw. */
  readonly onWarn: (message: string) => void;
  /** Told how long each sync of the log took, in milliseconds. Does not throw. */
  readonly onSync?: (elapsedMs: number) => void;
  /** A segment that has reached this size is followed by a new one; 64 MiB. */
  readonly segmentBytes?: number;
  /** Encoded records held at most before appends wait for room; 64 MiB. */
  readonly inFlightBytes?: number;
  /** A frame takes no further append once it has this many bytes; 16 MiB. */
  readonly groupBytes?: number;
  /**
   * For what followed another log: the records that follow are a history of their own, which names the one before. `begun`
   * is that history where an earlier start may have begun it: then it goes on.
   */
  readonly branch?: { readonly begun: string };
}

/** The last record of a log, and whose it is. */
export interface LogPosition extends Branch {
  readonly sequence: number;
  /** The stamp of that record, epoch milliseconds. */
  readonly time: number;
  /** `recordChecksum` of it; null where it is not known. */
  readonly checksum: number | null;
}

/** A snapshot of another log that was received whole, and is not yet the beginning of this one. */
export interface ReceivedSnapshot {
  /** As of the log's own. */
  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Lets the log begin with it, in the place of all that it held: after a power cut it holds the one or the other. Nothing
   * may be under way. Rejects with StorageUnavailable.
   */
  install(): Promise<void>;
  /** Removes it, where it was not installed. Does not reject. */
  discard(): Promise<void>;
}

/** Totals since the log was opened, but for those that say so. */
export interface LogStatistics {
  readonly records: number;
  readonly commits: number;
  readonly syncs: number;
  readonly bytes: number;
  /** Now. */
  readonly inFlightBytes: number;
  /** Now. */
  readonly segments: number;
  /** Now, of all segments. */
  readonly storedBytes: number;
  /** Now, of those segments that the snapshot does not cover. */
  readonly uncoveredBytes: number;
  /** Now, of the snapshot; 0 where there is none. */
  readonly snapshotBytes: number;
}

export interface Log {
  /** 32 hexadecimal digits that name this log among all logs. */
  readonly historyId: string;
  /** Counts the leaders that the records of this history and of those before it had, from 1. */
  readonly epoch: number;
  /** Where this history branched off another; null where it began by itself. */
  readonly parent: HistoryParent | null;
  readonly isEncrypted: boolean;
  readonly fsync: FsyncMode;
  /** Sequence of the first record that can be read; the one after the last where there is none. */
  readonly firstSequence: number;
  /** The sequence that the next record given to `append` must carry. */
  readonly nextSequence: number;
  /** Sequence of the last committed record; 0 where there is none. */
  readonly lastSequence: number;
  /**
   * Commits records, whose sequences continue from `nextSequence`, together or not at all. `committed` is called
   * once they are, before the promise resolves and strictly in log order over all appends: the place to apply them.
   * What it throws rejects this append alone. The records must not change until then. `operation`: that of the one
   * record, as `encodeRecord` takes it.
   * Rejects with StorageUnavailable (the writes are not stored, or, after a failed sync, their fate is open),
   * PayloadTooLarge, or NotReady after `close`.
   */
  append(records: readonly LogRecord[], committed?: () => void, operation?: Uint8Array): Promise<void>;
  /** Resolves when there is room for another append: to be awaited before its records are made. */
  room(): Promise<void>;
  /**
   * The committed records with a sequence above `after`, in order, up to the last at the time it gets there. Those up
   * to the snapshot's may be gone: from there on all are there.
   */
  read(after: number): AsyncGenerator<LogRecord, void, undefined>;
  /** The same as they are stored; the first frame may begin with earlier ones. Each is valid until the next. */
  readStored(after: number): AsyncGenerator<StoredRecords, void, undefined>;
  /** `recordChecksum` of the record with this sequence; null where there is none, or it is not known any more. */
  checksumAt(sequence: number): Promise<number | null>;
  /** The newest snapshot; null where there is none. */
  snapshot(): Snapshot | null;
  /** The bytes of a section of the newest snapshot, in order, in pieces of which each is valid until the next. */
  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined>;
  /** The file of the newest snapshot, to be copied; there is one. Rejects with the system's error. */
  copySnapshot(): Promise<SnapshotCopy>;
  /**
   * Has the records that follow written to a new segment, so that a snapshot can cover all before it; resolves with
   * the sequence of the last one before. Rejects as `append`.
   */
  beginSegment(): Promise<number>;
  /**
   * Stores a snapshot that covers the records up to this sequence, with their logical time, in the place of the one
   * before; then the segments wholly covered are gone, but for those with records after the one that `neededAfter` says
   * then: they stay until a later one, or the next start. Appends go on meanwhile. One at a time. Rejects with
   * StorageUnavailable, or with what the parts throw: then the log is as it was.
   */
  putSnapshot(
    covers: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter?: () => number,
  ): Promise<Snapshot>;
  /**
   * Stores a snapshot of another log beside this one, in parts as they come. Rejects with StorageUnavailable, or with
   * what the parts throw; then nothing of it is left. One at a time.
   */
  receive(of: LogPosition, parts: AsyncIterable<SnapshotPart>): Promise<ReceivedSnapshot>;
  /** `failed` while writes are refused. Turns back by itself when they would work again. */
  status(): 'ready' | 'failed';
  statistics(): LogStatistics;
  /** Commits what was appended, syncs it in every mode, and lets go of the files. Later appends are refused. */
  close(): Promise<void>;
}

/** A log, recovered, with the sequence of its last record (0: none); `log.read(0)` replays them. */
export interface OpenedLog {
  readonly log: Log;
  readonly lastSequence: number;
}

/**
 * Opens the log of a folder: verifies all of it, cuts off a torn tail with one warning. Rejects with a StartupError,
 * nothing changed, where anything else is wrong. The folder must be locked by this process.
 */
export async function openLog(backend: StorageBackend, options: LogOptions): Promise<OpenedLog> {
  const contents = await recover(backend, options.onWarn, options.key ?? null);
  const last = contents.segments.at(-1);
  if (last !== undefined) last.lastChecksum = await checksumAt(backend, contents, contents.lastSequence);
  return { log: new SegmentedLog(backend, contents, options), lastSequence: contents.lastSequence };
}

/** The records of one append, each as its bytes. */
interface EncodedRecords {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

/** An append under way. `encoded` is null while it waits for room. */
interface Pending {
  readonly records: readonly LogRecord[];
  readonly operation: Uint8Array | undefined;
  encoded: EncodedRecords | null;
  readonly committed: (() => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Something else that the one loop does between two frames. */
interface Task {
  readonly run: () => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const MEBIBYTE = 1024 * 1024;
/** With what was grouped before it, an append fits a frame. */
const MAX_APPEND_BYTES = MAX_PAYLOAD_BYTES / 2;
/** Less than the 100 ms promised, to leave time for the sync itself. */
const SYNC_INTERVAL_MS = 50;
/** Readiness is due back within 5 s of space returning. */
const PROBE_INTERVAL_MS = 1000;
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
  #isPutting = false;
  readonly #tasks: Task[] = [];
  readonly #onWarn: (message: string) => void;
  readonly #inFlightLimit: number;
  readonly #groupLimit: number;
  readonly #queue: Pending[] = [];
  /** How many at the front of the queue are encoded; those behind wait for room. */
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
  /** Bytes of the frame that last failed for want of room; 0 while all is well. */
  #failedBytes = 0;
  #closing: Promise<void> | null = null;
  readonly #totals = { records: 0, commits: 0, bytes: 0 };

  constructor(backend: StorageBackend, contents: LogContents, options: LogOptions) {
    this.#backend = backend;
    this.#segments = contents.segments;
    this.fsync = options.fsync;
    this.isEncrypted = (options.key ?? null) !== null;
    this.#options = options;
    this.#branch = branchOf(contents, options);
    this.#snapshot = contents.snapshot;
    this.#onWarn = options.onWarn;
    this.#inFlightLimit = options.inFlightBytes ?? 64 * MEBIBYTE;
    this.#groupLimit = options.groupBytes ?? 16 * MEBIBYTE;
    this.#lastSequence = contents.lastSequence;
    this.#nextSequence = contents.lastSequence + 1;
    this.#writer = new SegmentWriter(backend, contents, {
      segmentBytes: options.segmentBytes ?? 64 * MEBIBYTE,
      isSyncedLater: options.fsync === 'interval',
      branch: this.#branch,
      key: options.key ?? null,
      now: options.now,
      random: options.random,
      onWarn: options.onWarn,
      onSync: options.onSync ?? (() => {}),
    });
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
      // The first ones may go, and others come, while one is read.
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
    // It continues into segments that are made later: none is needed beside it.
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
    } catch (error) {
      // It may be in the folder, and the next start goes on from it then.
      throw this.#writer.latch(error);
    }
    this.#branch = branch;
    this.#lastSequence = sequence;
    this.#nextSequence = sequence + 1;
  }

  /** Writes a snapshot and gives it its name. */
  async #written(header: SnapshotHeader, parts: AsyncIterable<SnapshotPart>): Promise<WrittenSnapshot> {
    const sealing = sealingOf(this.#options.key ?? null, header.salt, this.#options.random);
    let written: WrittenSnapshot | null = null;
    try {
      written = await writeSnapshot(this.#backend, header, sealing, parts, this.#onWarn);
      // It may hold the effect of records that nobody has synced: they must not be lost beside it.
      await this.#between(() => this.#writer.sync());
      await written.install();
      return written;
    } catch (error) {
      await written?.discard();
      throw systemErrorCode(error) === '' ? error : unavailable(error, 'snapshot');
    }
  }

  /** Lets go of what the snapshot covers. What cannot be removed is tried again by the next snapshot or start. */
  async #removeCovered(snapshot: StoredSnapshot, neededAfter: number): Promise<void> {
    const needed = this.#segments.findIndex(
      ({ header, lastSequence }) => header.id >= snapshot.header.segment || lastSequence > neededAfter,
    );
    if (needed > 0) this.#segments.splice(0, needed);
    try {
      await removeLeftOver(this.#backend, snapshot, this.#segments[0]?.header.id);
    } catch (error) {
      this.#onWarn(`What the snapshot covers could not be removed: ${reason(error)}`);
    }
  }

  /** Has the one loop run this between two frames. */
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

  /** Starts the one loop that writes, where it does not run. */
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

  /** The appends that share the next frame: one at least, then as many as its limit lets in. */
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

  /** Encodes appends that waited, in their order, while there is room, and lets those in who wait to begin. */
  #admit(): void {
    while (this.#encoded < this.#queue.length && this.#inFlightBytes < this.#inFlightLimit) {
      const pending = this.#queue[this.#encoded] as Pending;
      try {
        pending.encoded = encodeAll(pending.records, pending.operation);
        this.#inFlightBytes += pending.encoded.bytes;
        this.#encoded++;
      } catch (error) {
        // Its sequences are taken: those behind it cannot be written either.
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

  /** Tries whether what failed would work now, so that readiness turns back without a write. */
  async #probe(): Promise<void> {
    this.#probeDue = false;
    if (this.#failedBytes === 0) return;
    try {
      await this.#writer.probe(Math.min(Math.max(this.#failedBytes, PROBE_BYTES.least), PROBE_BYTES.most));
      this.#recovered();
    } catch (error) {
      // Still no room: stay failed and look again. (A latched writer has said so itself.)
      this.#fail(error, this.#failedBytes);
    }
  }
}

/** The history that is written from now on. */
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
    throw new EngineError('PayloadTooLarge', 'The write is larger than the log takes at once.');
  }
  return { parts, bytes };
}

function heldBytes(appends: readonly Pending[]): number {
  return appends.reduce((sum, pending) => sum + (pending.encoded?.bytes ?? 0), 0);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
