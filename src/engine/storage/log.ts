/**
 * The log: records go in, and once they are durable their callers go on, in the order of their sequence.
 *
 * Invariant: records are committed in sequence order without a gap, each whole append in one frame, and an append
 * resolves only when its frame is as durable as `fsync` promises. One frame is under way at a time; what arrives
 * meanwhile shares the next one (group commit). When a frame fails, every append not yet committed fails with it,
 * since their sequences presuppose it, and `nextSequence` falls back.
 * What the files look like is the segment writer's business, what a record means the engine's.
 */
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { StorageBackend } from './backend.ts';
import { encodeRecord, frameBytes, hexadecimal, MAXIMUM_PAYLOAD_BYTES, type LogRecord } from './codec.ts';
import { readSegment } from './log-reader.ts';
import { recover, type LogContents, type Segment } from './recovery.ts';
import { SegmentWriter } from './segment-writer.ts';

/** When an append counts as durable: after a sync, at the latest 100 ms before one, or without. */
export type FsyncMode = 'always' | 'interval' | 'never';

export interface LogOptions {
  readonly fsync: FsyncMode;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** So many random bytes, unpredictable to users. */
  readonly random: (bytes: number) => Uint8Array;
  /** Told, in words for people, what an operator should know. Does not throw. */
  readonly onWarn: (message: string) => void;
  /** A segment that has reached this size is followed by a new one; 64 MiB. */
  readonly segmentBytes?: number;
  /** Encoded records held at most before appends wait for room; 64 MiB. */
  readonly inFlightBytes?: number;
  /** A frame takes no further append once it has this many bytes; 16 MiB. */
  readonly groupBytes?: number;
}

/** Totals since the log was opened, but for the three that say so. */
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
}

export interface Log {
  /** 32 hexadecimal digits that name this log among all logs. */
  readonly historyId: string;
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
  /** The committed records with a sequence above `after`, in order, up to the last at the time it gets there. */
  read(after: number): AsyncGenerator<LogRecord, void, undefined>;
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
  const contents = await recover(backend, options.onWarn);
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

const MEBIBYTE = 1024 * 1024;
/** With what was grouped before it, an append fits a frame. */
const MAXIMUM_APPEND_BYTES = MAXIMUM_PAYLOAD_BYTES / 2;
/** Less than the 100 ms promised, to leave time for the sync itself. */
const SYNC_INTERVAL_MS = 50;
/** Readiness is due back within 5 s of space returning. */
const PROBE_INTERVAL_MS = 1000;
const PROBE_BYTES = { least: 4096, most: MEBIBYTE };

class SegmentedLog implements Log {
  readonly historyId: string;
  readonly #backend: StorageBackend;
  readonly #segments: Segment[];
  readonly #writer: SegmentWriter;
  readonly #fsync: FsyncMode;
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
    this.#fsync = options.fsync;
    this.#onWarn = options.onWarn;
    this.#inFlightLimit = options.inFlightBytes ?? 64 * MEBIBYTE;
    this.#groupLimit = options.groupBytes ?? 16 * MEBIBYTE;
    this.#lastSequence = contents.lastSequence;
    this.#nextSequence = contents.lastSequence + 1;
    this.historyId = contents.historyId ?? hexadecimal(options.random(16));
    this.#writer = new SegmentWriter(backend, contents, {
      segmentBytes: options.segmentBytes ?? 64 * MEBIBYTE,
      historyId: this.historyId,
      epoch: Math.max(1, contents.epoch),
      now: options.now,
      random: options.random,
      onWarn: options.onWarn,
    });
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
    for (let index = 0; index < this.#segments.length; index++) {
      const segment = this.#segments[index] as Segment;
      if (segment.lastSequence > after) yield* readSegment(this.#backend, segment, after);
    }
  }

  status(): 'ready' | 'failed' {
    return this.#writer.latched !== null || this.#failedBytes > 0 ? 'failed' : 'ready';
  }

  statistics(): LogStatistics {
    return {
      ...this.#totals,
      syncs: this.#writer.syncs,
      inFlightBytes: this.#inFlightBytes,
      segments: this.#segments.length,
      storedBytes: this.#segments.reduce((sum, segment) => sum + segment.end, 0),
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
      if (this.#syncDue) await this.#syncWritten();
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
    try {
      await this.#writer.write(
        { firstSequence: this.#lastSequence + 1, count: parts.length, parts },
        this.#fsync === 'always',
      );
    } catch (error) {
      this.#fail(error, frameBytes(bytes));
      return;
    }
    this.#totals.commits++;
    this.#totals.records += parts.length;
    this.#totals.bytes += frameBytes(bytes);
    if (this.#fsync === 'interval') this.#scheduleSync();
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
  if (bytes > MAXIMUM_APPEND_BYTES) {
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
