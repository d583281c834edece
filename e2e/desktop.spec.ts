/**
 * The desktop application in the real Electron, if its binary and a display exist. Otherwise these tests are skipped
 * with a note; the tests of the built bundles cover what needs no Electron.
 */
import { _electron as electron, type ElectronApplication, expect, test } from '@playwright/test';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = { win32: 'electron.exe', darwin: 'Electron.app/Contents/MacOS/Electron' } as const;

/** The installed binary; tests download nothing. */
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
// The reporter shows skipped tests without a reason.
if (missing !== null) process.stdout.write(`Tests in the real Electron are skipped: ${missing}.\n`);
test.skip(missing !== null, missing ?? '');

// Serially: each test needs the display and the ports to itself.
test.describe.configure({ mode: 'default' });

let folder: string;
let app: ElectronApplication;

interface Launch {
  readonly argv?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The launch options of a start with the test's own data folder. */
function startOf({ argv = [], environment = {} }: Launch) {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    executablePath: binary ?? '',
    args: [
      root,
      `--user-data-dir=${folder}`,
      ...(process.platform === 'linux' ? ['--no-sandbox'] : []),
      ...argv,
    ],
    env: {
      ...inherited,
      PORT: '0',
      COROLLARY_ENDPOINT_FILE: join(folder, 'endpoint.json'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_DATA_HOME: join(folder, 'share'),
      ...environment,
    },
  };
}

function launch(options: Launch = {}): Promise<ElectronApplication> {
  return electron.launch(startOf(options));
}

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
  folder = mkdtempSync(join(tmpdir(), 'corollary-desktop-'));
  app = await launch();
});

test.afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
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
  expect(info.dataFolder.startsWith(folder)).toBe(true);
});

test('the page can neither navigate away nor open another window', async () => {
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

test('a second instance hands over its place and its file, and ends', async () => {
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  const file = join(folder, 'facts.dl');
  writeFileSync(file, 'p(a).\n');
  // Not by Playwright, which would wait for an event that a second instance never emits.
  const { executablePath, args, env } = startOf({ argv: [file] });
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
    app = await launch({ environment: { PORT: '' } });
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
