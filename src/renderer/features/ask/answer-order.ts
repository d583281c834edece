/**
 * Sorts answers by one of their columns, in the client: all shown answers are loaded.
 *
 * Numbers sort before texts, each in the order of the language's comparisons; the sort is stable. Pure.
 */
import { compareNumbersFirst } from '../../../engine/language/numbers.ts';

/** The column to sort by, and the direction. */
export interface AnswerSort {
  /** A variable without its question mark; null: the whole answer. */
  readonly column: string | null;
  readonly direction: 'asc' | 'desc';
}

interface Answers {
  readonly results: readonly string[];
  readonly bindings: readonly Readonly<Record<string, string>>[];
}

/** The sort as written in the address: `?name` or `answer`, with a leading minus for descending. */
export function sortText({ column, direction }: AnswerSort): string {
  return `${direction === 'desc' ? '-' : ''}${column === null ? 'answer' : `?${column}`}`;
}

/** Parses what `sortText` wrote; null for anything else, and for a variable the question does not have. */
export function sortOf(text: string | undefined, variables: readonly string[]): AnswerSort | null {
  const [, minus, name] = /^(-?)(answer|\?.+)$/su.exec(text ?? '') ?? [];
  if (name === undefined) return null;
  const direction = minus === '-' ? 'desc' : 'asc';
  if (name === 'answer') return variables.length === 0 ? { column: null, direction } : null;
  const column = name.slice(1);
  return variables.includes(column) ? { column, direction } : null;
}

/** The sort after a click on a column header: ascending, descending, then unsorted (null). */
export function nextSort(current: AnswerSort | null, column: string | null): AnswerSort | null {
  if (current === null || current.column !== column) return { column, direction: 'asc' };
  return current.direction === 'asc' ? { column, direction: 'desc' } : null;
}

/** The answers sorted; the same object if `sort` is null. */
export function sortedAnswers<Of extends Answers>(answers: Of, sort: AnswerSort | null): Of {
  if (sort === null) return answers;
  const { results, bindings } = answers;
  const { column } = sort;
  const keys = column === null ? results : bindings.map((row) => row[column] ?? '');
  const sign = sort.direction === 'asc' ? 1 : -1;
  const positions = Array.from(results, (_, index) => index).sort(
    (left, right) => sign * compareNumbersFirst(keys[left] ?? '', keys[right] ?? '') || left - right,
  );
  return {
    ...answers,
    results: positions.map((position) => results[position] ?? ''),
    bindings: positions.map((position) => bindings[position] ?? {}),
  };
}
