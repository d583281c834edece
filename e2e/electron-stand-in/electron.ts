/**
 * A stand-in for the `electron` module of the main process, under plain Node.
 *
 * It records every call of the shell and sends it to the parent process, which drives it by messages: events to emit,
 * IPC calls to make, guards to query. It behaves as Electron documents where the shell depends on it (event order,
 * preventing events, dialog answers), and does nothing else. It is checked against electron.d.ts, so its interface
 * cannot deviate from Electron's.
 *
 * Environment: STAND_IN_USER_DATA, the user-data folder; STAND_IN_SECOND, set if another instance runs;
 * STAND_IN_ANSWERS, a JSON array of button labels to press in dialogs, in order, with a final `+` to tick the checkbox
 * too; STAND_IN_NO_VAULT, set if the system has no secret store; STAND_IN_LOCKED_VAULT, set if that store answers only
 * once it is unlocked; STAND_IN_NO_NOTIFICATIONS, set if the system has none; STAND_IN_PACKAGED, set for an installed
 * application.
 */
import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';

const environment = process.env;
const answers = JSON.parse(environment['STAND_IN_ANSWERS'] ?? '[]') as string[];

/** The named methods of an interface, without Electron's `this` in their results. */
type Part<Real, Names extends keyof Real> = { [Name in Names]: Real[Name] };

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

/** True if a listener prevented the event. */
function prevents(emitter: EventEmitter, name: string, event: Preventable, ...args: unknown[]): boolean {
  emitter.emit(name, event, ...args);
  return event.defaultPrevented;
}

type AppPart = Part<
  Electron.App,
  | 'enableSandbox'
  | 'requestSingleInstanceLock'
  | 'getPath'
  | 'getVersion'
  | 'getAppPath'
  | 'isPackaged'
  | 'setAsDefaultProtocolClient'
  | 'whenReady'
  | 'quit'
  | 'exit'
  | 'getLoginItemSettings'
  | 'setLoginItemSettings'
  | 'getLocaleCountryCode'
  | 'setAppUserModelId'
  | 'addRecentDocument'
  | 'clearRecentDocuments'
>;

class App extends EventEmitter implements AppPart {
  readonly isPackaged = environment['STAND_IN_PACKAGED'] !== undefined;
  #isReady = false;
  #opensAtLogin = false;
  readonly #ready = new Promise<void>((resolve) => {
    setTimeout(() => {
      this.#isReady = true;
      resolve();
    }, 10);
  });

  enableSandbox(): void {
    record('app.enableSandbox', { isReady: this.#isReady });
  }

  requestSingleInstanceLock(data?: Record<string, unknown>): boolean {
    record('app.requestSingleInstanceLock', data);
    return environment['STAND_IN_SECOND'] === undefined;
  }

  getPath(name: string): string {
    const userData = environment['STAND_IN_USER_DATA'] ?? '';
    if (name === 'logs') return `${userData}/logs`;
    if (name !== 'userData') throw new Error(`the stand-in has no path ${name}`);
    return userData;
  }

  getAppPath(): string {
    return '/application';
  }

  getVersion(): string {
    return '0.0.0-stand-in';
  }

  whenReady(): Promise<void> {
    return this.#ready;
  }

  setAsDefaultProtocolClient(protocol: string): boolean {
    record('app.setAsDefaultProtocolClient', protocol);
    return true;
  }

  getLocaleCountryCode(): string {
    return 'NZ';
  }

  setAppUserModelId(id: string): void {
    record('app.setAppUserModelId', id);
  }

  addRecentDocument(path: string): void {
    record('app.addRecentDocument', path);
  }

  clearRecentDocuments(): void {
    record('app.clearRecentDocuments');
  }

  getLoginItemSettings(): Electron.LoginItemSettings {
    return {
      openAtLogin: this.#opensAtLogin,
      wasOpenedAtLogin: false,
      status: 'not-registered',
      executableWillLaunchAtLogin: this.#opensAtLogin,
      launchItems: [],
    };
  }

  setLoginItemSettings(settings: Electron.Settings): void {
    record('app.setLoginItemSettings', settings);
    this.#opensAtLogin = settings.openAtLogin === true;
  }

  /** Closes windows unless prevented; a window that stays open aborts the quit. */
  quit(): void {
    record('app.quit');
    if (prevents(this, 'before-quit', preventable())) return;
    for (const window of BrowserWindow.all) window.close(true);
    if (BrowserWindow.all.size > 0) return;
    setImmediate(() => {
      if (!prevents(this, 'will-quit', preventable())) this.exit(0);
    });
  }

  exit(code = 0): void {
    send({ call: 'app.exit', args: [code] }, () => process.exit(code));
  }
}

export const app = new App();

type OpenHandler = Parameters<Electron.WebContents['setWindowOpenHandler']>[0];

type ContentsPart = Part<
  Electron.WebContents,
  | 'getURL'
  | 'setWindowOpenHandler'
  | 'send'
  | 'forcefullyCrashRenderer'
  | 'replaceMisspelling'
  | 'startDrag'
  | 'printToPDF'
  | 'sendInputEvent'
  | 'executeJavaScript'
>;

class WebContents extends EventEmitter implements ContentsPart {
  url = '';
  openHandler: OpenHandler = () => ({ action: 'allow' });

  getURL(): string {
    return this.url;
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.openHandler = handler;
  }

  send(channel: string, ...args: unknown[]): void {
    record('webContents.send', channel, ...args);
  }

  replaceMisspelling(word: string): void {
    record('webContents.replaceMisspelling', word);
  }

  startDrag(item: Electron.Item): void {
    record('webContents.startDrag', item);
  }

  async printToPDF(options: Electron.PrintToPDFOptions): Promise<Buffer> {
    record('webContents.printToPDF', options);
    return Buffer.from('%PDF-');
  }

  sendInputEvent(event: { readonly type: string; readonly keyCode?: string }): void {
    record('webContents.sendInputEvent', event);
  }

  async executeJavaScript(code: string): Promise<void> {
    record('webContents.executeJavaScript', code);
  }

  forcefullyCrashRenderer(): void {
    record('webContents.forcefullyCrashRenderer');
    setImmediate(() => this.emit('render-process-gone', {}, { reason: 'killed', exitCode: 9 }));
  }
}

type WindowPart = Part<
  Electron.BrowserWindow,
  | 'loadURL'
  | 'id'
  | 'getNormalBounds'
  | 'getBounds'
  | 'setBounds'
  | 'isFullScreen'
  | 'isMaximized'
  | 'isMinimized'
  | 'isFocused'
  | 'isDestroyed'
  | 'maximize'
  | 'restore'
  | 'show'
  | 'focus'
  | 'reload'
  | 'removeMenu'
  | 'setProgressBar'
  | 'destroy'
>;

export class BrowserWindow extends EventEmitter implements WindowPart {
  static readonly all = new Set<BrowserWindow>();
  /** The window that has the focus; null: none of the program's. */
  static focused: BrowserWindow | null = null;
  static #lastId = 0;
  readonly id = ++BrowserWindow.#lastId;
  readonly webContents = new WebContents();
  readonly #options: Electron.BrowserWindowConstructorOptions;
  /** The page has a listener that keeps it from being left. */
  keepsPage = false;
  #isDestroyed = false;

  constructor(options: Electron.BrowserWindowConstructorOptions) {
    super();
    this.#options = options;
    BrowserWindow.all.add(this);
    record('BrowserWindow', options);
    app.emit('web-contents-created', {}, this.webContents);
  }

  async loadURL(url: string): Promise<void> {
    this.webContents.url = url;
    record('window.loadURL', url);
    setImmediate(() => {
      if (environment['STAND_IN_NO_FRAME'] === undefined) this.emit('ready-to-show');
      this.webContents.emit('did-navigate');
      this.webContents.emit('did-finish-load');
    });
  }

  static fromWebContents(page: unknown): BrowserWindow | null {
    return [...BrowserWindow.all].find(({ webContents }) => webContents === page) ?? null;
  }

  getNormalBounds(): Electron.Rectangle {
    const { x = 0, y = 0, width = 0, height = 0 } = this.#options;
    return { x, y, width, height };
  }

  getBounds(): Electron.Rectangle {
    return this.getNormalBounds();
  }

  setBounds(bounds: Partial<Electron.Rectangle>): void {
    record('window.setBounds', bounds);
    Object.assign(this.#options, bounds);
  }

  isFullScreen(): boolean {
    return this.#options.fullscreen === true;
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

  isFocused(): boolean {
    return BrowserWindow.focused === this;
  }

  maximize(): void {
    record('window.maximize');
  }

  restore(): void {
    record('window.restore');
  }

  show(): void {
    record('window.show');
    this.emit('show');
  }

  focus(): void {
    record('window.focus');
    BrowserWindow.focused = this;
    this.emit('focus');
  }

  removeMenu(): void {
    record('window.removeMenu');
  }

  setProgressBar(progress: number): void {
    record('window.setProgressBar', progress);
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    record('window.destroy');
    this.#end(false);
  }

  reload(): void {
    record('window.reload');
  }

  /** `isQuitting`: Electron then does not report the last window. */
  close(isQuitting = false): void {
    if (this.#isDestroyed || prevents(this, 'close', preventable())) return;
    // The page asks to stay; Electron keeps it unless this is prevented.
    if (this.keepsPage && !prevents(this.webContents, 'will-prevent-unload', preventable())) return;
    this.#end(isQuitting);
  }

  #end(isQuitting: boolean): void {
    this.#isDestroyed = true;
    BrowserWindow.all.delete(this);
    if (BrowserWindow.focused === this) BrowserWindow.focused = null;
    this.emit('closed');
    record('window.closed');
    if (BrowserWindow.all.size === 0 && !isQuitting) app.emit('window-all-closed');
  }
}

/** An unanswered dialog stays open until its signal aborts it. */
const unanswered = '(nobody answers)';

async function showMessageBox(
  ...args: [unknown, Electron.MessageBoxOptions] | [Electron.MessageBoxOptions]
): Promise<Electron.MessageBoxReturnValue> {
  // Electron's window argument comes first and is optional.
  const options = args.at(-1) as Electron.MessageBoxOptions;
  const { signal, ...shown } = options;
  record('dialog.showMessageBox', shown);
  const answer = answers.shift() ?? '';
  if (answer === unanswered)
    await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  const checkboxChecked = answer.endsWith('+');
  const response = (options.buttons ?? []).indexOf(answer.replace(/\+$/, ''));
  if (signal?.aborted === true) record('dialog.takenBack');
  return { response: response === -1 ? (options.cancelId ?? 0) : response, checkboxChecked };
}

async function showOpenDialog(
  ...args: [unknown, Electron.OpenDialogOptions] | [Electron.OpenDialogOptions]
): Promise<Electron.OpenDialogReturnValue> {
  record('dialog.showOpenDialog', args.at(-1));
  const folder = answers.shift();
  return { canceled: folder === undefined, filePaths: folder === undefined ? [] : [folder] };
}

/** An answer is the path to save to; none cancels. */
async function showSaveDialog(
  ...args: [unknown, Electron.SaveDialogOptions] | [Electron.SaveDialogOptions]
): Promise<Electron.SaveDialogReturnValue> {
  record('dialog.showSaveDialog', args.at(-1));
  const filePath = answers.shift();
  return { canceled: filePath === undefined, filePath: filePath ?? '' };
}

export const dialog = {
  showMessageBox,
  showOpenDialog,
  showSaveDialog,
  showMessageBoxSync(
    ...args: [unknown, Electron.MessageBoxSyncOptions] | [Electron.MessageBoxSyncOptions]
  ): number {
    const options = args.at(-1) as Electron.MessageBoxSyncOptions;
    record('dialog.showMessageBoxSync', options);
    const response = (options.buttons ?? []).indexOf(answers.shift() ?? '');
    return response === -1 ? (options.cancelId ?? 0) : response;
  },
  showErrorBox(...args: unknown[]): void {
    record('dialog.showErrorBox', ...args);
  },
} satisfies Partial<Electron.Dialog>;

type IpcHandler = Parameters<Electron.IpcMain['handle']>[1];
const ipcHandlers = new Map<string, IpcHandler>();

export const ipcMain = {
  handle(channel: string, handler: IpcHandler): void {
    ipcHandlers.set(channel, handler);
    record('ipcMain.handle', channel);
  },
} satisfies Partial<Electron.IpcMain>;

type Template = readonly Electron.MenuItemConstructorOptions[];

interface BuiltMenu {
  readonly template: Template;
}

/** The latest menus of application, tray and page. */
const menus: Record<'application' | 'tray' | 'context', Template> = {
  application: [],
  tray: [],
  context: [],
};

export const Menu = {
  buildFromTemplate: (template: Template): BuiltMenu & { popup(): void } => ({
    template,
    popup: () => {
      menus.context = template;
      record('menu.popup');
    },
  }),
  setApplicationMenu: (menu: BuiltMenu) => {
    menus.application = menu.template;
    record('Menu.setApplicationMenu', menu);
  },
};

type TrayPart = { [Name in 'setToolTip']: Electron.Tray[Name] } & { setContextMenu(menu: BuiltMenu): void };

export class Tray extends EventEmitter implements TrayPart {
  constructor(image: unknown) {
    super();
    record('Tray', image);
  }

  setToolTip(text: string): void {
    record('tray.setToolTip', text);
  }

  setContextMenu(menu: BuiltMenu): void {
    menus.tray = menu.template;
    record('tray.setContextMenu', menu);
  }
}

export class Notification extends EventEmitter implements Part<Electron.Notification, 'show' | 'close'> {
  static last: Notification | null = null;
  readonly #options: Electron.NotificationConstructorOptions;

  constructor(options: Electron.NotificationConstructorOptions) {
    super();
    this.#options = options;
  }

  static isSupported(): boolean {
    return environment['STAND_IN_NO_NOTIFICATIONS'] === undefined;
  }

  show(): void {
    Notification.last = this;
    record('notification.show', this.#options);
  }

  close(): void {
    record('notification.close');
    this.emit('close');
  }
}

export const nativeImage = {
  createFromPath: (path: string) => ({ path }),
} satisfies { [Name in keyof typeof Electron.nativeImage & 'createFromPath']: (path: string) => object };

export const clipboard = {
  writeText: async (text: string) => record('clipboard.writeText', text),
} satisfies Partial<Electron.Clipboard>;

export const powerMonitor = new EventEmitter();

/** Reverses bytes, so that the file differs from the input. */
function turned(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ 0xa5));
}

let unlock: () => void = () => undefined;
const unlocked = new Promise<void>((resolve) => {
  unlock = resolve;
  if (environment['STAND_IN_LOCKED_VAULT'] === undefined) resolve();
});

export const safeStorage = {
  isAsyncEncryptionAvailable: async () => {
    await unlocked;
    return environment['STAND_IN_NO_VAULT'] === undefined;
  },
  getSelectedStorageBackend: () =>
    environment['STAND_IN_NO_VAULT'] === undefined ? 'gnome_libsecret' : 'basic_text',
  encryptStringAsync: async (text: string) => turned(Buffer.from(text)),
  decryptStringAsync: async (bytes: Buffer) => ({
    result: turned(bytes).toString(),
    shouldReEncrypt: false,
  }),
} satisfies Partial<Electron.SafeStorage>;

export const nativeTheme = {
  set themeSource(source: Electron.NativeTheme['themeSource']) {
    record('nativeTheme.themeSource', source);
  },
};

const displays = [{ id: 1, workArea: { x: 0, y: 0, width: 1920, height: 1080 } }];
export const screen = Object.assign(new EventEmitter(), {
  getPrimaryDisplay: () => displays[0],
  getAllDisplays: () => displays,
});

export const shell = {
  async openPath(path: string): Promise<string> {
    record('shell.openPath', path);
    return '';
  },
  async openExternal(url: string): Promise<void> {
    record('shell.openExternal', url);
  },
  showItemInFolder: (path: string) => record('shell.showItemInFolder', path),
} satisfies Partial<Electron.Shell>;

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
    availableSpellCheckerLanguages: ['de-DE', 'en-US'],
    setSpellCheckerEnabled: (isOn: boolean) => record('session.setSpellCheckerEnabled', isOn),
    setSpellCheckerLanguages: (languages: string[]) => record('session.setSpellCheckerLanguages', languages),
    webRequest: { onBeforeRequest: keep('before') },
  } satisfies { [Name in keyof Partial<Electron.Session>]: unknown },
};

function guard(name: string): Guard {
  const found = guards.get(name);
  if (found === undefined) throw new Error(`the shell has set no guard ${name}`);
  return found;
}

function onlyWindow(): BrowserWindow {
  const [window] = BrowserWindow.all;
  if (window === undefined) throw new Error('the shell has no window');
  return window;
}

function contents(): WebContents {
  return onlyWindow().webContents;
}

function itemsOf(template: Template): Electron.MenuItemConstructorOptions[] {
  return template.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? itemsOf(item.submenu) : [])]);
}

/** Chooses a menu item as a user does: a disabled one cannot be chosen. */
function choose(menu: keyof typeof menus, label: string): void {
  const item = itemsOf(menus[menu]).find((each) => each.label === label);
  if (item === undefined) throw new Error(`there is no item ${label}`);
  if (item.enabled === false || item.click === undefined) throw new Error(`${label} cannot be chosen`);
  (item.click as () => void)();
}

const drivers: Readonly<Record<string, (...args: never[]) => unknown>> = {
  emit: (name: string, ...args: unknown[]) => prevents(app, name, preventable(), ...args),
  power: (name: string) => powerMonitor.emit(name),
  emitOfWindow: (name: string) => onlyWindow().emit(name),
  closeWindow: () => onlyWindow().close(),
  quit: () => app.quit(),
  unlockVault: () => unlock(),
  choose,
  /** The page of a window asks: the first one, or the one that `sender.window` counts. */
  invoke: (channel: string, sender: { window?: number } | null, ...args: unknown[]) => {
    const asking = [...BrowserWindow.all][sender?.window ?? 0]?.webContents;
    const event = { senderFrame: sender, sender: asking } as unknown as Electron.IpcMainInvokeEvent;
    return ipcHandlers.get(channel)?.(event, ...args);
  },
  /** The page of a window keeps itself from being left, as a listener of `beforeunload` does. */
  keepPage: (at: number) => {
    const window = [...BrowserWindow.all][at];
    if (window !== undefined) window.keepsPage = true;
  },
  /** The page of the first window is reloaded by the menu; true if it was left. */
  reloadsPage: () => !onlyWindow().keepsPage || prevents(contents(), 'will-prevent-unload', preventable()),
  /** Another program has the focus. */
  blur: () => {
    BrowserWindow.focused = null;
  },
  clickNotification: () => Notification.last?.emit('click'),
  focusWindow: (at: number) => [...BrowserWindow.all][at]?.focus(),
  closeWindowAt: (at: number) => [...BrowserWindow.all][at]?.close(),
  /** Another arrangement of screens. */
  setScreens: (areas: Electron.Rectangle[]) => {
    displays.splice(0, displays.length, ...areas.map((workArea, at) => ({ id: at + 1, workArea })));
    screen.emit('display-removed');
  },
  /** A key is pressed in the first window; true if the page gets it. */
  pressesKey: (input: object) => !prevents(contents(), 'before-input-event', preventable(), input),
  contextMenu: (parameters: object) => contents().emit('context-menu', {}, parameters),
  permission: async (name: string) => ({
    requested: await new Promise((resolve) => guard('request')(contents(), name, resolve, {})),
    checked: guard('check')(contents(), name, new URL(contents().url).origin, {}),
  }),
  device: () => guard('device')({}),
  requests: (url: string) => new Promise((resolve) => guard('before')({ url }, resolve)),
  opensWindow: (url: string) => contents().openHandler({ url } as Electron.HandlerDetails),
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
