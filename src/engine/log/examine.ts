/**
 * Finds everything in a folder that still verifies, and all damage.
 *
 * A start stops at the first damage; this continues behind it, frame by frame, and changes nothing. A frame is good if
 * its checksums verify (and its tag, in an encrypted file) and its records come after those before it, possibly with a
 * gap. The caller decides what to make of the rest.
 */
import { assert } from '../base/assert.ts';
import type { StorageBackend } from './backend.ts';
import { type FolderKey, type Opener, plainOpener, SEALED_FLAG } from './cipher.ts';
import {
  decodeSegmentHeader,
  FOLLOWS_UNSYNCED,
  FORMAT_VERSION,
  type LogRecord,
  type ReadFrameHeader,
} from './codec.ts';
import { newerVersion, StartupError, unknownFeature } from './startup-error.ts';
import { HEADER_BYTES, headerBytesWith, openerFor, readHeaderBytes } from './file-header.ts';
import { frameRecords, readSegment } from './log-reader.ts';
import {
  segmentId,
  segmentName,
  segmentNames,
  withFile,
  inspect,
  type LogContents,
  type TornTail,
} from './recovery.ts';
import { SegmentReader } from './segment-reader.ts';
import {
  type ExaminedSnapshot,
  examineSnapshot,
  receivedNames,
  snapshotNames,
  type StoredSnapshot,
  describeSnapshot,
  readSection,
} from './snapshot-reader.ts';
import type { ReadableLog } from './log.ts';

/** Bytes of a file that do not verify or, if `from` = `to`, something missing at that offset. */
export interface Damage {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly what: string;
}

/** A good frame and its position. */
interface GoodFrame {
  readonly name: string;
  readonly salt: Uint8Array;
  readonly opener: Opener;
  readonly offset: number;
  readonly header: ReadFrameHeader;
  readonly lastSequence: number;
}

/** The result of an examination. */
export interface Examined {
  readonly damages: readonly Damage[];
  /** The newest snapshot with an intact state section; null: none. */
  readonly snapshot: StoredSnapshot | null;
  /** True if its observed section is not intact. */
  readonly lacksObserved: boolean;
  /** The good frames with records that the snapshot does not cover, by sequence. */
  readonly frames: readonly GoodFrame[];
  readonly segments: number;
  /** Sequence up to which no record is missing. */
  readonly unbrokenTo: number;
  /** The folder's history; null: no header gives it. */
  readonly historyId: string | null;
  readonly epoch: number;
  /** The highest sequence that any record may have had, found or lost. */
  readonly maxSequence: number;
}

/** Minimum bytes of a record in a frame. */
const MIN_RECORD_BYTES = 64;

/** Examines a folder. Rejects with a StartupError if the key is not the folder's or a file is of a newer version. */
export async function examine(backend: StorageBackend, key: FolderKey | null): Promise<Examined> {
  const names = await backend.list();
  const examination = new Examination(backend, key);
  // A received snapshot replaces everything, so it comes first; if it is intact, no segment counts.
  await examination.snapshots([...receivedNames(names), ...snapshotNames(names).toReversed()]);
  const isReplaced = receivedNames(names).includes(examination.snapshotName);
  await examination.segments(isReplaced ? [] : segmentNames(names));
  return examination.result();
}

/** The records of a good frame. */
export async function recordsIn(backend: StorageBackend, frame: GoodFrame): Promise<LogRecord[]> {
  const { name, offset, header, opener } = frame;
  return withFile(backend, name, 'read', async (file) => {
    const payload = await new SegmentReader(file, await file.size(), opener).payload(offset, header);
    const fail = (what: string): Error => new StartupError(what, { file: name, offset });
    if (payload === null) throw fail('a frame does not verify any more');
    return [...frameRecords(header, payload, fail)];
  });
}

class Examination {
  readonly #backend: StorageBackend;
  readonly #key: FolderKey | null;
  readonly #damages: Damage[] = [];
  readonly #frames: GoodFrame[] = [];
  #snapshot: ExaminedSnapshot | null = null;
  #segments = 0;
  #historyId: string | null = null;
  #epoch = 0;
  #maxSequence = 0;
  /** Sequence of the next frame's first record if nothing is missing. */
  #next = 1;
  #unbrokenTo: number | null = null;

  constructor(backend: StorageBackend, key: FolderKey | null) {
    this.#backend = backend;
    this.#key = key;
  }

  /** Name of the selected snapshot; '': none. */
  get snapshotName(): string {
    return this.#snapshot?.stored?.name ?? '';
  }

  result(): Examined {
    const { stored = null, lacksObserved = false } = this.#snapshot ?? {};
    return {
      damages: this.#damages,
      snapshot: stored,
      lacksObserved,
      frames: this.#frames,
      segments: this.#segments,
      unbrokenTo: this.#unbrokenTo ?? this.#next - 1,
      historyId: this.#historyId,
      epoch: this.#epoch,
      maxSequence: Math.max(this.#maxSequence, this.#next - 1),
    };
  }

  /** Newest first: selects the first with an intact state section and ignores older ones. */
  async snapshots(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const examined = await examineSnapshot(this.#backend, name, this.#key);
      this.#damages.push(...examined.damages);
      const sequence = Number.parseInt(name, 10);
      this.#maxSequence = Math.max(this.#maxSequence, sequence);
      if (examined.stored === null) {
        this.#unbrokenTo = 0;
        continue;
      }
      this.#snapshot = examined;
      const { header } = examined.stored;
      this.#historyId = header.historyId;
      this.#epoch = header.epoch;
      this.#next = header.sequence + 1;
      // Records covered only by a newer snapshot are missing unless the log has them.
      this.#unbrokenTo = null;
      return;
    }
  }

  async segments(names: readonly string[]): Promise<void> {
    const stored = this.#snapshot?.stored ?? null;
    const needed = names.filter((name) => segmentId(name) >= (stored?.header.segment ?? 0));
    const last = needed.at(-1);
    // Without the snapshot that names the first needed segment, start with the first one present.
    const hasLostSnapshot = stored === null && this.#unbrokenTo !== null;
    const [first] = needed;
    let expected = stored?.header.segment ?? (hasLostSnapshot && first !== undefined ? segmentId(first) : 1);
    if (last === undefined && stored !== null && expected > 0 && !stored.header.isAlone)
      this.#missing(segmentName(expected), 'the log segment that continues the snapshot is missing');
    for (const name of needed) {
      for (expected = Math.max(expected, 1); expected < segmentId(name); expected++)
        this.#missing(segmentName(expected), 'the segment is missing');
      expected = segmentId(name) + 1;
      await this.#segment(name, name === last);
    }
  }

  #missing(file: string, what: string): void {
    this.#damages.push({ file, from: 0, to: 0, what });
    this.#unbrokenTo ??= this.#next - 1;
  }

  async #segment(name: string, isLast: boolean): Promise<void> {
    await withFile(this.#backend, name, 'read', async (file) => {
      const size = await file.size();
      const bytes = await readHeaderBytes(file);
      const found = this.#header(name, bytes, size, isLast);
      if (found === null) return;
      this.#segments++;
      await this.#walk(name, { ...found, isLast }, new SegmentReader(file, size, found.opener));
    });
  }

  /** Salt, opener and first offset. If the header does not verify, its salt is tried anyway. */
  #header(
    name: string,
    bytes: Uint8Array,
    size: number,
    isLast: boolean,
  ): { salt: Uint8Array; opener: Opener; start: number } | null {
    const reading = decodeSegmentHeader(bytes);
    if (reading.kind === 'newer') throw newerVersion(this.#backend, name, reading.version, FORMAT_VERSION);
    if (reading.kind === 'unknown') throw unknownFeature(this.#backend, name, 0);
    if (reading.kind === 'header') {
      const opener = openerFor(this.#backend, name, reading.bytes, this.#key);
      this.#historyId = reading.header.historyId;
      return { salt: reading.header.salt, opener, start: reading.bytes.length };
    }
    // No frames follow a header that was never complete.
    if (isLast && size <= headerBytesWith(this.#key)) return null;
    const start = Math.min(headerBytesWith(this.#key), size);
    this.#damages.push({ file: name, from: 0, to: start, what: 'the header of the segment does not verify' });
    if (this.#key === null && size > HEADER_BYTES)
      return { salt: bytes.slice(32, 48), opener: plainOpener, start };
    this.#lose(name, start, size, 'the segment cannot be decrypted without its header');
    return null;
  }

  async #walk(
    name: string,
    { salt, opener, start, isLast }: { salt: Uint8Array; opener: Opener; start: number; isLast: boolean },
    reader: SegmentReader,
  ): Promise<void> {
    for (let offset = start; offset < reader.limit; ) {
      const reading = await reader.verifyFrame(salt, offset);
      if (reading.kind === 'frame' && (reading.header.flags & SEALED_FLAG) === opener.flags) {
        this.#take({ name, salt, opener, offset, header: reading.header, lastSequence: 0 }, reading.next);
        offset = reading.next;
        continue;
      }
      // The next start cuts off the torn end of the last segment, so that is not damage.
      const mayBeTorn = isLast && reading.kind === 'bad' && !this.#hasDamage(name);
      if (mayBeTorn && (await reader.findFrame(salt, offset + 1, isOfSynced)) === null) return;
      const found = await this.#nextFrame(reader, salt, offset + 1);
      const to = found ?? reader.limit;
      const reason = reading.kind === 'frame' ? 'a frame is of another kind than its file' : reading.reason;
      this.#lose(name, offset, to, reason);
      offset = to;
    }
  }

  #hasDamage(name: string): boolean {
    return this.#damages.some(({ file }) => file === name);
  }

  /** Offset of the next whole frame. */
  async #nextFrame(reader: SegmentReader, salt: Uint8Array, from: number): Promise<number | null> {
    for (let at = await reader.findFrame(salt, from, () => true); at !== null; ) {
      if ((await reader.verifyFrame(salt, at)).kind === 'frame') return at;
      at = await reader.findFrame(salt, at + 1, () => true);
    }
    return null;
  }

  #lose(file: string, from: number, to: number, what: string): void {
    this.#damages.push({ file, from, to, what });
    this.#unbrokenTo ??= this.#next - 1;
    this.#maxSequence = Math.max(
      this.#maxSequence,
      this.#next - 1 + Math.ceil((to - from) / MIN_RECORD_BYTES),
    );
  }

  #take(frame: GoodFrame, next: number): void {
    const { firstSequence, count, epoch, historyId } = frame.header;
    const lastSequence = firstSequence + count - 1;
    this.#epoch = Math.max(this.#epoch, epoch);
    this.#historyId ??= historyId;
    // The first segment may begin with records that the snapshot covers.
    if (lastSequence < this.#next) return;
    if (firstSequence < this.#next && this.#frames.length > 0) {
      this.#lose(frame.name, frame.offset, next, `a frame repeats record ${firstSequence}`);
      return;
    }
    if (firstSequence > this.#next) this.#gap(frame, firstSequence);
    assert(lastSequence >= this.#next, 'frames are taken in order');
    this.#frames.push({ ...frame, lastSequence });
    this.#next = lastSequence + 1;
  }

  #gap({ name, offset }: GoodFrame, firstSequence: number): void {
    const last = firstSequence - 1;
    const lost = this.#next === last ? `record ${last} is` : `records ${this.#next} to ${last} are`;
    this.#damages.push({ file: name, from: offset, to: offset, what: `${lost} missing before this offset` });
    this.#unbrokenTo ??= this.#next - 1;
  }
}

/** True for a frame that was written after all earlier frames were durable. */
function isOfSynced({ flags }: ReadFrameHeader): boolean {
  return (flags & FOLLOWS_UNSYNCED) === 0;
}

/** A verified log, opened read-only. */
interface StoredLog {
  readonly contents: LogContents;
  /** The torn tail that the next start would cut off; null: none. */
  readonly tail: TornTail | null;
  readonly log: ReadableLog;
}

/** Opens a folder read-only: a torn tail stays in place. Verifies it like a start. Rejects with a StartupError whenever a start would. */
export async function readStoredLog(backend: StorageBackend, key: FolderKey | null): Promise<StoredLog> {
  const { contents, tail } = await inspect(backend, key);
  const { snapshot, segments } = contents;
  return {
    contents,
    tail,
    log: {
      snapshot: () => (snapshot === null ? null : describeSnapshot(snapshot)),
      readSnapshot: async function* (section) {
        if (snapshot !== null) yield* readSection(backend, snapshot, section);
      },
      read: async function* (after) {
        for (const segment of segments) yield* readSegment(backend, segment, after);
      },
    },
  };
}
