/**
 * Reads committed records back, for recovery and for followers.
 *
 * Every frame is verified again while it is read, so memory use stays flat. A frame that was valid when the log was
 * opened and no longer is counts as damage.
 */
import type { StorageBackend } from './backend.ts';
import {
  decodeFrameHeader,
  decodeRecords,
  FRAME_HEADER_BYTES,
  frameBytes,
  type LogRecord,
  type ReadFrameHeader,
  recordChecksum,
} from './codec.ts';
import { damaged } from './startup-error.ts';
import type { LogContents, Segment } from './recovery.ts';
import { SegmentReader } from './segment-reader.ts';

/** Committed records in stored form, one line each. */
export interface StoredRecords {
  readonly firstSequence: number;
  readonly count: number;
  readonly lines: Uint8Array;
}

/**
 * The committed records of a segment with a sequence above `after`, in order, including those committed while reading.
 * Throws a StartupError if the file is damaged.
 */
export async function* readSegment(
  backend: StorageBackend,
  segment: Segment,
  after: number,
): AsyncGenerator<LogRecord, void, undefined> {
  for await (const { frame, offset, payload } of framesOf(backend, segment, after)) {
    const fail = (what: string): Error => damaged(backend, segment.name, offset, what);
    for (const record of frameRecords(frame, payload, fail)) {
      if (record.sequence > after) yield record;
    }
  }
}

/** The same in stored form, frame by frame; the first may begin with earlier records. Each is valid until the next. */
export async function* readStored(
  backend: StorageBackend,
  segment: Segment,
  after: number,
): AsyncGenerator<StoredRecords, void, undefined> {
  for await (const { frame, payload } of framesOf(backend, segment, after)) {
    const { firstSequence, count } = frame;
    yield { firstSequence, count, lines: payload };
  }
}

/**
 * `recordChecksum` of the record with this sequence, in the log or right before it; null: unknown. Throws a
 * StartupError if the file is damaged.
 */
export async function checksumAt(
  backend: StorageBackend,
  { segments, snapshot }: Pick<LogContents, 'segments' | 'snapshot'>,
  sequence: number,
): Promise<number | null> {
  const ending = segments.find(
    ({ lastSequence, lastChecksum }) => lastSequence === sequence && lastChecksum !== null,
  );
  if (ending !== undefined) return ending.lastChecksum;
  const next = segments.find(({ header }) => header.firstSequence === sequence + 1);
  const covered = snapshot?.header.sequence === sequence ? snapshot.header.checksum : null;
  const known = next?.header.before ?? covered;
  const holding = segments.find(
    ({ header, lastSequence }) => header.firstSequence <= sequence && sequence <= lastSequence,
  );
  if (known !== null || holding === undefined) return known;
  for await (const { firstSequence, lines } of readStored(backend, holding, sequence - 1))
    return recordChecksum(lines, sequence - firstSequence);
  return null;
}

interface ReadFrame {
  readonly frame: ReadFrameHeader;
  readonly offset: number;
  readonly payload: Uint8Array;
}

/** The frames of a segment with a record above `after`. */
async function* framesOf(
  backend: StorageBackend,
  segment: Segment,
  after: number,
): AsyncGenerator<ReadFrame, void, undefined> {
  const { name, header, marks } = segment;
  const file = await backend.open(name, 'read');
  try {
    const reader = new SegmentReader(file, segment.end, segment.opener);
    let offset = marks.findLast(({ sequence }) => sequence <= after + 1)?.offset ?? segment.start;
    while (offset < segment.end) {
      reader.limit = segment.end;
      const frame = decodeFrameHeader(header.salt, offset, await reader.bytes(offset, FRAME_HEADER_BYTES));
      if (frame === null) throw damaged(backend, name, offset, 'the header of a frame does not verify');
      if (frame.firstSequence + frame.count - 1 > after) {
        const payload = await reader.payload(offset, frame);
        if (payload === null) throw damaged(backend, name, offset, 'the payload of a frame does not verify');
        yield { frame, offset, payload };
      }
      offset += frameBytes(frame.payloadBytes);
    }
  } finally {
    await file.close();
  }
}

/** The records of a frame; throws `fail`'s error if they are not those that its header announces. */
export function* frameRecords(
  frame: Pick<ReadFrameHeader, 'firstSequence' | 'count'>,
  payload: Uint8Array,
  fail: (what: string) => Error,
): Generator<LogRecord, void, undefined> {
  const records = decodeRecords(payload);
  const end = frame.firstSequence + frame.count;
  for (let sequence = frame.firstSequence; ; sequence++) {
    let step: IteratorResult<LogRecord, void>;
    try {
      step = records.next();
    } catch (error) {
      // The parser's message would show part of the record.
      throw fail(`a record cannot be read (${error instanceof SyntaxError ? 'no JSON' : 'no record'})`);
    }
    if (step.done === true ? sequence !== end : step.value.sequence !== sequence) {
      throw fail('a frame does not hold the records that it says');
    }
    if (step.done === true) return;
    yield step.value;
  }
}
