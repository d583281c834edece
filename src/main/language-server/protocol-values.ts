/** What the editing services say, in the values of the protocol. Positions count UTF-16 units. */
import type { TextDocument } from 'vscode-languageserver-textdocument';
import {
  CodeActionKind,
  type CodeAction,
  type CompletionItem,
  CompletionItemKind,
  type Diagnostic as ProtocolDiagnostic,
  DiagnosticSeverity,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  InsertTextFormat,
  type Location,
  type Range,
  SymbolKind,
  type TextEdit,
} from 'vscode-languageserver/node';
import { type Diagnostic, diagnosticCodes } from '../../engine/contract/rules.ts';
import type { FileDiagnostic } from '../../editing/package-diagnosis.ts';
import type { Completions, Suggestion } from '../../editing/completion.ts';
import { textFoldsOf } from '../../editing/format-text.ts';
import { type KnowledgeFile, predicateKey } from '../../editing/knowledge-file.ts';
import type { OccurrencesInFile } from '../../editing/package-symbols.ts';
import type { Fix } from '../../editing/quick-fixes.ts';
import type { TextEdit as SpanEdit } from '../../editing/read-text.ts';
import type { SourceFile } from './package-sources.ts';

/** The name of the server beside its diagnostics. */
const source = 'corollary';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The range of a span of a document. */
export function rangeOf(document: TextDocument, { start, end }: Span): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** A diagnostic for the client. */
export function protocolDiagnostic({
  severity,
  code,
  message,
  startLine,
  startColumn,
  endLine,
  endColumn,
}: FileDiagnostic): ProtocolDiagnostic {
  return {
    severity: severities[severity],
    code,
    message,
    source,
    range: {
      start: { line: startLine - 1, character: startColumn - 1 },
      end: { line: endLine - 1, character: endColumn - 1 },
    },
  };
}

/** A diagnostic that the client sends back; null: it is none of ours, or has no fixes. */
export function ownDiagnostic({
  severity,
  code,
  message,
  source: from,
  range: { start, end },
}: ProtocolDiagnostic): Diagnostic | null {
  const own = diagnosticCodes.find((each) => each === code);
  if (own === undefined || from !== source) return null;
  return {
    severity:
      severity === DiagnosticSeverity.Error
        ? 'error'
        : severity === DiagnosticSeverity.Warning
          ? 'warning'
          : 'info',
    code: own,
    message: typeof message === 'string' ? message : message.value,
    startLine: start.line + 1,
    startColumn: start.character + 1,
    endLine: end.line + 1,
    endColumn: end.character + 1,
  };
}

const completionKinds: Record<Suggestion['kind'], CompletionItemKind> = {
  predicate: CompletionItemKind.Function,
  variable: CompletionItemKind.Variable,
  argument: CompletionItemKind.Field,
  keyword: CompletionItemKind.Keyword,
};

/** The items of a completion at `offset`. `takesSnippets`: the client fills in placeholders. */
export function completionItems(
  document: TextDocument,
  offset: number,
  { from, suggestions }: Completions,
  takesSnippets: boolean,
): CompletionItem[] {
  const range = rangeOf(document, { start: from, end: offset });
  return suggestions.map((suggestion, index) => ({
    label: suggestion.label,
    labelDetails: { description: suggestion.detail },
    detail: suggestion.detail,
    kind: completionKinds[suggestion.kind],
    sortText: String(index).padStart(6, '0'),
    filterText: suggestion.label,
    insertTextFormat: takesSnippets ? InsertTextFormat.Snippet : InsertTextFormat.PlainText,
    textEdit: { range, newText: takesSnippets ? suggestion.insert : plainText(suggestion.insert) },
    ...(suggestion.documentation === undefined ? {} : { documentation: suggestion.documentation }),
  }));
}

/** A snippet with the texts of its placeholders. */
function plainText(snippet: string): string {
  return snippet
    .replace(/\$\{\d+:((?:[^\\}]|\\.)*)\}/g, '$1')
    .replace(/\$\d+/g, '')
    .replace(/\\([\\$}])/g, '$1');
}

/** Where names occur. */
export function locations(
  found: readonly OccurrencesInFile[],
  fileOf: (name: string) => SourceFile,
): Location[] {
  return found.flatMap(({ file, uses }) => {
    const { uri, document } = fileOf(file.name);
    return uses.map(({ span }) => ({ uri, range: rangeOf(document, span) }));
  });
}

/** Edits of one document. */
export function protocolEdits(document: TextDocument, edits: readonly SpanEdit[]): TextEdit[] {
  return edits.map(({ text, ...span }) => ({ range: rangeOf(document, span), newText: text }));
}

/** A quick fix of a diagnostic. */
export function quickFix(
  { uri, document }: SourceFile,
  diagnostic: ProtocolDiagnostic,
  { title, edits, isPreferred }: Fix,
): CodeAction {
  return {
    title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred,
    edit: { changes: { [uri]: protocolEdits(document, edits) } },
  };
}

/** Facts that are symbols one by one below the symbol of their run; of a longer run only the number is said. */
const maxFactsOfRun = 200;

/** The statements and tests of a file; consecutive facts of one predicate are one symbol. */
export function documentSymbols({ document, file }: SourceFile): DocumentSymbol[] {
  const symbols: DocumentSymbol[] = [];
  const { items } = file.parsed;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as (typeof items)[number];
    if (item.kind !== 'fact') {
      symbols.push(symbolOf(document, file, item));
      continue;
    }
    const key = keyOfFact(item);
    const first = index;
    while (keyOfFact(items[index + 1]) === key) index++;
    const run = items.slice(first, index + 1).filter((each) => each.kind === 'fact');
    if (run.length === 1) symbols.push(symbolOf(document, file, item));
    else
      symbols.push({
        name: key ?? '',
        detail: `${run.length} facts`,
        kind: SymbolKind.Array,
        range: rangeOf(document, { start: item.span.start, end: run.at(-1)?.span.end ?? item.span.end }),
        selectionRange: rangeOf(document, item.head.name),
        children: run.length > maxFactsOfRun ? [] : run.map((fact) => symbolOf(document, file, fact)),
      });
  }
  return symbols;
}

type Item = KnowledgeFile['parsed']['items'][number];

function keyOfFact(item: Item | undefined): string | null {
  if (item?.kind !== 'fact') return null;
  return predicateKey({ name: item.atom.predicate, arity: item.atom.args.length });
}

function symbolOf(document: TextDocument, { text }: KnowledgeFile, item: Item): DocumentSymbol {
  const range = rangeOf(document, item.span);
  const written = text.slice(item.span.start, Math.min(item.span.end, item.span.start + 200));
  const line = written.replace(/\s+/g, ' ').replace(/\.$/, '');
  switch (item.kind) {
    case 'fact':
      return {
        name: line,
        kind: SymbolKind.Constant,
        range,
        selectionRange: rangeOf(document, item.head.name),
      };
    case 'rule': {
      const { predicate, args } = item.rule.head;
      return {
        name: predicateKey({ name: predicate, arity: args.length }),
        detail: line,
        kind: SymbolKind.Function,
        range,
        selectionRange: rangeOf(document, item.head.name),
      };
    }
    case 'constraint':
      return {
        name: item.reason ?? line,
        detail: line,
        kind: SymbolKind.Event,
        range,
        selectionRange: range,
      };
    case 'declaration':
      return {
        name: predicateKey(item.declared),
        detail: line,
        kind: SymbolKind.Struct,
        range,
        selectionRange: rangeOf(document, item.name),
      };
    case 'test':
      return {
        name: item.name === '' ? 'test' : item.name,
        detail: 'test',
        kind: SymbolKind.Method,
        range,
        selectionRange: rangeOf(document, item.nameSpan),
      };
  }
}

/** What can be folded: items of several lines, and runs of comments. */
export function foldingRanges({ file }: SourceFile): FoldingRange[] {
  return textFoldsOf(file.text, file.parsed.items).map(({ first, last, kind }) => ({
    startLine: first - 1,
    endLine: last - 1,
    ...(kind === 'comment' ? { kind: FoldingRangeKind.Comment } : {}),
  }));
}
