/**
 * A stand-in for the `electron` module of the main process, under plain Node.
 *
 * It records every call that the shell makes and sends it to the parent process; the parent drives it by
 * messages: events to emit, IPC calls to make, questions to ask of the guards. It behaves as Electron documents
 * where the shell depends on it (order of events, preventing them, answers of dialogs), and does nothing else.
 *
 * From the environment: STAND_IN_USER_DATA, the user-data folder; STAND_IN_SECOND, set when another instance is
 * running; STAND_IN_ANSWERS, a JSON array of the labels of the buttons to press in dialogs, in order.
 */
import { EventEmitter } from 'node:events';
import type { BrowserWindowConstructorOptions, MessageBoxOptions, OpenDialogOptions } from 'electron';

const environment = process.env;
const answers = JSON.parse(environment['STAND_IN_ANSWERS'] ?? '[]') as string[];

function send(message: object, sent?: () => void): void {
  if (process.send === undefined) throw new Error('the stand-in is started by a parent that listens');
  process.send(message, undefined, undefined, sent);
}

function record(call: string, ...args: unknown[]): void {
  send({ call, args: JSON.parse(JSON.stringify(args)) as unknown });
}

interface Preventable {
  defaultPrevented: boolean;
  preventDefault(): void;
}

function preventable(fields: object = {}): Preventable {
  const event: Preventable = {
    ...fields,
    defaultPrevented: false,
    preventDefault: () => {
      event.defaultPrevented = true;
    },
  };
  return event;
}

/** Whether a listener prevented the event. */
function prevents(emitter: EventEmitter, name: string, event: Preventable): boolean {
  emitter.emit(name, event);
  return event.defaultPrevented;
}

class App extends EventEmitter {
  #isReady = false;
  readonly #ready = new Promise<void>((resolve) => {
    setTimeout(() => {
      this.#isReady = true;
      resolve();
    }, 10);
  });

  enableSandbox(): void {
    record('app.enableSandbox', { isReady: this.#isReady });
  }

  requestSingleInstanceLock(data: unknown): boolean {
    record('app.requestSingleInstanceLock', data);
    return environment['STAND_IN_SECOND'] === undefined;
  }

  getPath(name: string): string {
    if (name !== 'userData') throw new Error(`the stand-in has no path ${name}`);
    return environment['STAND_IN_USER_DATA'] ?? '';
  }

  getVersion(): string {
    return '0.0.0-stand-in';
  }

  whenReady(): Promise<void> {
    return this.#ready;
  }

  quit(): void {
    record('app.quit');
    for (const window of BrowserWindow.all) window.close();
    setImmediate(() => {
      if (!prevents(this, 'will-quit', preventable())) this.exit(0);
    });
  }

  exit(code: number): void {
    send({ call: 'app.exit', args: [code] }, () => process.exit(code));
  }
}

export const app = new App();

type OpenHandler = (details: { url: string }) => { action: string };

class WebContents extends EventEmitter {
  url = '';
  openHandler: OpenHandler = () => ({ action: 'allow' });

  getURL(): string {
    return this.url;
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.openHandler = handler;
  }
}

export class BrowserWindow extends EventEmitter {
  static readonly all = new Set<BrowserWindow>();
  readonly webContents = new WebContents();
  readonly #options: BrowserWindowConstructorOptions;
  #isDestroyed = false;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.#options = options;
    BrowserWindow.all.add(this);
    record('BrowserWindow', options);
    app.emit('web-contents-created', {}, this.webContents);
  }

  async loadURL(url: string): Promise<void> {
    this.webContents.url = url;
    record('window.loadURL', url);
    setImmediate(() => this.emit('ready-to-show'));
  }

  getNormalBounds(): object {
    const { x, y, width, height } = this.#options;
    return { x, y, width, height };
  }

  isMaximized(): boolean {
    return false;
  }

  isMinimized(): boolean {
    return true;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  maximize(): void {
    record('window.maximize');
  }

  restore(): void {
    record('window.restore');
  }

  show(): void {
    record('window.show');
  }

  focus(): void {
    record('window.focus');
  }

  reload(): void {
    record('window.reload');
  }

  close(): void {
    if (this.#isDestroyed || prevents(this, 'close', preventable())) return;
    this.#isDestroyed = true;
    BrowserWindow.all.delete(this);
    this.emit('closed');
    if (BrowserWindow.all.size === 0) app.emit('window-all-closed');
  }
}

export const dialog = {
  /** Electron takes the window first, or leaves it out. */
  async showMessageBox(...args: unknown[]): Promise<{ response: number }> {
    const options = args.at(-1) as MessageBoxOptions;
    record('dialog.showMessageBox', options);
    const response = (options.buttons ?? []).indexOf(answers.shift() ?? '');
    return { response: response === -1 ? (options.cancelId ?? 0) : response };
  },
  async showOpenDialog(options: OpenDialogOptions): Promise<{ canceled: boolean; filePaths: string[] }> {
    record('dialog.showOpenDialog', options);
    const folder = answers.shift();
    return { canceled: folder === undefined, filePaths: folder === undefined ? [] : [folder] };
  },
  showErrorBox(...args: unknown[]): void {
    record('dialog.showErrorBox', ...args);
  },
};

type IpcHandler = (event: { senderFrame: unknown }, ...args: unknown[]) => unknown;
const ipcHandlers = new Map<string, IpcHandler>();

export const ipcMain = {
  handle(channel: string, handler: IpcHandler): void {
    ipcHandlers.set(channel, handler);
    record('ipcMain.handle', channel);
  },
};

export const Menu = {
  buildFromTemplate: (template: unknown) => ({ template }),
  setApplicationMenu: (menu: unknown) => record('Menu.setApplicationMenu', menu),
};

export const nativeTheme = {
  set themeSource(source: string) {
    record('nativeTheme.themeSource', source);
  },
};

const display = { id: 1, workArea: { x: 0, y: 0, width: 1920, height: 1080 } };
export const screen = { getPrimaryDisplay: () => display, getAllDisplays: () => [display] };

export const shell = {
  async openPath(path: string): Promise<string> {
    record('shell.openPath', path);
    return '';
  },
  showItemInFolder: (path: string) => record('shell.showItemInFolder', path),
};

type Guard = (...args: unknown[]) => unknown;
const guards = new Map<string, Guard>();
const keep = (name: string) => (guard: Guard) => {
  guards.set(name, guard);
};

export const session = {
  defaultSession: {
    setPermissionRequestHandler: keep('request'),
    setPermissionCheckHandler: keep('check'),
    setDevicePermissionHandler: keep('device'),
    webRequest: { onBeforeRequest: keep('before') },
  },
};

function guard(name: string): Guard {
  const found = guards.get(name);
  if (found === undefined) throw new Error(`the shell has set no guard ${name}`);
  return found;
}

function contents(): WebContents {
  const [window] = BrowserWindow.all;
  if (window === undefined) throw new Error('the shell has no window');
  return window.webContents;
}

const drivers: Readonly<Record<string, (...args: never[]) => unknown>> = {
  emit: (name: string, ...args: unknown[]) => app.emit(name, preventable(), ...args),
  closeWindow: () => [...BrowserWindow.all][0]?.close(),
  invoke: (channel: string, sender: unknown, ...args: unknown[]) =>
    ipcHandlers.get(channel)?.({ senderFrame: sender }, ...args),
  permission: async (name: string) => ({
    requested: await new Promise((resolve) => guard('request')(contents(), name, resolve, {})),
    checked: guard('check')(contents(), name, new URL(contents().url).origin, {}),
  }),
  device: () => guard('device')({}),
  requests: (url: string) => new Promise((resolve) => guard('before')({ url }, resolve)),
  opensWindow: (url: string) => contents().openHandler({ url }),
  navigates: (name: string, url: string) => !prevents(contents(), name, preventable({ url })),
  attachesWebview: () => !prevents(contents(), 'will-attach-webview', preventable()),
  crash: () => contents().emit('render-process-gone', {}, { reason: 'crashed' }),
};

interface Order {
  readonly id: number;
  readonly drive: string;
  readonly args: never[];
}

async function obey({ id, drive, args }: Order): Promise<void> {
  try {
    const value = await drivers[drive]?.(...args);
    send({ id, value: value ?? null });
  } catch (error) {
    send({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

process.on('message', (order: Order) => void obey(order));
