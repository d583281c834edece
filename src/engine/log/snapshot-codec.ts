/**
 * The byte format of snapshots: a header, then frames like those of log segments. See docs/format.md.
 *
 * A snapshot's frame has its position (1, 2, 3, …) in place of the first sequence, and its section in place of the
 * record count. So a missing or swapped frame does not verify, and the last frame, a section of its own, shows that the
 * snapshot was not cut off between two frames. The engine defines the contents of the sections.
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

/** The version that this program writes. Newer versions are refused. */
export const SNAPSHOT_VERSION = 1;
/** Maximum payload of a frame before sealing. */
export const SNAPSHOT_PAYLOAD_BYTES = 512 * 1024;

/** The sections of a snapshot, in order; `end` is exactly the last frame. */
export const snapshotSections = { end: 0, state: 1, observed: 2 } as const;

/** The header of a snapshot. */
export interface SnapshotHeader {
  /** Sequence of the last record that the snapshot covers. */
  readonly sequence: number;
  /** Id of the first segment needed beside it; 0: no segment existed. */
  readonly segment: number;
  /** True if it was created without a segment to continue it; whoever opens the folder next creates one when needed. */
  readonly isAlone: boolean;
  readonly salt: Uint8Array;
  readonly historyId: string;
  readonly parent: HistoryParent | null;
  readonly epoch: number;
  /** Logical time: the stamp of the last record, epoch milliseconds. */
  readonly time: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** `recordChecksum` of the last record; null: unknown. */
  readonly checksum: number | null;
}

/** The result of decoding the first bytes of a file as a snapshot header. */
type SnapshotHeaderReading =
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

/** Encodes the header of a new file with this sealing. */
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

/** Decodes the first bytes of a file. A newer version is reported by its number, whatever the other bytes are. */
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
