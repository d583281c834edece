/**
 * Starts a service if none is running, for as long as a call waits for one.
 *
 * It starts the service that ran last (its start record), else the one beside this program with the user's own data
 * folder; always on this machine. The service outlives the bridge and writes to a log in the state folder. Two bridges
 * may each start one at the same time: the lock of the data folder decides, the loser ends by itself, and both find the
 * winner. A failed start is not repeated at once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Environment, variableNames } from '../base/config.ts';
import { readStartRecord, type StartRecord, startRecordOf } from '../base/start-record.ts';
import { refusalExitCodes } from '../base/start-refusal.ts';
import { defaultFolder } from '../base/storage-folder.ts';

export interface StarterParts {
  readonly endpointFile: string;
  /** The built service beside this program; null: this program lies alone, as in a bundle. */
  readonly program: string | null;
  readonly environment: Environment;
  /** Milliseconds. */
  readonly now: () => number;
  say(line: string): void;
}

/** Pauses after a failed start, and after a start that another process preceded. */
const retryMs = 30_000;
const aheadMs = 15_000;
const maxLogBytes = 10 * 1024 * 1024;
/** Characters quoted from the output of a failed start. */
const toldCharacters = 600;

/** Starts the service in the background, at most once at a time. */
export class ServiceStarter {
  readonly #parts: StarterParts;
  #child: ChildProcess | null = null;
  #notBefore = 0;
  #isPortTaken = false;
  #why: string | null = null;

  constructor(parts: StarterParts) {
    this.#parts = parts;
  }

  /** Why no service has been started, in a sentence; null if nothing is wrong so far. */
  get why(): string | null {
    return this.#why;
  }

  /** Starts a service, unless one is starting already or it is too early to try again. */
  async start(): Promise<void> {
    const { endpointFile, environment, now, say } = this.#parts;
    if (this.#child !== null || now() < this.#notBefore) return;
    this.#notBefore = now() + retryMs;
    const record = await this.#record();
    if (record === null) {
      this.#why = 'no Corollary is installed that could be started';
      return;
    }
    const missing = record.needs.filter((name) => !environment[name]);
    if (missing.length > 0) {
      this.#why = `Corollary was started with ${missing.join(' and ')}, which this program does not have`;
      return;
    }
    const folder = dirname(endpointFile);
    const logFile = join(folder, 'service.log');
    const log = await openLog(logFile);
    const from = (await log.stat()).size;
    try {
      this.#spawn(record, log.fd, () => tailOf(logFile, from));
      say('starting Corollary');
    } finally {
      await log.close();
    }
  }

  /** A service is running, so the last start no longer matters. */
  succeeded(): void {
    this.#child = null;
    this.#isPortTaken = false;
    this.#why = null;
  }

  #spawn(record: StartRecord, logFile: number, said: () => Promise<string>): void {
    const child = spawn(record.command, [...record.args], {
      cwd: dirname(this.#parts.endpointFile),
      env: this.#environmentOf(record),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', logFile, logFile],
    });
    this.#child = child;
    const ended = (code: number | null, reason: string | null): void => {
      if (this.#child !== child) return;
      this.#child = null;
      // If the log cannot be read either, there is nothing to quote.
      const words = reason === null ? said().catch(() => '') : Promise.resolve(reason);
      void words.then((text) => this.#ended(code, text));
    };
    child.once('error', (error) => ended(null, error.message));
    child.once('exit', (code) => ended(code, null));
    child.unref();
  }

  #ended(code: number | null, words: string): void {
    const { now } = this.#parts;
    if (code === refusalExitCodes['folder-locked']) this.#notBefore = now() + aheadMs;
    // The port may be taken by a service that another bridge has just started, so look again first.
    if (code === refusalExitCodes['port-taken'] && !this.#isPortTaken) {
      this.#isPortTaken = true;
      this.#notBefore = now() + 2000;
      return;
    }
    this.#why = `Corollary could not be started: ${words || 'it ended by itself'}`;
  }

  async #record(): Promise<StartRecord | null> {
    const { endpointFile, program, environment } = this.#parts;
    const record = await readStartRecord(startRecordOf(endpointFile)).catch(() => null);
    const isThere = (file: string | undefined): boolean => file !== undefined && existsSync(file);
    // An application needs only options, Node needs the file of a program.
    const [first] = record?.args ?? [];
    const isProgramThere = first?.startsWith('-') === true || isThere(first);
    if (record !== null && isThere(record.command) && isProgramThere) return record;
    if (program === null || !existsSync(program)) return null;
    const runsAsNode = process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
    return {
      command: process.execPath,
      args: [program, 'serve'],
      environment: { STORAGE_DIR: defaultFolder('service', environment), ...runsAsNode },
      needs: [],
      lacks: [],
    };
  }

  /** This environment without variables that would make it a different service, then the record's own. */
  #environmentOf({ environment, needs, lacks }: StartRecord): Record<string, string> {
    const ours = this.#parts.environment;
    const withheld = new Set([
      ...variableNames(),
      'COROLLARY_API_KEY',
      'NODE_OPTIONS',
      'ELECTRON_RUN_AS_NODE',
    ]);
    const secrets = new Set([...needs, ...lacks]);
    const kept = Object.entries(ours).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (!withheld.has(entry[0]) || secrets.has(entry[0])),
    );
    return {
      ...Object.fromEntries(kept),
      ...environment,
      HOST: '127.0.0.1',
      ...(this.#isPortTaken ? { PORT: '0' } : {}),
      LOG_FORMAT: 'json',
      COROLLARY_ENDPOINT_FILE: this.#parts.endpointFile,
    };
  }
}

async function openLog(file: string) {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > maxLogBytes) await rename(file, `${file}.1`);
  return open(file, 'a', 0o600);
}

/** The last output for people that was written to the file since `from`. */
async function tailOf(file: string, from: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const length = Math.min(size - from, 64 * 1024);
    const { buffer } = await handle.read(
      Buffer.alloc(Math.max(0, length)),
      0,
      Math.max(0, length),
      size - length,
    );
    const lines = buffer.toString('utf8').split('\n');
    const words = lines.filter((line) => line.trim() !== '' && !line.startsWith('{')).join(' ');
    return words.slice(0, toldCharacters);
  } finally {
    await handle.close();
  }
}
