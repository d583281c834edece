/**
 * The service that the window shows: started on its thread, or another program's on the same data folder.
 *
 * A refused start becomes a question with possible actions. The keys of the service and of language models are the
 * user's secrets, stored by data folder, not by port: tomorrow another program may listen at the port.
 */
import { app, shell as system } from 'electron';
import {
  providerKeys,
  type DesktopProviderName,
  desktopProviderNames,
} from '../../desktop-contract/channels.ts';
import type { StartProgram, WithdrawnConclusions } from '../base/service-messages.ts';
import { applicationFile, hiddenOption } from './login-item.ts';
import { type RunningService, startOnFreePort, startServiceThread } from './service-host.ts';
import { askFolder, askWayOut } from './questions.ts';
import { lossQuestion, type RefusalQuestion, refusalQuestion } from './refusal.ts';
import type { Secrets } from './secrets.ts';
import type { Settings } from './settings.ts';
import type { TrayStatus } from './menu.ts';

export interface ServiceKeeperParts {
  /** The built module of the service's thread. */
  readonly serviceThread: string;
  /** The file of the service's log. */
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The data folder if neither STORAGE_DIR nor the user chooses another. */
  readonly defaultFolder: string;
  readonly settings: () => Settings;
  readonly change: (settings: Partial<Settings>) => void;
  readonly secrets: () => Secrets;
  /** Called while a service starts, with how much of its knowledge it has read, in per cent. */
  readonly onOpening: (percent: number) => void;
  /** Called with the conclusions that this program's service has withdrawn. */
  readonly onWithdrawn: (withdrawn: readonly WithdrawnConclusions[]) => void;
  /** Called whenever the status changes. */
  readonly onStatus: (status: TrayStatus) => void;
  /** Called when the service has ended by itself and was started again. */
  readonly onRestarted: () => void;
  /** Called when the user quits rather than going on without it. */
  readonly onGivenUp: () => void;
}

const defaultPort = 9300;
const defaultHost = '127.0.0.1';

/** Starts, restarts and ends the service. */
export class ServiceKeeper {
  readonly #parts: ServiceKeeperParts;
  #folder: string;
  #address: string | null = null;
  #service: RunningService | null = null;
  #isEnding = false;
  /** The new port if the previous one was taken; null once it has been reported. */
  #movedTo: number | null = null;

  constructor(parts: ServiceKeeperParts) {
    this.#parts = parts;
    this.#folder = this.#setting('STORAGE_DIR') ?? parts.settings().folder ?? parts.defaultFolder;
  }

  /** The service's address; null if there is none yet. */
  get address(): string | null {
    return this.#address;
  }

  /** The data folder of the service, or the one being tried. */
  get folder(): string {
    return this.#folder;
  }

  /** Whether the service is another program's. */
  get isAttached(): boolean {
    return this.#address !== null && this.#service === null;
  }

  isSet(variable: string): boolean {
    return this.#setting(variable) !== null;
  }

  /** The new port to report to agents, if it has changed; once. */
  takeMove(): number | null {
    const moved = this.#movedTo;
    this.#movedTo = null;
    return moved;
  }

  /** Number of agents that would lose their service with this program. */
  async agents(): Promise<number> {
    return this.#service === null ? 0 : this.#service.agents();
  }

  /** Starts the service, or attaches to one; false: the user chose to quit. */
  async start(): Promise<boolean> {
    for (;;) {
      this.#parts.onStatus({ kind: 'starting' });
      const { chosenPort, port } = this.#parts.settings();
      const isPortFixed = this.isSet('PORT') || chosenPort !== null;
      const usual = chosenPort ?? port ?? defaultPort;
      const start = await startOnFreePort((candidate) => this.#startOn(candidate), {
        usual,
        isFixed: isPortFixed,
        host: this.#setting('HOST') ?? defaultHost,
      });
      if (start.outcome === 'running') {
        this.#adopt(start.service);
        if (!isPortFixed && start.service.port !== usual) this.#movedTo = start.service.port;
        if (!isPortFixed) this.#parts.change({ port: start.service.port });
        return true;
      }
      this.#parts.onStatus({ kind: 'stopped' });
      const isPortChosen = !this.isSet('PORT') && chosenPort !== null;
      const choice = await this.#ask(refusalQuestion(start.refusal, { folder: this.#folder, isPortChosen }));
      if (choice === 'quit') return false;
      if (choice === 'attach' && start.refusal.owner !== null) {
        this.#address = start.refusal.owner;
        this.#parts.onStatus({ kind: 'attached', address: this.#address });
        return true;
      }
    }
  }

  /**
   * Ends this program's service and starts it with the changed settings, in `folder` if given; false: the user chose to
   * quit.
   */
  async restart(folder: string | null): Promise<boolean> {
    await this.close();
    this.#isEnding = false;
    this.#address = null;
    this.#folder = folder ?? this.#folder;
    return this.start();
  }

  /** Ends the service if it is this program's. */
  async close(): Promise<void> {
    this.#isEnding = true;
    const service = this.#service;
    this.#service = null;
    await service?.close();
    this.#parts.onStatus({ kind: 'stopped' });
  }

  #startOn(port: number) {
    const settings = {
      environment: { ...this.#providerEnvironment(), ...this.#parts.environment, STORAGE_DIR: this.#folder },
      defaults: { host: defaultHost, port },
      program: this.#program(),
      logFile: this.#parts.logFile,
    };
    const { serviceThread, onOpening, onWithdrawn } = this.#parts;
    return startServiceThread(serviceThread, settings, { onOpening, onWithdrawn });
  }

  /** An installed application starts itself again: it does not run as Node does. */
  #program(): StartProgram | null {
    if (!app.isPackaged) return null;
    const { environment } = this.#parts;
    return { command: applicationFile(environment), args: [hiddenOption], environment };
  }

  /** The keys of language models from Settings; with one of them, extraction is on unless set otherwise. */
  #providerEnvironment(): Record<string, string> {
    const secrets = this.#parts.secrets();
    const given = desktopProviderNames
      .filter((provider) => !this.hasProviderInEnvironment(provider))
      .map((provider) => [providerKeys[provider].variable, secrets.get(providerSecret(provider))] as const)
      .filter((entry): entry is readonly [(typeof entry)[0], string] => entry[1] !== null);
    return given.length === 0 ? {} : { EXTRACTION_ENABLED: 'true', ...Object.fromEntries(given) };
  }

  hasProviderInEnvironment(provider: DesktopProviderName): boolean {
    const { variable, alias } = providerKeys[provider];
    return this.isSet(variable) || this.isSet(alias);
  }

  /** The name of the secret with the key of this service. */
  get keySecret(): string {
    return `key of ${this.#folder}`;
  }

  #adopt(service: RunningService): void {
    this.#service = service;
    this.#address = service.address;
    this.#parts.onStatus({ kind: 'running', address: service.address });
    void service.lost.then((reason) => this.#onLost(service, reason));
  }

  async #onLost(service: RunningService, reason: string): Promise<void> {
    if (this.#isEnding || this.#service !== service) return;
    this.#service = null;
    this.#parts.onStatus({ kind: 'stopped' });
    const choice = await this.#ask(lossQuestion(reason));
    if (choice === 'quit' || !(await this.start())) this.#parts.onGivenUp();
    else this.#parts.onRestarted();
  }

  /** Asks until the answer needs an action by the caller; showing and choosing folders happens here. */
  async #ask(question: RefusalQuestion): Promise<'retry' | 'attach' | 'quit'> {
    for (;;) {
      const way = await askWayOut(question);
      switch (way) {
        case 'retry':
        case 'attach':
        case 'quit':
          return way;
        case 'any-port':
          this.#parts.change({ chosenPort: null });
          return 'retry';
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

  /** A variable of the environment; an empty one counts as not set. */
  #setting(name: string): string | null {
    return this.#parts.environment[name] || null;
  }
}

/** The name of the secret with a provider's key. */
export function providerSecret(provider: DesktopProviderName): string {
  return `provider ${provider}`;
}
