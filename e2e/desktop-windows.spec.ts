/**
 * The windows of the built desktop shell under plain Node, with the stand-in of `desktop-bundles.spec.ts`: databases,
 * places, unsaved work, recent items, and what a window gives away.
 */
import { expect, test } from '@playwright/test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StandIns, writeStandIns } from './electron-stand-in/compile.ts';
import { type RunOptions, ShellRun } from './electron-stand-in/drive.ts';

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
  const run = new ShellRun(standIns, options);
  runs.push(run);
  return run;
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

const anyPort = { PORT: '0' };

/** Reports what a page shows, as the page does. */
function report(run: ShellRun, url: string, window: number, state: object): Promise<unknown> {
  const page = { place: '/facts', title: 'Facts – Corollary', database: 'default', unsaved: [], ...state };
  return run.drive('invoke', 'corollary:setPage', { url, parent: null, window }, page);
}

function requests(run: ShellRun, url: string, window: number): Promise<unknown> {
  return run.drive('invoke', 'corollary:takeRequests', { url, parent: null, window });
}

test('Close closes a tab while the page has several, else the window, and then the program', async () => {
  const run = start({ environment: anyPort });
  const url = await opened(run);
  const page = { url, parent: null };
  await run.drive('invoke', 'corollary:setCommands', page, [{ id: 'tab.close', title: 'Close the tab' }]);
  await run.drive('choose', 'application', 'Close the tab');
  expect(await requests(run, url, 0)).toEqual([{ kind: 'command', id: 'tab.close' }]);
  expect(run.named('window.closed')).toEqual([]);
  await run.drive('invoke', 'corollary:setCommands', page, []);
  await run.drive('choose', 'application', 'Close the window');
  expect(await run.exited).toBe(0);
});

test('a database has its window, and a link for it uses that one or opens it', async () => {
  const run = start({ environment: anyPort });
  const url = await opened(run);
  await report(run, url, 0, {});
  await run.drive('emit', 'open-url', 'corollary://facts?database=ships');
  expect((await run.until('window.loadURL', 2)).args).toEqual([`${url}#/facts?database=ships`]);
  await report(run, url, 1, {
    title: 'Facts – ships – Corollary',
    database: 'ships',
    place: '/facts?database=ships',
  });
  await run.drive('emit', 'open-url', 'corollary://rules?database=ships');
  await run.drive('emit', 'open-url', 'corollary://rules');
  expect(await requests(run, url, 1)).toEqual([{ kind: 'place', place: '/rules?database=ships' }]);
  expect(await requests(run, url, 0)).toEqual([{ kind: 'place', place: '/rules' }]);
  expect(run.named('BrowserWindow')).toHaveLength(2);
  // The window in front is the one of the last link; the menu lists both.
  const labels = JSON.stringify(run.named('Menu.setApplicationMenu').at(-1)?.args);
  expect(labels).toContain('{"id":"window 1","label":"Facts – Corollary","type":"checkbox","checked":true}');
  expect(labels).toContain('"label":"Facts – ships – Corollary","type":"checkbox","checked":false');
  await run.drive('choose', 'application', 'Facts – ships – Corollary');
  await run.drive('emit', 'second-instance', [], '/', { argv: ['electron', '.'], directory: '/' });
  await run.until('window.focus', 4);
  expect(JSON.stringify(run.named('Menu.setApplicationMenu').at(-1)?.args)).toContain(
    '"label":"Facts – ships – Corollary","type":"checkbox","checked":true',
  );
});

test('each window has its own commands, and the menu those of the one in front', async () => {
  const run = start({ environment: anyPort });
  const url = await opened(run);
  const facts = [{ id: 'go.facts', title: 'Facts' }];
  await run.drive('invoke', 'corollary:setCommands', { url, parent: null, window: 0 }, facts);
  await run.drive('choose', 'application', 'New window');
  await run.until('BrowserWindow', 2);
  await expect(run.drive('choose', 'application', 'Facts')).rejects.toThrow('cannot be chosen');
  await run.drive('focusWindow', 0);
  await run.drive('choose', 'application', 'Facts');
  expect(await requests(run, url, 0)).toEqual([{ kind: 'command', id: 'go.facts' }]);
  expect(await requests(run, url, 1)).toEqual([]);
});

test('the windows that are open at the end are opened again, each with its database and place', async () => {
  const run = start({ environment: anyPort });
  const url = await opened(run);
  await report(run, url, 0, { place: '/ask?question=p%28%3Fx%29' });
  for (const at of [1, 2]) {
    await run.drive('choose', 'application', 'New window');
    await run.until('BrowserWindow', at + 1);
    await report(run, url, at, { database: `d${at}`, place: `/rules?database=d${at}` });
  }
  // One that is closed before does not come back.
  await run.drive('closeWindowAt', 1);
  await run.until('window.closed');
  await run.drive('quit');
  await run.exited;
  const again = start({
    environment: anyPort,
    userData: run.userData,
    argv: ['corollary://facts?database=d2'],
  });
  await again.until('window.loadURL', 2);
  const places = again.named('window.loadURL').map(({ args }) => new URL(String(args[0])).hash);
  expect(places).toEqual(['#/ask?question=p%28%3Fx%29', '#/facts?database=d2']);
  const bounds = again.named('BrowserWindow').map(({ args }) => (args[0] as { x: number }).x);
  expect(bounds).toEqual([320, 320 + 64]);
});

test('windows closed while the service is kept for an agent are opened again together', async () => {
  const run = start({ environment: anyPort, answers: ['Keep Running'] });
  const url = await opened(run);
  await report(run, url, 0, {});
  await run.drive('choose', 'application', 'New window');
  await run.until('BrowserWindow', 2);
  await report(run, url, 1, { database: 'd1', place: '/rules?database=d1' });
  const agent = await fetch(new URL('/mcp/sse', url), { headers: { accept: 'text/event-stream' } });
  // The first event arrives once the session exists.
  const events = agent.body?.getReader();
  await events?.read();
  await run.drive('quit');
  await run.until('window.closed', 2);
  expect(run.named('app.exit')).toEqual([]);
  await run.drive('emit', 'second-instance', [], '/', { argv: ['electron'], directory: '/' });
  await run.until('window.loadURL', 4);
  const places = run.named('window.loadURL').map(({ args }) => new URL(String(args[0])).hash);
  expect(places.slice(2)).toEqual(['#/facts', '#/rules?database=d1']);
  await events?.cancel();
});

test('quitting asks once, naming what each window would lose, and can be cancelled', async () => {
  const run = start({ environment: anyPort, answers: ['Cancel', 'Quit'] });
  const url = await opened(run);
  await run.drive('choose', 'application', 'New window');
  await run.until('BrowserWindow', 2);
  await report(run, url, 0, { unsaved: ['The import of a.csv is under way.'] });
  await report(run, url, 1, { unsaved: ['A new key is not stored yet.'] });
  await run.drive('keepPage', 0);
  await run.drive('quit');
  const [question] = (await run.until('dialog.showMessageBox')).args as [Record<string, unknown>];
  expect(question).toMatchObject({ type: 'warning', buttons: ['Quit', 'Cancel'], defaultId: 1, cancelId: 1 });
  for (const line of ['a.csv', 'A new key']) expect(question['detail']).toContain(line);
  expect((await fetch(new URL('/health', url))).status).toBe(200);
  // The second question is answered with Quit, and then no page can keep the program.
  await run.drive('quit');
  expect(await run.exited).toBe(0);
  expect(run.named('dialog.showMessageBox')).toHaveLength(2);
});

test('closing one of several windows, or reloading its page, asks about what only it would lose', async () => {
  const run = start({ environment: anyPort, answers: ['Cancel', 'Discard', 'Discard', 'Cancel'] });
  const url = await opened(run);
  await run.drive('choose', 'application', 'New window');
  await run.until('BrowserWindow', 2);
  await report(run, url, 0, { unsaved: ['The import of a.csv is under way.'] });
  await run.drive('keepPage', 0);
  expect(await run.drive('reloadsPage')).toBe(false);
  expect(await run.drive('reloadsPage')).toBe(true);
  expect(run.named('dialog.showMessageBoxSync')).toHaveLength(2);
  await run.drive('closeWindowAt', 0);
  await run.until('window.closed');
  const asked = run
    .named('dialog.showMessageBox')
    .map(({ args }) => (args[0] as { message: string }).message);
  expect(asked).toEqual(['If you close the window, you lose what is not saved.']);
  // The other one has nothing to lose: it closes, and with it the program.
  await run.drive('closeWindowAt', 0);
  expect(await run.exited).toBe(0);
});

test('a window whose screen is gone comes back to one that is there', async () => {
  const run = start({ environment: anyPort });
  await opened(run);
  await run.drive('setScreens', [{ x: 2000, y: 0, width: 1600, height: 900 }]);
  expect((await run.until('window.setBounds')).args).toEqual([{ x: 2160, y: 20, width: 1280, height: 860 }]);
});

test('files and databases that were opened are in the menu, and can be opened again or cleared', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'family.dl');
  writeFileSync(file, 'p(a).\n');
  const run = start({ environment: anyPort, argv: [file] });
  const url = await opened(run);
  await report(run, url, 0, { database: 'ships' });
  expect(run.named('app.addRecentDocument')[0]?.args).toEqual([file]);
  await requests(run, url, 0);
  await run.drive('choose', 'application', 'family.dl');
  await run.until('webContents.send', 2);
  expect(await requests(run, url, 0)).toMatchObject([{ kind: 'file', name: 'family.dl' }]);
  await run.drive('choose', 'application', 'Database ships');
  expect(run.named('BrowserWindow')).toHaveLength(1);
  const page = { url, parent: null };
  await run.drive('invoke', 'corollary:noteFile', page, '/etc/passwd');
  expect(run.named('app.addRecentDocument').map(({ args }) => args[0])).toEqual([file, file]);
  await run.drive('choose', 'application', 'Clear the list');
  await expect(run.drive('choose', 'application', 'family.dl')).rejects.toThrow('there is no item');
  expect(run.named('app.clearRecentDocuments')).toHaveLength(1);
});

test('a text is dragged out as a file that goes with the program', async () => {
  const run = start({ environment: anyPort });
  const page = { url: await opened(run), parent: null };
  await run.drive('invoke', 'corollary:dragOut', page, { name: 'proof.txt', text: 'p(a)\n' });
  const [item] = (run.named('webContents.startDrag')[0]?.args ?? []) as [{ file: string }];
  expect(readFileSync(item.file, 'utf8')).toBe('p(a)\n');
  await run.drive('closeWindow');
  await run.exited;
  expect(existsSync(item.file)).toBe(false);
});

test('a text field has a context menu; spelling is checked with dictionaries that are there', async () => {
  const userData = temporaryFolder();
  const field = {
    isEditable: true,
    selectionText: '',
    linkURL: '',
    misspelledWord: 'wrod',
    dictionarySuggestions: ['word'],
    editFlags: { canCut: true, canCopy: true, canPaste: true },
  };
  const run = start({ environment: anyPort, userData });
  await opened(run);
  expect(run.named('session.setSpellCheckerEnabled')[0]?.args).toEqual([false]);
  await run.drive('contextMenu', field);
  await run.drive('choose', 'context', 'word');
  expect(run.named('webContents.replaceMisspelling')[0]?.args).toEqual(['word']);
  await run.drive('closeWindow');
  await run.exited;
  writeFileSync(join(userData, 'Dictionaries', 'en-US-10-1.bdic'), '');
  const again = start({ environment: anyPort, userData });
  await opened(again);
  expect(again.named('session.setSpellCheckerLanguages')[0]?.args).toEqual([['en-US']]);
  expect(again.named('BrowserWindow')[0]?.args[0]).toMatchObject({ webPreferences: { spellcheck: true } });
});

test('a proof is saved as a PDF where the user says, and nowhere if the user cancels', async () => {
  const file = join(temporaryFolder(), 'proof.pdf');
  const run = start({ environment: anyPort, answers: [file] });
  const page = { url: await opened(run), parent: null };
  expect(await run.drive('invoke', 'corollary:savePdf', page, 'proof-p-a.pdf')).toBe(true);
  expect(run.named('webContents.printToPDF')[0]?.args).toEqual([{ pageSize: 'A4' }]);
  expect(run.named('dialog.showSaveDialog')[0]?.args[0]).toMatchObject({ defaultPath: 'proof-p-a.pdf' });
  expect(readFileSync(file, 'utf8')).toBe('%PDF-');
  expect(await run.drive('invoke', 'corollary:savePdf', page, 'proof-p-a.pdf')).toBe(false);
});

test('F10 gives the menu bar the focus; with another key the page gets it', async () => {
  const run = start({ environment: anyPort });
  await opened(run);
  const f10 = { type: 'keyDown', key: 'F10', control: false, shift: false, alt: false, meta: false };
  const isOfPage = process.platform === 'darwin';
  expect(await run.drive('pressesKey', f10)).toBe(isOfPage);
  expect(await run.drive('pressesKey', { ...f10, shift: true })).toBe(true);
  const sent = run.named('webContents.sendInputEvent').map(({ args }) => args[0]);
  expect(sent).toEqual(
    isOfPage
      ? []
      : [
          { type: 'rawKeyDown', keyCode: 'Alt' },
          { type: 'keyUp', keyCode: 'Alt' },
        ],
  );
});
