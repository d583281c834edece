/**
 * The one place that writes the log's files: a segment at a time, a frame at a time.
 *
 * Invariant: the bytes of the current segment up to `end` are whole committed frames, and nothing else is ever left
 * for a following frame to land behind. A write that fails is cut off again; where that fails too, or a sync fails,
 * nobody knows any more what the disk holds, and the writer is latched: it writes nothing until the process is
 * started anew and recovery has looked. A segment is made durable, header and name, before its first frame is
 * written, and is durable as a whole before the next one is made: so only the last one can be torn.
 * The caller runs one method at a time.
 */
import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { systemErrorCode, type StorageBackend, type StorageFile } from './backend.ts';
import { type FolderKey, type Sealer, sealingOf } from './cipher.ts';
import {
  encodeFrame,
  encodeSegmentHeader,
  FOLLOWS_UNSYNCED,
  type HistoryParent,
  recordChecksum,
  SALT_BYTES,
  type SegmentHeader,
} from './codec.ts';
import { markFrame, segmentName, type LogContents, type Segment } from './recovery.ts';

export interface SegmentWriterOptions {
  /** A segment that has reached this size is followed by a new one. */
  readonly segmentBytes: number;
  /** Frames are written before those before them are synced, and say so. */
  readonly isSyncedLater: boolean;
  readonly branch: Branch;
  /** The folder's; null: files are not encrypted. */
  readonly key: FolderKey | null;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
  /** Told how long each sync of a file took, in milliseconds. Does not throw. */
  readonly onSync: (elapsedMs: number) => void;
}

/** The history that is written, under which epoch, and where it branched off. */
export interface Branch {
  readonly historyId: string;
  readonly epoch: number;
  readonly parent: HistoryParent | null;
}

/** One group commit: the encoded records in order, and the sequence of the first. */
export interface Group {
  readonly firstSequence: number;
  readonly count: number;
  readonly parts: readonly Uint8Array[];
}

/** The segment that is written to. */
interface CurrentSegment {
  readonly segment: Segment;
  readonly file: StorageFile;
  readonly sealer: Sealer;
}

export class SegmentWriter {
  readonly #backend: StorageBackend;
  readonly #options: SegmentWriterOptions;
  /** All segments there are; the reader of the log looks at them too. */
  readonly #segments: Segment[];
  /** What the first segment follows where there is none yet: the last record, and the number that it is to have. */
  #before: { readonly sequence: number; readonly checksum: number | null; readonly id: number };
  #branch: Branch;
  #current: CurrentSegment | null = null;
  /** Bytes were written, or cut off, that no sync has covered. */
  #dirty = false;
  /** Bytes of the current segment that are durable. */
  #syncedEnd = 0;
  #latched: EngineError | null = null;
  #syncs = 0;

  constructor(backend: StorageBackend, contents: LogContents, options: SegmentWriterOptions) {
    this.#backend = backend;
    this.#segments = contents.segments;
    const { segment: id = 0, checksum = null } = contents.snapshot?.header ?? {};
    this.#before = { sequence: contents.lastSequence, checksum, id };
    this.#branch = options.branch;
    this.#options = options;
  }

  /** Syncs of files so far. */
  get syncs(): number {
    return this.#syncs;
  }

  /** Why nothing is written any more until a restart; null while writing is possible. */
  get latched(): EngineError | null {
    return this.#latched;
  }

  /**
   * Writes a group as one frame and, with `durable`, syncs it. Rejects with StorageUnavailable: latched where the
   * outcome is unknown, else with nothing written. Resolves with the bytes of the frame.
   */
  async write(group: Group, durable: boolean): Promise<number> {
    const { segment, file, sealer } = await this.#ready();
    const { historyId, epoch } = this.#branch;
    const { isSyncedLater } = this.#options;
    const { firstSequence, count } = group;
    const flags = isSyncedLater && this.#syncedEnd < segment.end ? FOLLOWS_UNSYNCED : 0;
    assert(firstSequence === segment.lastSequence + 1, 'a frame follows the one before it');
    const frame = encodeFrame(
      segment.header.salt,
      segment.end,
      { flags, historyId, epoch, firstSequence, count },
      group.parts,
      sealer,
    );
    await this.#put(file, frame, segment.end);
    if (durable) await this.#sync(file);
    this.#dirty = !durable;
    markFrame(segment, segment.end, firstSequence);
    segment.end += frame.length;
    segment.lastSequence += count;
    segment.lastChecksum = recordChecksum(present(group.parts.at(-1), 'a group has records'));
    if (durable) this.#syncedEnd = segment.end;
    return frame.length;
  }

  /** Makes all that was written durable. Rejects latched. */
  async sync(): Promise<void> {
    if (this.#latched !== null) throw this.#latched;
    if (this.#current === null || !this.#dirty) return;
    await this.#sync(this.#current.file);
    this.#dirty = false;
    this.#syncedEnd = this.#current.segment.end;
  }

  /**
   * Has what follows written to a new segment, which is there and empty when this resolves; what was written is durable
   * then. Rejects as `write`.
   */
  async begin(): Promise<void> {
    if (this.#latched !== null) throw this.#latched;
    const current = this.#current;
    if (current === null || current.segment.end > current.segment.start) await this.#next(current);
  }

  /** Finds out whether so many bytes could be written now, and leaves nothing of them behind. Rejects as `write`. */
  async probe(bytes: number): Promise<void> {
    const { segment, file } = await this.#ready();
    // Zeros are no frame: should the power go now, recovery cuts them off.
    await this.#put(file, new Uint8Array(bytes), segment.end);
    await this.#cutBack(file, segment.end);
  }

  /** Lets go of all segments, which are to be gone, and goes on after this record in another history. */
  async restart(branch: Branch, last: { sequence: number; checksum: number | null }): Promise<void> {
    const current = this.#current;
    this.#current = null;
    this.#dirty = false;
    this.#syncedEnd = 0;
    this.#segments.length = 0;
    this.#before = { ...last, id: 0 };
    this.#branch = branch;
    if (current !== null) await this.#discard(current);
  }

  /** Writes nothing any more until a restart: nobody knows what the disk holds. Answers the refusal of writes. */
  latch(cause: unknown): EngineError {
    return this.#latch(cause);
  }

  /** Syncs and closes the file. Later calls make a new segment. */
  async close(): Promise<void> {
    const current = this.#current;
    if (current === null) return;
    try {
      if (this.#latched === null) await this.sync();
    } finally {
      this.#current = null;
      await current.file.close();
    }
  }

  /** The segment to write to: the current one, or a new one where there is none or it is full. */
  async #ready(): Promise<CurrentSegment> {
    if (this.#latched !== null) throw this.#latched;
    const previous = this.#current;
    if (previous !== null && previous.segment.end < this.#options.segmentBytes) return previous;
    return this.#next(previous);
  }

  /** A new segment in the place of the current one, all of which is durable before. */
  async #next(previous: CurrentSegment | null): Promise<CurrentSegment> {
    await this.sync();
    const created = await this.#create();
    this.#current = created;
    this.#syncedEnd = created.segment.end;
    this.#segments.push(created.segment);
    if (previous !== null) await this.#discard(previous);
    return created;
  }

  async #create(): Promise<CurrentSegment> {
    const { key, now, random } = this.#options;
    const { historyId, parent } = this.#branch;
    const last = this.#segments.at(-1);
    const lastSequence = last?.lastSequence ?? this.#before.sequence;
    const lastChecksum = last === undefined ? this.#before.checksum : last.lastChecksum;
    const header: SegmentHeader = {
      id: last === undefined ? Math.max(1, this.#before.id) : last.header.id + 1,
      firstSequence: lastSequence + 1,
      salt: random(SALT_BYTES),
      historyId,
      parent,
      createdAt: now(),
      before: lastChecksum,
    };
    const sealing = sealingOf(key, header.salt, random);
    const bytes = encodeSegmentHeader(header, sealing);
    const name = segmentName(header.id);
    const file = await this.#backend.create(name).catch((error: unknown) => {
      throw unavailable(error);
    });
    try {
      await file.write(bytes, 0);
    } catch (error) {
      await this.#abandon(name, file);
      throw unavailable(error);
    }
    await this.#sync(file);
    await this.#backend.syncDirectory().catch((error: unknown) => {
      throw this.#latch(error);
    });
    const { opener, sealer } = sealing;
    const start = bytes.length;
    const segment = { name, header, start, opener, end: start, lastSequence, lastChecksum, marks: [] };
    return { segment, file, sealer };
  }

  /**
   * Takes back a segment whose header could not be written, so that the next try finds its name free. Durably: were it
   * there after a power cut, the segment before it, which is written on, would not be the last and could not be torn.
   */
  async #abandon(name: string, file: StorageFile): Promise<void> {
    try {
      await file.close();
      await this.#backend.remove(name);
      await this.#backend.syncDirectory();
    } catch (error) {
      throw this.#latch(error);
    }
  }

  /** Closes the segment before, all of which is durable: an error can only cost a descriptor. */
  async #discard(previous: CurrentSegment): Promise<void> {
    try {
      await previous.file.close();
    } catch (error) {
      this.#options.onWarn(`${previous.segment.name} could not be closed: ${String(error)}`);
    }
  }

  async #put(file: StorageFile, bytes: Uint8Array, position: number): Promise<void> {
    try {
      await file.write(bytes, position);
    } catch (error) {
      await this.#cutBack(file, position);
      throw unavailable(error);
    }
  }

  async #cutBack(file: StorageFile, end: number): Promise<void> {
    try {
      await file.truncate(end);
      // Not only what is added has to be durable before the next segment is made.
      this.#dirty = true;
    } catch (error) {
      throw this.#latch(error);
    }
  }

  async #sync(file: StorageFile): Promise<void> {
    const startedAt = performance.now();
    try {
      await file.sync();
      this.#syncs++;
      this.#options.onSync(performance.now() - startedAt);
    } catch (error) {
      throw this.#latch(error);
    }
  }

  #latch(cause: unknown): EngineError {
    const code = systemErrorCode(cause) || 'an error';
    this.#latched = new EngineError(
      'StorageUnavailable',
      `The log failed (${code}): whether the last writes are stored is known after a restart of the service, and ` +
        'nothing more is written before it. Reads go on.',
      {},
      { cause },
    );
    this.#options.onWarn(`The log failed; nothing is written until a restart: ${String(cause)}`);
    return this.#latched;
  }
}

/** The refusal of a write, or of a snapshot, of which nothing was stored. */
export function unavailable(cause: unknown, what: 'write' | 'snapshot' = 'write'): EngineError {
  const code = systemErrorCode(cause) || 'an error';
  const why = code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : `the disk answered ${code}`;
  const file = what === 'write' ? 'log' : 'snapshot';
  const detail = `The ${file} could not be written: ${why}. Nothing of this ${what} was stored; try again later. Reads go on.`;
  return new EngineError('StorageUnavailable', detail, {}, { cause });
}
