import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleProgram, startProgram, type Child } from '../testing/child-program.ts';
import { lockFolder, pipeName } from './lock.ts';
import type { FolderLock } from './lock-file.ts';
import { StartupError } from './startup-error.ts';

let program = '';
let folder = '';
let children: Child[] = [];
let locks: FolderLock[] = [];

beforeAll(async () => {
  program = await bundleProgram(new URL('../testing/hold-folder.ts', import.meta.url));
});
afterAll(async () => {
  await rm(join(program, '..'), { recursive: true, force: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-lock-'));
  children = [];
  locks = [];
});
afterEach(async () => {
  await Promise.all(children.filter(alive).map((child) => child.kill('SIGKILL')));
  await Promise.all(locks.map((lock) => lock.release()));
  await rm(folder, { recursive: true, force: true });
});

function alive(child: Child): boolean {
  return child.process.exitCode === null && child.process.signalCode === null;
}

function start(address = ''): Child {
  const child = startProgram(program, [folder, address]);
  children.push(child);
  return child;
}

async function take(path = folder): Promise<FolderLock> {
  const lock = await lockFolder(path, { now: () => 5, onWarn: (message) => expect.unreachable(message) });
  locks.push(lock);
  return lock;
}

describe('a folder', () => {
  it("is held by one process: a second learns which, and its service's address", async () => {
    const holder = start('http://127.0.0.1:9300');
    expect(await holder.nextLine()).toBe('held');
    const refusal = await take().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartupError);
    expect((refusal as StartupError).message).toBe(
      `The storage folder ${folder} is in use by process ${holder.process.pid} at http://127.0.0.1:9300. ` +
        'Stop that process, or choose another STORAGE_DIR.',
    );
    expect(JSON.parse(await readFile(join(folder, 'lock.json'), 'utf8'))).toMatchObject({
      pid: holder.process.pid,
      address: 'http://127.0.0.1:9300',
    });
  });

  it('is free at once after its holder was killed, however often', async () => {
    for (let round = 0; round < 3; round++) {
      const holder = start();
      expect(await holder.nextLine()).toBe('held');
      await holder.kill('SIGKILL');
    }
    await take();
    expect(JSON.parse(await readFile(join(folder, 'lock.json'), 'utf8'))).toMatchObject({
      pid: process.pid,
      startedAt: 5,
      address: null,
    });
  });

  it('is free after its holder released it, and only lock.json is left', async () => {
    const holder = start();
    expect(await holder.nextLine()).toBe('held');
    await holder.kill('SIGTERM');
    await (await take()).release();
    await (await take()).release();
    expect(await readdir(folder)).toEqual(['lock.json']);
    expect(JSON.parse(await readFile(join(folder, 'lock.json'), 'utf8'))).toMatchObject({ pid: null });
  });

  it('stays held by a stopped process that does not answer', async () => {
    const holder = start('http://127.0.0.1:1234');
    expect(await holder.nextLine()).toBe('held');
    holder.process.kill('SIGSTOP');
    await expect(take()).rejects.toThrow(`process ${holder.process.pid} at http://127.0.0.1:1234`);
    holder.process.kill('SIGCONT');
  });

  it('goes to exactly one of many that start at once, fresh or after a holder that was killed', async () => {
    for (let round = 0; round < 3; round++) {
      const contenders = Array.from({ length: 5 }, () => start());
      const lines = await Promise.all(contenders.map((child) => child.nextLine()));
      expect(lines.filter((line) => line === 'held')).toHaveLength(1);
      expect(lines.filter((line) => line?.startsWith('refused: ') === true)).toHaveLength(4);
      await contenders[lines.indexOf('held')]?.kill('SIGKILL');
    }
  });

  it('goes to exactly one of many inside one process too', async () => {
    for (let round = 0; round < 20; round++) {
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => take()));
      const held = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(held).toHaveLength(1);
      await held[0]?.release();
    }
  });

  it('never has two holders while many take and release it', async () => {
    let holders = 0;
    let turns = 0;
    const contend = async (): Promise<void> => {
      for (let round = 0; round < 40; round++) {
        const lock = await take().catch((error: unknown) => {
          expect(error).toBeInstanceOf(StartupError);
          return null;
        });
        if (lock === null) continue;
        turns++;
        expect(++holders).toBe(1);
        if (round % 2 === 0) await lock.announce(`http://127.0.0.1:${round}`);
        holders--;
        await lock.release();
      }
    };
    await Promise.all(Array.from({ length: 6 }, contend));
    expect(turns).toBeGreaterThan(0);
    expect(await readdir(folder)).toEqual(['lock.json']);
  });

  it('is the same folder by another path', async () => {
    await take();
    const link = join(folder, 'link');
    await symlink(folder, link);
    await expect(take(link)).rejects.toThrow(`in use by process ${process.pid}`);
  });

  it("may have a path longer than a socket's maximum", async () => {
    const deep = join(folder, 'a'.repeat(120), 'b'.repeat(120));
    await mkdir(deep, { recursive: true });
    const lock = await take(deep);
    await expect(take(deep)).rejects.toThrow(`in use by process ${process.pid}`);
    await lock.release();
    await take(deep);
  });

  it('whose lock.json is empty or nonsense, as a power cut may leave it, can be taken', async () => {
    for (const text of ['', '{', '7', '{"next":-3}', '{"next":"x","pid":"y"}']) {
      await writeFile(join(folder, 'lock.json'), text);
      await (await take()).release();
    }
  });

  it('can be taken despite leftovers of every kind, which are removed', async () => {
    const holder = start();
    expect(await holder.nextLine()).toBe('held');
    await holder.kill('SIGKILL');
    await writeFile(join(folder, 'lock-2.sock'), 'no socket');
    await writeFile(join(folder, 'lock-0123456789ab.tmp'), '');
    await take();
    expect((await readdir(folder)).toSorted()).toEqual(['lock-3.sock', 'lock.json']);
  });

  it('that does not exist, or is not a folder, is refused with the reason', async () => {
    await expect(take(join(folder, 'missing'))).rejects.toThrow('cannot be locked: ENOENT');
    await writeFile(join(folder, 'file'), '');
    await expect(take(join(folder, 'file'))).rejects.toThrow(StartupError);
  });
});

describe('the address of a holder', () => {
  it('is reported once announced, and no longer after the release', async () => {
    const lock = await take();
    await expect(take()).rejects.toThrow(/in use by process \d+\. /);
    await lock.announce('http://127.0.0.1:1');
    await expect(take()).rejects.toThrow('at http://127.0.0.1:1.');
    await lock.release();
    await lock.announce('http://127.0.0.1:2');
    expect(JSON.parse(await readFile(join(folder, 'lock.json'), 'utf8'))).toMatchObject({ address: null });
  });
});

describe('the named pipe of a folder on Windows', () => {
  it('is one name for all spellings of a path, and another for another folder', () => {
    expect(pipeName('C:\\Data\\KB')).toBe(pipeName('c:\\data\\kb'));
    expect(pipeName('C:\\Data\\KB')).not.toBe(pipeName('C:\\Data\\KB2'));
    expect(pipeName('C:\\Data\\KB')).toMatch(/^\\\\\.\\pipe\\corollary-[0-9a-f]{16}$/);
  });
});
