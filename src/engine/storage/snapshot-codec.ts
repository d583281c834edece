/**
 * The bytes of a snapshot: a header, then frames as a segment of the log has them. docs/format.md draws them.
 *
 * Where a frame of the log says the sequence of its first record, one of a snapshot says its place (1, 2, 3, …), and
 * in place of the number of records its section. So a frame that is missing or exchanged does not verify, and the
 * last frame, of a section of its own, tells a whole snapshot from one that was cut between two frames. What the
 * sections hold is the engine's business.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.ts';
import { getCount, hexadecimal, SALT_BYTES, setCount, setHexadecimal } from './codec.ts';

/** The version this program writes. A file of a newer one is refused. */
export const SNAPSHOT_VERSION = 1;
export const SNAPSHOT_HEADER_BYTES = 128;
/** A frame's payload is no longer. */
export const SNAPSHOT_PAYLOAD_BYTES = 512 * 1024;

/** What the frames of a snapshot hold: they come in this order, the last frame is the only one of `end`. */
export const snapshotSections = { end: 0, state: 1, observed: 2 } as const;

/** What stands at the beginning of a snapshot. */
export interface SnapshotHeader {
  /** Of the last record that the snapshot covers. */
  readonly sequence: number;
  /** Number of the first segment that is needed beside it; 0 where no segment had been made. */
  readonly segment: number;
  readonly salt: Uint8Array;
  readonly historyId: string;
  readonly epoch: number;
  /** Logical time: the stamp of that last record, epoch milliseconds. */
  readonly time: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** What the first bytes of a file are, as the header of a snapshot. */
export type SnapshotHeaderReading =
  | { readonly kind: 'header'; readonly header: SnapshotHeader }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'damaged' };

const MAGIC = new Uint8Array([0x43, 0x4f, 0x52, 0x53, 0x4e, 0x50, 0x0d, 0x0a]); // "CORSNP\r\n"

export function encodeSnapshotHeader(header: SnapshotHeader): Uint8Array {
  assert(header.salt.length === SALT_BYTES, 'a salt has 16 bytes');
  const bytes = new Uint8Array(SNAPSHOT_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC, 0);
  view.setUint16(8, SNAPSHOT_VERSION, true);
  view.setUint32(12, SNAPSHOT_HEADER_BYTES, true);
  setCount(view, 16, header.sequence);
  setCount(view, 24, header.segment);
  bytes.set(header.salt, 32);
  setHexadecimal(bytes, 48, header.historyId);
  setCount(view, 64, header.epoch);
  setCount(view, 72, header.time);
  setCount(view, 80, header.createdAt);
  view.setUint32(124, crc32(bytes.subarray(0, 124)), true);
  return bytes;
}

/** Reads the first bytes of a file. A newer version is told by its number alone, whatever the rest looks like. */
export function decodeSnapshotHeader(bytes: Uint8Array): SnapshotHeaderReading {
  if (bytes.length < 10 || !MAGIC.every((byte, index) => bytes[index] === byte)) return { kind: 'damaged' };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint16(8, true);
  if (version > SNAPSHOT_VERSION) return { kind: 'newer', version };
  if (bytes.length < SNAPSHOT_HEADER_BYTES) return { kind: 'damaged' };
  if (view.getUint32(124, true) !== crc32(bytes.subarray(0, 124))) return { kind: 'damaged' };
  return {
    kind: 'header',
    header: {
      sequence: getCount(view, 16),
      segment: getCount(view, 24),
      salt: bytes.slice(32, 48),
      historyId: hexadecimal(bytes.subarray(48, 64)),
      epoch: getCount(view, 64),
      time: getCount(view, 72),
      createdAt: getCount(view, 80),
    },
  };
}
