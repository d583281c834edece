import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  continueChecksum,
  decodeFrameHeader,
  decodeRecords,
  decodeSegmentHeader,
  encodeFrame,
  encodeRecord,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  type LogRecord,
  type SegmentHeader,
} from './codec.ts';
import { HEADER_BYTES } from './file-header.ts';

const salt = Uint8Array.from({ length: 16 }, (_, index) => index + 1);
const historyId = '000102030405060708090a0b0c0d0e0f';
const header: SegmentHeader = {
  id: 7,
  firstSequence: 42,
  salt,
  historyId,
  parent: null,
  before: null,
  createdAt: 1_700_000_000_000,
};
const record: LogRecord = {
  sequence: 42,
  time: 1_700_000_000_000,
  requestId: 'r-1',
  actor: null,
  database: 'default',
  generation: 3,
  version: 1,
  operation: { kind: 'assert' },
};

function joined(records: readonly LogRecord[]): Uint8Array {
  return Buffer.concat(records.map((each) => encodeRecord(each)));
}

describe('a record', () => {
  it('round-trips with any text and JSON value', () => {
    const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\n', '\u2028', '\0', '\ufeff', '"', '\\'),
    );
    const arbitrary = fc.record(
      {
        sequence: whole,
        time: whole,
        requestId: text,
        actor: fc.option(text),
        idempotency: fc.record({ key: text, fingerprint: text, space: text }),
        database: text,
        generation: whole,
        version: whole,
        // Via JSON text once: differences that JSON cannot express (-0) are not part of the promise.
        operation: fc.json().map((json): unknown => JSON.parse(JSON.stringify(JSON.parse(json)))),
      },
      {
        requiredKeys: [
          'sequence',
          'time',
          'requestId',
          'actor',
          'database',
          'generation',
          'version',
          'operation',
        ],
      },
    );
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 5 }), (records) => {
        expect([...decodeRecords(joined(records as LogRecord[]))]).toEqual(records);
      }),
    );
  });

  it('keeps a lone surrogate, which UTF-8 cannot encode', () => {
    const odd = { ...record, operation: { text: '\ud800' } };
    expect([...decodeRecords(encodeRecord(odd))]).toEqual([odd]);
  });

  it.each([
    ['no JSON', 'nonsense\n', 'JSON'],
    ['no object', '7\n', 'no JSON object'],
    ['a field missing', '{"sequence":1}\n', 'lacks a field'],
    ['a field of another type', `${JSON.stringify({ ...record, time: 'now' })}\n`, 'another type'],
    ['no operation', `${JSON.stringify({ ...record, operation: undefined })}\n`, 'lacks a field'],
    ['no line feed at the end', JSON.stringify(record), 'line feed'],
  ])('is refused with %s', (_, line, message) => {
    expect(() => [...decodeRecords(new TextEncoder().encode(line))]).toThrow(message);
  });

  it('is refused if its bytes are not UTF-8', () => {
    expect(() => [...decodeRecords(Uint8Array.of(0x22, 0xff, 0x22, 0x0a))]).toThrow(TypeError);
  });
});

describe('a segment header', () => {
  it('round-trips, with and without a parent history', () => {
    const branched = { ...header, parent: { historyId: 'ff'.repeat(16), sequence: 2 ** 52 } };
    for (const each of [header, branched]) {
      expect(decodeSegmentHeader(encodeSegmentHeader(each))).toMatchObject({ kind: 'header', header: each });
    }
  });

  it('does not verify if any bit is flipped or it is shortened', () => {
    const bytes = encodeSegmentHeader(header);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      expect(decodeSegmentHeader(flipped(bytes, bit)).kind).not.toBe('header');
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeSegmentHeader(bytes.subarray(0, length))).toEqual({ kind: 'damaged' });
    }
  });

  it('of a newer format is reported by its version', () => {
    const bytes = encodeSegmentHeader(header);
    bytes[8] = 2;
    expect(decodeSegmentHeader(bytes)).toEqual({ kind: 'newer', version: 2 });
  });
});

describe('a frame', () => {
  const parts = [encodeRecord(record), encodeRecord({ ...record, sequence: 43 })];
  const frame = { flags: 0, historyId, epoch: 5, firstSequence: 42, count: 2 };
  const bytes = encodeFrame(salt, 128, frame, parts);

  it('round-trips', () => {
    const read = decodeFrameHeader(salt, 128, bytes.subarray(0, FRAME_HEADER_BYTES));
    expect(read).toMatchObject({ ...frame, payloadBytes: bytes.length - FRAME_HEADER_BYTES - 4 });
    const payload = bytes.subarray(FRAME_HEADER_BYTES, -4);
    expect(continueChecksum(read?.checksum ?? 0, payload)).toBe(
      Buffer.from(bytes).readUInt32LE(bytes.length - 4),
    );
    expect([...decodeRecords(payload)].map((each) => each.sequence)).toEqual([42, 43]);
  });

  it('verifies only in the segment and at the offset it was made for', () => {
    expect(decodeFrameHeader(salt, 129, bytes)).toBeNull();
    expect(decodeFrameHeader(salt.toReversed(), 128, bytes)).toBeNull();
    const sameMarker = Uint8Array.from(salt, (byte, index) => (index < 4 ? byte : byte + 1));
    expect(decodeFrameHeader(sameMarker, 128, bytes)).toBeNull();
  });

  it('has a header that does not verify if any bit is flipped', () => {
    for (let bit = 0; bit < FRAME_HEADER_BYTES * 8; bit++) {
      expect(decodeFrameHeader(salt, 128, flipped(bytes, bit))).toBeNull();
    }
  });
});

describe('the format', () => {
  it('is byte for byte the example in docs/format.md', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/format.md'), 'utf8');
    const dump = /```hexdump\n(.+?)\n```/s.exec(page)?.[1] ?? '';
    const lines = dump.split('\n');
    const shown = lines.map((line) => line.slice(10, 58).replaceAll(' ', '')).join('');
    const frame = encodeFrame(
      salt,
      HEADER_BYTES,
      { flags: 0, historyId, epoch: 1, firstSequence: 42, count: 1 },
      [encodeRecord(record)],
    );
    expect(Buffer.concat([encodeSegmentHeader(header), frame]).toString('hex')).toBe(shown);
  });
});

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
}
