/**
 * The packages of the folders that an editor has open: which files belong to which, open buffers before what is on disk.
 *
 * A package is a folder with `corollary.toml`, with all files below that are in no such folder of their own; what is in none is a
 * package of its workspace folder. A file outside of all workspace folders is in a package with the files beside it.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { PackageSources, type PublishDiagnostics } from './package-sources.ts';

/** The file that makes a folder a package. */
const manifest = 'corollary.toml';
/** Files of one workspace folder; the rest is not read, and logged. */
const maxFiles = 10_000;
/** Language of documents that are not open. */
const language = 'corollary';

/** What the workspace tells. */
export interface WorkspaceHost {
  readonly publish: PublishDiagnostics;
  /** A file is in no package any more. */
  readonly withdraw: (uri: string) => void;
  readonly warn: (message: string) => void;
  readonly fail: (error: unknown) => void;
}

/** Whether a file of this name has knowledge. */
export function isKnowledge(name: string): boolean {
  return name.endsWith('.kb');
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
      const found = await this.#filesBelow(folder);
      for (const path of found)
        if (basename(path) === manifest) manifests.add(dirname(path));
        else paths.push(path);
    }
    const documents = await this.#documents(paths.filter((path) => !this.#open.has(path)));
    // From here on without a pause: no message of the client sees half of it.
    const before = [...this.#rootOf.keys()];
    for (const each of this.#packages.values()) each.close();
    this.#manifests = manifests;
    this.#packages = new Map();
    this.#rootOf = new Map();
    for (const document of documents) this.#put(document, false);
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
    if (path !== null && basename(path) === manifest) return this.reload();
    if (this.#open.has(key)) return;
    const [document] = path === null || !isKnowledge(path) ? [] : await this.#documents([path]);
    // It may have been opened meanwhile.
    if (this.#open.has(key)) return;
    if (document === undefined) this.#remove(key);
    else this.#put(document, false);
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

  #put(document: TextDocument, isOpen: boolean): void {
    const key = keyOf(document.uri);
    const root = this.#rootOf.get(key) ?? this.#root(key);
    this.#rootOf.set(key, root);
    let sources = this.#packages.get(root);
    if (sources === undefined) {
      sources = new PackageSources(this.#host.publish, this.#host.fail);
      this.#packages.set(root, sources);
    }
    const name = pathOf(document.uri) === null ? key : relative(root, key).split(sep).join('/');
    sources.set(key, name, document, isOpen);
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
      if (folder === undefined ? existsSync(join(at, manifest)) : this.#manifests.has(at)) return at;
      if (at === folder) return folder;
      if (dirname(at) === at) return dirname(key);
    }
  }

  /** Reads the files of the package of a file that is outside of all workspace folders. */
  async #neighbours(key: string): Promise<void> {
    const root = this.#rootOf.get(key);
    if (pathOf(uriOf(key)) === null || root === undefined) return;
    if (this.#folders.some((folder) => isWithin(key, folder))) return;
    const paths = existsSync(join(root, manifest))
      ? await this.#filesBelow(root)
      : (await readdir(root)).map((name) => join(root, name));
    const wanted = paths.filter((path) => isKnowledge(path) && !this.#rootOf.has(path));
    for (const document of await this.#documents(wanted))
      if (!this.#rootOf.has(keyOf(document.uri))) this.#put(document, false);
  }

  /** The knowledge and the manifests below a folder, in the order of their paths. */
  async #filesBelow(folder: string): Promise<string[]> {
    const found: string[] = [];
    const waiting = [folder];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) => {
        this.#host.warn(`${at} could not be read: ${String(error)}`);
        return [];
      });
      for (const entry of entries) {
        const { name } = entry;
        if (entry.isDirectory() && !name.startsWith('.') && name !== 'node_modules')
          waiting.push(join(at, name));
        else if (entry.isFile() && (isKnowledge(name) || name === manifest)) found.push(join(at, name));
      }
      if (found.length > maxFiles) {
        this.#host.warn(`${folder} has more than ${maxFiles} files of knowledge: the rest is not read`);
        break;
      }
    }
    return found.slice(0, maxFiles).sort();
  }

  /** The files as they are on disk, without those that cannot be read. */
  async #documents(paths: readonly string[]): Promise<TextDocument[]> {
    const documents: TextDocument[] = [];
    for (const path of paths)
      try {
        const text = await readFile(path, 'utf8');
        documents.push(TextDocument.create(uriOf(path), language, 0, text.replace(/^\uFEFF/, '')));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          this.#host.warn(`${path} could not be read: ${String(error)}`);
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
