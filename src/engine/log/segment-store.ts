/**
 * The frames and snapshots of a log as files of a folder.
 *
 * Covered segments are removed only after the snapshot is durable, and so are all records that it can reflect. The segment
 * writer knows the file format; this class decides when it syncs, and what happens while the disk or the folder fails.
 */
import { assert, present } from '../base/assert.ts';
import type { EngineError } from '../base/errors.ts';
import { type StorageBackend, systemErrorCode } from './backend.ts';
import { sealingOf } from './cipher.ts';
import { frameBytes, hexadecimal, type LogRecord, MAX_PAYLOAD_BYTES, SALT_BYTES } from './codec.ts';
import type { FrameStore, StoreSizes, WriteLoop } from './frame-store.ts';
import type { FsyncMode, LogOptions, LogPosition, ReceivedSnapshot } from './log.ts';
import { checksumAt, readSegment, readStored, type StoredRecords } from './log-reader.ts';
import { type LogContents, type Segment, takeReceived } from './recovery.ts';
import { RetainedLog } from './retained.ts';
import { completeRewriting, type HistoryRewrite, writeAgain } from './rewriting.ts';
import type { RetainedHistory } from './retention.ts';
import { type Branch, type Group, SegmentWriter, unavailable } from './segment-writer.ts';
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

/** The store over the files of a folder that was recovered. */
export class SegmentStore implements FrameStore {
  readonly isRemote = false;
  readonly shared = null;
  readonly maxAppendBytes = MAX_APPEND_BYTES;
  readonly fsync: FsyncMode;
  readonly isEncrypted: boolean;
  readonly #backend: StorageBackend;
  readonly #segments: Segment[];
  readonly #writer: SegmentWriter;
  readonly #options: LogOptions;
  readonly #onWarn: (message: string) => void;
  #loop: WriteLoop | null = null;
  #branch: Branch;
  #snapshot: StoredSnapshot | null;
  readonly #history: RetainedHistory;
  /** null: a history that contains what was erased goes. */
  #rewrite: HistoryRewrite | null = null;
  /** How often the history was rewritten. */
  #rewritten = 0;
  #isPutting = false;
  #lastSequence: number;
  #syncTimer: ReturnType<typeof setTimeout> | null = null;
  #syncDue = false;
  #probeTimer: ReturnType<typeof setTimeout> | null = null;
  #probeDue = false;
  /** null: nobody can move the folder. */
  #lookTimer: ReturnType<typeof setInterval> | null = null;
  #lookDue = false;
  /** Bytes of the last frame that failed for lack of space; 0: no failure. */
  #failedBytes = 0;
  #isClosing = false;

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
    this.#history = history;
    this.#onWarn = options.onWarn;
    this.#lastSequence = contents.lastSequence;
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
      this.#loop?.wake();
    }, LOOK_INTERVAL_MS);
    this.#lookTimer.unref();
  }

  get branch(): Branch {
    return this.#branch;
  }

  get firstSequence(): number {
    return this.#segments[0]?.header.firstSequence ?? this.#lastSequence + 1;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  get latched(): EngineError | null {
    return this.#writer.latched;
  }

  attach(loop: WriteLoop): void {
    this.#loop = loop;
  }

  due(isIdle: boolean): (() => Promise<void>) | null {
    if (this.#syncDue) return () => this.#syncWritten();
    if (this.#lookDue) return () => this.#look();
    return this.#probeDue && isIdle ? () => this.#probe() : null;
  }

  async append(group: Group): Promise<number> {
    let written: number;
    try {
      if (this.#failedBytes > 0) await this.#checkFiles();
      written = await this.#writer.write(group, this.fsync === 'always');
    } catch (error) {
      throw this.#failed(error, frameBytes(group.parts.reduce((sum, part) => sum + part.length, 0)));
    }
    if (this.fsync === 'interval') this.#scheduleSync();
    this.#lastSequence += group.count;
    this.#recovered();
    return written;
  }

  settle(): Promise<number | null> {
    throw new Error('assertion failed: a disk never leaves an append in doubt');
  }

  /** The folder's lock keeps other processes away. */
  confirm(): Promise<number> {
    return Promise.resolve(this.lastSequence);
  }

  async *read(after: number): AsyncGenerator<LogRecord, void, undefined> {
    for (const segment of this.#segmentsAfter(after)) yield* readSegment(this.#backend, segment, after);
  }

  async *readStored(after: number): AsyncGenerator<StoredRecords, void, undefined> {
    for (const segment of this.#segmentsAfter(after)) yield* readStored(this.#backend, segment, after);
  }

  *#segmentsAfter(after: number): Generator<Segment, void, undefined> {
    assert(after >= this.firstSequence - 1, 'records that are covered by a snapshot are read from it');
    let done: Pick<Segment, 'lastSequence'> & { readonly id: number } = { id: 0, lastSequence: 0 };
    for (;;) {
      const { id, lastSequence: end } = done;
      // Segments can be removed and added while one is read.
      const next = this.#segments.find(({ header, lastSequence }) => header.id > id && lastSequence > after);
      // Those between were removed: what was read so far is not continued.
      if (next === undefined || (id > 0 && next.header.firstSequence > end + 1)) return;
      yield next;
      done = { id: next.header.id, lastSequence: next.lastSequence };
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
    const rewritten = this.#rewritten;
    return RetainedLog.find(this.#backend, key, {
      segments: [...this.#segments],
      snapshot: this.#snapshot,
      isRewritten: () => this.#rewritten !== rewritten,
    });
  }

  rewriteHistoryBy(rewrite: HistoryRewrite): void {
    this.#rewrite = rewrite;
  }

  eraseHistory(sequence: number): void {
    this.#history.erase(sequence);
  }

  async resumeErasing(): Promise<void> {
    const snapshot = this.#snapshot;
    const rewrite = this.#rewrite;
    if (!this.#history.isInterrupted || snapshot === null || rewrite === null) return;
    try {
      const hasErasures = await rewrite.hasErasures(await this.retained(), snapshot.header.sequence);
      if (!hasErasures) this.#rewrite = null;
    } catch (error) {
      this.#onWarn(`The history ends, since it could not be read to be rewritten: ${reason(error)}`);
      this.#rewrite = null;
    }
    await this.#removeCovered(snapshot, Number.POSITIVE_INFINITY);
    this.#rewrite = rewrite;
  }

  copySnapshot(): Promise<SnapshotCopy> {
    return openCopy(this.#backend, () => present(this.#snapshot, 'there is a snapshot'));
  }

  beginSegment(): Promise<void> {
    return this.#writer.begin();
  }

  async putSnapshot(
    covers: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter: () => number,
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
      install: () => this.#install(stored, written),
      discard: () => written.discard(),
    };
  }

  status(): 'ready' | 'failed' {
    return this.#failedBytes > 0 ? 'failed' : 'ready';
  }

  sizes(): StoreSizes {
    const covered = this.#snapshot?.header.segment ?? 0;
    return {
      syncs: this.#writer.syncs,
      segments: this.#segments.length,
      storedBytes: bytesOf(this.#segments),
      uncoveredBytes: bytesOf(this.#segments.filter(({ header }) => header.id >= covered)),
      snapshotBytes: this.#snapshot?.bytes ?? 0,
      history: this.#history.usage,
    };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
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
      historyId: this.#branch.historyId,
      parent: this.#branch.parent,
      epoch: this.#branch.epoch,
      createdAt: this.#options.now(),
    };
  }

  async #install(received: StoredSnapshot, written: WrittenSnapshot): Promise<void> {
    assert(!this.#isPutting, 'no snapshot is put while the log is replaced');
    if (this.#writer.latched !== null) throw this.#writer.latched;
    const { sequence, checksum, historyId, epoch, parent } = received.header;
    const branch = { historyId, epoch, parent };
    try {
      await written.install();
      await this.#writer.restart(branch, { sequence, checksum });
      this.#snapshot = await takeReceived(this.#backend, { ...received, name: receivedName(sequence) });
      this.#history.replaced(received.header.time);
    } catch (error) {
      // The snapshot may already be in the folder; the next start would then continue from it.
      throw this.#writer.latch(error);
    }
    this.#branch = branch;
    this.#lastSequence = sequence;
  }

  /** Writes a snapshot and renames it into place. */
  async #written(header: SnapshotHeader, parts: AsyncIterable<SnapshotPart>): Promise<WrittenSnapshot> {
    const sealing = sealingOf(this.#options.key ?? null, header.salt, this.#options.random);
    let written: WrittenSnapshot | null = null;
    try {
      written = await writeSnapshot(this.#backend, header, sealing, parts, this.#onWarn);
      // It may reflect records that are not synced yet; those must not be lost while it remains.
      await present(this.#loop, 'the log was opened').between(() => this.#writer.sync());
      await this.#history.prepare(header);
      await written.install();
      return written;
    } catch (error) {
      await written?.discard();
      throw systemErrorCode(error) === '' ? error : unavailable(error, 'snapshot');
    }
  }

  /** Removes what the snapshot covers and is not retained. A failed removal is retried by the next snapshot or start. */
  async #removeCovered(snapshot: StoredSnapshot, neededAfter: number): Promise<void> {
    // Followers get no segment that contains what was erased: they begin again with the snapshot.
    const isErasing = this.#history.erases(snapshot.header);
    const after = isErasing ? Number.POSITIVE_INFINITY : neededAfter;
    const needed = this.#segments.findIndex(
      ({ header, lastSequence }) => header.id >= snapshot.header.segment || lastSequence > after,
    );
    if (needed > 0) this.#segments.splice(0, needed);
    const rewrite = this.#rewrite;
    const rewriting =
      rewrite === null ? null : (): Promise<void> => this.#rewriteHistory(snapshot.header, rewrite);
    try {
      await this.#history.trim(snapshot, this.#segments[0]?.header.id, rewriting);
    } catch (error) {
      this.#onWarn(`Files that the snapshot covers could not be removed: ${reason(error)}`);
    } finally {
      if (isErasing) rewrite?.ended();
    }
  }

  async #rewriteHistory(newest: SnapshotHeader, rewrite: HistoryRewrite): Promise<void> {
    const { key = null, random } = this.#options;
    const retained = await this.retained();
    const options = { key, random, onWarn: this.#onWarn };
    await writeAgain(this.#backend, retained, newest, rewrite, options);
    this.#rewritten++;
    await completeRewriting(this.#backend, newest);
  }

  /** Refuses writes until the probe succeeds, unless the writer has latched. Returns the error. */
  #failed(error: unknown, bytes: number): unknown {
    if (this.#writer.latched === null) {
      if (this.#failedBytes === 0) this.#onWarn(`Writes are refused: ${reason(error)}`);
      this.#failedBytes = bytes;
      this.#scheduleProbe();
    }
    return error;
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
      this.#loop?.wake();
    }, SYNC_INTERVAL_MS);
  }

  async #syncWritten(): Promise<void> {
    this.#syncDue = false;
    try {
      await this.#writer.sync();
    } catch (error) {
      throw this.#failed(error, 0);
    }
  }

  #scheduleProbe(): void {
    if (this.#probeTimer !== null || this.#isClosing) return;
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = null;
      this.#probeDue = true;
      this.#loop?.wake();
    }, PROBE_INTERVAL_MS);
  }

  /** Refuses writes while the folder is not in its place; the probe finds it when it is back. */
  async #look(): Promise<void> {
    this.#lookDue = false;
    if (this.#failedBytes > 0 || this.#writer.latched !== null) return;
    try {
      if (!(await this.#writer.isInPlace())) throw this.#writer.misplaced();
    } catch (error) {
      throw this.#failed(error, PROBE_BYTES.least);
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
      throw this.#failed(error, this.#failedBytes);
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

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
