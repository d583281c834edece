import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSession, refusal, type Session } from '../testing/engine-fixtures.ts';
import { lockFolder } from './lock.ts';

/** A storage folder that is moved, removed or replaced under the running engine: contract section 16. */

async function opened() {
  const parent = await mkdtemp(join(tmpdir(), 'corollary-moved-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const [folder, elsewhere] = [join(parent, 'data'), join(parent, 'elsewhere')];
  const warnings: string[] = [];
  const session = await openSession({ storageDir: folder, onWarn: (text) => warnings.push(text) });
  await session.tell('p(before)');
  return { session, folder, elsewhere, warnings };
}

async function refused(session: Session): Promise<void> {
  const error = await refusal(session.tell('p(refused)'));
  expect(error.code).toBe('StorageUnavailable');
  expect(error.message).toMatch(/moved, removed or replaced .* move it back, or restart/);
  expect(session.engine.storage()).toBe('failed');
  // Reads go on.
  expect(await session.results('p(?x)')).toEqual(['p(before)']);
}

function until(session: Session, status: 'ready' | 'failed'): Promise<void> {
  return vi.waitFor(() => expect(session.engine.storage()).toBe(status), { timeout: 60_000, interval: 20 });
}

test('a moved folder stops writes and readiness until it is moved back, and nothing is lost or added', async () => {
  const { session, folder, elsewhere, warnings } = await opened();
  await rename(folder, elsewhere);
  await until(session, 'failed');
  await refused(session);
  await rename(elsewhere, folder);
  await until(session, 'ready');
  await session.tell('p(after)');
  await session.engine.close();
  expect(warnings.map((text) => text.replace(/:.*/s, ''))).toEqual([
    'Writes are refused',
    'Writes work again.',
  ]);
  const again = await openSession({ storageDir: folder });
  expect(await again.results('p(?x)')).toEqual(['p(after)', 'p(before)']);
});

test('the first write after the move is refused, whether or not anything was noticed before', async () => {
  const { session, folder, elsewhere } = await opened();
  await rename(folder, elsewhere);
  await refused(session);
});

test('a removed folder stops writes for good, and nothing is created at its place', async () => {
  const { session, folder } = await opened();
  await rm(folder, { recursive: true });
  await refused(session);
  expect((await refusal(session.engine.snapshot())).code).toBe('StorageUnavailable');
  await mkdir(folder);
  await refused(session);
  expect((await refusal(session.engine.snapshot())).code).toBe('StorageUnavailable');
  await session.engine.close();
  expect(await readdir(folder)).toEqual([]);
});

test('a copy in the place of the folder is not taken for it', async () => {
  const { session, folder, elsewhere } = await opened();
  await rename(folder, elsewhere);
  await cp(elsewhere, folder, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await refused(session);
  await session.engine.close();
  // What was there stays as it was.
  expect(await readdir(folder)).toEqual((await readdir(elsewhere)).filter((name) => !name.endsWith('.sock')));
});

test('a folder that comes back without a file of the log stays refused', async () => {
  const { session, folder, elsewhere } = await opened();
  await session.engine.snapshot();
  await session.tell('p(second)');
  await rename(folder, elsewhere);
  await until(session, 'failed');
  for (const name of await readdir(elsewhere))
    if (name.endsWith('.snapshot')) await rm(join(elsewhere, name));
  await rename(elsewhere, folder);
  expect((await refusal(session.tell('p(refused)'))).code).toBe('StorageUnavailable');
});

test('a moved folder keeps its lock', async () => {
  const { folder, elsewhere } = await opened();
  await rename(folder, elsewhere);
  const options = { now: () => 0, onWarn: (message: string) => expect.unreachable(message) };
  await expect(lockFolder(elsewhere, options)).rejects.toThrow(`in use by process ${process.pid}`);
});
