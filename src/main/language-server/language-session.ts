/** One client of the language server: its documents, its folders, what it can do, and the diagnostics it is shown. */
import {
  type CancellationToken,
  CodeActionKind,
  type Connection,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  PositionEncodingKind,
  ResponseError,
  TextDocuments,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { PackageReading, SourceFile } from './package-sources.ts';
import { protocolDiagnostic } from './protocol-values.ts';
import { Workspace } from './workspace.ts';

/** What the client can do, as far as it matters here. */
export interface ClientAbilities {
  readonly snippets: boolean;
  readonly watches: boolean;
  readonly folders: boolean;
}

/** A file with its package as a request finds them. */
export interface Located extends PackageReading {
  readonly source: SourceFile;
}

/** One client's session. */
export class LanguageSession {
  readonly connection: Connection;
  readonly #documents = new TextDocuments(TextDocument);
  readonly #workspace: Workspace;
  readonly #version: string;
  /** Of the version that a client last got diagnostics of, by address. */
  readonly #shown = new Set<string>();
  abilities: ClientAbilities = { snippets: false, watches: false, folders: false };
  #folders: string[] = [];
  #isReady: Promise<void> = Promise.resolve();

  constructor(connection: Connection, version: string) {
    this.connection = connection;
    this.#version = version;
    this.#workspace = new Workspace({
      publish: (file, diagnostics) => this.#publish(file, diagnostics.map(protocolDiagnostic)),
      withdraw: (uri) => this.#withdraw(uri),
      warn: (message) => connection.console.warn(message),
      fail: (error) => connection.console.error(String(error instanceof Error ? error.stack : error)),
    });
  }

  /** Begins to answer. */
  listen(): void {
    const { connection } = this;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#initialized());
    this.#documents.onDidChangeContent(({ document }) => this.#workspace.opened(document));
    this.#documents.onDidClose(({ document }) => this.#workspace.closed(document.uri));
    connection.onDidChangeWatchedFiles(async ({ changes }) => {
      for (const { uri } of changes) await this.#workspace.changedOnDisk(uri);
    });
    this.#documents.listen(connection);
    connection.listen();
  }

  /** The folders' packages. */
  get workspace(): Workspace {
    return this.#workspace;
  }

  /** The open buffer; throws if the document is not open. */
  document(uri: string): TextDocument {
    const document = this.#documents.get(uri);
    if (document === undefined) throw failed(`${uri} is not open`);
    return document;
  }

  /**
   * Runs a request on the file and its package as they are now. Throws ContentModified if the file has changed since the request,
   * and RequestCancelled.
   */
  async locate(uri: string, token: CancellationToken): Promise<Located> {
    const document = this.document(uri);
    const { version } = document;
    const reading = await Promise.race([
      this.#isReady.then(() => this.#workspace.packageOf(uri)?.reading()),
      cancellationOf(token),
    ]);
    if (document.version !== version)
      throw new ResponseError(LSPErrorCodes.ContentModified, 'the document has changed');
    const source = reading?.files.find((file) => file.document === document);
    if (reading === undefined || source === undefined) throw failed(`${uri} is in no package`);
    return { ...reading, source };
  }

  #initialize({ capabilities, workspaceFolders, rootUri }: InitializeParams): InitializeResult {
    const { textDocument, workspace } = capabilities;
    this.abilities = {
      snippets: textDocument?.completion?.completionItem?.snippetSupport ?? false,
      watches: workspace?.didChangeWatchedFiles?.dynamicRegistration ?? false,
      folders: workspace?.workspaceFolders ?? false,
    };
    const root = rootUri === null || rootUri === undefined ? [] : [rootUri];
    this.#folders = workspaceFolders?.map(({ uri }) => uri) ?? root;
    this.#isReady = this.#workspace.setFolders(this.#folders);
    return {
      serverInfo: { name: 'corollary', version: this.#version },
      capabilities: {
        positionEncoding: PositionEncodingKind.UTF16,
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        completionProvider: { triggerCharacters: ['?', ',', ' ', '{', ':'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        renameProvider: { prepareProvider: true },
        documentFormattingProvider: true,
        documentRangeFormattingProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        documentSymbolProvider: true,
        workspaceSymbolProvider: true,
        foldingRangeProvider: true,
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  }

  async #initialized(): Promise<void> {
    const { connection, abilities } = this;
    if (abilities.folders)
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        const gone = new Set(removed.map(({ uri }) => uri));
        this.#folders = [...this.#folders.filter((uri) => !gone.has(uri)), ...added.map(({ uri }) => uri)];
        this.#isReady = this.#workspace.setFolders(this.#folders);
      });
    if (abilities.watches)
      await connection.client.register(DidChangeWatchedFilesNotification.type, {
        watchers: [{ globPattern: '**/*.kb' }, { globPattern: '**/corollary.toml' }],
      });
  }

  #publish(file: SourceFile, diagnostics: ReturnType<typeof protocolDiagnostic>[]): void {
    const { uri, version, isOpen } = file;
    if (diagnostics.length === 0 && !isOpen && !this.#shown.has(uri)) return;
    if (diagnostics.length > 0) this.#shown.add(uri);
    else this.#shown.delete(uri);
    void this.connection.sendDiagnostics({ uri, diagnostics, ...(isOpen ? { version } : {}) });
  }

  #withdraw(uri: string): void {
    if (!this.#shown.delete(uri)) return;
    void this.connection.sendDiagnostics({ uri, diagnostics: [] });
  }
}

/** Rejects once the client wants no answer any more. */
function cancellationOf(token: CancellationToken): Promise<never> {
  const cancelled = new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
  return new Promise((_, reject) => {
    if (token.isCancellationRequested) reject(cancelled);
    else token.onCancellationRequested(() => reject(cancelled));
  });
}

/** A request that cannot be answered; the client shows the reason. */
export function failed(reason: string): ResponseError {
  return new ResponseError(LSPErrorCodes.RequestFailed, reason);
}
