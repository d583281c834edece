/** Key handling of the outline: cursor movement, folding and unfolding. */
import { activeLine, moveOf, type TreeMove } from '../features/proof/tree-keys.ts';
import {
  canUnfold,
  type ForestRow,
  isUnfolded,
  keyIn,
  type Unfolded,
  withFolded,
  withUnfoldedTo,
  withUnfolded,
} from './forest.ts';

/** Cursor and unfolded steps. */
export interface ForestState {
  /** Key of the line under the cursor. */
  readonly active: string;
  readonly unfolded: Unfolded;
}

/** Folds or unfolds the line; from a reference, moves to the line that shows the step in full. */
export function afterOpening(row: ForestRow, { unfolded }: ForestState): ForestState {
  if (row.isReference && row.step !== null)
    return { active: keyIn(row.index, row.step.id), unfolded: withUnfoldedTo(unfolded, row) };
  if (!canUnfold(row)) return { active: row.key, unfolded };
  const next = isUnfolded(row, unfolded) ? withFolded(unfolded, row) : withUnfolded(unfolded, row);
  return { active: row.key, unfolded: next };
}

function afterMove(move: TreeMove<ForestRow>, { unfolded }: ForestState): ForestState {
  if (move.kind === 'to-parent') return { active: move.key, unfolded };
  const { kind, line } = move;
  if (kind === 'to') return { active: line.key, unfolded };
  const next =
    kind === 'fold' ? withFolded(unfolded, line) : withUnfolded(unfolded, line, kind === 'unfold-below');
  return { active: line.key, unfolded: next };
}

/** Returns the state after a key; null for an unhandled key. `page` is the number of lines in the view. */
export function forestAfterKey(
  key: string,
  rows: readonly ForestRow[],
  state: ForestState,
  page: number,
): ForestState | null {
  const { active, unfolded } = state;
  const look = {
    lines: rows,
    active,
    page,
    canUnfold,
    isUnfolded: (row: ForestRow) => isUnfolded(row, unfolded),
  };
  const move = moveOf(key, look);
  if (move !== null) return afterMove(move, state);
  const row = activeLine(look);
  return row !== undefined && (key === 'Enter' || key === ' ') ? afterOpening(row, state) : null;
}
