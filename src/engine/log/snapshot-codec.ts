/**
 * The bytes of a snapshot: a header, then frames as a segment of the log has them. docs/format.md draws them.
 *
 * Where a frame of the log says the sequence of its first record, one of a snapshot says its place (1, 2, 3, …), and
 * in place of the number of records its section. So a frame that is missing or exchanged does not verify, and the
 * last frame, of a section of its own, tells a whole snapshot from one that was cut between two frames. What the
 * sections hold is the engine's business.
 */
import { assert } from '../base/assert.ts';
import { type FileSealing, plainFile } from './cipher.ts';
import {
  getCount,
  getKnown,
  getParent,
  hexadecimal,
  type HistoryParent,
  SALT_BYTES,
  setCount,
  setHexadecimal,
  setKnown,
  setParent,
} from './codec.ts';
import { decodeFileHeader, encodeFileHeader, type FileKind } from './file-header.ts';

/** The version this program writes. A file of a newer one is refused. */
export const SNAPSHOT_VERSION = 1;
/** A frame's payload is no longer before it is sealed. */
export const SNAPSHOT_PAYLOAD_BYTES = 512 * 1024;

/** What the frames of a snapshot hold: they come in this order, the last frame is the only one of `end`. */
export const snapshotSections = { end: 0, state: 1, observed: 2 } as const;

/** What stands at the beginning of a snapshot. */
export interface SnapshotHeader {
  /** Of the last record that the snapshot covers. */
  readonly sequence: number;
  /** Number of the first segment that is needed beside it; 0 where no segment had been made. */
  readonly segment: number;
  /** True where it was made without a segment to continue it: who opens the folder next makes that one, when needed. */
  readonly isAlone: boolean;
  readonly salt: Uint8Array;
  readonly historyId: string;
  readonly parent: HistoryParent | null;
  readonly epoch: number;
  /** Logical time: the stamp of that last record, epoch milliseconds. */
  readonly time: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** `recordChecksum` of that last record; null where it is not known. */
  readonly checksum: number | null;
}

/** What the first bytes of a file are, as the header of a snapshot. */
export type SnapshotHeaderReading =
  | { readonly kind: 'header'; readonly header: SnapshotHeader; readonly bytes: Uint8Array }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'damaged' };

const ALONE_FLAG = 2;
const kind: FileKind = {
  magic: new Uint8Array([0x43, 0x4f, 0x52, 0x53, 0x4e, 0x50, 0x0d, 0x0a]), // "CORSNP\r\n"
  version: SNAPSHOT_VERSION,
  flags: ALONE_FLAG,
};

/** The header of a new file whose frames this seals. */
export function encodeSnapshotHeader(header: SnapshotHeader, sealing: FileSealing = plainFile): Uint8Array {
  assert(header.salt.length === SALT_BYTES, 'a salt has 16 bytes');
  return encodeFileHeader(kind, header.isAlone ? ALONE_FLAG : 0, sealing, (bytes, view) => {
    setCount(view, 16, header.sequence);
    setCount(view, 24, header.segment);
    bytes.set(header.salt, 32);
    setHexadecimal(bytes, 48, header.historyId);
    setCount(view, 64, header.epoch);
    setCount(view, 72, header.time);
    setCount(view, 80, header.createdAt);
    setParent(bytes, 88, header.parent);
    setKnown(view, 112, header.checksum);
  });
}

/** Reads the first bytes of a file. A newer version is told by its number alone, whatever the rest looks like. */
export function decodeSnapshotHeader(bytes: Uint8Array): SnapshotHeaderReading {
  const reading = decodeFileHeader(kind, bytes);
  if (reading.kind !== 'header') return reading;
  const view = new DataView(reading.bytes.buffer, reading.bytes.byteOffset);
  const header = {
    sequence: getCount(view, 16),
    segment: getCount(view, 24),
    isAlone: (reading.flags & ALONE_FLAG) !== 0,
    salt: reading.bytes.slice(32, 48),
    historyId: hexadecimal(reading.bytes.subarray(48, 64)),
    parent: getParent(reading.bytes, 88),
    epoch: getCount(view, 64),
    time: getCount(view, 72),
    createdAt: getCount(view, 80),
    checksum: getKnown(view, 112),
  };
  return { kind: 'header', header, bytes: reading.bytes };
}
