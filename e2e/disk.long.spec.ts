/**
 * Full and failing disks, and killed processes, from an operator's side: over HTTP and at the command line. Parts that
 * the machine does not permit are skipped explicitly.
 */
import { expect, test } from '@playwright/test';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readiness } from '../src/engine/contract/administration.ts';
import type { Answer } from '../src/engine/contract/inference.ts';
import { ServiceProcess } from './service.ts';

const mounts =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', '/mnt']).status === 0;
const traces = spawnSync('strace', ['-D', '-e', 'inject=fdatasync:error=EIO:when=99', 'true']).status === 0;
const oldKey = 'ab'.repeat(32);
const newKey = 'cd'.repeat(32);

interface Answered<Body> {
  readonly status: number;
  readonly body: Body;
}

async function call<Body = { code: string; detail: string }>(
  { url }: ServiceProcess,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered<Body>> {
  const response = await fetch(url + path, {
    method,
    headers: {
      'x-tenant-id': 'default',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, body: (isJson ? JSON.parse(text) : text) as Body };
}

const long = 'x'.repeat(1000);
const facts = (predicate: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ predicate, args: [n, long] }));

async function counted(service: ServiceProcess, predicate: string): Promise<number> {
  const { status, body } = await call<Answer>(service, 'POST', '/ask', { predicate, args: ['?n', '?x'] });
  expect(status).toBe(200);
  return body.count;
}

/** The service on its own disk of 1 MiB, which a test can fill and empty. */
class SmallDisk {
  readonly service = new ServiceProcess();
  #keeper: ReturnType<typeof spawn> | null = null;

  /** Creates the disk, which exists as long as an otherwise idle process. */
  async make(): Promise<void> {
    mkdirSync(this.service.storageDir, { recursive: true });
    const script = 'mount -t tmpfs -o size=1m none "$1" && echo made && exec sleep 600';
    const keeper = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', this.service.storageDir]);
    this.#keeper = keeper;
    await once(keeper.stdout, 'data');
    this.service.prefix = ['nsenter', '-t', String(keeper.pid), '-U', '-m', '--preserve-credentials'];
  }

  /** The folder as seen on that disk. */
  get folder(): string {
    return `/proc/${this.#keeper?.pid}/root${this.service.storageDir}`;
  }

  get names(): string[] {
    return readdirSync(this.folder).filter((name) => !/^lock|^filler/.test(name));
  }

  fill(): void {
    const filled = spawnSync('dd', ['if=/dev/zero', `of=${join(this.folder, 'filler')}`, 'bs=1k']);
    expect(String(filled.stderr)).toContain('No space left');
  }

  empty(): void {
    rmSync(join(this.folder, 'filler'), { force: true });
  }

  async dispose(): Promise<void> {
    await this.service.dispose();
    this.#keeper?.kill('SIGKILL');
  }
}

test.describe('a full disk', () => {
  test.skip(!mounts, 'this machine does not allow mounting a file system');

  test('answers writes with 507 and stores none in part, continues reads, and accepts writes within 5 s of space returning', async () => {
    const disk = new SmallDisk();
    const { service } = disk;
    try {
      await disk.make();
      await service.start();
      expect((await call(service, 'POST', '/assert/facts', facts('kept', 20))).status).toBe(200);
      const { id } = (await call<{ id: string }>(service, 'POST', '/tx/begin')).body;
      const within = { 'x-transaction-id': id };
      expect((await call(service, 'POST', '/assert/facts', facts('committed', 30), within)).status).toBe(200);
      disk.fill();
      for (const [path, body] of [
        ['/assert/facts', facts('refused', 30)],
        [`/tx/commit/${id}`, undefined],
        ['/tell', { predicate: 'refused', args: ['one', long.repeat(8)] }],
        ['/admin/snapshot', undefined],
        ['/admin/backup', undefined],
      ] as const)
        expect(await call(service, 'POST', path, body), path).toMatchObject({
          status: 507,
          body: { code: 'StorageUnavailable' },
        });
      expect(await counted(service, 'kept')).toBe(20);
      expect(await counted(service, 'refused')).toBe(0);
      expect(await counted(service, 'committed')).toBe(0);
      const ready = () => call<Readiness>(service, 'GET', '/health/ready');
      expect(await ready()).toMatchObject({ status: 503, body: { subsystems: { storage: 'failed' } } });
      expect(disk.names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
      disk.empty();
      await expect.poll(async () => (await ready()).status).toBe(200);
      expect((await call(service, 'POST', `/tx/commit/${id}`)).status).toBe(200);
      await service.kill();
      await service.start();
      expect(await counted(service, 'kept')).toBe(20);
      expect(await counted(service, 'refused')).toBe(0);
      expect(await counted(service, 'committed')).toBe(30);
      disk.fill();
      expect(await service.stop()).toBe(0);
      await service.start();
      expect(await counted(service, 'committed')).toBe(30);
    } finally {
      await disk.dispose();
    }
  });

  test('refuses a command on the folder with an explanation, leaves it unchanged, and accepts it once there is space', async () => {
    const disk = new SmallDisk();
    const { service } = disk;
    const backup = join(service.folder, 'kept.backup');
    try {
      await disk.make();
      await service.start();
      await call(service, 'POST', '/assert/facts', facts('kept', 100));
      const response = await fetch(`${service.url}/admin/backup`, { method: 'POST' });
      writeFileSync(backup, new Uint8Array(await response.arrayBuffer()));
      await service.kill();
      const before = disk.names;
      for (const [words, keys] of [
        [['--encrypt'], { ENCRYPTION_KEY: oldKey }],
        [['--rekey'], { ENCRYPTION_KEY: oldKey, NEW_ENCRYPTION_KEY: newKey }],
        [['--decrypt'], { ENCRYPTION_KEY: newKey }],
      ] as const) {
        const names = disk.names;
        disk.fill();
        const { code, stderr } = await service.run(words, '', keys);
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: expect.stringContaining('Make room on its disk'),
        });
        expect(stderr).not.toMatch(/\n\s+at /);
        expect(disk.names).toEqual(names);
        disk.empty();
        expect(await service.run(words, '', keys)).toMatchObject({ code: 0 });
      }
      expect(before.length).toBeGreaterThan(0);
      await service.start();
      expect(await counted(service, 'kept')).toBe(100);
      await service.kill();
      for (const name of disk.names) rmSync(join(disk.folder, name));
      disk.fill();
      expect(await service.run(['--restore', backup])).toMatchObject({ code: 1 });
      expect(disk.names).toEqual([]);
      const refused = await service.run(['serve']);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('Make room on the disk');
      disk.empty();
      expect(await service.run(['--restore', backup])).toMatchObject({ code: 0 });
      await service.start();
      expect(await counted(service, 'kept')).toBe(100);
    } finally {
      await disk.dispose();
    }
  });
});

for (const error of ['EIO', 'ENOSPC'])
  test(`nothing is written after a sync that failed with ${error} until a restart, and everything acknowledged is kept`, async () => {
    test.skip(!traces, 'strace is not installed, or may not trace');
    const service = new ServiceProcess();
    try {
      const inject = `inject=fdatasync:error=${error}:when=8`;
      service.prefix = [
        'strace',
        '-D',
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        'trace=fdatasync',
        '-e',
        inject,
      ];
      await service.start();
      let answered = 0;
      let refused = await call(service, 'POST', '/tell', { predicate: 'kept', args: [answered, long] });
      for (; refused.status === 200; answered++)
        refused = await call(service, 'POST', '/tell', { predicate: 'kept', args: [answered + 1, long] });
      for (let again = 0; again < 2; again++) {
        expect(refused).toMatchObject({ status: 507, body: { code: 'StorageUnavailable' } });
        expect(refused.body.detail).toContain('restart');
        refused = await call(service, 'POST', '/tell', { predicate: 'never', args: [again, long] });
      }
      expect(await counted(service, 'kept')).toBe(answered);
      expect(await call(service, 'GET', '/health/ready')).toMatchObject({
        status: 503,
        body: { status: 'not_ready', subsystems: { storage: 'failed' } },
      });
      await service.stop();
      service.prefix = [];
      await service.start();
      // The outcome of the write whose sync failed is unknown.
      expect([answered, answered + 1]).toContain(await counted(service, 'kept'));
      expect(await counted(service, 'never')).toBe(0);
      expect((await call(service, 'POST', '/tell', { predicate: 'never', args: [0, long] })).status).toBe(
        200,
      );
    } finally {
      await service.dispose();
    }
  });

test('a command on the folder that is killed loses nothing, and completes when it is run again', async () => {
  const service = new ServiceProcess();
  const kept = join(service.folder, 'as-it-was');
  const backup = join(service.folder, 'kept.backup');
  const files = (folder: string) => readdirSync(folder).filter((name) => !name.startsWith('lock'));
  const lay = (): void => {
    rmSync(service.storageDir, { recursive: true });
    mkdirSync(service.storageDir);
    for (const name of files(kept)) copyFileSync(join(kept, name), join(service.storageDir, name));
  };
  /** Kills the command that many milliseconds after its file appears; returns true if it still ran. */
  const killed = async (words: readonly string[], environment: Record<string, string>, after: number) => {
    const running = service.begin(words, environment);
    const ended = once(running, 'exit');
    const isBegun = () => files(service.storageDir).some((name) => name.endsWith('.tmp'));
    while (!isBegun() && running.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, after));
    running.kill('SIGKILL');
    await ended;
    return running.signalCode === 'SIGKILL';
  };
  try {
    await service.start();
    for (let batch = 0; batch < 6; batch++)
      await call(service, 'POST', '/assert/facts', facts(`batch${batch}`, 3000));
    const response = await fetch(`${service.url}/admin/backup`, { method: 'POST' });
    writeFileSync(backup, new Uint8Array(await response.arrayBuffer()));
    await call(service, 'POST', '/tell', { predicate: 'kept', args: [1, 'x'] });
    await service.kill();
    mkdirSync(kept);
    for (const name of files(service.storageDir))
      copyFileSync(join(service.storageDir, name), join(kept, name));
    let kills = 0;
    for (const after of [0, 3, 10, 30]) {
      lay();
      const encrypt = { ENCRYPTION_KEY: oldKey };
      if (await killed(['--encrypt'], encrypt, after)) kills++;
      expect([0, 2]).toContain((await service.run(['--verify'])).code);
      await service.run(['--encrypt'], '', encrypt);
      const rekey = { ENCRYPTION_KEY: oldKey, NEW_ENCRYPTION_KEY: newKey };
      if (await killed(['--rekey'], rekey, after)) kills++;
      await service.run(['--rekey'], '', rekey);
      expect((await service.run(['--verify'], '', { ENCRYPTION_KEY: newKey })).stdout).toContain(
        '18001 facts',
      );
      rmSync(service.storageDir, { recursive: true });
      mkdirSync(service.storageDir);
      if (await killed(['--restore', backup], {}, after)) kills++;
      await service.run(['--restore', backup]);
      expect((await service.run(['--verify'])).stdout).toContain('18000 facts');
    }
    expect(kills).toBeGreaterThan(4);
  } finally {
    await service.dispose();
  }
});
