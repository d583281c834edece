/**
 * Runs the built main bundle under plain Node with the Electron stand-in, and drives it.
 *
 * Every run has its own user-data folder. The shell's calls are recorded in order; `until` waits for one.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StandIns } from './compile.ts';

export const mainBundle = fileURLToPath(new URL('../../out/main/main.js', import.meta.url));

export interface Call {
  readonly call: string;
  readonly args: readonly unknown[];
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Labels of dialog buttons to press, in order, with a final `+` to tick the checkbox; for a folder dialog, a folder.
   */
  readonly answers?: readonly string[];
  readonly argv?: readonly string[];
  /** Another instance runs. */
  readonly isSecond?: boolean;
  readonly userData?: string;
  /** The main bundle of another installation. */
  readonly bundle?: string;
  /** The system has no secret store. */
  readonly hasNoVault?: boolean;
  /** The system's secret store waits for its password. */
  readonly hasLockedVault?: boolean;
  /** The application is installed. */
  readonly isPackaged?: boolean;
}

interface Waiting {
  readonly name: string;
  readonly resolve: (call: Call) => void;
}

export class ShellRun {
  readonly userData: string;
  readonly calls: Call[] = [];
  /** The exit code, after the end of the process. */
  readonly exited: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #ownsUserData: boolean;
  readonly #answers = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #waiting: Waiting[] = [];
  #lastId = 0;
  #errors = '';

  constructor(standIns: StandIns, options: RunOptions = {}) {
    const {
      environment = {},
      answers = [],
      argv = [],
      isSecond = false,
      userData,
      hasNoVault = false,
    } = options;
    this.#ownsUserData = userData === undefined;
    this.userData = userData ?? mkdtempSync(join(tmpdir(), 'corollary-shell-'));
    const { PORT: _port, HOST: _host, STORAGE_DIR: _folder, ...inherited } = process.env;
    this.#process = fork(options.bundle ?? mainBundle, [...argv], {
      execArgv: ['--import', standIns.mainHook],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Transfers bytes as bytes, as between Electron's processes.
      serialization: 'advanced',
      env: {
        ...inherited,
        COROLLARY_ENDPOINT_FILE: join(this.userData, 'endpoint.json'),
        XDG_CONFIG_HOME: join(this.userData, 'config'),
        XDG_DATA_HOME: join(this.userData, 'share'),
        ...environment,
        STAND_IN_USER_DATA: this.userData,
        STAND_IN_ANSWERS: JSON.stringify(answers),
        ...(isSecond ? { STAND_IN_SECOND: '1' } : {}),
        ...(options.isPackaged === true ? { STAND_IN_PACKAGED: '1' } : {}),
        ...(options.hasLockedVault === true ? { STAND_IN_LOCKED_VAULT: '1' } : {}),
        ...(hasNoVault ? { STAND_IN_NO_VAULT: '1' } : {}),
      },
    });
    this.#process.stderr?.on('data', (bytes: Buffer) => {
      this.#errors += bytes.toString();
    });
    this.#process.on('message', (message) =>
      this.#take(message as Call & { id?: number; value?: unknown; error?: string }),
    );
    this.exited = new Promise((resolve) => this.#process.once('exit', resolve));
    void this.exited.then(() => {
      for (const { reject } of this.#answers.values())
        reject(new Error(`the shell has ended: ${this.#errors}`));
    });
  }

  /** Standard error so far. */
  get errors(): string {
    return this.#errors;
  }

  named(name: string): Call[] {
    return this.calls.filter(({ call }) => call === name);
  }

  /** Waits for the `count`th call of that name. Rejects if the process ends first. */
  async until(name: string, count = 1): Promise<Call> {
    const [there] = this.named(name).slice(count - 1);
    if (there !== undefined) return there;
    const came = new Promise<Call>((resolve) => this.#waiting.push({ name, resolve }));
    const ended = this.exited.then((code) => {
      throw new Error(`the shell ended with ${code} before ${name}: ${this.#errors}`);
    });
    await Promise.race([came, ended]);
    return this.until(name, count);
  }

  /** Drives the stand-in and resolves with the result. */
  drive(what: string, ...args: unknown[]): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#answers.set(id, { resolve, reject });
      this.#process.send({ id, drive: what, args });
    });
  }

  /** Ends the process if it runs, and removes its folder. */
  async clear(): Promise<void> {
    if (this.#process.exitCode === null) this.#process.kill('SIGKILL');
    await this.exited;
    if (this.#ownsUserData) rmSync(this.userData, { recursive: true, force: true });
  }

  #take(message: Call & { id?: number; value?: unknown; error?: string }): void {
    if (message.id !== undefined) {
      const answer = this.#answers.get(message.id);
      this.#answers.delete(message.id);
      if (message.error === undefined) answer?.resolve(message.value);
      else answer?.reject(new Error(message.error));
      return;
    }
    this.calls.push(message);
    const met = this.#waiting.filter(({ name }) => name === message.call);
    this.#waiting = this.#waiting.filter(({ name }) => name !== message.call);
    for (const { resolve } of met) resolve(message);
  }
}
