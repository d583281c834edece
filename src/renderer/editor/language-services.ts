/**
 * Monaco's language services for our language: completion, hover, definitions, references, rename, quick fixes,
 * formatting, folding. Pure modules compute the answers; this file converts them.
 *
 * Stored rules and facts appear as two virtual texts (`stored-text.ts`), in which definitions are peeked at; going
 * there opens the rule or the facts in their view.
 */
import type * as Monaco from 'monaco-editor/editor';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import { renderRule } from '../../engine/language/print.ts';
import type { Span } from '../../engine/language/source.ts';
import { endsInPlainWord } from '../api/question-text.ts';
import { conclusionsInWords } from '../ui/consequences.ts';
import { completionsAt, hoverAt } from '../../editing/completion.ts';
import { editorTargets } from './editor-targets.ts';
import { fileCompletionsAt } from '../../editing/file-completion.ts';
import { textFoldsOf, formatText } from '../../editing/format-text.ts';
import {
  currentKnowledge,
  type Knowledge,
  storedFactsText,
  storedRulesText,
  type StoredText,
} from './knowledge.ts';
import { fixerOf } from '../../editing/quick-fixes.ts';
import { checkedName } from '../../editing/renaming.ts';
import {
  parseEditorText,
  type PredicateUse,
  type ParsedText,
  symbolAt,
  type SymbolUse,
  type TextMode,
  usesOf,
} from '../../editing/read-text.ts';

type Model = Monaco.editor.ITextModel;
type Kit = typeof Monaco;

const modes = new WeakMap<Model, TextMode>();

/** Sets how a model's text is parsed; `program` by default. */
export function setMode(model: Model, mode: TextMode): void {
  modes.set(model, mode);
}

const complete = new WeakSet<Model>();

/** Declares that a model's text holds every stored rule: those are not offered beside it. */
export function setHoldsAllRules(model: Model): void {
  complete.add(model);
}

function modeOf(model: Model): TextMode {
  return modes.get(model) ?? 'program';
}

function rangeOf(model: Model, { start, end }: Span): Monaco.IRange {
  const from = model.getPositionAt(start);
  const to = model.getPositionAt(end);
  return {
    startLineNumber: from.lineNumber,
    startColumn: from.column,
    endLineNumber: to.lineNumber,
    endColumn: to.column,
  };
}

function read(model: Model): ParsedText {
  return parseEditorText(model.getValue(), modeOf(model));
}

function symbolOf(model: Model, position: Monaco.IPosition): { text: ParsedText; symbol: SymbolUse } | null {
  const text = read(model);
  const symbol = symbolAt(text, model.getOffsetAt(position));
  return symbol === null ? null : { text, symbol };
}

/** Names of the virtual texts in lists of positions. */
const rulesName = 'Taught rules';
const factsName = 'Stored facts';

/** Models of the virtual texts, rebuilt when the knowledge changes. */
class StoredModels {
  readonly #monaco: Kit;
  readonly #language: string;
  #of: Knowledge | null = null;
  #texts: { readonly rules: StoredText; readonly facts: StoredText } | null = null;

  constructor(monaco: Kit, language: string) {
    this.#monaco = monaco;
    this.#language = language;
  }

  #model(name: string, text: string): Model {
    const uri = this.#monaco.Uri.from({ scheme: 'stored', path: `/${name}` });
    const model =
      this.#monaco.editor.getModel(uri) ?? this.#monaco.editor.createModel(text, this.#language, uri);
    if (model.getValue() !== text) model.setValue(text);
    return model;
  }

  texts() {
    const knowledge = currentKnowledge();
    if (this.#texts === null || this.#of !== knowledge) {
      this.#texts = { rules: storedRulesText(knowledge), facts: storedFactsText(knowledge) };
      this.#of = knowledge;
    }
    return this.#texts;
  }

  rules(): Model {
    return this.#model(rulesName, this.texts().rules.text);
  }

  facts(): Model {
    return this.#model(factsName, this.texts().facts.text);
  }

  isStored(model: Model): boolean {
    return model.uri.scheme === 'stored';
  }

  /** Opens what a line of a virtual text shows; returns false for other texts. */
  open(uri: Monaco.Uri, line: number): boolean {
    if (uri.scheme !== 'stored') return false;
    const { rules, facts } = this.texts();
    const isRules = uri.path === `/${rulesName}`;
    const owner = (isRules ? rules : facts).ownerOf(line);
    if (owner === null) return false;
    if (isRules) editorTargets()?.openRule(owner);
    else editorTargets()?.openFacts(owner);
    return true;
  }
}

function isSame(left: PredicateUse, right: PredicateUse): boolean {
  return left.name === right.name && left.arity === right.arity;
}

/** The stored positions that conclude a predicate (or use it at all), except rules in the editor. */
function storedPlaces(
  stored: StoredModels,
  symbol: PredicateUse,
  isWanted: (use: PredicateUse) => boolean,
  held: ParsedText,
  holdsAllRules: boolean,
): Monaco.languages.Location[] {
  const own = new Set(held.statements.map(({ rule }) => (rule === null ? '' : renderRule(rule))));
  const { rules, facts } = stored.texts();
  const of = ({ read: { predicates, statements } }: StoredText, model: () => Model) =>
    predicates
      .filter((use) => isSame(use, symbol) && isWanted(use))
      .filter(({ statement }) => {
        const rule = statements[statement]?.rule ?? null;
        return rule === null || !own.has(renderRule(rule));
      })
      .map(({ span }) => ({ uri: model().uri, range: rangeOf(model(), span) }));
  const ofRules = holdsAllRules ? [] : of(rules, () => stored.rules());
  return [...ofRules, ...of(facts, () => stored.facts())];
}

function placesIn(model: Model, uses: readonly SymbolUse[]): Monaco.languages.Location[] {
  return uses.map(({ span }) => ({ uri: model.uri, range: rangeOf(model, span) }));
}

function registerNavigation(monaco: Kit, language: string): void {
  const stored = new StoredModels(monaco, language);
  monaco.editor.registerEditorOpener({
    openCodeEditor(_source, resource, at) {
      const line = at === undefined ? 1 : 'lineNumber' in at ? at.lineNumber : at.startLineNumber;
      return stored.open(resource, line);
    },
  });
  function places(model: Model, position: Monaco.IPosition, isDefinition: boolean) {
    const found = symbolOf(model, position);
    if (found === null) return [];
    const { text, symbol } = found;
    const uses = usesOf(text, symbol);
    if (symbol.kind === 'variable') return placesIn(model, isDefinition ? uses.slice(0, 1) : uses);
    const isWanted = (use: PredicateUse) => !isDefinition || use.role !== 'body';
    const own = stored.isStored(model)
      ? []
      : placesIn(
          model,
          uses.filter((use) => use.kind === 'predicate' && isWanted(use)),
        );
    const held = stored.isStored(model) ? { ...text, statements: [] } : text;
    return [...own, ...storedPlaces(stored, symbol, isWanted, held, complete.has(model))];
  }
  monaco.languages.registerDefinitionProvider(language, {
    provideDefinition: (model, position) => places(model, position, true),
  });
  monaco.languages.registerReferenceProvider(language, {
    provideReferences: (model, position) => places(model, position, false),
  });
  monaco.languages.registerDocumentHighlightProvider(language, {
    provideDocumentHighlights(model, position) {
      const found = symbolOf(model, position);
      if (found === null) return [];
      return usesOf(found.text, found.symbol).map(({ span }) => ({ range: rangeOf(model, span) }));
    },
  });
}

function isKnown({ name, arity }: PredicateUse): boolean {
  const { predicates } = currentKnowledge();
  return predicates.some((predicate) => predicate.name === name && predicate.arity === arity);
}

function registerRename(monaco: Kit, language: string): void {
  monaco.languages.registerRenameProvider(language, {
    resolveRenameLocation(model, position) {
      const found = symbolOf(model, position);
      const nowhere = { range: new monaco.Range(1, 1, 1, 1), text: '' };
      if (found === null)
        return { ...nowhere, rejectReason: 'Put the cursor on a predicate or a variable to rename it.' };
      return {
        range: monaco.Range.lift(rangeOf(model, found.symbol.span)),
        text: found.symbol.name,
      };
    },
    provideRenameEdits(model, position, wanted) {
      const found = symbolOf(model, position);
      if (found === null) return { edits: [], rejectReason: 'There is no name any more.' };
      const { text, symbol } = found;
      const checked = checkedName(text, symbol, wanted);
      if ('reason' in checked) return { edits: [], rejectReason: checked.reason };
      const { name } = checked;
      // A stored predicate is renamed everywhere or not at all, after a preview.
      if (symbol.kind === 'predicate' && isKnown(symbol)) {
        editorTargets()?.renamePredicate(symbol.name, symbol.arity, name);
        return { edits: [] };
      }
      return {
        edits: usesOf(text, symbol).map(({ span }) => ({
          resource: model.uri,
          versionId: undefined,
          textEdit: { range: rangeOf(model, span), text: name },
        })),
      };
    },
  });
}

function severityOf(monaco: Kit, severity: Monaco.MarkerSeverity): Diagnostic['severity'] {
  if (severity === monaco.MarkerSeverity.Error) return 'error';
  return severity === monaco.MarkerSeverity.Warning ? 'warning' : 'info';
}

function diagnosticOf(monaco: Kit, marker: Monaco.editor.IMarkerData): Diagnostic {
  return {
    severity: severityOf(monaco, marker.severity),
    // Markers of our language come from diagnostics only (`code-editor.tsx`).
    code: (typeof marker.code === 'string' ? marker.code : 'syntax') as Diagnostic['code'],
    message: marker.message,
    startLine: marker.startLineNumber,
    startColumn: marker.startColumn,
    endLine: marker.endLineNumber,
    endColumn: marker.endColumn,
  };
}

function registerFixes(monaco: Kit, language: string): void {
  monaco.languages.registerCodeActionProvider(language, {
    provideCodeActions(model, _range, { markers }) {
      const text = model.getValue();
      const fixesOf = fixerOf(text, () => read(model), currentKnowledge().predicates);
      const actions = markers.flatMap((marker) =>
        fixesOf(diagnosticOf(monaco, marker)).map((fix) => ({
          title: fix.title,
          kind: 'quickfix',
          diagnostics: [marker],
          isPreferred: fix.isPreferred,
          edit: {
            edits: fix.edits.map((edit) => ({
              resource: model.uri,
              versionId: undefined,
              textEdit: { range: rangeOf(model, edit), text: edit.text },
            })),
          },
        })),
      );
      return { actions, dispose: () => undefined };
    },
  });
}

function registerLayout(monaco: Kit, language: string): void {
  monaco.languages.registerDocumentFormattingEditProvider(language, {
    displayName: 'Corollary',
    provideDocumentFormattingEdits(model) {
      const text = formatText(model.getValue(), modeOf(model));
      return text === model.getValue() ? [] : [{ range: model.getFullModelRange(), text }];
    },
  });
  monaco.languages.registerFoldingRangeProvider(language, {
    provideFoldingRanges: (model) =>
      textFoldsOf(model.getValue(), read(model).statements).map(({ first, last, kind }) => ({
        start: first,
        end: last,
        ...(kind === 'comment' ? { kind: monaco.languages.FoldingRangeKind.Comment } : {}),
      })),
  });
}

/** What completes a test: of violations, those of keys are known here. */
function testedKnowledge() {
  const knowledge = currentKnowledge();
  const keyed = knowledge.predicates.filter(({ declaration }) => (declaration?.key ?? []).length > 0);
  return { ...knowledge, violations: keyed.map(({ name }) => name) };
}

function registerCompletion(monaco: Kit, language: string): void {
  const {
    Function: predicate,
    Variable: variable,
    Field: argument,
    Keyword: keyword,
  } = monaco.languages.CompletionItemKind;
  const kinds = { predicate, variable, argument, keyword };
  monaco.languages.registerCompletionItemProvider(language, {
    triggerCharacters: ['?', ',', ' ', '{'],
    provideCompletionItems(model, position, { triggerKind }) {
      const offset = model.getOffsetAt(position);
      const text = model.getValue();
      const isTriggered = triggerKind === monaco.languages.CompletionTriggerKind.TriggerCharacter;
      const { from, suggestions } =
        modeOf(model) === 'tests'
          ? fileCompletionsAt(text, offset, testedKnowledge(), true, isTriggered)
          : completionsAt(text, offset, currentKnowledge());
      // Enter must not turn a word of a plain sentence into a goal.
      if (modeOf(model) === 'question' && endsInPlainWord(text.slice(0, from))) return { suggestions: [] };
      const range = monaco.Range.fromPositions(model.getPositionAt(from), position);
      return {
        suggestions: suggestions.map((suggestion, index) => ({
          label: { label: suggestion.label, description: suggestion.detail },
          kind: kinds[suggestion.kind],
          insertText: suggestion.insert,
          insertTextRules: monaco.languages.CompletionItemInsertTextRule.InsertAsSnippet,
          filterText: suggestion.label,
          sortText: String(index).padStart(6, '0'),
          range,
          ...(suggestion.documentation === undefined ? {} : { documentation: suggestion.documentation }),
        })),
      };
    },
  });
}

function registerHover(monaco: Kit, language: string): void {
  monaco.languages.registerHoverProvider(language, {
    async provideHover(model, position) {
      const knowledge = currentKnowledge();
      const found = symbolOf(model, position);
      // While the statement cannot be parsed, the word alone suggests possible predicates.
      const word = found === null ? model.getWordAtPosition(position)?.word : undefined;
      const symbol = found?.symbol.kind === 'predicate' ? found.symbol : null;
      const name = symbol?.name ?? word;
      if (name === undefined) return null;
      const samples =
        symbol === null ? [] : ((await editorTargets()?.sampleFacts(symbol.name, symbol.arity)) ?? []);
      const subject = { name, arity: symbol?.arity ?? null, samples };
      const lines = hoverAt(subject, knowledge, conclusionsInWords);
      if (lines.length === 0) return null;
      return {
        contents: lines.map((value) => ({ value })),
        ...(symbol === null ? {} : { range: rangeOf(model, symbol.span) }),
      };
    },
  });
}

/** Registers the services for a language. */
export function registerServices(monaco: Kit, language: string): void {
  registerCompletion(monaco, language);
  registerHover(monaco, language);
  registerNavigation(monaco, language);
  registerRename(monaco, language);
  registerFixes(monaco, language);
  registerLayout(monaco, language);
}
