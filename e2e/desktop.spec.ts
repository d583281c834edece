/**
 * The desktop app in the real Electron, where its binary and a display are to be had; elsewhere these tests are
 * skipped and say so, and what can be seen without Electron is tested by the built bundles.
 */
import { _electron as electron, type ElectronApplication, expect, test } from '@playwright/test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = { win32: 'electron.exe', darwin: 'Electron.app/Contents/MacOS/Electron' } as const;

/** The binary that is there; nothing is fetched for a test. */
function electronBinary(): string | null {
  const installed = join(root, 'node_modules', 'electron');
  const folder = process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(installed, 'dist');
  const named = join(installed, 'path.txt');
  const usual =
    process.platform === 'win32' || process.platform === 'darwin' ? names[process.platform] : 'electron';
  const binary = join(folder, existsSync(named) ? readFileSync(named, 'utf8').trim() : usual);
  return existsSync(binary) ? binary : null;
}

const binary = electronBinary();
const hasDisplay =
  process.platform !== 'linux' ||
  process.env['DISPLAY'] !== undefined ||
  process.env['WAYLAND_DISPLAY'] !== undefined;
const missing =
  binary === null ? 'no Electron binary on this machine' : hasDisplay ? null : 'no display for Electron';
// The reporter shows a skipped test without its reason.
if (missing !== null) process.stdout.write(`Tests in the real Electron are skipped: ${missing}.\n`);
test.skip(missing !== null, missing ?? '');

let folder: string;
let app: ElectronApplication;

test.beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-desktop-'));
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  app = await electron.launch({
    executablePath: binary ?? '',
    args: [root, `--user-data-dir=${folder}`, ...(process.platform === 'linux' ? ['--no-sandbox'] : [])],
    env: { ...inherited, PORT: '0', COROLLARY_ENDPOINT_FILE: join(folder, 'endpoint.json') },
  });
});

test.afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the window shows the workbench of its own service, and its page has no power', async () => {
  const page = await app.firstWindow();
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\//);
  await expect(page).toHaveTitle(/Corollary/);
  const health = await page.evaluate(async () => (await fetch('/health')).json() as Promise<unknown>);
  expect(health).toMatchObject({ status: 'ok' });
  expect(await page.evaluate(() => 'require' in globalThis || 'process' in globalThis)).toBe(false);
});

test('the page can ask the shell what its table offers', async () => {
  const page = await app.firstWindow();
  const info = await page.evaluate(() =>
    (globalThis as unknown as { corollary: { info(): Promise<{ dataFolder: string }> } }).corollary.info(),
  );
  expect(info.dataFolder.startsWith(folder)).toBe(true);
});

test('the page can neither leave nor open another window', async () => {
  const page = await app.firstWindow();
  const own = page.url();
  await page.evaluate(() => {
    window.open('https://example.com/');
    window.location.href = 'https://example.com/';
  });
  await page.waitForTimeout(500);
  expect(page.url()).toBe(own);
  expect(app.windows()).toHaveLength(1);
});
