/**
 * Files that the system passes to the application: by a double click, a drop on the icon, or an argument. They are only
 * read.
 */
import { readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { isOpenedFile } from '../../desktop-contract/files.ts';
import { isLink } from '../../desktop-contract/places.ts';

/** Bytes. A larger file is imported from the dialog, which reads it in pieces. */
export const maxOpenedBytes = 64 * 1024 * 1024;

/**
 * The last file named by the arguments of a start, as a full path; null if they name none. `directory`: where it was
 * started.
 */
export function fileOfArguments(argv: readonly string[], directory: string): string | null {
  // The first is the program.
  const files = argv
    .slice(1)
    .filter((argument) => !argument.startsWith('-') && !isLink(argument) && isOpenedFile(argument));
  const last = files.at(-1);
  return last === undefined ? null : resolve(directory, last);
}

export interface OpenedFile {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The file's name and content. Rejects, in words for the user, if its type is unknown, it is not a plain file, or it is
 * too large.
 */
export async function readOpened(path: string): Promise<OpenedFile> {
  const name = basename(path);
  if (!isOpenedFile(path)) throw new Error(`${name} is not a file of facts and rules.`);
  // Checked before opening: opening a pipe would wait for its writer.
  const { size, isFile } = await looked(path);
  if (!isFile) throw new Error(`${name} is not a plain file.`);
  if (size > maxOpenedBytes) throw new Error(`${name} is larger than 64 MiB: import it from the Facts view.`);
  return { name, bytes: new Uint8Array(await readFile(path)) };
}

async function looked(path: string): Promise<{ size: number; isFile: boolean }> {
  const found = await stat(path);
  return { size: found.size, isFile: found.isFile() };
}
