/** The editor of one cell: Enter or leaving it takes the text, Escape discards it. */
import { Tooltip } from '@mantine/core';
import { type ComponentProps, type KeyboardEvent, useId, useRef, useState } from 'react';
import { choicesOf, isDateField } from '../../api/argument-field.tsx';
import type { ShownArgument } from '../../api/declared.ts';
import { useScopes } from '../../api/queries.ts';
import { factsOfStatements, problemsOfFact } from './fact-form.ts';
import styles from './facts.module.css';
import { renderFact } from './render-fact.ts';
import type { FactContent } from './staged-edits.ts';

/** The part of a row that a cell edits; `form`: too complex for a cell, edited in the detail pane. */
export type CellKind =
  | { readonly kind: 'argument'; readonly index: number }
  | { readonly kind: 'scope' | 'truth' | 'fact' | 'form' };

/** The kind of the cells of a column; null: not editable. */
export function cellKindOf(column: string): CellKind | null {
  const argument = /^argument-(\d+)$/.exec(column)?.[1];
  if (argument !== undefined) return { kind: 'argument', index: Number(argument) };
  if (column === 'validity') return { kind: 'form' };
  return column === 'scope' || column === 'truth' || column === 'fact' ? { kind: column } : null;
}

/** The cell as text. */
export function cellText(fact: FactContent, cell: CellKind): string {
  switch (cell.kind) {
    case 'argument':
      return fact.args[cell.index] ?? '';
    case 'scope':
      return fact.scope ?? '';
    case 'truth':
      return String(fact.truthVal);
    case 'fact':
      return renderFact(fact);
    case 'form':
      return '';
  }
}

/** The edited fact, or the problem. */
export type CellOutcome =
  | { readonly kind: 'fact'; readonly fact: FactContent }
  | { readonly kind: 'problem'; readonly problem: string };

function statedFact(fact: FactContent, text: string): FactContent | string {
  const statement = /\.\s*$/.test(text) ? text : `${text}.`;
  const { facts, problems } = factsOfStatements(statement);
  const [problem] = problems;
  if (problem !== undefined) return problem;
  const [stated, ...more] = facts;
  if (stated === undefined || more.length > 0) return 'write one fact, such as parent(alice, bob)';
  return { ...fact, ...stated };
}

function wantedFact(fact: FactContent, cell: CellKind, text: string): FactContent | string {
  switch (cell.kind) {
    case 'argument':
      return cell.index < fact.args.length
        ? { ...fact, args: fact.args.with(cell.index, text) }
        : 'this fact has no such argument';
    case 'scope':
      return { ...fact, scope: text.trim() === '' ? null : text };
    case 'truth':
      return { ...fact, truthVal: text === 'true' };
    case 'fact':
      return statedFact(fact, text);
    case 'form':
      return fact;
  }
}

/** The fact its row becomes with another text in a cell. */
export function editedCell(fact: FactContent, cell: CellKind, text: string): CellOutcome {
  const wanted = wantedFact(fact, cell, text);
  if (typeof wanted === 'string') return { kind: 'problem', problem: wanted };
  const [problem] = Object.values(problemsOfFact(wanted));
  return problem === undefined ? { kind: 'fact', fact: wanted } : { kind: 'problem', problem };
}

interface CellEditorProps {
  cell: CellKind;
  /** The declared argument of the cell; null: none. */
  argument: ShownArgument | null;
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

/** The choices of a cell that opened with a text; null: any text can be written. */
function choicesOfCell(
  cell: CellKind,
  argument: ShownArgument | null,
  initial: string,
): readonly string[] | null {
  if (cell.kind === 'truth') return ['true', 'false'];
  return argument === null ? null : choicesOf(argument.type, initial);
}

interface ChoiceInputProps extends Pick<CellEditorProps, 'text' | 'onText'> {
  common: ComponentProps<'select'>;
  choices: readonly string[];
}

/** A list in place of a cell; it opens with the current value, also if that is no choice. */
function ChoiceInput({ common, choices, text, onText }: ChoiceInputProps) {
  return (
    <select {...common} value={text} onChange={(event) => onText(event.currentTarget.value)}>
      {!choices.includes(text) && <option value={text}>{text}</option>}
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  );
}

/** An input in place of a cell. */
export function CellEditor({ cell, argument, label, text, onText, onTake, onCancel }: CellEditorProps) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  // While it is open, the kind of field depends on the value that it opened with.
  const [initial] = useState(text);
  const choices = choicesOfCell(cell, argument, initial);
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
        {choices !== null ? (
          <ChoiceInput common={common} choices={choices} text={text} onText={onText} />
        ) : (
          <input
            {...common}
            type={argument !== null && isDateField(argument.type, initial) ? 'date' : 'text'}
            {...(cell.kind === 'scope' ? { list: `${id}-scopes`, placeholder: 'none' } : {})}
            spellCheck={false}
            value={text}
            onFocus={(event) => {
              if (event.currentTarget.type === 'text') event.currentTarget.select();
            }}
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
