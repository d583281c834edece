/**
 * Monaco with the features in use and our language. Loaded only when a view needs an editor.
 *
 * Registers on import. Knowledge comes from `knowledge.ts`.
 */
import '../ui/no-eval.ts';
import * as monaco from 'monaco-editor/editor';
import 'monaco-editor/features/bracketMatching/register';
import 'monaco-editor/features/caretOperations/register';
import 'monaco-editor/features/clipboard/register';
import 'monaco-editor/features/codeEditor/register';
import 'monaco-editor/features/codicon/register';
import 'monaco-editor/features/codeAction/register';
import 'monaco-editor/features/comment/register';
import 'monaco-editor/features/contextmenu/register';
import 'monaco-editor/features/cursorUndo/register';
import 'monaco-editor/features/find/register';
import 'monaco-editor/features/folding/register';
import 'monaco-editor/features/format/register';
import 'monaco-editor/features/gotoError/register';
import 'monaco-editor/features/gotoSymbol/register';
import 'monaco-editor/features/hover/register';
import 'monaco-editor/features/indentation/register';
import 'monaco-editor/features/linesOperations/register';
import 'monaco-editor/features/multicursor/register';
import 'monaco-editor/features/placeholderText/register';
import 'monaco-editor/features/referenceSearch/register';
import 'monaco-editor/features/rename/register';
import 'monaco-editor/features/smartSelect/register';
import 'monaco-editor/features/snippet/register';
import 'monaco-editor/features/suggest/register';
// The feature above registers inline suggestions only; this is the list.
import 'monaco-editor/editor/contrib/suggest/browser/suggestController';
import 'monaco-editor/features/toggleTabFocusMode/register';
import 'monaco-editor/features/wordHighlighter/register';
import 'monaco-editor/features/wordOperations/register';
import EditorWorker from 'monaco-editor/editor/editor.worker?worker';
import { registerServices } from './language-services.ts';
import { lexLine } from '../../editing/lexer.ts';

export { monaco };

/** Monaco's id of our language. */
export const languageId = 'corollary';
/** JSON with highlighting only: Monaco's own brings a language service that nothing here needs. */
export const jsonId = 'corollary-json';

self.MonacoEnvironment = { getWorker: () => new EditorWorker() };
// Monaco measures the font once, perhaps before it has arrived.
document.fonts.addEventListener('loadingdone', () => monaco.editor.remeasureFonts());
// Closing its list of references cancels work whose promise nobody in Monaco awaits; that is no error.
window.addEventListener('unhandledrejection', (event) => {
  const reason: unknown = event.reason;
  if (reason instanceof Error && reason.name === 'Canceled' && reason.message === 'Canceled')
    event.preventDefault();
});

class LineState implements monaco.languages.IState {
  readonly isOpen: boolean;
  constructor(isOpen: boolean) {
    this.isOpen = isOpen;
  }
  clone(): LineState {
    return this;
  }
  equals(other: monaco.languages.IState): boolean {
    return other instanceof LineState && other.isOpen === this.isOpen;
  }
}

function registerLanguage(): void {
  monaco.languages.register({ id: languageId });
  monaco.languages.setLanguageConfiguration(languageId, {
    comments: { lineComment: '%' },
    brackets: [
      ['(', ')'],
      ['{', '}'],
    ],
    autoClosingPairs: [
      { open: '(', close: ')' },
      { open: '{', close: '}' },
      { open: '"', close: '"', notIn: ['string', 'comment'] },
    ],
    surroundingPairs: [
      { open: '(', close: ')' },
      { open: '{', close: '}' },
      { open: '"', close: '"' },
    ],
    wordPattern:
      /\?[\p{L}\p{N}_]*|[^\s(){},;"'`<>=:.?-][^\s(){},;"'`<>=]*[^\s(){},;"'`<>=:.]|[^\s(){},;"'`<>=:.?-]/u,
    indentationRules: { increaseIndentPattern: /:-\s*$/, decreaseIndentPattern: /^\s*\}/ },
    onEnterRules: [
      {
        beforeText: /:-[^.]*,?\s*$/,
        action: { indentAction: monaco.languages.IndentAction.Indent },
      },
      {
        beforeText: /\.\s*$/,
        action: { indentAction: monaco.languages.IndentAction.Outdent },
      },
    ],
  });
  monaco.languages.setTokensProvider(languageId, {
    getInitialState: () => new LineState(false),
    tokenize(line, state) {
      const { tokens, isOpen } = lexLine(line, state instanceof LineState && state.isOpen);
      return {
        tokens: tokens.map((token) => ({ startIndex: token.start, scopes: `${token.kind}.corollary` })),
        endState: new LineState(isOpen),
      };
    },
  });
}

function registerJson(): void {
  monaco.languages.register({ id: jsonId });
  monaco.languages.setMonarchTokensProvider(jsonId, {
    tokenizer: {
      root: [
        [/"(?:[^"\\]|\\.)*"(?=\s*:)/, 'predicate'],
        [/"(?:[^"\\]|\\.)*"/, 'string'],
        [/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/, 'number'],
        [/\b(?:true|false|null)\b/, 'keyword'],
        [/[{}[\],:]/, 'operator'],
      ],
    },
  });
}

type Colours = Record<
  | 'predicate'
  | 'variable'
  | 'string'
  | 'number'
  | 'keyword'
  | 'operator'
  | 'comment'
  | 'surface'
  | 'text'
  | 'line'
  | 'differing',
  string
>;

/** The colours of ui/theme.css, which Monaco cannot read. */
function defineTheme(name: string, base: 'vs' | 'vs-dark' | 'hc-black', colours: Colours): void {
  monaco.editor.defineTheme(name, {
    base,
    inherit: true,
    rules: [
      { token: 'predicate', foreground: colours.predicate },
      { token: 'variable', foreground: colours.variable },
      { token: 'string', foreground: colours.string },
      { token: 'number', foreground: colours.number },
      { token: 'keyword', foreground: colours.keyword, fontStyle: 'bold' },
      { token: 'operator', foreground: colours.operator },
      { token: 'comment', foreground: colours.comment, fontStyle: 'italic' },
      { token: 'constant', foreground: colours.text },
    ],
    colors: {
      'editor.background': `#${colours.surface}`,
      'editor.foreground': `#${colours.text}`,
      'editorLineNumber.foreground': `#${colours.comment}`,
      'editorLineNumber.activeForeground': `#${colours.text}`,
      'editor.lineHighlightBorder': '#00000000',
      'editorWidget.border': `#${colours.line}`,
      ...Object.fromEntries(
        [1, 2, 3, 4, 5, 6].map((level) => [
          `editorBracketHighlight.foreground${level}`,
          `#${colours.operator}`,
        ]),
      ),
      'editor.placeholder.foreground': `#${colours.comment}`,
      // Neither text of a comparison is the correct one: both sides are marked alike.
      ...Object.fromEntries(
        ['inserted', 'removed'].flatMap((side) => [
          [`diffEditor.${side}TextBackground`, `#${colours.differing}`],
          [`diffEditor.${side}LineBackground`, `#${colours.differing}`],
          [`diffEditorGutter.${side}LineBackground`, `#${colours.differing}`],
        ]),
      ),
      'diffEditor.border': `#${colours.line}`,
      'peekView.border': `#${colours.line}`,
      'peekViewEditor.background': `#${colours.surface}`,
      'peekViewResult.background': `#${colours.surface}`,
      'peekViewTitle.background': `#${colours.surface}`,
      'peekViewTitleLabel.foreground': `#${colours.text}`,
      'peekViewTitleDescription.foreground': `#${colours.comment}`,
      'peekViewResult.fileForeground': `#${colours.text}`,
      'peekViewResult.lineForeground': `#${colours.text}`,
      'peekViewResult.selectionForeground': `#${colours.text}`,
      'peekViewResult.selectionBackground': `#${colours.differing}`,
      'peekViewResult.matchHighlightBackground': `#${colours.differing}`,
      'peekViewEditor.matchHighlightBackground': `#${colours.differing}`,
    },
  });
}

defineTheme('corollary-light', 'vs', {
  predicate: '1b4f8f',
  variable: '8a3f00',
  string: '1d6b3f',
  number: '7a2fa0',
  keyword: 'a4195b',
  operator: '4d5766',
  comment: '626c79',
  surface: 'ffffff',
  text: '1c222b',
  line: 'c5ccd6',
  differing: '305dd61c',
});
defineTheme('corollary-dark', 'vs-dark', {
  predicate: '8fc1ff',
  variable: 'f0b37e',
  string: '8fd6a8',
  number: 'd3a8f5',
  keyword: 'ff9fc6',
  operator: 'aab4c2',
  comment: '8f99a8',
  surface: '1b1f26',
  text: 'dde2ea',
  line: '465060',
  differing: '7b9ef630',
});
defineTheme('corollary-contrast', 'hc-black', {
  predicate: '9fd0ff',
  variable: 'ffc48f',
  string: 'a4f0c0',
  number: 'e3c4ff',
  keyword: 'ffb3d4',
  operator: 'e6ebf2',
  comment: 'c9d1db',
  surface: '000000',
  text: 'ffffff',
  line: 'ffffff',
  differing: '6cb2ff40',
});
registerLanguage();
registerJson();
registerServices(monaco, languageId);
