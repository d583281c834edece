/**
 * The desktop application in the real Electron, if its binary and a display exist. Otherwise these tests are skipped
 * with a note; the tests of the built bundles cover what needs no Electron.
 */
import { type ElectronApplication, expect, test } from '@playwright/test';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { closeDesktop, Desktop, missing } from './desktop.ts';

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
  await closeDesktop(app);
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
  // The start leads from the address of the service to a view.
  await expect(page).toHaveURL(/#\//);
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
  // Without waiting for a frame: a virtual display under load may paint none for long.
  await page.getByRole('button', { name: 'Open the sample A family' }).dispatchEvent('click');
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
  const bounds = () =>
    app.evaluate(({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows();
      return window?.isVisible() === true ? window.getBounds() : null;
    });
  // The window manager moves a new window for a moment.
  let first: Awaited<ReturnType<typeof bounds>> = null;
  await expect(async () => {
    first = await bounds();
    await app.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    expect(await bounds()).toEqual(first);
    expect(first).not.toBeNull();
  }).toPass();
  for (let start = 0; start < 2; start++) {
    await app.close();
    app = await desktop.launch();
    await app.firstWindow();
    await expect.poll(bounds).toEqual(first);
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
  await startAgain([file]);
  await expect(page.getByRole('dialog')).toContainText('facts.dl');
  expect(app.windows()).toHaveLength(1);
});

/** Chooses an item of the application menu. */
async function choose(label: string): Promise<void> {
  await expect.poll(() => labels()).toContain(label);
  await app.evaluate(({ Menu }, wanted) => {
    type Items = Electron.MenuItem[];
    const all = (items: Items): Items => items.flatMap((item) => [item, ...all(item.submenu?.items ?? [])]);
    all(Menu.getApplicationMenu()?.items ?? [])
      .find(({ label }) => label === wanted)
      ?.click();
  }, label);
}

/** The labels of all items of the application menu. */
function labels(): Promise<string[]> {
  return app.evaluate(({ Menu }) => {
    type Items = Electron.MenuItem[];
    const all = (items: Items): Items => items.flatMap((item) => [item, ...all(item.submenu?.items ?? [])]);
    return all(Menu.getApplicationMenu()?.items ?? []).map(({ label }) => label);
  });
}

/** A second start, which hands over its arguments and ends. */
async function startAgain(argv: readonly string[]): Promise<void> {
  // Not by Playwright, which would wait for what a second instance never has.
  const { executablePath, args, env } = desktop.start({ argv });
  const second = spawn(executablePath, args, { env, stdio: 'ignore' });
  await new Promise((resolve) => second.once('exit', resolve));
}

test('Close closes a tab of Ask while there are several, else the window', async () => {
  const page = await app.firstWindow();
  await page.evaluate(() => {
    window.location.hash = '/ask';
  });
  await expect(page.getByRole('tab')).toHaveCount(1);
  expect(await labels()).not.toContain('Close the tab');
  for (let tab = 0; tab < 2; tab++)
    await page.getByRole('button', { name: 'New tab' }).dispatchEvent('click');
  await expect(page.getByRole('tab')).toHaveCount(3);
  await choose('Close the tab');
  await expect(page.getByRole('tab')).toHaveCount(2);
  await choose('Close the tab');
  await expect(page.getByRole('tab')).toHaveCount(1);
  await expect.poll(labels).not.toContain('Close the tab');
});

test('a link fills in its question, and waits while a dialog is open', async () => {
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  let asked = 0;
  page.on('request', (request) => {
    if (/\/(ask|query)$/.test(new URL(request.url()).pathname) && request.method() === 'POST') asked += 1;
  });
  await startAgain(['corollary://ask?question=ancestor(ada,?who)']);
  await expect(page.getByRole('tab', { selected: true })).toContainText('ancestor(ada,?who)');
  expect(page.url()).not.toContain('question=');
  await choose('Import a file…');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Drop a file here');
  await startAgain(['corollary://rules']);
  await expect(page.getByText('A link waits to be opened.')).toBeVisible();
  await expect(dialog).toContainText('Drop a file here');
  expect(asked).toBe(0);
  // Without waiting for a frame: a virtual display under load may paint none for long.
  await page.getByRole('button', { name: 'Open', exact: true }).dispatchEvent('click');
  await expect(page).toHaveURL(/#\/rules/);
});

test('a database has a window of its own, and the windows come back', async () => {
  const page = await app.firstWindow();
  await expect(page).toHaveTitle('Samples – Corollary');
  const { origin } = new URL(page.url());
  const made = await fetch(`${origin}/databases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ships' }),
  });
  expect(made.status).toBe(201);
  const opening = app.waitForEvent('window');
  await startAgain(['corollary://rules?database=ships']);
  const other = await opening;
  await expect(other).toHaveTitle('Rules – ships – Corollary');
  await expect
    .poll(labels)
    .toEqual(expect.arrayContaining(['Samples – Corollary', 'Rules – ships – Corollary']));
  await startAgain(['corollary://facts?database=ships']);
  await expect(other).toHaveURL(/#\/facts\?database=ships/);
  await expect.poll(labels).toContain('Database ships');
  expect(app.windows()).toHaveLength(2);
  const places = () =>
    app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map((each) => each.getPosition().join()),
    );
  expect(new Set(await places()).size).toBe(2);
  await app.close();
  app = await desktop.launch();
  await expect.poll(() => app.windows().length).toBe(2);
  const titles = async () => (await Promise.all(app.windows().map((each) => each.title()))).toSorted();
  await expect.poll(titles).toEqual(['Facts – ships – Corollary', 'Samples – Corollary']);
});

test('quitting asks about what would be lost, is cancelled, and then lets nothing keep it', async () => {
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  await choose('Facts');
  // Without waiting for a frame, as above.
  await page.getByRole('button', { name: 'Add facts' }).first().dispatchEvent('click');
  await page.getByRole('tab', { name: 'Form' }).dispatchEvent('click');
  await page.getByRole('dialog').getByLabel('Predicate').fill('parent');
  const asked = await answerDialogs('Cancel');
  await app.evaluate(({ app: application }) => application.quit());
  await expect
    .poll(async () => (await asked()).map(({ message }) => message))
    .toEqual(['If you quit, you lose what is not saved.']);
  await expect(page.getByRole('dialog')).toBeVisible();
  // Then the page cannot keep the application.
  await answerDialogs('Quit');
  const closed = app.waitForEvent('close');
  await Promise.all([closed, app.evaluate(({ app: application }) => setTimeout(() => application.quit()))]);
});

test('a text field has a context menu, and an imported file is among the recent ones', async () => {
  const page = await app.firstWindow();
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  const file = join(desktop.folder, 'family.dl');
  writeFileSync(file, 'p(a).\n');
  await choose('Import a file…');
  await page.getByLabel('File to import').setInputFiles(file);
  for (const name of ['Import', 'Done']) {
    const button = page.getByRole('button', { name, exact: true });
    await expect(button).toBeEnabled();
    await button.dispatchEvent('click');
  }
  await expect.poll(labels).toContain('family.dl');
  await app.evaluate(({ Menu }) => {
    const build = Menu.buildFromTemplate;
    Menu.buildFromTemplate = (template) => {
      const menu = build(template);
      Object.assign(menu, {
        popup: () => Object.assign(globalThis, { popped: menu.items.map(({ role }) => role) }),
      });
      return menu;
    };
  });
  // Without waiting for a frame: a virtual display under load may paint none for long.
  await page.getByRole('button', { name: 'Search' }).dispatchEvent('click');
  await page.getByRole('combobox').click({ button: 'right', force: true });
  const popped = () => app.evaluate(() => (globalThis as unknown as { popped?: string[] }).popped);
  await expect.poll(popped).toEqual(['cut', 'copy', 'paste', null, 'selectall']);
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
