/**
 * The built headless service as a process of its own, for end-to-end tests.
 *
 * Each has a free port, a folder and an endpoint file of its own, and is gone with its test, however that ends.
 */
import { test as base } from '@playwright/test';
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../out/main/headless.js', import.meta.url));

/** How a process of the program ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class ServiceProcess {
  /** Holds all that this service writes; removed by `dispose`. */
  readonly folder = mkdtempSync(join(tmpdir(), 'corollary-e2e-'));
  readonly #environment: Readonly<Record<string, string>>;
  /** Words before the program's own, such as of one that makes calls of the system fail; it has to become the program. */
  prefix: readonly string[] = [];
  #child: ChildProcess | null = null;
  #port = 0;
  #log = '';

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
  }

  get storageDir(): string {
    return join(this.folder, 'data');
  }

  /** `http://127.0.0.1:PORT`; the port stays the same over restarts. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** What it has logged, over all its starts. */
  get log(): string {
    return this.#log;
  }

  /** The environment its processes run in: nothing of the one who tests, but where programs are found. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      HOST: '127.0.0.1',
      PORT: String(this.#port),
      STORAGE_DIR: this.storageDir,
      COROLLARY_ENDPOINT_FILE: join(this.folder, 'endpoint.json'),
      LOG_FORMAT: 'json',
      ...this.#environment,
    };
  }

  /** Starts it and resolves when it is ready. Rejects with what it wrote where it ends before. */
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

  /** Ends it as a user would, and resolves with its exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Closes the pipes that its output goes to, as a terminal that is closed does. */
  closeOutput(): void {
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }

  /** Begins a command of the program beside it. */
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

  /** Ends it where it runs, and removes what it wrote. */
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

/** Tests that get a service of their own, running when they begin. */
export const test = base.extend<{ service: ServiceProcess }>({
  service: async ({ browserName: _browserName }, provide) => {
    const service = new ServiceProcess();
    try {
      await service.start();
      await provide(service);
    } finally {
      await service.dispose();
    }
  },
});
