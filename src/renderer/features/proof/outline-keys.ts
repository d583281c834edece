/** What a key does in the outline of a proof: where the cursor goes, what is folded and unfolded. */
import { isFoldable, keyOfStep, type OutlineRow, type ProofTree, stepsBelow } from './proof-tree.ts';

export interface OutlineState {
  /** Key of the line the cursor is on. */
  readonly active: string;
  readonly unfolded: ReadonlySet<number>;
}

/** The state after an arrow to the right: unfold, else go to the first premise. */
function goIn(rows: readonly OutlineRow[], index: number, state: OutlineState): OutlineState {
  const row = rows[index];
  if (row === undefined || !isFoldable(row)) return state;
  if (!state.unfolded.has(row.step.id))
    return { ...state, unfolded: new Set([...state.unfolded, row.step.id]) };
  return { ...state, active: rows[index + 1]?.key ?? state.active };
}

/** The state after an arrow to the left: fold, else go to the step above. */
function goOut(row: OutlineRow, state: OutlineState): OutlineState {
  if (isFoldable(row) && state.unfolded.has(row.step.id)) return fold(row, state);
  return row.parent === null ? state : { ...state, active: row.parent };
}

function fold(row: OutlineRow, state: OutlineState): OutlineState {
  const unfolded = new Set(state.unfolded);
  unfolded.delete(row.step.id);
  return { ...state, unfolded };
}

/** The state after a digit: so many levels below a step are unfolded, and no more. */
function toDepth(tree: ProofTree, row: OutlineRow, state: OutlineState, depth: number): OutlineState {
  const unfolded = new Set(state.unfolded);
  for (const id of stepsBelow(tree, row.step.id)) unfolded.delete(id);
  for (const id of stepsBelow(tree, row.step.id, depth)) unfolded.add(id);
  return { ...state, unfolded };
}

/** The state after a key; null for a key that means nothing here. `page`: lines that fit into the view. */
export function afterKey(
  key: string,
  tree: ProofTree,
  rows: readonly OutlineRow[],
  state: OutlineState,
  page: number,
): OutlineState | null {
  const found = rows.findIndex((candidate) => candidate.key === state.active);
  const index = Math.max(0, found);
  const row = rows[index];
  if (row === undefined) return null;
  const to = (target: number): OutlineState => ({
    ...state,
    active: rows[Math.max(0, Math.min(rows.length - 1, target))]?.key ?? state.active,
  });
  if (/^[1-9]$/.test(key)) return isFoldable(row) ? toDepth(tree, row, state, Number(key)) : state;
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
      return goIn(rows, index, state);
    case 'ArrowLeft':
      return goOut(row, state);
    case '+':
      return isFoldable(row) ? { ...state, unfolded: new Set([...state.unfolded, row.step.id]) } : state;
    case '-':
      return fold(row, state);
    case '*':
      return { ...state, unfolded: new Set([...state.unfolded, ...stepsBelow(tree, row.step.id)]) };
    case 'Enter':
      return row.isReference ? { ...state, active: keyOfStep(row.step.id) } : null;
    default:
      return null;
  }
}
