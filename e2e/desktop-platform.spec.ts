/**
 * What the desktop application does on the system that it runs on, in the real Electron: while a large folder opens,
 * while a keyring waits. Skipped with a note like e2e/desktop.spec.ts.
 */
import { type ElectronApplication, expect, type Page, test } from '@playwright/test';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeDesktop, Desktop, missing } from './desktop.ts';
import { fillWithFacts } from './many-facts.ts';
import { expectThatAQuestionMoves } from './moved-question.ts';

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
  if (app !== null) await closeDesktop(app);
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

test('a million facts: the progress is seen before the workbench, and goes when that comes', {
  tag: '@long',
}, async () => {
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

// desktop-start.spec.ts shows it with a stand-in of Electron.
test('the progress can be left: the program ends, and the folder opens again', { tag: '@long' }, async () => {
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

test('a service that was kept without a window is seen again by a second start', async () => {
  app = await desktop.launch();
  const running = app;
  // Asked of Electron: Playwright may not learn the address of a window that it meets while it opens.
  const windows = () =>
    running.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map((each) => ({
        address: each.webContents.getURL(),
        isVisible: each.isVisible(),
      })),
    );
  await expect.poll(async () => (await windows())[0]?.isVisible).toBe(true);
  const { origin } = new URL((await windows())[0]?.address ?? '');
  const agent = await fetch(`${origin}/mcp/sse`, { headers: { accept: 'text/event-stream' } });
  const reader = agent.body?.getReader();
  try {
    await reader?.read();
    const asked = await app.evaluate(
      ({ BrowserWindow, dialog }) =>
        new Promise<{ message: string; detail: string }>((resolve) => {
          const keep = async (...args: unknown[]) => {
            resolve(args.at(-1) as { message: string; detail: string });
            return { response: 0, checkboxChecked: false };
          };
          Object.assign(dialog, { showMessageBox: keep });
          BrowserWindow.getAllWindows()[0]?.close();
        }),
    );
    expect(asked.message).toBe('An agent is connected.');
    await expect.poll(async () => (await windows()).length).toBe(0);
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    const { executablePath, args, env } = desktop.start();
    const second = spawn(executablePath, args, { env, stdio: 'ignore' });
    expect(await new Promise((resolve) => second.once('exit', resolve))).toBe(0);
    await expect.poll(async () => (await windows()).map(({ isVisible }) => isVisible)).toEqual([true]);
    expect((await windows())[0]?.address).toContain(`${origin}/`);
  } finally {
    await reader?.cancel();
  }
});

test('a withdrawn conclusion is told of by the system, and a click opens the window that explains it', async () => {
  app = await desktop.launch();
  const isSupported = await app.evaluate(({ Notification }) => Notification.isSupported());
  test.skip(!isSupported, 'Electron finds no libnotify: apt-get install libnotify4');
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  // The start has found that nothing is known: what is told below does not lead it to the facts.
  await expect(page).toHaveURL(/#\/start/);
  await app.evaluate(({ Notification }) => {
    const { show } = Notification.prototype;
    Notification.prototype.show = function shown(this: Electron.Notification) {
      Object.assign(globalThis, { notification: this });
      show.call(this);
    };
  });
  const isFocused = () => app?.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isFocused());
  // A window that the window manager is just about to show and focus is not minimized by being told so once.
  const minimized = () =>
    app?.evaluate(({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows();
      if (window?.isFocused() === true) window.minimize();
      return window?.isFocused();
    });
  const { origin } = new URL(page.url());
  const post = (path: string, body: unknown) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
      body: JSON.stringify(body),
    });
  await post('/teach', { text: 'elder(?x) :- parent(?x, ?y).' });
  const told = () =>
    app?.evaluate(() => {
      const { notification } = globalThis as unknown as { notification?: Electron.Notification };
      return notification === undefined ? null : { title: notification.title, body: notification.body };
    });
  /** Who looks at the window is told nothing: if it was shown and focused after all, once more. */
  const withdraw = async () => {
    await expect.poll(minimized).toBe(false);
    await post('/tell', { predicate: 'parent', args: ['ada', 'ben'] });
    await post('/ask', { text: 'elder(ada)' });
    await post('/retract', { predicate: 'parent', args: ['ada', 'ben'] });
  };
  let withdrawnAt = Number.NEGATIVE_INFINITY;
  await expect
    .poll(async () => {
      if ((await told()) === null && performance.now() - withdrawnAt > 5000) {
        await withdraw();
        withdrawnAt = performance.now();
      }
      return told();
    })
    .toEqual({ title: 'A conclusion is no longer true', body: 'elder(ada), in database default' });
  await app.evaluate(() => {
    const { notification } = globalThis as unknown as { notification: Electron.Notification };
    notification.emit('click', {});
  });
  await expect(page).toHaveURL(/#\/why-not\?question=elder/);
  await expect.poll(isFocused).toBe(true);
});

test('a proof is saved as a PDF', async () => {
  app = await desktop.launch();
  const page = await app.firstWindow();
  // Without waiting for a frame: a virtual display under load may paint none for long.
  await page.getByRole('button', { name: 'Open the sample A family' }).dispatchEvent('click');
  await expect(page.getByRole('heading', { name: 'A family is open' })).toBeVisible();
  await page.evaluate(() => {
    window.location.hash = '/proof?question=ancestor(agnes, ada)';
  });
  await expect(page.getByRole('tree', { name: 'Proof' })).toBeVisible();
  const file = join(desktop.folder, 'proof.pdf');
  await app.evaluate(({ dialog }, filePath) => {
    Object.assign(dialog, { showSaveDialog: async () => ({ canceled: false, filePath }) });
  }, file);
  const isEnabled = () =>
    app?.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('proof.pdf')?.enabled);
  await expect.poll(isEnabled).toBe(true);
  await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('proof.pdf')?.click());
  await expect(page.getByText('Saved as PDF')).toBeVisible();
  expect(readFileSync(file, 'latin1')).toMatch(/^%PDF-/);
  // What was on paper has gone.
  await expect(page.getByRole('heading', { name: /^Proof of/ })).toHaveCount(0);
});

test('F10 and the arrows open a menu', async () => {
  // The keys of a virtual display go to whatever has its focus, and now and then to nothing.
  const isWanted = process.env['LONG'] === '1' || process.env['DESKTOP_KEYS'] === '1';
  test.skip(!isWanted, 'keys of the display are pressed by npm run test:desktop');
  test.skip(spawnSync('xdotool', ['version']).status !== 0, 'xdotool presses the keys');
  app = await desktop.launch();
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  const running = app;
  // The menu is built anew while the page reports its commands, so each round listens to the one that is there. A busy
  // machine loses keys, and keys go to the window that has the focus.
  const opened = async () => {
    await running.evaluate(({ BrowserWindow, Menu }) => {
      const known = globalThis as unknown as { opened?: string[] };
      const opened = (known.opened ??= []);
      for (const { label, submenu } of Menu.getApplicationMenu()?.items ?? [])
        if (submenu?.listenerCount('menu-will-show') === 0)
          submenu.on('menu-will-show', () => opened.push(label));
      const [window] = BrowserWindow.getAllWindows();
      if (window?.isFocused() === false) window.focus();
    });
    for (const key of ['F10', 'Down']) {
      spawnSync('xdotool', ['key', key]);
      await page.waitForTimeout(500);
    }
    return running.evaluate(() => (globalThis as unknown as { opened: string[] }).opened);
  };
  await expect.poll(opened).toContain('&File');
});

test('Help opens the documentation in the browser', async () => {
  app = await desktop.launch();
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  await app.evaluate(({ shell }) => {
    const openExternal = async (address: string) => void Object.assign(globalThis, { address });
    Object.assign(shell, { openExternal });
  });
  const isEnabled = () =>
    app?.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('help.documentation')?.enabled);
  await expect.poll(isEnabled).toBe(true);
  await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('help.documentation')?.click());
  const address = () => app?.evaluate(() => (globalThis as unknown as { address?: string }).address);
  await expect.poll(address).toMatch(/\/documentation\/index\.html$/);
  const documentation = await fetch((await address()) ?? '');
  expect(await documentation.text()).toContain('<h1 id="corollary">Corollary</h1>');
  expect(app.windows()).toHaveLength(1);
});

test('a question that takes long moves to a thread of the service, which runs on a thread of Electron', {
  tag: '@long',
}, async () => {
  const environment = { REASONING_THREADS: '1', WARM_UP: 'false', ...(await desktop.serviceWithin()) };
  app = await desktop.launch({ environment });
  const page = await app.firstWindow();
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\//);
  await expectThatAQuestionMoves(new URL(page.url()).origin);
  // The window is served all the while, by the same process.
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
});
