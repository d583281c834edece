/**
 * The files of one package as the editor has them: read again as they change, and diagnosed after a pause.
 *
 * A reading takes slices of the thread between which messages of the client are handled, and is given up when a file
 * changes, so that typing in a large file never waits for it.
 */
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { type KnowledgeFile, knowledgeFileSteps } from '../../editing/knowledge-file.ts';
import { type EditedFile, type FileDiagnostic, PackageContext } from '../../editing/package-diagnosis.ts';
import { argumentNamesOf, describePackage, type DescribedPackage } from '../../editing/package-symbols.ts';
import { comparePaths, isTestFile } from '../packages/package-folder.ts';

/** One file of a package: an open buffer, or what is on disk. */
export interface SourceFile extends EditedFile {
  readonly uri: string;
  /** As of the reading: the buffer may have changed since. */
  readonly version: number;
  readonly isOpen: boolean;
  readonly document: TextDocument;
}

/** A package as of one moment. */
export interface PackageReading {
  readonly files: readonly SourceFile[];
  readonly description: DescribedPackage;
}

/** Receives the diagnostics of a file. */
export type PublishDiagnostics = (file: SourceFile, diagnostics: readonly FileDiagnostic[]) => void;

interface Source {
  readonly uri: string;
  readonly name: string;
  readonly document: TextDocument;
  readonly isOpen: boolean;
  readonly cutOff: string | null;
  /** Counts the changes of the text. */
  change: number;
  read: { readonly change: number; readonly names: string; readonly file: KnowledgeFile } | null;
  /** The reading and the environment of the last diagnosis. */
  diagnosed: { readonly file: KnowledgeFile; readonly environment: string } | null;
}

/** Milliseconds that a slice may take. */
const sliceMs = 10;
/** Milliseconds without a change before a diagnosis; in large packages as long as the last one took, up to a second. */
const [minPauseMs, maxPauseMs] = [120, 1000];
/** A name with a brace behind it: perhaps arguments by name. */
const namedArguments = /[^\s(){},;"'`=]\{/;

/** Slices of one piece of work over many files. */
class WorkSlices {
  readonly #isStale: () => boolean;
  #startedAt = performance.now();

  /** `isStale`: the work is given up. */
  constructor(isStale: () => boolean) {
    this.#isStale = isStale;
  }

  /** Runs the steps, and lets other work in between; null: given up. */
  async run<Result>(steps: Generator<'more', Result, undefined>): Promise<Result | null> {
    for (;;) {
      if (performance.now() - this.#startedAt >= sliceMs) {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#isStale()) return null;
        this.#startedAt = performance.now();
      }
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }
}

/** The files of one package. Every change of one begins a pause, after which diagnostics are published. */
export class PackageSources {
  readonly #sources = new Map<string, Source>();
  readonly #publish: PublishDiagnostics;
  readonly #fail: (error: unknown) => void;
  #change = 0;
  #reading: { readonly change: number; readonly reading: PackageReading } | null = null;
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #pauseMs = minPauseMs;

  /** `fail`: receives what a diagnosis threw, which is a bug. */
  constructor(publish: PublishDiagnostics, fail: (error: unknown) => void) {
    this.#publish = publish;
    this.#fail = fail;
  }

  /**
   * Adds a file, or replaces its text. `key`: identifies it; `name`: relative to the package; `cutOff`: why the text ends
   * before the file does.
   */
  set(
    key: string,
    name: string,
    document: TextDocument,
    isOpen: boolean,
    cutOff: string | null = null,
  ): void {
    this.#change++;
    const before = this.#sources.get(key);
    if (before?.document === document && before.isOpen === isOpen) before.change = this.#change;
    else
      this.#sources.set(key, {
        uri: document.uri,
        name,
        document,
        isOpen,
        cutOff,
        change: this.#change,
        read: null,
        diagnosed: null,
      });
    this.#schedule();
  }

  /** Takes a file out; its diagnostics are withdrawn. */
  delete(key: string): void {
    const source = this.#sources.get(key);
    if (source === undefined) return;
    this.#change++;
    this.#sources.delete(key);
    this.#schedule();
  }

  /** Whether a file of this key is there. */
  has(key: string): boolean {
    return this.#sources.has(key);
  }

  /** The number of files. */
  get size(): number {
    return this.#sources.size;
  }

  /** The last reading, perhaps of earlier texts, without waiting; null: there is none yet. */
  get lastReading(): PackageReading | null {
    return this.#reading?.reading ?? null;
  }

  /** Reads what has changed; resolves with all files as they are. */
  async reading(): Promise<PackageReading> {
    for (;;) {
      if (this.#reading?.change === this.#change) return this.#reading.reading;
      this.#running ??= this.#read().finally(() => {
        this.#running = null;
      });
      await this.#running;
    }
  }

  /** Ends all work. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#change++;
  }

  async #read(): Promise<void> {
    const change = this.#change;
    const slices = new WorkSlices(() => this.#change !== change);
    const sources = [...this.#sources.values()].sort((left, right) => comparePaths(left.name, right.name));
    // Arguments by name need all declarations: files that may have some are read again with them.
    for (;;) {
      const known = sources.flatMap(({ read }) => (read === null ? [] : [read.file]));
      const names = JSON.stringify(known.flatMap(({ declared }) => declared.map((each) => each.declaration)));
      const waiting = sources.filter(({ read, change: changed }) => {
        if (read === null || read.change !== changed) return true;
        return read.names !== names && namedArguments.test(read.file.text);
      });
      if (waiting.length === 0) break;
      const argumentNames = argumentNamesOf(known);
      for (const source of waiting) {
        const changed = source.change;
        const steps = knowledgeFileSteps(
          source.document.getText(),
          isTestFile(source.name),
          argumentNames,
          source.cutOff,
        );
        const file = await slices.run(steps);
        if (file === null) return;
        source.read = { change: changed, names, file };
      }
    }
    const files = sources.map(({ uri, name, document, isOpen, read }) => ({
      uri,
      name,
      document,
      isOpen,
      version: document.version,
      file: (read as NonNullable<Source['read']>).file,
    }));
    this.#reading = { change, reading: { files, description: describePackage(files) } };
  }

  #schedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.diagnose().catch(this.#fail);
    }, this.#pauseMs);
  }

  /** Publishes the diagnostics of the files that they may have changed in; a change during that gives it up, and begins a pause. */
  async diagnose(): Promise<void> {
    const startedAt = performance.now();
    const { files } = await this.reading();
    const change = this.#change;
    const slices = new WorkSlices(() => this.#change !== change);
    const context = await slices.run(PackageContext.of(files));
    // A change has begun another pause.
    if (context === null) return;
    const sources = new Map([...this.#sources.values()].map((source) => [source.uri, source]));
    for (const file of files) {
      const source = sources.get(file.uri);
      if (source === undefined) continue;
      const { diagnosed } = source;
      const environment = context.environmentOf(file);
      if (diagnosed?.file === file.file && diagnosed.environment === environment) continue;
      const diagnostics = await slices.run(context.diagnose(file));
      if (diagnostics === null) return;
      source.diagnosed = { file: file.file, environment };
      this.#publish(file, diagnostics);
    }
    this.#pauseMs = Math.min(maxPauseMs, Math.max(minPauseMs, performance.now() - startedAt));
  }
}
