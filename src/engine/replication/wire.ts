/**
 * The replication protocol between leader and follower: a leader's answer is a sequence of parts, specified in
 * docs/replication.md.
 *
 * Invariant: a part is passed on only after its checksum verified. Checksums are chained from part to part, so
 * truncated, altered, missing or reordered parts are detected. The last part is the end; an answer without it is
 * incomplete. Leader and follower interpret the parts.
 */
import { continueChecksum, decodeRecords, type HistoryParent, type LogRecord } from '../log/codec.ts';
import type { LogPosition } from '../log/log.ts';

/** The protocol version. A follower refuses any other. */
export const wireVersion = 1;

/** The first part of every answer. */
export interface AnswerHead {
  readonly version: number;
  /** The leader's history, and its current epoch. */
  readonly historyId: string;
  readonly epoch: number;
  /** Where that history branched off another; null: it is original. */
  readonly parent: HistoryParent | null;
  /** Sequences of the first record that the leader can send, and of its last. */
  readonly first: number;
  readonly position: number;
  /** The request: the record to continue after; null: a snapshot was requested. */
  readonly after: number | null;
  /** `recordChecksum` of the record to continue after; null: the leader no longer knows it. */
  readonly before: number | null;
  /** In the answer with a snapshot: the last record that it covers. */
  readonly snapshot: Pick<LogPosition, 'sequence' | 'time' | 'checksum'> | null;
}

/** `records` are whole lines of the log; `state` is a piece of a snapshot's section of that name. */
export type WirePart =
  | { readonly kind: 'head'; readonly head: AnswerHead }
  | { readonly kind: 'records' | 'state'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

const numberOf = { head: 1, records: 2, state: 3, end: 4 } as const;
const kinds = new Map<number, WirePart['kind']>(
  Object.entries(numberOf).map(([kind, number]) => [number, kind as WirePart['kind']]),
);

/** A part is its kind and length, its bytes, and a checksum. */
const headerBytes = 5;
const checksumBytes = 4;
/** Maximum length of a part; a log frame fits. */
const maxPartBytes = 512 * 1024 * 1024;
const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes the parts of one answer, in order. */
export class PartWriter {
  #checksum = 0;

  /** The bytes of the next part. */
  write(part: WirePart): Uint8Array {
    const content =
      part.kind === 'head'
        ? encoder.encode(JSON.stringify(part.head))
        : part.kind === 'end'
          ? noBytes
          : part.bytes;
    const bytes = new Uint8Array(headerBytes + content.length + checksumBytes);
    const view = new DataView(bytes.buffer);
    view.setUint8(0, numberOf[part.kind]);
    view.setUint32(1, content.length, true);
    bytes.set(content, headerBytes);
    const end = headerBytes + content.length;
    this.#checksum = continueChecksum(this.#checksum, bytes.subarray(0, end));
    view.setUint32(end, this.#checksum, true);
    return bytes;
  }
}

/**
 * Decodes an answer that arrives in pieces of any size, up to its end. Throws a ReplicationError if a part does not
 * verify or the end is missing, and passes on what the pieces throw.
 */
export async function* readParts(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<WirePart, void, undefined> {
  const source = new Pieces(chunks);
  let checksum = 0;
  for (;;) {
    const header = (await source.take(headerBytes)).slice();
    const view = new DataView(header.buffer);
    const kind = kinds.get(view.getUint8(0));
    const length = view.getUint32(1, true);
    if (kind === undefined || length > maxPartBytes) throw damaged();
    const bytes = (await source.take(length)).slice();
    checksum = continueChecksum(continueChecksum(checksum, header), bytes);
    const trailer = await source.take(checksumBytes);
    if (new DataView(trailer.buffer, trailer.byteOffset, checksumBytes).getUint32(0, true) !== checksum)
      throw damaged();
    yield partOf(kind, bytes);
    if (kind === 'end') return;
  }
}

/** The records of these lines. Throws a ReplicationError if they cannot be decoded. */
export function decodeLines(lines: Uint8Array): LogRecord[] {
  try {
    return [...decodeRecords(lines)];
  } catch (error) {
    throw new ReplicationError('broken', 'the leader sent records that cannot be read', { cause: error });
  }
}

function partOf(kind: WirePart['kind'], bytes: Uint8Array): WirePart {
  if (kind === 'end') return { kind };
  if (kind !== 'head') return { kind, bytes };
  const head = headIn(bytes);
  if (head.version !== wireVersion)
    throw new ReplicationError(
      'refused',
      `the leader speaks version ${head.version} of the replication, and this follower version ${wireVersion}: ` +
        'run the same version of Corollary on both',
    );
  return { kind, head };
}

/** Decodes a head; if it has another version, only that field is valid. */
function headIn(bytes: Uint8Array): AnswerHead {
  let head: unknown;
  try {
    head = JSON.parse(decoder.decode(bytes));
  } catch (error) {
    throw new ReplicationError('broken', "the leader's answer has no valid beginning", { cause: error });
  }
  if (typeof head !== 'object' || head === null) throw damaged();
  const { version, historyId, epoch, first, position } = head as Partial<Record<keyof AnswerHead, unknown>>;
  const isHead =
    typeof historyId === 'string' && [epoch, first, position].every((value) => Number.isSafeInteger(value));
  if (typeof version !== 'number' || (version === wireVersion && !isHead)) throw damaged();
  return head as AnswerHead;
}

function damaged(): ReplicationError {
  return new ReplicationError('broken', 'the data from the leader was altered in transit');
}

/** Reads a given number of bytes from pieces of any size. */
class Pieces {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = noBytes;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** The next `length` bytes, valid until the next call. */
  async take(length: number): Promise<Uint8Array> {
    if (this.#rest.length < length) await this.#gather(length);
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  async #gather(length: number): Promise<void> {
    const pieces = [this.#rest];
    let gathered = this.#rest.length;
    while (gathered < length) {
      const next = await this.#iterator.next();
      if (next.done === true) throw new ReplicationError('broken', "the leader's answer broke off");
      pieces.push(next.value);
      gathered += next.value.length;
    }
    this.#rest = new Uint8Array(gathered);
    let at = 0;
    for (const piece of pieces) {
      this.#rest.set(piece, at);
      at += piece.length;
    }
  }
}

/**
 * Why a follower made no progress: the leader `refused` it, which needs an operator; the leader was `away`; or the data
 * was `broken` and will be requested again. The message is for the follower's operator and never contains a key.
 */
export class ReplicationError extends Error {
  readonly kind: 'refused' | 'away' | 'broken';

  constructor(kind: ReplicationError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReplicationError';
    this.kind = kind;
  }
}
