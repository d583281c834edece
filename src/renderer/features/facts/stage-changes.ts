/** Facts staged by other views: they wait in the Facts view to be looked at and applied. */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { historyOf } from '../../api/history.ts';
import { refusedQuestion } from '../../api/question-text.ts';
import type { Space } from '../../api/space.ts';
import { editStoreOf, replaceEdits } from './edit-store.ts';
import { maxStagedRows, seenFactOf, stageAdded, stageRemoved } from './staged-edits.ts';

/** Facts to add, and stored facts to remove. */
export interface StagedChanges {
  readonly added: readonly {
    readonly predicate: string;
    readonly args: readonly string[];
    readonly truthVal: boolean;
    readonly scope: string | null;
  }[];
  readonly removed: readonly StoredFact[];
}

/** Stages the changes as one step that can be undone. Throws the failure to show if they cannot be staged now. */
export function stageChanges(
  space: Pick<Space, 'database' | 'tenant'>,
  label: string,
  { added, removed }: StagedChanges,
): void {
  const store = editStoreOf(space);
  const { edits, isApplying } = store.getState();
  if (isApplying || historyOf(space).getState().running !== null)
    throw refusedQuestion(
      'Not staged',
      'Staged facts are being stored just now. Try again when that is done.',
    );
  let next = edits;
  for (const fact of added)
    next = stageAdded(next, {
      ...fact,
      args: [...fact.args],
      validFrom: null,
      validUntil: null,
      metadata: {},
    });
  for (const fact of removed) {
    const seen = seenFactOf(fact);
    if (seen !== null) next = stageRemoved(next, seen);
  }
  if (next.length > maxStagedRows)
    throw refusedQuestion('Too many staged rows', 'Apply or revert what is staged first.');
  replaceEdits(store, space, label, next);
}
