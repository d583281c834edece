/**
 * The byte format of the log: segment header, frame header, frame, record. See docs/format.md.
 *
 * Invariant: whatever verifies was written by this program, whole, at exactly this place. Every checksum is a CRC-32
 * over the segment's random salt, the frame's offset, and then the bytes, so neither a fact whose content looks like a
 * frame nor a frame copied from elsewhere can verify. Recovery checks the sequence numbers and decides what a failed
 * checksum means.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.ts';
import { isWrittenOrigin, type WrittenOrigin } from '../base/origin.ts';
import { type FileSealing, plainFile, plainSealer, type Sealer } from './cipher.ts';
import { decodeFileHeader, encodeFileHeader, type FileKind } from './file-header.ts';

/** The version that this program writes. Newer versions are refused. */
export const FORMAT_VERSION = 1;
export const FRAME_HEADER_BYTES = 56;
/** Bytes of the payload's checksum, after the payload. */
export const FRAME_TRAILER_BYTES = 4;
export const SALT_BYTES = 16;
/**
 * Flag of a frame written before earlier frames were synced, as with FSYNC=interval: after a power cut it may exist
 * without them. (1 and 2 are for encryption and compression.)
 */
export const FOLLOWS_UNSYNCED = 4;
/** Maximum payload; the log refuses to write a longer one. */
export const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;

const kind: FileKind = {
  magic: new Uint8Array([0x43, 0x4f, 0x52, 0x4c, 0x4f, 0x47, 0x0d, 0x0a]), // "CORLOG\r\n"
  version: FORMAT_VERSION,
  flags: 0,
};
/** Bytes of a frame's header that its checksum covers; encryption authenticates the same bytes. */
const FRAME_HEAD_BYTES = 52;
const NEW_LINE = 0x0a;

/**
 * One accepted write. `sequence` counts the service's records from 1 without a gap; `time` is its stamp in epoch
 * milliseconds, never before the last record's; `wall` is the wall clock, by which the write is judged, absent where it
 * is the stamp;
 * `actor` is the credential's id, null for an anonymous caller; `idempotency` identifies a repeated request;
 * `generation` is interpreted by the engine; `version` is the version of the operation's shape; `operation` is any JSON
 * value, opaque to the log; `origin` says from where the write came, absent in records from before it was kept.
 */
export interface LogRecord {
  readonly sequence: number;
  readonly time: number;
  readonly wall?: number;
  readonly requestId: string;
  readonly actor: string | null;
  readonly idempotency?: { readonly key: string; readonly fingerprint: string; readonly space: string };
  readonly database: string;
  readonly generation: number;
  readonly version: number;
  readonly operation: unknown;
  readonly origin?: WrittenOrigin;
}

/** Where a history branched off another: the last record that both share. */
export interface HistoryParent {
  readonly historyId: string;
  readonly sequence: number;
}

/** The header of a segment. History ids are 32 hexadecimal digits. */
export interface SegmentHeader {
  /** Segments are numbered from 1 without a gap. */
  readonly id: number;
  /** Sequence of the segment's first record, present or future. */
  readonly firstSequence: number;
  readonly salt: Uint8Array;
  readonly historyId: string;
  /** Where this history branched off, for a follower that became a leader; null: it is original. */
  readonly parent: HistoryParent | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** `recordChecksum` of the record before the first one; null: there is none, or it is unknown. */
  readonly before: number | null;
}

/** The header before the records of one group commit. */
interface FrameHeader {
  /** Bytes between the header and the payload's checksum. */
  readonly payloadBytes: number;
  /** The flags of the file's sealer, with or without `FOLLOWS_UNSYNCED`; no others are defined. */
  readonly flags: number;
  readonly historyId: string;
  readonly epoch: number;
  readonly firstSequence: number;
  /** Records in the payload, at least 1. */
  readonly count: number;
  /** The nonce that sealed the payload; 0 in an unencrypted file. */
  readonly nonce: number;
}

/** A verified frame header. */
export interface ReadFrameHeader extends FrameHeader {
  /** The checksum from which the payload's continues. */
  readonly checksum: number;
  /** The bytes that are authenticated with the payload. */
  readonly head: Uint8Array;
}

/** The result of decoding the first bytes of a file as a segment header. */
type SegmentHeaderReading =
  | { readonly kind: 'header'; readonly header: SegmentHeader; readonly bytes: Uint8Array }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'damaged' };

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Encodes a record as one line of JSON in UTF-8, including the line feed. Throws what JSON.stringify throws. */
export function encodeRecord(record: LogRecord): Uint8Array {
  assert(record.operation !== undefined, 'a record has an operation');
  return encoder.encode(
    `${JSON.stringify({ ...fieldsBefore(record), operation: record.operation, origin: record.origin })}\n`,
  );
}

/**
 * The same bytes in parts, where `operation` is the record's operation, already encoded as JSON in UTF-8: it may be large,
 * and is not copied.
 */
export function recordParts(record: LogRecord, operation: Uint8Array): Uint8Array[] {
  const { origin } = record;
  const before = encoder.encode(`${JSON.stringify(fieldsBefore(record)).slice(0, -1)},"operation":`);
  const after = encoder.encode(origin === undefined ? '}\n' : `,"origin":${JSON.stringify(origin)}}\n`);
  return [before, operation, after];
}

/** The fields before the operation. */
function fieldsBefore(record: LogRecord): object {
  return {
    sequence: record.sequence,
    time: record.time,
    wall: record.wall,
    requestId: record.requestId,
    actor: record.actor,
    idempotency: record.idempotency,
    database: record.database,
    generation: record.generation,
    version: record.version,
  };
}

/**
 * Distinguishes a record from others that a log may have at the same position: the CRC-32, never 0, of one of these
 * lines (the first is number 0) up to its operation. That part contains the time, author and request of the write but
 * no knowledge and no reason, since unencrypted headers include the checksum.
 */
export function recordChecksum(lines: Uint8Array, number = 0): number {
  let start = 0;
  for (let line = 0; line < number; line++) start = lines.indexOf(NEW_LINE, start) + 1;
  // Quotation marks inside a text are escaped, so the first match is the field.
  const rest = Buffer.from(lines.buffer, lines.byteOffset + start, lines.length - start);
  const end = rest.indexOf(',"operation":');
  return crc32(rest.subarray(0, end < 0 ? rest.indexOf(NEW_LINE) : end)) || 1;
}

/** Decodes the records of a payload, in order. Throws if they are not as `encodeRecord` writes them. */
export function* decodeRecords(payload: Uint8Array): Generator<LogRecord, void, undefined> {
  let start = 0;
  while (start < payload.length) {
    const end = payload.indexOf(NEW_LINE, start);
    if (end < 0) throw new Error('a record does not end in a line feed');
    yield checkedRecord(JSON.parse(decoder.decode(payload.subarray(start, end))));
    start = end + 1;
  }
}

function checkedRecord(value: unknown): LogRecord {
  if (typeof value !== 'object' || value === null) throw new Error('a record is no JSON object');
  const record = value as Partial<Record<keyof LogRecord, unknown>>;
  const whole = [record.sequence, record.time, record.generation, record.version].every(Number.isSafeInteger);
  const wall = record.wall === undefined || Number.isSafeInteger(record.wall);
  const text = typeof record.requestId === 'string' && typeof record.database === 'string';
  const actor = record.actor === null || typeof record.actor === 'string';
  const mark = record.idempotency === undefined || isMark(record.idempotency);
  const origin = record.origin === undefined || isWrittenOrigin(record.origin);
  if (!whole || !wall || !text || !actor || !mark || !origin || !('operation' in record)) {
    throw new Error('a record lacks a field, or has one of another type');
  }
  return value as LogRecord;
}

function isMark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { key, fingerprint, space } = value as Partial<Record<string, unknown>>;
  return [key, fingerprint, space].every((part) => typeof part === 'string');
}

/** Encodes the header of a new file with this sealing. */
export function encodeSegmentHeader(header: SegmentHeader, sealing: FileSealing = plainFile): Uint8Array {
  assert(header.salt.length === SALT_BYTES, 'a salt has 16 bytes');
  return encodeFileHeader(kind, 0, sealing, (bytes, view) => {
    setCount(view, 16, header.id);
    setCount(view, 24, header.firstSequence);
    bytes.set(header.salt, 32);
    setHexadecimal(bytes, 48, header.historyId);
    setParent(bytes, 64, header.parent);
    setCount(view, 88, header.createdAt);
    setKnown(view, 96, header.before);
  });
}

/** Decodes the first bytes of a file. A newer version is reported by its number, whatever the other bytes are. */
export function decodeSegmentHeader(bytes: Uint8Array): SegmentHeaderReading {
  const reading = decodeFileHeader(kind, bytes);
  if (reading.kind !== 'header') return reading;
  const view = new DataView(reading.bytes.buffer, reading.bytes.byteOffset);
  const header = {
    id: getCount(view, 16),
    firstSequence: getCount(view, 24),
    salt: reading.bytes.slice(32, 48),
    historyId: hexadecimal(reading.bytes.subarray(48, 64)),
    parent: getParent(reading.bytes, 64),
    createdAt: getCount(view, 88),
    before: getKnown(view, 96),
  };
  return { kind: 'header', header, bytes: reading.bytes };
}

/** Writes a checksum that may be unknown: 4 bytes, 0 if unknown. */
export function setKnown(view: DataView, position: number, checksum: number | null): void {
  view.setUint32(position, checksum ?? 0, true);
}

/** Reads what `setKnown` wrote. */
export function getKnown(view: DataView, position: number): number | null {
  return view.getUint32(position, true) || null;
}

/** Writes where a history branched off: 24 bytes. */
export function setParent(bytes: Uint8Array, position: number, parent: HistoryParent | null): void {
  if (parent === null) return;
  setHexadecimal(bytes, position, parent.historyId);
  setCount(new DataView(bytes.buffer, bytes.byteOffset), position + 16, parent.sequence);
}

/** Reads what `setParent` wrote. */
export function getParent(bytes: Uint8Array, position: number): HistoryParent | null {
  const parent = bytes.subarray(position, position + 16);
  if (parent.every((byte) => byte === 0)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { historyId: hexadecimal(parent), sequence: getCount(view, position + 16) };
}

/** The four bytes that begin every frame of a segment; recovery searches for them. */
export function frameMarker(salt: Uint8Array): Uint8Array {
  return salt.subarray(0, 4);
}

/**
 * Memory for frames, one after the other: the bytes of one are valid until the next is encoded there. A load writes many
 * large frames, and memory of its own for each would have the collector look through everything, again and again.
 */
export class FrameRoom {
  #bytes = new Uint8Array(0);

  /** So many bytes, of any content. */
  take(length: number): Uint8Array {
    if (length > maxKeptBytes) return new Uint8Array(length);
    if (length > this.#bytes.length)
      this.#bytes = new Uint8Array(Math.min(maxKeptBytes, Math.max(length, this.#bytes.length * 2)));
    return this.#bytes.subarray(0, length);
  }
}

/** A larger frame has memory of its own. */
const maxKeptBytes = 1024 * 1024;

/** Bytes of a whole frame for a payload of this length, as stored. */
export function frameBytes(payloadBytes: number): number {
  return FRAME_HEADER_BYTES + payloadBytes + FRAME_TRAILER_BYTES;
}

/**
 * Encodes a whole frame for `offset` of the segment with this salt, in this room. `parts` are its payload in order, which
 * the file's sealer seals.
 */
export function encodeFrame(
  salt: Uint8Array,
  offset: number,
  frame: Omit<FrameHeader, 'payloadBytes' | 'nonce'>,
  parts: readonly Uint8Array[],
  sealer: Sealer = plainSealer,
  room = new FrameRoom(),
): Uint8Array {
  const payloadBytes = parts.reduce((sum, part) => sum + part.length, sealer.overhead);
  assert(payloadBytes > 0 && payloadBytes <= MAX_PAYLOAD_BYTES, 'a payload has a legal length');
  const nonce = sealer.nextNonce();
  const bytes = room.take(frameBytes(payloadBytes));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  bytes.set(frameMarker(salt), 0);
  view.setUint32(4, payloadBytes, true);
  view.setUint32(8, frame.flags | sealer.flags, true);
  view.setUint32(12, frame.count, true);
  setHexadecimal(bytes, 16, frame.historyId);
  setCount(view, 32, frame.epoch);
  setCount(view, 40, frame.firstSequence);
  view.setUint32(48, nonce, true);
  const head = bytes.subarray(0, FRAME_HEAD_BYTES);
  const checksum = crc32(head, placeChecksum(salt, offset));
  view.setUint32(FRAME_HEAD_BYTES, checksum, true);
  let position = FRAME_HEADER_BYTES;
  for (const part of sealer.seal(nonce, head, parts)) {
    bytes.set(part, position);
    position += part.length;
  }
  view.setUint32(position, crc32(bytes.subarray(FRAME_HEADER_BYTES, position), checksum), true);
  return bytes;
}

/** Decodes the frame header in these 56 bytes at `offset` of the segment; null: it does not verify. */
export function decodeFrameHeader(
  salt: Uint8Array,
  offset: number,
  bytes: Uint8Array,
): ReadFrameHeader | null {
  if (bytes.length < FRAME_HEADER_BYTES) return null;
  if (!frameMarker(salt).every((byte, index) => bytes[index] === byte)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checksum = view.getUint32(FRAME_HEAD_BYTES, true);
  const head = bytes.slice(0, FRAME_HEAD_BYTES);
  if (crc32(head, placeChecksum(salt, offset)) !== checksum) return null;
  return {
    payloadBytes: view.getUint32(4, true),
    flags: view.getUint32(8, true),
    count: view.getUint32(12, true),
    historyId: hexadecimal(bytes.subarray(16, 32)),
    epoch: getCount(view, 32),
    firstSequence: getCount(view, 40),
    nonce: view.getUint32(48, true),
    checksum,
    head,
  };
}

/** Continues a payload's checksum over one part; begin with the header's checksum. */
export function continueChecksum(checksum: number, part: Uint8Array): number {
  return crc32(part, checksum);
}

/** 16 bytes as 32 hexadecimal digits. */
export function hexadecimal(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** Writes 32 hexadecimal digits as 16 bytes. */
export function setHexadecimal(target: Uint8Array, position: number, text: string): void {
  assert(/^[0-9a-f]{32}$/.test(text), 'a history id has 32 hexadecimal digits');
  for (let index = 0; index < 16; index++) {
    target[position + index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  }
}

function placeChecksum(salt: Uint8Array, offset: number): number {
  const place = new Uint8Array(8);
  setCount(new DataView(place.buffer), 0, offset);
  return crc32(place, crc32(salt));
}

/** Writes a whole number of up to 2^53 - 1 as 8 bytes. */
export function setCount(view: DataView, position: number, value: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, 'a count is a whole number');
  view.setBigUint64(position, BigInt(value), true);
}

/** Reads what `setCount` wrote. */
export function getCount(view: DataView, position: number): number {
  return Number(view.getBigUint64(position, true));
}
