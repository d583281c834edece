/**
 * The rows of the grid: the service's facts with the staged edits applied; and the edits of a row, each a step of the
 * history.
 *
 * Staged additions come first, the newest on top, whatever the order of the rest.
 */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { ScopeSelection } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';
import { notifyHint } from '../../ui/notify.tsx';
import { renderFact } from './render-fact.ts';
import {
  contentOf,
  type FactContent,
  fieldDifferences,
  restage,
  seenFactOf,
  stageChanged,
  type StagedEdit,
  type StagedEdits,
  stageRemoved,
  unstage,
} from './staged-edits.ts';
import type { Staging } from './use-staging.ts';

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
function isShown(fact: FactContent, predicate: string | undefined, scope: ScopeSelection): boolean {
  if (predicate !== undefined && fact.predicate !== predicate) return false;
  if (scope.kind === 'all') return true;
  return scope.kind === 'unscoped' ? fact.scope === null : fact.scope === scope.name;
}

/** The staged additions that belong to the selection, the newest first. */
export function addedRows(
  edits: StagedEdits,
  predicate: string | undefined,
  scope: ScopeSelection,
): FactGridRow[] {
  return edits
    .flatMap((edit) =>
      edit.kind === 'added' && isShown(edit.fact, predicate, scope) ? [addedRow(edit)] : [],
    )
    .reverse();
}

const maxNameLength = 60;

/** A fact in a step's label, shortened if long. */
export function nameOf(fact: Parameters<typeof renderFact>[0]): string {
  const text = renderFact(fact);
  return text.length > maxNameLength ? `${text.slice(0, maxNameLength - 1)}…` : text;
}

/** Facts in a step's label: one by name, several by number. */
export function nameOfFacts(facts: readonly Parameters<typeof renderFact>[0][]): string {
  const [only] = facts;
  return facts.length === 1 && only !== undefined ? nameOf(only) : formatAmount(facts.length, 'fact');
}

/** Stages new content for a row; does nothing for a conclusion. */
export function stageRow(
  { stage }: Staging,
  { edit, stored, fact: before }: FactGridRow,
  fact: FactContent,
): void {
  const seen = stored === null ? null : seenFactOf(stored);
  function change(edits: StagedEdits): StagedEdits {
    if (edit !== null) return restage(edits, edit.key, fact);
    return seen === null ? edits : stageChanged(edits, seen, fact);
  }
  stage(`changed ${nameOf(before)}`, change);
}

/** Marks a row as removed, or drops a row that was to be added. */
export function removeRow({ stage }: Staging, { edit, stored, fact }: FactGridRow): void {
  const seen = stored === null ? null : seenFactOf(stored);
  if (edit?.kind === 'added') stage(`dropped ${nameOf(fact)}`, (edits) => unstage(edits, edit.key));
  else if (seen === null)
    notifyHint('Conclusions cannot be removed: change the facts they depend on, or the rule.');
  else stage(`removed ${nameOf(seen)}`, (edits) => stageRemoved(edits, seen));
}

/** Marks rows as removed in one step; skips conclusions and reports it. */
export function removeRows({ stage }: Staging, rows: readonly FactGridRow[]): void {
  const ours = rows.filter(({ edit, stored }) => edit !== null || stored?.derived === false);
  if (ours.length < rows.length)
    notifyHint('Conclusions among them cannot be removed: change the facts they depend on, or the rule.');
  stage(`removed ${formatAmount(ours.length, 'row')}`, (edits) =>
    ours.reduce((before, { edit, stored }) => {
      if (edit?.kind === 'added') return unstage(before, edit.key);
      const seen = stored === null ? null : seenFactOf(stored);
      return seen === null ? before : stageRemoved(before, seen);
    }, edits),
  );
}

/** Drops the staged edit of a row. */
export function revertRow({ stage }: Staging, { edit, fact }: Pick<FactGridRow, 'edit' | 'fact'>): void {
  if (edit !== null) stage(`reverted ${nameOf(fact)}`, (edits) => unstage(edits, edit.key));
}
