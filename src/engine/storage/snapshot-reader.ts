/**
 * Reads snapshots: verifies one from the first byte to the last, and hands out its sections.
 *
 * Everything is verified before anything of it is believed, and once more while it is read, so that memory stays
 * flat. What does not verify throws a StartupError that names file and offset.
 */
import type { StorageBackend, StorageFile } from './backend.ts';
import { decodeFrameHeader, FRAME_HEADER_BYTES, frameBytes, type ReadFrameHeader } from './codec.ts';
import { damaged, newerVersion, unknownFeature } from './damage.ts';
import { SegmentReader } from './segment-reader.ts';
import {
  decodeSnapshotHeader,
  SNAPSHOT_HEADER_BYTES,
  SNAPSHOT_PAYLOAD_BYTES,
  SNAPSHOT_VERSION,
  type SnapshotHeader,
  snapshotSections,
} from './snapshot-codec.ts';

/** A snapshot that verified. */
export interface StoredSnapshot {
  readonly name: string;
  readonly header: SnapshotHeader;
  readonly bytes: number;
}

/** The name of the snapshot that covers the records up to this one. */
export function snapshotName(sequence: number): string {
  return `${String(sequence).padStart(10, '0')}.snapshot`;
}

/** Its name while it is written. */
export function temporaryName(sequence: number): string {
  return `${snapshotName(sequence)}.tmp`;
}

/** Of these names those of snapshots, the newest last. */
export function snapshotNames(names: readonly string[]): string[] {
  return names
    .filter((name) => /^\d{10,}\.snapshot$/.test(name))
    .sort((left, right) => Number.parseInt(left, 10) - Number.parseInt(right, 10));
}

/** Of these names those of snapshots that were not finished. */
export function unfinishedNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10,}\.snapshot\.tmp$/.test(name));
}

/** Verifies a snapshot. Throws a StartupError where anything of it is not as it must be. */
export async function verifySnapshot(backend: StorageBackend, name: string): Promise<StoredSnapshot> {
  const file = await backend.open(name, 'read');
  try {
    const size = await file.size();
    const header = await readHeader(backend, name, file);
    const reader = new SegmentReader(file, size);
    const order = new FrameOrder(backend, name);
    let offset = SNAPSHOT_HEADER_BYTES;
    while (offset < size) {
      const reading = await reader.verifyFrame(header.salt, offset);
      if (reading.kind === 'bad') throw damaged(backend, name, offset, reading.reason);
      order.check(header, reading.header, offset);
      offset = reading.next;
    }
    if (!order.hasEnded) throw damaged(backend, name, offset, 'the snapshot is incomplete');
    return { name, header, bytes: size };
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
  const { name, header, bytes } = snapshot;
  const file = await backend.open(name, 'read');
  try {
    const reader = new SegmentReader(file, bytes);
    let offset = SNAPSHOT_HEADER_BYTES;
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

async function readHeader(backend: StorageBackend, name: string, file: StorageFile): Promise<SnapshotHeader> {
  const bytes = new Uint8Array(SNAPSHOT_HEADER_BYTES);
  const reading = decodeSnapshotHeader(bytes.subarray(0, await file.read(bytes, 0)));
  if (reading.kind === 'newer') throw newerVersion(backend, name, reading.version, SNAPSHOT_VERSION);
  if (reading.kind === 'damaged')
    throw damaged(backend, name, 0, 'the header of the snapshot does not verify');
  if (snapshotName(reading.header.sequence) !== name)
    throw damaged(backend, name, 0, `the snapshot is one of record ${reading.header.sequence}`);
  return reading.header;
}

/** What the frames of a snapshot must be, one after the other. */
class FrameOrder {
  readonly #backend: StorageBackend;
  readonly #name: string;
  #frames = 0;
  #section = 0;
  hasEnded = false;

  constructor(backend: StorageBackend, name: string) {
    this.#backend = backend;
    this.#name = name;
  }

  check(snapshot: SnapshotHeader, frame: ReadFrameHeader, offset: number): void {
    const { end, state, observed } = snapshotSections;
    if (frame.flags !== 0 || ![end, state, observed].some((section) => section === frame.count))
      throw unknownFeature(this.#backend, this.#name, offset);
    const isNext =
      !this.hasEnded &&
      frame.firstSequence === ++this.#frames &&
      (frame.count === end || frame.count >= this.#section) &&
      frame.payloadBytes <= SNAPSHOT_PAYLOAD_BYTES;
    if (!isNext) throw damaged(this.#backend, this.#name, offset, 'a frame is not the one that must follow');
    if (frame.historyId !== snapshot.historyId || frame.epoch !== snapshot.epoch)
      throw damaged(this.#backend, this.#name, offset, 'a frame belongs to another snapshot');
    this.#section = frame.count;
    this.hasEnded = frame.count === end;
  }
}
