import { describe, expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import {
  allRecords,
  covered,
  logOptions,
  logRecord,
  nextRecords,
  sequences,
  sequencesPart,
  upTo,
} from '../testing/log-fixtures.ts';
import { HEADER_BYTES } from './file-header.ts';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import { memoryBackend, type MemoryBackend } from './backend.ts';
import { segmentName } from './recovery.ts';
import { SNAPSHOT_VERSION } from './snapshot-codec.ts';
import { snapshotName, temporarySnapshotName } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';
import { StartupError } from './startup-error.ts';

async function opened(backend: MemoryBackend): Promise<Log> {
  return (await openLog(backend, logOptions())).log;
}

/** Covers everything in the log. */
async function put(log: Log): Promise<void> {
  const sequence = await log.beginSegment();
  await log.putSnapshot({ sequence, time: 7 }, sequencesPart(sequence));
}

/** A folder with a snapshot of this many records, and this many after it. */
async function folder(before: number, after: number): Promise<MemoryBackend> {
  const backend = memoryBackend();
  const log = await opened(backend);
  for (let count = 0; count < before; count++) await log.append(nextRecords(log, 1));
  await put(log);
  if (after > 0) await log.append(nextRecords(log, after));
  await log.close();
  return backend;
}

async function contents(backend: MemoryBackend): Promise<[string, Uint8Array][]> {
  return (await backend.list()).map((name) => [name, backend.contents(name)]);
}

/** The refusal of a start, which must have changed nothing. */
async function refusal(backend: MemoryBackend): Promise<StartupError> {
  const before = await contents(backend);
  const error: unknown = await openLog(backend, logOptions()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StartupError);
  expect(await contents(backend)).toEqual(before);
  return error as StartupError;
}

async function expectAll(log: Log, last: number): Promise<void> {
  const { before, records } = await covered(log);
  expect([...before, ...sequences(records)]).toEqual(upTo(last));
}

async function* parts(...bytes: [SnapshotPart['section'], number][]): AsyncGenerator<SnapshotPart> {
  for (const [section, size] of bytes) yield { section, bytes: new Uint8Array(size).fill(section.length) };
}

async function sizeOf(log: Log, section: SnapshotPart['section']): Promise<number> {
  let size = 0;
  for await (const piece of log.readSnapshot(section)) {
    expect(piece.every((byte) => byte === section.length)).toBe(true);
    size += piece.length;
  }
  return size;
}

describe('a snapshot', () => {
  it('replaces the records that it covers, and the log continues after it', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await log.append(nextRecords(log, 3));
    await put(log);
    expect(log.snapshot()).toMatchObject({ sequence: 3, time: 7 });
    expect(await backend.list()).toEqual([segmentName(2), snapshotName(3)].sort());
    await log.append(nextRecords(log, 2));
    await expectAll(log, 5);
    await log.close();
    const again = await openLog(backend, logOptions());
    expect(again.lastSequence).toBe(5);
    expect(again.log.snapshot()).toEqual(log.snapshot());
    await again.log.append(nextRecords(again.log, 1));
    await expectAll(again.log, 6);
  });

  it('is found if the log has nothing after it', async () => {
    const log = await opened(await folder(3, 0));
    expect(log.nextSequence).toBe(4);
    expect(log.historyId).toMatch(/^[0-9a-f]{32}$/);
    await log.append(nextRecords(log, 1));
    await expectAll(log, 4);
  });

  it('of a part of the log leaves the records after it', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await log.append(nextRecords(log, 2));
    await log.beginSegment();
    await log.append(nextRecords(log, 2));
    await log.putSnapshot({ sequence: 3, time: 0 }, sequencesPart(3));
    await log.close();
    expect(await backend.list()).toEqual([segmentName(2), snapshotName(3)].sort());
    const again = await opened(backend);
    expect(sequences(await allRecords(again, 3))).toEqual([4]);
    await expectAll(again, 4);
  });

  it('replaces the previous one, even one of the same record', async () => {
    const backend = await folder(2, 1);
    const log = await opened(backend);
    await put(log);
    await put(log);
    expect((await backend.list()).filter((name) => name.endsWith('.snapshot'))).toEqual([snapshotName(3)]);
    await expectAll(log, 3);
  });

  it('keeps its history and sections of any size', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await log.append(nextRecords(log, 1));
    const pieces = parts(['state', 1], ['state', 2_000_000], ['observed', 700_000]);
    const { bytes } = await log.putSnapshot({ sequence: 1, time: 0 }, pieces);
    await log.close();
    const again = await opened(backend);
    expect(again.historyId).toBe(log.historyId);
    expect([await sizeOf(again, 'state'), await sizeOf(again, 'observed')]).toEqual([2_000_001, 700_000]);
    expect(backend.contents(snapshotName(1))).toHaveLength(bytes);
  });

  it('is written while records are appended', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await log.append(nextRecords(log, 5));
    const sequence = await log.beginSegment();
    const pieces = async function* (): AsyncGenerator<SnapshotPart> {
      for (let count = 0; count < 5; count++) await log.append(nextRecords(log, 1));
      yield* sequencesPart(sequence);
    };
    await log.putSnapshot({ sequence, time: 0 }, pieces());
    await expectAll(log, 10);
    await log.close();
    await expectAll(await opened(backend), 10);
  });

  it('counts only after everything that it can reflect is synced, in every mode', async () => {
    const disk = crashBackend();
    const { log } = await openLog(disk, logOptions({ fsync: 'never' }));
    await log.append(nextRecords(log, 2));
    await log.beginSegment();
    await log.append(nextRecords(log, 2));
    await log.putSnapshot({ sequence: 3, time: 0 }, sequencesPart(3));
    const left = disk.afterPowerCut(disk.steps, () => 0);
    await expectAll(await opened(left), 4);
  });
});

describe('a snapshot that fails', () => {
  it.each([
    ['ENOSPC', 'write'],
    ['EIO', 'sync'],
    ['EIO', 'rename'],
    ['EACCES', 'create'],
  ] as const)('with %s at a %s leaves the log as it was, and the next may work', async (code, at) => {
    const disk = crashBackend();
    const { log } = await openLog(disk, logOptions());
    await log.append(nextRecords(log, 2));
    const sequence = await log.beginSegment();
    const before = await disk.list();
    disk.faults = (step) => (step === at ? { code } : null);
    const failed = log.putSnapshot({ sequence, time: 0 }, sequencesPart(sequence));
    await expect(failed).rejects.toMatchObject({ code: 'StorageUnavailable' });
    disk.faults = () => null;
    expect(await disk.list()).toEqual(before);
    expect([log.status(), log.snapshot()]).toEqual(['ready', null]);
    await log.append(nextRecords(log, 1));
    await put(log);
    await expectAll(log, 3);
  });

  it('because of its parts rejects with their error', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await log.append(nextRecords(log, 1));
    const broken = async function* (): AsyncGenerator<SnapshotPart> {
      yield* parts(['state', 3]);
      throw new Error('no longer wanted');
    };
    await expect(log.putSnapshot({ sequence: 1, time: 0 }, broken())).rejects.toThrow('no longer wanted');
    expect(await backend.list()).toEqual([segmentName(1)]);
  });
});

describe('a start', () => {
  it('removes remains of unfinished and older snapshots, and covered segments', async () => {
    const backend = await folder(3, 1);
    const names = await backend.list();
    backend.put(temporarySnapshotName(snapshotName(4)), Uint8Array.of(1, 2, 3));
    backend.put(snapshotName(2), Uint8Array.of(1));
    backend.put(segmentName(1), Uint8Array.of(2));
    backend.put('notes.txt', Uint8Array.of(3));
    await expectAll(await opened(backend), 4);
    expect(await backend.list()).toEqual([...names, 'notes.txt'].sort());
  });

  it('refuses a snapshot with any bit flipped, or truncated anywhere, and names file and offset', async () => {
    const whole = await folder(40, 2);
    const name = snapshotName(40);
    const bytes = whole.contents(name);
    const others = (await contents(whole)).filter(([other]) => other !== name);
    for (let at = 0; at < bytes.length; at++) {
      // The version is checked before anything is verified.
      if (at === 8 || at === 9) continue;
      const turned = bytes.slice();
      turned[at] = (turned[at] as number) ^ (1 << (at % 8));
      for (const damaged of [turned, bytes.slice(0, at)]) {
        const error = await refusal(memoryBackend(new Map([...others, [name, damaged]])));
        expect(error.file).toBe(name);
        expect(error.message).toContain(name);
        expect(error.offset).toBe(at < HEADER_BYTES ? 0 : error.offset);
      }
    }
  });

  it('refuses a snapshot with bytes after its end', async () => {
    const backend = await folder(2, 0);
    const name = snapshotName(2);
    backend.put(name, Uint8Array.of(...backend.contents(name), 0));
    expect((await refusal(backend)).file).toBe(name);
  });

  it('refuses a snapshot of a newer version with the reason', async () => {
    const backend = await folder(2, 1);
    const bytes = backend.contents(snapshotName(2));
    new DataView(bytes.buffer).setUint16(8, SNAPSHOT_VERSION + 1, true);
    backend.put(snapshotName(2), bytes);
    expect((await refusal(backend)).message).toMatch(/version 2.*newer program/);
  });

  it('refuses a log in which records after the snapshot are missing', async () => {
    const gone = await folder(2, 1);
    await gone.remove(segmentName(2));
    expect((await refusal(gone)).message).toContain(segmentName(2));
    const log = await opened(await folder(2, 1));
    await log.close();
    const later = await folder(2, 1);
    const again = await opened(later);
    await again.append(nextRecords(again, 1));
    await again.close();
    await later.remove(segmentName(2));
    expect((await refusal(later)).message).toContain(segmentName(2));
  });

  it('refuses a log that ends before the snapshot does', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await log.append(nextRecords(log, 1));
    await log.append([logRecord(2)]);
    const end = backend.contents(segmentName(1)).length;
    await log.append([logRecord(3)]);
    await log.putSnapshot({ sequence: 3, time: 0 }, sequencesPart(3));
    await log.close();
    backend.put(segmentName(1), backend.contents(segmentName(1)).slice(0, end));
    expect((await refusal(backend)).message).toContain('ends with record 2');
  });

  it('refuses a snapshot of another log', async () => {
    const backend = await folder(2, 1);
    const other = memoryBackend();
    const { log } = await openLog(other, logOptions({}, 5));
    await log.append(nextRecords(log, 2));
    await put(log);
    backend.put(snapshotName(2), other.contents(snapshotName(2)));
    expect((await refusal(backend)).message).toContain('another log');
  });
});

describe('a power cut', () => {
  it('at any moment of two snapshots loses nothing acknowledged', async () => {
    const disk = crashBackend();
    const answered: { steps: number; sequence: number }[] = [];
    const { log } = await openLog(disk, logOptions({ segmentBytes: 600 }));
    const append = async (): Promise<void> => {
      await log.append(nextRecords(log, 1));
      answered.push({ steps: disk.steps, sequence: log.lastSequence });
    };
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < 5; count++) await append();
      const sequence = await log.beginSegment();
      await Promise.all([log.putSnapshot({ sequence, time: 0 }, sequencesPart(sequence)), append()]);
    }
    const prng = new Prng(1);
    for (let steps = 0; steps <= disk.steps; steps++) {
      const safe = Math.max(
        0,
        ...answered.filter((each) => each.steps <= steps).map((each) => each.sequence),
      );
      for (let outcome = 0; outcome < 20; outcome++) {
        const left = disk.afterPowerCut(steps, (outcomes) => (outcome === 0 ? 0 : prng.below(outcomes)));
        const { before, records } = await covered(await opened(left));
        const found = [...before, ...sequences(records)];
        expect(found, `after step ${steps}`).toEqual(upTo(found.length));
        expect(found.length, `after step ${steps}`).toBeGreaterThanOrEqual(safe);
      }
    }
  });
});
