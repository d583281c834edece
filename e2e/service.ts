/**
 * The built headless service as a child process, for end-to-end tests.
 *
 * Each has its own free port, folder and endpoint file, and ends with its test, however that ends.
 */
import { test as base, type BrowserContext } from '@playwright/test';
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../out/main/headless.js', import.meta.url));

/** Exit and output of a process of the program. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class ServiceProcess {
  /** Contains everything that this service writes; `dispose` removes it. */
  readonly folder = mkdtempSync(join(tmpdir(), 'corollary-e2e-'));
  readonly #environment: Readonly<Record<string, string>>;
  /** Command line prefix, such as of a program that makes system calls fail; it must exec the program. */
  prefix: readonly string[] = [];
  #child: ChildProcess | null = null;
  #port = 0;
  #log = '';

  /** `port` to listen on; 0 chooses a free one. */
  constructor(environment: Readonly<Record<string, string>> = {}, port = 0) {
    this.#environment = environment;
    this.#port = port;
  }

  get storageDir(): string {
    return join(this.folder, 'data');
  }

  /** `http://127.0.0.1:PORT`; restarts keep the port. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** The log of all its starts. */
  get log(): string {
    return this.#log;
  }

  /** The environment of its processes: nothing from the tester's but the search path. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      HOST: '127.0.0.1',
      PORT: String(this.#port),
      STORAGE_DIR: this.storageDir,
      COROLLARY_ENDPOINT_FILE: join(this.folder, 'endpoint.json'),
      LOG_FORMAT: 'json',
      // Tests ask little and start many services.
      WARM_UP: 'false',
      ...this.#environment,
    };
  }

  /** Starts it and resolves when it is ready. Rejects with its output if it ends before. */
  async start(): Promise<void> {
    const [command, ...words] = [...this.prefix, process.execPath, program];
    const child = spawn(command, words, { env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
    await new Promise<void>((resolve, reject) => {
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const port = /^Workbench: http:\/\/127\.0\.0\.1:(\d+)\/$/m.exec(printed)?.[1];
        if (port === undefined) return;
        this.#port = Number(port);
        resolve();
      });
      child.once('exit', (code) => reject(new Error(`the service ended with code ${code}:\n${this.#log}`)));
    });
  }

  /** Stops it as a user would, and resolves with its exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Kills it, as a power cut would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Closes its output pipes, as a closed terminal does. */
  closeOutput(): void {
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }

  /** Starts a command of the program beside it. */
  begin(words: readonly string[], environment: Record<string, string> = {}): ChildProcessWithoutNullStreams {
    const [command = process.execPath, ...all] = [...this.prefix, process.execPath, program, ...words];
    return spawn(command, all, { env: { ...this.environment, ...environment } });
  }

  /** Runs a command of the program beside it, such as `['ask', 'p(?x)']`. */
  async run(words: readonly string[], input = '', environment: Record<string, string> = {}): Promise<Ended> {
    const child = this.begin(words, environment);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.end(input);
    await once(child, 'close');
    return { code: child.exitCode, stdout, stderr };
  }

  /** Stops it if it runs, and removes what it wrote. */
  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === null) return null;
    this.#child = null;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    await once(child, 'exit');
    return child.exitCode;
  }
}

/** Shared by the tests of a worker. */
interface OfWorker {
  /** The port of its services, one after the other, so that the browser's cache serves the next. */
  place: { port: number };
  /** Its browser session: the parts of a page are fetched and compiled once rather than per test. */
  session: BrowserContext;
}

/**
 * Tests with a running service of their own, and pages of a browser whose cache is warm but whose storage, permissions
 * and routes are empty.
 */
export const test = base.extend<{ service: ServiceProcess }, OfWorker>({
  place: [async ({ browserName: _browserName }, provide) => provide({ port: 0 }), { scope: 'worker' }],

  session: [
    async ({ browser }, provide) => {
      const session = await browser.newContext();
      // While a page of this site is open, later pages share its renderer process.
      await session.newPage();
      await provide(session);
      await session.close();
    },
    { scope: 'worker' },
  ],

  service: async ({ place }, provide) => {
    const service = await startAt(place.port);
    place.port = Number(new URL(service.url).port);
    try {
      await provide(service);
    } finally {
      await service.dispose();
    }
  },

  context: async ({ session, service }, provide) => {
    const [keeper] = session.pages();
    if (keeper === undefined) throw new Error('the page that stays open is closed');
    if (keeper.url() !== `${service.url}/health`) await keeper.goto(`${service.url}/health`);
    await provide(session);
    for (const page of session.pages()) if (page !== keeper) await page.close();
    await session.unrouteAll({ behavior: 'ignoreErrors' });
    await session.clearCookies();
    await session.clearPermissions();
    const devtools = await session.newCDPSession(keeper);
    await devtools.send('Storage.clearDataForOrigin', { origin: service.url, storageTypes: 'all' });
    await devtools.detach();
  },

  page: async ({ context, viewport }, provide) => {
    const page = await context.newPage();
    if (viewport !== null) await page.setViewportSize(viewport);
    await provide(page);
  },
});

/** Starts a service at that port or, if it has been taken meanwhile, at another. */
async function startAt(port: number): Promise<ServiceProcess> {
  const service = new ServiceProcess({}, port);
  try {
    await service.start();
    return service;
  } catch (error) {
    await service.dispose();
    if (port === 0) throw error;
    return startAt(0);
  }
}
