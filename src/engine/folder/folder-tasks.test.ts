import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import {
  convertFolder,
  type FolderTask,
  noPause,
  talliesOf,
  verifyFolder,
  openBackup,
} from './folder-tasks.ts';
import { historyQuerySchema } from '../contract/history.ts';
import { queryInputSchema } from '../contract/facts.ts';
import { openEngine, openEngineOn } from '../open-engine.ts';
import { openStored } from '../open-part.ts';
import { stateOf, pinState, type RestoredState } from '../state/state-snapshot.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { repairFolder } from './repair-folder.ts';
import { type MemoryBackend, memoryBackend, type StorageBackend } from '../log/backend.ts';
import { decodeFrameHeader, frameBytes } from '../log/codec.ts';
import { openLog } from '../log/open-log.ts';
import { StartupError } from '../log/startup-error.ts';
import { readStoredLog } from '../log/examine.ts';
import { type CrashBackend, crashBackend } from '../testing/crash-backend.ts';
import { factInput, ruleInput, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';

const oldKey = 'ab'.repeat(32);
const newKey = 'cd'.repeat(32);
type Files = ReadonlyMap<string, Uint8Array>;

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-folder-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function filesOf(folder: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const name of await readdir(folder))
    if (!name.startsWith('lock')) files.set(name, new Uint8Array(await readFile(join(folder, name))));
  return files;
}

/** The files of a folder with a snapshot of six facts and a rule, and five records after it. */
async function written(encryptionKey: string | null, withSnapshot = true): Promise<Map<string, Uint8Array>> {
  const storageDir = await temporaryFolder();
  const clock = new ManualClock(startTime);
  const engine = await openEngine({ storageDir, encryptionKey, clock });
  const caller = testCaller();
  for (let n = 1; n <= 6; n++) await engine.tell(caller, { ...factInput(`p(a${n})`), ifGeneration: null });
  await engine.teach(caller, ruleInput({ text: 'q(?x) :- p(?x).' }));
  if (withSnapshot) await engine.snapshot();
  const idempotency = { key: 'once', fingerprint: 'f', space: 's' };
  await engine.tell({ ...caller, idempotency }, { ...factInput('p(a7)'), ifGeneration: null });
  for (let n = 8; n <= 11; n++) await engine.tell(caller, { ...factInput(`p(a${n})`), ifGeneration: null });
  // As after a power cut: without a last snapshot.
  const files = await filesOf(storageDir);
  await engine.close(0);
  return files;
}

function taskOn(backend: StorageBackend, seed = 1): FolderTask & { warnings: string[] } {
  const prng = new Prng(seed);
  const warnings: string[] = [];
  return {
    backend,
    clock: new ManualClock(startTime),
    random: (bytes) => Uint8Array.from({ length: bytes }, () => prng.below(256)),
    onWarn: (message) => void warnings.push(message),
    warnings,
  };
}

/** All logged state, as the bytes of a snapshot. */
async function loggedOf(restored: RestoredState): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const { section, bytes } of pinState(restored.state, talliesOf(restored)).parts(
    noPause,
    () => true,
  ))
    if (section === 'state') pieces.push(bytes.slice());
  return Buffer.concat(pieces).toString('base64');
}

async function opened(files: StorageBackend, key: string | null): Promise<RestoredState> {
  return stateOf((await readStoredLog(files, folderKeyOf(key))).log, noPause);
}

/** The service's answer from a folder with these files: the facts of p with their ids. */
async function served(files: StorageBackend & { contents(name: string): Uint8Array }, key: string | null) {
  const storageDir = await temporaryFolder();
  for (const name of await files.list()) await writeFile(join(storageDir, name), files.contents(name));
  const clock = new ManualClock(startTime + 1000);
  const engine = await openEngine({ storageDir, encryptionKey: key, clock });
  onTestFinished(() => engine.close(0));
  const session = sessionOf(engine, clock, testCaller());
  const list = await session.list();
  const next = await session.tell('r(next)');
  return {
    ids: Object.fromEntries(list.facts.map(({ args, id }) => [args[0] ?? '', id])),
    next: next.generation,
    state: engine.storageState(),
  };
}

async function newestSnapshot(backend: StorageBackend): Promise<string> {
  return (await backend.list()).findLast((name) => name.endsWith('.snapshot')) ?? '';
}

/** The names of the files that have these bytes. */
async function namesWith(backend: MemoryBackend, text: string): Promise<string[]> {
  return (await backend.list()).filter((name) => Buffer.from(backend.contents(name)).includes(text));
}

/** What was known at every generation, and the generations' origins; asked of a folder under one of these keys. */
async function pastOf(backend: MemoryBackend, ...keys: (string | null)[]): Promise<unknown> {
  for (const encryptionKey of keys) {
    const options = { clock: new ManualClock(startTime), historyDays: 30, snapshotIntervalMs: 2 ** 30 };
    const opening = openEngineOn(backend, null, { ...options, encryptionKey });
    const opened = await opening.catch((error: unknown) => {
      if (error instanceof StartupError && error.key !== null && encryptionKey !== keys.at(-1)) return null;
      throw error;
    });
    if (opened === null) continue;
    const { engine } = opened;
    const caller = testCaller();
    const past: unknown[] = [(await engine.history(caller, historyQuerySchema.parse({}))).generations];
    for (let generation = 0; generation <= 7; generation++) {
      const asKnown = { kind: 'generation' as const, generation };
      const asked = { ...caller, moment: { asOf: null, asKnown } };
      past.push(await engine.query(asked, queryInputSchema.parse({ predicate: 'p', args: ['?x'] })));
    }
    await engine.close(0);
    return past;
  }
  throw new Error('no key opens the folder');
}

describe('the history', () => {
  /** Three snapshots, and records between and after them. */
  async function withHistory(encryptionKey: string | null): Promise<MemoryBackend> {
    const backend = memoryBackend();
    const clock = new ManualClock(startTime - 3 * 86_400_000);
    const options = { clock, historyDays: 30, segmentBytes: 500, encryptionKey, snapshotIntervalMs: 2 ** 30 };
    const { engine } = await openEngineOn(backend, null, options);
    const session = sessionOf(engine, clock, testCaller());
    for (let n = 1; n <= 6; n++) {
      await session.tell(`p(secret${n})`);
      if (n % 2 === 0) await engine.snapshot();
      clock.advance(86_400_000 / 2);
    }
    await session.forget('p(secret3)');
    const left = memoryBackend(await filesIn(backend));
    await engine.close(0);
    return left;
  }

  async function filesIn(backend: MemoryBackend): Promise<Files> {
    return new Map((await backend.list()).map((name) => [name, backend.contents(name).slice()]));
  }

  it.each([
    ['--encrypt', null, newKey],
    ['--decrypt', oldKey, null],
    ['--rekey', oldKey, newKey],
  ])('is the same after %s, all of it under the new key', async (_, from, to) => {
    const before = await withHistory(from);
    const disk = crashBackend(await filesIn(before));
    await convertFolder(taskOn(disk), { from, to });
    const left = disk.now();
    if (to !== null) expect(await namesWith(left, 'secret')).toEqual([]);
    expect(await pastOf(left, to)).toEqual(await pastOf(before, from));
    const { history } = await verifyFolder(left, to);
    expect(history).toMatchObject({ damages: [], snapshots: expect.any(Number) });
    expect((history?.segments ?? 0) * (history?.snapshots ?? 0)).toBeGreaterThan(0);
  });

  it('is under one key or the other after a power cut at any moment, and a start leaves nothing of the other', async () => {
    const before = await withHistory(null);
    const disk = crashBackend(await filesIn(before));
    await convertFolder(taskOn(disk), { from: null, to: newKey });
    const past = await pastOf(before, null);
    const seen = new Set<boolean>();
    for (let step = 0; step <= disk.steps; step++) {
      const left = disk.afterPowerCut(step, () => 0);
      expect(await pastOf(left, null, newKey)).toEqual(past);
      const isConverted = await verifyFolder(left, newKey).then(
        () => true,
        () => false,
      );
      seen.add(isConverted);
      if (isConverted) expect(await namesWith(left, 'secret')).toEqual([]);
    }
    expect(seen.size).toBe(2);
  });

  it('loses what was erased by a record that only the conversion covers', async () => {
    const backend = await withHistory(null);
    const options = { clock: new ManualClock(startTime), historyDays: 30, snapshotIntervalMs: 2 ** 30 };
    const { engine } = await openEngineOn(backend, null, options);
    const other = { ...testCaller(), tenant: 'other' };
    await engine.tell(other, factInput('q(private)'));
    await engine.nukeTenant(other, 'default', 'other');
    const disk = memoryBackend(await filesIn(backend));
    await engine.close(0);
    expect(await namesWith(disk, 'private')).not.toEqual([]);
    await convertFolder(taskOn(disk), { from: null, to: null });
    const again = await openEngineOn(disk, null, options);
    await again.engine.snapshot();
    expect(await namesWith(disk, 'private')).toEqual([]);
    expect(await namesWith(disk, 'secret3')).not.toEqual([]);
    await again.engine.close(0);
  });

  it('begins anew with a warning if it is damaged; the knowledge is converted all the same', async () => {
    const files = new Map(await filesIn(await withHistory(null)));
    const bytes = (files.get('0000000001.log') as Uint8Array).slice();
    bytes[bytes.length - 3] = 1 ^ (bytes[bytes.length - 3] as number);
    files.set('0000000001.log', bytes);
    const disk = crashBackend(files);
    // A start does not mind, so the folder is sound.
    const verified = await verifyFolder(disk, null);
    expect(verified).toMatchObject({ damages: [], contents: { facts: 5 } });
    expect(verified.history?.damages).toEqual([expect.stringContaining('0000000001.log, offset')]);
    const task = taskOn(disk);
    expect(await convertFolder(task, { from: null, to: newKey })).toMatchObject({ facts: 5 });
    expect(task.warnings).toEqual([expect.stringContaining('The history is damaged')]);
    expect(await disk.list()).toHaveLength(1);
  });
});

describe('another key', () => {
  it.each([
    ['--encrypt', null, newKey],
    ['--decrypt', oldKey, null],
    ['--rekey', oldKey, newKey],
  ])('%s leaves nothing of the old key and keeps all data', async (_, from, to) => {
    const files = await written(from);
    const before = await loggedOf(await opened(memoryBackend(files), from));
    const disk = crashBackend(files);
    const contents = await convertFolder(taskOn(disk), { from, to });
    expect(contents).toEqual({ databases: 1, tenants: 1, facts: 11, rules: 1 });
    expect(await loggedOf(await opened(disk, to))).toBe(before);
    expect((await verifyFolder(disk, to)).damages).toEqual([]);
    for (const name of await disk.list()) expect(name).toMatch(/^\d+\.(?:log|snapshot)$/);
    if (to !== null) expect(await namesWith(disk.now(), 'a8')).toEqual([]);
  });

  it('keeps the history, ids, generations and idempotency outcomes', async () => {
    const files = await written(null);
    const before = await served(memoryBackend(files), null);
    const disk = crashBackend(files);
    await convertFolder(taskOn(disk), { from: null, to: newKey });
    const after = await served(disk.now(), newKey);
    expect(after.ids).toEqual(before.ids);
    expect(after.next).toBe(before.next);
    expect(after.state).toMatchObject({ encrypted: true, historyId: before.state.historyId, parent: null });
    const { state } = await opened(disk, newKey);
    expect([...state.idempotency.all()]).toHaveLength(1);
  });

  it('is refused if the current one is wrong, and nothing is changed', async () => {
    const files = await written(oldKey);
    const disk = crashBackend(files);
    await expect(convertFolder(taskOn(disk), { from: newKey, to: null })).rejects.toMatchObject({
      key: 'wrong',
    });
    expect(disk.steps).toBe(0);
  });
});

describe('--restore', () => {
  const name = 'kept.backup';

  async function backupOf(key: string | null): Promise<Uint8Array> {
    const disk = crashBackend(await written(key));
    await convertFolder(taskOn(disk), { from: key, to: key });
    return disk.now().contents(await newestSnapshot(disk));
  }

  it('begins a history that names its parent', async () => {
    const from = memoryBackend(new Map([[name, await backupOf(oldKey)]]));
    const backup = await openBackup(from, name, oldKey);
    expect(backup).toMatchObject({ position: 13, contents: { facts: 11, rules: 1 } });
    const disk = crashBackend();
    await backup.install(taskOn(disk));
    const original = await readStoredLog(memoryBackend(await written(oldKey)), folderKeyOf(oldKey));
    expect(original.contents.parent).toBeNull();
    const { historyId, parent } = (await readStoredLog(disk, folderKeyOf(oldKey))).contents;
    expect(parent?.sequence).toBe(13);
    expect(historyId).not.toBe(parent?.historyId);
    const after = await served(disk.now(), oldKey);
    expect(after.next).toBe(13);
    expect(after.state.parent).toEqual({ historyId: parent?.historyId, position: 13 });
  });

  it('refuses a file truncated or changed anywhere, and a folder that is not empty; nothing is left behind', async () => {
    const bytes = await backupOf(null);
    const prng = new Prng(3);
    for (let run = 0; run < 300; run++) {
      const bad = bytes.slice(0, run < 150 ? prng.below(bytes.length) : bytes.length);
      if (run >= 150) {
        const at = prng.below(bytes.length);
        bad[at] = (bad[at] as number) ^ (1 << prng.below(8));
      }
      await expect(openBackup(memoryBackend(new Map([[name, bad]])), name, null)).rejects.toBeInstanceOf(
        StartupError,
      );
    }
    const full = crashBackend(new Map([['notes.txt', Uint8Array.of(1)]]));
    const backup = await openBackup(memoryBackend(new Map([[name, bytes]])), name, null);
    await expect(backup.install(taskOn(full))).rejects.toThrow(/is not empty.+Nothing was changed/s);
    expect(full.steps).toBe(0);
    const failing = crashBackend();
    failing.faults = (step) => (step === 'write' ? { code: 'ENOSPC' } : null);
    await expect(backup.install(taskOn(failing))).rejects.toThrow('ENOSPC');
    expect(await failing.list()).toEqual([]);
  });
});

/** Offsets of a file's frames. */
function offsetsIn(bytes: Uint8Array): number[] {
  const start = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  const found: number[] = [];
  for (let offset = start; offset < bytes.length; ) {
    found.push(offset);
    const frame = decodeFrameHeader(bytes.subarray(32, 48), offset, bytes.subarray(offset, offset + 56));
    offset += frameBytes(frame?.payloadBytes ?? Number.NaN);
  }
  return found;
}

function turned(files: Files, name: string, at: number): Map<string, Uint8Array> {
  const bytes = (files.get(name) ?? new Uint8Array(0)).slice();
  bytes[at] = (bytes[at] as number) ^ 0x10;
  return new Map([...files, [name, bytes]]);
}

function names(count: number, without: readonly number[] = []): string[] {
  return Array.from({ length: count }, (_, index) => index + 1)
    .filter((n) => !without.includes(n))
    .map((n) => `a${n}`);
}

describe.each([null, oldKey])('--verify and --repair of a folder with the key %s', (key) => {
  const log = '0000000002.log';

  it('find no damage in an intact one, and change nothing', async () => {
    const disk = crashBackend(await written(key));
    expect(await verifyFolder(disk, key)).toMatchObject({
      damages: [],
      contents: { databases: 1, facts: 11, rules: 1 },
      position: 13,
      records: 5,
    });
    expect(await repairFolder(taskOn(disk), key)).toBeNull();
    expect(disk.steps).toBe(0);
  });

  it('name file and offset of a frame in the middle, and keep the records before and after it with their ids', async () => {
    const files = await written(key);
    const before = await served(memoryBackend(files), key);
    const [, second = 0, third = 0] = offsetsIn(files.get(log) as Uint8Array);
    const disk = crashBackend(turned(files, log, second + 70));
    const { damages } = await verifyFolder(disk, key);
    expect(damages[0]).toMatchObject({ file: log, from: second, to: third });
    expect(damages[1]?.what).toContain('record 10 is missing');
    expect(disk.steps).toBe(0);
    const repaired = await repairFolder(taskOn(disk), key);
    expect(repaired).toMatchObject({ leftOut: [], setAside: [`${log}.${second}-${third}.damaged`] });
    expect(disk.now().contents(`${log}.${second}-${third}.damaged`)).toHaveLength(third - second);
    expect((await verifyFolder(disk, key)).damages).toEqual([]);
    const after = await served(disk.now(), key);
    expect(Object.keys(after.ids).toSorted()).toEqual(names(11, [8]).toSorted());
    for (const [about, id] of Object.entries(after.ids)) expect(id).toBe(before.ids[about]);
    expect(after.next).toBeGreaterThanOrEqual(before.next);
    expect(after.state.parent).toEqual({ historyId: before.state.historyId, position: 9 });
  });

  it('keep the records after a lost snapshot, and say what was lost', async () => {
    const files = await written(key);
    const before = await served(memoryBackend(files), key);
    const snapshot = '0000000008.snapshot';
    const disk = crashBackend(turned(files, snapshot, (files.get(snapshot)?.length ?? 0) >> 1));
    const { damages } = await verifyFolder(disk, key);
    expect(damages[0]).toMatchObject({
      file: snapshot,
      what: expect.stringContaining('its state section is incomplete'),
    });
    expect(damages[1]?.what).toContain('records 1 to 8 are missing');
    const repaired = await repairFolder(taskOn(disk), key);
    expect(repaired?.contents.facts).toBe(5);
    const after = await served(disk.now(), key);
    expect(Object.keys(after.ids).toSorted()).toEqual(['a10', 'a11', 'a7', 'a8', 'a9']);
    expect(after.ids['a7']).toBe(before.ids['a7']);
    expect(after.next).toBeGreaterThanOrEqual(before.next);
  });

  it('never leave a folder that does not open, nor a generation that decreases, whichever bit was flipped', async () => {
    const files = await written(key);
    const prng = new Prng(21);
    const runs = process.env['LONG'] === '1' ? 2000 : 120;
    for (let run = 0; run < runs; run++) {
      const name = prng.pick([...files.keys()]);
      const bad = turned(files, name, prng.below(files.get(name)?.length ?? 0));
      const disk = crashBackend(bad);
      const isWrongKey = (error: unknown): boolean => error instanceof StartupError && error.offset === 0;
      const repaired = await repairFolder(taskOn(disk), key).catch((error: unknown) => error);
      if (repaired instanceof Error) {
        // An unknown version or flag means another program's file, not a damaged one.
        expect(isWrongKey(repaired), `${name}: ${String(repaired)}`).toBe(true);
        continue;
      }
      const { state } = await opened(disk, key);
      const generation = state.databases.get('default')?.lastGeneration ?? 0;
      const isTorn = repaired === null;
      expect(generation, name).toBeGreaterThanOrEqual(isTorn ? 11 : 12);
      expect(state.sequence).toBeGreaterThanOrEqual(isTorn ? 12 : 13);
    }
  });
});

it('a record after a gap that names facts by number is left out and reported', async () => {
  const storageDir = await temporaryFolder();
  const clock = new ManualClock(startTime);
  const engine = await openEngine({ storageDir, clock });
  const session = sessionOf(engine, clock, testCaller());
  for (const text of ['p(a1)', 'p(a2)', 'p(a3)']) await session.tell(text);
  await engine.forgetById(testCaller(), 'f1-0');
  await engine.forgetById(testCaller(), 'f3-0');
  const files = await filesOf(storageDir);
  await engine.close(0);
  const log = '0000000001.log';
  const [, , second = 0] = offsetsIn(files.get(log) as Uint8Array);
  const disk = crashBackend(turned(files, log, second + 70));
  const repaired = await repairFolder(taskOn(disk), null);
  expect(repaired?.leftOut).toEqual([
    { sequence: 6, kind: 'retractById', why: expect.stringContaining('by number') },
  ]);
  expect(repaired?.contents.facts).toBe(1);
});

/** Every moment of a possible power cut, with some of the disks it can leave. */
async function atEveryMoment(
  disk: CrashBackend,
  look: (left: ReturnType<CrashBackend['now']>) => Promise<void>,
): Promise<void> {
  const prng = new Prng(5);
  for (let step = 0; step <= disk.steps; step++) {
    await look(disk.afterPowerCut(step, () => 0));
    for (let run = 0; run < 3; run++) await look(disk.afterPowerCut(step, (n) => prng.below(n)));
  }
}

describe("a follower's folder with a snapshot being received", () => {
  const key = oldKey;
  const whole = '0000000001.snapshot.received';
  const name = 'kept.backup';

  /** Eleven facts, and a snapshot of an empty leader, received completely or not. */
  async function receiving(isWhole: boolean): Promise<Map<string, Uint8Array>> {
    const clock = new ManualClock(startTime);
    const leader = await openStored(memoryBackend(), { clock, pause: noPause });
    const { historyId, epoch, parent } = leader.log;
    const of = { historyId, epoch, parent, sequence: 1, time: leader.state.time, checksum: null };
    const { random, onWarn } = taskOn(memoryBackend());
    const disk = memoryBackend(await written(key));
    const { log } = await openLog(disk, {
      fsync: 'always',
      key: folderKeyOf(key),
      now: () => startTime,
      random,
      onWarn,
    });
    await log.receive(
      of,
      pinState(leader.state, () => new Map()).parts(noPause, () => true),
    );
    await log.close();
    await leader.log.close();
    if (isWhole) await disk.rename(`${whole}.tmp`, whole);
    disk.put('following', new Uint8Array(0));
    return new Map((await disk.list()).map((each) => [each, disk.contents(each)]));
  }

  const kinds = [
    { isWhole: true, facts: 0, position: 1 },
    { isWhole: false, facts: 11, position: 13 },
  ];

  it.each(kinds)('is what --verify and --repair use if it is complete: %j', async (kind) => {
    const { isWhole, facts, position } = kind;
    const disk = crashBackend(await receiving(isWhole));
    expect(await verifyFolder(disk, key)).toMatchObject({ damages: [], contents: { facts }, position });
    expect(await repairFolder(taskOn(disk), key)).toBeNull();
    expect(disk.steps).toBe(0);
  });

  it.each(kinds)(
    'gets another key with it if it is complete, even after a power cut at any moment: %j',
    async (kind) => {
      const { isWhole, facts } = kind;
      const files = await receiving(isWhole);
      const before = await loggedOf(await opened(memoryBackend(files), key));
      const disk = crashBackend(files);
      expect(await convertFolder(taskOn(disk), { from: key, to: newKey })).toMatchObject({ facts });
      await atEveryMoment(disk, async (left) => {
        const state = await opened(left, key).catch(() => opened(left, newKey));
        expect(await loggedOf(state)).toBe(before);
      });
      const names = await disk.list();
      const others = names.filter((each) => !/^\d+\.(?:log|snapshot)$/.test(each));
      expect(others).toEqual(['following']);
    },
  );

  it('keeps the earlier contents if the received snapshot is damaged, and sets that aside', async () => {
    const files = await receiving(true);
    const disk = crashBackend(turned(files, whole, 300));
    expect((await verifyFolder(disk, key)).damages[0]).toMatchObject({ file: whole });
    expect(disk.steps).toBe(0);
    const repaired = await repairFolder(taskOn(disk), key);
    expect(repaired).toMatchObject({ contents: { facts: 11 }, setAside: [expect.stringContaining(whole)] });
    expect((await disk.list()).filter((each) => each.endsWith('received'))).toEqual([]);
    await atEveryMoment(disk, async (left) => {
      const again = await repairFolder(taskOn(left, 9), key);
      if (again !== null) expect(again.contents.facts).toBe(11);
      expect((await verifyFolder(left, key)).contents?.facts).toBe(11);
    });
  });

  it('is repaired beside an incomplete one, which the next start removes', async () => {
    const files = await receiving(false);
    const log = '0000000002.log';
    const [, second = 0] = offsetsIn(files.get(log) as Uint8Array);
    const disk = crashBackend(turned(files, log, second + 70));
    expect((await repairFolder(taskOn(disk), key))?.contents.facts).toBe(10);
    await served(disk.now(), key);
    const { log: led } = await openStored(disk, { encryptionKey: key, pause: noPause });
    await led.close();
    expect((await disk.list()).filter((each) => each.includes('received'))).toEqual([]);
  });

  it.each([true, false])('cannot be restored into: nothing is changed (complete: %s)', async (isWhole) => {
    const kept = crashBackend(await written(key));
    await convertFolder(taskOn(kept), { from: key, to: newKey });
    const snapshot = await newestSnapshot(kept);
    const backup = await openBackup(
      memoryBackend(new Map([[name, kept.now().contents(snapshot)]])),
      name,
      newKey,
    );
    const files = await receiving(isWhole);
    const received = [...files].filter(([each]) => each.includes('received'));
    const disk = crashBackend(new Map(received));
    await expect(backup.install(taskOn(disk))).rejects.toThrow(/not empty: .*received/);
    expect(disk.steps).toBe(0);
  });
});
