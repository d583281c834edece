import { createConnection } from 'node:net';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { StorageState } from '../../engine/contract/administration.ts';
import { type Environment, parseConfig } from '../base/config.ts';
import { runFolderCommand } from './folder-commands.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { StartRefusal } from '../base/start-refusal.ts';

const key = 'ab'.repeat(32);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-command-'));
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
});

function at(name: string): string {
  return join(folder, name);
}

async function started(environment: Environment): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest(environment);
  onTestFinished(() => service.close());
  return service;
}

function run(name: Parameters<typeof runFolderCommand>[0], environment: Environment, file = '') {
  return runFolderCommand(name, parseConfig(environment), file, () => {});
}

async function refusalOf(promise: Promise<unknown>): Promise<StartRefusal> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StartRefusal)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

async function backupOf(service: ServiceUnderTest): Promise<Uint8Array> {
  const response = await fetch(`${service.address}/admin/backup`, { method: 'POST' });
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(response.headers.get('content-length')).toBe(String(bytes.length));
  expect(response.headers.get('content-disposition')).toMatch(/filename="corollary-\d{10}\.backup"/);
  return bytes;
}

describe.each([
  ['without a key', undefined],
  ['with a key', key],
])('a backup %s', (_, encryptionKey) => {
  it('restores knowledge, ids, generations and keys into an empty folder', async () => {
    const environment = { STORAGE_DIR: at('data'), ENCRYPTION_KEY: encryptionKey };
    const service = await started(environment);
    await service.call('POST', '/tell', { predicate: 'kept', args: ['topsecret'] });
    await service.call('POST', '/teach', { text: 'found(?x) :- kept(?x)' });
    const once = { headers: { 'idempotency-key': 'once' } };
    const first = await service.call('POST', '/tell', { predicate: 'kept', args: ['y'] }, once);
    const bytes = await backupOf(service);
    expect(Buffer.from(bytes).includes('topsecret')).toBe(encryptionKey === undefined);
    await service.call('POST', '/tell', { predicate: 'kept', args: ['after the backup'] });
    const { body: before } = await service.call<StorageState>('GET', '/admin/storage');
    expect(before).toMatchObject({
      encrypted: encryptionKey !== undefined,
      position: 5,
      backup: { position: 4, bytes: bytes.length },
      parent: null,
    });
    const { body: metrics } = await service.call<string>('GET', '/metrics');
    expect(metrics).toMatch(/^service_backups_total 1$/m);
    expect(metrics).toMatch(
      encryptionKey === undefined ? /^service_storage_encrypted 0$/m : /^service_storage_encrypted 1$/m,
    );

    await writeFile(at('b.backup'), bytes);
    const there = { ...environment, STORAGE_DIR: at('restored') };
    const { lines, exitCode } = await run('restore', there, at('b.backup'));
    expect(exitCode).toBe(0);
    expect(lines[0]).toContain('1 database, 1 tenant, 2 facts and 1 rule');
    const restored = await started(there);
    const { body: answer } = await restored.call<{ results: string[] }>('POST', '/ask', {
      predicate: 'found',
      args: ['?x'],
    });
    expect(answer.results).toEqual(['found(topsecret)', 'found(y)']);
    expect((await restored.call('POST', '/tell', { predicate: 'kept', args: ['y'] }, once)).body).toEqual(
      first.body,
    );
    const { body: after } = await restored.call<StorageState>('GET', '/admin/storage');
    expect(after).toMatchObject({ position: 4, parent: { historyId: before.historyId, position: 4 } });
    const { body: told } = await restored.call<{ generation: number }>('POST', '/tell', {
      predicate: 'n',
      args: [],
    });
    expect(told.generation).toBe(4);
  });

  it('is refused for a non-empty folder, if truncated, or with another key, and leaves nothing behind', async () => {
    const environment = { STORAGE_DIR: at('data'), ENCRYPTION_KEY: encryptionKey };
    const bytes = await backupOf(await started(environment));
    await writeFile(at('b.backup'), bytes);
    await writeFile(at('cut.backup'), bytes.subarray(0, bytes.length - 1));
    const there = { ...environment, STORAGE_DIR: at('restored') };
    expect((await refusalOf(run('restore', there, at('cut.backup')))).exitCode).toBe(6);
    const other = encryptionKey === undefined ? key : undefined;
    const wrong = await refusalOf(run('restore', { ...there, ENCRYPTION_KEY: other }, at('b.backup')));
    expect([wrong.exitCode, wrong.message]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY')]);
    expect(await readdir(folder)).not.toContain('restored');
    expect((await refusalOf(run('restore', there, at('missing.backup')))).message).toContain(
      'there is no file',
    );
    const full = { ...environment, STORAGE_DIR: at('full') };
    await run('restore', full, at('b.backup'));
    const names = await readdir(at('full'));
    expect((await refusalOf(run('restore', full, at('b.backup')))).message).toContain('is not empty');
    expect(await readdir(at('full'))).toEqual(names);
  });
});

it('a client that disconnects during a backup does not block the next one', async () => {
  const service = await started({ STORAGE_DIR: at('data') });
  const facts = Array.from({ length: 20_000 }, (_, n) => ({
    predicate: 'p',
    args: [`a rather long constant ${n}`],
  }));
  for (let from = 0; from < facts.length; from += 5000)
    await service.call('POST', '/assert/facts', { facts: facts.slice(from, from + 5000) });
  const socket = createConnection(service.port, '127.0.0.1');
  socket.write(`POST /admin/backup HTTP/1.1\r\nhost: 127.0.0.1:${service.port}\r\ncontent-length: 0\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  const whole = await backupOf(service);
  await writeFile(at('b.backup'), whole);
  const { lines } = await run('restore', { STORAGE_DIR: at('restored') }, at('b.backup'));
  expect(lines[0]).toContain('20000 facts');
});

it('a backup taken during writes contains whole batches and every write acknowledged before it', async () => {
  const service = await started({ STORAGE_DIR: at('data') });
  const batches = new Set<number>();
  let next = 0;
  let isOver = false;
  const write = async (): Promise<void> => {
    while (!isOver) {
      const batch = next++;
      const facts = Array.from({ length: 20 }, (_, n) => ({ predicate: 'p', args: [batch, n] }));
      expect((await service.call('POST', '/assert/facts', { facts })).status).toBe(200);
      batches.add(batch);
    }
  };
  const writing = Promise.all([write(), write(), write()]);
  await expect.poll(() => batches.size).toBeGreaterThan(5);
  const before = [...batches];
  const bytes = await backupOf(service);
  const { size } = batches;
  await expect.poll(() => batches.size).toBeGreaterThan(size);
  isOver = true;
  await writing;
  await writeFile(at('b.backup'), bytes);
  const there = { STORAGE_DIR: at('restored') };
  await run('restore', there, at('b.backup'));
  const restored = await started(there);
  const { body } = await restored.call<{ args: string[] }[]>('POST', '/query', {
    predicate: 'p',
    args: ['?batch', '?n'],
  });
  const found = new Map<number, number>();
  for (const { args } of body) found.set(Number(args[0]), (found.get(Number(args[0])) ?? 0) + 1);
  expect(new Set(found.values())).toEqual(new Set([20]));
  expect(before.filter((batch) => !found.has(batch))).toEqual([]);
});

describe('a folder', () => {
  async function written(environment: Environment): Promise<void> {
    const service = await startServiceUnderTest(environment);
    await service.call('POST', '/tell', { predicate: 'kept', args: ['x'] });
    await service.close();
  }

  it('is encrypted, re-encrypted with another key and decrypted, and starts only with its current key', async () => {
    const plain = { STORAGE_DIR: at('data') };
    const encrypted = { ...plain, ENCRYPTION_KEY: key };
    const other = { ...plain, ENCRYPTION_KEY: 'cd'.repeat(32) };
    await written(plain);
    const refused = await refusalOf(startServiceUnderTest(encrypted));
    expect(refused.message).toContain('--encrypt');
    expect((await run('encrypt', encrypted)).exitCode).toBe(0);
    expect((await refusalOf(run('encrypt', encrypted))).message).toContain('encrypted already');
    expect((await refusalOf(startServiceUnderTest(plain))).exitCode).toBe(2);
    expect((await refusalOf(startServiceUnderTest(other))).exitCode).toBe(2);
    expect((await refusalOf(run('rekey', encrypted))).message).toContain('NEW_ENCRYPTION_KEY');
    await run('rekey', { ...encrypted, NEW_ENCRYPTION_KEY: 'cd'.repeat(32) });
    expect((await refusalOf(run('verify', encrypted))).exitCode).toBe(2);
    await written(other);
    await run('decrypt', other);
    expect((await refusalOf(run('decrypt', other))).message).toContain('is not encrypted');
    const service = await started(plain);
    const { body } = await service.call('POST', '/query', { predicate: 'kept', args: ['?x'] });
    expect(body).toHaveLength(1);
  });

  it('in use by a service can be verified, but not repaired or converted', async () => {
    const environment = { STORAGE_DIR: at('data'), ENCRYPTION_KEY: key };
    const service = await started(environment);
    await service.call('POST', '/tell', { predicate: 'kept', args: ['x'] });
    expect((await run('verify', environment)).exitCode).toBe(0);
    for (const name of ['repair', 'decrypt'] as const) {
      const refusal = await refusalOf(run(name, environment));
      expect([refusal.exitCode, refusal.owner]).toEqual([5, service.address]);
    }
  });

  it('that is damaged fails verification with exit code 1, is repaired with 0, and starts again', async () => {
    const environment = { STORAGE_DIR: at('data') };
    await written(environment);
    const name = (await readdir(at('data'))).find((each) => each.endsWith('.snapshot')) ?? '';
    const path = join(at('data'), name);
    const bytes = await readFile(path);
    bytes[300] = (bytes[300] as number) ^ 1;
    await writeFile(path, bytes);
    const refusal = await refusalOf(startServiceUnderTest(environment));
    expect([refusal.exitCode, refusal.message]).toEqual([6, expect.stringContaining('--repair')]);
    const { lines, exitCode } = await run('verify', environment);
    expect(exitCode).toBe(1);
    expect(lines.join('\n')).toMatch(new RegExp(`${name}, offset \\d+ to ${bytes.length}`));
    expect(await readFile(path)).toEqual(bytes);
    const repaired = await run('repair', environment);
    expect(repaired.exitCode).toBe(0);
    expect(repaired.lines.join('\n')).toContain('.damaged');
    expect((await run('verify', environment)).exitCode).toBe(0);
    const again = await run('repair', environment);
    expect(again.lines).toEqual(['Everything verifies: nothing to repair, nothing was changed.']);
    const service = await started(environment);
    const { body } = await service.call<{ generation: number }>('POST', '/tell', {
      predicate: 'n',
      args: [],
    });
    expect(body.generation).toBeGreaterThan(1);
  });

  describe.each([
    ['plain', undefined],
    ['encrypted', key],
  ])('that is %s and refused', (_, encryptionKey) => {
    /** A snapshot and a later segment whose first frame is followed by others. */
    async function killed(): Promise<Environment> {
      const environment = { STORAGE_DIR: at('data'), ENCRYPTION_KEY: encryptionKey };
      const service = await started(environment);
      await service.call('POST', '/tell', { predicate: 'kept', args: ['x'] });
      await service.call('POST', '/admin/snapshot');
      for (const n of [1, 2, 3]) await service.call('POST', '/tell', { predicate: 'after', args: [n] });
      // The state after a process was killed.
      await mkdir(at('left'));
      for (const name of await files(at('data')))
        await copyFile(join(at('data'), name), join(at('left'), name));
      return { ...environment, STORAGE_DIR: at('left') };
    }

    async function files(where: string): Promise<string[]> {
      return (await readdir(where)).filter((name) => !name.startsWith('lock'));
    }

    /** Contents and times of all files except the lock. */
    async function look(): Promise<unknown> {
      const found = (await files(at('left'))).map(async (name) => {
        const path = join(at('left'), name);
        const { mtimeMs, ctimeMs, mode } = await stat(path);
        return { name, mtimeMs, ctimeMs, mode, bytes: (await readFile(path)).toString('base64') };
      });
      return Promise.all(found);
    }

    async function write(ending: string, change: (bytes: Buffer) => void): Promise<string> {
      // The newest one: no start reads those that are retained of the past.
      const name = (await files(at('left'))).findLast((each) => each.endsWith(ending)) ?? '';
      const path = join(at('left'), name);
      const bytes = await readFile(path);
      change(bytes);
      await writeFile(path, bytes);
      return name;
    }

    const header = encryptionKey === undefined ? 128 : 192;
    const resealed = (bytes: Buffer): void => {
      bytes.writeUInt16LE(2, 8);
      bytes.writeUInt32LE(crc32(bytes.subarray(0, header - 4)), header - 4);
    };

    it.each([
      ['for a length field', '.log', (bytes: Buffer) => bytes.writeUInt32LE(2 ** 20, header + 4), header, 6],
      [
        'for a payload',
        '.log',
        (bytes: Buffer) => bytes.writeUInt8(bytes.readUInt8(270) ^ 1, 270),
        header,
        6,
      ],
      [
        'for its snapshot',
        '.snapshot',
        (bytes: Buffer) => bytes.writeUInt8(bytes.readUInt8(header + 60) ^ 1, header + 60),
        header,
        6,
      ],
      ['for a newer log', '.log', resealed, 'format version 2', 6],
      ['for a newer snapshot', '.snapshot', resealed, 'format version 2', 6],
    ] as const)(
      '%s reports the file and the reason, and changes nothing on disk',
      async (_name, ending, change, told, code) => {
        const environment = await killed();
        const name = await write(ending, change);
        const before = await look();
        const refusal = await refusalOf(startServiceUnderTest(environment));
        expect(refusal.exitCode).toBe(code);
        expect(refusal.message).toContain(join(at('left'), name));
        expect(refusal.message).toContain(typeof told === 'number' ? `offset ${told}` : told);
        expect(await look()).toEqual(before);
      },
    );

    it.each(['another key', 'no key of its kind'])(
      'for %s reports it, and changes nothing on disk',
      async (which) => {
        const environment = await killed();
        const before = await look();
        const otherKey = 'cd'.repeat(32);
        const given = which === 'another key' || encryptionKey === undefined ? otherKey : undefined;
        const refusal = await refusalOf(startServiceUnderTest({ ...environment, ENCRYPTION_KEY: given }));
        expect([refusal.exitCode, refusal.message]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY')]);
        expect(await look()).toEqual(before);
      },
    );
  });

  it('that does not exist is neither created nor treated as empty', async () => {
    for (const name of ['verify', 'repair', 'encrypt'] as const)
      await refusalOf(run(name, { STORAGE_DIR: at('nowhere'), ENCRYPTION_KEY: key }));
    expect(await readdir(folder)).toEqual([]);
  });
});

it('no key appears in logs, output or errors', async () => {
  const environment = { STORAGE_DIR: at('data'), ENCRYPTION_KEY: key };
  const service = await startServiceUnderTest({ ...environment, LOG_LEVEL: 'DEBUG' });
  await service.call('POST', '/admin/snapshot');
  await service.call('GET', '/metrics');
  await service.close();
  const texts = [JSON.stringify(service.logged)];
  const other = 'cd'.repeat(32);
  for (const each of [undefined, other]) {
    const refusal = await refusalOf(startServiceUnderTest({ ...environment, ENCRYPTION_KEY: each }));
    texts.push(refusal.message, String(refusal.stack), JSON.stringify(refusal.cause));
  }
  for (const text of texts) for (const secret of [key, other]) expect(text).not.toContain(secret);
});
