/**
 * The desktop shell as it was built, under plain Node with a stand-in for Electron that records every call: the
 * real thread, the real service, the real decisions; only Electron itself is not there.
 */
import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type StandIns, writeStandIns } from './electron-stand-in/compile.ts';
import { type RunOptions, ShellRun } from './electron-stand-in/drive.ts';

const runs: ShellRun[] = [];
const listeners: Server[] = [];
const folders: string[] = [];
let standIns: StandIns;

test.beforeAll(() => {
  standIns = writeStandIns();
});

test.afterAll(() => rmSync(standIns.folder, { recursive: true }));

test.afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.clear()));
  await Promise.all(listeners.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function start(options: RunOptions = {}): ShellRun {
  const run = new ShellRun(standIns, options);
  runs.push(run);
  return run;
}

/** Listens on `port`, or another program does already: taken in both cases. */
function take(port: number): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(port));
    server.listen(port, '127.0.0.1', () => {
      listeners.push(server);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-shell-'));
  folders.push(folder);
  return folder;
}

async function opened(run: ShellRun): Promise<string> {
  const { args } = await run.until('window.loadURL');
  return String(args[0]);
}

async function health(address: string): Promise<unknown> {
  const response = await fetch(new URL('/health', address));
  return response.json();
}

const anyPort = { PORT: '0' };

test('a start opens one window on the address of the service, which answers', async () => {
  const run = start({ environment: anyPort, argv: ['--open=/facts'] });
  const address = await opened(run);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/facts$/);
  expect(await health(address)).toMatchObject({ status: 'ok' });
  expect(run.named('BrowserWindow')).toHaveLength(1);
  await run.until('window.show');
  expect(existsSync(join(run.userData, 'data'))).toBe(true);
  expect(run.named('Menu.setApplicationMenu')).toHaveLength(1);
});

test('the sandbox is on before Electron is ready, and the window gives its page no power', async () => {
  const run = start({ environment: anyPort });
  await opened(run);
  expect(run.named('app.enableSandbox')[0]?.args).toEqual([{ isReady: false }]);
  const [options] = (run.named('BrowserWindow')[0]?.args ?? []) as [
    { webPreferences: Record<string, unknown> },
  ];
  expect(options.webPreferences).toMatchObject({
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    webviewTag: false,
  });
  expect(existsSync(String(options.webPreferences['preload']))).toBe(true);
});

test('the page cannot leave the service, open windows or have permissions and devices', async () => {
  const run = start({ environment: anyPort });
  const own = await opened(run);
  for (const event of ['will-navigate', 'will-frame-navigate', 'will-redirect']) {
    expect(await run.drive('navigates', event, `${own}#/ask`)).toBe(true);
    expect(await run.drive('navigates', event, 'https://example.com/')).toBe(false);
    expect(await run.drive('navigates', event, 'file:///etc/passwd')).toBe(false);
  }
  expect(await run.drive('opensWindow', own)).toEqual({ action: 'deny' });
  expect(await run.drive('attachesWebview')).toBe(false);
  for (const permission of [
    'media',
    'geolocation',
    'notifications',
    'clipboard-read',
    'openExternal',
    'fullscreen',
  ])
    expect(await run.drive('permission', permission)).toEqual({ requested: false, checked: false });
  expect(await run.drive('device')).toBe(false);
  expect(await run.drive('requests', 'https://example.com/x.js')).toEqual({ cancel: true });
  expect(await run.drive('requests', `${own}facts`)).toEqual({ cancel: false });
});

test('the channels answer the service’s own page alone, and only what is of their kind', async () => {
  const run = start({ environment: anyPort });
  const own = await opened(run);
  const page = { url: own, parent: null };
  const address = new URL(own).origin;
  expect(await run.drive('invoke', 'corollary:info', page)).toEqual({
    version: '0.0.0-stand-in',
    platform: process.platform,
    address,
    dataFolder: join(run.userData, 'data'),
  });
  await run.drive('invoke', 'corollary:setTheme', page, 'dark');
  expect(run.named('nativeTheme.themeSource').at(-1)?.args).toEqual(['dark']);
  await run.drive('invoke', 'corollary:showDataFolder', page);
  expect(run.named('shell.openPath').at(-1)?.args).toEqual([join(run.userData, 'data')]);

  await expect(run.drive('invoke', 'corollary:setTheme', page, 'purple')).rejects.toThrow('setTheme');
  await expect(run.drive('invoke', 'corollary:info', page, { extra: true })).rejects.toThrow('info');
  await expect(run.drive('invoke', 'corollary:info', page, undefined, 2)).rejects.toThrow('info');
  for (const sender of [
    null,
    { url: 'https://example.com/', parent: null },
    { url: own, parent: { url: own } },
  ])
    await expect(run.drive('invoke', 'corollary:info', sender)).rejects.toThrow('may not ask');
});

test('the preload gives the page the table of channels and nothing else', () => {
  const preload = fileURLToPath(new URL('../out/preload/preload.cjs', import.meta.url));
  const output = execFileSync(process.execPath, ['--require', standIns.preloadHook, preload], {
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual({
    world: 'corollary',
    functions: [
      ['info', 'function'],
      ['showDataFolder', 'function'],
      ['setTheme', 'function'],
    ],
    invoked: [
      ['corollary:info', 'an argument'],
      ['corollary:showDataFolder', 'an argument'],
      ['corollary:setTheme', 'an argument'],
    ],
  });
});

test('a second start hands its arguments over and ends', async () => {
  const run = start({ isSecond: true, argv: ['--open=/ask'] });
  expect(await run.exited).toBe(0);
  const [data] = (run.named('app.requestSingleInstanceLock')[0]?.args ?? []) as [{ argv: string[] }];
  expect(data.argv).toContain('--open=/ask');
  expect(run.named('BrowserWindow')).toEqual([]);
});

test('the first instance comes to the front at the place that another start names', async () => {
  const run = start({ environment: anyPort });
  const own = await opened(run);
  await run.drive('emit', 'second-instance', ['electron', '.'], '/', {
    argv: ['electron', '.', '--open=/ask'],
  });
  expect((await run.until('window.loadURL', 2)).args).toEqual([`${own}#/ask`]);
  await run.drive('emit', 'second-instance', ['electron', '.'], '/', null);
  expect(run.named('window.loadURL')).toHaveLength(2);
  expect(run.named('window.focus')).toHaveLength(2);
  expect(run.named('window.restore')).toHaveLength(2);
});

test('a taken port gives way to a free one from 9301 on, which is remembered', async () => {
  await take(9300);
  const first = start();
  const address = await opened(first);
  const port = Number(new URL(address).port);
  expect(port).toBeGreaterThanOrEqual(9301);
  expect(await health(address)).toMatchObject({ status: 'ok' });
  expect(JSON.parse(readFileSync(join(first.userData, 'shell.json'), 'utf8'))).toMatchObject({ port });
  expect(first.named('dialog.showMessageBox')).toEqual([]);
});

test('a taken port that the user has set is said, with ways out, and never replaced', async () => {
  const port = await take(0);
  const run = start({ environment: { PORT: String(port) }, answers: ['Try Again', 'Quit'] });
  expect(await run.exited).toBe(0);
  const dialogs = run.named('dialog.showMessageBox');
  expect(dialogs).toHaveLength(2);
  const [question] = (dialogs[0]?.args ?? []) as [{ detail: string; buttons: string[] }];
  expect(question.detail).toContain(String(port));
  expect(question.buttons).toEqual(['Try Again', 'Quit']);
  expect(run.named('BrowserWindow')).toEqual([]);
});

test('a bad setting is said by its name', async () => {
  const run = start({ environment: { ...anyPort, FSYNC: 'sometimes' } });
  expect(await run.exited).toBe(0);
  const [question] = (run.named('dialog.showMessageBox')[0]?.args ?? []) as [{ detail: string }];
  expect(question.detail).toContain('FSYNC');
  expect(question.detail).toContain('sometimes');
});

test('a data folder in use is said, and the service that has it can be opened', async () => {
  const folder = temporaryFolder();
  const environment = { ...anyPort, STORAGE_DIR: folder };
  const holder = start({ environment });
  const held = await opened(holder);
  const other = start({ environment, answers: ['Open the Running One'] });
  expect(await opened(other)).toBe(held);
  const [question] = (other.named('dialog.showMessageBox')[0]?.args ?? []) as [
    { detail: string; buttons: string[] },
  ];
  expect(question.detail).toContain(folder);
  expect(question.buttons).toEqual(['Open the Running One', 'Try Again', 'Choose Another Folder…', 'Quit']);
  await other.drive('closeWindow');
  expect(await other.exited).toBe(0);
  expect(await health(held)).toMatchObject({ status: 'ok' });
});

test('another folder can be chosen in place of one in use', async () => {
  const environment = { ...anyPort, STORAGE_DIR: temporaryFolder() };
  await opened(start({ environment }));
  const folder = join(temporaryFolder(), 'mine');
  const other = start({ environment, answers: ['Choose Another Folder…', folder] });
  expect(await health(await opened(other))).toMatchObject({ status: 'ok' });
  expect(existsSync(folder)).toBe(true);
});

test('closing the window ends the service cleanly and remembers the window’s place', async () => {
  const run = start({ environment: anyPort });
  const address = await opened(run);
  await fetch(new URL('/tell', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
    body: JSON.stringify({ predicate: 'kept', args: ['yes'] }),
  });
  await run.drive('closeWindow');
  expect(await run.exited).toBe(0);
  await expect(health(address)).rejects.toThrow();
  const settings: unknown = JSON.parse(readFileSync(join(run.userData, 'shell.json'), 'utf8'));
  expect(settings).toMatchObject({ window: { bounds: { width: 1280, height: 860 }, maximized: false } });

  const again = start({ environment: anyPort, userData: run.userData });
  const response = await fetch(new URL('/query', await opened(again)), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
    body: JSON.stringify({ predicate: 'kept', args: ['?what'] }),
  });
  expect(await response.json()).toEqual([{ predicate: 'kept', args: ['yes'], truthVal: true }]);
});

test('a page that crashed can be loaded again', async () => {
  const run = start({ environment: anyPort, answers: ['Reload'] });
  await opened(run);
  await run.drive('crash');
  await run.until('window.reload');
});
