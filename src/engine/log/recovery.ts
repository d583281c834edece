/**
 * Recovery: verifies the whole folder before anything in it is used.
 *
 * Invariant: everything is verified before anything is changed. A power cut can leave a torn tail: a bad last frame of
 * the last segment with no valid frame after it. It is cut off with one warning, together with following frames that
 * are flagged as written before earlier ones were synced. A last segment with an incomplete header is cut off likewise.
 * Files of unfinished snapshots, and files that the newest snapshot covers, are removed; a received snapshot replaces
 * everything. Any other deviation throws a StartupError with file and offset, and nothing on disk has changed then.
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

/** A segment of the log. `end` and `lastSequence` advance while it is written. */
export interface Segment {
  readonly name: string;
  readonly header: SegmentHeader;
  /** Offset of its first frame, present or future. */
  readonly start: number;
  readonly opener: Opener;
  /** Bytes up to the end of the last committed frame. */
  end: number;
  /** Sequence of the last committed record; if there is none, of the record before the segment's first. */
  lastSequence: number;
  /** `recordChecksum` of that record; null: not read yet, or unknown. */
  lastChecksum: number | null;
  /** Offsets of some of its frames, in order; a read from a record on starts at the last mark before it. */
  readonly marks: FrameMark[];
}

/** A frame's offset and the sequence of its first record. */
interface FrameMark {
  readonly offset: number;
  readonly sequence: number;
}

/** Minimum bytes between two marks. */
const MARK_BYTES = 256 * 1024;

/** Call it for every frame of a segment, in order. */
export function markFrame({ marks }: Segment, offset: number, sequence: number): void {
  const last = marks.at(-1);
  if (last === undefined || offset >= last.offset + MARK_BYTES) marks.push({ offset, sequence });
}

/** The contents of a verified folder. */
export interface LogContents {
  readonly segments: Segment[];
  /** Sequence of the last record, in a segment or covered by the snapshot. */
  readonly lastSequence: number;
  /** The latest epoch; 0 in an empty log. */
  readonly epoch: number;
  /** null in an empty log. */
  readonly historyId: string | null;
  /** The parent of that history. */
  readonly parent: HistoryParent | null;
  /** The newest snapshot, which the segments continue; null: none. */
  readonly snapshot: StoredSnapshot | null;
}

/**
 * What must be cut off before the log can be used: the bytes of a file from `offset` on; at offset 0 the whole file.
 */
export interface TornTail {
  readonly name: string;
  readonly offset: number;
  readonly bytes: number;
  readonly reason: string;
}

/** The file name of the segment with this id. */
export function segmentName(id: number): string {
  return `${String(id).padStart(10, '0')}.log`;
}

/**
 * Verifies the log, cuts off a torn tail (reported to `onWarn`), and returns the contents. They are durable then: a
 * record that a killed process wrote but did not sync must not be visible now and lost after a power cut. `key` is the
 * folder's; null: none. `retained` names what the newest snapshot covers and the folder keeps all the same; default:
 * nothing.
 */
export async function recover(
  backend: StorageBackend,
  onWarn: (message: string) => void,
  key: FolderKey | null,
  retained: (newest: StoredSnapshot) => Promise<RetainedNames> = async () => nothingRetained,
): Promise<LogContents> {
  const inspected = await inspect(backend, key);
  const { tail } = inspected;
  const contents = await readable(backend, '', () => withReceived(backend, inspected.contents));
  if (tail !== null) await readable(backend, tail.name, () => cutOff(backend, tail));
  const last = contents.segments.at(-1);
  if (last !== undefined) await readable(backend, last.name, () => makeDurable(backend, last));
  await readable(backend, '', async () => {
    const { snapshot } = contents;
    await removeLeftOver(backend, snapshot, snapshot === null ? nothingRetained : await retained(snapshot));
  });
  await readable(backend, '', () => removeUnreceived(backend));
  if (tail === null) return contents;
  onWarn(
    `The end of the log was torn (${tail.reason}): cut off ${tail.bytes} bytes of ${backend.location(tail.name)} ` +
      `at offset ${tail.offset}. The log ends with record ${contents.lastSequence}.`,
  );
  return contents;
}

/** The names of covered snapshots and segments that stay. */
interface RetainedNames {
  readonly snapshots: readonly string[];
  readonly segments: readonly string[];
}

const nothingRetained: RetainedNames = { snapshots: [], segments: [] };

/**
 * Removes what is no longer needed beside this durable snapshot: unfinished snapshots, and older ones and the segments
 * before `from`, the first one needed, unless they are retained. Rejects with the system's error.
 */
export async function removeLeftOver(
  backend: StorageBackend,
  snapshot: StoredSnapshot | null,
  retained: RetainedNames = nothingRetained,
  from = snapshot?.header.segment ?? 0,
): Promise<void> {
  const names = await backend.list();
  const leftOver = unfinishedNames(names);
  if (snapshot !== null) {
    leftOver.push(...receivedNames(names));
    const kept = new Set([snapshot.name, ...retained.snapshots, ...retained.segments]);
    leftOver.push(...snapshotNames(names).filter((name) => !kept.has(name)));
    leftOver.push(...segmentNames(names).filter((name) => segmentId(name) < from && !kept.has(name)));
  }
  for (const name of leftOver) await backend.remove(name);
  if (leftOver.length > 0) await backend.syncDirectory();
}

/**
 * Installs a completely received, verified snapshot in place of everything else: the log and earlier snapshots, which
 * belong to another history or are too old to be continued. An interrupted installation continues at the next start,
 * since the snapshot keeps its name until everything else is durably gone.
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

/** The contents with a received snapshot, if any, installed. */
async function withReceived(backend: StorageBackend, contents: LogContents): Promise<LogContents> {
  const { snapshot } = contents;
  if (snapshot === null || receivedNames([snapshot.name]).length === 0) return contents;
  return { ...contents, snapshot: await takeReceived(backend, snapshot) };
}

/** Removes the remains of incompletely received snapshots. */
async function removeUnreceived(backend: StorageBackend): Promise<void> {
  for (const name of unreceivedNames(await backend.list())) await backend.remove(name);
}

/** Verifies the folder; returns its contents and what must be cut off. Rejects with a StartupError; changes nothing. */
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
    throw damaged(backend, snapshot.name, 0, `the snapshot covers record ${snapshot.header.sequence}`);
  const isNeeded = (name: string): boolean => segmentId(name) >= (snapshot?.header.segment ?? 0);
  // A received snapshot needs no segments: those present belong to another history, or are older.
  const needed = received === undefined ? segmentNames(names).filter(isNeeded) : [];
  const walk = new Walk(backend, key, needed.at(-1) ?? '', snapshot);
  for (const name of needed) {
    await readable(backend, name, () => walk.segment(name));
  }
  return { contents: walk.contents(), tail: walk.tail };
}

/** The names of segments among these, in order. */
export function segmentNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10,}\.log$/.test(name)).sort((a, b) => segmentId(a) - segmentId(b));
}

/** The id in a segment's name. */
export function segmentId(name: string): number {
  return Number.parseInt(name, 10);
}

/** Walks through the segments, and checks that each continues the one before and what the last may leave behind. */
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

  /** The segments must include the records that the snapshot covers, and belong to its history. */
  #checkContinues({ name, header }: StoredSnapshot): void {
    const first = this.#segments[0];
    if (first === undefined) {
      if (header.segment === 0 || header.isAlone) return;
      const missing = this.#backend.location(segmentName(header.segment));
      throw this.#damage(name, 0, `the log segment that continues it, ${missing}, is missing`);
    }
    if (this.#lastSequence < header.sequence) {
      const ends = `the log ends with record ${this.#lastSequence}`;
      throw this.#damage(first.name, 0, `${ends}, but the snapshot ${name} covers record ${header.sequence}`);
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

  /** Branching off raises the epoch, possibly before any frame shows it. */
  #countBranch({ historyId }: SegmentHeader): void {
    const before = this.#segments.at(-1)?.header ?? this.#snapshot?.header;
    if (before === undefined || before.historyId === historyId) return;
    this.#epoch = Math.max(1, this.#epoch, this.#snapshot?.header.epoch ?? 0) + 1;
  }

  /** The segment's header and the opener for its frames; null: the last segment's header is incomplete. */
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
        // The header is durable before the first frame is written, so a longer file once had a complete one.
        if (name !== this.#lastName || size > headerBytesWith(this.#key)) {
          throw this.#damage(name, 0, 'the header of the segment does not verify');
        }
        this.tail = { name, offset: 0, bytes: size, reason: 'a segment was not completely created' };
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
    // The first segment may begin with records that the snapshot covers.
    const isEarlier = previous === undefined && header.firstSequence <= covered.sequence;
    if (isEarlier && header.firstSequence > 0) this.#lastSequence = header.firstSequence - 1;
    if (header.firstSequence !== this.#lastSequence + 1) {
      const found = `the segment begins with record ${header.firstSequence}`;
      throw this.#damage(name, 0, `${found}, but ${this.#lastSequence + 1} must follow`);
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
        // A frame written before this one was synced may be intact although this one is not.
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
      throw this.#damage(name, offset, `${found}, but ${segment.lastSequence + 1} must follow`);
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

/** Opens a file for one step and closes it afterwards in every case. */
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

/** Runs a step of the start; turns a system error into a refusal that names the file. */
async function readable<T>(backend: StorageBackend, name: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === '' || error instanceof StartupError) throw error;
    const place = name === '' ? 'the storage folder' : backend.location(name);
    throw new StartupError(
      `The log cannot be opened: ${code} at ${place}. Check the disk and the folder's permissions.`,
      name === '' ? {} : { file: name },
      { cause: error },
    );
  }
}
