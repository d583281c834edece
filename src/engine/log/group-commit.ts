/**
 * The write-ahead log over a store of frames: group commit.
 *
 * Invariant: records are committed in sequence order without a gap, each append whole in one frame. One frame is written
 * at a time; appends that arrive meanwhile share the next one. If a frame fails, every uncommitted append fails with it,
 * since their sequences depend on it, and `nextSequence` moves back. If nobody knows whether a frame was stored, its
 * appends wait until the store can tell, and all others are refused; so the state never misses a stored record.
 */
import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { encodeRecord, type HistoryParent, type LogRecord, recordParts } from './codec.ts';
import { type FrameStore, noOwner, outcomeUnknown } from './frame-store.ts';
import type { AppendOptions, FsyncMode, Log, LogPosition, LogStatistics, ReceivedSnapshot } from './log.ts';
import type { StoredRecords } from './log-reader.ts';
import type { HistoryRewrite } from './rewriting.ts';
import type { RetainedLog } from './retained.ts';
import type { Group } from './segment-writer.ts';
import type { SharedStore } from './shared-store.ts';
import type { Snapshot, SnapshotCopy } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';

/** The limits of a log, in bytes; see `LogOptions`. */
interface GroupLimits {
  readonly inFlightBytes?: number;
  readonly groupBytes?: number;
  /** Milliseconds after which an append of unknown outcome is reported as such; default 10 s. */
  readonly doubtMs?: number;
}

/** The encoded records of one append. */
interface EncodedRecords {
  readonly parts: readonly Uint8Array[];
  /** The line of the last record, or its part before the operation. */
  readonly last: Uint8Array;
  readonly bytes: number;
}

/** An append in progress. `encoded` is null while it waits for room. */
interface Pending {
  readonly records: readonly LogRecord[];
  readonly operation: Uint8Array | undefined;
  readonly doubted: AppendOptions['doubted'] | undefined;
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
/** How long `confirm` waits for the outcome of a frame. */
const CONFIRM_MS = 5000;
const DOUBT_MS = 10_000;

/** The log over this store; nothing else may use the store. */
export class GroupCommit implements Log {
  readonly #store: FrameStore;
  readonly #inFlightLimit: number;
  readonly #groupLimit: number;
  readonly #doubtMs: number;
  readonly #tasks: Task[] = [];
  readonly #queue: Pending[] = [];
  /** The appends of the frame that is being stored, at the front of the queue. */
  #underWay: readonly Pending[] = [];
  /** Number of encoded appends at the front of the queue; the others wait for room. */
  #encoded = 0;
  #inFlightBytes = 0;
  #nextSequence: number;
  #roomWaiters: (() => void)[] = [];
  #running: Promise<void> | null = null;
  /** The refusal of appends while the outcome of a frame is unknown; null: it is not. */
  #unsettled: EngineError | null = null;
  #closing: Promise<void> | null = null;
  readonly #totals = { records: 0, commits: 0, bytes: 0 };

  constructor(store: FrameStore, limits: GroupLimits = {}) {
    this.#store = store;
    this.#inFlightLimit = limits.inFlightBytes ?? 64 * MEBIBYTE;
    this.#groupLimit = limits.groupBytes ?? 16 * MEBIBYTE;
    this.#doubtMs = limits.doubtMs ?? DOUBT_MS;
    this.#nextSequence = store.lastSequence + 1;
    store.attach({
      between: (run) => this.#between(run),
      wake: () => this.#wake(),
      lose: (refusal) => this.#lose(refusal),
    });
  }

  get historyId(): string {
    return this.#store.branch.historyId;
  }

  get epoch(): number {
    return this.#store.branch.epoch;
  }

  get parent(): HistoryParent | null {
    return this.#store.branch.parent;
  }

  get fsync(): FsyncMode {
    return this.#store.fsync;
  }

  get isEncrypted(): boolean {
    return this.#store.isEncrypted;
  }

  get isRemote(): boolean {
    return this.#store.isRemote;
  }

  get shared(): SharedStore | null {
    return this.#store.shared;
  }

  get firstSequence(): number {
    return this.#store.firstSequence;
  }

  /** A copy of a shared log goes on after what it has applied. */
  get nextSequence(): number {
    return this.#queue.length === 0 ? this.#store.lastSequence + 1 : this.#nextSequence;
  }

  get lastSequence(): number {
    return this.#store.lastSequence;
  }

  async append(
    records: readonly LogRecord[],
    committed?: () => void,
    options?: AppendOptions,
  ): Promise<void> {
    if (this.#closing !== null) throw new EngineError('NotReady', 'The service is shutting down.');
    if (this.#store.latched !== null) throw this.#store.latched;
    if (this.#unsettled !== null) throw this.#unsettled;
    this.#nextSequence = this.nextSequence;
    const operation = options?.operation;
    assert(records.length > 0, 'an append has records');
    assert(operation === undefined || records.length === 1, 'one record has the operation');
    records.forEach((record, index) => {
      assert(record.sequence === this.#nextSequence + index, 'records continue the log');
    });
    const encoded = this.#hasRoom() ? this.#encode(records, operation) : null;
    const done = new Promise<void>((resolve, reject) => {
      const doubted = options?.doubted;
      this.#queue.push({ records, operation, doubted, encoded, committed, resolve, reject });
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
    for (;;) {
      if (this.#unsettled !== null) throw this.#unsettled;
      if (this.#hasRoom()) return;
      await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
    }
  }

  async confirm(): Promise<void> {
    const stored = await this.#store.confirm();
    if (stored <= this.#store.lastSequence) return;
    // A frame is stored whose answer has not come yet, and other nodes show it.
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CONFIRM_MS);
    });
    await Promise.race([this.settled(), late]);
    clearTimeout(timer);
    if (stored > this.#store.lastSequence) throw noOwner('It is not known yet what the store has.');
  }

  settled(): Promise<void> {
    return this.#between(() => Promise.resolve());
  }

  read(after: number): AsyncGenerator<LogRecord, void, undefined> {
    return this.#store.read(after);
  }

  readStored(after: number): AsyncGenerator<StoredRecords, void, undefined> {
    return this.#store.readStored(after);
  }

  checksumAt(sequence: number): Promise<number | null> {
    return this.#store.checksumAt(sequence);
  }

  snapshot(): Snapshot | null {
    return this.#store.snapshot();
  }

  readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#store.readSnapshot(section);
  }

  retained(): Promise<RetainedLog> {
    return this.#store.retained();
  }

  eraseHistory(sequence: number): void {
    this.#store.eraseHistory(sequence);
  }

  resumeErasing(): Promise<void> {
    return this.#store.resumeErasing();
  }

  rewriteHistoryBy(rewrite: HistoryRewrite): void {
    this.#store.rewriteHistoryBy(rewrite);
  }

  copySnapshot(): Promise<SnapshotCopy> {
    return this.#store.copySnapshot();
  }

  async beginSegment(): Promise<number> {
    let last = 0;
    await this.#between(async () => {
      await this.#store.beginSegment();
      last = this.#store.lastSequence;
    });
    return last;
  }

  async putSnapshot(
    covers: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter: () => number = () => covers.sequence,
  ): Promise<Snapshot> {
    return this.#store.putSnapshot(covers, parts, neededAfter);
  }

  async receive(of: LogPosition, parts: AsyncIterable<SnapshotPart>): Promise<ReceivedSnapshot> {
    assert(this.#store.receive !== undefined, 'a follower keeps its log in a folder');
    const received = await this.#store.receive(of, parts);
    return {
      readSnapshot: (section) => received.readSnapshot(section),
      install: () =>
        this.#between(async () => {
          assert(this.#queue.length === 0, 'nothing is written while the log is replaced');
          await received.install();
        }),
      discard: () => received.discard(),
    };
  }

  status(): 'ready' | 'failed' {
    const isLatched = this.#store.latched !== null && this.shared?.role !== 'copy';
    return isLatched || this.#unsettled !== null ? 'failed' : this.#store.status();
  }

  statistics(): LogStatistics {
    return { ...this.#totals, ...this.#store.sizes(), inFlightBytes: this.#inFlightBytes };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#running;
    await this.#store.close();
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
      const due = task === undefined ? this.#store.due(this.#queue.length === 0) : null;
      if (task !== undefined) await task.run().then(task.resolve, task.reject);
      else if (due !== null) await due().catch((error: unknown) => this.#fail(error));
      else if (this.#queue.length > 0) await this.#commitGroup();
      else break;
    }
    this.#running = null;
  }

  async #commitGroup(): Promise<void> {
    const appends = this.#nextGroup();
    const parts = appends.flatMap(({ encoded }) => encoded?.parts ?? []);
    const count = appends.reduce((sum, { records }) => sum + records.length, 0);
    const last = present(appends.at(-1)?.encoded, 'a group has encoded appends').last;
    const group = { firstSequence: this.#store.lastSequence + 1, count, parts, last };
    let written: number | null;
    this.#underWay = appends;
    try {
      written = await this.#store.append(group);
    } catch (error) {
      written = await this.#afterFailure(group, appends, error);
    }
    this.#underWay = [];
    if (written === null) return;
    this.#totals.commits++;
    this.#totals.records += count;
    this.#totals.bytes += written;
    this.#queue.splice(0, appends.length);
    this.#encoded -= appends.length;
    this.#inFlightBytes -= heldBytes(appends);
    for (const pending of appends) tell(pending);
    this.#admit();
  }

  /** Resolves with the bytes of the frame if it turns out to be stored; else refuses what waits, null. */
  async #afterFailure(group: Group, appends: readonly Pending[], error: unknown): Promise<number | null> {
    try {
      if (error instanceof EngineError && error.code === 'OutcomeUnknown')
        return await this.#settle(group, appends, error);
      throw error;
    } catch (failure) {
      this.#fail(failure);
      return null;
    }
  }

  async #settle(group: Group, appends: readonly Pending[], error: EngineError): Promise<number> {
    this.#unsettled = noOwner('It is not known yet whether the store has the writes before this one.', error);
    this.#rejectFrom(appends.length, this.#unsettled);
    this.#admit();
    const timer = setTimeout(() => {
      for (const { doubted } of appends) doubted?.(outcomeUnknown(error));
    }, this.#doubtMs);
    try {
      const written = await this.#store.settle(group);
      if (written === null) throw noOwner('The connection to the store broke before the commit.', error);
      return written;
    } finally {
      clearTimeout(timer);
      this.#unsettled = null;
    }
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
      const pending = present(this.#queue[this.#encoded], 'it is in the queue');
      try {
        pending.encoded = this.#encode(pending.records, pending.operation);
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

  #lose(refusal: EngineError): void {
    this.#rejectFrom(this.#underWay.length, refusal);
    for (const { doubted } of this.#underWay) doubted?.(outcomeUnknown());
    this.#admit();
  }

  #fail(error: unknown): void {
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

  #encode(records: readonly LogRecord[], operation: Uint8Array | undefined): EncodedRecords {
    const [first] = records;
    const parts =
      operation !== undefined && first !== undefined
        ? recordParts(first, operation)
        : records.map((record) => encodeRecord(record));
    const last = operation === undefined ? parts.at(-1) : parts[0];
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (bytes > this.#store.maxAppendBytes)
      throw new EngineError('PayloadTooLarge', 'The write is too large for the log.');
    return { parts, last: present(last, 'an append has records'), bytes };
  }
}

function tell(pending: Pending): void {
  try {
    pending.committed?.();
  } catch (error) {
    pending.reject(error);
    return;
  }
  pending.resolve();
}

function heldBytes(appends: readonly Pending[]): number {
  return appends.reduce((sum, pending) => sum + (pending.encoded?.bytes ?? 0), 0);
}
