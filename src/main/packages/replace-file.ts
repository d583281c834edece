/** Writes files of a package. */
import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { PackageFailure } from './package-failure.ts';

/** Replaces a file whole or not at all, with its permissions; one that is not there is created. Throws a PackageFailure. */
export async function replaced(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    const known = await stat(file).catch(absent);
    await writeFile(draft, text, { ...(known === null ? {} : { mode: known.mode }), flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw notWritten(file, error);
  }
}

/** null if the file is not there. */
function absent(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}

/** The failure to write a file. */
export function notWritten(file: string, error: unknown): PackageFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new PackageFailure(`${file} cannot be written: ${reason}`, { cause: error });
}
