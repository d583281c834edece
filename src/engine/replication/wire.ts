/**
 * What a leader and a follower send each other: a row of parts, from one leader's answer. docs/replication.md draws it.
 *
 * Invariant: a part is handed on only after its checksum verified, which continues from the part before it; so parts
 * that were cut off, changed, left out or swapped on their way are not taken for the leader's. The last part is the end:
 * without it the answer is incomplete. What parts mean is for leader and follower to say.
 */
import { continueChecksum, decodeRecords, type HistoryParent, type LogRecord } from '../log/codec.ts';
import type { LogPosition } from '../log/log.ts';

/** The version of what is sent. A follower refuses another one. */
export const wireVersion = 1;

/** Every answer begins with it. */
export interface AnswerHead {
  readonly version: number;
  /** The leader's log, and the epoch it writes under. */
  readonly historyId: string;
  readonly epoch: number;
  /** Where that history branched off another; null where it began by itself. */
  readonly parent: HistoryParent | null;
  /** Sequence of the first record that it can send, and of the last that it has. */
  readonly first: number;
  readonly position: number;
  /** The question: the record that was asked to go on from; null: a snapshot was asked for. */
  readonly after: number | null;
  /** `recordChecksum` of the record that was asked to go on from; null where the leader does not know it any more. */
  readonly before: number | null;
  /** In the answer with a snapshot: the last record that it covers. */
  readonly snapshot: Pick<LogPosition, 'sequence' | 'time' | 'checksum'> | null;
}

/** `records` are lines of the log, whole ones; `state` a piece of the section of that name of a snapshot. */
export type WirePart =
  | { readonly kind: 'head'; readonly head: AnswerHead }
  | { readonly kind: 'records' | 'state'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

const numberOf = { head: 1, records: 2, state: 3, end: 4 } as const;
const kinds = new Map<number, WirePart['kind']>(
  Object.entries(numberOf).map(([kind, number]) => [number, kind as WirePart['kind']]),
);

/** Kind and length before the bytes of a part, the checksum after them. */
const headerBytes = 5;
const checksumBytes = 4;
/** No part is longer: a frame of the log fits. */
const maxPartBytes = 512 * 1024 * 1024;
const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The parts of one answer as bytes, in order. */
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
 * The parts of an answer that comes in pieces of any size, up to the end. Throws a ReplicationError where they do not
 * verify or where the end is missing, and what the pieces throw.
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

/** The records of these lines. Throws a ReplicationError where they are none. */
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

/** The head in these bytes; where it is of another version, its version alone is to be looked at. */
function headIn(bytes: Uint8Array): AnswerHead {
  let head: unknown;
  try {
    head = JSON.parse(decoder.decode(bytes));
  } catch (error) {
    throw new ReplicationError('broken', 'the answer of the leader does not begin as one', { cause: error });
  }
  if (typeof head !== 'object' || head === null) throw damaged();
  const { version, historyId, epoch, first, position } = head as Partial<Record<keyof AnswerHead, unknown>>;
  const isHead =
    typeof historyId === 'string' && [epoch, first, position].every((value) => Number.isSafeInteger(value));
  if (typeof version !== 'number' || (version === wireVersion && !isHead)) throw damaged();
  return head as AnswerHead;
}

function damaged(): ReplicationError {
  return new ReplicationError('broken', 'what the leader sent was changed on its way');
}

/** Bytes that come in pieces, taken in others. */
class Pieces {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = noBytes;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** The next so many bytes, valid until the next call. */
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
      if (next.done === true) throw new ReplicationError('broken', 'the answer of the leader broke off');
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
 * Why a follower got no further: the leader `refused` it, which somebody has to mend; it was `away`; or what came was
 * `broken`, and is asked for again. The message is for whoever runs the follower, and never holds a key.
 */
export class ReplicationError extends Error {
  readonly kind: 'refused' | 'away' | 'broken';

  constructor(kind: ReplicationError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReplicationError';
    this.kind = kind;
  }
}
