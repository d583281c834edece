/**
 * The start record: how this user's last service was started, for a program that starts it again.
 *
 * It lies beside the endpoint file as `service.json`, with mode 0600, and outlives the service. It contains no secret,
 * only the names of secret variables. Programs run what the record says, so a file that another user could have written
 * is ignored.
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
  /** Variables to set, none of them secret; paths are absolute. */
  readonly environment: Readonly<Record<string, string>>;
  /** Secret variables without which it would be a different service, or one open to everyone. */
  readonly needs: readonly string[];
  /** Secret variables without which it can do less. */
  readonly lacks: readonly string[];
}

/**
 * Records how to start this very service again: by `owner`, an application that knows its own folder and port, or by
 * the program without a window, which an Electron process runs as Node does. Records nothing if that program is not
 * built. Rejects with the system's error if the folder cannot be written.
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

/** The path of the record, beside the endpoint file. */
export function startRecordOf(endpointFile: string): string {
  return join(dirname(endpointFile), 'service.json');
}

/** Writes the record. Rejects with the system's error if the folder cannot be written. */
export async function writeStartRecord(file: string, record: StartRecord): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Reads the record; null if there is none of this user's that can be read. */
export async function readStartRecord(file: string): Promise<StartRecord | null> {
  try {
    const value: unknown = JSON.parse(await readOwn(file));
    return isStartRecord(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The text of a file that only this user can write; empty for a file that others could have written. */
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
