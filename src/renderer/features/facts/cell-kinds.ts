/** Which cells of a row can be edited, and their text. */
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
