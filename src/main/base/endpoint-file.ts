/**
 * The endpoint file: where the running service can be reached, for programs of the same user.
 *
 * It is written atomically with mode 0600 when the service is ready and removed when it ends, holds no secret,
 * and belongs to the last service that started: another one's file is left alone.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Endpoint {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** Rejects with the system's error where the folder cannot be written. */
export async function writeEndpoint(file: string, endpoint: Endpoint): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${endpoint.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(endpoint, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** What the file says, or null where there is none that can be read. */
export async function readEndpoint(file: string): Promise<Endpoint | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isEndpoint(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Removes the file where it is this process's own. */
export async function removeEndpoint(file: string): Promise<void> {
  const endpoint = await readEndpoint(file);
  if (endpoint?.pid === process.pid) await rm(file, { force: true });
}

function isEndpoint(value: unknown): value is Endpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { url, pid, version, startedAt } = value as Record<string, unknown>;
  return (
    typeof url === 'string' &&
    URL.canParse(url) &&
    typeof pid === 'number' &&
    typeof version === 'string' &&
    typeof startedAt === 'number'
  );
}
