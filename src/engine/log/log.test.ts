import { afterEach, describe, expect, it, vi } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import { crashBackend, type CrashBackend, type Fault, type FaultyStep } from '../testing/crash-backend.ts';
import { choicesOf, inTurn } from '../testing/disk-outcomes.ts';
import { allRecords, logOptions, logRecord, nextRecords, sequences, upTo } from '../testing/log-fixtures.ts';
import { type StorageBackend, memoryBackend, type MemoryBackend } from './backend.ts';
import type { Log, LogOptions } from './log.ts';
import { openLog } from './open-log.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function opened(backend: StorageBackend, changes: Partial<LogOptions> = {}): Promise<Log> {
  return (await openLog(backend, logOptions(changes))).log;
}

/** What a process started after kill -9 finds. */
async function survivors(backend: StorageBackend): Promise<number[]> {
  return sequences(await allRecords(await opened(backend)));
}

/** A memory backend whose syncs wait until released. */
function gatedBackend(): { backend: MemoryBackend; waiting: (() => void)[] } {
  const backend = memoryBackend();
  const waiting: (() => void)[] = [];
  const gated: MemoryBackend = {
    ...backend,
    create: async (name) => {
      const file = await backend.create(name);
      let synced = 0;
      const sync = async (): Promise<void> => {
        // The first sync is that of the segment's header.
        if (synced++ > 0) await new Promise<void>((resolve) => waiting.push(resolve));
        await file.sync();
      };
      return { ...file, sync };
    },
  };
  return { backend: gated, waiting };
}

function failOnce(backend: CrashBackend, step: FaultyStep, fault: Fault): void {
  backend.faults = (asked) => {
    if (asked !== step) return null;
    backend.faults = () => null;
    return fault;
  };
}

/** A disk without space for frames; truncation works. */
function fill(backend: CrashBackend): void {
  backend.faults = (step, bytes) => (step === 'write' ? { code: 'ENOSPC', written: bytes >> 1 } : null);
}

function unavailable(): unknown {
  return expect.objectContaining({ code: 'StorageUnavailable', status: 507 });
}

describe('an append', () => {
  it('resolves after its records are durable: a power cut at that moment loses none', async () => {
    const disk = crashBackend();
    const log = await opened(disk);
    for (let round = 1; round <= 5; round++) {
      await log.append(nextRecords(log, round));
      const kept = disk.afterPowerCut(disk.steps, () => 0);
      expect(await survivors(kept)).toEqual(upTo(log.lastSequence));
    }
  });

  it('is neither resolved nor visible to readers while the sync runs', async () => {
    const { backend, waiting } = gatedBackend();
    const log = await opened(backend);
    let resolved = false;
    const done = log.append(nextRecords(log, 1)).then(() => {
      resolved = true;
    });
    await expect.poll(() => waiting).toHaveLength(1);
    expect(resolved).toBe(false);
    expect(await allRecords(log)).toEqual([]);
    expect(log).toMatchObject({ nextSequence: 2, lastSequence: 0 });
    waiting.shift()?.();
    await done;
    expect(sequences(await allRecords(log))).toEqual([1]);
  });

  it('accepts only records that continue the log', async () => {
    const log = await opened(memoryBackend());
    await expect(log.append([logRecord(2)])).rejects.toThrow('continue the log');
    await expect(log.append([logRecord(1), logRecord(3)])).rejects.toThrow('continue the log');
    await expect(log.append([])).rejects.toThrow('has records');
    await log.append([logRecord(1)]);
    expect(log.nextSequence).toBe(2);
  });

  it('of a value that is not JSON is refused and leaves the log unchanged', async () => {
    const log = await opened(memoryBackend());
    await expect(log.append([logRecord(1, 1n)])).rejects.toThrow('BigInt');
    await expect(log.append([{ ...logRecord(1), operation: undefined }])).rejects.toThrow('operation');
    await log.append([logRecord(1)]);
    expect(sequences(await allRecords(log))).toEqual([1]);
  });

  it('calls back in log order before any later one, however the callers wait', async () => {
    const log = await opened(memoryBackend());
    const applied: number[] = [];
    const resolved: number[] = [];
    const slow = async (promise: Promise<void>): Promise<void> => promise;
    await Promise.all(
      upTo(40).map(async (sequence) => {
        const append = log.append([logRecord(sequence)], () => applied.push(sequence));
        await (sequence % 3 === 0 ? slow(slow(append)) : append);
        expect(applied).toContain(sequence);
        resolved.push(sequence);
      }),
    );
    expect(applied).toEqual(upTo(40));
    expect(resolved.toSorted((a, b) => a - b)).toEqual(upTo(40));
  });

  it('whose callback throws is rejected alone; its records are durable anyway', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    const applied: number[] = [];
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map((sequence) =>
        log.append([logRecord(sequence)], () => {
          if (sequence === 2) throw new Error('a bug');
          applied.push(sequence);
        }),
      ),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(applied).toEqual([1, 3]);
    expect(await survivors(backend)).toEqual([1, 2, 3]);
  });
});

describe('group commit', () => {
  it('lets all appends during a sync share the next one', async () => {
    const { backend, waiting } = gatedBackend();
    const log = await opened(backend);
    const first = log.append([logRecord(1)]);
    await expect.poll(() => waiting).toHaveLength(1);
    const others = Array.from({ length: 63 }, (_, index) => log.append([logRecord(index + 2)]));
    waiting.shift()?.();
    await first;
    await expect.poll(() => waiting).toHaveLength(1);
    waiting.shift()?.();
    await Promise.all(others);
    expect(log.statistics()).toMatchObject({ records: 64, commits: 2 });
    expect(backend.counts.syncs).toBe(3);
    expect(await survivors(backend)).toEqual(upTo(64));
  });

  it('needs far fewer syncs than records with 64 writers', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (let round = 0; round < 20; round++) await log.append(nextRecords(log, 1));
      }),
    );
    expect(log.lastSequence).toBe(1280);
    expect(backend.counts.syncs).toBeLessThan(1280 / 10);
    expect(await survivors(backend)).toEqual(upTo(1280));
  });

  it('keeps each append in one frame: after a power cut it is there whole or not at all', async () => {
    const disk = crashBackend();
    const log = await opened(disk, { groupBytes: 1 });
    await Promise.all(
      [1, 4, 8].map((first, index) =>
        log.append(upTo([3, 4, 5][index] as number).map((n) => logRecord(first + n - 1))),
      ),
    );
    expect(log.statistics().commits).toBe(3);
    for (let steps = 0; steps <= disk.steps; steps++) {
      for (const outcome of [0, 1, 2, 3]) {
        const kept = await survivors(
          disk.afterPowerCut(steps, (outcomes) => Math.min(outcome, outcomes - 1)),
        );
        expect([0, 3, 7, 12]).toContain(kept.length);
      }
    }
  });
});

describe('bytes in flight', () => {
  it('are bounded: further appends wait for room, in order, and none is lost', async () => {
    const { backend, waiting } = gatedBackend();
    const log = await opened(backend, { inFlightBytes: 1000, groupBytes: 300 });
    const applied: number[] = [];
    const all = upTo(50).map((sequence) => log.append([logRecord(sequence)], () => applied.push(sequence)));
    let admitted = false;
    const room = log.room().then(() => {
      admitted = true;
    });
    await expect.poll(() => waiting).toHaveLength(1);
    expect(log.statistics().inFlightBytes).toBeLessThan(1300);
    expect(admitted).toBe(false);
    while (applied.length < 50) {
      await expect.poll(() => waiting).toHaveLength(1);
      expect(log.statistics().inFlightBytes).toBeLessThan(1300);
      waiting.shift()?.();
      await expect.poll(() => waiting.length + (applied.length === 50 ? 1 : 0)).toBe(1);
    }
    await Promise.all([...all, room]);
    expect(applied).toEqual(upTo(50));
    expect(log.statistics().inFlightBytes).toBe(0);
    expect(await survivors(backend)).toEqual(upTo(50));
  });

  it('admit a single append larger than the bound', async () => {
    const log = await opened(memoryBackend(), { inFlightBytes: 100 });
    const large = 'x'.repeat(10_000);
    await Promise.all([1, 2, 3].map((sequence) => log.append([logRecord(sequence, large)])));
    expect((await allRecords(log)).map((record) => record.operation)).toEqual([large, large, large]);
  });

  it('are released by an append that cannot be encoded in its turn', async () => {
    const log = await opened(memoryBackend(), { inFlightBytes: 100 });
    const outcomes = await Promise.allSettled([
      log.append([logRecord(1, 'x'.repeat(200))]),
      log.append([logRecord(2, 1n)]),
      log.append([logRecord(3)]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await log.append([logRecord(2)]);
    expect(sequences(await allRecords(log))).toEqual([1, 2]);
  });
});

describe('FSYNC', () => {
  it('interval answers before the sync and syncs within 100 ms, once for many', async () => {
    vi.useFakeTimers();
    const backend = memoryBackend();
    const log = await opened(backend, { fsync: 'interval' });
    for (let round = 0; round < 5; round++) await log.append(nextRecords(log, 1));
    expect(backend.counts.syncs).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(backend.counts.syncs).toBe(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect(backend.counts.syncs).toBe(2);
    await log.append(nextRecords(log, 1));
    await vi.advanceTimersByTimeAsync(100);
    expect(backend.counts.syncs).toBe(3);
    await log.close();
    expect(backend.counts.syncs).toBe(3);
  });

  it.each(['interval', 'never'] as const)(
    '%s still syncs at close, and survives a killed process',
    async (fsync) => {
      const disk = crashBackend();
      const log = await opened(disk, { fsync });
      await log.append(nextRecords(log, 4));
      expect(await survivors(disk.now())).toEqual(upTo(4));
      expect(await survivors(disk.afterPowerCut(disk.steps, () => 0))).toEqual([]);
      await log.close();
      expect(await survivors(disk.afterPowerCut(disk.steps, () => 0))).toEqual(upTo(4));
    },
  );

  it('never still syncs a segment before the next one is created', async () => {
    const disk = crashBackend();
    const log = await opened(disk, { fsync: 'never', segmentBytes: 600 });
    for (let round = 0; round < 12; round++) await log.append(nextRecords(log, 1));
    expect((await disk.list()).length).toBeGreaterThan(2);
    const kept = await survivors(disk.afterPowerCut(disk.steps, () => 0));
    expect(kept.length).toBeGreaterThan(5);
    expect(kept).toEqual(upTo(kept.length));
  });
});

describe('a full disk', () => {
  it('answers every write in progress with 507, stores none, and accepts writes again once there is space', async () => {
    const disk = crashBackend();
    const options = logOptions();
    const { log } = await openLog(disk, options);
    await log.append(nextRecords(log, 2));
    fill(disk);
    const applied: number[] = [];
    const outcomes = await Promise.allSettled(
      upTo(10).map((n) => log.append([logRecord(2 + n)], () => applied.push(2 + n))),
    );
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable() });
    expect(applied).toEqual([]);
    expect(log).toMatchObject({ nextSequence: 3, lastSequence: 2 });
    expect(log.status()).toBe('failed');
    expect(sequences(await allRecords(log))).toEqual([1, 2]);
    expect(await survivors(disk.now())).toEqual([1, 2]);
    disk.faults = () => null;
    await log.append(nextRecords(log, 1));
    expect(log.status()).toBe('ready');
    await log.close();
    expect(await survivors(disk.now())).toEqual([1, 2, 3]);
    expect(options.warnings).toEqual([expect.stringContaining('the disk is full'), 'Writes work again.']);
  });

  it('is ready again within 5 s of space returning, without a write, and leaves nothing behind', async () => {
    vi.useFakeTimers();
    const disk = crashBackend();
    const log = await opened(disk);
    await log.append(nextRecords(log, 1));
    fill(disk);
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    await vi.advanceTimersByTimeAsync(20_000);
    expect(log.status()).toBe('failed');
    disk.faults = () => null;
    await vi.advanceTimersByTimeAsync(4000);
    expect(log.status()).toBe('ready');
    const steps = disk.steps;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(disk.steps).toBe(steps);
    const options = logOptions();
    await openLog(disk.now(), options);
    expect(options.warnings).toEqual([]);
    await log.append(nextRecords(log, 1));
    expect(await survivors(disk.now())).toEqual([1, 2]);
  });

  it('while a segment is created leaves no segment behind', async () => {
    const disk = crashBackend();
    const log = await opened(disk);
    fill(disk);
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    expect(await disk.list()).toEqual([]);
    disk.faults = (step) => (step === 'create' ? { code: 'ENOSPC' } : null);
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    disk.faults = () => null;
    await log.append(nextRecords(log, 1));
    expect(await survivors(disk.now())).toEqual([1]);
  });

  it('for a new segment leaves nothing behind that a power cut could bring back before a torn frame', async () => {
    const disk = crashBackend();
    const log = await opened(disk);
    await log.append(nextRecords(log, 1));
    fill(disk);
    await expect(log.beginSegment()).rejects.toEqual(unavailable());
    disk.faults = () => null;
    await log.append(nextRecords(log, 1));
    const frameWritten = disk.steps - 1;
    for (const choices of choicesOf(disk.outcomesAt(frameWritten), 10_000, new Prng(1))) {
      const left = disk.afterPowerCut(frameWritten, inTurn(choices));
      expect((await survivors(left)).slice(0, 1)).toEqual([1]);
    }
  });

  it('does not stop a log from closing', async () => {
    const disk = crashBackend();
    const log = await opened(disk);
    await log.append(nextRecords(log, 1));
    fill(disk);
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    await log.close();
    expect(await survivors(disk.now())).toEqual([1]);
  });
});

describe('a failing write', () => {
  it.each([0, 1, 40, 100])('with EIO after %i bytes is cut off before the next one', async (written) => {
    const disk = crashBackend();
    const log = await opened(disk);
    await log.append(nextRecords(log, 1));
    failOnce(disk, 'write', { code: 'EIO', written });
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    await log.append([logRecord(2, 'another')]);
    expect((await allRecords(log)).map((record) => record.operation)).toEqual([
      { note: 'operation 1' },
      'another',
    ]);
    expect(await survivors(disk.afterPowerCut(disk.steps, () => 0))).toEqual([1, 2]);
  });

  it('and cannot be truncated latches: nothing is written until a restart', async () => {
    const disk = crashBackend();
    const log = await opened(disk);
    await log.append(nextRecords(log, 1));
    disk.faults = (step) => (step === 'write' || step === 'truncate' ? { code: 'EIO', written: 30 } : null);
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    await expectLatched(disk, log);
    expect(await survivors(disk.now())).toEqual([1]);
  });
});

describe('a failing sync', () => {
  it.each(['EIO', 'ENOSPC'])(
    'with %s latches: nothing is written until a restart, reads continue',
    async (code) => {
      const disk = crashBackend();
      const log = await opened(disk);
      await log.append(nextRecords(log, 1));
      failOnce(disk, 'sync', { code });
      const outcomes = await Promise.allSettled([2, 3].map((sequence) => log.append([logRecord(sequence)])));
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable() });
      await expectLatched(disk, log);
      expect(sequences(await allRecords(log))).toEqual([1]);
      // It is open whether the two records exist; the restart finds an intact log.
      expect(await survivors(disk.now())).toEqual([1, 2, 3]);
      expect(await survivors(disk.afterPowerCut(disk.steps, () => 0))).toEqual([1]);
    },
  );

  it('of an interval latches too', async () => {
    vi.useFakeTimers();
    const disk = crashBackend();
    const log = await opened(disk, { fsync: 'interval' });
    await log.append(nextRecords(log, 1));
    failOnce(disk, 'sync', { code: 'EIO' });
    await vi.advanceTimersByTimeAsync(100);
    await expectLatched(disk, log);
  });

  it.each(['sync', 'syncDirectory'] as const)('while a segment is created latches too (%s)', async (step) => {
    const disk = crashBackend();
    const log = await opened(disk);
    failOnce(disk, step, { code: 'EIO' });
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
    await expectLatched(disk, log);
    expect(await survivors(disk.now())).toEqual([]);
  });

  it('at close is reported', async () => {
    const disk = crashBackend();
    const log = await opened(disk, { fsync: 'never' });
    await log.append(nextRecords(log, 1));
    failOnce(disk, 'sync', { code: 'EIO' });
    await expect(log.close()).rejects.toEqual(unavailable());
  });

  it('is reported with what to do, and without paths', async () => {
    const disk = crashBackend();
    const log = await opened(disk);
    failOnce(disk, 'sync', { code: 'EIO' });
    const error = await log.append(nextRecords(log, 1)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).message).toMatch(/EIO.*restart/);
    expect((error as EngineError).message).not.toMatch(/disk:|\.log/);
  });
});

async function expectLatched(disk: CrashBackend, log: Log): Promise<void> {
  disk.faults = () => null;
  const steps = disk.steps;
  expect(log.status()).toBe('failed');
  for (let round = 0; round < 3; round++) {
    await expect(log.append(nextRecords(log, 1))).rejects.toEqual(unavailable());
  }
  await log.close();
  expect(disk.steps).toBe(steps);
  expect(log.status()).toBe('failed');
}

describe('reading', () => {
  it('begins after a sequence, even in the middle of a frame', async () => {
    const log = await opened(memoryBackend(), { segmentBytes: 700 });
    for (let round = 0; round < 8; round++) await log.append(nextRecords(log, 3));
    for (let after = 0; after <= 24; after++) {
      expect(sequences(await allRecords(log, after))).toEqual(upTo(24).slice(after));
    }
  });

  it('sees records committed meanwhile, across the end of a segment', async () => {
    const log = await opened(memoryBackend(), { segmentBytes: 700 });
    await log.append(nextRecords(log, 1));
    const seen: number[] = [];
    for await (const record of log.read(0)) {
      seen.push(record.sequence);
      if (record.sequence < 20) await log.append(nextRecords(log, 1));
    }
    expect(seen).toEqual(upTo(20));
  });

  it('may be abandoned at any record', async () => {
    const log = await opened(memoryBackend());
    await log.append(nextRecords(log, 5));
    for await (const record of log.read(0)) {
      if (record.sequence === 2) break;
    }
    expect(sequences(await allRecords(log))).toEqual(upTo(5));
  });
});

describe('closing', () => {
  it('commits pending appends, refuses later ones, and may be called twice', async () => {
    const backend = memoryBackend();
    const log = await opened(backend);
    const appended = upTo(20).map((sequence) => log.append([logRecord(sequence)]));
    const closed = log.close();
    await expect(log.append([logRecord(21)])).rejects.toMatchObject({ code: 'NotReady' });
    await Promise.all([closed, log.close(), ...appended]);
    expect(await survivors(backend)).toEqual(upTo(20));
  });
});
