/**
 * Writes the log's segments, one frame at a time. No other code writes them.
 *
 * Invariant: the current segment consists of whole committed frames up to `end`, and no other bytes are left that a
 * later frame could follow. A failed write is truncated. If that fails too, or a sync fails, the contents of the disk
 * are unknown and the writer latches: it writes nothing until a restart has run recovery. A segment's header and name
 * are durable before its first frame is written, and the whole segment before the next one is created, so only the last
 * segment can be torn. The caller runs one method at a time.
 */
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { systemError, systemErrorCode, type StorageBackend, type StorageFile } from './backend.ts';
import { type FolderKey, type Sealer, sealingOf } from './cipher.ts';
import {
  encodeFrame,
  encodeSegmentHeader,
  FOLLOWS_UNSYNCED,
  FrameRoom,
  type HistoryParent,
  recordChecksum,
  SALT_BYTES,
  type SegmentHeader,
} from './codec.ts';
import { markFrame, segmentName, type LogContents, type Segment } from './recovery.ts';

interface SegmentWriterOptions {
  /** Size in bytes at which a new segment starts. */
  readonly segmentBytes: number;
  /** Frames may be written before earlier frames are synced, and are flagged accordingly. */
  readonly isSyncedLater: boolean;
  readonly branch: Branch;
  /** See `StorageBackend.identityOf`; null: nobody can move it. */
  readonly folder: string | null;
  /** The folder's key; null: no encryption. */
  readonly key: FolderKey | null;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
  /** Receives the duration of each file sync, in milliseconds. Must not throw. */
  readonly onSync: (elapsedMs: number) => void;
}

/** The history being written, its epoch, and where it branched off. */
export interface Branch {
  readonly historyId: string;
  readonly epoch: number;
  readonly parent: HistoryParent | null;
}

/** One group commit: the encoded records in order, and the sequence of the first. */
export interface Group {
  readonly firstSequence: number;
  /** Number of records, of which each is one part or several. */
  readonly count: number;
  readonly parts: readonly Uint8Array[];
  /** The line of the last record, or its part before the operation. */
  readonly last: Uint8Array;
}

/** The segment being written. */
interface CurrentSegment {
  readonly segment: Segment;
  readonly file: StorageFile;
  readonly sealer: Sealer;
  /** See `StorageFile.identity`; null: nobody can move it. */
  readonly identity: string | null;
}

/** The writer of one log's segments. */
export class SegmentWriter {
  readonly #backend: StorageBackend;
  readonly #options: SegmentWriterOptions;
  /** All segments, shared with the log's reader. */
  readonly #segments: Segment[];
  /** What the first segment follows if none exists yet: the last record, and the id for the segment. */
  #before: { readonly sequence: number; readonly checksum: number | null; readonly id: number };
  #branch: Branch;
  #current: CurrentSegment | null = null;
  /** True if written or truncated bytes are not synced yet. */
  #dirty = false;
  /** Durable bytes of the current segment. */
  #syncedEnd = 0;
  #latched: EngineError | null = null;
  #syncs = 0;
  readonly #room = new FrameRoom();

  constructor(backend: StorageBackend, contents: LogContents, options: SegmentWriterOptions) {
    this.#backend = backend;
    this.#segments = contents.segments;
    const { segment: id = 0, checksum = null } = contents.snapshot?.header ?? {};
    this.#before = { sequence: contents.lastSequence, checksum, id };
    this.#branch = options.branch;
    this.#options = options;
  }

  /** Number of file syncs so far. */
  get syncs(): number {
    return this.#syncs;
  }

  /** Why writing has stopped until a restart; null: it has not. */
  get latched(): EngineError | null {
    return this.#latched;
  }

  /**
   * Writes a group as one frame and syncs it if `durable`. Rejects with StorageUnavailable: latched if the outcome is
   * unknown, otherwise with nothing written. Resolves with the frame's bytes.
   */
  async write(group: Group, durable: boolean): Promise<number> {
    const current = await this.#ready();
    const { segment, file, sealer } = current;
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
      this.#room,
    );
    await this.#put(file, frame, segment.end);
    // The folder's place is looked up while the disk works.
    const place = this.#isAt(current).catch((error: unknown) => unavailable(error));
    if (durable) await this.#sync(file);
    const isInPlace = await place;
    if (isInPlace !== true) {
      await this.#cutBack(file, segment.end);
      throw isInPlace === false ? this.misplaced() : isInPlace;
    }
    this.#dirty = !durable;
    markFrame(segment, segment.end, firstSequence);
    segment.end += frame.length;
    segment.lastSequence += count;
    segment.lastChecksum = recordChecksum(group.last);
    if (durable) this.#syncedEnd = segment.end;
    return frame.length;
  }

  /** Makes everything written so far durable. Rejects if latched. */
  async sync(): Promise<void> {
    if (this.#latched !== null) throw this.#latched;
    if (this.#current === null || !this.#dirty) return;
    await this.#sync(this.#current.file);
    this.#dirty = false;
    this.#syncedEnd = this.#current.segment.end;
  }

  /** Starts a new, empty segment; everything written before is durable when it resolves. Rejects like `write`. */
  async begin(): Promise<void> {
    if (this.#latched !== null) throw this.#latched;
    const current = this.#current;
    if (current === null || current.segment.end > current.segment.start) await this.#next(current);
  }

  /** Tests whether this many bytes could be written now, and leaves none behind. Rejects like `write`. */
  async probe(bytes: number): Promise<void> {
    const { segment, file } = await this.#ready();
    if (!(await this.isInPlace())) throw this.misplaced();
    // Zeros are not a frame: after a power cut, recovery would cut them off.
    await this.#put(file, new Uint8Array(bytes), segment.end);
    await this.#cutBack(file, segment.end);
  }

  /** True if the folder, and the segment being written, are where they were. */
  async isInPlace(): Promise<boolean> {
    const { identityOf } = this.#backend;
    if (identityOf === undefined) return true;
    return (
      (await identityOf('')) === this.#options.folder &&
      (this.#current === null || (await this.#isAt(this.#current)))
    );
  }

  /** The refusal of a write to a folder that is not in its place. */
  misplaced(): EngineError {
    return unavailable(systemError('ESTALE', `${this.#backend.location('')} was moved, removed or replaced`));
  }

  async #isAt({ segment, identity }: CurrentSegment): Promise<boolean> {
    if (identity === null) return true;
    return (await this.#backend.identityOf?.(segment.name)) === identity;
  }

  /** Forgets all segments, which the caller removes, and continues after this record in another history. */
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

  /** Stops all writing until a restart, since the contents of the disk are unknown. Returns the refusal of writes. */
  latch(cause: unknown): EngineError {
    return this.#latch(cause);
  }

  /** Syncs and closes the file. Later calls create a new segment. */
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

  /** The segment to write to: the current one, or a new one if there is none or it is full. */
  async #ready(): Promise<CurrentSegment> {
    if (this.#latched !== null) throw this.#latched;
    const previous = this.#current;
    if (previous !== null && previous.segment.end < this.#options.segmentBytes) return previous;
    return this.#next(previous);
  }

  /** Replaces the current segment with a new one, after making it durable. */
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
    return { segment, file, sealer, identity: (await file.identity?.()) ?? null };
  }

  /**
   * Removes a segment whose header could not be written, so that the next attempt finds its name free. The removal must
   * be durable: if the file survived a power cut, the segment before it, which is still written to, would not be the
   * last and a torn tail there would count as damage.
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

  /** Closes the previous segment, which is durable, so an error can only leak a descriptor. */
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
      // Truncation too must be durable before the next segment is created.
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
      `The log failed (${code}). After a restart, the service knows whether the last writes were stored; until then ` +
        'it writes nothing more. Reads continue.',
      {},
      { cause },
    );
    this.#options.onWarn(`The log failed; nothing is written until a restart: ${String(cause)}`);
    return this.#latched;
  }
}

/** The refusal of a write or snapshot of which nothing was stored. */
export function unavailable(cause: unknown, what: 'write' | 'snapshot' = 'write'): EngineError {
  const code = systemErrorCode(cause) || 'an error';
  const file = what === 'write' ? 'log' : 'snapshot';
  const detail = `The ${file} could not be written: ${causeOf(code)}. Nothing of this ${what} was stored; try again later. Reads continue.`;
  return new EngineError('StorageUnavailable', detail, {}, { cause });
}

function causeOf(code: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  if (code === 'ESTALE')
    return (
      'the storage folder, or its log, was moved, removed or replaced under the service: move it back, or restart the ' +
      'service with the folder in its place'
    );
  return `the disk answered ${code}`;
}
