/**
 * One cell of the grid as text, and the fact its row becomes with another text. Pure.
 *
 * Text that cannot be read, or that the service would refuse, is reported as a problem and never staged.
 */
import { problemsOfFact } from './edit-form.ts';
import { renderFact } from './render-fact.ts';
import type { FactContent } from './staged-edits.ts';
import { factsOfStatements } from './fact-form.ts';

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
