/** The window: its options, its place on screen, and what happens when its page dies. */
import { BrowserWindow, type BrowserWindowConstructorOptions, dialog, screen } from 'electron';
import { restoreWindow, smallestWindow, type WindowState } from './window-state.ts';

export interface WindowParts {
  /** The preload script, a CommonJS file. */
  readonly preload: string;
  readonly saved: WindowState | null;
  /** Called with the window's place when it closes. */
  readonly remember: (state: WindowState) => void;
}

/** The options of the window. A page in it has no more power than in a browser, but for the channels' table. */
export function windowOptions(preload: string, { bounds }: WindowState): BrowserWindowConstructorOptions {
  return {
    ...bounds,
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

/** Opens the window on `address`; it shows itself when its first frame is there. */
export function openWindow(address: string, { preload, saved, remember }: WindowParts): BrowserWindow {
  const primary = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter((display) => display.id !== primary.id);
  const state = restoreWindow(
    saved,
    [primary, ...others].map((display) => display.workArea),
  );
  const window = new BrowserWindow(windowOptions(preload, state));
  if (state.maximized) window.maximize();
  window.once('ready-to-show', () => window.show());
  window.on('close', () => remember({ bounds: window.getNormalBounds(), maximized: window.isMaximized() }));
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason !== 'clean-exit') void offerReload(window, reason);
  });
  load(window, address);
  return window;
}

/** Shows `address` in the window. A page that cannot be loaded is told to the user. */
export function load(window: BrowserWindow, address: string): void {
  window.loadURL(address).catch((error: unknown) => {
    if (!window.isDestroyed())
      dialog.showErrorBox('The workbench cannot be shown', `${address}: ${String(error)}`);
  });
}

export function bringToFront(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

async function offerReload(window: BrowserWindow, reason: string): Promise<void> {
  const { response } = await dialog.showMessageBox(window, {
    type: 'error',
    title: 'The workbench has stopped',
    message: 'The workbench has stopped.',
    detail: `Its page has ended (${reason}). The service goes on running, and drafts are kept.`,
    buttons: ['Reload', 'Close'],
    defaultId: 0,
    cancelId: 1,
  });
  if (window.isDestroyed()) return;
  if (response === 0) window.reload();
  else window.close();
}
