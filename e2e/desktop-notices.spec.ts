/**
 * What the built desktop shell says when conclusions are withdrawn, and what another version of it finds, under plain
 * Node with the stand-in of `desktop-bundles.spec.ts`.
 */
import { expect, test } from '@playwright/test';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StandIns, writeStandIns } from './electron-stand-in/compile.ts';
import { type RunOptions, ShellRun } from './electron-stand-in/drive.ts';
import { root } from './root.ts';

// Serially: each starts a service.
test.describe.configure({ mode: 'default' });

const runs: ShellRun[] = [];
const folders: string[] = [];
let standIns: StandIns;

test.beforeAll(() => {
  standIns = writeStandIns();
});
test.afterAll(() => rmSync(standIns.folder, { recursive: true }));
test.afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.clear()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function start(options: RunOptions = {}): ShellRun {
  const run = new ShellRun(standIns, { ...options, environment: { PORT: '0', ...options.environment } });
  runs.push(run);
  return run;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-shell-'));
  folders.push(folder);
  return folder;
}

async function opened(run: ShellRun, count = 1): Promise<string> {
  const { args } = await run.until('window.loadURL', count);
  return String(args[0]);
}

function post(address: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(new URL(path, address), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default', ...headers },
    body: JSON.stringify(body),
  });
}

/** Asks for a conclusion, as an agent does, and then retracts what it rests on. */
async function withdraw(address: string, name: string, headers: Record<string, string> = {}): Promise<void> {
  await post(address, '/teach', { text: 'elder(?x) :- parent(?x, ?y).' }, headers);
  await post(address, '/tell', { predicate: 'parent', args: [name, 'ben'] }, headers);
  const answer = (await (await post(address, '/ask', { text: `elder(${name})` }, headers)).json()) as {
    count: number;
  };
  expect(answer.count).toBe(1);
  const retracted = await post(address, '/retract', { predicate: 'parent', args: [name, 'ben'] }, headers);
  expect(retracted.status).toBe(200);
}

test('a conclusion that is withdrawn while no window has the focus is told of, and a click explains it', async () => {
  const run = start();
  const address = await opened(run);
  await run.drive('blur');
  await withdraw(address, 'ada');
  expect((await run.until('notification.show')).args[0]).toEqual({
    title: 'A conclusion is no longer true',
    body: 'elder(ada), in database default',
    silent: true,
  });
  await run.drive('clickNotification');
  await run.until('window.focus');
  expect(await run.drive('invoke', 'corollary:takeRequests', { url: address, parent: null })).toEqual([
    { kind: 'place', place: '/why-not?question=elder%28ada%29&database=default&tenant=default' },
  ]);
});

test('without a window the notification opens one', async () => {
  const run = start({ argv: ['--hidden'] });
  await expect.poll(() => run.named('tray.setToolTip').at(-1)?.args[0]).toContain('Running at');
  const address = String(run.named('tray.setToolTip').at(-1)?.args[0]).replace(/.* at /, '');
  await withdraw(address, 'ada');
  await run.until('notification.show');
  await run.drive('clickNotification');
  expect(await opened(run)).toContain('#/why-not?question=elder%28ada%29');
});

test('a window in use is not disturbed about its own database, and the focus removes a notification', async () => {
  const run = start();
  const address = await opened(run);
  await run.drive('focusWindow', 0);
  await withdraw(address, 'ada');
  await post(address, '/databases', { name: 'ships' });
  await withdraw(address, 'carl', { 'x-database': 'ships' });
  // The other database's is the first: what the window shows was not told of before.
  const { args } = await run.until('notification.show');
  expect(args[0]).toMatchObject({ body: 'elder(carl), in database ships' });
  await run.drive(
    'invoke',
    'corollary:setPage',
    { url: address, parent: null },
    { place: '/facts?database=ships', title: 'Facts – ships', database: 'ships', unsaved: [] },
  );
  await run.until('notification.close');
});

test('notifications can be switched off, and a system may have none', async () => {
  const run = start();
  const page = { url: await opened(run), parent: null };
  const ask = (of: ShellRun, channel: string, sender: object, argument?: unknown) =>
    of.drive('invoke', `corollary:${channel}`, sender, argument);
  expect(await ask(run, 'readSettings', page)).toMatchObject({ notifiesOfWithdrawn: true, canNotify: true });
  const off = { kind: 'notifiesOfWithdrawn', value: false };
  expect(await ask(run, 'changeSettings', page, off)).toMatchObject({ notifiesOfWithdrawn: false });
  const stored: unknown = JSON.parse(readFileSync(join(run.userData, 'shell.json'), 'utf8'));
  expect(stored).toMatchObject({ notifiesOfWithdrawn: false });
  const without = start({ environment: { STAND_IN_NO_NOTIFICATIONS: '1' } });
  const other = { url: await opened(without), parent: null };
  expect(await ask(without, 'readSettings', other)).toMatchObject({
    notifiesOfWithdrawn: false,
    canNotify: false,
  });
});

test('a service that requires keys names no conclusion on the screen', async () => {
  const run = start({ environment: { API_KEY: 'a-key-of-this-test-0123456789' } });
  const address = await opened(run);
  await run.drive('blur');
  await withdraw(address, 'ada', { authorization: 'Bearer a-key-of-this-test-0123456789' });
  expect((await run.until('notification.show')).args[0]).toMatchObject({ body: 'In database default' });
});

/** Installs the program in a folder, as a package of that version does; returns its main bundle. */
function install(folder: string, version: string): string {
  rmSync(folder, { recursive: true, force: true });
  for (const part of ['out/main', 'out/preload', 'out/renderer', 'resources'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...description, version }));
  return join(folder, 'out/main/main.js');
}

test('an update of the program keeps the knowledge, its folder, the settings and the keys', async () => {
  const place = temporaryFolder();
  const userData = temporaryFolder();
  const chosen = join(temporaryFolder(), 'mine');
  const program = join(place, 'Corollary');
  const first = start({ userData, bundle: install(program, '1.0.0'), answers: [chosen] });
  const page = { url: await opened(first), parent: null };
  const ask = (channel: string, argument?: unknown) =>
    first.drive('invoke', `corollary:${channel}`, page, argument);
  await ask('chooseFolder');
  await ask('changeSettings', { kind: 'notifiesOfWithdrawn', value: false });
  await ask('changeSettings', { kind: 'provider', provider: 'openai', key: 'sk-of-this-test' });
  await ask('restartService');
  page.url = await opened(first, 2);
  expect(await versionOf(page.url)).toBe('1.0.0');
  await ask('keepKey', 'the key of the service');
  await post(page.url, '/tell', { predicate: 'parent', args: ['ada', 'ben'] });
  await first.drive('quit');
  expect(await first.exited).toBe(0);

  // Nothing of the old program is left.
  const second = start({ userData, bundle: install(program, '2.0.0') });
  const updated = { url: await opened(second), parent: null };
  expect(await versionOf(updated.url)).toBe('2.0.0');
  expect(await second.drive('invoke', 'corollary:readSettings', updated)).toMatchObject({
    folder: chosen,
    notifiesOfWithdrawn: false,
    providers: { openai: 'kept' },
  });
  expect(await second.drive('invoke', 'corollary:readKey', updated)).toMatchObject({
    key: 'the key of the service',
  });
  const answer = await (await post(updated.url, '/ask', { text: 'parent(ada, ben)' })).json();
  expect(answer).toMatchObject({ count: 1 });
});

async function versionOf(address: string): Promise<unknown> {
  const health = (await (await fetch(new URL('/health', address))).json()) as { version: unknown };
  return health.version;
}
