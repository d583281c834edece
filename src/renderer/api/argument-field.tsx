/** A field for one argument of a fact, of its declared type: a date, a choice, a number, or text. */
import { Select, TextInput } from '@mantine/core';
import type { FocusEvent, KeyboardEvent, ReactNode } from 'react';
import {
  argumentTitle,
  choicesOf,
  isDateField,
  isNumeric,
  misfitOf,
  type ShownArgument,
} from './declared.ts';

interface ArgumentFieldProps {
  /** null: undeclared. */
  argument: ShownArgument | null | undefined;
  /** From 0. */
  position: number;
  value: string;
  problem: string | undefined;
  onValue: (value: string) => void;
  /** Shows the title above; otherwise it is the accessible name and the placeholder. */
  isLabelled?: boolean;
  rightSection?: ReactNode;
  autoFocus?: boolean;
  onBlur?: (event: FocusEvent) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

const placeholders: Partial<Record<string, string>> = {
  instant: '2026-01-31T18:00:00Z',
  integer: '42',
  number: '4.2',
};

/** The field. A value of another type is shown as it is, with a note; whether it is refused is up to the service. */
export function ArgumentField(props: ArgumentFieldProps) {
  const { argument, position, value, problem, onValue, isLabelled = false, rightSection } = props;
  const { autoFocus = false, onBlur, onKeyDown } = props;
  const title = argumentTitle(argument, position);
  const type = argument?.type ?? 'any';
  const error = problem ?? misfitOf(argument, value);
  const description = argument?.description ?? null;
  const common = {
    ...(isLabelled ? { label: title } : { 'aria-label': title }),
    ...(isLabelled && description !== null ? { description } : {}),
    error,
    ...(autoFocus ? { 'data-autofocus': true, autoFocus: true } : {}),
    ...(onBlur === undefined ? {} : { onBlur }),
    ...(onKeyDown === undefined ? {} : { onKeyDown }),
  };
  const choices = choicesOf(type, value);
  if (choices !== null)
    return (
      <Select
        {...common}
        placeholder={isLabelled ? 'Choose' : title}
        data={choices.map((choice) => ({ value: choice, label: choice === '' ? '""' : choice }))}
        searchable
        value={value === '' ? null : value}
        onChange={(chosen) => onValue(chosen ?? '')}
      />
    );
  const example = typeof type === 'string' ? placeholders[type] : undefined;
  return (
    <TextInput
      {...common}
      type={isDateField(type, value) ? 'date' : 'text'}
      placeholder={isLabelled ? (example ?? '') : title}
      {...(isNumeric(type) ? { inputMode: 'decimal', classNames: { input: 'number' } } : {})}
      spellCheck={false}
      autoComplete="off"
      value={value}
      rightSection={rightSection}
      onChange={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}
