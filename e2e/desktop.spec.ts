/**
 * The desktop application in the real Electron, if its binary and a display exist. Otherwise these tests are skipped
 * with a note; the tests of the built bundles cover what needs no Electron.
 */
import { type ElectronApplication, expect, test } from '@playwright/test';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Desktop, missing } from './desktop.ts';

// The reporter shows skipped tests without a reason.
if (missing !== null) process.stdout.write(`Tests in the real Electron are skipped: ${missing}.\n`);
test.skip(missing !== null, missing ?? '');

// Serially: each test needs the display and the ports to itself.
test.describe.configure({ mode: 'default' });

let desktop: Desktop;
let app: ElectronApplication;

interface Asked {
  readonly message: string;
  readonly buttons: readonly string[];
}

/** Presses the button with that label in every dialog from now on, and records the dialogs. */
async function answerDialogs(label: string): Promise<() => Promise<Asked[]>> {
  await app.evaluate(({ dialog }, wanted) => {
    const asked: Asked[] = [];
    Object.assign(globalThis, { asked });
    const answer = async (...args: unknown[]) => {
      const { message, buttons = [] } = args.at(-1) as { message: string; buttons?: string[] };
      asked.push({ message, buttons });
      return { response: Math.max(0, buttons.indexOf(wanted)), checkboxChecked: false };
    };
    Object.assign(dialog, { showMessageBox: answer });
  }, label);
  return () => app.evaluate(() => (globalThis as unknown as { asked: Asked[] }).asked);
}

test.beforeEach(async () => {
  desktop = await Desktop.make();
  app = await desktop.launch();
});

test.afterEach(async () => {
  await app.close();
  desktop.remove();
});

test('the window shows the workbench of its own service, and its page has no privileges', async () => {
  const page = await app.firstWindow();
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\//);
  await expect(page).toHaveTitle(/Corollary/);
  const health = await page.evaluate(async () => (await fetch('/health')).json() as Promise<unknown>);
  expect(health).toMatchObject({ status: 'ok' });
  expect(await page.evaluate(() => 'require' in globalThis || 'process' in globalThis)).toBe(false);
});

test("the page can call the shell's channels", async () => {
  const page = await app.firstWindow();
  const info = await page.evaluate(() =>
    (globalThis as unknown as { corollary: { info(): Promise<{ dataFolder: string }> } }).corollary.info(),
  );
  expect(info.dataFolder.startsWith(desktop.folder)).toBe(true);
});

test('the page can neither navigate away nor open another window', async () => {
  const page = await app.firstWindow();
  const own = page.url();
  // Later, since Playwright waits for a navigation that an evaluation begins.
  await page.evaluate(() => {
    setTimeout(() => {
      window.open('https://example.com/');
      window.location.href = 'https://example.com/';
    });
  });
  await page.waitForTimeout(500);
  expect(page.url()).toBe(own);
  expect(app.windows()).toHaveLength(1);
});

test('a first run leads from the sample to an answer and its proof', async () => {
  const page = await app.firstWindow();
  await page.getByRole('button', { name: 'Open the sample A family' }).click();
  await expect(page.getByRole('heading', { name: 'A family is open' })).toBeVisible();
  await page.evaluate(() => {
    window.location.hash = '/proof?question=ancestor(agnes, ada)';
  });
  const proof = page.getByRole('tree', { name: 'Proof' });
  await expect(proof.getByRole('treeitem').first()).toContainText('ancestor(agnes, ada)');
});

test('telling a fact and teaching a rule derive a conclusion with a proof', async () => {
  const page = await app.firstWindow();
  await page.evaluate(async () => {
    const post = (path: string, body: unknown) =>
      fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
        body: JSON.stringify(body),
      });
    await post('/tell', { predicate: 'parent', args: ['ada', 'ben'] });
    await post('/teach', { text: 'elder(?x) :- parent(?x, ?y).' });
    window.location.hash = '/proof?question=elder(ada)';
  });
  const proof = page.getByRole('tree', { name: 'Proof' });
  await expect(proof.getByRole('treeitem').first()).toContainText('elder(ada)');
  await expect(proof.getByRole('treeitem', { name: /parent\(ada, ben\)\s*asserted/ })).toBeVisible();
});

test('a menu item runs the command of the palette', async () => {
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  const isEnabled = () =>
    app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('go.rules')?.enabled ?? false);
  await expect.poll(isEnabled).toBe(true);
  await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('go.rules')?.click());
  await expect(page).toHaveURL(/#\/rules/);
});

test('the window opens where it was closed, start after start', async () => {
  const settled = async () => {
    await app.firstWindow();
    const isVisible = () =>
      app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible());
    await expect.poll(isVisible).toBe(true);
    await app.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
    return app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
  };
  const first = await settled();
  for (let start = 0; start < 2; start++) {
    await app.close();
    app = await desktop.launch();
    expect(await settled()).toEqual(first);
  }
});

test('the log is a file that Help shows, beside the other ways to help', async () => {
  await app.firstWindow();
  const { log, labels } = await app.evaluate(({ app: application, Menu }) => ({
    log: application.getPath('logs'),
    labels: Menu.getApplicationMenu()
      ?.items.at(-1)
      ?.submenu?.items.map(({ label }) => label),
  }));
  expect(readFileSync(join(log, 'corollary.log'), 'utf8')).toContain('Server listening');
  expect(labels).toEqual(
    expect.arrayContaining(['API reference', 'Show the log', 'Report a problem…', 'About Corollary']),
  );
});

test('the shell refuses in its own words', async () => {
  await app.close();
  app = await desktop.launch({ environment: { STORAGE_DIR: join(desktop.folder, 'named') } });
  const page = await app.firstWindow();
  const refused = await page.evaluate(() =>
    (globalThis as unknown as { corollary: { chooseFolder(): Promise<unknown> } }).corollary
      .chooseFolder()
      .catch((error: Error) => error.message),
  );
  expect(refused).toBe('The folder is set by STORAGE_DIR.');
});

test('as root the application refuses with a sentence', async () => {
  test.skip(process.getuid?.() !== 0, 'only root can try');
  const { args, env, binary } = desktop.startAsRoot();
  const { status, stderr } = spawnSync(binary, args, { env, encoding: 'utf8', timeout: 60_000 });
  expect(stderr).toContain('Corollary does not open its window as root.');
  expect(status).toBe(1);
});

test('a second instance hands over its place and its file, and ends', async () => {
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  const file = join(desktop.folder, 'facts.dl');
  writeFileSync(file, 'p(a).\n');
  // Not by Playwright, which would wait for what a second instance never has.
  const { executablePath, args, env } = desktop.start({ argv: [file] });
  const second = spawn(executablePath, args, { env, stdio: 'ignore' });
  expect(await new Promise((resolve) => second.once('exit', resolve))).toBe(0);
  await expect(page.getByRole('dialog')).toContainText('facts.dl');
  expect(app.windows()).toHaveLength(1);
});

test('a taken default port is replaced by another', async () => {
  await app.close();
  const taken = createServer();
  await new Promise<void>((resolve) => {
    // Another program may have it already, which serves the same purpose.
    taken.once('error', () => resolve());
    taken.listen(9300, '127.0.0.1', () => resolve());
  });
  try {
    // An empty variable counts as unset.
    app = await desktop.launch({ environment: { PORT: '' } });
    const page = await app.firstWindow();
    await expect(page).toHaveURL(/:93\d\d\/#\/agents\?part=connect/);
  } finally {
    taken.close();
  }
});

test('quitting while an agent is connected asks, and can be cancelled', async () => {
  const page = await app.firstWindow();
  await expect(page).toHaveURL(/^http/);
  const { origin } = new URL(page.url());
  const agent = await fetch(`${origin}/mcp/sse`, { headers: { accept: 'text/event-stream' } });
  const reader = agent.body?.getReader();
  await reader?.read();
  const asked = await answerDialogs('Cancel');
  await app.evaluate(({ app: electronApp }) => electronApp.quit());
  await expect
    .poll(async () => (await asked()).map(({ message }) => message))
    .toEqual(['An agent is connected.']);
  expect((await fetch(`${origin}/health`)).status).toBe(200);
  await reader?.cancel();
  // Without connected agents the application closes silently.
  await expect
    .poll(async () => {
      const response = await fetch(`${origin}/mcp/clients`);
      return ((await response.json()) as { clients: unknown[] }).clients.length;
    })
    .toBe(0);
});
