/**
 * The rows of the grid: the service's facts with the staged edits applied. Pure.
 *
 * Staged additions come first, the newest on top, whatever the order of the rest.
 */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { ScopeChoice } from '../../api/space.ts';
import {
  contentOf,
  fieldDifferences,
  type FactContent,
  type StagedEdit,
  type StagedEdits,
} from './staged-edits.ts';

/** A row of the grid. */
export interface FactGridRow {
  /** The intended content; for a removed row its current one. */
  readonly fact: FactContent;
  /** The stored fact; null for a row to be added. */
  readonly stored: StoredFact | null;
  readonly edit: StagedEdit | null;
  /** The changed fields of a changed row. */
  readonly changed: ReadonlySet<keyof FactContent>;
}

const none: ReadonlySet<keyof FactContent> = new Set();

/** The row of a staged addition. */
export function addedRow(edit: StagedEdit & { readonly kind: 'added' }): FactGridRow {
  return { fact: edit.fact, stored: null, edit, changed: none };
}

const known = new WeakMap<StoredFact, FactGridRow>();

/** The row of a listed fact; the same object as long as neither the fact nor its edit changes. */
export function storedRow(stored: StoredFact, byKey: ReadonlyMap<string, StagedEdit>): FactGridRow {
  const edit = (stored.id === null ? undefined : byKey.get(stored.id)) ?? null;
  const before = known.get(stored);
  if (before?.edit === edit) return before;
  const row = rowWith(stored, edit);
  known.set(stored, row);
  return row;
}

function rowWith(stored: StoredFact, edit: StagedEdit | null): FactGridRow {
  if (edit?.kind !== 'changed') return { fact: contentOf(stored), stored, edit, changed: none };
  return { fact: edit.fact, stored, edit, changed: new Set(fieldDifferences(edit.base, edit.fact)) };
}

/** Whether a staged addition belongs to the selection. Text and truth filters do not hide it. */
function isShown(fact: FactContent, predicate: string | undefined, scope: ScopeChoice): boolean {
  if (predicate !== undefined && fact.predicate !== predicate) return false;
  if (scope.kind === 'all') return true;
  return scope.kind === 'unscoped' ? fact.scope === null : fact.scope === scope.name;
}

/** The staged additions that belong to the selection, the newest first. */
export function addedRows(
  edits: StagedEdits,
  predicate: string | undefined,
  scope: ScopeChoice,
): FactGridRow[] {
  return edits
    .flatMap((edit) =>
      edit.kind === 'added' && isShown(edit.fact, predicate, scope) ? [addedRow(edit)] : [],
    )
    .reverse();
}
