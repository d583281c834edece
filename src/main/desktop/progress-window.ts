/**
 * A small window while the service reads a large folder, so that a start shows something at once.
 *
 * A small folder is open before such a window could be read, so it gets none. The page comes from this program and has
 * a session of its own; nothing crosses but percentages, and closing the window means quit.
 */
import { BrowserWindow } from 'electron';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { progressPage } from './progress-page.ts';
import { showWithFirstFrame } from './window.ts';

/** Folders from this size on get the window: reading them takes more than half a second. */
const largeFolderBytes = 16 * 1024 ** 2;

interface ProgressParts {
  /** The folder of the icons. */
  readonly icons: string;
  readonly platform: NodeJS.Platform;
  /** Called when the user closes the window. */
  readonly onCancelled: () => void;
}

/** The window, when there is one. */
export class ProgressWindow {
  readonly #parts: ProgressParts;
  #window: BrowserWindow | null = null;

  constructor(parts: ProgressParts) {
    this.#parts = parts;
  }

  /** Opens the window if the folder is large. */
  begin(folder: string): void {
    if (this.#window !== null || folderBytes(folder) < largeFolderBytes) return;
    const { icons, platform, onCancelled } = this.#parts;
    const window = new BrowserWindow({
      width: 460,
      height: 150,
      useContentSize: true,
      resizable: false,
      maximizable: false,
      fullscreenable: false,
      show: false,
      title: 'Opening Corollary',
      ...(platform === 'linux' ? { icon: join(icons, '512x512.png') } : {}),
      webPreferences: { sandbox: true, contextIsolation: true, partition: 'progress', spellcheck: false },
    });
    this.#window = window;
    window.removeMenu();
    showWithFirstFrame(window);
    window.on('closed', () => {
      if (this.#window !== window) return;
      this.#window = null;
      onCancelled();
    });
    const icon = readFileSync(join(icons, '128x128.png')).toString('base64');
    const page = progressPage({ folder, icon });
    report(window.loadURL(`data:text/html;charset=utf-8,${encodeURIComponent(page)}`), window);
  }

  /** Shows how much has been read. */
  show(percent: number): void {
    const window = this.#window;
    if (window === null) return;
    window.setProgressBar(percent / 100);
    report(window.webContents.executeJavaScript(`show(${percent})`), window);
  }

  /** Closes the window without a question. */
  end(): void {
    const window = this.#window;
    this.#window = null;
    window?.destroy();
  }
}

/** Progress that cannot be shown is no reason to stop; a window that has closed meanwhile is no trouble at all. */
function report(shown: Promise<unknown>, window: BrowserWindow): void {
  shown.catch((error: unknown) => {
    if (!window.isDestroyed()) process.stderr.write(`the progress cannot be shown: ${String(error)}\n`);
  });
}

/** Bytes of the files of a folder; 0 if it cannot be read, which the service reports better. */
function folderBytes(folder: string): number {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(folder, entry.name), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}
