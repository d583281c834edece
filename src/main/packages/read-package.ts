/**
 * Reads a package of knowledge: the files of a folder that end with `.kb`, those of tests with `.test.kb`, and
 * `corollary.toml`.
 *
 * Files are read in code-point order of their paths, from all folders below but `node_modules` and those that begin with a
 * dot. Symbolic links below the folder are not followed. A file that cannot be parsed, or is not UTF-8, has errors; a
 * folder or a file that cannot be read, or is too large, ends the reading with a PackageFailure.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { importedDeclarationSchema, type ImportedDeclaration } from '../../engine/contract/transfer.ts';
import { validate } from '../../engine/contract/validation.ts';
import {
  ArgumentNames,
  compareText,
  type KnowledgeText,
  parseKnowledgeText,
  type Span,
} from '../../engine/index.ts';
import { PackageFailure } from './package-failure.ts';
import { noPackageSettings, type PackageService, parseSettings } from './package-settings.ts';

/** Bytes of one file, and of all files of a package. */
const maxFileBytes = 8 * 1024 * 1024;
const maxPackageBytes = 32 * 1024 * 1024;
/** Statements and tests of a package: about 2 GB of memory while they are tested. */
const maxItems = 500_000;
/** Files of a package, and names looked at in its folders. */
const maxFiles = 10_000;
const maxEntries = 500_000;
/** Folders inside one another. */
const maxDepth = 64;
/** Errors of one file. */
const maxErrors = 1000;

export const settingsFile = 'corollary.toml';

/** A file of a package. `path`: from the folder of the package, with `/`. `text`: without a byte order mark. */
export interface PackageFile extends KnowledgeText {
  readonly path: string;
  readonly text: string;
  /** Its name ends with `.test.kb`. */
  readonly isTests: boolean;
  readonly hasByteOrderMark: boolean;
  /** False: the text ends where the file is not UTF-8. */
  readonly isUtf8: boolean;
}

/** What one file declares. */
export interface PackageDeclaration {
  readonly declaration: ImportedDeclaration;
  readonly file: PackageFile;
  readonly span: Span;
  /** Of the predicate. */
  readonly name: Span;
}

/** A package as it was read. */
export interface KnowledgePackage {
  /** The folder as given. */
  readonly folder: string;
  /** From `corollary.toml`, or the name of the folder. */
  readonly name: string;
  readonly scope: string | null;
  readonly service: PackageService;
  /** In code-point order of their paths. */
  readonly files: readonly PackageFile[];
  /** The declarations that can be made, in the order of the files. */
  readonly declarations: readonly PackageDeclaration[];
}

/** Reads the package in the folder, which has some file unless it `mayBeEmpty`. Throws a PackageFailure. */
export async function readPackage(folder: string, mayBeEmpty = false): Promise<KnowledgePackage> {
  const root = await failing(folder, () => realpath(folder));
  const paths = await knowledgeFilesIn(root);
  if (paths.length === 0 && !mayBeEmpty) throw new PackageFailure(`${folder} has no file that ends with .kb`);
  const settings = await readSettings(root);
  const read: ReadFile[] = [];
  let left = maxPackageBytes;
  for (const path of paths) {
    const bytes = await readBytes(join(root, path), path);
    left -= bytes.length;
    if (left < 0)
      throw new PackageFailure(`${folder}: the files have more than ${maxPackageBytes} bytes together`);
    read.push(decoded(path, bytes));
  }
  const first: PackageFile[] = [];
  let items = 0;
  for (const each of read) {
    const file = parsed(each, null);
    items += file.items.length;
    if (items > maxItems)
      throw new PackageFailure(
        `${folder} has more than ${maxItems} statements: import facts that are so many`,
      );
    first.push(file);
  }
  const declarations = first.flatMap((file) => declarationsOf(file));
  const names = new ArgumentNames(declarations.map(({ declaration }) => declaration));
  // Arguments by name are put in the order of declarations that may be in any file.
  const files = first.map((file, at) =>
    file.text.includes('{') ? parsed(read[at] as ReadFile, names) : file,
  );
  const checked = files.map(withDeclarationsChecked);
  const fileOf = new Map(checked.map((file) => [file.path, file]));
  return {
    folder,
    name: settings.name ?? basename(root),
    scope: settings.scope,
    service: settings.service,
    files: checked,
    declarations: declarations.map((each) => ({ ...each, file: fileOf.get(each.file.path) ?? each.file })),
  };
}

async function readSettings(root: string): Promise<typeof noPackageSettings> {
  let bytes: Buffer;
  try {
    bytes = await readBytes(join(root, settingsFile), settingsFile);
  } catch (error) {
    if (error instanceof PackageFailure && isMissing(error.cause)) return noPackageSettings;
    throw error;
  }
  const { text, problem } = decoded(settingsFile, bytes);
  if (problem !== null)
    throw new PackageFailure(`${settingsFile}:${problem.line}:${problem.column}: ${problem.message}`);
  return parseSettings(text, settingsFile);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Paths of the knowledge files below the folder, from it, in code-point order. Throws a PackageFailure. */
export async function knowledgeFilesIn(root: string): Promise<string[]> {
  const found: string[] = [];
  let looked = 0;
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { path, depth } = next;
    const entries = await failing(path === '' ? root : path, () =>
      readdir(join(root, path), { withFileTypes: true }),
    );
    looked += entries.length;
    if (looked > maxEntries)
      throw new PackageFailure(`${root}: more than ${maxEntries} files are below this folder`);
    for (const entry of entries) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isFile() && entry.name.endsWith('.kb')) found.push(below);
      else if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) {
        if (depth === maxDepth)
          throw new PackageFailure(`${below}: folders are more than ${maxDepth} deep in one another`);
        folders.push({ path: below, depth: depth + 1 });
      }
    }
  }
  if (found.length > maxFiles)
    throw new PackageFailure(`${root}: a package has at most ${maxFiles} files that end with .kb`);
  return found.sort(compareText);
}

async function failing<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
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

/** The bytes of a file that is no link; refused if they are too many, also if it grows meanwhile. */
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

interface ReadFile {
  readonly path: string;
  /** Up to what is not UTF-8. */
  readonly text: string;
  readonly hasByteOrderMark: boolean;
  /** Where it is not UTF-8; null: it is. */
  readonly problem: { readonly message: string; readonly line: number; readonly column: number } | null;
}

const replacement = '\ufffd';

function decoded(path: string, bytes: Buffer): ReadFile {
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
    return { path, text, hasByteOrderMark, problem };
  }
  return { path, text: whole.slice(start), hasByteOrderMark, problem: null };
}

function parsed(
  { path, text, hasByteOrderMark, problem }: ReadFile,
  names: ArgumentNames | null,
): PackageFile {
  const isTests = path.endsWith('.test.kb');
  const read = parseKnowledgeText(text, { tests: isTests, maxErrors, ...(names === null ? {} : { names }) });
  const errors = [...read.errors];
  if (problem !== null) {
    const { message, line, column } = problem;
    const span = { start: text.length, end: text.length };
    const range = { startLine: line, startColumn: column, endLine: line, endColumn: column };
    errors.unshift({ code: 'syntax', message, span, range });
  }
  if (isTests)
    for (const { kind, span } of read.items)
      if (kind !== 'test') {
        const message = `a file of tests has tests alone: suppose this ${kind} with given, or write it in another file`;
        errors.push({ code: 'syntax', message, span, range: read.lines.range(span) });
      }
  return { ...read, errors, path, text, isTests, hasByteOrderMark, isUtf8: problem === null };
}

function declarationsOf(file: PackageFile): PackageDeclaration[] {
  return file.items.flatMap((item) => {
    if (item.kind !== 'declaration' || file.isTests) return [];
    const checked = validate(importedDeclarationSchema, { declare: item.declared });
    return checked.ok ? [{ declaration: checked.value, file, span: item.span, name: item.name }] : [];
  });
}

function withDeclarationsChecked(file: PackageFile): PackageFile {
  const wrong = file.items.flatMap((item) => {
    if (item.kind !== 'declaration') return [];
    const checked = validate(importedDeclarationSchema, { declare: item.declared });
    if (checked.ok) return [];
    const message = checked.errors.map((each) => each.message).join('; ');
    return [{ code: 'syntax' as const, message, span: item.name, range: file.lines.range(item.name) }];
  });
  return wrong.length === 0 ? file : { ...file, errors: [...file.errors, ...wrong] };
}
