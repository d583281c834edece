import { type Ref, type RefObject, useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import { isTextField } from '../ui/keys.ts';
import { useShownTheme } from '../ui/theme-choice.ts';
import { useDensity } from '../ui/preferences.ts';
import { monospace } from '../ui/theme.ts';
import styles from './code-editor.module.css';
import { useKnowledge } from './knowledge.ts';
import { useEditorTargets } from './editor-targets.ts';
import { setHoldsAllRules, setMode } from './language-services.ts';
import { languageId, monaco } from './monaco.ts';
import type { TextEdit, TextMode } from '../../editing/read-text.ts';

/** What an owner may do with the editor. */
export interface CodeEditorHandle {
  focus(): void;
  /** Moves the cursor to a position, counted from 1, and shows it. */
  reveal(line: number, column: number): void;
  /** Applies edits to the current text as one undo step. */
  edit(edits: readonly TextEdit[]): void;
}

/** Words behind a line. */
export interface LineNote {
  readonly line: number;
  readonly text: string;
}

interface CodeEditorProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  /** How the text is parsed; statements by default. */
  mode?: TextMode;
  placeholder?: string;
  diagnostics?: readonly Diagnostic[];
  /** Words shown dimly behind lines, counted from 1. They are no part of the text. */
  notes?: readonly LineNote[];
  /** True if the text holds every stored rule, so that definitions and usages are found in it alone. */
  holdsAllRules?: boolean;
  /**
   * Ctrl or Cmd with Enter, or Enter alone in a one-line question. Receives the editor's text, which `value` may trail
   * by a keystroke.
   */
  onSubmit?: (text: string) => void;
  /** Escape, unless it closes a widget of the editor. */
  onEscape?: () => void;
  /** Minimum and maximum height in lines; if absent, the editor fills its container. */
  lines?: readonly [least: number, greatest: number];
  /** Receives the height that the text needs, wrapped lines included, in pixels, at first and whenever it changes. */
  onHeight?: (height: number) => void;
  autoFocus?: boolean;
  /** The focused element when the editor was requested, possibly long before it loads. */
  focusedAtFirst: Element | null;
  handle?: Ref<CodeEditorHandle>;
}

const severities = {
  error: monaco.MarkerSeverity.Error,
  warning: monaco.MarkerSeverity.Warning,
  info: monaco.MarkerSeverity.Info,
} as const;

function markersOf(diagnostics: readonly Diagnostic[]): monaco.editor.IMarkerData[] {
  return diagnostics.map((diagnostic) => ({
    severity: severities[diagnostic.severity],
    message: diagnostic.message,
    code: diagnostic.code,
    startLineNumber: diagnostic.startLine,
    startColumn: diagnostic.startColumn,
    endLineNumber: diagnostic.endLine,
    endColumn: diagnostic.endColumn,
  }));
}

function noteOf(
  model: monaco.editor.ITextModel,
  { line, text }: LineNote,
): monaco.editor.IModelDeltaDecoration {
  const column = model.getLineMaxColumn(Math.min(line, model.getLineCount()));
  return {
    range: new monaco.Range(line, column, line, column),
    options: {
      showIfCollapsed: true,
      after: { content: `  ${text}`, inlineClassName: styles.note ?? '' },
    },
  };
}

const fixedOptions: monaco.editor.IStandaloneEditorConstructionOptions = {
  automaticLayout: true,
  fixedOverflowWidgets: true,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  renderLineHighlight: 'none',
  wordWrap: 'on',
  wrappingIndent: 'indent',
  // Not between the mark of a variable and its name, nor within a number or an address.
  wordWrapBreakAfterCharacters: ' \t,;)}',
  fontFamily: monospace,
  tabSize: 2,
  lineDecorationsWidth: 8,
  lineNumbersMinChars: 3,
  lightbulb: { enabled: monaco.editor.ShowLightbulbIconMode.OnCode },
  glyphMargin: false,
  overviewRulerLanes: 0,
  occurrencesHighlight: 'singleFile',
  wordBasedSuggestions: 'off',
  quickSuggestions: { other: true, strings: false, comments: false },
  unicodeHighlight: { ambiguousCharacters: false },
  scrollbar: { alwaysConsumeMouseWheel: false, verticalScrollbarSize: 10, horizontalScrollbarSize: 10 },
  // The number of the last, empty line is as legible as the others.
  renderFinalNewline: 'on',
  padding: { top: 8, bottom: 8 },
};

type Editor = monaco.editor.IStandaloneCodeEditor;

/** Matches the height to the text, within `lines`. */
function growWithText(editor: Editor, host: HTMLElement, [least, greatest]: readonly [number, number]): void {
  const padding = 16;
  function grow(): void {
    const line = editor.getOption(monaco.editor.EditorOption.lineHeight);
    const height = Math.max(least * line + padding, editor.getContentHeight());
    host.style.height = `${Math.min(greatest * line + padding, height)}px`;
  }
  grow();
  editor.onDidContentSizeChange(grow);
}

interface EditorOptions {
  text: string;
  label: string;
  placeholder: string;
  mode: TextMode;
  lines: readonly [number, number] | undefined;
  holdsAllRules: boolean;
  autoFocus: boolean;
  onText: (text: string) => void;
  onSubmit: (text: string) => void;
  /** null leaves the key to the editor. */
  onEscape: (() => void) | null;
}

/** Widgets that Escape closes first. */
const openWidgets = [
  'suggestWidgetVisible',
  'parameterHintsVisible',
  'findWidgetVisible',
  'renameInputVisible',
  'referenceSearchVisible',
  'markersNavigationVisible',
  'codeActionMenuVisible',
  'inSnippetMode',
  'editorHasMultipleSelections',
];

let modelsMade = 0;

function createEditor(host: HTMLElement, options: EditorOptions): Editor {
  const { text, label, placeholder, mode, lines, holdsAllRules, autoFocus } = options;
  const { onText, onSubmit, onEscape } = options;
  modelsMade += 1;
  // Lists of positions show the model under the editor's label, beside the stored texts.
  const uri = monaco.Uri.from({ scheme: 'written', path: `/${modelsMade}/${label}` });
  const model = monaco.editor.createModel(text, languageId, uri);
  setMode(model, mode);
  if (holdsAllRules) setHoldsAllRules(model);
  const editor = monaco.editor.create(host, {
    ...fixedOptions,
    model,
    ariaLabel: label,
    placeholder,
    lineNumbers: lines === undefined ? 'on' : 'off',
    folding: lines === undefined,
    // In a dialog and from a question Tab moves on, as from every field.
    tabFocusMode: lines !== undefined || mode === 'question',
  });
  if (lines !== undefined) growWithText(editor, host, lines);
  for (const input of host.querySelectorAll('textarea, [role="textbox"]')) {
    // Escape first closes the editor's own widgets; afterwards the owner decides.
    input.setAttribute('data-mantine-stop-propagation', 'true');
    // A dialog sets the focus when it opens, possibly after the editor: to this field, not away from it.
    if (autoFocus) input.setAttribute('data-autofocus', 'true');
  }
  editor.onDidChangeModelContent(() => onText(editor.getValue()));
  editor.addAction({
    id: 'corollary.submit',
    label: 'Submit',
    keybindings: [monaco.KeyMod.CtrlCmd | monaco.KeyCode.Enter],
    run: () => onSubmit(editor.getValue()),
  });
  if (mode === 'question') submitByEnter(editor, onSubmit);
  if (onEscape !== null)
    editor.addAction({
      id: 'corollary.escape',
      label: 'Close',
      keybindings: [monaco.KeyCode.Escape],
      precondition: openWidgets.map((widget) => `!${widget}`).join(' && '),
      run: onEscape,
    });
  // Monaco uses another key on Linux; here it is the same everywhere.
  editor.addAction({
    id: 'corollary.format',
    label: 'Lay Out Statements',
    keybindings: [monaco.KeyMod.Shift | monaco.KeyMod.Alt | monaco.KeyCode.KeyF],
    run: (each) => each.getAction('editor.action.formatDocument')?.run(),
  });
  return editor;
}

/**
 * In a one-line text Enter submits, as in any search field; Shift+Enter breaks the line, after which Enter does too.
 */
function submitByEnter(editor: Editor, onSubmit: (text: string) => void): void {
  const isOneLine = editor.createContextKey<boolean>('corollary.isOneLine', true);
  const look = () => isOneLine.set(editor.getModel()?.getLineCount() === 1);
  editor.onDidChangeModelContent(look);
  look();
  editor.addAction({
    id: 'corollary.submit-line',
    label: 'Submit',
    keybindings: [monaco.KeyCode.Enter],
    precondition: 'editorTextFocus && corollary.isOneLine && !suggestWidgetVisible && !inSnippetMode',
    run: () => onSubmit(editor.getValue()),
  });
  // Otherwise Enter would accept the suggestion.
  editor.addAction({
    id: 'corollary.break-line',
    label: 'Break the Line',
    keybindings: [monaco.KeyMod.Shift | monaco.KeyCode.Enter],
    run: (each) => each.trigger('keyboard', 'type', { text: '\n' }),
  });
}

function editText(editor: Editor, edits: readonly TextEdit[]): void {
  const model = editor.getModel();
  if (model === null) return;
  const operations = edits.map(({ start, end, text }) => ({
    range: monaco.Range.fromPositions(model.getPositionAt(start), model.getPositionAt(end)),
    text,
  }));
  editor.pushUndoStop();
  editor.executeEdits('corollary', operations);
  editor.pushUndoStop();
  editor.focus();
}

/** True if the user moved the focus while the editor loaded: it stays there. A dialog moves it itself. */
function isFocusTaken(host: HTMLElement, atFirst: Element | null): boolean {
  const { activeElement } = document;
  if (activeElement === null || activeElement === document.body || activeElement === atFirst) return false;
  return isTextField(activeElement) || host.closest('[role="dialog"]')?.contains(activeElement) !== true;
}

/** Replaces the text as one undo step. */
function replaceText(model: monaco.editor.ITextModel, text: string): void {
  const before = model.getValue();
  if (before === text) return;
  // Only what differs, so that cursor, folds and the shown lines stay with the rest.
  let start = 0;
  const shorter = Math.min(before.length, text.length);
  while (start < shorter && before[start] === text[start]) start++;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === text[text.length - 1 - end]) end++;
  const range = monaco.Range.fromPositions(
    model.getPositionAt(start),
    model.getPositionAt(before.length - end),
  );
  model.pushEditOperations([], [{ range, text: text.slice(start, text.length - end) }], () => null);
}

/** Shows notes behind the lines of the editor's text. */
function useNotes(editor: RefObject<Editor | null>, notes: readonly LineNote[] | undefined): void {
  useEffect(() => {
    const model = editor.current?.getModel();
    if (model === null || model === undefined || notes === undefined) return undefined;
    const shown = editor.current?.createDecorationsCollection(notes.map((note) => noteOf(model, note)));
    return () => shown?.clear();
  }, [editor, notes]);
}

/** Gives the owner the handle of the editor. */
function useHandle(editor: RefObject<Editor | null>, handle: Ref<CodeEditorHandle> | undefined): void {
  useImperativeHandle(handle, () => ({
    focus: () => editor.current?.focus(),
    reveal(line, column) {
      editor.current?.setPosition({ lineNumber: line, column });
      editor.current?.revealLineInCenterIfOutsideViewport(line);
      editor.current?.focus();
    },
    edit(edits) {
      if (editor.current !== null) editText(editor.current, edits);
    },
  }));
}

/**
 * Shows an editor of our language.
 *
 * The owner holds text and diagnostics; the editor reports typing and the submit key. It follows the colour scheme,
 * grows with its text within `lines`. Where Tab indents, Ctrl+M releases it.
 */
export function CodeEditor(props: CodeEditorProps) {
  const {
    value,
    label,
    mode = 'program',
    placeholder = '',
    diagnostics,
    notes,
    holdsAllRules = false,
    lines,
    autoFocus = false,
    handle,
  } = props;
  useKnowledge();
  useEditorTargets();
  const scheme = useShownTheme();
  const fontSize = useDensity((state) => (state.density === 'compact' ? 12 : 13));
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  // Reported texts that have not come back as `value`: such an echo must not undo later typing.
  const reported = useRef<string[]>([]);
  const onText = useEffectEvent((text: string) => {
    reported.current.push(text);
    props.onChange(text);
  });
  const onSubmit = useEffectEvent((text: string) => props.onSubmit?.(text));
  const onEscape = useEffectEvent(() => props.onEscape?.());
  const onHeight = useEffectEvent((height: number) => props.onHeight?.(height));
  const create = useEffectEvent((element: HTMLElement) => {
    const escape = props.onEscape === undefined ? null : onEscape;
    const look = { text: value, label, mode, placeholder, lines, holdsAllRules, autoFocus };
    const created = createEditor(element, { ...look, onText, onSubmit, onEscape: escape });
    if (autoFocus && !isFocusTaken(element, props.focusedAtFirst)) created.focus();
    return created;
  });

  useEffect(() => {
    if (host.current === null) return undefined;
    const created = create(host.current);
    editor.current = created;
    onHeight(created.getContentHeight());
    created.onDidContentSizeChange(({ contentHeight }) => onHeight(contentHeight));
    return () => {
      editor.current = null;
      created.getModel()?.dispose();
      created.dispose();
    };
  }, []);

  useEffect(() => {
    const echo = reported.current.lastIndexOf(value);
    reported.current.splice(0, echo < 0 ? reported.current.length : echo + 1);
    const model = editor.current?.getModel();
    if (echo < 0 && model !== null && model !== undefined) replaceText(model, value);
  }, [value]);

  useEffect(() => {
    const model = editor.current?.getModel();
    if (model !== null && model !== undefined)
      monaco.editor.setModelMarkers(model, 'corollary', markersOf(diagnostics ?? []));
  }, [diagnostics]);

  useNotes(editor, notes);
  useEffect(() => editor.current?.updateOptions({ fontSize }), [fontSize]);
  useEffect(() => monaco.editor.setTheme(`corollary-${scheme}`), [scheme]);

  useHandle(editor, handle);

  return <div ref={host} className={lines === undefined ? styles.fill : styles.grow} />;
}
