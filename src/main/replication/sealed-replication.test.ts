import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StorageState } from '../../engine/contract/administration.ts';
import type { ReplicationStatus } from '../../engine/contract/replication.ts';
import { type Environment, parseConfig } from '../base/config.ts';
import { runFolderCommand } from '../command-line/folder-commands.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Cases that exist only if folders are encrypted, restored or converted, and are followed. */
const keys = { one: 'ab'.repeat(32), other: 'cd'.repeat(32) };
let folder: string;
let running: ServiceUnderTest[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sealed-replication-'));
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((service) => service.close()));
  await rm(folder, { recursive: true, force: true });
});

function at(name: string, key: string | null): Environment {
  return { STORAGE_DIR: join(folder, name), ...(key === null ? {} : { ENCRYPTION_KEY: key }) };
}

function following(leader: ServiceUnderTest): Environment {
  return {
    REPLICATION_MODE: 'FOLLOWER',
    LEADER_URL: leader.address,
    REPLICATION_POLL_INTERVAL_MS: '20',
  };
}

async function start(environment: Environment): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest(environment);
  running.push(service);
  return service;
}

async function again(service: ServiceUnderTest, environment: Environment): Promise<ServiceUnderTest> {
  await service.close();
  running = running.filter((each) => each !== service);
  return start(environment);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function caughtUp(leader: ServiceUnderTest, one: ServiceUnderTest): Promise<void> {
  const place = (): unknown => leader.engine.position();
  await until(async () => JSON.stringify(one.engine.position()) === JSON.stringify(place()));
  await until(async () => (await one.call('GET', '/health/ready')).status === 200);
}

function tell(service: ServiceUnderTest, name: string): Promise<unknown> {
  return service.call('POST', '/tell', { predicate: 'secret', args: [name] });
}

async function idsOf(service: ServiceUnderTest): Promise<unknown> {
  const { body } = await service.call<{ facts: { id: string; args: string[] }[] }>('GET', '/facts');
  return body.facts.map(({ id, args }) => [id, ...args]);
}

async function stateOf(service: ServiceUnderTest): Promise<StorageState> {
  return (await service.call<StorageState>('GET', '/admin/storage')).body;
}

/** True if the bytes of some file of the folder contain this word. */
async function isReadable(name: string, word: string): Promise<boolean> {
  const files = (await readdir(join(folder, name))).filter((file) => !file.startsWith('lock'));
  const contents = await Promise.all(files.map((file) => readFile(join(folder, name, file))));
  return contents.some((bytes) => bytes.includes(word));
}

describe.each([
  ['with a key, whose leader has another,', keys.one, keys.other],
  ['with a key, whose leader has none,', keys.one, null],
  ['without a key, whose leader has one,', null, keys.other],
])('a follower %s', (_, mine, leaders) => {
  it('stores what it receives as its own folder is stored, by snapshot and by log, over restarts', async () => {
    const leader = await start(at('leader', leaders));
    await tell(leader, 'insnapshot');
    let one = await start({ ...at('follower', mine), ...following(leader) });
    await caughtUp(leader, one);
    await tell(leader, 'inlog');
    await caughtUp(leader, one);
    expect(await idsOf(one)).toEqual(await idsOf(leader));
    expect(await stateOf(one)).toMatchObject({ encrypted: mine !== null });
    expect(await isReadable('leader', 'inlog')).toBe(leaders === null);
    for (const word of ['insnapshot', 'inlog'])
      expect(await isReadable('follower', word)).toBe(mine === null);

    one = await again(one, { ...at('follower', mine), ...following(leader) });
    await tell(leader, 'later');
    await caughtUp(leader, one);
    expect(await idsOf(one)).toEqual(await idsOf(leader));
    await one.close();
    running = running.filter((each) => each !== one);
    await expect(start({ ...at('follower', leaders), ...following(leader) })).rejects.toThrow(
      'ENCRYPTION_KEY',
    );
  });
});

describe('a follower that is started as a leader', () => {
  it('names the history that it followed if a snapshot covers its log, even with another key', async () => {
    const leader = await start(at('leader', null));
    await tell(leader, 'a');
    const one = await start({ ...at('follower', keys.one), ...following(leader) });
    await caughtUp(leader, one);
    const parent = { historyId: (await stateOf(leader)).historyId, position: 2 };
    let promoted = await again(one, at('follower', keys.one));
    expect(await stateOf(promoted)).toMatchObject({ parent });
    await tell(promoted, 'b');
    const { historyId } = await stateOf(promoted);
    await promoted.call('POST', '/admin/snapshot');
    promoted = await again(promoted, at('follower', keys.one));
    expect(await stateOf(promoted)).toMatchObject({ historyId, parent });
    await promoted.close();
    running = running.filter((each) => each !== promoted);
    const config = parseConfig({ ...at('follower', keys.one), NEW_ENCRYPTION_KEY: keys.other });
    await runFolderCommand('rekey', config, '', () => {});
    promoted = await start(at('follower', keys.other));
    expect(await stateOf(promoted)).toMatchObject({ historyId, parent, encrypted: true });
    expect((await promoted.call<ReplicationStatus>('GET', '/replication/status')).body.epoch).toBe(2);
  });

  it('tells its own followers where it branched off, and they then refuse the leader that it replaced', async () => {
    const leader = await start(at('leader', null));
    await tell(leader, 'a');
    const one = await start({ ...at('follower', null), ...following(leader) });
    await caughtUp(leader, one);
    const promoted = await again(one, at('follower', null));
    await tell(promoted, 'b');
    const second = await start({ ...at('second', keys.one), ...following(promoted) });
    await caughtUp(promoted, second);
    expect((await stateOf(second)).parent).toEqual((await stateOf(promoted)).parent);
    const back = await again(second, { ...at('second', keys.one), ...following(leader) });
    await until(
      async () => (await back.call<ReplicationStatus>('GET', '/replication/status')).body.state === 'refused',
    );
    expect(await isReadable('second', 'secret')).toBe(false);
    expect((await stateOf(back)).position).toBe(3);
  });
});

describe('a backup', () => {
  it('restored as the leader makes followers start over from a snapshot, with one warning', async () => {
    const leader = await start(at('leader', keys.one));
    await tell(leader, 'kept');
    const one = await start({ ...at('follower', keys.other), ...following(leader) });
    await caughtUp(leader, one);
    const backup = await fetch(`${leader.address}/admin/backup`, { method: 'POST' });
    await writeFile(join(folder, 'file'), new Uint8Array(await backup.arrayBuffer()));
    await tell(leader, 'lost');
    await caughtUp(leader, one);
    const there = at('restored', keys.one);
    await runFolderCommand('restore', parseConfig(there), join(folder, 'file'), () => {});
    const restored = await again(leader, { ...there, PORT: String(leader.port) });
    await tell(restored, 'new');
    await caughtUp(restored, one);
    expect(await idsOf(one)).toEqual(await idsOf(restored));
    const { historyId, parent } = await stateOf(restored);
    expect(await stateOf(one)).toMatchObject({ historyId, parent, encrypted: true });
    const warned = one.logged.filter(({ level }) => level === 'WARN').map(({ msg }) => msg);
    expect(warned).toEqual([expect.stringContaining(`another history (${historyId})`)]);
  });

  it('of a follower belongs to the history that it follows, and is restored as a leader', async () => {
    const leader = await start(at('leader', null));
    await tell(leader, 'a');
    const one = await start({ ...at('follower', keys.one), ...following(leader) });
    await caughtUp(leader, one);
    const backup = await fetch(`${one.address}/admin/backup`, { method: 'POST' });
    await writeFile(join(folder, 'file'), new Uint8Array(await backup.arrayBuffer()));
    const there = at('restored', keys.one);
    await runFolderCommand('restore', parseConfig(there), join(folder, 'file'), () => {});
    const restored = await start(there);
    expect(await idsOf(restored)).toEqual(await idsOf(leader));
    const { historyId, position } = await stateOf(leader);
    expect((await stateOf(restored)).parent).toEqual({ historyId, position });
  });
});

describe('a folder that was repaired', () => {
  it('of a follower resumes from a snapshot of the leader', async () => {
    const leader = await start(at('leader', null));
    await tell(leader, 'a');
    const environment = { ...at('follower', keys.one), ...following(leader) };
    const one = await start(environment);
    await caughtUp(leader, one);
    for (const name of ['b', 'c', 'd']) {
      await tell(leader, name);
      await caughtUp(leader, one);
    }
    // The state after a kill: the log, and the snapshot that was received.
    const left = new Map<string, Buffer>();
    const names = (await readdir(join(folder, 'follower'))).filter((file) => !file.startsWith('lock'));
    for (const name of names) left.set(name, await readFile(join(folder, 'follower', name)));
    await one.close();
    running = running.filter((each) => each !== one);
    await rm(join(folder, 'follower'), { recursive: true });
    await mkdir(join(folder, 'follower'));
    const log = [...left.keys()].filter((name) => name.endsWith('.log')).sort()[0] ?? '';
    const bytes = left.get(log) ?? Buffer.alloc(0);
    bytes[192 + 60] = (bytes[192 + 60] ?? 0) ^ 1;
    for (const [name, content] of left) await writeFile(join(folder, 'follower', name), content);
    await expect(start(environment)).rejects.toThrow(log);
    const report = await runFolderCommand('repair', parseConfig(environment), '', () => {});
    expect(report.exitCode).toBe(0);
    const mended = await start(environment);
    await caughtUp(leader, mended);
    expect(await idsOf(mended)).toEqual(await idsOf(leader));
  });
});
