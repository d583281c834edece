import { useEffect, useEffectEvent, useRef } from 'react';
import 'monaco-editor/features/diffEditor/register';
import { useShownTheme } from '../ui/theme-choice.ts';
import { monospace } from '../ui/theme.ts';
import { useDensity } from '../ui/preferences.ts';
import styles from './code-editor.module.css';
import { languageId, monaco } from './monaco.ts';

interface Text {
  readonly text: string;
  /** Accessible name. */
  readonly label: string;
}

interface CodeDiffProps {
  left: Text;
  right: Text;
}

type Editor = monaco.editor.IStandaloneDiffEditor;

function createEditor(
  host: HTMLElement,
  left: Text,
  right: Text,
): { readonly editor: Editor; readonly dispose: () => void } {
  const editor = monaco.editor.createDiffEditor(host, {
    automaticLayout: true,
    readOnly: true,
    domReadOnly: true,
    originalEditable: false,
    renderSideBySide: true,
    useInlineViewWhenSpaceIsLimited: false,
    enableSplitViewResizing: false,
    renderIndicators: false,
    renderMarginRevertIcon: false,
    renderGutterMenu: false,
    renderOverviewRuler: false,
    overviewRulerLanes: 0,
    hideCursorInOverviewRuler: true,
    diffWordWrap: 'on',
    wordWrap: 'on',
    minimap: { enabled: false },
    scrollBeyondLastLine: false,
    renderLineHighlight: 'none',
    fontFamily: monospace,
    lineNumbersMinChars: 3,
    lineDecorationsWidth: 8,
    folding: false,
    glyphMargin: false,
    tabFocusMode: true,
    unicodeHighlight: { ambiguousCharacters: false },
    scrollbar: { alwaysConsumeMouseWheel: false, verticalScrollbarSize: 10 },
    padding: { top: 8, bottom: 8 },
  });
  const models = {
    original: monaco.editor.createModel(left.text, languageId),
    modified: monaco.editor.createModel(right.text, languageId),
  };
  const compared = editor.createViewModel(models);
  editor.setModel(compared);
  function dispose(): void {
    editor.dispose();
    // Cancels a running comparison, which would miss the texts.
    compared.dispose();
    models.original.dispose();
    models.modified.dispose();
  }
  return { editor, dispose };
}

function replaceText(model: monaco.editor.ITextModel | undefined, text: string): void {
  if (model !== undefined && model.getValue() !== text) model.setValue(text);
}

/**
 * Shows two texts of our language side by side with their differences, read-only.
 *
 * Neither side is the correct one, so both use the same colour: marked text occurs on that side only.
 */
export function CodeDiff({ left, right }: CodeDiffProps) {
  const scheme = useShownTheme();
  const fontSize = useDensity((state) => (state.density === 'compact' ? 12 : 13));
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const create = useEffectEvent((element: HTMLElement) => createEditor(element, left, right));

  useEffect(() => {
    if (host.current === null) return undefined;
    const created = create(host.current);
    editor.current = created.editor;
    return () => {
      editor.current = null;
      created.dispose();
    };
  }, [left.label, right.label]);

  useEffect(() => replaceText(editor.current?.getModel()?.original, left.text), [left.text]);
  useEffect(() => replaceText(editor.current?.getModel()?.modified, right.text), [right.text]);
  useEffect(() => {
    // Every update of the options resets the labels unless they are given again.
    const labels = { originalAriaLabel: left.label, modifiedAriaLabel: right.label };
    editor.current?.updateOptions({ fontSize, ...labels });
  }, [fontSize, left.label, right.label]);
  useEffect(() => monaco.editor.setTheme(`corollary-${scheme}`), [scheme]);

  return <div ref={host} className={styles.fill} />;
}
