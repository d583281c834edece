/**
 * The desktop shell: connects a service on its thread, a window on its address, a menu, and a tray, and their life
 * cycles.
 *
 * The window shows what a browser shows at the same address. The program never ends without a message, and only after
 * the service has closed, so that what was answered is durable.
 */
import {
  app,
  Menu,
  nativeTheme,
  powerMonitor,
  safeStorage,
  session,
  shell as system,
  type WebContents,
} from 'electron';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChannelHandlers, PageState, ShellRequest } from '../../desktop-contract/channels.ts';
import { barePlace } from '../../desktop-contract/places.ts';
import { defaultFolder } from '../base/storage-folder.ts';
import { placeOfArguments } from './addresses.ts';
import { decideLeaving, discardQuestion, type Leaving, leavingQuestion } from './departure.ts';
import { removeDragged } from './dragged-files.ts';
import { guardContents, guardSession, registerChannels } from './guard.ts';
import { hiddenOption, loginItem } from './login-item.ts';
import { menuTemplate, type TrayStatus } from './menu.ts';
import { fileOfArguments, readOpened } from './opened-files.ts';
import { canNotify, showNotification } from './notification.ts';
import { ProgressWindow } from './progress-window.ts';
import { askLeaving, askLeavingAtOnce, askReport, askWithoutStore, tellTrouble } from './questions.ts';
import { isImportable, type RecentItem, recentIn, recentLabel, withRecent } from './recent.ts';
import { savePdf } from './save-pdf.ts';
import { openOrAsk, Secrets, type Vault } from './secrets.ts';
import { ServiceKeeper } from './service-keeper.ts';
import { SettingsDesk } from './settings-desk.ts';
import { readSettings, type Settings, writeSettings } from './settings.ts';
import { hasTray } from './tray-host.ts';
import { bringToFront, dragOut, prepareSpelling, StatusTray } from './window.ts';
import { DesktopWindows, type ShellWindow } from './windows.ts';
import { WithdrawnNotices } from './withdrawn-notices.ts';

interface ShellParts {
  /** The built module of the service's thread. */
  readonly serviceThread: string;
  /** The built preload script. */
  readonly preload: string;
  /** The folder of the icons. */
  readonly icons: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Arguments of this start, and its working directory. */
  readonly argv: readonly string[];
  readonly directory: string;
  /** Where to check for newer versions; null: nowhere. */
  readonly releasesAddress: string | null;
}

/** Milliseconds between two checks for a newer version. */
const releasesPeriodMs = 24 * 3_600_000;
/** Milliseconds before the user is told that the system's key store makes the start wait. */
const storePatienceMs = 2_000;
/** The page that shows agents the service's new address. */
const connectPlace = '/agents?part=connect';

/** The desktop application. */
export class DesktopShell {
  readonly #parts: ShellParts;
  readonly #settingsFile: string;
  readonly #service: ServiceKeeper;
  readonly #desk: SettingsDesk;
  #settings: Settings;
  #secrets: Secrets | null = null;
  #tray: StatusTray | null = null;
  readonly #progress: ProgressWindow;
  #status: TrayStatus = { kind: 'starting' };
  readonly #windows: DesktopWindows;
  readonly #notices: WithdrawnNotices;
  /** Requests and places that wait for the first window. */
  #requests: ShellRequest[] = [];
  #places: string[] = [];
  /** The menu as shown; null before the first. */
  #menu: string | null = null;
  #hasSpelling = false;
  /** The window was requested before there was a service to show. */
  #isWanted = false;
  /** The user, or the system, has ended the program. */
  #isLeaving = false;
  /** The last window closes, and the service stays. */
  #isKept = false;
  #isAsking = false;
  #isClosing = false;

  constructor(parts: ShellParts) {
    this.#parts = parts;
    const userData = app.getPath('userData');
    this.#settingsFile = join(userData, 'shell.json');
    this.#settings = readSettings(this.#settingsFile, warn);
    const shared = {
      settings: () => this.#settings,
      change: (settings: Partial<Settings>) => this.#change(settings),
      secrets: () => this.#openedSecrets(),
    };
    this.#progress = new ProgressWindow({
      icons: parts.icons,
      platform: process.platform,
      onCancelled: () => this.#quit(),
    });
    this.#service = new ServiceKeeper({
      ...shared,
      serviceThread: parts.serviceThread,
      logFile: join(app.getPath('logs'), 'corollary.log'),
      environment: parts.environment,
      defaultFolder: defaultFolder('desktop', parts.environment, { desktopFolder: join(userData, 'data') }),
      onOpening: (percent) => this.#progress.show(percent),
      onWithdrawn: (withdrawn) => this.#notices.note(withdrawn),
      onStatus: (status) => this.#showStatus(status),
      onRestarted: () => this.#show(null),
      onGivenUp: () => this.#quit(),
    });
    this.#windows = this.#makeWindows();
    this.#notices = this.#makeNotices();
    this.#desk = new SettingsDesk({
      ...shared,
      service: this.#service,
      loginItem: loginItem(process.platform, parts.environment),
      releasesAddress: parts.releasesAddress,
      onRelease: () => this.#showStatus(this.#status),
    });
  }

  #makeWindows(): DesktopWindows {
    const { preload, icons } = this.#parts;
    return new DesktopWindows({
      preload,
      icon: process.platform === 'linux' ? join(icons, '512x512.png') : null,
      hasSpelling: () => this.#hasSpelling,
      address: () => this.#service.address,
      saved: () => this.#settings.windows,
      save: (windows) => this.#change({ windows }),
      mayClose: (opened) => this.#mayClose(opened),
      askReload: ({ window, page }) =>
        askLeavingAtOnce(discardQuestion('If you reload the page', page.unsaved), window) === 'discard',
      openInBrowser: (address) => inBrowser(system.openExternal(address)),
      onReady: () => this.#progress.end(),
      onChange: () => this.#showMenu(),
      onSeen: (space) => this.#notices.seen(space),
      isLeaving: () => this.#isLeaving,
    });
  }

  #makeNotices(): WithdrawnNotices {
    return new WithdrawnNotices({
      isWanted: () => this.#settings.notifiesOfWithdrawn && canNotify(),
      isWatched: (space) => this.#windows.isWatched(space),
      show: (notice, onClick) =>
        showNotification(notice, () => {
          onClick();
          this.#show(notice.place);
        }),
      after: (ms, run) => {
        const timer = setTimeout(run, ms).unref();
        return () => clearTimeout(timer);
      },
    });
  }

  /** Starts everything. Resolves when the window is open, or when the user has chosen to quit. */
  async run(): Promise<void> {
    const currentAddress = () => this.#service.address;
    guardContents(app, currentAddress);
    this.#listen();
    // Elsewhere the package registers the handler of links; a Windows installer does not.
    if (process.platform === 'win32' && app.isPackaged) app.setAsDefaultProtocolClient('corollary');
    // Windows shows notifications only of programs under the name of their shortcut.
    if (process.platform === 'win32') app.setAppUserModelId('org.corollary.Corollary');
    await app.whenReady();
    powerMonitor.on('shutdown', () => this.#quit());
    guardSession(session.defaultSession, currentAddress);
    this.#hasSpelling = prepareSpelling(session.defaultSession, process.platform, app.getPath('userData'));
    registerChannels((page) => this.#channels(page), currentAddress);
    this.#showMenu();
    this.#secrets = await this.#openSecrets();
    if (this.#secrets === null) return this.#quit();
    this.#tray = new StatusTray(this.#parts.icons, process.platform, () => this.#trayParts());
    if (!(await this.#service.start())) return this.#quit();
    const { argv, directory } = this.#parts;
    await this.#openFile(fileOfArguments(argv, directory));
    if (this.#isWanted || !argv.includes(hiddenOption)) this.#show(placeOfArguments(argv));
    this.#watchReleases();
  }

  /** null: the user quits rather than go on without the system's store. */
  async #openSecrets(): Promise<Secrets | null> {
    const file = join(app.getPath('userData'), 'secrets.json');
    const vault = systemVault(process.platform);
    const opened = await openOrAsk((without) => Secrets.open(file, vault, warn, without), {
      isLate: pause(storePatienceMs, undefined, { ref: false }),
      ask: askWithoutStore,
    });
    if (opened?.isWithout === true)
      this.#requests.push({
        kind: 'notice',
        text: "The system's key store did not answer: stored keys are not available, and new ones last until Corollary ends. Start it again to use the store.",
      });
    return opened?.secrets ?? null;
  }

  /** Listens to the system's events, from before the program is ready: macOS passes links and files as events. */
  #listen(): void {
    app.on('second-instance', (_event, argv, directory, data) => {
      const { argv: given, directory: place } = forwarded(data) ?? { argv, directory };
      void this.#openFile(fileOfArguments(given, place)).then(() => this.#show(placeOfArguments(given)));
    });
    app.on('open-url', (event, url) => {
      event.preventDefault();
      this.#show(placeOfArguments([url]));
    });
    app.on('open-file', (event, path) => {
      event.preventDefault();
      void this.#openFile(path).then(() => this.#show(null));
    });
    app.on('activate', () => this.#show(null));
    app.on('window-all-closed', () => {
      // Until there is a service, only the window of the progress closes, which decides by itself.
      if (this.#service.address === null) return;
      if (process.platform !== 'darwin' && !this.#isKept && !this.#isLeaving) this.#quit();
    });
    app.on('before-quit', (event) => {
      if (this.#isLeaving) return;
      event.preventDefault();
      void this.#leave('quit');
    });
    app.on('will-quit', (event) => this.#finish(event));
  }

  /** The handlers for one page. A page whose window has closed meanwhile reports to nobody. */
  #channels(page: WebContents): ChannelHandlers {
    const service = this.#service;
    const desk = this.#desk;
    const opened = this.#windows.of(page);
    return {
      info: () => ({
        version: app.getVersion(),
        platform: process.platform,
        address: service.address ?? '',
        dataFolder: service.folder,
      }),
      showDataFolder: () => this.#showDataFolder(),
      setTheme: (theme) => {
        nativeTheme.themeSource = theme;
      },
      setCommands: (commands) => {
        if (opened !== null) this.#windows.setCommands(opened, commands);
      },
      setPage: (state) => {
        if (opened !== null) this.#report(opened, state);
      },
      dragOut: (file) => dragOut(page, file, this.#parts.icons),
      savePdf: (name) => savePdf(page, name),
      noteFile: (path) => this.#noteFile(path),
      takeRequests: () => opened?.requests.splice(0) ?? [],
      readKey: () => {
        const secrets = this.#openedSecrets();
        return { key: secrets.get(service.keySecret), place: secrets.place };
      },
      keepKey: async (key) => {
        const secrets = this.#openedSecrets();
        await secrets.put(service.keySecret, key);
        return secrets.place;
      },
      readSettings: () => desk.read(),
      changeSettings: (change) => desk.change(change),
      chooseFolder: () => desk.chooseFolder(),
      checkReleases: () => desk.checkReleases(),
      showRelease: () => desk.showRelease(),
      restartService: () => this.#restartService(),
    };
  }

  #openedSecrets(): Secrets {
    if (this.#secrets === null) throw new Error('the secrets are not open yet');
    return this.#secrets;
  }

  #showDataFolder(): Promise<void> {
    return showFolder(this.#service.folder);
  }

  async #restartService(): Promise<void> {
    if (!(await this.#service.restart(this.#desk.nextFolder))) return this.#quit();
    this.#desk.takenUp();
    const { address } = this.#service;
    if (address !== null) this.#windows.reload(address);
    this.#show(null);
  }

  #report(opened: ShellWindow, state: PageState): void {
    if (state.database !== opened.page.database || opened.page.title === 'Corollary')
      this.#noteRecent({ kind: 'database', folder: this.#service.folder, name: state.database });
    this.#windows.report(opened, state);
  }

  #noteRecent(item: RecentItem): void {
    this.#change({ recent: withRecent(this.#settings.recent, item) });
  }

  #noteFile(path: string): void {
    if (!isImportable(path)) return;
    app.addRecentDocument(path);
    this.#noteRecent({ kind: 'file', path });
    this.#showMenu();
  }

  #openRecent(item: RecentItem): void {
    if (item.kind === 'database') this.#windows.showDatabase(item.name);
    else void this.#openFile(item.path).then(() => this.#show(null));
  }

  #showMenu(): void {
    const { front, all } = this.#windows;
    // Read when an item is chosen: the menu stays while nothing in it changes.
    const current = () => this.#windows.front;
    const template = menuTemplate({
      platform: process.platform,
      commands: front?.commands ?? [],
      run: (id) => {
        const opened = current();
        if (opened !== null) this.#windows.ask(opened, { kind: 'command', id });
      },
      windows: all
        .toSorted((one, other) => one.window.id - other.window.id)
        .map((each) => ({
          id: `window ${each.window.id}`,
          label: each.page.title,
          isFront: each === front,
          open: () => bringToFront(each.window),
        })),
      newWindow: () => {
        const opened = current();
        this.#windows.open(opened === null ? null : barePlace(opened.page.place));
      },
      closeWindow: () => current()?.window.close(),
      recent: recentIn(this.#settings.recent, this.#service.folder).map((item) => ({
        id: item.kind === 'file' ? item.path : `database ${item.name}`,
        label: recentLabel(item),
        open: () => this.#openRecent(item),
      })),
      clearRecent: () => {
        app.clearRecentDocuments();
        this.#change({ recent: [] });
        this.#showMenu();
      },
      showDataFolder: () => {
        this.#showDataFolder().catch((error: unknown) => tellTrouble('The folder cannot be shown', error));
      },
      showLogs: () => {
        showFolder(app.getPath('logs')).catch((error: unknown) =>
          tellTrouble('The log cannot be shown', error),
        );
      },
      showReference: () => {
        const { address } = this.#service;
        if (address !== null) inBrowser(system.openExternal(new URL('/docs', address).href));
      },
      reportProblem: () => {
        askReport(problemReport(), this.#frontWindow).catch((error: unknown) =>
          tellTrouble('The report was not copied', error),
        );
      },
    });
    const shown = JSON.stringify(template);
    if (shown === this.#menu) return;
    this.#menu = shown;
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  }

  /** Whether a start without a window shows its progress. */
  get #isShown(): boolean {
    return this.#windows.all.length === 0 && (this.#isWanted || !this.#parts.argv.includes(hiddenOption));
  }

  #showStatus(status: TrayStatus): void {
    this.#status = status;
    if (status.kind === 'stopped') this.#progress.end();
    if (status.kind === 'starting' && this.#isShown) this.#progress.begin(this.#service.folder);
    this.#tray?.show(status);
  }

  #trayParts() {
    const { newer } = this.#desk;
    return {
      open: () => this.#show(null),
      quit: () => app.quit(),
      release:
        newer === null ? null : { version: newer.version, show: () => inBrowser(this.#desk.showRelease()) },
    };
  }

  get #frontWindow() {
    return this.#windows.front?.window ?? null;
  }

  /** Shows the window in front, or the one of a place at that place. */
  #show(place: string | null): void {
    const { address } = this.#service;
    if (address === null || this.#isLeaving) {
      this.#isWanted = true;
      if (this.#status.kind === 'starting' && !this.#isLeaving) this.#progress.begin(this.#service.folder);
      if (place !== null) this.#places.push(place);
      return;
    }
    this.#isKept = false;
    const moved = this.#service.takeMove();
    if (moved !== null)
      this.#requests.push({
        kind: 'notice',
        text: `The usual port was taken by another program: Corollary is at port ${moved} now. Programs that were configured with the address need this one.`,
      });
    const wanted = place ?? this.#places.pop() ?? (moved === null ? null : connectPlace);
    const requests = this.#requests.splice(0);
    if (wanted === null) this.#windows.show(requests);
    else this.#windows.showPlace(wanted, requests);
    for (const other of this.#places.splice(0)) this.#windows.showPlace(other, []);
  }

  async #openFile(path: string | null): Promise<void> {
    if (path === null) return;
    try {
      const request = { kind: 'file', ...(await readOpened(path)) } as const;
      this.#noteFile(path);
      const { front } = this.#windows;
      if (front !== null) this.#windows.ask(front, request);
      // One import at a time: of files not shown yet, the last counts.
      else this.#requests = [...this.#requests.filter(({ kind }) => kind !== 'file'), request];
    } catch (error) {
      tellTrouble('The file cannot be opened', error);
    }
  }

  /** On macOS a program stays when its last window closes; elsewhere it ends, unless agents are connected. */
  #mayClose(opened: ShellWindow): boolean {
    if (this.#isLeaving || opened.mayLose) return true;
    const isLast = this.#windows.all.length === 1;
    if (isLast && !this.#isKept && process.platform !== 'darwin') {
      void this.#leave('close');
      return false;
    }
    if (opened.page.unsaved.length === 0) return true;
    void this.#askDiscard(opened);
    return false;
  }

  async #askDiscard(opened: ShellWindow): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const question = discardQuestion('If you close the window', opened.page.unsaved);
      const { choice } = await askLeaving(question, opened.window);
      if (choice !== 'discard' || opened.window.isDestroyed()) return;
      opened.mayLose = true;
      opened.window.close();
    } finally {
      this.#isAsking = false;
    }
  }

  /** Ends the program, or only closes its window; the user decides if agents are connected or work is unsaved. */
  async #leave(leaving: Leaving): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const unsaved = this.#windows.all.flatMap(({ page }) => page.unsaved);
      const state = { agents: await this.#service.agents(), unsaved };
      let choice = decideLeaving(leaving, state, this.#settings.departure);
      if (choice === 'ask') {
        // Only the sentence about agents names the tray.
        const isIconShown = state.agents === 0 || (await hasTray(process.platform));
        const answer = await askLeaving(leavingQuestion(leaving, state, isIconShown), this.#frontWindow);
        choice = answer.choice;
        if (answer.isRemembered && (choice === 'keep' || choice === 'quit'))
          this.#change({ departure: choice });
      }
      if (choice === 'quit') this.#quit();
      if (choice === 'keep') {
        this.#isKept = true;
        this.#windows.closeAll();
      }
    } finally {
      this.#isAsking = false;
    }
  }

  #quit(): void {
    this.#isLeaving = true;
    app.quit();
  }

  /** The program ends by `app.exit` once the service has closed, and not before. */
  #finish(event: { preventDefault(): void }): void {
    event.preventDefault();
    if (this.#isClosing) return;
    this.#isClosing = true;
    removeDragged();
    void this.#service.close().finally(() => app.exit(0));
  }

  #watchReleases(): void {
    void this.#desk.checkReleases();
    setInterval(() => void this.#desk.checkReleases(), releasesPeriodMs).unref();
  }

  #change(settings: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...settings };
    writeSettings(this.#settingsFile, this.#settings, warn);
  }
}

/** The arguments that a second start has forwarded, if any. */
function forwarded(data: unknown): { argv: string[]; directory: string } | null {
  if (typeof data !== 'object' || data === null) return null;
  const { argv, directory } = data as { argv?: unknown; directory?: unknown };
  if (!Array.isArray(argv) || typeof directory !== 'string') return null;
  return { argv: argv.filter((argument) => typeof argument === 'string'), directory };
}

/** What somebody who looks into a problem asks first. */
function problemReport(): string {
  const { electron, chrome, node } = process.versions;
  return [
    `Corollary ${app.getVersion()}`,
    `Electron ${electron}, Chromium ${chrome}, Node ${node}`,
    `${process.platform} ${process.getSystemVersion()}, ${process.arch}`,
    `Log: ${app.getPath('logs')}`,
  ].join('\n');
}

async function showFolder(folder: string): Promise<void> {
  const complaint = await system.openPath(folder);
  if (complaint !== '') throw new Error(complaint);
}

function inBrowser(opened: Promise<void>): void {
  opened.catch((error: unknown) => tellTrouble('The browser was not opened', error));
}

function warn(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** The system's store for secrets: Keychain, DPAPI, or the secret service of a Linux desktop. */
function systemVault(platform: NodeJS.Platform): Vault {
  return {
    isAvailable: async () => {
      // Without a secret service Electron would encrypt with a publicly known password, which protects nothing.
      if (platform === 'linux' && !hasSecretService()) return false;
      return safeStorage.isAsyncEncryptionAvailable();
    },
    encrypt: (text) => safeStorage.encryptStringAsync(text),
    decrypt: async (bytes) => {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(bytes);
      return { text: result, isStale: shouldReEncrypt };
    },
  };
}

function hasSecretService(): boolean {
  const backend = safeStorage.getSelectedStorageBackend();
  return backend !== 'basic_text' && backend !== 'unknown';
}
