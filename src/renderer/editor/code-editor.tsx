/**
 * An editor of our language as a React component.
 *
 * The owner holds the text and the diagnostics; the editor reports what is typed and the submit key. It follows
 * the colour scheme, grows with its text where `lines` says so, and gives the Tab key back with Ctrl+M.
 */
import { useComputedColorScheme } from '@mantine/core';
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import { useDensity } from '../ui/use-row-height.ts';
import { monospace } from '../ui/theme.ts';
import styles from './code-editor.module.css';
import { useKnowledge } from './knowledge.ts';
import { languageId, monaco } from './monaco.ts';

export interface CodeEditorHandle {
  focus(): void;
  /** Puts the cursor at a place, counted from 1, and shows it. */
  reveal(line: number, column: number): void;
}

interface CodeEditorProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  placeholder?: string;
  diagnostics?: readonly Diagnostic[];
  /** Ctrl or Cmd with Enter. */
  /** Given the text as it is in the editor, which `value` may be a keystroke behind. */
  onSubmit?: (text: string) => void;
  /** Least and greatest height in lines; fills its container where absent. */
  lines?: readonly [least: number, greatest: number];
  autoFocus?: boolean;
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

const fixedOptions: monaco.editor.IStandaloneEditorConstructionOptions = {
  automaticLayout: true,
  fixedOverflowWidgets: true,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  renderLineHighlight: 'none',
  wordWrap: 'on',
  wrappingIndent: 'indent',
  fontFamily: monospace,
  tabSize: 2,
  lineDecorationsWidth: 8,
  lineNumbersMinChars: 3,
  folding: false,
  glyphMargin: false,
  overviewRulerLanes: 0,
  occurrencesHighlight: 'singleFile',
  wordBasedSuggestions: 'off',
  quickSuggestions: { other: true, strings: false, comments: false },
  unicodeHighlight: { ambiguousCharacters: false },
  scrollbar: { alwaysConsumeMouseWheel: false, verticalScrollbarSize: 10, horizontalScrollbarSize: 10 },
  padding: { top: 8, bottom: 8 },
};

type Editor = monaco.editor.IStandaloneCodeEditor;

/** Keeps the height that of the text, between the two bounds of `lines`. */
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
  lines: readonly [number, number] | undefined;
  onText: (text: string) => void;
  onSubmit: (text: string) => void;
}

function createEditor(host: HTMLElement, options: EditorOptions): Editor {
  const { text, label, placeholder, lines, onText, onSubmit } = options;
  const editor = monaco.editor.create(host, {
    ...fixedOptions,
    value: text,
    language: languageId,
    ariaLabel: label,
    placeholder,
    lineNumbers: lines === undefined ? 'on' : 'off',
    // In a dialog Tab leads on, as from every field.
    tabFocusMode: lines !== undefined,
  });
  if (lines !== undefined) growWithText(editor, host, lines);
  // Escape closes the editor's own widgets, never the dialog around it with what was typed.
  for (const input of host.querySelectorAll('textarea, [role="textbox"]'))
    input.setAttribute('data-mantine-stop-propagation', 'true');
  editor.onDidChangeModelContent(() => onText(editor.getValue()));
  editor.addAction({
    id: 'corollary.submit',
    label: 'Submit',
    keybindings: [monaco.KeyMod.CtrlCmd | monaco.KeyCode.Enter],
    run: () => onSubmit(editor.getValue()),
  });
  return editor;
}

/** Replaces the text as one step that can be undone. */
function replaceText(model: monaco.editor.ITextModel, text: string): void {
  if (model.getValue() !== text)
    model.pushEditOperations([], [{ range: model.getFullModelRange(), text }], () => null);
}

export function CodeEditor(props: CodeEditorProps) {
  const { value, label, placeholder = '', diagnostics, lines, autoFocus = false, handle } = props;
  useKnowledge();
  const scheme = useComputedColorScheme('light');
  const fontSize = useDensity((state) => (state.density === 'compact' ? 12 : 13));
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  // What was reported and has not come back as `value` yet: an echo of it must not undo what was typed since.
  const reported = useRef<string[]>([]);
  const onText = useEffectEvent((text: string) => {
    reported.current.push(text);
    props.onChange(text);
  });
  const onSubmit = useEffectEvent((text: string) => props.onSubmit?.(text));
  const create = useEffectEvent((element: HTMLElement) => {
    const created = createEditor(element, { text: value, label, placeholder, lines, onText, onSubmit });
    if (autoFocus) created.focus();
    return created;
  });

  useEffect(() => {
    if (host.current === null) return undefined;
    const created = create(host.current);
    editor.current = created;
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

  useEffect(() => editor.current?.updateOptions({ fontSize }), [fontSize]);
  useEffect(() => monaco.editor.setTheme(`corollary-${scheme}`), [scheme]);

  useImperativeHandle(handle, () => ({
    focus: () => editor.current?.focus(),
    reveal(line, column) {
      editor.current?.setPosition({ lineNumber: line, column });
      editor.current?.revealLineInCenterIfOutsideViewport(line);
      editor.current?.focus();
    },
  }));

  return <div ref={host} className={lines === undefined ? styles.fill : styles.grow} />;
}
