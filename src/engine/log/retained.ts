/**
 * Reads the past of a log: the records that the folder still has, and the snapshots from which a state can be rebuilt.
 *
 * A snapshot covers records; those after it continue it. The records of the present log are known to it, with the end
 * of what is committed. Earlier segments and snapshots may be retained beside them: they are found by their names, and
 * belong to the history as long as each is continued by the next. Everything is verified as it is read. A file that
 * retention removes meanwhile is reported as `gone`.
 */
import { present } from '../base/assert.ts';
import { type StorageBackend, systemErrorCode } from './backend.ts';
import type { FolderKey } from './cipher.ts';
import { decodeSegmentHeader, type LogRecord, type SegmentHeader } from './codec.ts';
import { openerFor, readHeaderBytes } from './file-header.ts';
import { readSegment } from './log-reader.ts';
import { type Segment, segmentId, segmentName, segmentNames, withFile } from './recovery.ts';
import { SegmentReader } from './segment-reader.ts';
import { readSection, snapshotNames, type StoredSnapshot, storedSnapshot } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';

/** A moment from which a state can be rebuilt: a snapshot, or the empty state before the first record. */
export interface RetainedBase {
  /** Sequence of the last record that it covers; 0: none. */
  readonly sequence: number;
  /** The stamp of that record, epoch milliseconds; no record that it covers has a later one. 0: none. */
  readonly time: number;
  /** null: the empty state. */
  readonly snapshot: StoredSnapshot | null;
}

/** The files from which a base and the records after it can be read, as plain data: for another thread. */
export interface RetainedRange {
  readonly base: Pick<RetainedBase, 'sequence' | 'time'> & { readonly snapshot: RetainedFile | null };
  readonly segments: readonly (RetainedFile & Pick<Segment, 'end' | 'lastSequence'>)[];
  /** See `RetainedLog`. */
  readonly isCutOff: boolean;
}

/** A file by its name; the salt of its header tells it from one that replaced it. */
interface RetainedFile {
  readonly name: string;
  readonly salt: Uint8Array;
}

/** What the log knows of itself: its segments in order, and its newest snapshot. */
interface KnownLog {
  readonly segments: readonly Segment[];
  readonly snapshot: StoredSnapshot | null;
  /** Whether files of the history were rewritten since; absent: they never are. */
  readonly isRewritten?: () => boolean;
}

/** A file of the past is no longer there. */
export class RetainedFileGone extends Error {
  constructor(name: string, options?: ErrorOptions) {
    super(`the file ${name} of the history was removed`, options);
    this.name = 'RetainedFileGone';
  }
}

/**
 * The retained records of a folder, and the bases that they continue, as found at one moment. A repair loses records: what
 * comes before such a gap is a part of its own, since no state of it continues behind the gap.
 */
export class RetainedLog {
  readonly #backend: StorageBackend;
  /** In order, those that are retained and those of the present log. */
  readonly segments: readonly Segment[];
  /** Whether the files were rewritten since they were found. */
  readonly #isRewritten: () => boolean;
  /** Ascending by sequence; every record after each of them can be read. */
  readonly bases: readonly RetainedBase[];
  /** What is retained from before the last gap; null: there is none. */
  readonly earlier: RetainedLog | null;
  /** True for a part before a gap: the records after its last one were lost. */
  readonly isCutOff: boolean;

  private constructor(
    backend: StorageBackend,
    { segments, bases, earlier = null, isCutOff = false }: RetainedPart,
    isRewritten: () => boolean,
  ) {
    this.#backend = backend;
    this.segments = segments;
    this.bases = bases;
    this.earlier = earlier;
    this.isCutOff = isCutOff;
    this.#isRewritten = isRewritten;
  }

  /** Finds what is retained in the folder of this log. Rejects with the system's error or a StartupError. */
  static async find(
    backend: StorageBackend,
    key: FolderKey | null,
    { segments: known, snapshot, isRewritten = () => false }: KnownLog,
  ): Promise<RetainedLog> {
    const names = await backend.list();
    const next = known[0]?.header ?? (snapshot === null ? null : headerAfter(snapshot));
    const segments = [...(await earlierSegments(backend, key, names, next)), ...known];
    const bases: RetainedBase[] = [];
    for (const name of snapshotNames(names)) {
      const stored = name === snapshot?.name ? snapshot : await earlierSnapshot(backend, name, key);
      if (stored === null) continue;
      bases.push({ sequence: stored.header.sequence, time: stored.header.time, snapshot: stored });
    }
    const places = segments.map(({ header }) => header);
    const continued = known.length > 0 || next === null ? places : [...places, next];
    let part: RetainedLog | null = null;
    for (const each of partsOf(segments, continued, bases))
      part = new RetainedLog(backend, { ...each, earlier: part }, isRewritten);
    return present(part, 'a log has a part');
  }

  /** The part of the log that ends with this record, which damage follows; rejects like `find`. */
  static async upTo(
    backend: StorageBackend,
    key: FolderKey | null,
    { through, damaged: unreadable }: { readonly through: number; readonly damaged: ReadonlySet<string> },
  ): Promise<RetainedLog | null> {
    const names = await backend.list();
    const segments: Segment[] = [];
    for (const name of segmentNames(names)) {
      const segment = await closedSegment(backend, name, key, through);
      if (segment !== null && segment.header.firstSequence <= through + 1) segments.push(segment);
    }
    const last = segments.at(-1);
    if (last === undefined) return null;
    const end = await endOf(backend, last, through);
    const before = await earlierSegments(backend, key, names, last.header);
    // Those that are damaged stay behind as empty ones, so that no segment is missing.
    const rest = segmentNames(names)
      .filter((name) => segmentId(name) > last.header.id)
      .map((name): Segment => {
        const header = { ...last.header, id: segmentId(name), firstSequence: through + 1, before: null };
        return { ...last, name, header, end: last.start, lastSequence: through };
      });
    const bases: RetainedBase[] = [];
    for (const name of snapshotNames(names)) {
      const stored = unreadable.has(name) ? null : await earlierSnapshot(backend, name, key);
      if (stored !== null && stored.header.sequence <= through)
        bases.push({ sequence: stored.header.sequence, time: stored.header.time, snapshot: stored });
    }
    const all = [...before, { ...last, end }, ...rest];
    let part: RetainedLog | null = null;
    for (const each of partsOf(
      all,
      all.map(({ header }) => header),
      bases,
    ))
      part = new RetainedLog(backend, { ...each, earlier: part }, () => false);
    return part;
  }

  /** The part of a log that the range names. Rejects with RetainedFileGone, the system's error or a StartupError. */
  static async within(
    backend: StorageBackend,
    key: FolderKey | null,
    { base, segments: named, isCutOff }: RetainedRange,
  ): Promise<RetainedLog> {
    const segments: Segment[] = [];
    for (const { name, salt, end, lastSequence } of named) {
      const segment = await closedSegment(backend, name, key, lastSequence);
      if (segment === null || !isSame(segment.header, salt)) throw new RetainedFileGone(name);
      segments.push({ ...segment, end });
    }
    let snapshot: StoredSnapshot | null = null;
    if (base.snapshot !== null) {
      const { name, salt } = base.snapshot;
      snapshot = await earlierSnapshot(backend, name, key);
      if (snapshot === null || !isSame(snapshot.header, salt)) throw new RetainedFileGone(name);
    }
    return new RetainedLog(backend, { segments, bases: [{ ...base, snapshot }], isCutOff }, () => false);
  }

  /** Its parts between gaps, oldest first; the last one is this. */
  *parts(): Generator<RetainedLog, void, undefined> {
    if (this.earlier !== null) yield* this.earlier.parts();
    yield this;
  }

  /** What has to be read from this base on, up to what is committed now. */
  rangeFrom({ sequence, time, snapshot }: RetainedBase): RetainedRange {
    const segments = this.segments
      .filter(({ lastSequence }) => lastSequence > sequence)
      .map(({ name, header: { salt }, end, lastSequence }) => ({ name, salt, end, lastSequence }));
    const named = snapshot === null ? null : { name: snapshot.name, salt: snapshot.header.salt };
    return { base: { sequence, time, snapshot: named }, segments, isCutOff: this.isCutOff };
  }

  /**
   * The records with a sequence above `after` up to `through`, in order; without `through` up to the last one committed
   * when the reading reaches it. `after` is at least the sequence of the first base. Throws RetainedFileGone.
   */
  async *records(
    after: number,
    through: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<LogRecord, void, undefined> {
    for (const segment of this.segments) {
      if (segment.lastSequence <= after) continue;
      if (segment.header.firstSequence > through) return;
      try {
        for await (const record of readSegment(this.#backend, segment, after)) {
          if (record.sequence > through) return;
          yield record;
        }
      } catch (error) {
        throw this.#goneOr(error, segment.name);
      }
    }
  }

  /** The bytes of a section of a base's snapshot, in order, in pieces; each is valid until the next. Throws RetainedFileGone. */
  async *readSnapshot(
    snapshot: StoredSnapshot,
    section: SnapshotPart['section'],
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* readSection(this.#backend, snapshot, section);
    } catch (error) {
      throw this.#goneOr(error, snapshot.name);
    }
  }

  /** All parts of a base's snapshot, in order. Throws RetainedFileGone. */
  async *partsOf(snapshot: StoredSnapshot): AsyncGenerator<SnapshotPart, void, undefined> {
    for (const section of ['state', 'observed'] as const)
      for await (const bytes of this.readSnapshot(snapshot, section)) yield { section, bytes };
  }

  /** A file that was replaced does not verify any more as the one that was found. */
  #goneOr(error: unknown, name: string): unknown {
    const isGone = systemErrorCode(error) === 'ENOENT' || this.#isRewritten();
    return isGone ? new RetainedFileGone(name, { cause: error }) : error;
  }
}

function isSame({ salt }: { readonly salt: Uint8Array }, expected: Uint8Array): boolean {
  return salt.length === expected.length && salt.every((byte, at) => byte === expected[at]);
}

/** What a part of the log is made of. */
interface RetainedPart {
  readonly segments: readonly Segment[];
  readonly bases: readonly RetainedBase[];
  readonly earlier?: RetainedLog | null;
  readonly isCutOff?: boolean;
}

/** True if records were lost between a segment and the one that continues it: the latter begins a history further on. */
export function isBehindGap(
  before: Pick<SegmentPlace, 'historyId'>,
  { historyId, parent, firstSequence }: SegmentPlace,
): boolean {
  const isBranch = parent !== null && historyId !== before.historyId && parent.historyId === before.historyId;
  return isBranch && parent.sequence < firstSequence - 1;
}

/** The parts between gaps, oldest first. `places`: those of the segments, and of one that will continue them. */
function* partsOf(
  segments: readonly Segment[],
  places: readonly SegmentPlace[],
  bases: readonly RetainedBase[],
): Generator<RetainedPart, void, undefined> {
  let [begun, from] = [0, (places[0]?.firstSequence ?? 1) - 1];
  const basesIn = (through: number): RetainedBase[] => {
    const empty: RetainedBase[] = from <= 0 ? [{ sequence: 0, time: 0, snapshot: null }] : [];
    return [...empty, ...bases.filter(({ sequence }) => sequence >= from && sequence <= through)];
  };
  for (const [at, place] of places.entries()) {
    const before = places[at - 1];
    if (before === undefined || !isBehindGap(before, place)) continue;
    const through = place.parent?.sequence ?? 0;
    const part = segments.slice(begun, at).map((segment) => ({
      ...segment,
      lastSequence: Math.min(segment.lastSequence, Math.max(segment.header.firstSequence - 1, through)),
    }));
    yield { segments: part, bases: basesIn(through), isCutOff: true };
    begun = at;
    from = place.firstSequence - 1;
  }
  yield { segments: segments.slice(begun), bases: basesIn(Number.POSITIVE_INFINITY) };
}

/** The offset behind the last frame of the segment that verifies, and has no record after this one. */
async function endOf(
  backend: StorageBackend,
  { name, header, start, end, opener }: Segment,
  through: number,
): Promise<number> {
  return withFile(backend, name, 'read', async (file) => {
    const reader = new SegmentReader(file, end, opener);
    for (let offset = start; ; ) {
      const reading = offset < end ? await reader.verifyFrame(header.salt, offset) : null;
      if (reading?.kind !== 'frame') return offset;
      const last = reading.header.firstSequence + reading.header.count - 1;
      if (last <= through) offset = reading.next;
      if (last >= through) return offset;
    }
  });
}

/** What a segment says of itself, and of the one before it. */
type SegmentPlace = Pick<SegmentHeader, 'id' | 'firstSequence' | 'historyId' | 'parent'>;

/** The segment that will continue a snapshot that is alone. */
function headerAfter({ header: { segment, sequence, historyId, parent } }: StoredSnapshot): SegmentPlace {
  return { id: segment, firstSequence: sequence + 1, historyId, parent };
}

/** The retained segments before this one, in order, as far as each continues the one before. */
async function earlierSegments(
  backend: StorageBackend,
  key: FolderKey | null,
  names: readonly string[],
  first: SegmentPlace | null,
): Promise<Segment[]> {
  const earlier: Segment[] = [];
  const named = new Set(names);
  for (let next = first; next !== null; next = earlier[0]?.header ?? null) {
    const { id, firstSequence, historyId, parent } = next;
    const name = segmentName(id - 1);
    if (!named.has(name)) break;
    const segment = await closedSegment(backend, name, key, firstSequence - 1);
    const isOfHistory =
      segment !== null &&
      [historyId, parent?.historyId].includes(segment.header.historyId) &&
      segment.header.firstSequence <= firstSequence;
    if (!isOfHistory) break;
    earlier.unshift(segment);
  }
  return earlier;
}

/** A segment that a later one continues; null: it is gone, or no segment. */
async function closedSegment(
  backend: StorageBackend,
  name: string,
  key: FolderKey | null,
  lastSequence: number,
): Promise<Segment | null> {
  try {
    return await withFile(backend, name, 'read', async (file) => {
      const reading = decodeSegmentHeader(await readHeaderBytes(file));
      if (reading.kind !== 'header' || reading.header.id !== segmentId(name)) return null;
      const { header, bytes } = reading;
      const opener = openerFor(backend, name, bytes, key);
      const end = await file.size();
      return { name, header, start: bytes.length, opener, end, lastSequence, lastChecksum: null, marks: [] };
    });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A retained snapshot; null: it is gone. */
async function earlierSnapshot(
  backend: StorageBackend,
  name: string,
  key: FolderKey | null,
): Promise<StoredSnapshot | null> {
  try {
    return await storedSnapshot(backend, name, key);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
