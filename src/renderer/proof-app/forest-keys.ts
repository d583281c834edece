/** What a key does in the outline: where the cursor goes, what is folded and unfolded. */
import {
  canUnfold,
  type ForestRow,
  isUnfolded,
  keyIn,
  type Unfolded,
  withFolded,
  withShown,
  withUnfolded,
} from './forest.ts';

export interface ForestState {
  /** Key of the line the cursor is on. */
  readonly active: string;
  readonly unfolded: Unfolded;
}

/** Folds or unfolds the line; from a reference it goes to where the step is shown whole. */
export function afterOpening(row: ForestRow, { unfolded }: ForestState): ForestState {
  if (row.isReference && row.step !== null)
    return { active: keyIn(row.index, row.step.id), unfolded: withShown(unfolded, row) };
  if (!canUnfold(row)) return { active: row.key, unfolded };
  const next = isUnfolded(row, unfolded) ? withFolded(unfolded, row) : withUnfolded(unfolded, row);
  return { active: row.key, unfolded: next };
}

/** The state after a key; null for a key that means nothing here. `page`: lines that fit into the view. */
export function afterKey(
  key: string,
  rows: readonly ForestRow[],
  state: ForestState,
  page: number,
): ForestState | null {
  const index = Math.max(
    0,
    rows.findIndex((candidate) => candidate.key === state.active),
  );
  const row = rows[index];
  if (row === undefined) return null;
  const to = (target: number): ForestState => ({
    ...state,
    active: rows[Math.max(0, Math.min(rows.length - 1, target))]?.key ?? state.active,
  });
  switch (key) {
    case 'ArrowDown':
      return to(index + 1);
    case 'ArrowUp':
      return to(index - 1);
    case 'PageDown':
      return to(index + page);
    case 'PageUp':
      return to(index - page);
    case 'Home':
      return to(0);
    case 'End':
      return to(rows.length - 1);
    case 'ArrowRight':
      if (!canUnfold(row)) return to(index);
      if (isUnfolded(row, state.unfolded)) return to(index + 1);
      return { active: row.key, unfolded: withUnfolded(state.unfolded, row) };
    case 'ArrowLeft':
      if (canUnfold(row) && isUnfolded(row, state.unfolded))
        return { active: row.key, unfolded: withFolded(state.unfolded, row) };
      return row.parent === null ? to(index) : { ...state, active: row.parent };
    case '*':
      return canUnfold(row)
        ? { active: row.key, unfolded: withUnfolded(state.unfolded, row, true) }
        : to(index);
    case 'Enter':
    case ' ':
      return afterOpening(row, state);
    default:
      return null;
  }
}
