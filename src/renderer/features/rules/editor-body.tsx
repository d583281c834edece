/** The editor with what is wrong with its text below it. */
import { type ReactNode, useRef } from 'react';
import type { Diagnostic } from '../../../engine/contract/rules.ts';
import type { CodeEditorHandle } from '../../editor/code-editor.tsx';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { ProblemList } from './problem-list.tsx';
import styles from './rules.module.css';

interface EditorBodyProps {
  label: string;
  placeholder?: string;
  text: string;
  onText: (text: string) => void;
  diagnostics: readonly Diagnostic[];
  /** Given the text as it is in the editor. */
  onSubmit: (text: string) => void;
  /** Between the editor and the problems. */
  notice?: ReactNode;
}

export function EditorBody(props: EditorBodyProps) {
  const { label, placeholder, text, onText, diagnostics, onSubmit, notice } = props;
  const editor = useRef<CodeEditorHandle>(null);
  return (
    <>
      <div className={styles.code}>
        <LazyCodeEditor
          label={label}
          {...(placeholder === undefined ? {} : { placeholder })}
          value={text}
          onChange={onText}
          diagnostics={diagnostics}
          onSubmit={onSubmit}
          handle={editor}
          autoFocus
        />
      </div>
      {notice !== undefined && <div className={styles.notice}>{notice}</div>}
      <ProblemList
        diagnostics={diagnostics}
        text={text}
        onGoTo={(line, column) => editor.current?.reveal(line, column)}
        onFix={(edits) => editor.current?.edit(edits)}
      />
    </>
  );
}
