/**
 * The desktop shell: a service on its thread, a window on its address, and their lives tied together.
 *
 * The window shows what a browser would show at the same address. A start that is refused becomes a question
 * with ways out; the program never ends without a word. It ends only after the service has closed, so that what
 * was answered is durable.
 */
import { app, type BrowserWindow, Menu, nativeTheme, session, shell as system } from 'electron';
import { join } from 'node:path';
import { isOwnAddress, routeOfArguments, workbenchAddress } from './addresses.ts';
import type { ChannelHandlers } from './channels.ts';
import { guardContents, guardSession } from './guard.ts';
import { registerChannels } from './ipc.ts';
import { menuTemplate } from './menu.ts';
import { startOnFreePort } from './ports.ts';
import { askFolder, askWayOut } from './questions.ts';
import { lossQuestion, type RefusalQuestion, refusalQuestion } from './refusal.ts';
import { type RunningService, startServiceThread } from './service-host.ts';
import { readSettings, type Settings, writeSettings } from './settings.ts';
import { bringToFront, load, openWindow } from './window.ts';

export interface ShellParts {
  /** The built module of the service's thread. */
  readonly serviceThread: string;
  /** The built preload script. */
  readonly preload: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Arguments of this start. */
  readonly argv: readonly string[];
}

const usualPort = 9300;
const usualHost = '127.0.0.1';

export class Shell {
  readonly #parts: ShellParts;
  readonly #settingsFile: string;
  #settings: Settings;
  #folder: string;
  #address: string | null = null;
  #service: RunningService | null = null;
  #window: BrowserWindow | null = null;
  #quitting = false;

  constructor(parts: ShellParts) {
    this.#parts = parts;
    const userData = app.getPath('userData');
    this.#settingsFile = join(userData, 'shell.json');
    this.#settings = readSettings(this.#settingsFile, warn);
    this.#folder = setting(parts.environment, 'STORAGE_DIR') ?? join(userData, 'data');
  }

  /** Starts all of it. Resolves when the window is open, or when the user has chosen to quit. */
  async run(): Promise<void> {
    const currentAddress = () => this.#address;
    guardContents(app, currentAddress);
    app.on('second-instance', (_event, argv, _directory, data) => this.#showAgain(forwarded(data) ?? argv));
    app.on('activate', () => this.#showAgain([]));
    app.on('window-all-closed', () => {
      if (process.platform !== 'darwin') app.quit();
    });
    app.on('will-quit', (event) => this.#finish(event));
    await app.whenReady();
    guardSession(session.defaultSession, currentAddress);
    registerChannels(this.#channels(), currentAddress);
    Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(process.platform)));
    if (await this.#start()) this.#open(routeOfArguments(this.#parts.argv));
    else app.quit();
  }

  #channels(): ChannelHandlers {
    return {
      info: () => ({
        version: app.getVersion(),
        platform: process.platform,
        address: this.#address ?? '',
        dataFolder: this.#folder,
      }),
      showDataFolder: async () => {
        const complaint = await system.openPath(this.#folder);
        if (complaint !== '') throw new Error(complaint);
      },
      setTheme: (theme) => {
        nativeTheme.themeSource = theme;
      },
    };
  }

  /** Starts the service, or attaches to one; false: the user chose to quit. */
  async #start(): Promise<boolean> {
    const isPortFixed = setting(this.#parts.environment, 'PORT') !== null;
    const host = setting(this.#parts.environment, 'HOST') ?? usualHost;
    for (;;) {
      const start = await startOnFreePort(
        (port) =>
          startServiceThread(this.#parts.serviceThread, {
            environment: { ...this.#parts.environment, STORAGE_DIR: this.#folder },
            defaults: { host: usualHost, port },
          }),
        { usual: this.#settings.port ?? usualPort, isFixed: isPortFixed, host },
      );
      if (start.outcome === 'running') {
        this.#adopt(start.service, isPortFixed);
        return true;
      }
      const choice = await this.#ask(refusalQuestion(start.refusal, this.#folder));
      if (choice === 'quit') return false;
      if (choice === 'attach' && start.refusal.owner !== null) {
        this.#address = start.refusal.owner;
        return true;
      }
    }
  }

  /** Asks until the answer is one to act on outside: looking at folders and choosing them happens here. */
  async #ask(question: RefusalQuestion): Promise<'retry' | 'attach' | 'quit'> {
    for (;;) {
      const way = await askWayOut(question);
      switch (way) {
        case 'retry':
        case 'attach':
        case 'quit':
          return way;
        case 'show-folder':
          system.showItemInFolder(this.#folder);
          break;
        case 'choose-folder': {
          const folder = await askFolder(this.#folder);
          if (folder === null) break;
          this.#folder = folder;
          return 'retry';
        }
      }
    }
  }

  #adopt(service: RunningService, isPortFixed: boolean): void {
    this.#service = service;
    this.#address = service.address;
    if (!isPortFixed) this.#remember({ ...this.#settings, port: service.port });
    void service.lost.then((reason) => this.#restart(reason));
  }

  async #restart(reason: string): Promise<void> {
    if (this.#quitting) return;
    this.#service = null;
    const choice = await this.#ask(lossQuestion(reason));
    if (choice === 'quit' || !(await this.#start())) app.quit();
    else this.#showAgain([]);
  }

  #open(route: string | null): void {
    if (this.#address === null) return;
    const window = openWindow(workbenchAddress(this.#address, route), {
      preload: this.#parts.preload,
      saved: this.#settings.window,
      remember: (state) => this.#remember({ ...this.#settings, window: state }),
    });
    window.on('closed', () => {
      this.#window = null;
    });
    this.#window = window;
  }

  /** Another start, or a click on the dock: the window comes to the front, at the place the arguments name. */
  #showAgain(argv: readonly string[]): void {
    const route = routeOfArguments(argv);
    if (this.#window === null) {
      this.#open(route);
      return;
    }
    if (
      this.#address !== null &&
      (route !== null || !isOwnAddress(this.#window.webContents.getURL(), this.#address))
    )
      load(this.#window, workbenchAddress(this.#address, route));
    bringToFront(this.#window);
  }

  #remember(settings: Settings): void {
    this.#settings = settings;
    writeSettings(this.#settingsFile, settings, warn);
  }

  #finish(event: { preventDefault(): void }): void {
    this.#quitting = true;
    const service = this.#service;
    if (service === null) return;
    event.preventDefault();
    this.#service = null;
    void service.close().finally(() => app.exit(0));
  }
}

/** A variable of the environment; an empty one counts as not set. */
function setting(environment: Readonly<Record<string, string>>, name: string): string | null {
  return environment[name] || null;
}

/** The arguments that the other start handed over, where it did. */
function forwarded(data: unknown): string[] | null {
  if (typeof data !== 'object' || data === null || !('argv' in data) || !Array.isArray(data.argv))
    return null;
  return data.argv.filter((argument) => typeof argument === 'string');
}

function warn(message: string): void {
  process.stderr.write(`${message}\n`);
}
