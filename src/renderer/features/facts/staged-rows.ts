/**
 * The rows of the grid: what the service lists, with the staged edits over it. Pure.
 *
 * Rows that are to be added stand before all others, the newest first, in whatever order the service lists the rest.
 */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { ScopeSelection } from '../../api/space.ts';
import {
  contentOf,
  differencesOf,
  type FactContent,
  type StagedEdit,
  type StagedEdits,
} from './staged-edits.ts';

export interface FactRow {
  /** As it is to be; of a removed row as it is. */
  readonly fact: FactContent;
  /** As the service has it; null for a row that is to be added. */
  readonly stored: StoredFact | null;
  readonly edit: StagedEdit | null;
  /** Fields of a changed row that are to become others. */
  readonly changed: ReadonlySet<keyof FactContent>;
}

const none: ReadonlySet<keyof FactContent> = new Set();

/** The row of an edit that adds a fact. */
export function addedRow(edit: StagedEdit & { readonly kind: 'added' }): FactRow {
  return { fact: edit.fact, stored: null, edit, changed: none };
}

const known = new WeakMap<StoredFact, FactRow>();

/** The row of a fact that the service lists; the same object while neither it nor what is staged for it changes. */
export function storedRow(stored: StoredFact, byKey: ReadonlyMap<string, StagedEdit>): FactRow {
  const edit = (stored.id === null ? undefined : byKey.get(stored.id)) ?? null;
  const before = known.get(stored);
  if (before?.edit === edit) return before;
  const row = rowWith(stored, edit);
  known.set(stored, row);
  return row;
}

function rowWith(stored: StoredFact, edit: StagedEdit | null): FactRow {
  if (edit?.kind !== 'changed') return { fact: contentOf(stored), stored, edit, changed: none };
  return { fact: edit.fact, stored, edit, changed: new Set(differencesOf(edit.base, edit.fact)) };
}

/** Whether a fact that is to be added belongs to what is shown. Filters by text and truth do not hide it. */
function isShown(fact: FactContent, predicate: string | undefined, scope: ScopeSelection): boolean {
  if (predicate !== undefined && fact.predicate !== predicate) return false;
  if (scope.kind === 'all') return true;
  return scope.kind === 'unscoped' ? fact.scope === null : fact.scope === scope.name;
}

/** The rows that are to be added and belong to what is shown, the newest first. */
export function addedRows(
  edits: StagedEdits,
  predicate: string | undefined,
  scope: ScopeSelection,
): FactRow[] {
  return edits
    .flatMap((edit) =>
      edit.kind === 'added' && isShown(edit.fact, predicate, scope) ? [addedRow(edit)] : [],
    )
    .reverse();
}
