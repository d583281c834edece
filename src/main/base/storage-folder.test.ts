import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../engine/index.ts';
import { commandLineFolder, holdsKnowledge, defaultFolder } from './storage-folder.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-folders-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function storeIn(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const engine = await openEngine({ storageDir: folder });
  await engine.close();
}

it('defaults to one folder for every program', () => {
  const base = temporaryFolder();
  const environment = { XDG_DATA_HOME: join(base, 'share'), XDG_CONFIG_HOME: join(base, 'config') };
  for (const program of ['desktop', 'service'] as const)
    expect(defaultFolder(program, environment, { platform: 'linux' })).toBe(join(base, 'share', 'corollary'));
  expect(defaultFolder('service', { XDG_DATA_HOME: 'relative' }, { platform: 'linux' })).toBe(
    join(homedir(), '.local/share/corollary'),
  );
  const windows = { LOCALAPPDATA: join(base, 'local'), APPDATA: join(base, 'roaming') };
  for (const program of ['desktop', 'service'] as const)
    expect(defaultFolder(program, windows, { platform: 'win32' })).toBe(join(base, 'local', 'Corollary'));
  const onMac = ['desktop', 'service'] as const;
  for (const program of onMac)
    expect(defaultFolder(program, {}, { platform: 'darwin', desktopFolder: join(base, 'mac', 'data') })).toBe(
      join(base, 'mac', 'data'),
    );
});

it('finds the folder of an earlier version of the desktop application', async () => {
  const base = temporaryFolder();
  const environment = { XDG_DATA_HOME: join(base, 'share'), XDG_CONFIG_HOME: join(base, 'config') };
  const older = join(base, 'config', 'Corollary', 'data');
  await storeIn(older);
  for (const program of ['desktop', 'service'] as const)
    expect(defaultFolder(program, environment, { platform: 'linux' })).toBe(older);
  const newer = join(base, 'share', 'corollary');
  await storeIn(newer);
  // Each program keeps using its old folder, so it shows the same knowledge base as the day before.
  expect(defaultFolder('desktop', environment, { platform: 'linux' })).toBe(older);
  expect(defaultFolder('service', environment, { platform: 'linux' })).toBe(newer);
});

it('uses ./data for the command line only if it contains a knowledge base', async () => {
  const base = temporaryFolder();
  const environment = { XDG_DATA_HOME: join(base, 'share'), XDG_CONFIG_HOME: join(base, 'config') };
  const before = process.cwd();
  process.chdir(base);
  onTestFinished(() => process.chdir(before));
  const usual = join(base, 'share', 'corollary');
  if (process.platform === 'linux') expect(commandLineFolder(environment)).toBe(usual);
  mkdirSync('data');
  writeFileSync(join('data', 'prices.csv'), 'somebody else keeps data here\n');
  expect(commandLineFolder(environment)).not.toBe('./data');
  await storeIn('data');
  expect(commandLineFolder(environment)).toBe('./data');
});

it('recognizes a folder of the engine by its files', async () => {
  const base = temporaryFolder();
  expect(holdsKnowledge(join(base, 'nowhere'))).toBe(false);
  expect(holdsKnowledge(base)).toBe(false);
  const folder = join(base, 'kept');
  await storeIn(folder);
  expect(holdsKnowledge(folder)).toBe(true);
  writeFileSync(join(base, 'a-file'), '');
  expect(holdsKnowledge(join(base, 'a-file'))).toBe(false);
});
