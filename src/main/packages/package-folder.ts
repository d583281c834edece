/**
 * The files of packages on disk: which there are, and their texts, within bounds.
 *
 * A folder with `corollary.toml` is a package of its own, which the package of a folder around it leaves out. Folders named
 * `node_modules` or with a dot at the beginning are left out, and symbolic links are not followed.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PackageFailure } from './package-failure.ts';

/** Bytes of one file. */
const maxFileBytes = 8 * 1024 * 1024;
/** Files with knowledge, and names looked at in all folders. */
const maxFiles = 10_000;
const maxEntries = 500_000;
/** Folders inside one another. */
const maxDepth = 64;

/** The file that makes a folder a package. */
export const settingsFile = 'corollary.toml';

/** Whether a file of this name has knowledge. */
export function isKnowledgeFile(name: string): boolean {
  return name.endsWith('.kb');
}

/** Whether tests can stand in a file of this name. */
export function isTestFile(name: string): boolean {
  return name.endsWith('.test.kb');
}

/** Whether a folder of this name belongs to other programs. */
export function isForeignFolder(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.');
}

/** Orders paths by code points, as their UTF-8 bytes are. */
export function comparePaths(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Paths below a folder, from it, with `/`; each list in code-point order. */
export interface FolderListing {
  readonly knowledge: readonly string[];
  readonly settings: readonly string[];
}

/** Paths of the knowledge files of the package in the folder, in code-point order. Throws a PackageFailure. */
export async function knowledgeFilesIn(root: string): Promise<readonly string[]> {
  const { knowledge } = await listFolder(root, 'package', (problem) => {
    throw problem;
  });
  return knowledge;
}

/**
 * Lists what is below a folder: of its `package`, or of `all` packages. `report` receives what cannot be listed: if it
 * returns, the listing leaves that out.
 */
export async function listFolder(
  root: string,
  of: 'package' | 'all',
  report: (problem: PackageFailure) => void,
): Promise<FolderListing> {
  const knowledge: string[] = [];
  const settings: string[] = [];
  let looked = 0;
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { path, depth } = next;
    const entries = await entriesOf(join(root, path), path === '' ? root : path, report);
    const below = (name: string): string => (path === '' ? name : `${path}/${name}`);
    const isPackage = entries.some((entry) => entry.name === settingsFile && entry.isFile());
    if (isPackage && path !== '' && of === 'package') continue;
    if (isPackage) settings.push(below(settingsFile));
    looked += entries.length;
    if (looked > maxEntries) {
      report(new PackageFailure(`${root}: more than ${maxEntries} files are below this folder`));
      break;
    }
    for (const entry of entries)
      if (entry.isFile() && isKnowledgeFile(entry.name)) knowledge.push(below(entry.name));
      else if (!entry.isDirectory() || isForeignFolder(entry.name)) continue;
      else if (depth < maxDepth) folders.push({ path: below(entry.name), depth: depth + 1 });
      else
        report(
          new PackageFailure(`${below(entry.name)}: folders are more than ${maxDepth} deep in one another`),
        );
  }
  if (knowledge.length > maxFiles)
    report(new PackageFailure(`${root}: at most ${maxFiles} files that end with .kb are read`));
  return {
    knowledge: knowledge.sort(comparePaths).slice(0, maxFiles),
    settings: settings.sort(comparePaths),
  };
}

async function entriesOf(folder: string, path: string, report: (problem: PackageFailure) => void) {
  try {
    return await failing(path, () => readdir(folder, { withFileTypes: true }));
  } catch (error) {
    if (!(error instanceof PackageFailure)) throw error;
    report(error);
    return [];
  }
}

/** What `read` resolves with. Throws a PackageFailure that says in words why `path` cannot be read. */
export async function failing<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PackageFailure) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const words = { ENOENT: 'it does not exist', ENOTDIR: 'it is no folder', EACCES: 'access is denied' }[
      reason
    ];
    throw new PackageFailure(`${path} cannot be read: ${words ?? reason}`, { cause: error });
  }
}

/** Whether what could not be read is not there. */
export function isMissing({ cause }: PackageFailure): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}

/** The text of a file that is no link. Throws a PackageFailure if it has too many bytes, also if it grows meanwhile. */
export async function readTextFile(file: string, path: string): Promise<TextFile> {
  return decoded(await readBytes(file, path));
}

async function readBytes(file: string, path: string): Promise<Buffer> {
  return failing(path, async () => {
    // A file that has become a link or a pipe since it was listed is not read, and nothing waits for its other end.
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) throw new PackageFailure(`${path} cannot be read: it is no file`);
      return await readAll(handle, path);
    } finally {
      await handle.close();
    }
  });
}

async function readAll(handle: FileHandle, path: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(256 * 1024) });
    if (bytesRead === 0) return Buffer.concat(pieces, length);
    length += bytesRead;
    if (length > maxFileBytes) throw new PackageFailure(`${path} has more than ${maxFileBytes} bytes`);
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

/** A file as text. */
export interface TextFile {
  /** Up to what is not UTF-8, without a byte order mark. */
  readonly text: string;
  readonly hasByteOrderMark: boolean;
  readonly bytes: number;
  /** Where it is not UTF-8; null: it is. */
  readonly problem: { readonly message: string; readonly line: number; readonly column: number } | null;
}

const replacement = '\ufffd';

function decoded(bytes: Buffer): TextFile {
  const whole = bytes.toString('utf8');
  const hasByteOrderMark = whole.startsWith('\ufeff');
  const start = hasByteOrderMark ? 1 : 0;
  let before = 0;
  let offset = 0;
  for (let at = whole.indexOf(replacement); at >= 0; at = whole.indexOf(replacement, at + 1)) {
    offset += Buffer.byteLength(whole.slice(before, at));
    before = at;
    // The text may contain the replacement character itself.
    if (bytes.subarray(offset, offset + 3).toString('hex') === 'efbfbd') continue;
    const text = whole.slice(start, at);
    const lines = text.split(/\r\n?|\n/);
    const byte = (bytes[offset] ?? 0).toString(16).padStart(2, '0');
    const message = `the file is not UTF-8: the byte 0x${byte} cannot stand here`;
    const problem = { message, line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
    return { text, hasByteOrderMark, bytes: bytes.length, problem };
  }
  return { text: whole.slice(start), hasByteOrderMark, bytes: bytes.length, problem: null };
}
