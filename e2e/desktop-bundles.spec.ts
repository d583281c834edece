/**
 * The built desktop shell under plain Node, with a stand-in for Electron that records every call: real thread, service
 * and logic, without Electron itself.
 */
import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { channelNames, wireName } from '../src/desktop-contract/channels.ts';
import { commandIds } from '../src/desktop-contract/commands.ts';
import { type StandIns, writeStandIns } from './electron-stand-in/compile.ts';
import { type RunOptions, ShellRun } from './electron-stand-in/drive.ts';

// Serially: they use consecutive ports.
test.describe.configure({ mode: 'default' });

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

/** Occupies `port`; another program may do so already, which serves the same purpose. */
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

test('a start opens one window at the address of the running service', async () => {
  const run = start({ environment: anyPort, argv: ['--open=/facts'] });
  const address = await opened(run);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/facts$/);
  expect(await health(address)).toMatchObject({ status: 'ok' });
  expect(run.named('BrowserWindow')).toHaveLength(1);
  await run.until('window.show');
  expect(existsSync(join(run.userData, 'share', 'corollary'))).toBe(true);
  expect(run.named('Menu.setApplicationMenu').length).toBeGreaterThan(0);
  expect(run.named('tray.setToolTip').at(-1)?.args).toEqual([
    `Corollary: Running at ${new URL(address).origin}`,
  ]);
});

test('a system that paints no hidden window shows it all the same', async () => {
  const run = start({ environment: { ...anyPort, STAND_IN_NO_FRAME: 'true' } });
  await opened(run);
  await run.until('window.show');
});

test('the sandbox is on before Electron is ready, and the page has no privileges', async () => {
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

test('the page cannot leave the service, open windows or get permissions and devices', async () => {
  const run = start({ environment: anyPort });
  const own = await opened(run);
  for (const event of ['will-navigate', 'will-frame-navigate', 'will-redirect']) {
    expect(await run.drive('navigates', event, `${own}#/ask`)).toBe(true);
    expect(await run.drive('navigates', event, 'https://example.com/')).toBe(false);
    expect(await run.drive('navigates', event, 'file:///etc/passwd')).toBe(false);
  }
  expect(await run.drive('opensWindow', `${own}docs`)).toEqual({ action: 'deny' });
  expect(await run.drive('opensWindow', 'https://example.com/')).toEqual({ action: 'deny' });
  expect(run.named('shell.openExternal')).toEqual([{ call: 'shell.openExternal', args: [`${own}docs`] }]);
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

test('the page is served under a policy that allows nothing from elsewhere', async () => {
  const address = await opened(start({ environment: anyPort }));
  const { headers } = await fetch(address);
  const policy = headers.get('content-security-policy') ?? '';
  const parts = policy.split(/;\s*/);
  for (const part of [
    "default-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
    expect(parts).toContain(part);
  expect(policy).not.toMatch(/https?:/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('the channels accept only valid messages of the service’s own page', async () => {
  const run = start({ environment: anyPort });
  const own = await opened(run);
  const page = { url: own, parent: null };
  const address = new URL(own).origin;
  expect(await run.drive('invoke', 'corollary:info', page)).toEqual({
    version: '0.0.0-stand-in',
    platform: process.platform,
    address,
    dataFolder: join(run.userData, 'share', 'corollary'),
  });
  await run.drive('invoke', 'corollary:setTheme', page, 'dark');
  expect(run.named('nativeTheme.themeSource').at(-1)?.args).toEqual(['dark']);
  await run.drive('invoke', 'corollary:showDataFolder', page);
  expect(run.named('shell.openPath').at(-1)?.args).toEqual([join(run.userData, 'share', 'corollary')]);
});

test('every channel rejects foreign senders and hostile arguments, and does nothing', async () => {
  const run = start({ environment: anyPort });
  const own = await opened(run);
  const page = { url: own, parent: null };
  const foreign = [
    null,
    { url: 'https://example.com/', parent: null },
    { url: own.replace('127.0.0.1', 'localhost'), parent: null },
    { url: `${new URL(own).origin}.example.com/`, parent: null },
    { url: 'about:blank', parent: null },
    { url: '', parent: null },
    { url: own, parent: { url: own } },
  ];
  const hostile: unknown[] = [
    { kind: 'folder', value: '/etc' },
    { kind: 'port', port: 80, extra: 1 },
    ['go.facts'],
    [{ id: '__proto__', title: 'x' }],
    'a\nb',
    7,
    true,
    { toString: 'dark' },
  ];
  const handled = run.named('ipcMain.handle').map(({ args }) => String(args[0]));
  expect(handled.toSorted()).toEqual(channelNames.map(wireName).toSorted());
  await run.until('window.show');
  const before = run.calls.length;
  for (const channel of handled) {
    const name = channel.replace('corollary:', '');
    for (const sender of foreign)
      for (const argument of [undefined, ...hostile])
        await expect(run.drive('invoke', channel, sender, argument)).rejects.toThrow(
          `${name}: this page may not ask`,
        );
    for (const argument of hostile)
      await expect(run.drive('invoke', channel, page, argument)).rejects.toThrow(`the argument of ${name}`);
    await expect(run.drive('invoke', channel, page, undefined, 2)).rejects.toThrow(
      `${name} takes at most one`,
    );
  }
  expect(run.calls.slice(before)).toEqual([]);
  expect(existsSync(join(run.userData, 'secrets.json'))).toBe(false);
});

test('the preload exposes the table of channels and nothing else', () => {
  const preload = fileURLToPath(new URL('../out/preload/preload.cjs', import.meta.url));
  const output = execFileSync(process.execPath, ['--require', standIns.preloadHook, preload], {
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual({
    world: 'corollary',
    functions: [...channelNames, 'onWaiting'].map((name) => [name, 'function']),
    // A page names no path: the preload reads it from the file.
    invoked: channelNames.map((name) => [
      wireName(name),
      name === 'noteFile' ? 'path of an argument' : 'an argument',
    ]),
    // Once, before it had stopped, and without the event, whose sender could do more.
    heard: [[]],
  });
});

test('a second start hands over its arguments and ends', async () => {
  const run = start({ isSecond: true, argv: ['--open=/ask'] });
  expect(await run.exited).toBe(0);
  const [data] = (run.named('app.requestSingleInstanceLock')[0]?.args ?? []) as [{ argv: string[] }];
  expect(data.argv).toContain('--open=/ask');
  expect(run.named('BrowserWindow')).toEqual([]);
});

test('the first instance comes to the front and opens the place that another start names', async () => {
  const run = start({ environment: anyPort });
  const page = { url: await opened(run), parent: null };
  const second = (argv: string[]) =>
    run.drive('emit', 'second-instance', ['electron', '.'], '/', {
      argv: ['electron', '.', ...argv],
      directory: '/',
    });
  await second(['--open=/ask']);
  await run.until('webContents.send');
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([
    { kind: 'place', place: '/ask' },
  ]);
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([]);
  await second([]);
  await run.until('window.focus', 2);
  expect(run.named('window.loadURL')).toHaveLength(1);
  expect(run.named('window.restore')).toHaveLength(2);
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([]);
});

test('links open only known places, even before the window exists', async () => {
  const run = start({ environment: anyPort, argv: ['corollary://ask?question=p(?x)'] });
  const own = await opened(run);
  expect(own).toMatch(/#\/ask\?question=p%28%3Fx%29&unasked=true$/);
  const page = { url: own, parent: null };
  expect(await run.drive('emit', 'open-url', 'corollary://rules?rule=r7')).toBe(true);
  for (const link of ['corollary://admin/keys?make=true', 'corollary://nowhere', 'https://example.com/'])
    await run.drive('emit', 'open-url', link);
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([
    { kind: 'place', place: '/rules?rule=r7' },
  ]);
});

test('files are handed to the page for import, and others are refused with an explanation', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'facts.dl'), 'p(a).\n');
  writeFileSync(join(folder, 'more.csv'), Buffer.from([0xff, 0x41]));
  writeFileSync(join(folder, 'script.sh'), 'touch /tmp/never');
  const run = start({ environment: anyPort, argv: [join(folder, 'facts.dl')] });
  const page = { url: await opened(run), parent: null };
  const taken = async () =>
    (await run.drive('invoke', 'corollary:takeRequests', page)) as { bytes: Uint8Array }[];
  const [first] = await taken();
  expect(first).toMatchObject({ kind: 'file', name: 'facts.dl' });
  expect(Buffer.from(first?.bytes ?? []).toString()).toBe('p(a).\n');

  await run.drive('emit', 'second-instance', [], '/', { argv: ['electron', 'more.csv'], directory: folder });
  await run.until('webContents.send', 2);
  const [second] = await taken();
  expect([...(second?.bytes ?? [])]).toEqual([0xff, 0x41]);

  await run.drive('emit', 'open-file', join(folder, 'script.sh'));
  const { args } = await run.until('dialog.showErrorBox');
  expect(args).toEqual(['The file cannot be opened', 'script.sh is not a file of facts and rules.']);
  expect(await taken()).toEqual([]);
  const facts = await fetch(new URL('/predicates', page.url), { headers: { 'x-tenant-id': 'default' } });
  expect(await facts.json()).toEqual({ predicates: [] });
});

test('the menu runs only what the page offers', async () => {
  const run = start({ environment: anyPort });
  const page = { url: await opened(run), parent: null };
  await expect(run.drive('choose', 'application', 'Facts')).rejects.toThrow('cannot be chosen');
  await run.drive('invoke', 'corollary:setCommands', page, [
    { id: 'go.facts', title: 'Facts' },
    { id: 'tour', title: 'Leave the tour' },
  ]);
  await run.drive('choose', 'application', 'Facts');
  await run.drive('choose', 'application', 'Leave the tour');
  await expect(run.drive('choose', 'application', 'Rules')).rejects.toThrow('cannot be chosen');
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([
    { kind: 'command', id: 'go.facts' },
    { kind: 'command', id: 'tour' },
  ]);
  expect(run.named('webContents.send')).toEqual([
    { call: 'webContents.send', args: ['corollary:waiting'] },
    { call: 'webContents.send', args: ['corollary:waiting'] },
  ]);
  const menu = JSON.stringify(run.named('Menu.setApplicationMenu').at(-1)?.args);
  for (const id of commandIds) expect(menu).toContain(`"id":"${id}"`);
});

test('the tray copies the address, opens the window and quits', async () => {
  const run = start({ environment: anyPort });
  const address = new URL(await opened(run)).origin;
  await run.drive('choose', 'tray', 'Copy the Address');
  await run.drive('choose', 'tray', 'Copy the Address for Agents (MCP)');
  expect(run.named('clipboard.writeText').map(({ args }) => args[0])).toEqual([address, `${address}/mcp`]);
  const before = run.named('window.focus').length;
  await run.drive('choose', 'tray', 'Open Corollary');
  expect(run.named('window.focus')).toHaveLength(before + 1);
  await run.drive('choose', 'tray', 'Quit');
  expect(await run.exited).toBe(0);
});

test('a start at login opens no window until requested', async () => {
  const run = start({ environment: anyPort, argv: ['--hidden'] });
  await run.until('tray.setToolTip', 2);
  expect(run.named('BrowserWindow')).toEqual([]);
  await run.drive('choose', 'tray', 'Open Corollary');
  expect(await health(await opened(run))).toMatchObject({ status: 'ok' });
});

/** An agent that stays connected. */
async function connectAgent(address: string): Promise<void> {
  const response = await fetch(new URL('/mcp/sse', address), { headers: { accept: 'text/event-stream' } });
  // The first event arrives once the session exists.
  const reader = response.body?.getReader();
  await reader?.read();
  agents.push(async () => reader?.cancel());
}

const agents: (() => Promise<void>)[] = [];
// The agent's service may have ended first.
test.afterEach(async () => {
  await Promise.allSettled(agents.splice(0).map((end) => end()));
});

test('closing the last window while an agent is connected asks, keeps the service running, and can be reopened', async () => {
  const run = start({ environment: anyPort, answers: ['Keep Running'] });
  const address = await opened(run);
  await connectAgent(address);
  await run.drive('closeWindow');
  await run.until('window.closed');
  const [question] = (run.named('dialog.showMessageBox')[0]?.args ?? []) as [
    { message: string; buttons: string[] },
  ];
  expect(question).toMatchObject({
    message: 'An agent is connected.',
    buttons: ['Keep Running', 'Quit', 'Cancel'],
  });
  expect(await health(address)).toMatchObject({ status: 'ok' });
  expect(run.named('app.quit')).toEqual([]);
  await run.drive('choose', 'tray', 'Open Corollary');
  expect((await run.until('window.loadURL', 2)).args).toEqual([address]);
});

test('the choice for connected agents can be remembered, and quitting still asks', async () => {
  const run = start({ environment: anyPort, answers: ['Keep Running+', 'Cancel', 'Quit'] });
  await connectAgent(await opened(run));
  await run.drive('closeWindow');
  await run.until('window.closed');
  const settings: unknown = JSON.parse(readFileSync(join(run.userData, 'shell.json'), 'utf8'));
  expect(settings).toMatchObject({ departure: 'keep' });
  await run.drive('choose', 'tray', 'Open Corollary');
  await run.until('BrowserWindow', 2);
  await run.drive('closeWindow');
  await run.until('window.closed', 2);
  expect(run.named('dialog.showMessageBox')).toHaveLength(1);
  await run.drive('quit');
  await run.until('dialog.showMessageBox', 2);
  await run.drive('quit');
  expect(await run.exited).toBe(0);
  expect(run.named('dialog.showMessageBox')).toHaveLength(3);
});

test('a system shutdown does not ask about agents', async () => {
  const run = start({ environment: anyPort });
  const address = await opened(run);
  await connectAgent(address);
  await run.drive('power', 'shutdown');
  expect(await run.exited).toBe(0);
  expect(run.named('dialog.showMessageBox')).toEqual([]);
});

test('the system’s store keeps the key of the service, which is restored only with its folder', async () => {
  const run = start({ environment: anyPort });
  const page = { url: await opened(run), parent: null };
  expect(await run.drive('invoke', 'corollary:readKey', page)).toEqual({ key: null, place: 'kept' });
  expect(await run.drive('invoke', 'corollary:keepKey', page, 'sesame')).toBe('kept');
  expect(readFileSync(join(run.userData, 'secrets.json'), 'utf8')).not.toContain('sesame');
  await run.drive('closeWindow');
  await run.exited;

  const again = start({ environment: anyPort, userData: run.userData });
  const there = { url: await opened(again), parent: null };
  expect(await again.drive('invoke', 'corollary:readKey', there)).toEqual({ key: 'sesame', place: 'kept' });
  const elsewhere = start({
    environment: { ...anyPort, STORAGE_DIR: temporaryFolder() },
    userData: run.userData,
  });
  const other = { url: await opened(elsewhere), parent: null };
  expect(await elsewhere.drive('invoke', 'corollary:readKey', other)).toEqual({ key: null, place: 'kept' });
});

test('without a system store a key lasts for the session, and is in no file', async () => {
  const run = start({ environment: anyPort, hasNoVault: true });
  const page = { url: await opened(run), parent: null };
  expect(await run.drive('invoke', 'corollary:keepKey', page, 'sesame')).toBe('session');
  expect(await run.drive('invoke', 'corollary:readKey', page)).toEqual({ key: 'sesame', place: 'session' });
  expect(existsSync(join(run.userData, 'secrets.json'))).toBe(false);
});

test('the page changes settings, and the service applies them at its restart', async () => {
  const folder = join(temporaryFolder(), 'mine');
  const run = start({ answers: [folder] });
  const page = { url: await opened(run), parent: null };
  const ask = (channel: string, argument?: unknown) =>
    run.drive('invoke', `corollary:${channel}`, page, argument);
  expect(await ask('readSettings')).toMatchObject({
    folder: join(run.userData, 'share', 'corollary'),
    isFolderFixed: false,
    isPortFixed: false,
    opensAtLogin: false,
    departure: 'ask',
    release: { kind: 'off' },
    secrets: 'kept',
    providers: { anthropic: 'none', openai: 'none', google: 'none' },
    needsRestart: false,
  });
  expect(
    await ask('changeSettings', { kind: 'provider', provider: 'openai', key: 'sk-secret' }),
  ).toMatchObject({
    providers: { openai: 'kept' },
    needsRestart: true,
  });
  expect(await ask('chooseFolder')).toMatchObject({ folder, needsRestart: true });
  expect(JSON.stringify(await ask('readSettings'))).not.toContain('sk-secret');
  await ask('changeSettings', { kind: 'departure', value: 'quit' });
  await ask('restartService');
  const again = String((await run.until('window.loadURL', 2)).args[0]);
  const ready = (await (await fetch(new URL('/health/ready', again))).json()) as { subsystems: unknown };
  expect(ready.subsystems).toMatchObject({ llm: 'ready' });
  expect(existsSync(folder)).toBe(true);
  const text = readFileSync(join(run.userData, 'shell.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ folder, departure: 'quit' });
  expect(text).not.toContain('sk-secret');
  expect(await run.drive('invoke', 'corollary:readSettings', { url: again, parent: null })).toMatchObject({
    folder,
    needsRestart: false,
  });
});

test('settings from the environment are shown as such, and read-only', async () => {
  const environment = { ...anyPort, STORAGE_DIR: temporaryFolder(), ANTHROPIC_API_KEY: 'from-outside' };
  const run = start({ environment });
  const page = { url: await opened(run), parent: null };
  const ask = (channel: string, argument?: unknown) =>
    run.drive('invoke', `corollary:${channel}`, page, argument);
  expect(await ask('readSettings')).toMatchObject({
    isFolderFixed: true,
    isPortFixed: true,
    providers: { anthropic: 'environment' },
  });
  await expect(ask('changeSettings', { kind: 'port', port: 9999 })).rejects.toThrow('set by PORT');
  await expect(ask('chooseFolder')).rejects.toThrow('set by STORAGE_DIR');
  await expect(
    ask('changeSettings', { kind: 'provider', provider: 'anthropic', key: 'mine' }),
  ).rejects.toThrow('by the environment');
  expect(run.named('dialog.showOpenDialog')).toEqual([]);
});

test('starting at login can be switched on and off', async () => {
  const run = start({ environment: anyPort });
  const page = { url: await opened(run), parent: null };
  const set = (value: boolean) =>
    run.drive('invoke', 'corollary:changeSettings', page, { kind: 'opensAtLogin', value });
  const file = join(run.userData, 'config', 'autostart', 'corollary.desktop');
  expect(await set(true)).toMatchObject({ opensAtLogin: true });
  if (process.platform === 'linux')
    expect(readFileSync(file, 'utf8')).toContain(`Exec="${process.execPath}" "/application" "--hidden"`);
  else
    expect(run.named('app.setLoginItemSettings').at(-1)?.args).toEqual([
      { openAtLogin: true, args: ['--hidden'] },
    ]);
  expect(await set(false)).toMatchObject({ opensAtLogin: false });
  expect(existsSync(file)).toBe(false);
});

test('the bridge restarts an installed application without a window and without its secrets', async () => {
  const run = start({ environment: { ...anyPort, API_KEY: 'sesame' }, isPackaged: true });
  await opened(run);
  const text = readFileSync(join(run.userData, 'service.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    command: process.execPath,
    args: ['--hidden'],
    needs: ['API_KEY'],
  });
  expect(text).not.toContain('sesame');
});

test('a start reports that the port chosen in Settings is taken, and can drop it', async () => {
  const port = await take(0);
  const userData = temporaryFolder();
  writeFileSync(join(userData, 'shell.json'), JSON.stringify({ chosenPort: port }));
  const run = start({ userData, answers: ['Try Again', 'Use Another Port'] });
  const address = await opened(run);
  expect(Number(new URL(address).port)).not.toBe(port);
  expect(run.named('dialog.showMessageBox')).toHaveLength(2);
  expect(JSON.parse(readFileSync(join(userData, 'shell.json'), 'utf8'))).toMatchObject({ chosenPort: null });
});

test('a start with a taken port uses a free one from 9301 on and remembers it', async () => {
  await take(9300);
  const first = start();
  const address = await opened(first);
  const port = Number(new URL(address).port);
  expect(port).toBeGreaterThanOrEqual(9301);
  expect(await health(address)).toMatchObject({ status: 'ok' });
  expect(JSON.parse(readFileSync(join(first.userData, 'shell.json'), 'utf8'))).toMatchObject({ port });
  expect(first.named('dialog.showMessageBox')).toEqual([]);
  // Agents need another address now: the page that shows it for copying opens.
  expect(address).toMatch(/#\/agents\?part=connect$/);
  const page = { url: address, parent: null };
  expect(await first.drive('invoke', 'corollary:takeRequests', page)).toEqual([
    { kind: 'notice', text: expect.stringContaining(`port ${port}`) },
  ]);
  await first.drive('closeWindow');
  await first.exited;
  const again = await opened(start({ userData: first.userData }));
  expect(again.startsWith(`http://127.0.0.1:${port}/`)).toBe(true);
});

test('a start reports that a port set by the user is taken, with alternatives, and never replaces it', async () => {
  const port = await take(0);
  const run = start({ environment: { PORT: String(port) }, answers: ['Try Again', 'Quit'] });
  expect(await run.exited).toBe(0);
  const dialogs = run.named('dialog.showMessageBox');
  expect(dialogs).toHaveLength(2);
  const [question] = (dialogs[0]?.args ?? []) as [{ message: string; buttons: string[] }];
  expect(question.message).toContain(String(port));
  expect(question.buttons).toEqual(['Try Again', 'Quit']);
  expect(run.named('BrowserWindow')).toEqual([]);
});

test('a start reports a bad setting by its name', async () => {
  const run = start({ environment: { ...anyPort, FSYNC: 'sometimes' } });
  expect(await run.exited).toBe(0);
  const [question] = (run.named('dialog.showMessageBox')[0]?.args ?? []) as [{ message: string }];
  expect(question.message).toContain('FSYNC');
  expect(question.message).toContain('sometimes');
});

test('a start reports a data folder in use, and can open the service that uses it', async () => {
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

test('a start can use another folder instead of one in use', async () => {
  const environment = { ...anyPort, STORAGE_DIR: temporaryFolder() };
  await opened(start({ environment }));
  const folder = join(temporaryFolder(), 'mine');
  const other = start({ environment, answers: ['Choose Another Folder…', folder] });
  expect(await health(await opened(other))).toMatchObject({ status: 'ok' });
  expect(existsSync(folder)).toBe(true);
});

test('closing the window ends the service cleanly and remembers the window’s position', async () => {
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
  expect(settings).toMatchObject({
    windows: [
      { states: [{ screens: '1920x1080+0+0', bounds: { width: 1280, height: 860 }, maximized: false }] },
    ],
  });

  const again = start({ environment: anyPort, userData: run.userData });
  const response = await fetch(new URL('/query', await opened(again)), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
    body: JSON.stringify({ predicate: 'kept', args: ['?what'] }),
  });
  expect(await response.json()).toEqual([{ predicate: 'kept', args: ['yes'], truthVal: true }]);
});

test('a crashed page can be reloaded', async () => {
  const run = start({ environment: anyPort, answers: ['Reload'] });
  await opened(run);
  await run.drive('crash');
  await run.until('window.reload');
});

test('a page that crashes three times in a minute is not reloaded automatically, and can be opened in the browser', async () => {
  const run = start({ environment: anyPort, answers: ['Reload', 'Reload', 'Open in the Browser'] });
  const address = await opened(run);
  for (let crashes = 1; crashes <= 3; crashes++) {
    await run.drive('crash');
    await run.until('dialog.showMessageBox', crashes);
  }
  expect(await run.exited).toBe(0);
  expect(run.named('window.reload')).toHaveLength(2);
  const [question] = (run.named('dialog.showMessageBox')[2]?.args ?? []) as [
    { message: string; buttons: string[]; defaultId: number },
  ];
  expect(question.message).toContain('three times');
  expect(question.buttons[question.defaultId]).toBe('Close');
  expect(run.named('shell.openExternal').map(({ args }) => args[0])).toEqual([address]);
});

test('the user can wait for an unresponsive page or reload it in a new process', async () => {
  const run = start({ environment: anyPort, answers: ['Wait', 'Reload'] });
  await opened(run);
  await run.drive('emitOfWindow', 'unresponsive');
  await run.until('dialog.showMessageBox');
  expect(run.named('window.reload')).toEqual([]);
  await run.drive('emitOfWindow', 'unresponsive');
  await run.until('window.reload');
  expect(run.named('webContents.forcefullyCrashRenderer')).toHaveLength(1);
  // The forced end is not a crash to report.
  await run.drive('emitOfWindow', 'responsive');
  expect(run.named('dialog.showMessageBox')).toHaveLength(2);
});

test('the question about an unresponsive page closes when it responds again', async () => {
  const run = start({ environment: anyPort, answers: ['(nobody answers)'] });
  await opened(run);
  await run.drive('emitOfWindow', 'unresponsive');
  await run.until('dialog.showMessageBox');
  await run.drive('emitOfWindow', 'responsive');
  await run.until('dialog.takenBack');
  expect(run.named('window.reload')).toEqual([]);
});
