/**
 * Pictures of the desktop application as its user sees it, with frame, menu and dialogs of the system, for
 * docs/screenshots/desktop. `npm run pictures -- --desktop` takes them: DESKTOP_FRAMES is the folder into which the
 * virtual display writes what it shows.
 */
import { type ElectronApplication, expect, type Page, test } from '@playwright/test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packed, readDump, withoutMargins } from '../scripts/picture-file.mjs';
import { Desktop, missing } from './desktop.ts';
import { fillWithFacts } from './many-facts.ts';
import { root } from './root.ts';

test.skip(missing !== null, missing ?? '');
// Serially: each has the display to itself.
test.describe.configure({ mode: 'default', retries: 0 });

const frames = process.env['DESKTOP_FRAMES'] ?? '';
const pictures = join(root, 'docs/screenshots/desktop');

let desktop: Desktop;
let app: ElectronApplication;

test.beforeEach(async () => {
  desktop = await Desktop.make();
});
test.afterEach(async () => {
  await app.close();
  desktop.remove();
});

/** Milliseconds after which a busy machine has painted what is there. A blinking caret never comes to rest. */
const paintMs = 3_000;

async function takePicture(name: string): Promise<void> {
  await pause(paintMs);
  savePicture(name);
}

function savePicture(name: string): void {
  mkdirSync(pictures, { recursive: true });
  writeFileSync(
    join(pictures, `${name}.png`),
    packed(withoutMargins(readDump(readFileSync(join(frames, 'Xvfb_screen0'))))),
  );
}

/** Opens the application with the sample of a family in a window of the pictures' size. */
async function openFamily(): Promise<Page> {
  app = await desktop.launch();
  const page = await app.firstWindow();
  await page.getByRole('button', { name: 'Open the sample A family' }).click();
  await expect(page.getByRole('heading', { name: 'A family is open' })).toBeVisible();
  await app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]?.setBounds({ x: 100, y: 100, width: 1180, height: 760 }),
  );
  await page
    .getByRole('button', { name: 'Leave the tour' })
    .click({ timeout: 2_000 })
    .catch(() => undefined);
  return page;
}

async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, place);
}

/** Opens a menu as Alt and its letter do. */
async function openMenu(letter: string): Promise<void> {
  await app.evaluate(({ BrowserWindow }, keyCode) => {
    const { webContents } = BrowserWindow.getAllWindows()[0] ?? {};
    for (const type of ['rawKeyDown', 'keyUp'] as const)
      webContents?.sendInputEvent({ type, keyCode, modifiers: ['alt'] });
  }, letter);
}

test('the window, its menus and its settings', async () => {
  const page = await openFamily();
  await goTo(page, '/ask?question=ancestor(agnes, ?who)&why=ancestor(agnes, ada)');
  await expect(page.getByRole('tree', { name: 'Proof' }).getByRole('treeitem').first()).toBeVisible();
  await takePicture('window');
  await goTo(page, '/settings');
  await page
    .getByRole('heading', { name: 'Application' })
    .evaluate((heading) => heading.scrollIntoView({ block: 'start' }));
  await takePicture('settings');
  // Last: no page closes a menu.
  await goTo(page, '/proof?question=ancestor(agnes, ada)');
  await expect(page.getByRole('tree', { name: 'Proof' }).getByRole('treeitem').first()).toBeVisible();
  await openMenu('F');
  await takePicture('menu');
});

test('the question about a connected agent', async () => {
  const page = await openFamily();
  const { origin } = new URL(page.url());
  const agent = await fetch(`${origin}/mcp/sse`, { headers: { accept: 'text/event-stream' } });
  const reader = agent.body?.getReader();
  await reader?.read();
  await goTo(page, '/agents');
  await app.evaluate(({ BrowserWindow, dialog }) => {
    const show = dialog.showMessageBox.bind(dialog);
    const asking = new AbortController();
    const { signal } = asking;
    Object.assign(globalThis, { asking });
    Object.assign(dialog, {
      showMessageBox: (window: Electron.BrowserWindow, options: Electron.MessageBoxOptions) =>
        show(window, { ...options, signal }),
    });
    BrowserWindow.getAllWindows()[0]?.close();
  });
  await takePicture('agents');
  await app.evaluate(() => (globalThis as unknown as { asking: AbortController }).asking.abort());
  await reader?.cancel();
  // The application asks again while it counts the agent.
  await expect
    .poll(
      async () => ((await (await fetch(`${origin}/mcp/clients`)).json()) as { clients: unknown[] }).clients,
    )
    .toEqual([]);
});

test('the progress of a large folder', async () => {
  const folder = join(desktop.folder, 'knowledge');
  await fillWithFacts(folder, 1_000_000);
  desktop.own(folder);
  app = await desktop.launch({ environment: { STORAGE_DIR: folder } });
  const progress = await app.firstWindow();
  await expect(progress.locator('#percent')).toHaveText(/^[1-9]\d?%$/);
  savePicture('progress');
});
