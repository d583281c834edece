/**
 * The window: its options, its bounds, recovery when its page crashes or hangs, its context menu and what is dragged
 * out of it; and the icon in the tray.
 */
import {
  BrowserWindow,
  type BrowserWindowConstructorOptions,
  clipboard,
  dialog,
  Menu,
  nativeImage,
  screen,
  type Session,
  Tray,
  type WebContents,
} from 'electron';
import { mkdirSync, readdirSync } from 'node:fs';
import type { DraggedFile } from '../../desktop-contract/channels.ts';
import { contextTemplate, dictionaryLanguages } from './context-menu.ts';
import { focusesMenu } from './menu.ts';
import { writeDragged } from './dragged-files.ts';
import {
  besideWindow,
  CrashLoop,
  type Rectangle,
  restoreWindow,
  screensOf,
  smallestWindow,
  stateOn,
  type WindowState,
  type WindowStates,
  withoutFrame,
  withState,
} from './window-state.ts';
import { askAfterCrash, askUnresponsive, tellTrouble } from './questions.ts';
import { join } from 'node:path';
import { statusLine, type TrayParts, type TrayStatus, trayTemplate } from './menu.ts';

interface WindowParts {
  /** The preload script, a CommonJS file. */
  readonly preload: string;
  /** The window's icon; null: the system takes it from the program. */
  readonly icon: string | null;
  readonly saved: WindowStates;
  /** The bounds of the window in front; null if this one is the first. */
  readonly front: Rectangle | null;
  /** Whether the system's dictionaries are there to check spelling with. */
  readonly hasSpelling: boolean;
  /** Called with the window's states when it is about to close. */
  readonly remember: (states: WindowStates) => void;
  /** Whether the window may close now; if not, the callee closes it later. */
  readonly mayClose: () => boolean;
  /** Whether the page may end although it would lose something, such as by a reload. */
  readonly mayLose: () => boolean;
  /** Shows the workbench in the browser instead. */
  readonly openInBrowser: () => void;
}

/** The options of the window. A page in it has no more power than in a browser, except for the channels' table. */
function windowOptions(
  { preload, icon, hasSpelling }: Pick<WindowParts, 'preload' | 'icon' | 'hasSpelling'>,
  { bounds, fullScreen }: WindowState,
): BrowserWindowConstructorOptions {
  return {
    ...bounds,
    ...(fullScreen ? { fullscreen: true } : {}),
    ...(icon === null ? {} : { icon }),
    minWidth: smallestWindow.width,
    minHeight: smallestWindow.height,
    title: 'Corollary',
    show: false,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: hasSpelling,
    },
  };
}

/** The work areas of the screens, the primary one's first. */
function workAreas(): Rectangle[] {
  const primary = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter((display) => display.id !== primary.id);
  return [primary, ...others].map((display) => display.workArea);
}

/** Milliseconds after its page was loaded in which a window may paint its first frame. */
const patienceMs = 2_000;

/** Shows the window with its first frame, or soon after its page was loaded: some systems paint no hidden window. */
export function showWithFirstFrame(window: BrowserWindow): void {
  let isShown = false;
  const show = () => {
    if (!isShown && !window.isDestroyed()) window.show();
    isShown = true;
  };
  window.once('ready-to-show', show);
  window.webContents.once('did-finish-load', () => setTimeout(show, patienceMs));
}

/** Opens a window on `address`; it becomes visible with its first frame. */
export function openWindow(address: string, parts: WindowParts): BrowserWindow {
  const areas = workAreas();
  const { saved, front } = parts;
  const state = restoreWindow(
    stateOn(saved, screensOf(areas)) ?? (front === null ? null : besideWindow(front)),
    areas,
  );
  const window = new BrowserWindow(windowOptions(parts, state));
  if (state.maximized) window.maximize();
  showWithFirstFrame(window);
  let shown: Rectangle | null = null;
  if (!state.maximized && !state.fullScreen)
    // X11 reports the position only after the window manager has added its frame.
    window.once('show', () =>
      setTimeout(() => (shown ??= window.isDestroyed() ? null : window.getBounds()), 250),
    );
  window.on('close', (event) => {
    const [maximized, fullScreen] = [window.isMaximized(), window.isFullScreen()];
    const isUntouched = shown === null && maximized === state.maximized && fullScreen === state.fullScreen;
    const bounds = isUntouched
      ? state.bounds
      : withoutFrame(window.getNormalBounds(), { requested: state.bounds, shown });
    parts.remember(withState(saved, screensOf(workAreas()), { bounds, maximized, fullScreen }));
    if (!parts.mayClose()) event.preventDefault();
  });
  // Electron keeps a page that asks to stay, and says nothing.
  window.webContents.on('will-prevent-unload', (event) => {
    if (parts.mayLose()) event.preventDefault();
  });
  window.webContents.on('before-input-event', (event, input) => {
    if (!focusesMenu(input, process.platform)) return;
    event.preventDefault();
    // Electron gives the menu bar the focus for a lone Alt, and has no other way to ask for that.
    for (const type of ['rawKeyDown', 'keyUp'] as const)
      window.webContents.sendInputEvent({ type, keyCode: 'Alt' });
  });
  recover(window, parts);
  load(window, address);
  return window;
}

/** Brings a window back whose title bar is on no screen, after one was unplugged. */
export function keepReachable(window: BrowserWindow): void {
  if (window.isDestroyed() || window.isMaximized() || window.isFullScreen()) return;
  const bounds = window.getNormalBounds();
  const state = { bounds, maximized: false, fullScreen: false };
  const { bounds: reachable } = restoreWindow(state, workAreas());
  if (reachable.x !== bounds.x || reachable.y !== bounds.y) window.setBounds(reachable);
}

/**
 * Shows `address` in the window. Reports a page that cannot be loaded to the user; an aborted load is none: the page, or
 * the user, has asked for another address meanwhile, and it may have been refused.
 */
export function load(window: BrowserWindow, address: string): void {
  window.loadURL(address).catch((error: unknown) => {
    if (window.isDestroyed() || (error as { code?: unknown }).code === 'ERR_ABORTED') return;
    dialog.showErrorBox('The workbench cannot be shown', `${address}: ${String(error)}`);
  });
}

/** Shows the window and gives it the focus. */
export function bringToFront(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

/** Asks the user what to do when the page has crashed or hangs. One question at a time. */
function recover(window: BrowserWindow, { openInBrowser }: WindowParts): void {
  const ends = new CrashLoop();
  let unanswered: AbortController | null = null;
  let isReplaced = false;
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    unanswered?.abort();
    if (isReplaced || reason === 'clean-exit') return;
    void askAfterCrash(window, { reason, isLoop: ends.note(performance.now()) }).then((choice) => {
      if (window.isDestroyed()) return;
      if (choice === 'reload') return window.reload();
      if (choice === 'browser') openInBrowser();
      window.close();
    });
  });
  window.on('responsive', () => unanswered?.abort());
  window.on('unresponsive', () => {
    if (unanswered !== null) return;
    const asking = new AbortController();
    unanswered = asking;
    void askUnresponsive(window, asking.signal).then((choice) => {
      unanswered = null;
      if (choice === 'wait' || asking.signal.aborted || window.isDestroyed()) return;
      // A page that hangs does not react to a reload. Its end is reported later, and is not a crash then.
      isReplaced = true;
      window.webContents.once('did-finish-load', () => {
        isReplaced = false;
      });
      window.webContents.forcefullyCrashRenderer();
      window.reload();
    });
  });
}

/** Shows the menu of a page where the page has none of its own. */
export function attachContextMenu(page: WebContents): void {
  page.on('context-menu', (_event, parameters) => {
    const template = contextTemplate(parameters, {
      copy: (text) => {
        clipboard.writeText(text).catch((error: unknown) => tellTrouble('The link was not copied', error));
      },
      replace: (word) => page.replaceMisspelling(word),
      learn: (word) => void page.session.addWordToSpellCheckerDictionary(word),
    });
    if (template.length > 0) Menu.buildFromTemplate(template).popup();
  });
}

/** Chooses the dictionaries that are there. Returns whether spelling can be checked. */
export function prepareSpelling(session: Session, platform: NodeJS.Platform, userData: string): boolean {
  if (platform === 'darwin') return true;
  const folder = join(userData, 'Dictionaries');
  mkdirSync(folder, { recursive: true });
  const known = new Set(session.availableSpellCheckerLanguages);
  const languages = dictionaryLanguages(readdirSync(folder)).filter((language) => known.has(language));
  session.setSpellCheckerEnabled(languages.length > 0);
  if (languages.length > 0) session.setSpellCheckerLanguages(languages);
  return languages.length > 0;
}

/** Begins to drag the file out of the window of a page, while the user holds the button. */
export function dragOut(page: WebContents, dragged: DraggedFile, icons: string): void {
  const icon = nativeImage.createFromPath(join(icons, '32x32.png'));
  page.startDrag({ file: writeDragged(dragged), icon });
}

/** The icon with its menu. If the system has no tray, Electron silently shows none. */
export class StatusTray {
  readonly #tray: Tray;
  readonly #parts: () => Omit<TrayParts, 'copy'>;

  /** `icons`: the folder of the icons. `parts` is read whenever the menu is made. */
  constructor(icons: string, platform: NodeJS.Platform, parts: () => Omit<TrayParts, 'copy'>) {
    this.#parts = parts;
    // macOS tints a template itself, and finds the larger one beside it.
    const name =
      platform === 'darwin' ? 'trayTemplate.png' : platform === 'win32' ? 'corollary.ico' : '32x32.png';
    this.#tray = new Tray(nativeImage.createFromPath(join(icons, name)));
    this.#tray.on('click', () => this.#parts().open());
    this.show({ kind: 'starting' });
  }

  show(status: TrayStatus): void {
    const copy = (text: string) => {
      clipboard.writeText(text).catch((error: unknown) => tellTrouble('The address was not copied', error));
    };
    this.#tray.setToolTip(`Corollary: ${statusLine(status)}`);
    this.#tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(status, { ...this.#parts(), copy })));
  }
}
