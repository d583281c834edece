/** Key handling of the proof outline: cursor movement, folding and unfolding. */
import { isFoldable, keyOfStep, type OutlineRow, type ProofTree, stepsBelow } from './proof-tree.ts';
import { activeLine, moveOf, type TreeMove } from './tree-keys.ts';

/** Cursor and unfolded steps. */
export interface OutlineState {
  /** Key of the line under the cursor. */
  readonly active: string;
  readonly unfolded: ReadonlySet<number>;
}

/** The state after a digit: exactly that many levels below a step are unfolded. */
function toDepth(tree: ProofTree, row: OutlineRow, state: OutlineState, depth: number): OutlineState {
  const unfolded = new Set(state.unfolded);
  for (const id of stepsBelow(tree, row.step.id)) unfolded.delete(id);
  for (const id of stepsBelow(tree, row.step.id, depth)) unfolded.add(id);
  return { ...state, unfolded };
}

function afterMove(move: TreeMove<OutlineRow>, tree: ProofTree, state: OutlineState): OutlineState {
  if (move.kind === 'to') return { ...state, active: move.line.key };
  if (move.kind === 'to-parent') return { ...state, active: move.key };
  const { id } = move.line.step;
  const unfolded = new Set(state.unfolded);
  if (move.kind === 'fold') unfolded.delete(id);
  else for (const each of move.kind === 'unfold' ? [id] : stepsBelow(tree, id)) unfolded.add(each);
  return { active: move.line.key, unfolded };
}

/** Returns the state after a key; null for an unhandled key. `page`: number of lines in the view. */
export function outlineAfterKey(
  key: string,
  tree: ProofTree,
  rows: readonly OutlineRow[],
  state: OutlineState,
  page: number,
): OutlineState | null {
  const { active, unfolded } = state;
  const look = {
    lines: rows,
    active,
    page,
    canUnfold: isFoldable,
    isUnfolded: ({ step }: OutlineRow) => unfolded.has(step.id),
  };
  const move = moveOf(key, look);
  if (move !== null) return afterMove(move, tree, state);
  const row = activeLine(look);
  if (row === undefined) return null;
  if (/^[1-9]$/.test(key)) return isFoldable(row) ? toDepth(tree, row, state, Number(key)) : state;
  return key === 'Enter' && row.isReference ? { ...state, active: keyOfStep(row.step.id) } : null;
}
