/**
 * Reads the frames of one segment in order, through a window of bounded size.
 *
 * Invariant: a frame is returned only after its header and payload verified, and no byte beyond `limit` is read (a
 * write behind it may be in progress or have failed). Problems are reported; the caller decides what they mean.
 */
import type { StorageBackend, StorageFile } from './backend.ts';
import { type Opener, SEALED_FLAG } from './cipher.ts';
import {
  continueChecksum,
  decodeFrameHeader,
  FRAME_HEADER_BYTES,
  FRAME_TRAILER_BYTES,
  frameBytes,
  frameMarker,
  type ReadFrameHeader,
} from './codec.ts';
import { damaged, unknownFeature } from './startup-error.ts';

const WINDOW_BYTES = 1024 * 1024;

/**
 * What was found at an offset of a segment. `altered`: the checksums verify, but it is not what was encrypted here,
 * which no crash can cause.
 */
type FrameReading =
  | { readonly kind: 'frame'; readonly header: ReadFrameHeader; readonly next: number }
  | { readonly kind: 'altered'; readonly reason: string; readonly next: number }
  | { readonly kind: 'bad'; readonly reason: string };

/** Reads and verifies the frames of one open segment. */
export class SegmentReader {
  readonly #file: StorageFile;
  readonly #opener: Opener;
  #window = new Uint8Array(0);
  #start = 0;
  #filled = 0;
  /** Bytes of the segment that may be read; may grow but never shrink below what was read. */
  limit: number;

  constructor(file: StorageFile, limit: number, opener: Opener) {
    this.#file = file;
    this.#opener = opener;
    this.limit = limit;
  }

  /**
   * The bytes from `position` on, fewer than requested if `limit` comes first. Results up to the window's size are
   * views of it, valid until the next call.
   */
  async bytes(position: number, length: number): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, this.limit - position));
    if (wanted > WINDOW_BYTES) {
      const whole = new Uint8Array(wanted);
      return whole.subarray(0, await this.#file.read(whole, position));
    }
    if (position < this.#start || position + wanted > this.#start + this.#filled) {
      const room = Math.max(0, Math.min(WINDOW_BYTES, this.limit - position));
      if (this.#window.length < room) this.#window = new Uint8Array(room);
      this.#start = position;
      this.#filled = 0;
      this.#filled = await this.#file.read(this.#window.subarray(0, room), position);
    }
    const from = position - this.#start;
    return this.#window.subarray(from, Math.min(from + wanted, this.#filled));
  }

  /** Verifies the frame at `offset`, which is below `limit`. Buffers the payload only if it is encrypted. */
  async verifyFrame(salt: Uint8Array, offset: number): Promise<FrameReading> {
    const header = decodeFrameHeader(salt, offset, await this.bytes(offset, FRAME_HEADER_BYTES));
    if (header === null) return { kind: 'bad', reason: 'the header of a frame does not verify' };
    const next = offset + frameBytes(header.payloadBytes);
    if (next > this.limit) return { kind: 'bad', reason: 'a frame is incomplete' };
    let checksum = header.checksum;
    let position = offset + FRAME_HEADER_BYTES;
    while (position < next - FRAME_TRAILER_BYTES) {
      const part = await this.bytes(position, Math.min(WINDOW_BYTES, next - FRAME_TRAILER_BYTES - position));
      if (part.length === 0) return { kind: 'bad', reason: 'a frame is incomplete' };
      checksum = continueChecksum(checksum, part);
      position += part.length;
    }
    const reading = verdict(header, next, checksum, await this.bytes(position, FRAME_TRAILER_BYTES));
    if (reading.kind !== 'frame' || this.#opener.overhead === 0) return reading;
    if ((await this.payload(offset, header)) !== null) return reading;
    return { kind: 'altered', reason: 'a frame is not the one that was encrypted', next };
  }

  /** The verified payload, unsealed; null: it does not verify. */
  async payload(offset: number, header: ReadFrameHeader): Promise<Uint8Array | null> {
    const bytes = await this.bytes(offset + FRAME_HEADER_BYTES, header.payloadBytes + FRAME_TRAILER_BYTES);
    const payload = bytes.subarray(0, header.payloadBytes);
    const reading = verdict(
      header,
      offset,
      continueChecksum(header.checksum, payload),
      bytes.subarray(header.payloadBytes),
    );
    return reading.kind === 'frame' ? this.#opener.open(header.nonce, header.head, payload) : null;
  }

  /** The first offset from `from` on with a valid header of a wanted frame; null: none. Scans every byte. */
  async findFrame(
    salt: Uint8Array,
    from: number,
    isWanted: (header: ReadFrameHeader) => boolean,
  ): Promise<number | null> {
    const marker = frameMarker(salt);
    let position = from;
    while (position + FRAME_HEADER_BYTES <= this.limit) {
      const part = await this.bytes(position, WINDOW_BYTES);
      for (let at = indexOf(part, marker, 0); at >= 0; at = indexOf(part, marker, at + 1)) {
        const candidate = part.subarray(at, at + FRAME_HEADER_BYTES);
        if (candidate.length < FRAME_HEADER_BYTES) break;
        const header = decodeFrameHeader(salt, position + at, candidate);
        if (header !== null && isWanted(header)) return position + at;
      }
      if (part.length < FRAME_HEADER_BYTES) return null;
      position += part.length - FRAME_HEADER_BYTES + 1;
    }
    return null;
  }
}

/** Throws a StartupError if a frame is not sealed like its file or has flags beyond `others`. */
export function checkFlags(
  backend: StorageBackend,
  name: string,
  offset: number,
  { flags }: ReadFrameHeader,
  opener: Opener,
  others = 0,
): void {
  if ((flags & ~(SEALED_FLAG | others)) !== 0) throw unknownFeature(backend, name, offset);
  if ((flags & SEALED_FLAG) !== opener.flags)
    throw damaged(backend, name, offset, 'a frame is of another kind than its file');
}

function verdict(header: ReadFrameHeader, next: number, checksum: number, trailer: Uint8Array): FrameReading {
  if (trailer.length < FRAME_TRAILER_BYTES) return { kind: 'bad', reason: 'a frame is incomplete' };
  const stored = new DataView(trailer.buffer, trailer.byteOffset, FRAME_TRAILER_BYTES).getUint32(0, true);
  if (stored !== checksum) return { kind: 'bad', reason: 'the payload of a frame does not verify' };
  return { kind: 'frame', header, next };
}

function indexOf(bytes: Uint8Array, marker: Uint8Array, from: number): number {
  const first = marker[0] as number;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (marker.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}
