/** The editor of one cell: Enter or leaving it takes the text, Escape discards it. */
import { Tooltip } from '@mantine/core';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { useScopes } from '../../api/queries.ts';
import type { CellKind } from './cell-edit.ts';
import styles from './facts.module.css';

interface CellEditorProps {
  cell: CellKind;
  label: string;
  text: string;
  onText: (text: string) => void;
  /** Takes the text; returns the problem with it, or null if it was taken. */
  onTake: (text: string) => string | null;
  onCancel: () => void;
}

function ScopeNames({ id }: { id: string }) {
  return (
    <datalist id={id}>
      {useScopes().map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </datalist>
  );
}

/** An input in place of a cell. */
export function CellEditor({ cell, label, text, onText, onTake, onCancel }: CellEditorProps) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  // An editor that is removed loses the focus too, which must not count as leaving it.
  const isOver = useRef(false);

  function take(): void {
    if (isOver.current) return;
    const wrong = onTake(text);
    isOver.current = wrong === null;
    setProblem(wrong);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      isOver.current = true;
      onCancel();
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      take();
    }
  }

  const common = {
    'aria-label': label,
    'aria-invalid': problem !== null,
    ...(problem === null ? {} : { 'aria-describedby': `${id}-problem` }),
    className: styles.cellEditor,
    autoFocus: true,
    onKeyDown,
    onBlur: take,
  };
  return (
    <>
      <Tooltip
        label={problem}
        opened={problem !== null}
        color="red"
        position="bottom-start"
        multiline
        maw={360}
      >
        {cell.kind === 'truth' ? (
          <select {...common} value={text} onChange={(event) => onText(event.currentTarget.value)}>
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        ) : (
          <input
            {...common}
            {...(cell.kind === 'scope' ? { list: `${id}-scopes`, placeholder: 'none' } : {})}
            spellCheck={false}
            value={text}
            onFocus={(event) => event.currentTarget.select()}
            onChange={(event) => {
              setProblem(null);
              onText(event.currentTarget.value);
            }}
          />
        )}
      </Tooltip>
      {cell.kind === 'scope' && <ScopeNames id={`${id}-scopes`} />}
      {problem !== null && (
        <span id={`${id}-problem`} role="alert" className="visually-hidden">
          {problem}
        </span>
      )}
    </>
  );
}
