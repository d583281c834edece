import { useEffect, useEffectEvent, useRef } from 'react';
import { useShownTheme } from '../ui/theme-choice.ts';
import { monospace } from '../ui/theme.ts';
import { useDensity } from '../ui/preferences.ts';
import styles from './code-editor.module.css';
import { jsonId, languageId, monaco } from './monaco.ts';

interface TextViewerProps {
  text: string;
  language: 'statements' | 'json';
  label: string;
}

type Editor = monaco.editor.IStandaloneCodeEditor;

function createViewer(host: HTMLElement, { text, language, label }: TextViewerProps): Editor {
  return monaco.editor.create(host, {
    model: monaco.editor.createModel(text, language === 'json' ? jsonId : languageId),
    ariaLabel: label,
    automaticLayout: true,
    readOnly: true,
    domReadOnly: true,
    readOnlyMessage: { value: 'Answers are read only.' },
    fontFamily: monospace,
    minimap: { enabled: false },
    scrollBeyondLastLine: false,
    renderLineHighlight: 'none',
    overviewRulerLanes: 0,
    hideCursorInOverviewRuler: true,
    occurrencesHighlight: 'off',
    selectionHighlight: false,
    hover: { enabled: 'off' },
    quickSuggestions: false,
    folding: false,
    glyphMargin: false,
    lineNumbersMinChars: 4,
    lineDecorationsWidth: 8,
    tabFocusMode: true,
    unicodeHighlight: { ambiguousCharacters: false },
    scrollbar: { alwaysConsumeMouseWheel: false, verticalScrollbarSize: 10, horizontalScrollbarSize: 10 },
    padding: { top: 8, bottom: 8 },
  });
}

/**
 * Shows a long read-only text with the editor's search, selection and copying; renders only visible lines.
 *
 * Tab moves on, as from any read-only text.
 */
export function TextViewer(props: TextViewerProps) {
  const { text, language, label } = props;
  const scheme = useShownTheme();
  const fontSize = useDensity((state) => (state.density === 'compact' ? 12 : 13));
  const host = useRef<HTMLDivElement>(null);
  const viewer = useRef<Editor | null>(null);
  const create = useEffectEvent((element: HTMLElement) => createViewer(element, props));

  useEffect(() => {
    if (host.current === null) return undefined;
    const created = create(host.current);
    viewer.current = created;
    return () => {
      viewer.current = null;
      created.getModel()?.dispose();
      created.dispose();
    };
  }, [language, label]);

  useEffect(() => {
    const model = viewer.current?.getModel();
    if (model !== null && model !== undefined && model.getValue() !== text) model.setValue(text);
  }, [text]);
  useEffect(() => viewer.current?.updateOptions({ fontSize }), [fontSize, language, label]);
  useEffect(() => monaco.editor.setTheme(`corollary-${scheme}`), [scheme]);

  return <div ref={host} className={styles.fill} />;
}
