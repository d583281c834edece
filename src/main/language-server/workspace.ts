/**
 * The packages of the folders that an editor has open: which files belong to which, open buffers before what is on disk.
 *
 * A package is a folder with `corollary.toml`, with all files below that are in no such folder of their own; what is in none is a
 * package of its workspace folder. A file outside of all workspace folders is in a package with the files beside it.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { PackageFailure } from '../packages/package-failure.ts';
import {
  isForeignFolder,
  isKnowledgeFile,
  isMissing,
  listFolder,
  readTextFile,
  settingsFile,
} from '../packages/package-folder.ts';
import { PackageSources, type PublishDiagnostics } from './package-sources.ts';

/** Language of documents that are not open. */
const language = 'corollary';

interface DocumentOnDisk {
  readonly document: TextDocument;
  /** Why the text ends before the file does; null: it is whole. */
  readonly cutOff: string | null;
}

/** What the workspace tells. */
export interface WorkspaceHost {
  readonly publish: PublishDiagnostics;
  /** A file is in no package any more. */
  readonly withdraw: (uri: string) => void;
  readonly warn: (message: string) => void;
  readonly fail: (error: unknown) => void;
}

/** The file of an address; null: it is no file. */
function pathOf(uri: string): string | null {
  if (!uri.startsWith('file:')) return null;
  try {
    return fileURLToPath(uri);
  } catch {
    // No file of this machine: its text is what the client says.
    return null;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The packages of an editor. Files are identified by their paths, however an editor writes their addresses. */
export class Workspace {
  readonly #host: WorkspaceHost;
  #folders: readonly string[] = [];
  /** Folders with a manifest. */
  #manifests = new Set<string>();
  /** By root. */
  #packages = new Map<string, PackageSources>();
  /** The root of each file, by key. */
  #rootOf = new Map<string, string>();
  readonly #open = new Map<string, TextDocument>();

  constructor(host: WorkspaceHost) {
    this.#host = host;
  }

  /** Reads the folders with these addresses; open buffers stay. */
  async setFolders(uris: readonly string[]): Promise<void> {
    this.#folders = uris.map(pathOf).filter((path) => path !== null);
    await this.reload();
  }

  /** Reads everything again. */
  async reload(): Promise<void> {
    const manifests = new Set<string>();
    const paths: string[] = [];
    for (const folder of this.#folders) {
      const { knowledge, settings } = await this.#listed(folder, 'all');
      for (const path of settings) manifests.add(dirname(path));
      paths.push(...knowledge);
    }
    const documents = await this.#documents(paths.filter((path) => !this.#open.has(path)));
    // From here on without a pause: no message of the client sees half of it.
    const before = [...this.#rootOf.keys()];
    for (const each of this.#packages.values()) each.close();
    this.#manifests = manifests;
    this.#packages = new Map();
    this.#rootOf = new Map();
    for (const each of documents) this.#put(each.document, false, each.cutOff);
    for (const document of this.#open.values()) this.#put(document, true);
    for (const key of before) if (!this.#rootOf.has(key)) this.#host.withdraw(uriOf(key));
  }

  /** A buffer is open, or has changed. */
  opened(document: TextDocument): void {
    const key = keyOf(document.uri);
    const isNew = !this.#open.has(key);
    this.#open.set(key, document);
    this.#put(document, true);
    if (isNew) this.#neighbours(key).catch(this.#host.fail);
  }

  /** A buffer is closed: what is on disk counts again. */
  async closed(uri: string): Promise<void> {
    const key = keyOf(uri);
    this.#open.delete(key);
    await this.changedOnDisk(uri);
    const root = this.#rootOf.get(key);
    if (root === undefined || this.#folders.some((folder) => isWithin(key, folder))) return;
    // Outside of the workspace a package is read for its open files.
    const keys = [...this.#rootOf].filter(([, each]) => each === root).map(([each]) => each);
    if (!keys.some((each) => this.#open.has(each))) for (const each of keys) this.#remove(each);
  }

  /** A file or a manifest has come, changed or gone. */
  async changedOnDisk(uri: string): Promise<void> {
    const key = keyOf(uri);
    const path = pathOf(uri);
    if (path !== null && basename(path) === settingsFile) return this.reload();
    if (this.#open.has(key)) return;
    const [read] = path === null || !this.#isListed(path) ? [] : await this.#documents([path]);
    // It may have been opened meanwhile.
    if (this.#open.has(key)) return;
    if (read === undefined) this.#remove(key);
    else this.#put(read.document, false, read.cutOff);
  }

  /** The package of a file; null: it is in none. */
  packageOf(uri: string): PackageSources | null {
    const root = this.#rootOf.get(keyOf(uri));
    return root === undefined ? null : (this.#packages.get(root) ?? null);
  }

  /** All packages. */
  get packages(): readonly PackageSources[] {
    return [...this.#packages.values()];
  }

  /** Whether the listing of its workspace folder has the file. */
  #isListed(path: string): boolean {
    const folder = this.#folders.find((each) => isWithin(path, each));
    const around = folder === undefined ? [] : relative(folder, dirname(path)).split(sep);
    return isKnowledgeFile(path) && !around.some(isForeignFolder);
  }

  #put(document: TextDocument, isOpen: boolean, cutOff: string | null = null): void {
    const key = keyOf(document.uri);
    const root = this.#rootOf.get(key) ?? this.#root(key);
    this.#rootOf.set(key, root);
    let sources = this.#packages.get(root);
    if (sources === undefined) {
      sources = new PackageSources(this.#host.publish, this.#host.fail);
      this.#packages.set(root, sources);
    }
    const name = pathOf(document.uri) === null ? key : relative(root, key).split(sep).join('/');
    sources.set(key, name, document, isOpen, cutOff);
  }

  #remove(key: string): void {
    const root = this.#rootOf.get(key);
    if (root === undefined) return;
    this.#packages.get(root)?.delete(key);
    this.#rootOf.delete(key);
    this.#host.withdraw(uriOf(key));
  }

  /** The folder of the package of a file; what is no file is a package of its own. */
  #root(key: string): string {
    if (pathOf(uriOf(key)) === null) return key;
    const folder = this.#folders
      .filter((each) => isWithin(key, each))
      .sort((left, right) => right.length - left.length)[0];
    for (let at = dirname(key); ; at = dirname(at)) {
      if (folder === undefined ? existsSync(join(at, settingsFile)) : this.#manifests.has(at)) return at;
      if (at === folder) return folder;
      if (dirname(at) === at) return dirname(key);
    }
  }

  /** Reads the files of the package of a file that is outside of all workspace folders. */
  async #neighbours(key: string): Promise<void> {
    const root = this.#rootOf.get(key);
    if (pathOf(uriOf(key)) === null || root === undefined) return;
    if (this.#folders.some((folder) => isWithin(key, folder))) return;
    const paths = existsSync(join(root, settingsFile))
      ? (await this.#listed(root, 'package')).knowledge
      : (await readdir(root)).map((name) => join(root, name));
    const wanted = paths.filter((path) => isKnowledgeFile(path) && !this.#rootOf.has(path));
    for (const { document, cutOff } of await this.#documents(wanted))
      if (!this.#rootOf.has(keyOf(document.uri))) this.#put(document, false, cutOff);
  }

  /** What is below a folder, as whole paths; what cannot be listed is logged. */
  async #listed(folder: string, of: 'package' | 'all') {
    const listing = await listFolder(folder, of, ({ message }) => this.#host.warn(message));
    const whole = (path: string): string => join(folder, path);
    return { knowledge: listing.knowledge.map(whole), settings: listing.settings.map(whole) };
  }

  /** The files as they are on disk, without those that cannot be read. */
  async #documents(paths: readonly string[]): Promise<DocumentOnDisk[]> {
    const documents: DocumentOnDisk[] = [];
    for (const path of paths)
      try {
        const { text, problem } = await readTextFile(path, path);
        const document = TextDocument.create(uriOf(path), language, 0, text);
        documents.push({ document, cutOff: problem?.message ?? null });
      } catch (error) {
        if (!(error instanceof PackageFailure)) throw error;
        if (!isMissing(error)) this.#host.warn(error.message);
      }
    return documents;
  }
}

/** Identifies a file however its address is written: its path, or else the address. */
function keyOf(uri: string): string {
  return pathOf(uri) ?? uri;
}

function uriOf(key: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(key) && !/^[a-z]:[\\/]/i.test(key) ? key : pathToFileURL(key).href;
}
