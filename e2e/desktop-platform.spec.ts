/**
 * What the desktop application does on the system that it runs on, in the real Electron: while a large folder opens,
 * while a keyring waits. Skipped with a note like e2e/desktop.spec.ts.
 */
import { type ElectronApplication, expect, type Page, test } from '@playwright/test';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Desktop, missing } from './desktop.ts';
import { fillWithFacts } from './many-facts.ts';

if (missing !== null) process.stdout.write(`Tests in the real Electron are skipped: ${missing}.\n`);
test.skip(missing !== null, missing ?? '');
// Serially: each test needs the display to itself.
test.describe.configure({ mode: 'default' });

let desktop: Desktop;
let app: ElectronApplication | null = null;
let million: string | null = null;

test.afterAll(() => {
  if (million !== null) rmSync(million, { recursive: true, force: true });
});
test.beforeEach(async () => {
  desktop = await Desktop.make();
});
test.afterEach(async () => {
  await app?.close();
  app = null;
  desktop.remove();
});

/** The folder with a million facts, as this installation's. */
async function largeFolder(): Promise<string> {
  if (million === null) {
    million = mkdtempSync(join(tmpdir(), 'corollary-million-'));
    await fillWithFacts(million, 1_000_000);
  }
  const folder = join(desktop.folder, 'million');
  cpSync(million, folder, { recursive: true });
  desktop.own(folder);
  return folder;
}

test('a million facts: the progress is seen before the workbench, and goes when that comes', async () => {
  app = await desktop.launch({ environment: { STORAGE_DIR: await largeFolder() } });
  const progress = await app.firstWindow();
  expect(progress.url()).toMatch(/^data:text\/html/);
  await expect(progress.getByRole('heading')).toHaveText('Opening Corollary…');
  await expect(progress.getByText(join(desktop.folder, 'million'))).toBeVisible();
  await expect(progress.getByRole('progressbar')).toBeVisible();
  await expect(progress.locator('#percent')).toHaveText(/^\d+%$/);
  const gone = progress.waitForEvent('close');
  // The service was not there yet when the progress was.
  const workbench = app.windows()[1] ?? (await app.waitForEvent('window'));
  await expect(workbench).toHaveURL(/^http:\/\/127\.0\.0\.1/);
  await gone;
  await expect(workbench.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  expect(app.windows()).toHaveLength(1);
  const count = await workbench.evaluate(async () => {
    const answer = await fetch('/facts?limit=1', { headers: { 'x-tenant-id': 'default' } });
    return ((await answer.json()) as { total: number }).total;
  });
  expect(count).toBe(1_000_000);
});

test('the progress can be left: the program ends, and the folder opens again', async () => {
  const folder = await largeFolder();
  app = await desktop.launch({ environment: { STORAGE_DIR: folder } });
  const progress = await app.firstWindow();
  const ended = new Promise((resolve) => app?.process().once('exit', resolve));
  // Playwright would wait for the answer of a page that is gone.
  void pressQuit(progress);
  await ended;
  app = await desktop.launch({ environment: { STORAGE_DIR: folder } });
  const again = await app.firstWindow();
  const workbench = again.url().startsWith('http') ? again : await app.waitForEvent('window');
  await expect(workbench.getByRole('navigation', { name: 'Tools' })).toBeVisible();
});

function pressQuit(page: Page): Promise<unknown> {
  return page
    .getByRole('button', { name: 'Quit' })
    .click()
    .catch((error: unknown) => error);
}

/** Titles of the windows on the display. */
function titles(): string {
  const { status, stdout } = spawnSync('wmctrl', ['-l'], { encoding: 'utf8' });
  return status === 0 ? stdout : '';
}

test('a keyring that waits is told of in a dialog, which goes when it answers', async () => {
  app = await desktop.launch({ environment: { COROLLARY_TEST_KEYRING: 'waits' } });
  test.skip(desktop.isPinned, 'the pinned Electron has a keyring of its own');
  const started = app;
  await expect
    .poll(() => started.evaluate(() => (globalThis as unknown as { isKeyringAsked?: true }).isKeyringAsked))
    .toBe(true);
  // The system's dialog is a window of the display, where there is a program that lists those.
  if (titles() !== '') await expect.poll(titles).toContain('Corollary');
  expect(app.windows()).toHaveLength(0);
  await app.evaluate(() => (globalThis as unknown as { unlockKeyring(): void }).unlockKeyring());
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
});
