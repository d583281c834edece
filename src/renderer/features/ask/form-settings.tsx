/** The settings above a graph, a chart or a pivot table, and what they say of the answers shown. */
import { Button, NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatAmount, formatCount } from '../../ui/format.ts';
import type { ShownAnswer } from './answer.ts';
import type { ColumnKinds } from './answer-forms.ts';
import styles from './ask.module.css';

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly { readonly value: string; readonly label: string }[];
  onChoose: (value: string) => void;
}

/** A labelled list of choices on one line. */
export function Choice({ label, value, options, onChoose }: ChoiceProps) {
  return (
    <NativeSelect
      className={styles.choice}
      label={label}
      size="xs"
      value={value}
      data={[...options]}
      onChange={(event) => onChoose(event.currentTarget.value)}
    />
  );
}

interface ColumnChoiceProps {
  label: string;
  value: string | null;
  columns: readonly string[];
  /** What choosing no column means; absent: a column has to be chosen. */
  none?: string;
  onChoose: (column: string | null) => void;
}

/** A choice among columns. */
export function ColumnChoice({ label, value, columns, none, onChoose }: ColumnChoiceProps) {
  const options = [
    ...(none === undefined ? [] : [{ value: '', label: none }]),
    ...columns.map((name) => ({ value: name, label: `?${name}` })),
  ];
  return (
    <Choice
      label={label}
      value={value ?? ''}
      options={options}
      onChoose={(chosen) => onChoose(chosen === '' ? null : chosen)}
    />
  );
}

/** The columns of numbers. */
export function numberColumns(kinds: ColumnKinds): string[] {
  return [...kinds].filter(([, { kind }]) => kind === 'number').map(([name]) => name);
}

interface FormFrameProps {
  answer: ShownAnswer;
  settings: ReactNode;
  /** What of the fetched answers is not drawn, as a sentence. */
  notDrawn: string | null;
  onMore: (() => void) | null;
  children: ReactNode;
}

/** The settings above the content, with a line that says of which part of the answer it is. */
export function FormFrame({ answer, settings, notDrawn, onMore, children }: FormFrameProps) {
  const { truncated, results, total } = answer;
  return (
    <div className="flex-column full-height">
      <div className={styles.settings} role="group" aria-label="Settings">
        {settings}
      </div>
      {(truncated || notDrawn !== null) && (
        <div className={styles.part} role="status">
          {truncated && (
            <span>
              Made of the first {formatCount(results.length)} of{' '}
              {total === null ? 'more answers' : formatAmount(total, 'answer')}.
            </span>
          )}
          {truncated && onMore !== null && (
            <Button size="compact-xs" variant="default" onClick={onMore}>
              Fetch more
            </Button>
          )}
          {notDrawn !== null && <span>{notDrawn}</span>}
        </div>
      )}
      <div className="rest-height">{children}</div>
    </div>
  );
}

/** What every form needs. */
export interface FormProps {
  answer: ShownAnswer;
  kinds: ColumnKinds;
  /** The settings as the address has them. */
  axes: string | undefined;
  onAxes: (axes: string) => void;
  onMore: (() => void) | null;
}
