/**
 * Reads committed records back: for the replay of a start, and for whoever follows the log later.
 *
 * Everything is verified once more while it is read, frame by frame, so that memory stays flat; a frame that was whole
 * when the log was opened and is not now is damage, and reported as such.
 */
import type { StorageBackend } from './backend.ts';
import {
  decodeFrameHeader,
  decodeRecords,
  frameBytes,
  FRAME_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  type LogRecord,
  type ReadFrameHeader,
} from './codec.ts';
import { damaged } from './damage.ts';
import type { Segment } from './recovery.ts';
import { SegmentReader } from './segment-reader.ts';

/**
 * The committed records of a segment with a sequence above `after`, in order, those included that are committed while
 * it is read. Throws a StartupError where the file is damaged.
 */
export async function* readSegment(
  backend: StorageBackend,
  segment: Segment,
  after: number,
): AsyncGenerator<LogRecord, void, undefined> {
  const { name, header } = segment;
  const file = await backend.open(name, 'read');
  try {
    const reader = new SegmentReader(file, segment.end);
    let offset = SEGMENT_HEADER_BYTES;
    while (offset < segment.end) {
      reader.limit = segment.end;
      const frame = decodeFrameHeader(header.salt, offset, await reader.bytes(offset, FRAME_HEADER_BYTES));
      if (frame === null) throw damaged(backend, name, offset, 'the header of a frame does not verify');
      if (frame.firstSequence + frame.count - 1 > after) {
        const payload = await reader.payload(offset, frame);
        if (payload === null) throw damaged(backend, name, offset, 'the payload of a frame does not verify');
        const fail = (what: string): Error => damaged(backend, name, offset, what);
        for (const record of frameRecords(frame, payload, fail)) {
          if (record.sequence > after) yield record;
        }
      }
      offset += frameBytes(frame.payloadBytes);
    }
  } finally {
    await file.close();
  }
}

/** The records of a frame, which are those its header says, or `fail`'s error. */
function* frameRecords(
  frame: ReadFrameHeader,
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
      throw fail(`a record cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (step.done === true ? sequence !== end : step.value.sequence !== sequence) {
      throw fail('a frame does not hold the records that it says');
    }
    if (step.done === true) return;
    yield step.value;
  }
}
