/** The requests of the protocol: each finds its file and package, asks the editing services, and answers in the protocol's values. */
import {
  type CodeAction,
  type CodeActionParams,
  type CompletionItem,
  type CompletionParams,
  CompletionTriggerKind,
  type CancellationToken,
  type Hover,
  type Location,
  type Range,
  SymbolKind,
  type TextDocumentPositionParams,
  type WorkspaceEdit,
  type WorkspaceSymbol,
} from 'vscode-languageserver/node';
import { hoverAt } from '../../editing/completion.ts';
import { fileCompletionsAt } from '../../editing/file-completion.ts';
import { formatFile, formatRange } from '../../editing/format-file.ts';
import {
  definitionsInPackage,
  describePackage,
  occurrencesInPackage,
  type OccurrencesInFile,
  renameInPackage,
} from '../../editing/package-symbols.ts';
import { fixerOf } from '../../editing/quick-fixes.ts';
import { symbolAt, type SymbolUse, usesOf } from '../../editing/read-text.ts';
import { failed, type LanguageSession, type Located } from './language-session.ts';
import { isTestFile } from '../packages/package-folder.ts';
import type { SourceFile } from './package-sources.ts';
import {
  completionItems,
  documentSymbols,
  foldingRanges,
  locations,
  ownDiagnostic,
  protocolEdits,
  quickFix,
  rangeOf,
} from './protocol-values.ts';

/** Symbols that one search of the workspace answers with. */
const maxFoundSymbols = 1000;

/** Makes the connection of the session answer requests. */
export function answerRequests(session: LanguageSession): void {
  const { connection } = session;
  connection.onCompletion((params) => complete(session, params));
  connection.onHover(async (params, token) => hover(await symbolOf(session, params, token)));
  connection.onDefinition(async (params, token) =>
    found(await symbolOf(session, params, token), definitionsInPackage),
  );
  connection.onReferences(async (params, token) => {
    const isWanted = ({ kind, role }: { kind: string; role?: string }) =>
      params.context.includeDeclaration || kind === 'variable' || role !== 'declaration';
    return found(await symbolOf(session, params, token), (...args) =>
      occurrencesInPackage(...args).map(({ file, uses }) => ({ file, uses: uses.filter(isWanted) })),
    );
  });
  connection.onDocumentHighlight(async (params, token) => {
    const at = await symbolOf(session, params, token);
    if (at === null) return [];
    const { source, symbol } = at;
    return usesOf(source.file, symbol).map(({ span }) => ({ range: rangeOf(source.document, span) }));
  });
  connection.onPrepareRename(async (params, token) => {
    const { source, symbol } = await renamed(session, params, token);
    return { range: rangeOf(source.document, symbol.span), placeholder: symbol.name };
  });
  connection.onRenameRequest(async (params, token) =>
    rename(await renamed(session, params, token), params.newName),
  );
  connection.onDocumentFormatting(({ textDocument }) => {
    const document = session.document(textDocument.uri);
    return protocolEdits(document, formatFile(document.getText()));
  });
  connection.onDocumentRangeFormatting(async ({ textDocument, range }, token) => {
    const { source } = await session.locate(textDocument.uri, token);
    const { document, file } = source;
    return protocolEdits(document, formatRange(file.text, file.parsed.items, spanOf(source, range)));
  });
  connection.onCodeAction(async (params, token) =>
    codeActions(await session.locate(params.textDocument.uri, token), params),
  );
  connection.onDocumentSymbol(async ({ textDocument }, token) =>
    documentSymbols((await session.locate(textDocument.uri, token)).source),
  );
  connection.onFoldingRanges(async ({ textDocument }, token) =>
    foldingRanges((await session.locate(textDocument.uri, token)).source),
  );
  connection.onWorkspaceSymbol(({ query }) => workspaceSymbols(session, query));
}

interface LocatedSymbol extends Located {
  readonly symbol: SymbolUse;
}

function spanOf({ document }: SourceFile, { start, end }: Range) {
  return { start: document.offsetAt(start), end: document.offsetAt(end) };
}

/** The symbol at a position; null: there is none. */
async function symbolOf(
  session: LanguageSession,
  { textDocument, position }: TextDocumentPositionParams,
  token: CancellationToken,
): Promise<LocatedSymbol | null> {
  const located = await session.locate(textDocument.uri, token);
  const { document, file } = located.source;
  const symbol = symbolAt(file, document.offsetAt(position));
  return symbol === null ? null : { ...located, symbol };
}

async function renamed(
  session: LanguageSession,
  params: TextDocumentPositionParams,
  token: CancellationToken,
): Promise<LocatedSymbol> {
  const at = await symbolOf(session, params, token);
  if (at === null) throw failed('Put the cursor on a predicate or a variable to rename it.');
  return at;
}

/** Completions need no parsed text: they do not wait for a file that is being read. */
async function complete(
  session: LanguageSession,
  { textDocument, position, context }: CompletionParams,
): Promise<CompletionItem[]> {
  const document = session.document(textDocument.uri);
  const offset = document.offsetAt(position);
  const text = document.getText();
  const sources = session.workspace.packageOf(textDocument.uri);
  const reading = sources?.lastReading ?? (await sources?.reading());
  const description = reading?.description ?? describePackage([]);
  const isTriggered = context?.triggerKind === CompletionTriggerKind.TriggerCharacter;
  const isTest = isTestFile(textDocument.uri);
  const completions = fileCompletionsAt(text, offset, description, isTest, isTriggered);
  return completionItems(document, offset, completions, session.abilities.snippets);
}

function hover(at: LocatedSymbol | null): Hover | null {
  if (at?.symbol.kind !== 'predicate') return null;
  const { name, arity, span } = at.symbol;
  const samples = at.description.samplesOf(name, arity);
  const lines = hoverAt({ name, arity, samples }, at.description, () => null);
  if (lines.length === 0) return null;
  return {
    contents: { kind: 'markdown', value: lines.join('\n\n') },
    range: rangeOf(at.source.document, span),
  };
}

function found(
  at: LocatedSymbol | null,
  find: (symbol: SymbolUse, of: SourceFile, files: readonly SourceFile[]) => OccurrencesInFile[],
): Location[] {
  if (at === null) return [];
  return locations(find(at.symbol, at.source, at.files), fileOf(at));
}

function fileOf({ files }: Located): (name: string) => SourceFile {
  const byName = new Map(files.map((file) => [file.name, file]));
  return (name) => byName.get(name) as SourceFile;
}

function rename(at: LocatedSymbol, newName: string): WorkspaceEdit {
  const outcome = renameInPackage(at.symbol, newName, at.source, at.files);
  if (outcome.kind === 'refused') throw failed(outcome.reason);
  const of = fileOf(at);
  const changes = outcome.edits.map(({ file, edits }) => {
    const { uri, document } = of(file.name);
    return [uri, protocolEdits(document, edits)] as const;
  });
  return { changes: Object.fromEntries(changes) };
}

function codeActions({ source, description }: Located, { context }: CodeActionParams): CodeAction[] {
  if (context.only?.some((kind) => 'quickfix'.startsWith(kind)) === false) return [];
  const { file } = source;
  const fixesOf = fixerOf(file.text, () => file, description.predicates);
  return context.diagnostics.flatMap((diagnostic) => {
    const own = ownDiagnostic(diagnostic);
    return own === null ? [] : fixesOf(own).map((fix) => quickFix(source, diagnostic, fix));
  });
}

/** Predicates and tests whose names contain the query. */
async function workspaceSymbols(session: LanguageSession, query: string): Promise<WorkspaceSymbol[]> {
  const wanted = query.toLowerCase();
  const symbols: WorkspaceSymbol[] = [];
  for (const sources of session.workspace.packages) {
    const { files } = await sources.reading();
    for (const source of files)
      for (const { name, kind, span } of symbolsOf(source))
        if (symbols.length < maxFoundSymbols && name.toLowerCase().includes(wanted))
          symbols.push({
            name,
            kind,
            location: { uri: source.uri, range: rangeOf(source.document, span) },
            containerName: source.name,
          });
  }
  return symbols;
}

/** The first statement of each predicate that the file brings, and its tests. */
function* symbolsOf({ file }: SourceFile) {
  const seen = new Set<string>();
  for (const use of file.predicates) {
    if (use.role !== 'fact' && use.role !== 'head' && use.role !== 'declaration') continue;
    const name = `${use.name}/${use.arity}`;
    if (seen.has(name)) continue;
    seen.add(name);
    yield { name, kind: SymbolKind.Function, span: use.span };
  }
  for (const item of file.parsed.items)
    if (item.kind === 'test') yield { name: item.name, kind: SymbolKind.Method, span: item.nameSpan };
}
