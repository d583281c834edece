/**
 * Reads a package of knowledge: the files of a folder that end with `.kb`, those of tests with `.test.kb`, and
 * `corollary.toml`.
 *
 * Files are read in code-point order of their paths; `package-folder.ts` says which. A file that cannot be parsed, or is
 * not UTF-8, has errors; a folder or a file that cannot be read, or is too large, ends the reading with a PackageFailure.
 */
import { realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type KnowledgeFile, knowledgeFileSteps } from '../../editing/knowledge-file.ts';
import type { EditedFile } from '../../editing/package-diagnosis.ts';
import { ArgumentNames, type KnowledgeText, runAtOnce, type Span } from '../../engine/index.ts';
import { PackageFailure } from './package-failure.ts';
import {
  failing,
  isMissing,
  isTestFile,
  knowledgeFilesIn,
  readTextFile,
  settingsFile,
  type TextFile,
} from './package-folder.ts';
import { noPackageSettings, type PackageService, parseSettings } from './package-settings.ts';

/** Bytes of all files of a package. */
const maxPackageBytes = 32 * 1024 * 1024;
/** Statements and tests of a package: about 2 GB of memory while they are tested. */
const maxItems = 500_000;
/** A file of a package. `path`: from the folder of the package, with `/`. `text`: without a byte order mark. */
export interface PackageFile extends EditedFile, KnowledgeText {
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
  readonly declaration: KnowledgeFile['declared'][number]['declaration'];
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
    const file = await readTextFile(join(root, path), path);
    left -= file.bytes;
    if (left < 0)
      throw new PackageFailure(`${folder}: the files have more than ${maxPackageBytes} bytes together`);
    read.push({ path, ...file });
  }
  const first: PackageFile[] = [];
  let items = 0;
  for (const each of read) {
    const file = parsed(each, new ArgumentNames([]));
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
  const fileOf = new Map(files.map((file) => [file.path, file]));
  return {
    folder,
    name: settings.name ?? basename(root),
    scope: settings.scope,
    service: settings.service,
    files,
    declarations: declarations.map((each) => ({ ...each, file: fileOf.get(each.file.path) ?? each.file })),
  };
}

async function readSettings(root: string): Promise<typeof noPackageSettings> {
  let read: TextFile;
  try {
    read = await readTextFile(join(root, settingsFile), settingsFile);
  } catch (error) {
    if (error instanceof PackageFailure && isMissing(error)) return noPackageSettings;
    throw error;
  }
  const { text, problem } = read;
  if (problem !== null)
    throw new PackageFailure(`${settingsFile}:${problem.line}:${problem.column}: ${problem.message}`);
  return parseSettings(text, settingsFile);
}

interface ReadFile extends TextFile {
  readonly path: string;
}

function parsed({ path, text, hasByteOrderMark, problem }: ReadFile, names: ArgumentNames): PackageFile {
  const isTests = isTestFile(path);
  const file = runAtOnce(knowledgeFileSteps(text, isTests, names, problem?.message));
  const { lines } = file.parsed;
  const wrong = file.wrong.map((each) => ({
    code: 'syntax' as const,
    ...each,
    range: lines.range(each.span),
  }));
  const errors = [...wrong, ...file.parsed.errors];
  const isUtf8 = problem === null;
  return { ...file.parsed, name: path, path, file, text, errors, isTests, hasByteOrderMark, isUtf8 };
}

function declarationsOf(file: PackageFile): PackageDeclaration[] {
  return file.file.declared.map(({ declaration, statement: { span, name } }) => ({
    declaration,
    file,
    span,
    name,
  }));
}
