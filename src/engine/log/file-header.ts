/**
 * The common header of segments, snapshots and journals: magic, version, flags, length and salt; then, at the end, the
 * envelope of an encrypted file and a checksum. See docs/format.md.
 *
 * Each kind of file defines the bytes in between. The checksum is verified before any field of a header is used, and
 * the key before the rest of the file is read.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.ts';
import type { StorageBackend, StorageFile } from './backend.ts';
import {
  ENVELOPE_BYTES,
  type FileSealing,
  type FolderKey,
  type Opener,
  plainOpener,
  SEALED_FLAG,
} from './cipher.ts';
import { alteredHeader, keyMissing, keyNotWanted, wrongKey } from './startup-error.ts';

/** Header length of an unencrypted file, and of an encrypted one. */
export const HEADER_BYTES = 128;
export const SEALED_HEADER_BYTES = HEADER_BYTES + ENVELOPE_BYTES;

/** Offset of the envelope of an encrypted file, or of the checksum of an unencrypted one. */
const HEAD_BYTES = 124;
const CHECKSUM_BYTES = 4;
const SALT = { from: 32, to: 48 };

/** The result of decoding the first bytes of a file. `bytes` is the header. */
type FileHeaderReading =
  | { readonly kind: 'header'; readonly bytes: Uint8Array; readonly flags: number }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'damaged' };

/** The header fields of one kind of file. */
export interface FileKind {
  /** 8 bytes. */
  readonly magic: Uint8Array;
  readonly version: number;
  /** All known flags except the one of encryption. */
  readonly flags: number;
}

/** Maximum length of a partly written header, given the key of new files. */
export function headerBytesWith(key: FolderKey | null): number {
  return key === null ? HEADER_BYTES : SEALED_HEADER_BYTES;
}

/** Encodes a header; `fill` writes the bytes specific to the kind of file: 16 to 123. */
export function encodeFileHeader(
  { magic, version }: FileKind,
  flags: number,
  sealing: FileSealing,
  fill: (bytes: Uint8Array, view: DataView) => void,
): Uint8Array {
  const { wrap } = sealing;
  const bytes = new Uint8Array(wrap === null ? HEADER_BYTES : SEALED_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(magic, 0);
  view.setUint16(8, version, true);
  view.setUint16(10, flags | (wrap === null ? 0 : SEALED_FLAG), true);
  view.setUint32(12, bytes.length, true);
  fill(bytes, view);
  if (wrap !== null) bytes.set(wrap(bytes.subarray(0, HEAD_BYTES)), HEAD_BYTES);
  const end = bytes.length - CHECKSUM_BYTES;
  view.setUint32(end, crc32(bytes.subarray(0, end)), true);
  return bytes;
}

/** Decodes the first bytes of a file. A newer version is reported by its number, whatever the other bytes are. */
export function decodeFileHeader(kind: FileKind, bytes: Uint8Array): FileHeaderReading {
  if (bytes.length < 10 || !kind.magic.every((byte, index) => bytes[index] === byte))
    return { kind: 'damaged' };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint16(8, true);
  if (version > kind.version) return { kind: 'newer', version };
  if (bytes.length < HEADER_BYTES) return { kind: 'damaged' };
  const length = view.getUint32(12, true);
  if (length < HEADER_BYTES || length > bytes.length) return { kind: 'damaged' };
  const end = length - CHECKSUM_BYTES;
  if (view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) return { kind: 'damaged' };
  const flags = view.getUint16(10, true);
  const isSealed = (flags & SEALED_FLAG) !== 0;
  const isKnown = (flags & ~(kind.flags | SEALED_FLAG)) === 0;
  if (!isKnown || length !== (isSealed ? SEALED_HEADER_BYTES : HEADER_BYTES)) return { kind: 'unknown' };
  return { kind: 'header', bytes: bytes.slice(0, length), flags };
}

/** The first bytes of a file, enough for a header of either length. */
export async function readHeaderBytes(file: StorageFile): Promise<Uint8Array> {
  const bytes = new Uint8Array(SEALED_HEADER_BYTES);
  return bytes.subarray(0, await file.read(bytes, 0));
}

/**
 * The opener for the frames of the file with this header. Throws a StartupError if the folder's key does not match, is
 * missing, or was given for an unencrypted file.
 */
export function openerFor(
  backend: StorageBackend,
  name: string,
  header: Uint8Array,
  key: FolderKey | null,
): Opener {
  if (header.length === HEADER_BYTES) {
    if (key !== null) throw keyNotWanted(backend, name);
    return plainOpener;
  }
  if (key === null) throw keyMissing(backend, name);
  assert(header.length === SEALED_HEADER_BYTES, 'an encrypted file has an envelope');
  const salt = header.subarray(SALT.from, SALT.to);
  const envelope = header.subarray(HEAD_BYTES, HEAD_BYTES + ENVELOPE_BYTES);
  if (!key.fits(salt, envelope)) throw wrongKey(backend, name);
  const opener = key.openerOf(salt, header.subarray(0, HEAD_BYTES), envelope);
  if (opener === null) throw alteredHeader(backend, name);
  return opener;
}
