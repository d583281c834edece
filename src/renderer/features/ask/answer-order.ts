/**
 * Answers in the order of one of their columns. All that are shown are here already, so nothing is asked for again.
 *
 * Numbers stand before texts, each by the order of the language's comparisons; answers that are equal in the column stay
 * in the order in which they came. Pure.
 */
import { compareNumbersFirst } from '../../../engine/language/numbers.ts';

export interface AnswerSort {
  /** A variable without its question mark; null: the whole answer. */
  readonly column: string | null;
  readonly direction: 'asc' | 'desc';
}

interface Answers {
  readonly results: readonly string[];
  readonly bindings: readonly Readonly<Record<string, string>>[];
}

/** As an address has it: `?name` or `answer`, with a minus before it for the greatest first. */
export function sortText({ column, direction }: AnswerSort): string {
  return `${direction === 'desc' ? '-' : ''}${column === null ? 'answer' : `?${column}`}`;
}

/** What `sortText` wrote; null for anything else, and for a variable that the question does not have. */
export function sortOf(text: string | undefined, variables: readonly string[]): AnswerSort | null {
  const [, minus, name] = /^(-?)(answer|\?.+)$/su.exec(text ?? '') ?? [];
  if (name === undefined) return null;
  const direction = minus === '-' ? 'desc' : 'asc';
  if (name === 'answer') return variables.length === 0 ? { column: null, direction } : null;
  const column = name.slice(1);
  return variables.includes(column) ? { column, direction } : null;
}

/** What the header of a column asks for next: up, down, then the order in which the answers came (null). */
export function nextSort(current: AnswerSort | null, column: string | null): AnswerSort | null {
  if (current === null || current.column !== column) return { column, direction: 'asc' };
  return current.direction === 'asc' ? { column, direction: 'desc' } : null;
}

/** The answers in that order; the same object where there is none. */
export function inOrder<Of extends Answers>(answers: Of, sort: AnswerSort | null): Of {
  if (sort === null) return answers;
  const { results, bindings } = answers;
  const { column } = sort;
  const keys = column === null ? results : bindings.map((row) => row[column] ?? '');
  const sign = sort.direction === 'asc' ? 1 : -1;
  const places = Array.from(results, (_, index) => index).sort(
    (left, right) => sign * compareNumbersFirst(keys[left] ?? '', keys[right] ?? '') || left - right,
  );
  return {
    ...answers,
    results: places.map((place) => results[place] ?? ''),
    bindings: places.map((place) => bindings[place] ?? {}),
  };
}
