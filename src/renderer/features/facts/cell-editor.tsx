/** The editor of one cell: Enter or leaving it takes the text, Escape discards it. */
import { type ComponentProps, type KeyboardEvent, useId, useRef, useState } from 'react';
import { choicesOf, isDateField } from '../../api/declared.ts';
import type { ShownArgument } from '../../api/declared.ts';
import { useScopes } from '../../api/queries.ts';
import type { CellKind } from './cell-kinds.ts';
import { factsOfStatements, problemsOfFact } from './fact-form.ts';
import styles from './facts.module.css';
import type { FactContent } from './staged-edits.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

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
  fact: FactContent;
  cell: CellKind;
  /** The declared argument of the cell; null: none. */
  argument: ShownArgument | null;
  label: string;
  text: string;
  onText: (text: string) => void;
  /** Takes the edited fact. */
  onTake: (fact: FactContent) => void;
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
export function CellEditor({ fact, cell, argument, label, text, onText, onTake, onCancel }: CellEditorProps) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  // While it is open, the kind of field depends on the value that it opened with.
  const [initial] = useState(text);
  const choices = choicesOfCell(cell, argument, initial);
  // An editor that is removed loses the focus too, which must not count as leaving it.
  const isOver = useRef(false);

  function take(): void {
    if (isOver.current) return;
    const outcome = editedCell(fact, cell, text);
    isOver.current = outcome.kind === 'fact';
    setProblem(outcome.kind === 'fact' ? null : outcome.problem);
    if (outcome.kind === 'fact') onTake(outcome.fact);
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
      <Tooltip label={problem} opened={problem !== null} tone="bad" position="bottom-start" maxWidth={360}>
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
