/**
 * An editor of our language as a React component.
 *
 * The owner holds the text and the diagnostics; the editor reports what is typed and the submit key. It follows
 * the colour scheme, grows with its text where `lines` says so, and gives the Tab key back with Ctrl+M.
 */
import { useComputedColorScheme } from '@mantine/core';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
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
  onSubmit?: () => void;
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
  overviewRulerBorder: false,
  hideCursorInOverviewRuler: true,
  bracketPairColorization: { enabled: false },
  occurrencesHighlight: 'singleFile',
  wordBasedSuggestions: 'off',
  quickSuggestions: { other: true, strings: false, comments: false },
  unicodeHighlight: { ambiguousCharacters: false },
  scrollbar: { alwaysConsumeMouseWheel: false, verticalScrollbarSize: 10, horizontalScrollbarSize: 10 },
  padding: { top: 8, bottom: 8 },
};

/** Sets the height to that of the text, between the two bounds of `lines`. */
function growWithText(
  editor: monaco.editor.IStandaloneCodeEditor,
  host: HTMLElement,
  lines: readonly [number, number],
) {
  const lineHeight = editor.getOption(monaco.editor.EditorOption.lineHeight);
  const [least, greatest] = lines;
  const padding = 16;
  const height = Math.min(
    greatest * lineHeight + padding,
    Math.max(least * lineHeight + padding, editor.getContentHeight()),
  );
  host.style.height = `${height}px`;
}

export function CodeEditor(props: CodeEditorProps) {
  const { value, label, placeholder = '', diagnostics, lines, autoFocus = false, handle } = props;
  useKnowledge();
  const scheme = useComputedColorScheme('light');
  const fontSize = useDensity((state) => (state.density === 'compact' ? 12 : 13));
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<monaco.editor.IStandaloneCodeEditor | null>(null);
  const latest = useRef(props);
  // What was reported and has not come back as `value` yet: an echo of it must not undo what was typed since.
  const reported = useRef<string[]>([]);
  useEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const created = monaco.editor.create(element, {
      ...fixedOptions,
      value: latest.current.value,
      language: languageId,
      ariaLabel: label,
      placeholder,
      fontSize,
      lineNumbers: lines === undefined ? 'on' : 'off',
    });
    editor.current = created;
    const [, greatest] = lines ?? [0, 0];
    if (lines !== undefined) {
      growWithText(created, element, lines);
      created.onDidContentSizeChange(() => growWithText(created, element, lines));
      created.updateOptions({ scrollbar: { vertical: greatest === 1 ? 'hidden' : 'auto' } });
    }
    created.onDidChangeModelContent(() => {
      const text = created.getValue();
      reported.current.push(text);
      latest.current.onChange(text);
    });
    created.addAction({
      id: 'corollary.submit',
      label: 'Submit',
      keybindings: [monaco.KeyMod.CtrlCmd | monaco.KeyCode.Enter],
      run: () => latest.current.onSubmit?.(),
    });
    if (autoFocus) created.focus();
    return () => {
      editor.current = null;
      created.getModel()?.dispose();
      created.dispose();
    };
    // The editor is made once; what can change later is set by the effects below.
  }, []);

  useEffect(() => {
    const echo = reported.current.lastIndexOf(value);
    if (echo >= 0) {
      reported.current.splice(0, echo + 1);
      return;
    }
    const model = editor.current?.getModel();
    if (model === null || model === undefined || model.getValue() === value) return;
    model.pushEditOperations([], [{ range: model.getFullModelRange(), text: value }], () => null);
    reported.current = [];
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
