/** The window: its options, its bounds, and recovery when its page crashes or hangs; and the icon in the tray. */
import {
  BrowserWindow,
  type BrowserWindowConstructorOptions,
  clipboard,
  dialog,
  Menu,
  nativeImage,
  screen,
  Tray,
} from 'electron';
import {
  CrashLoop,
  type Rectangle,
  restoreWindow,
  smallestWindow,
  type WindowState,
  withoutFrame,
} from './window-state.ts';
import { askAfterCrash, askUnresponsive, tellTrouble } from './questions.ts';
import { join } from 'node:path';
import { statusLine, type TrayParts, type TrayStatus, trayTemplate } from './menu.ts';

interface WindowParts {
  /** The preload script, a CommonJS file. */
  readonly preload: string;
  /** The window's icon; null: the system takes it from the program. */
  readonly icon: string | null;
  readonly saved: WindowState | null;
  /** Called with the window's bounds when it is about to close. */
  readonly remember: (state: WindowState) => void;
  /** Whether the window may close now; if not, the callee closes it later. */
  readonly mayClose: () => boolean;
  /** Shows the workbench in the browser instead. */
  readonly openInBrowser: () => void;
}

/** The options of the window. A page in it has no more power than in a browser, except for the channels' table. */
function windowOptions(
  { preload, icon }: Pick<WindowParts, 'preload' | 'icon'>,
  { bounds }: WindowState,
): BrowserWindowConstructorOptions {
  return {
    ...bounds,
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
      spellcheck: false,
    },
  };
}

/** Opens the window on `address`; it becomes visible with its first frame. */
export function openWindow(address: string, parts: WindowParts): BrowserWindow {
  const primary = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter((display) => display.id !== primary.id);
  const state = restoreWindow(
    parts.saved,
    [primary, ...others].map((display) => display.workArea),
  );
  const window = new BrowserWindow(windowOptions(parts, state));
  if (state.maximized) window.maximize();
  window.once('ready-to-show', () => window.show());
  let shown: Rectangle | null = null;
  if (!state.maximized)
    // X11 reports the position only after the window manager has added its frame.
    window.once('show', () =>
      setTimeout(() => (shown ??= window.isDestroyed() ? null : window.getBounds()), 250),
    );
  window.on('close', (event) => {
    const maximized = window.isMaximized();
    const isUntouched = shown === null && maximized === state.maximized;
    const bounds = isUntouched
      ? state.bounds
      : withoutFrame(window.getNormalBounds(), { requested: state.bounds, shown });
    parts.remember({ bounds, maximized });
    if (!parts.mayClose()) event.preventDefault();
  });
  recover(window, parts);
  load(window, address);
  return window;
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
