/** Cursor and unfolded lines of an outline, and what keys do to them by the ARIA tree pattern. Pure. */
import {
  isFoldable,
  keyOfStep,
  keysBelow,
  type OutlineRow,
  type ProofTree,
  visibleRows,
} from './proof-tree.ts';

/** Cursor and unfolded lines. */
export interface FoldState {
  /** Key of the line under the cursor. */
  readonly active: string;
  /** Keys of the unfolded lines. */
  readonly unfolded: ReadonlySet<string>;
}

/** A single proof of at most this many steps starts unfolded, a larger one with its first levels. */
const maxInitialSteps = 40;
const initialLevels = 3;
/** Several answers start unfolded if they take at most this many lines: what is visible without scrolling. */
const maxInitialLines = 16;

/** Returns what is unfolded of a single proof initially. */
export function initiallyUnfolded(tree: ProofTree): Set<string> {
  const { id } = tree.root;
  return keysBelow(tree, id, tree.sizeOf(id) <= maxInitialSteps ? undefined : initialLevels);
}

/** Returns what is unfolded of a page of answers initially: of several, everything or nothing. */
export function initiallyUnfoldedOf(trees: readonly ProofTree[]): Set<string> {
  const [only] = trees;
  if (only !== undefined && trees.length === 1) return initiallyUnfolded(only);
  if (trees.length > maxInitialLines) return new Set();
  const unfolded = unfoldedUpTo(trees, maxInitialLines);
  const isAll = trees.every(
    (tree) => !hasPremises(tree) || unfolded.has(keyOfStep(tree.root.id, tree.answer)),
  );
  return isAll && visibleRows(trees, unfolded).length <= maxInitialLines ? unfolded : new Set();
}

/** Returns true if the proof is more than a fact. */
export function hasPremises({ root }: ProofTree): boolean {
  return root.premises.length > 0;
}

/** Returns all answers unfolded completely, from the first on, up to `most` steps. */
export function unfoldedUpTo(trees: readonly ProofTree[], most: number): Set<string> {
  const unfolded = new Set<string>();
  let left = most;
  for (const tree of trees) {
    if (!hasPremises(tree)) continue;
    left -= tree.sizeOf(tree.root.id);
    if (left < 0) break;
    for (const key of keysBelow(tree, tree.root.id)) unfolded.add(key);
  }
  return unfolded;
}

/** Returns the unfolded lines with those added that hide a step. */
export function revealing(tree: ProofTree, unfolded: ReadonlySet<string>, id: number): Set<string> {
  const found = new Set(unfolded);
  for (let parent = tree.parentOf.get(id); parent !== undefined; parent = tree.parentOf.get(parent))
    found.add(keyOfStep(parent, tree.answer));
  return found;
}

/** Folds or unfolds the line; from a reference, moves to the line that shows the step in full. */
export function afterOpening(row: OutlineRow, { unfolded }: FoldState): FoldState {
  const { tree, step, key } = row;
  if (row.isReference)
    return { active: keyOfStep(step.id, tree.answer), unfolded: revealing(tree, unfolded, step.id) };
  const next = new Set(unfolded);
  if (isFoldable(row) && !next.delete(key)) next.add(key);
  return { active: key, unfolded: next };
}

/** Returns the line under the cursor, the first if there is none; undefined without lines. */
export function activeRow(rows: readonly OutlineRow[], active: string): OutlineRow | undefined {
  return rows.find(({ key }) => key === active) ?? rows[0];
}

/** Returns the state after a key; null for an unhandled key, such as Enter. `page`: number of lines in the view. */
export function afterKey(
  key: string,
  rows: readonly OutlineRow[],
  state: FoldState,
  page: number,
): FoldState | null {
  const row = activeRow(rows, state.active);
  if (row === undefined) return null;
  const { unfolded } = state;
  const { tree, step } = row;
  const index = rows.indexOf(row);
  const isUnfolded = isFoldable(row) && unfolded.has(row.key);
  const own = new Set([row.key]);
  const to = (target: number): FoldState => ({
    active: rows[Math.max(0, Math.min(rows.length - 1, target))]?.key ?? row.key,
    unfolded,
  });
  const change = (added: Iterable<string>, removed: ReadonlySet<string> = new Set()): FoldState => {
    if (!isFoldable(row)) return to(index);
    const left = [...unfolded].filter((each) => !removed.has(each));
    return { active: row.key, unfolded: new Set([...left, ...added]) };
  };
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
      return isUnfolded ? to(index + 1) : change(own);
    case 'ArrowLeft':
      return isUnfolded ? change([], own) : { active: row.parent ?? row.key, unfolded };
    case '+':
      return change(own);
    case '-':
      return change([], own);
    case '*':
      return change(keysBelow(tree, step.id));
    default:
      // A digit: exactly that many levels below the step.
      return /^[1-9]$/.test(key)
        ? change(keysBelow(tree, step.id, Number(key)), keysBelow(tree, step.id))
        : null;
  }
}
