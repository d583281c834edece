import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { openEngine } from '../open-engine.ts';
import { startTime } from '../testing/engine-fixtures.ts';
import {
  playStoredFolder,
  storedFolderFiles,
  storedFolderKey,
  toldOfStoredFolder,
} from '../testing/stored-folder.ts';

async function told(storageDir: string, encryptionKey: string | null): Promise<unknown> {
  const engine = await openEngine({ storageDir, encryptionKey, clock: new ManualClock(startTime + 60_000) });
  onTestFinished(() => engine.close(0));
  return toldOfStoredFolder(engine);
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-stored-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it.each([
  ['plain', null],
  ['encrypted', storedFolderKey],
] as const)('opens the stored %s folder and returns the answers recorded then', async (name, key) => {
  const kept = await emptyFolder();
  const files = await storedFolderFiles(name);
  expect([...files.keys()].map((file) => file.replace(/^\d+/, ''))).toEqual(['.log', '.snapshot']);
  for (const [file, bytes] of files) await writeFile(join(kept, file), bytes);
  const answer = await told(kept, key);
  expect(answer).toMatchObject({
    facts: [
      { id: 'f1-0', args: ['alice', 'bob'], metadata: { source: 'the register' }, createdAt: startTime },
      { id: 'f7-0', args: ['dora', 'emil'], createdAt: startTime + 1000 },
      { id: 'f10-0', args: ['bob', 'fred'] },
      { id: 'f3-0', predicate: 'parent', args: ['carol', 'bob'], truthVal: false, scope: 'plan' },
      { id: 'f1-0', predicate: 'other', args: ['database'] },
    ],
    rules: [{ id: 'r4', name: 'base' }, { id: 'r8' }],
    keys: [{ role: 'reader', tenants: ['tenant'], hash: 'ab'.repeat(32) }],
    repeated: { status: 'asserted', id: 'f7-0', generation: 7 },
    position: 14,
    next: { id: 'f11-0', generation: 11 },
  });
  // The same run, written by this version, gives the same answers.
  const fresh = await emptyFolder();
  await playStoredFolder(fresh, key);
  expect(await told(fresh, key)).toEqual(answer);
});
