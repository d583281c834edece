/**
 * Reads snapshots: verifies a whole file, reads its sections, and copies it for backups.
 *
 * Everything is verified before it is used, and again while it is read, so memory use stays flat. A failed verification
 * throws a StartupError with file and offset.
 */
import { type StorageBackend, type StorageFile, systemErrorCode } from './backend.ts';
import { type FolderKey, type Opener, plainOpener } from './cipher.ts';
import { decodeFrameHeader, FRAME_HEADER_BYTES, frameBytes, type ReadFrameHeader } from './codec.ts';
import { damaged, newerVersion, StartupError, unknownFeature } from './startup-error.ts';
import { openerFor, readHeaderBytes } from './file-header.ts';
import { checkFlags, SegmentReader } from './segment-reader.ts';
import {
  decodeSnapshotHeader,
  SNAPSHOT_PAYLOAD_BYTES,
  SNAPSHOT_VERSION,
  type SnapshotHeader,
  snapshotSections,
} from './snapshot-codec.ts';

/** A verified snapshot. */
export interface StoredSnapshot {
  readonly name: string;
  readonly header: SnapshotHeader;
  /** Offset of its first frame. */
  readonly start: number;
  readonly opener: Opener;
  readonly bytes: number;
}

/** A snapshot beside the log. */
export interface Snapshot {
  /** Sequence of the last record that it covers. */
  readonly sequence: number;
  /** The stamp of that record, epoch milliseconds. */
  readonly time: number;
  /** When writing it began, epoch milliseconds. */
  readonly createdAt: number;
  readonly bytes: number;
  /** `recordChecksum` of that record; null: unknown. */
  readonly checksum: number | null;
}

/** The public description of a verified snapshot. */
export function describeSnapshot({ header, bytes }: StoredSnapshot): Snapshot {
  const { sequence, time, createdAt, checksum } = header;
  return { sequence, time, createdAt, bytes, checksum };
}

/** File name of the snapshot that covers the records up to this one. */
export function snapshotName(sequence: number): string {
  return `${String(sequence).padStart(10, '0')}.snapshot`;
}

/** File name of a received snapshot until it is installed. */
export function receivedName(sequence: number): string {
  return `${snapshotName(sequence)}.received`;
}

/** The final name of a received snapshot. */
export function nameOfReceived(name: string): string {
  return name.replace(/\.received$/, '');
}

/** The temporary name under which a file is written. */
export function temporarySnapshotName(name: string): string {
  return `${name}.tmp`;
}

/** The names of snapshots among these, newest last. */
export function snapshotNames(names: readonly string[]): string[] {
  return names
    .filter((name) => /^\d{10,}\.snapshot$/.test(name))
    .sort((left, right) => Number.parseInt(left, 10) - Number.parseInt(right, 10));
}

/** The names of unfinished snapshots among these, and of what an unfinished rewriting of the history left. */
export function unfinishedNames(names: readonly string[]): string[] {
  return names.filter((name) =>
    /^(?:\d{10,}\.(?:snapshot\.tmp|(?:log|snapshot)\.rewritten(?:\.tmp)?)|rewritten|converted)$/.test(name),
  );
}

/** The names of received snapshots that are not installed, among these; at most one. */
export function receivedNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10,}\.snapshot\.received$/.test(name));
}

/** The names of incompletely received snapshots among these. */
export function unreceivedNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10,}\.snapshot\.received\.tmp$/.test(name));
}

/** Verifies a snapshot. Throws a StartupError if anything is wrong or the key does not match. */
export async function verifySnapshot(
  backend: StorageBackend,
  name: string,
  key: FolderKey | null,
): Promise<StoredSnapshot> {
  const file = await backend.open(name, 'read');
  try {
    const size = await file.size();
    const { header, start, opener } = await readHeader(backend, name, file, key);
    const reader = new SegmentReader(file, size, opener);
    const order = new FrameOrder(backend, name, opener);
    let offset = start;
    while (offset < size) {
      const reading = await reader.verifyFrame(header.salt, offset);
      if (reading.kind !== 'frame') throw damaged(backend, name, offset, reading.reason);
      order.check(header, reading.header, offset);
      offset = reading.next;
    }
    if (!order.hasEnded) throw damaged(backend, name, offset, 'the snapshot is incomplete');
    return { name, header, start, opener, bytes: size };
  } finally {
    await file.close();
  }
}

/** A snapshot of which only the header is verified: its frames are as they are read. Throws a StartupError. */
export async function storedSnapshot(
  backend: StorageBackend,
  name: string,
  key: FolderKey | null,
): Promise<StoredSnapshot> {
  const file = await backend.open(name, 'read');
  try {
    return { name, ...(await readHeader(backend, name, file, key)), bytes: await file.size() };
  } finally {
    await file.close();
  }
}

/** A snapshot that may be damaged. */
export interface ExaminedSnapshot {
  /** The readable part; null: its state section is not intact. */
  readonly stored: StoredSnapshot | null;
  /** True if the observed section is not intact and must not be read. */
  readonly lacksObserved: boolean;
  readonly damages: readonly { file: string; from: number; to: number; what: string }[];
}

/**
 * Finds the intact part of a snapshot. The state section is intact if all damage lies after its last frame. Throws a
 * StartupError if the key does not match or the version is newer.
 */
export async function examineSnapshot(
  backend: StorageBackend,
  name: string,
  key: FolderKey | null,
): Promise<ExaminedSnapshot> {
  const file = await backend.open(name, 'read');
  try {
    const size = await file.size();
    const damage = (from: number, what: string) => [{ file: name, from, to: size, what }];
    const reading = decodeSnapshotHeader(await readHeaderBytes(file));
    if (reading.kind === 'damaged')
      return {
        stored: null,
        lacksObserved: true,
        damages: damage(0, 'the header of the snapshot does not verify'),
      };
    const { header, start, opener } = await readHeader(backend, name, file, key);
    const reader = new SegmentReader(file, size, opener);
    const order = new FrameOrder(backend, name, opener);
    const found = { name, header, start, opener };
    let offset = start;
    try {
      while (offset < size) {
        const frame = await reader.verifyFrame(header.salt, offset);
        if (frame.kind !== 'frame') throw damaged(backend, name, offset, frame.reason);
        order.check(header, frame.header, offset);
        offset = frame.next;
      }
      if (!order.hasEnded) throw damaged(backend, name, offset, 'the snapshot is incomplete');
      return { stored: { ...found, bytes: size }, lacksObserved: false, damages: [] };
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      const stored = order.isStateWhole ? { ...found, bytes: offset } : null;
      const what = stored === null ? 'its state section is incomplete' : 'its observed section is incomplete';
      return { stored, lacksObserved: true, damages: damage(offset, `the snapshot is damaged: ${what}`) };
    }
  } finally {
    await file.close();
  }
}

/** The bytes of one section of a verified snapshot, in order, frame by frame. Each is valid until the next. */
export async function* readSection(
  backend: StorageBackend,
  snapshot: StoredSnapshot,
  section: 'state' | 'observed',
): AsyncGenerator<Uint8Array, void, undefined> {
  const { name, header, start, opener, bytes } = snapshot;
  const file = await backend.open(name, 'read');
  try {
    const reader = new SegmentReader(file, bytes, opener);
    let offset = start;
    while (offset < bytes) {
      const frame = decodeFrameHeader(header.salt, offset, await reader.bytes(offset, FRAME_HEADER_BYTES));
      if (frame === null) throw damaged(backend, name, offset, 'the header of a frame does not verify');
      if (frame.count === snapshotSections[section]) {
        const payload = await reader.payload(offset, frame);
        if (payload === null) throw damaged(backend, name, offset, 'the payload of a frame does not verify');
        yield payload;
      }
      offset += frameBytes(frame.payloadBytes);
    }
  } finally {
    await file.close();
  }
}

async function readHeader(
  backend: StorageBackend,
  name: string,
  file: StorageFile,
  key: FolderKey | null,
): Promise<Pick<StoredSnapshot, 'header' | 'start' | 'opener'>> {
  const reading = decodeSnapshotHeader(await readHeaderBytes(file));
  switch (reading.kind) {
    case 'newer':
      throw newerVersion(backend, name, reading.version, SNAPSHOT_VERSION);
    case 'unknown':
      throw unknownFeature(backend, name, 0);
    case 'damaged':
      throw damaged(backend, name, 0, 'the header of the snapshot does not verify');
    case 'header': {
      const { header, bytes } = reading;
      return { header, start: bytes.length, opener: openerFor(backend, name, bytes, key) };
    }
  }
}

/** Checks the order of a snapshot's frames. */
class FrameOrder {
  readonly #backend: StorageBackend;
  readonly #name: string;
  readonly #opener: Opener;
  #frames = 0;
  #section = 0;
  hasEnded = false;
  /** A frame of another section than the state was read. */
  isStateWhole = false;

  constructor(backend: StorageBackend, name: string, opener: Opener) {
    this.#backend = backend;
    this.#name = name;
    this.#opener = opener;
  }

  check(snapshot: SnapshotHeader, frame: ReadFrameHeader, offset: number): void {
    const { end, state, observed } = snapshotSections;
    checkFlags(this.#backend, this.#name, offset, frame, this.#opener);
    if (![end, state, observed].some((section) => section === frame.count))
      throw unknownFeature(this.#backend, this.#name, offset);
    const isNext =
      !this.hasEnded &&
      frame.firstSequence === ++this.#frames &&
      (frame.count === end || frame.count >= this.#section) &&
      frame.payloadBytes <= SNAPSHOT_PAYLOAD_BYTES + this.#opener.overhead;
    if (!isNext) throw damaged(this.#backend, this.#name, offset, 'a frame is not the one that must follow');
    if (frame.historyId !== snapshot.historyId || frame.epoch !== snapshot.epoch)
      throw damaged(this.#backend, this.#name, offset, 'a frame belongs to another snapshot');
    this.#section = frame.count;
    this.isStateWhole ||= frame.count !== state;
    this.hasEnded = frame.count === end;
  }
}

/**
 * Copies of a snapshot file, for backups.
 *
 * An open file can be read to its end even if a later snapshot replaces it, and pins no state. The checksums of each
 * frame are verified once more before it is returned.
 */

/** An open copy of a snapshot. Close it, however far it was read. */
export interface SnapshotCopy {
  /** Sequence of the last record that it covers. */
  readonly sequence: number;
  readonly bytes: number;
  /** All bytes, readable once, in pieces of less than 1 MiB. Throws a StartupError if the file is damaged. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>;
  close(): Promise<void>;
}

/** Opens the newest snapshot; `newest` returns it, and is called again if the file was removed meanwhile. */
export async function openCopy(backend: StorageBackend, newest: () => StoredSnapshot): Promise<SnapshotCopy> {
  for (;;) {
    const snapshot = newest();
    try {
      return copyOf(backend, snapshot, await backend.open(snapshot.name, 'read'));
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT' || newest() === snapshot) throw error;
    }
  }
}

function copyOf(
  backend: StorageBackend,
  { name, header, start, bytes }: StoredSnapshot,
  file: StorageFile,
): SnapshotCopy {
  return {
    sequence: header.sequence,
    bytes,
    pieces: async function* () {
      // Copied without decryption; a restore decrypts it.
      const reader = new SegmentReader(file, bytes, plainOpener);
      yield (await reader.bytes(0, start)).slice();
      for (let offset = start; offset < bytes; ) {
        const reading = await reader.verifyFrame(header.salt, offset);
        if (reading.kind !== 'frame') throw damaged(backend, name, offset, reading.reason);
        yield (await reader.bytes(offset, reading.next - offset)).slice();
        offset = reading.next;
      }
    },
    close: () => file.close(),
  };
}
