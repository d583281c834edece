/** What a start of the built desktop shell shows while it waits: for a large folder, and for the system's key store. */
import { expect, test } from '@playwright/test';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StandIns, writeStandIns } from './electron-stand-in/compile.ts';
import { type RunOptions, ShellRun } from './electron-stand-in/drive.ts';

const runs: ShellRun[] = [];
let folder: string;
let standIns: StandIns;

test.beforeAll(() => {
  standIns = writeStandIns();
});
test.afterAll(() => rmSync(standIns.folder, { recursive: true }));
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-start-'));
});
test.afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.clear()));
  rmSync(folder, { recursive: true, force: true });
});

function start(options: RunOptions = {}): ShellRun {
  const run = new ShellRun(standIns, { ...options, environment: { PORT: '0', ...options.environment } });
  runs.push(run);
  return run;
}

/** A folder that is large, though its knowledge is small. */
function largeFolder(): string {
  const large = join(folder, 'large');
  mkdirSync(large);
  writeFileSync(join(large, 'notes.txt'), '');
  truncateSync(join(large, 'notes.txt'), 40 * 1024 ** 2);
  return large;
}

/** Waits until the tray says that the service runs: a start without a window shows nothing else. */
async function untilRunning(run: ShellRun): Promise<void> {
  await expect.poll(() => run.named('tray.setToolTip').at(-1)?.args[0]).toContain('Running at');
}

const isProgress = (address: unknown) => String(address).startsWith('data:text/html');

test('a large folder gets a window with progress at once, which the workbench replaces', async () => {
  const run = start({ environment: { STORAGE_DIR: largeFolder() } });
  await run.until('window.destroy');
  const loaded = run.named('window.loadURL').map(({ args }) => args[0]);
  expect(loaded.map(isProgress)).toEqual([true, false]);
  expect(decodeURIComponent(String(loaded[0]))).toContain(join(folder, 'large'));
  const [options] = run.named('BrowserWindow')[0]?.args ?? [];
  expect(options).toMatchObject({ webPreferences: { sandbox: true, contextIsolation: true } });
  expect(options).not.toHaveProperty('webPreferences.preload');
  // It is there before anything has been read, and goes when the workbench is seen.
  const order = run.calls.map(({ call }) => call);
  expect(order.indexOf('BrowserWindow')).toBeLessThan(order.indexOf('webContents.executeJavaScript'));
  expect(run.named('webContents.executeJavaScript')[0]?.args).toEqual(['show(0)']);
  expect(order.indexOf('window.destroy')).toBeGreaterThan(order.lastIndexOf('window.show'));
  expect(run.named('app.quit')).toEqual([]);
});

test('a small folder gets none, and neither does a start without a window', async () => {
  const small = start();
  await small.until('window.show');
  expect(small.named('BrowserWindow')).toHaveLength(1);
  const hidden = start({ environment: { STORAGE_DIR: largeFolder() }, argv: ['--hidden'] });
  await untilRunning(hidden);
  expect(hidden.named('BrowserWindow')).toEqual([]);
});

test('closing the progress ends the program', async () => {
  const run = start({ environment: { STORAGE_DIR: largeFolder() }, answers: ['Quit'] });
  await run.until('BrowserWindow');
  await run.drive('closeWindow');
  expect(await run.exited).toBe(0);
  expect(run.named('dialog.showMessageBox')).toEqual([]);
  expect(run.named('window.loadURL').filter(({ args }) => !isProgress(args[0]))).toEqual([]);
});

test('the progress goes before a refusal is shown, and its end does not end the program', async () => {
  const large = largeFolder();
  const first = start({ environment: { STORAGE_DIR: large }, argv: ['--hidden'] });
  await untilRunning(first);
  const second = start({ environment: { STORAGE_DIR: large }, answers: ['Open the Running One'] });
  await second.until('window.loadURL', 2);
  const order = second.calls.map(({ call }) => call);
  expect(order.indexOf('window.destroy')).toBeLessThan(order.indexOf('dialog.showMessageBox'));
  expect(second.named('app.quit')).toEqual([]);
});

const waiting = "Waiting for the system's key store.";

test('a key store that waits for its password is told of, and the question goes when it answers', async () => {
  const run = start({ hasLockedVault: true, answers: ['(nobody answers)'] });
  const { args } = await run.until('dialog.showMessageBox');
  expect(args[0]).toMatchObject({ message: waiting, buttons: ['Continue Without It', 'Quit'] });
  expect(run.named('window.loadURL')).toEqual([]);
  await run.drive('unlockVault');
  await run.until('dialog.takenBack');
  const page = { url: String((await run.until('window.loadURL')).args[0]), parent: null };
  expect(await run.drive('invoke', 'corollary:readKey', page)).toEqual({ key: null, place: 'kept' });
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([]);
});

test('without the key store the application starts, keeps keys for the session, and says so', async () => {
  const run = start({ hasLockedVault: true, answers: ['Continue Without It'] });
  const page = { url: String((await run.until('window.loadURL')).args[0]), parent: null };
  expect(await run.drive('invoke', 'corollary:keepKey', page, 'sesame')).toBe('session');
  expect(await run.drive('invoke', 'corollary:takeRequests', page)).toEqual([
    { kind: 'notice', text: expect.stringContaining("The system's key store did not answer") },
  ]);
});

test('a key store that does not answer does not keep the user from quitting', async () => {
  const run = start({ hasLockedVault: true, answers: ['Quit'] });
  expect(await run.exited).toBe(0);
  expect(run.named('BrowserWindow')).toEqual([]);
});
