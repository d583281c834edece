import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleProgram, startProgram } from '../testing/child-program.ts';
import { allRecords, logOptions, logRecord, nextRecords, sequences, upTo } from '../testing/log-fixtures.ts';
import { type StorageBackend, memoryBackend } from './backend.ts';
import { openFileBackend } from './file-backend.ts';
import { openLog } from './open-log.ts';
import { StartupError } from './startup-error.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-storage-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  ['files', () => openFileBackend(join(folder, 'data', 'deep'))],
  ['memory', () => Promise.resolve(memoryBackend())],
] as const)('a backend of %s', (_, open: () => Promise<StorageBackend>) => {
  it('keeps bytes at the offset where they were written', async () => {
    const backend = await open();
    const file = await backend.create('a');
    await file.write(Uint8Array.of(1, 2, 3, 4), 0);
    await file.write(Uint8Array.of(9), 2);
    await file.write(Uint8Array.of(7), 6);
    await file.sync();
    await backend.syncDirectory();
    const target = new Uint8Array(10);
    expect(await file.read(target, 1)).toBe(6);
    expect([...target.subarray(0, 6)]).toEqual([2, 9, 4, 0, 0, 7]);
    expect(await file.read(target, 7)).toBe(0);
    expect(await file.read(target, 70)).toBe(0);
    await file.truncate(3);
    expect(await file.size()).toBe(3);
    await file.truncate(5);
    expect(await file.read(target.fill(1), 0)).toBe(5);
    expect([...target.subarray(0, 6)]).toEqual([1, 2, 9, 0, 0, 1]);
    await file.close();
  });

  it('names, renames and removes files', async () => {
    const backend = await open();
    await (await backend.create('b')).close();
    await (await backend.create('a')).close();
    expect(await backend.list()).toEqual(['a', 'b']);
    await expect(backend.create('a')).rejects.toMatchObject({ code: 'EEXIST' });
    await backend.rename('a', 'b');
    expect(await backend.list()).toEqual(['b']);
    await backend.remove('b');
    expect(await backend.list()).toEqual([]);
    for (const act of [
      () => backend.remove('b'),
      () => backend.open('b', 'read'),
      () => backend.rename('b', 'c'),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('does not write to a file opened for reading', async () => {
    const backend = await open();
    await (await backend.create('a')).close();
    const file = await backend.open('a', 'read');
    await expect(file.write(Uint8Array.of(1), 0)).rejects.toMatchObject({ code: 'EBADF' });
    await file.close();
    const writable = await backend.open('a', 'write');
    await writable.write(Uint8Array.of(1), 0);
    expect(await writable.size()).toBe(1);
    await writable.close();
  });
});

describe('the log in a folder', () => {
  it('survives a restart, in files for their owner only', async () => {
    const path = join(folder, 'data');
    const { log } = await openLog(await openFileBackend(path), logOptions({ segmentBytes: 1000 }));
    for (let round = 0; round < 20; round++) await log.append(nextRecords(log, 2));
    await log.close();
    const { log: again } = await openLog(await openFileBackend(path), logOptions());
    expect(sequences(await allRecords(again))).toEqual(upTo(40));
    await again.close();
    if (process.platform !== 'win32') {
      expect((await stat(path)).mode & 0o777).toBe(0o700);
      expect((await stat(join(path, '0000000001.log'))).mode & 0o777).toBe(0o600);
    }
  });

  it('with a torn tail loses only that', async () => {
    const { log } = await openLog(await openFileBackend(folder), logOptions());
    for (let round = 0; round < 3; round++) await log.append(nextRecords(log, 1));
    await log.close();
    const path = join(folder, '0000000001.log');
    const bytes = await readFile(path);
    await writeFile(path, bytes.subarray(0, -5));
    const options = logOptions();
    const { lastSequence } = await openLog(await openFileBackend(folder), options);
    expect(lastSequence).toBe(2);
    expect(options.warnings).toEqual([expect.stringContaining(path)]);
  });

  it('with files behind symbolic links is read and continued', async () => {
    const path = join(folder, 'data');
    const { log } = await openLog(await openFileBackend(path), logOptions());
    for (let round = 0; round < 3; round++) await log.append(nextRecords(log, 1));
    await log.close();
    await mkdir(join(folder, 'elsewhere'));
    const moved = join(folder, 'elsewhere', 'segment');
    await rename(join(path, '0000000001.log'), moved);
    await symlink(moved, join(path, '0000000001.log'));
    const { log: again } = await openLog(await openFileBackend(path), logOptions());
    await again.append(nextRecords(again, 1));
    expect(sequences(await allRecords(again))).toEqual(upTo(4));
    await again.close();
    await rm(moved);
    const refusal = openLog(await openFileBackend(path), logOptions());
    await expect(refusal).rejects.toMatchObject({ name: 'StartupError', file: '0000000001.log' });
  });

  it('that is not a folder, or is not inside one, is refused with the reason', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const path of [join(folder, 'file'), join(folder, 'file', 'data')]) {
      const refusal = openFileBackend(path);
      await expect(refusal).rejects.toThrow(StartupError);
      await expect(refusal).rejects.toThrow(`${path} cannot be created: a file is in its place`);
    }
  });
});

describe('kill -9 under load', () => {
  let program = '';
  beforeAll(async () => {
    program = await bundleProgram(new URL('../testing/write-log.ts', import.meta.url));
  });
  afterAll(async () => {
    await rm(join(program, '..'), { recursive: true, force: true });
  });

  it.each(['always', 'interval', 'never'])(
    'loses no acknowledged record and leaves no partial one, again and again (FSYNC=%s)',
    async (fsync) => {
      for (let round = 0; round < 4; round++) {
        const child = startProgram(program, [folder, fsync]);
        let answered = 0;
        for (let line = 0; line < 300 + round * 77; line++)
          answered = Math.max(answered, Number(await child.nextLine()));
        await child.kill('SIGKILL');
        for (let line = await child.nextLine(); line !== null; line = await child.nextLine()) {
          answered = Math.max(answered, Number(line));
        }
        const { log } = await openLog(await openFileBackend(folder), logOptions({}, round));
        const records = await allRecords(log);
        expect(records.length).toBeGreaterThanOrEqual(answered);
        expect(records.length % 3).toBe(0);
        expect(records).toEqual(records.map((_, index) => logRecord(index + 1)));
        await log.close();
      }
    },
  );
});
