/**
 * The start record: how the service that ran last on this user's behalf was started, for a program that wants it back.
 *
 * It lies beside the endpoint file as `service.json`, with mode 0600, and outlives the service. It holds no secret: what
 * was one is there by the name of its variable alone. Who reads it runs what it says, so a file that another user could
 * have written counts as none.
 */
import { existsSync } from 'node:fs';
import { open, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Config, type Environment, repeatableSettings } from './config.ts';
import { findInstallation } from './installation.ts';
import type { StartProgram } from './service-messages.ts';

export interface StartRecord {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables to set, none of them secret; paths among them are absolute. */
  readonly environment: Readonly<Record<string, string>>;
  /** Secret variables without which it would be another service, or one that is open to everybody. */
  readonly needs: readonly string[];
  /** Secret variables without which it can do less. */
  readonly lacks: readonly string[];
}

/**
 * Records how to start this very service again: by `owner`, an application that knows its own folder and port, or by the
 * program without a window, which a process of Electron runs as Node does. Where that is not built there is nothing to
 * record. Rejects with the system's error where the folder cannot be written.
 */
export async function recordStart(
  config: Config,
  environment: Environment,
  port: number,
  owner: StartProgram | null = null,
): Promise<void> {
  const { endpointFile, storageDir } = config;
  if (owner !== null && endpointFile !== null) {
    const { command, args } = owner;
    const record = { command, args, ...repeatableSettings(owner.environment) };
    return writeStartRecord(startRecordOf(endpointFile), record);
  }
  const program = join(dirname(findInstallation().workbenchFolder), 'main', 'headless.js');
  if (endpointFile === null || storageDir === null || !existsSync(program)) return;
  const { environment: settings, needs, lacks } = repeatableSettings(environment);
  const runsAsNode = process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
  await writeStartRecord(startRecordOf(endpointFile), {
    command: process.execPath,
    args: [program, 'serve'],
    environment: { ...settings, STORAGE_DIR: resolve(storageDir), PORT: String(port), ...runsAsNode },
    needs,
    lacks,
  });
}

/** Where the record lies, by the endpoint file. */
export function startRecordOf(endpointFile: string): string {
  return join(dirname(endpointFile), 'service.json');
}

/** Rejects with the system's error where the folder cannot be written. */
export async function writeStartRecord(file: string, record: StartRecord): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** What the file says, or null where there is none of this user's that can be read. */
export async function readStartRecord(file: string): Promise<StartRecord | null> {
  try {
    const value: unknown = JSON.parse(await readOwn(file));
    return isStartRecord(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The text of a file of this user's; of one that others could have written, nothing. */
async function readOwn(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { uid, mode } = await handle.stat();
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    return isOwn ? await handle.readFile('utf8') : 'null';
  } finally {
    await handle.close();
  }
}

function isStartRecord(value: unknown): value is StartRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { command, args, environment, needs, lacks } = value as Record<string, unknown>;
  return (
    typeof command === 'string' &&
    isTexts(args) &&
    typeof environment === 'object' &&
    environment !== null &&
    isTexts(Object.values(environment)) &&
    isTexts(needs) &&
    isTexts(lacks)
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
