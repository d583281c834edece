import { describe, expect, it } from 'vitest';
import { crashBackend } from '../testing/crash-backend.ts';
import {
  allRecords,
  covered,
  logOptions,
  nextRecords,
  sequencesPart,
  upTo,
} from '../testing/log-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { FolderKey } from './cipher.ts';
import { decodeFrameHeader, frameBytes } from './codec.ts';
import { SEALED_HEADER_BYTES } from './file-header.ts';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import { memoryBackend, type MemoryBackend } from './backend.ts';
import { segmentName } from './recovery.ts';
import { snapshotName } from './snapshot-reader.ts';
import { StartupError } from './startup-error.ts';

const key = FolderKey.fromHexadecimal('0123456789abcdef'.repeat(4));
const anotherKey = FolderKey.fromHexadecimal('0123456789abcdee'.repeat(4));
const SECRET = 'operation';

async function opened(backend: MemoryBackend, withKey: FolderKey | null = key, seed = 1): Promise<Log> {
  return (await openLog(backend, logOptions({ key: withKey }, seed))).log;
}

/** A folder with a snapshot of three records, and three after it. */
async function folder(withKey: FolderKey | null = key): Promise<MemoryBackend> {
  const backend = memoryBackend();
  const log = await opened(backend, withKey);
  await log.append(nextRecords(log, 3));
  const sequence = await log.beginSegment();
  await log.putSnapshot({ sequence, time: 7 }, sequencesPart(sequence));
  for (let count = 0; count < 3; count++) await log.append(nextRecords(log, 1));
  await log.close();
  return backend;
}

async function files(backend: MemoryBackend): Promise<Map<string, Uint8Array>> {
  return new Map((await backend.list()).map((name) => [name, backend.contents(name)]));
}

async function refusalOf(backend: MemoryBackend, withKey: FolderKey | null): Promise<StartupError> {
  const before = await files(backend);
  const refusal = await openLog(backend, logOptions({ key: withKey })).then(
    () => null,
    (error: unknown) => error,
  );
  expect(await files(backend)).toEqual(before);
  if (!(refusal instanceof StartupError)) throw new Error('the folder was opened');
  return refusal;
}

function offsets(bytes: Uint8Array): number[] {
  const salt = bytes.subarray(32, 48);
  const found: number[] = [];
  for (let offset = SEALED_HEADER_BYTES; offset < bytes.length; ) {
    found.push(offset);
    const frame = decodeFrameHeader(salt, offset, bytes.subarray(offset, offset + 56));
    offset += frameBytes(frame?.payloadBytes ?? Number.NaN);
  }
  return found;
}

describe('an encrypted folder', () => {
  it('contains no plain text, and returns everything with its key', async () => {
    const backend = await folder();
    for (const [name, bytes] of await files(backend))
      expect(Buffer.from(bytes).includes(SECRET), name).toBe(false);
    for (const bytes of (await files(await folder(null))).values())
      expect(Buffer.from(bytes).toString()).toMatch(/operation|\[1,2,3\]/);
    const found = await covered(await opened(backend, key, 2));
    expect([...found.before, ...found.records.map(({ sequence }) => sequence)]).toEqual(upTo(6));
  });

  it('is refused with another key, and without one, and nothing is changed', async () => {
    const backend = await folder();
    const wrong = await refusalOf(backend, anotherKey);
    expect(wrong).toMatchObject({ key: 'wrong', file: snapshotName(3) });
    expect(wrong.message).toMatch(/a key other than ENCRYPTION_KEY.+Set it to/s);
    const missing = await refusalOf(backend, null);
    expect(missing.key).toBe('missing');
    expect(missing.message).toMatch(/is encrypted, and no key was given.+Set ENCRYPTION_KEY/s);
  });

  it('that is not encrypted is refused with a key, and nothing is changed', async () => {
    const refusal = await refusalOf(await folder(null), key);
    expect(refusal.key).toBe('not wanted');
    expect(refusal.message).toMatch(/is not encrypted.+corollary --encrypt/s);
  });

  it('reports a wrong key before any damage', async () => {
    const backend = await folder();
    const name = segmentName(2);
    const bytes = backend.contents(name);
    bytes[SEALED_HEADER_BYTES + 80] = (bytes[SEALED_HEADER_BYTES + 80] as number) ^ 1;
    backend.put(name, bytes);
    expect((await refusalOf(backend, anotherKey)).key).toBe('wrong');
    const damage = await refusalOf(backend, key);
    expect(damage).toMatchObject({ key: null, file: name, offset: SEALED_HEADER_BYTES });
  });

  it('never seals two frames of a file with the same nonce, nor two files with the same key', async () => {
    const disk = crashBackend();
    const { log } = await openLog(disk, logOptions({ key }));
    await log.append(nextRecords(log, 1));
    // The failed frame used a nonce, at the offset of the next frame.
    disk.faults = (step) => (step === 'write' ? { code: 'ENOSPC', written: 80 } : null);
    await expect(log.append(nextRecords(log, 1))).rejects.toMatchObject({ code: 'StorageUnavailable' });
    disk.faults = () => null;
    await log.append(nextRecords(log, 1));
    await log.close();
    const bytes = disk.now().contents(segmentName(1));
    const nonces = offsets(bytes).map((offset) => Buffer.from(bytes).readUInt32LE(offset + 48));
    expect(nonces).toEqual([1, 3]);

    const again = await opened(disk.now(), key, 2);
    await again.append(nextRecords(again, 1));
    const wrapped = (at: Uint8Array): string => Buffer.from(at.subarray(140, 172)).toString('hex');
    const others = [...(await files(await folder())).values()].map(wrapped);
    expect(new Set([...others, wrapped(bytes)]).size).toBe(others.length + 1);
  });

  it('refuses a swapped frame although every checksum is right', async () => {
    const backend = await folder();
    const name = segmentName(2);
    const bytes = backend.contents(name);
    const last = offsets(bytes).at(-1) as number;
    const { crc32 } = await import('node:zlib');
    bytes[last + 60] = (bytes[last + 60] as number) ^ 1;
    const view = new DataView(bytes.buffer);
    const end = bytes.length - 4;
    const { checksum } = decodeFrameHeader(bytes.subarray(32, 48), last, bytes.subarray(last)) ?? {};
    view.setUint32(end, crc32(bytes.subarray(last + 56, end), checksum), true);
    backend.put(name, bytes);
    const refusal = await refusalOf(backend, key);
    expect(refusal).toMatchObject({ file: name, offset: last });
    expect(refusal.message).toContain('not the one that was encrypted');
  });

  it('refuses a changed header although its checksum is right', async () => {
    const backend = await folder();
    const name = segmentName(2);
    const bytes = backend.contents(name);
    const { crc32 } = await import('node:zlib');
    bytes[88] = (bytes[88] as number) ^ 1;
    new DataView(bytes.buffer).setUint32(188, crc32(bytes.subarray(0, 188)), true);
    backend.put(name, bytes);
    expect((await refusalOf(backend, key)).message).toContain('the header does not verify');
  });

  it('truncated at any byte of its last segment keeps the whole frames before the cut and accepts writes again', async () => {
    const whole = await folder();
    const name = segmentName(2);
    const bytes = whole.contents(name);
    const ends = [...offsets(bytes), bytes.length];
    for (let length = SEALED_HEADER_BYTES; length < bytes.length; length++) {
      const backend = memoryBackend(await files(whole));
      backend.put(name, bytes.subarray(0, length));
      const log = await opened(backend, key, 5);
      const kept = 3 + ends.filter((end) => end <= length).length - 1;
      expect(log.lastSequence).toBe(kept);
      await log.append(nextRecords(log, 1));
      expect(await allRecords(log, 3)).toHaveLength(kept + 1 - 3);
      await log.close();
    }
  });

  it('with any bit flipped is refused, or has lost only its last frame', async () => {
    const whole = await folder();
    const prng = new Prng(7);
    for (const [name, bytes] of await files(whole)) {
      for (let run = 0; run < 400; run++) {
        const bit = prng.below(bytes.length * 8);
        const backend = memoryBackend(await files(whole));
        const turned = bytes.slice();
        turned[bit >> 3] = (turned[bit >> 3] as number) ^ (1 << (bit & 7));
        backend.put(name, turned);
        const result = await openLog(backend, logOptions({ key })).catch((error: unknown) => error);
        if (result instanceof StartupError) expect(result.file).toBe(name);
        else {
          expect(name).toBe(segmentName(2));
          expect((result as { lastSequence: number }).lastSequence).toBe(5);
          expect(bit >> 3).toBeGreaterThanOrEqual(offsets(bytes).at(-1) as number);
        }
      }
    }
  });

  it('loses no acknowledged record in a power cut at any moment', async () => {
    const disk = crashBackend();
    const answered: [number, number][] = [];
    const { log } = await openLog(disk, logOptions({ key, segmentBytes: 1500 }));
    for (let round = 0; round < 8; round++) {
      await log.append(nextRecords(log, 2));
      answered.push([disk.steps, log.lastSequence]);
      if (round === 4) {
        const sequence = await log.beginSegment();
        await log.putSnapshot({ sequence, time: 7 }, sequencesPart(sequence));
      }
    }
    await log.close();
    const prng = new Prng(11);
    for (let step = 0; step <= disk.steps; step++) {
      for (let run = 0; run < 4; run++) {
        const left = disk.afterPowerCut(step, (outcomes) => prng.below(outcomes));
        const found = await covered(await opened(left, key, 100 + run));
        const all = [...found.before, ...found.records.map(({ sequence }) => sequence)];
        const promised = answered.filter(([at]) => at <= step).at(-1)?.[1] ?? 0;
        expect(all).toEqual(upTo(all.length));
        expect(all.length).toBeGreaterThanOrEqual(promised);
      }
    }
  });
});
