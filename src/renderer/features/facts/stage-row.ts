/** Edits of rows as steps of the history. */
import { formatAmount } from '../../ui/format.ts';
import { notifyHint } from '../../ui/notify.tsx';
import { renderFact } from './render-fact.ts';
import {
  type FactContent,
  restage,
  seenFactOf,
  stageChanged,
  stageRemoved,
  type StagedEdits,
  unstage,
} from './staged-edits.ts';
import type { FactGridRow } from './staged-rows.ts';
import type { Staging } from './use-staging.ts';

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
