/** An editor for tests: starts the language server as a process, over a folder that it makes, and keeps what it is told. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import {
  createProtocolConnection,
  type Diagnostic,
  type Position,
  type ProtocolConnection,
  type Range,
  StreamMessageReader,
  StreamMessageWriter,
  type WorkspaceEdit,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';

interface Published {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: Diagnostic[];
}

/** A test fails if what it waits for has not come by then; far longer than a slow machine takes. */
const longestWaitMs = 120_000;

/** `1:4-9`: lines and characters from 0; the end's line only if it is another. */
export function rangeText({ start, end }: Range): string {
  const last = end.line === start.line ? '' : `${end.line}:`;
  return `${start.line}:${start.character}-${last}${end.character}`;
}

export class EditorUnderTest {
  readonly folder: string;
  readonly process: ChildProcess;
  readonly connection: ProtocolConnection;
  /** Globs that the server wants watched. */
  readonly watched: string[] = [];
  /** What it printed on standard error. */
  readonly complaints: Promise<string>;
  readonly exit: Promise<number | null>;
  readonly #open = new Map<string, TextDocument>();
  readonly #published = new Map<string, Published>();
  #awaiting: (() => void)[] = [];

  private constructor(folder: string, process: ChildProcess, connection: ProtocolConnection) {
    this.folder = folder;
    this.process = process;
    this.connection = connection;
    this.exit = once(process, 'exit').then(([code]) => code as number | null);
    this.complaints = process.stderr === null ? Promise.resolve('') : text(process.stderr);
  }

  /** Starts `program` over a new folder with these files. */
  static async start(program: string, files: Readonly<Record<string, string>>): Promise<EditorUnderTest> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'corollary-editor-')));
    const child = spawn(process.execPath, [program], { stdio: 'pipe' });
    const connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    const editor = new EditorUnderTest(folder, child, connection);
    for (const [name, written] of Object.entries(files)) await editor.write(name, written);
    editor.#listen();
    return editor;
  }

  #listen(): void {
    const { connection } = this;
    connection.onNotification('textDocument/publishDiagnostics', (published: Published) => {
      this.#published.set(published.uri, published);
      for (const wake of this.#awaiting.splice(0)) wake();
    });
    connection.onRequest(
      'client/registerCapability',
      ({
        registrations,
      }: {
        registrations: { registerOptions: { watchers: { globPattern: string }[] } }[];
      }) => {
        for (const { registerOptions } of registrations)
          this.watched.push(...registerOptions.watchers.map(({ globPattern }) => globPattern));
        return null;
      },
    );
    connection.listen();
  }

  /** The handshake; returns what the server can do. */
  async initialize(): Promise<Record<string, unknown>> {
    const root = pathToFileURL(this.folder).href;
    const { capabilities } = await this.connection.sendRequest<{ capabilities: Record<string, unknown> }>(
      'initialize',
      {
        processId: process.pid,
        rootUri: root,
        workspaceFolders: [{ uri: root, name: 'package' }],
        capabilities: {
          textDocument: { completion: { completionItem: { snippetSupport: true } } },
          workspace: { didChangeWatchedFiles: { dynamicRegistration: true }, workspaceFolders: true },
        },
      },
    );
    await this.connection.sendNotification('initialized', {});
    return capabilities;
  }

  uri(name: string): string {
    return pathToFileURL(join(this.folder, name)).href;
  }

  async write(name: string, written: string): Promise<void> {
    await mkdir(dirname(join(this.folder, name)), { recursive: true });
    await writeFile(join(this.folder, name), written);
  }

  /** Tells that a file has changed on disk. */
  async noticed(name: string): Promise<void> {
    const changes = [{ uri: this.uri(name), type: 2 }];
    await this.connection.sendNotification('workspace/didChangeWatchedFiles', { changes });
  }

  /** Opens a file, with the text that is on disk. */
  async open(name: string): Promise<void> {
    const uri = this.uri(name);
    const written = await readFile(join(this.folder, name), 'utf8');
    this.#open.set(name, TextDocument.create(uri, 'corollary', 1, written));
    const textDocument = { uri, languageId: 'corollary', version: 1, text: written };
    await this.connection.sendNotification('textDocument/didOpen', { textDocument });
  }

  async close(name: string): Promise<void> {
    this.#open.delete(name);
    await this.connection.sendNotification('textDocument/didClose', {
      textDocument: { uri: this.uri(name) },
    });
  }

  /** Replaces the first occurrence of `from` in the buffer, as typing does. */
  async type(name: string, from: string, to: string): Promise<void> {
    const document = this.document(name);
    const start = document.getText().indexOf(from);
    const range = {
      start: document.positionAt(start),
      end: document.positionAt(start + from.length),
    };
    const version = document.version + 1;
    TextDocument.update(document, [{ range, text: to }], version);
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: document.uri, version },
      contentChanges: [{ range, text: to }],
    });
  }

  document(name: string): TextDocument {
    const document = this.#open.get(name);
    if (document === undefined) throw new Error(`${name} is not open`);
    return document;
  }

  /** The position of the mark in `marked`, which stands in the buffer without it. */
  at(name: string, marked: string): { textDocument: { uri: string }; position: Position } {
    const document = this.document(name);
    const mark = marked.indexOf('|');
    const start = document.getText().indexOf(marked.replace('|', ''));
    if (start < 0) throw new Error(`${name} has no ${marked}`);
    return { textDocument: { uri: document.uri }, position: document.positionAt(start + mark) };
  }

  /** Sends a request about the marked position. */
  ask<Answer>(method: string, name: string, marked: string, more: object = {}): Promise<Answer> {
    return this.connection.sendRequest<Answer>(`textDocument/${method}`, {
      ...this.at(name, marked),
      ...more,
    });
  }

  /** Sends a request about a whole file. */
  askFile<Answer>(method: string, name: string, more: object = {}): Promise<Answer> {
    const textDocument = { uri: this.uri(name) };
    return this.connection.sendRequest<Answer>(`textDocument/${method}`, { textDocument, ...more });
  }

  /** The diagnostics of the file as it is now, once they are these: `code range`. */
  async shows(name: string, wanted: readonly string[]): Promise<readonly Diagnostic[]> {
    const version = this.#open.get(name)?.version;
    let shown = 'nothing';
    const until = performance.now() + longestWaitMs;
    while (performance.now() < until) {
      const published = this.#published.get(this.uri(name));
      if (published !== undefined && (version === undefined || published.version === version)) {
        const found = published.diagnostics.map(({ code, range }) => `${code} ${rangeText(range)}`);
        if (JSON.stringify(found) === JSON.stringify(wanted)) return published.diagnostics;
        shown = JSON.stringify(found);
      }
      await Promise.race([new Promise<void>((resolve) => this.#awaiting.push(resolve)), delay(1000)]);
    }
    throw new Error(`${name} shows ${shown}, not ${JSON.stringify(wanted)}`);
  }

  /** The texts of files after an edit of the server, open ones as they are in the buffers. */
  async after({ changes = {} }: WorkspaceEdit): Promise<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const [uri, edits] of Object.entries(changes)) {
      const name = uri.slice(pathToFileURL(this.folder).href.length + 1);
      const document =
        this.#open.get(name) ??
        TextDocument.create(uri, 'corollary', 0, await readFile(join(this.folder, name), 'utf8'));
      texts[name] = TextDocument.applyEdits(document, edits);
    }
    return texts;
  }

  /** Ends the server as the protocol says. */
  async end(): Promise<number | null> {
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    return this.exit;
  }

  /** Removes the folder, and ends the process if it runs. */
  async remove(): Promise<void> {
    this.process.kill('SIGKILL');
    this.connection.dispose();
    await rm(this.folder, { recursive: true, force: true });
  }
}
