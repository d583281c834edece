/**
 * The endpoint file: the address of the running service, for programs of the same user.
 *
 * The service writes it atomically with mode 0600 when it is ready and removes it when it ends. It contains no secret
 * and belongs to the service that started last: a service never removes another one's file.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface ServiceEndpoint {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** Writes the file. Rejects with the system's error if the folder cannot be written. */
export async function writeEndpoint(file: string, endpoint: ServiceEndpoint): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${endpoint.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(endpoint, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Reads the file; null if there is none that can be read. */
export async function readEndpoint(file: string): Promise<ServiceEndpoint | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isEndpoint(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Removes the file if this process wrote it. */
export async function removeEndpoint(file: string): Promise<void> {
  const endpoint = await readEndpoint(file);
  if (endpoint?.pid === process.pid) await rm(file, { force: true });
}

function isEndpoint(value: unknown): value is ServiceEndpoint {
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
