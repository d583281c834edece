/**
 * What the folder holds, checked from the first byte to the last before anything of it is believed.
 *
 * Invariant: everything is verified first and changed after. A bad last frame of the last segment with no frame that
 * verifies after it is what a power cut leaves behind, a torn tail, and is cut off with one warning; frames that were
 * written before those before them were synced say so, and go with it. So goes a last segment whose header never became
 * whole. Files that an unfinished snapshot left behind, and those that the newest one covers, are removed; a snapshot that
 * was received from elsewhere takes the place of all there is. Anything else that is not as it must be throws a
 * StartupError that names file and offset,
 * and then nothing on disk has been changed.
 */
import { type StorageBackend, type StorageFile, systemErrorCode } from './backend.ts';
import type { FolderKey, Opener } from './cipher.ts';
import {
  decodeSegmentHeader,
  FOLLOWS_UNSYNCED,
  FORMAT_VERSION,
  type HistoryParent,
  type ReadFrameHeader,
  type SegmentHeader,
} from './codec.ts';
import { damaged, newerVersion, StartupError, unknownFeature } from './startup-error.ts';
import { headerBytesWith, openerFor, readHeaderBytes } from './file-header.ts';
import { checkFlags, SegmentReader } from './segment-reader.ts';
import {
  nameOfReceived,
  receivedNames,
  snapshotName,
  snapshotNames,
  type StoredSnapshot,
  unfinishedNames,
  unreceivedNames,
  verifySnapshot,
} from './snapshot-reader.ts';

/** A segment of the log. `end` and `lastSequence` move while it is written to. */
export interface Segment {
  readonly name: string;
  readonly header: SegmentHeader;
  /** Where its first frame stands, or will. */
  readonly start: number;
  readonly opener: Opener;
  /** Bytes up to the end of the last committed frame. */
  end: number;
  /** Sequence of the last committed record; that before the segment's first where it holds none. */
  lastSequence: number;
  /** `recordChecksum` of that record; null where it has not been read, or is not known. */
  lastChecksum: number | null;
  /** Where some of its frames begin, in order: who reads from a record on begins at the last one before it. */
  readonly marks: FrameMark[];
}

/** A frame of a segment: the byte it begins at, and the sequence of its first record. */
interface FrameMark {
  readonly offset: number;
  readonly sequence: number;
}

/** Bytes between two marks, at least. */
const MARK_BYTES = 256 * 1024;

/** To be told of every frame of a segment, in order. */
export function markFrame({ marks }: Segment, offset: number, sequence: number): void {
  const last = marks.at(-1);
  if (last === undefined || offset >= last.offset + MARK_BYTES) marks.push({ offset, sequence });
}

/** What a verified folder holds. */
export interface LogContents {
  readonly segments: Segment[];
  /** Of the last record, in a segment or covered by the snapshot. */
  readonly lastSequence: number;
  /** The latest there was; 0 in an empty log. */
  readonly epoch: number;
  /** null in an empty log. */
  readonly historyId: string | null;
  /** Of that history. */
  readonly parent: HistoryParent | null;
  /** The newest one, or null where there is none. The segments continue it. */
  readonly snapshot: StoredSnapshot | null;
}

/** What has to go before the log can be used: the bytes of a file from `offset` on; from 0: the file. */
export interface TornTail {
  readonly name: string;
  readonly offset: number;
  readonly bytes: number;
  readonly reason: string;
}

export function segmentName(id: number): string {
  return `${String(id).padStart(10, '0')}.log`;
}

/**
 * Verifies the log, cuts off a torn tail (told to `onWarn`), and says what there is. All of that is durable then: a
 * record that a killed process wrote but did not sync must not be shown now and be gone after a power cut. `key` is
 * the folder's, null where it has none.
 */
export async function recover(
  backend: StorageBackend,
  onWarn: (message: string) => void,
  key: FolderKey | null,
): Promise<LogContents> {
  const inspected = await inspect(backend, key);
  const { tail } = inspected;
  const contents = await readable(backend, '', () => withReceived(backend, inspected.contents));
  if (tail !== null) await readable(backend, tail.name, () => cutOff(backend, tail));
  const last = contents.segments.at(-1);
  if (last !== undefined) await readable(backend, last.name, () => makeDurable(backend, last));
  await readable(backend, '', () => removeLeftOver(backend, contents.snapshot));
  await readable(backend, '', () => removeUnreceived(backend));
  if (tail === null) return contents;
  onWarn(
    `The end of the log was torn (${tail.reason}): cut off ${tail.bytes} bytes of ${backend.location(tail.name)} ` +
      `at offset ${tail.offset}. The log ends with record ${contents.lastSequence}.`,
  );
  return contents;
}

/**
 * Removes what nothing needs beside this snapshot, which is durable: older ones, those that were not finished, and the
 * segments before `from`, the first one that is needed. Rejects with the system's error.
 */
export async function removeLeftOver(
  backend: StorageBackend,
  snapshot: StoredSnapshot | null,
  from = snapshot?.header.segment ?? 0,
): Promise<void> {
  const names = await backend.list();
  const leftOver = unfinishedNames(names);
  if (snapshot !== null) {
    leftOver.push(...receivedNames(names));
    leftOver.push(...snapshotNames(names).filter((name) => name !== snapshot.name));
    leftOver.push(...segmentNames(names).filter((name) => segmentId(name) < from));
  }
  for (const name of leftOver) await backend.remove(name);
  if (leftOver.length > 0) await backend.syncDirectory();
}

/**
 * Puts a snapshot that was received whole, and verified, in the place of everything else: of the log and the snapshots
 * before it, which belong to another history or are too old to be continued. What was begun here and broken off goes on at
 * the next start: the received one keeps its name until all else is gone, durably.
 */
export async function takeReceived(
  backend: StorageBackend,
  received: StoredSnapshot,
): Promise<StoredSnapshot> {
  const names = await backend.list();
  for (const name of [...segmentNames(names), ...snapshotNames(names), ...unfinishedNames(names)])
    await backend.remove(name);
  await backend.syncDirectory();
  const name = nameOfReceived(received.name);
  await backend.rename(received.name, name);
  await backend.syncDirectory();
  return { ...received, name };
}

/** The same contents, where they are a received snapshot in the place of all there was. */
async function withReceived(backend: StorageBackend, contents: LogContents): Promise<LogContents> {
  const { snapshot } = contents;
  if (snapshot === null || receivedNames([snapshot.name]).length === 0) return contents;
  return { ...contents, snapshot: await takeReceived(backend, snapshot) };
}

/** Removes what is left of snapshots that were being received. */
async function removeUnreceived(backend: StorageBackend): Promise<void> {
  for (const name of unreceivedNames(await backend.list())) await backend.remove(name);
}

/** What there is, verified, and what has to go. Rejects with a StartupError; changes nothing. */
export async function inspect(
  backend: StorageBackend,
  key: FolderKey | null,
): Promise<{ contents: LogContents; tail: TornTail | null }> {
  const names = await readable(backend, '', () => backend.list());
  const received = receivedNames(names).at(-1);
  const newest = received ?? snapshotNames(names).at(-1);
  const snapshot =
    newest === undefined ? null : await readable(backend, newest, () => verifySnapshot(backend, newest, key));
  if (snapshot !== null && snapshotName(snapshot.header.sequence) !== nameOfReceived(snapshot.name))
    throw damaged(backend, snapshot.name, 0, `the snapshot is one of record ${snapshot.header.sequence}`);
  const isNeeded = (name: string): boolean => segmentId(name) >= (snapshot?.header.segment ?? 0);
  // Beside a received one nothing is: what is there is of another history, or older.
  const needed = received === undefined ? segmentNames(names).filter(isNeeded) : [];
  const walk = new Walk(backend, key, needed.at(-1) ?? '', snapshot);
  for (const name of needed) {
    await readable(backend, name, () => walk.segment(name));
  }
  return { contents: walk.contents(), tail: walk.tail };
}

/** Of these names those of segments, in their order. */
export function segmentNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10,}\.log$/.test(name)).sort((a, b) => segmentId(a) - segmentId(b));
}

/** The number in the name of a segment. */
export function segmentId(name: string): number {
  return Number.parseInt(name, 10);
}

/** The way through the segments: what each must continue, and what the last one may leave behind. */
class Walk {
  readonly #backend: StorageBackend;
  readonly #key: FolderKey | null;
  readonly #lastName: string;
  readonly #snapshot: StoredSnapshot | null;
  readonly #segments: Segment[] = [];
  #epoch = 0;
  #lastSequence: number;
  tail: TornTail | null = null;

  constructor(
    backend: StorageBackend,
    key: FolderKey | null,
    lastName: string,
    snapshot: StoredSnapshot | null,
  ) {
    this.#backend = backend;
    this.#key = key;
    this.#lastName = lastName;
    this.#snapshot = snapshot;
    this.#lastSequence = snapshot?.header.sequence ?? 0;
  }

  contents(): LogContents {
    const snapshot = this.#snapshot;
    if (snapshot !== null) this.#checkContinues(snapshot);
    const newest = this.#segments.at(-1)?.header ?? snapshot?.header;
    const { historyId, parent } = newest ?? { historyId: null, parent: null };
    const epoch = Math.max(this.#epoch, snapshot?.header.epoch ?? 0);
    return { segments: this.#segments, lastSequence: this.#lastSequence, epoch, historyId, parent, snapshot };
  }

  /** The segments must hold what was there when the snapshot was made, and belong to its history. */
  #checkContinues({ name, header }: StoredSnapshot): void {
    const first = this.#segments[0];
    if (first === undefined) {
      if (header.segment === 0 || header.isAlone) return;
      const missing = this.#backend.location(segmentName(header.segment));
      throw this.#damage(name, 0, `the segment of the log that continues it, ${missing}, is missing`);
    }
    if (this.#lastSequence < header.sequence) {
      const ends = `the log ends with record ${this.#lastSequence}`;
      throw this.#damage(first.name, 0, `${ends}, and the snapshot ${name} holds record ${header.sequence}`);
    }
    const isOf = ({ historyId, parent }: SegmentHeader): boolean =>
      historyId === header.historyId || parent?.historyId === header.historyId;
    if (!this.#segments.some((segment) => isOf(segment.header)))
      throw this.#damage(name, 0, 'the snapshot belongs to another log');
  }

  async segment(name: string): Promise<void> {
    await withFile(this.#backend, name, 'read', async (file) => {
      const size = await file.size();
      const found = await this.#header(name, file, size);
      if (found === null) return;
      this.#countBranch(found.header);
      const { start } = found;
      const { before } = found.header;
      const last = { lastSequence: this.#lastSequence, lastChecksum: before };
      const segment: Segment = { name, ...found, end: start, ...last, marks: [] };
      this.#segments.push(segment);
      await this.#frames(segment, new SegmentReader(file, size, segment.opener));
      if (segment.end > start) segment.lastChecksum = null;
      this.#lastSequence = segment.lastSequence;
    });
  }

  /** Who branches off raises the epoch, and may have written no frame that says so. */
  #countBranch({ historyId }: SegmentHeader): void {
    const before = this.#segments.at(-1)?.header ?? this.#snapshot?.header;
    if (before === undefined || before.historyId === historyId) return;
    this.#epoch = Math.max(1, this.#epoch, this.#snapshot?.header.epoch ?? 0) + 1;
  }

  /** The segment's header and what opens its frames, or null where the last segment never got a whole one. */
  async #header(
    name: string,
    file: StorageFile,
    size: number,
  ): Promise<Pick<Segment, 'header' | 'start' | 'opener'> | null> {
    const reading = decodeSegmentHeader(await readHeaderBytes(file));
    switch (reading.kind) {
      case 'newer':
        throw newerVersion(this.#backend, name, reading.version, FORMAT_VERSION);
      case 'unknown':
        throw unknownFeature(this.#backend, name, 0);
      case 'damaged':
        // The header is durable before the first frame is written: with more behind it, it was whole once.
        if (name !== this.#lastName || size > headerBytesWith(this.#key)) {
          throw this.#damage(name, 0, 'the header of the segment does not verify');
        }
        this.tail = { name, offset: 0, bytes: size, reason: 'a segment was not finished being made' };
        return null;
      case 'header': {
        const { header, bytes } = reading;
        const opener = openerFor(this.#backend, name, bytes, this.#key);
        this.#checkHeader(name, header);
        return { header, start: bytes.length, opener };
      }
    }
  }

  #checkHeader(name: string, header: SegmentHeader): void {
    const previous = this.#segments.at(-1);
    const covered = this.#snapshot?.header ?? { segment: 0, sequence: 0 };
    const expectedId = previous === undefined ? Math.max(1, covered.segment) : previous.header.id + 1;
    if (header.id !== segmentId(name)) {
      throw this.#damage(name, 0, `the file calls itself segment ${header.id}`);
    }
    if (header.id !== expectedId) {
      const missing = this.#backend.location(segmentName(expectedId));
      throw this.#damage(name, 0, `the segment before it, ${missing}, is missing`);
    }
    // The first one may begin with records that the snapshot covers.
    const isEarlier = previous === undefined && header.firstSequence <= covered.sequence;
    if (isEarlier && header.firstSequence > 0) this.#lastSequence = header.firstSequence - 1;
    if (header.firstSequence !== this.#lastSequence + 1) {
      const found = `the segment begins with record ${header.firstSequence}`;
      throw this.#damage(name, 0, `${found} where ${this.#lastSequence + 1} must follow`);
    }
    if (previous === undefined || previous.header.historyId === header.historyId) return;
    if (header.parent?.historyId !== previous.header.historyId) {
      throw this.#damage(name, 0, 'the segment belongs to another log');
    }
  }

  async #frames(segment: Segment, reader: SegmentReader): Promise<void> {
    const { salt } = segment.header;
    while (segment.end < reader.limit) {
      const offset = segment.end;
      const reading = await reader.verifyFrame(salt, offset);
      if (reading.kind === 'altered') throw this.#damage(segment.name, offset, reading.reason);
      if (reading.kind === 'bad') {
        if (segment.name !== this.#lastName) throw this.#damage(segment.name, offset, reading.reason);
        // One that was written before this one was synced can be whole where this one is not.
        const following = await reader.findFrame(
          salt,
          offset + 1,
          ({ flags }) => (flags & FOLLOWS_UNSYNCED) === 0,
        );
        if (following !== null) {
          const reason = `${reading.reason}, and whole frames follow it (at offset ${following})`;
          throw this.#damage(segment.name, offset, reason);
        }
        this.tail = { name: segment.name, offset, bytes: reader.limit - offset, reason: reading.reason };
        return;
      }
      this.#checkFrame(segment, offset, reading.header);
      markFrame(segment, offset, reading.header.firstSequence);
      segment.end = reading.next;
      segment.lastSequence += reading.header.count;
      this.#epoch = reading.header.epoch;
    }
  }

  #checkFrame(segment: Segment, offset: number, frame: ReadFrameHeader): void {
    const { name } = segment;
    checkFlags(this.#backend, name, offset, frame, segment.opener, FOLLOWS_UNSYNCED);
    if (frame.firstSequence !== segment.lastSequence + 1 || frame.count < 1) {
      const found = `a frame begins with record ${frame.firstSequence}`;
      throw this.#damage(name, offset, `${found} where ${segment.lastSequence + 1} must follow`);
    }
    if (frame.historyId !== segment.header.historyId || frame.epoch < this.#epoch) {
      throw this.#damage(name, offset, 'a frame belongs to another log');
    }
  }

  #damage(name: string, offset: number, what: string): StartupError {
    return damaged(this.#backend, name, offset, what);
  }
}

async function cutOff(backend: StorageBackend, tail: TornTail): Promise<void> {
  if (tail.offset === 0) {
    await backend.remove(tail.name);
    await backend.syncDirectory();
    return;
  }
  await withFile(backend, tail.name, 'write', (file) => file.truncate(tail.offset));
}

function makeDurable(backend: StorageBackend, segment: Segment): Promise<void> {
  return withFile(backend, segment.name, 'write', (file) => file.sync());
}

/** Opens a file for one step and closes it after, whatever happens. */
export async function withFile<T>(
  backend: StorageBackend,
  name: string,
  access: 'read' | 'write',
  step: (file: StorageFile) => Promise<T>,
): Promise<T> {
  const file = await backend.open(name, access);
  try {
    return await step(file);
  } finally {
    await file.close();
  }
}

/** Runs a step of the start; an error of the system becomes a refusal that names the file. */
async function readable<T>(backend: StorageBackend, name: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === '' || error instanceof StartupError) throw error;
    const place = name === '' ? 'the storage folder' : backend.location(name);
    throw new StartupError(
      `The log cannot be opened: ${code} at ${place}. Check the disk and the rights of the folder.`,
      name === '' ? {} : { file: name },
      { cause: error },
    );
  }
}
