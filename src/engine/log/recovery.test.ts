import { crc32 } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { crashBackend, type CrashBackend } from '../testing/crash-backend.ts';
import { inTurn } from '../testing/disk-outcomes.ts';
import { allRecords, logOptions, logRecord, nextRecords, sequences, upTo } from '../testing/log-fixtures.ts';
import { encodeFrame, encodeRecord, encodeSegmentHeader } from './codec.ts';
import { examine } from './examine.ts';
import { HEADER_BYTES } from './file-header.ts';
import { openLog } from './open-log.ts';
import { memoryBackend, type MemoryBackend } from './backend.ts';
import { segmentName } from './recovery.ts';
import { StartupError } from './startup-error.ts';

afterEach(() => {
  vi.useRealTimers();
});

const FIRST = segmentName(1);
const SECOND = segmentName(2);

/** A log of frames with these record counts, and each frame's end in the segment. */
async function smallLog(frames: readonly number[], segmentBytes?: number): Promise<MemoryBackend> {
  const backend = memoryBackend();
  const { log } = await openLog(backend, logOptions(segmentBytes === undefined ? {} : { segmentBytes }));
  for (const count of frames) await log.append(nextRecords(log, count));
  await log.close();
  return backend;
}

async function files(backend: MemoryBackend): Promise<Map<string, Uint8Array>> {
  return new Map((await backend.list()).map((name) => [name, backend.contents(name)]));
}

async function fingerprints(backend: MemoryBackend): Promise<string[]> {
  return [...(await files(backend))].map(([name, bytes]) => `${name} ${bytes.length} ${crc32(bytes)}`);
}

/** Opens the log; returns the sequences it reads, or the refusal, which must have changed nothing. */
async function reopened(
  backend: MemoryBackend,
): Promise<{ records: number[]; warnings: string[]; refusal: StartupError | null }> {
  const before = await fingerprints(backend);
  const options = logOptions({}, 99);
  try {
    const { log, lastSequence } = await openLog(backend, options);
    const records = await allRecords(log);
    expect(records).toEqual(sequences(records).map((sequence) => logRecord(sequence)));
    expect(lastSequence).toBe(records.length);
    await log.append(nextRecords(log, 1));
    expect(sequences(await allRecords(log))).toEqual(upTo(records.length + 1));
    await log.close();
    return { records: sequences(records), warnings: options.warnings, refusal: null };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    expect(await fingerprints(backend)).toEqual(before);
    return { records: [], warnings: options.warnings, refusal: error };
  }
}

describe('an empty folder', () => {
  it('is an empty log, and nothing is written before the first record', async () => {
    const backend = memoryBackend();
    const { log, lastSequence } = await openLog(backend, logOptions());
    expect(lastSequence).toBe(0);
    expect(await allRecords(log)).toEqual([]);
    await log.close();
    expect(await backend.list()).toEqual([]);
  });

  it('may contain foreign files, which stay untouched', async () => {
    const backend = memoryBackend(
      new Map([
        ['notes.txt', Uint8Array.of(1)],
        ['x.log', Uint8Array.of(2)],
      ]),
    );
    expect(await reopened(backend)).toMatchObject({ records: [], refusal: null });
    expect(backend.contents('notes.txt')).toEqual(Uint8Array.of(1));
  });
});

describe('a log that was closed', () => {
  it('returns every record in order, across segments and restarts', async () => {
    const backend = memoryBackend();
    for (let start = 0; start < 3; start++) {
      const { log, lastSequence } = await openLog(backend, logOptions({ segmentBytes: 1000 }, start));
      expect(lastSequence).toBe(start * 12);
      for (let round = 0; round < 6; round++) await log.append(nextRecords(log, 2));
      await log.close();
    }
    expect((await backend.list()).length).toBeGreaterThan(5);
    expect(await reopened(backend)).toEqual({ records: upTo(36), warnings: [], refusal: null });
  });

  it('keeps its history id, and never continues a segment that another process wrote', async () => {
    const backend = await smallLog([1]);
    const bytes = backend.contents(FIRST);
    const first = await openLog(backend, logOptions({}, 2));
    const second = await openLog(backend, logOptions({}, 3));
    expect(second.log.historyId).toBe(first.log.historyId);
    await second.log.append(nextRecords(second.log, 1));
    expect(backend.contents(FIRST)).toEqual(bytes);
    expect(await backend.list()).toEqual([FIRST, SECOND]);
  });
});

describe('a log cut short at any byte', () => {
  it('keeps the whole frames before the cut, with one warning if a part was left, and accepts writes again', async () => {
    const whole = await smallLog([1, 3, 2]);
    const bytes = whole.contents(FIRST);
    const ends = await frameEnds();
    for (let length = 0; length < bytes.length; length++) {
      const backend = memoryBackend(new Map([[FIRST, bytes.subarray(0, length)]]));
      const kept = [0, 1, 4, 6]
        .filter((_, index) => index === 0 || (ends[index - 1] as number) <= length)
        .at(-1);
      const clean = length === HEADER_BYTES || ends.includes(length);
      const found = await reopened(backend);
      expect(found.refusal).toBeNull();
      expect(found.records).toEqual(upTo(kept ?? 0));
      expect(found.warnings).toHaveLength(clean ? 0 : 1);
    }
  });

  it('is refused in a segment that is not the last', async () => {
    const whole = await smallLog([1, 3, 2, 1], 200);
    const bytes = whole.contents(FIRST);
    for (let length = 0; length < bytes.length; length++) {
      const backend = memoryBackend(await files(whole));
      backend.put(FIRST, bytes.subarray(0, length));
      expect((await reopened(backend)).refusal).not.toBeNull();
    }
  });

  async function frameEnds(): Promise<number[]> {
    const ends: number[] = [];
    for (const frames of [[1], [1, 3], [1, 3, 2]]) ends.push((await smallLog(frames)).contents(FIRST).length);
    return ends;
  }
});

describe('a bit flipped anywhere', () => {
  it('in the last segment is refused with file and offset, or costs the last frame and nothing else', async () => {
    const whole = await smallLog([1, 2, 2]);
    const bytes = whole.contents(FIRST);
    const lastFrame = (await smallLog([1, 2])).contents(FIRST).length;
    for (const bit of bitsOf(bytes)) {
      const found = await reopened(memoryBackend(new Map([[FIRST, flipped(bytes, bit)]])));
      if (bit >> 3 >= lastFrame) {
        expect(found).toMatchObject({ records: upTo(3), refusal: null });
        expect(found.warnings).toHaveLength(1);
      } else {
        expect(found.refusal?.file).toBe(FIRST);
        expect(found.refusal?.offset).toBeLessThanOrEqual(bit >> 3);
        expect(found.refusal?.message).toContain(`memory:${FIRST}`);
      }
    }
  });

  it('in an earlier segment is refused, wherever it is', async () => {
    const whole = await smallLog([1, 2, 2, 1], 300);
    const bytes = whole.contents(FIRST);
    for (const bit of bitsOf(bytes)) {
      const backend = memoryBackend(await files(whole));
      backend.put(FIRST, flipped(bytes, bit));
      expect((await reopened(backend)).refusal?.file).toBe(FIRST);
    }
  });

  it('in a length field in the middle is refused, not taken for the end of the log', async () => {
    const bytes = (await smallLog([1, 1, 1])).contents(FIRST);
    const second = (await smallLog([1])).contents(FIRST).length;
    for (let bit = 0; bit < 32; bit++) {
      const damaged = flipped(bytes, (second + 4) * 8 + bit);
      const { refusal } = await reopened(memoryBackend(new Map([[FIRST, damaged]])));
      expect(refusal).toMatchObject({ file: FIRST, offset: second });
    }
  });
});

describe('a torn tail', () => {
  it('of zeros, which a file system may leave, is cut off', async () => {
    const bytes = (await smallLog([2])).contents(FIRST);
    const backend = memoryBackend(new Map([[FIRST, joined(bytes, new Uint8Array(5000))]]));
    const found = await reopened(backend);
    expect(found).toMatchObject({ records: [1, 2], refusal: null });
    expect(found.warnings).toEqual([expect.stringContaining(`cut off 5000 bytes of memory:${FIRST}`)]);
    expect(backend.contents(FIRST)).toEqual(bytes);
  });

  it('differs from damage, which has a frame after it, however far away', async () => {
    const bytes = (await smallLog([2])).contents(FIRST);
    const salt = bytes.subarray(32, 48);
    const historyId = Buffer.from(bytes.subarray(48, 64)).toString('hex');
    // The search reads a mebibyte at a time: the frame's header crosses the end of the first one.
    for (const length of [10, 2 ** 20 - 19, 2 ** 20, 3_000_000]) {
      const noise = Uint8Array.from({ length }, (_, index) => (index * 31) % 251);
      const alone = memoryBackend(new Map([[FIRST, joined(bytes, noise)]]));
      expect(await reopened(alone)).toMatchObject({ records: [1, 2], refusal: null });
      const offset = bytes.length + length;
      const late = encodeFrame(salt, offset, { flags: 0, historyId, epoch: 1, firstSequence: 3, count: 1 }, [
        encodeRecord(logRecord(3)),
      ]);
      const { refusal } = await reopened(memoryBackend(new Map([[FIRST, joined(bytes, noise, late)]])));
      expect(refusal).toMatchObject({ file: FIRST, offset: bytes.length });
    }
  });

  it('that contains bytes of frames, as a user may have stored them, revives none of them', async () => {
    const bytes = (await smallLog([1, 1])).contents(FIRST);
    const first = bytes.subarray(HEADER_BYTES, (await smallLog([1])).contents(FIRST).length);
    const historyId = Buffer.from(bytes.subarray(48, 64)).toString('hex');
    const salt = bytes.subarray(32, 48);
    const guessed = Uint8Array.from(salt, (byte, index) => (index < 4 ? byte : 0));
    const forged = encodeFrame(guessed, 0, { flags: 0, historyId, epoch: 1, firstSequence: 3, count: 1 }, [
      encodeRecord(logRecord(3, 'forged')),
    ]);
    const frame = encodeFrame(
      salt,
      bytes.length,
      { flags: 0, historyId, epoch: 1, firstSequence: 3, count: 1 },
      [first, forged, first],
    );
    for (const cut of [1, 10, first.length, first.length + forged.length + 20]) {
      const torn = joined(bytes, frame.subarray(0, frame.length - cut));
      const found = await reopened(memoryBackend(new Map([[FIRST, torn]])));
      expect(found).toMatchObject({ records: [1, 2], refusal: null });
      expect(found.warnings).toHaveLength(1);
    }
  });

  it('is cut off for good: a power cut right after the start does not bring it back', async () => {
    const bytes = (await smallLog([2])).contents(FIRST);
    const disk = crashBackend(new Map([[FIRST, joined(bytes, new Uint8Array(50))]]));
    await openLog(disk, logOptions());
    expect(disk.afterPowerCut(disk.steps, () => 0).contents(FIRST)).toEqual(bytes);

    const unfinished = crashBackend(
      new Map([
        [FIRST, bytes],
        [SECOND, new Uint8Array(17)],
      ]),
    );
    await openLog(unfinished, logOptions());
    expect(await unfinished.afterPowerCut(unfinished.steps, () => 0).list()).toEqual([FIRST]);
  });
});

describe('FSYNC=interval', () => {
  /** Frames 1 and 2 are synced, 3 to 5 are not; the offsets at which they begin. */
  async function laterSynced(): Promise<{ disk: CrashBackend; begins: number[] }> {
    vi.useFakeTimers();
    const disk = crashBackend();
    const { log } = await openLog(disk, logOptions({ fsync: 'interval' }));
    const begins: number[] = [];
    for (let sequence = 1; sequence <= 5; sequence++) {
      begins.push(sequence === 1 ? HEADER_BYTES : disk.now().contents(FIRST).length);
      await log.append(nextRecords(log, 1));
      if (sequence === 2) await vi.advanceTimersByTimeAsync(100);
    }
    vi.useRealTimers();
    return { disk, begins };
  }

  it('loses unsynced records, and starts, if the disk kept a later frame without an earlier one', async () => {
    const { disk } = await laterSynced();
    for (const lost of [0, 1]) {
      const left = disk.afterPowerCut(disk.steps, inTurn([1, 1, 1].with(lost, 0)));
      const { records, warnings, refusal } = await reopened(left);
      expect({ records, refusal }).toEqual({ records: upTo(2 + lost), refusal: null });
      expect(warnings).toHaveLength(1);
    }
  });

  it('does not count as damage then in an examination: only synced frames do', async () => {
    const { disk, begins } = await laterSynced();
    for (const lost of [0, 1]) {
      const left = disk.afterPowerCut(disk.steps, inTurn([1, 1, 1].with(lost, 0)));
      const { damages, frames } = await examine(left, null);
      expect({ damages, kept: frames.map(({ lastSequence }) => lastSequence) }).toEqual({
        damages: [],
        kept: upTo(2 + lost),
      });
    }
    const bytes = disk.now().contents(FIRST);
    const [from, to] = [begins[1] as number, begins[2] as number];
    bytes[from + 70] = (bytes[from + 70] as number) ^ 1;
    const { damages } = await examine(memoryBackend(new Map([[FIRST, bytes]])), null);
    expect(damages[0]).toMatchObject({ file: FIRST, from, to });
  });

  it('distinguishes damage to synced frames, and refuses the start', async () => {
    const { disk, begins } = await laterSynced();
    for (const damagedFrame of [1, 2]) {
      const bytes = disk.now().contents(FIRST);
      const offset = begins[damagedFrame - 1] as number;
      bytes[offset + 70] = (bytes[offset + 70] as number) ^ 1;
      const { refusal } = await reopened(memoryBackend(new Map([[FIRST, bytes]])));
      expect(refusal).toMatchObject({ file: FIRST, offset });
    }
  });
});

describe('what a killed process wrote without a sync', () => {
  it('is durable before it is returned', async () => {
    const disk = crashBackend();
    const { log } = await openLog(disk, logOptions({ fsync: 'never' }));
    await log.append(nextRecords(log, 3));
    const again = await openLog(disk, logOptions());
    expect(again.lastSequence).toBe(3);
    const { log: later } = await openLog(
      disk.afterPowerCut(disk.steps, () => 0),
      logOptions(),
    );
    expect(sequences(await allRecords(later))).toEqual([1, 2, 3]);
  });
});

describe('a refused start', () => {
  it('distinguishes a newer format version from damage', async () => {
    const whole = await smallLog([1, 1, 1], 200);
    for (const name of [FIRST, SECOND, segmentName(3)]) {
      const backend = memoryBackend(await files(whole));
      const bytes = backend.contents(name);
      bytes[8] = 2;
      backend.put(name, bytes);
      expect((await reopened(backend)).refusal?.message).toContain(`${name} has format version 2`);
    }
  });

  it('names the segment that is missing', async () => {
    for (const name of [FIRST, SECOND]) {
      const backend = await smallLog([1, 1, 1], 200);
      await backend.remove(name);
      expect((await reopened(backend)).refusal?.message).toContain(name);
    }
  });

  it('is reported for a segment under another number, one of another log, and one that does not continue', async () => {
    const whole = await smallLog([1, 1], 200);
    const renamed = memoryBackend(new Map([[SECOND, whole.contents(FIRST)]]));
    expect((await reopened(renamed)).refusal?.message).toContain('calls itself segment 1');

    const salt = new Uint8Array(16);
    const other = {
      id: 2,
      firstSequence: 2,
      salt,
      historyId: 'ab'.repeat(16),
      parent: null,
      createdAt: 0,
      before: null,
    };
    const foreign = memoryBackend(await files(whole));
    foreign.put(SECOND, encodeSegmentHeader(other));
    expect((await reopened(foreign)).refusal?.message).toContain('another log');

    const gap = memoryBackend(await files(whole));
    gap.put(SECOND, encodeSegmentHeader({ ...other, firstSequence: 5 }));
    expect((await reopened(gap)).refusal?.message).toContain('begins with record 5, but 2 must follow');
  });

  it('is reported for a frame that verifies but does not belong there', async () => {
    const bytes = (await smallLog([1])).contents(FIRST);
    const salt = bytes.subarray(32, 48);
    const historyId = Buffer.from(bytes.subarray(48, 64)).toString('hex');
    const good = { flags: 0, historyId, epoch: 1, firstSequence: 2, count: 1 };
    for (const [change, message] of [
      [{ flags: 2 }, 'a feature of the format'],
      [{ flags: 1 }, 'of another kind than its file'],
      [{ firstSequence: 3 }, 'begins with record 3, but 2 must follow'],
      [{ firstSequence: 1 }, 'begins with record 1, but 2 must follow'],
      [{ historyId: '00'.repeat(16) }, 'another log'],
      [{ epoch: 0 }, 'another log'],
    ] as const) {
      const frame = encodeFrame(salt, bytes.length, { ...good, ...change }, [encodeRecord(logRecord(2))]);
      const { refusal } = await reopened(memoryBackend(new Map([[FIRST, joined(bytes, frame)]])));
      expect(refusal).toMatchObject({ file: FIRST, offset: bytes.length });
      expect(refusal?.message).toContain(message);
    }
  });

  it('is reported for an unreadable record in a frame that verifies', async () => {
    const bytes = (await smallLog([1])).contents(FIRST);
    const historyId = Buffer.from(bytes.subarray(48, 64)).toString('hex');
    const frame = { flags: 0, historyId, epoch: 1, firstSequence: 2, count: 1 };
    for (const payload of ['rubbish\n', '{}\n']) {
      const part = encodeFrame(bytes.subarray(32, 48), bytes.length, frame, [
        new TextEncoder().encode(payload),
      ]);
      const { log } = await openLog(memoryBackend(new Map([[FIRST, joined(bytes, part)]])), logOptions());
      await expect(allRecords(log)).rejects.toThrow(`a record cannot be read`);
    }
    const two = encodeFrame(
      bytes.subarray(32, 48),
      bytes.length,
      frame,
      [2, 3].map((n) => encodeRecord(logRecord(n))),
    );
    const { log } = await openLog(memoryBackend(new Map([[FIRST, joined(bytes, two)]])), logOptions());
    await expect(allRecords(log)).rejects.toThrow('does not hold the records that it says');
  });

  it("passes on the system's error when a file cannot be opened", async () => {
    const backend = await smallLog([1]);
    const failing = {
      ...backend,
      open: () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' })),
    };
    await expect(openLog(failing, logOptions())).rejects.toThrow(`EACCES at memory:${FIRST}`);
  });
});

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** One bit of every byte, a different one each time. */
function bitsOf(bytes: Uint8Array): number[] {
  return Array.from(bytes, (_, index) => index * 8 + (index % 8));
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
}
