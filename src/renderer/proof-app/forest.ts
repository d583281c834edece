/**
 * Several answers with proofs as one outline: each answer a line with its proof below.
 *
 * Each answer's proof is complete: a step used several times is shown once in it and referenced elsewhere. A tree is
 * built when its answer is first opened, so that thousands of answers sharing a proof of thousands of steps cost only
 * what is unfolded.
 */
import type { Answer, ProofStep } from '../../engine/contract/inference.ts';
import {
  initiallyUnfolded,
  keyOfStep,
  type OutlineRow,
  type ProofTree,
  stepsAbove,
  stepsBelow,
  stepsById,
  treeOf,
  visibleRows,
} from '../features/proof/proof-tree.ts';

/** An answer; without `root` its proof is missing. */
export interface ProvedAnswer {
  readonly text: string;
  readonly root: ProofStep | null;
  /** Built on the first call; null without a root. */
  tree(): ProofTree | null;
}

/** One visible line; without `step` it is an answer without proof. */
export interface ForestRow extends Omit<OutlineRow, 'step'> {
  readonly conclusion: ProvedAnswer;
  /** Index of the answer, from 0. */
  readonly index: number;
  readonly step: ProofStep | null;
}

/** Ids of the unfolded steps, by index of their answer. */
export type Unfolded = ReadonlyMap<number, ReadonlySet<number>>;

/** Maximum number of lines after unfolding everything. */
export const maxUnfolded = 20_000;
/** With several answers, at most this many lines start unfolded: what is visible without scrolling. */
const maxInitialLines = 16;

/** Returns the answers of a page with their proofs. A root whose step is missing counts as no proof. */
export function provedAnswersOf({ results, proof }: Answer): ProvedAnswer[] {
  const steps = proof === undefined ? new Map<number, ProofStep>() : stepsById(proof);
  return results.map((text, index) => {
    const root = steps.get(proof?.roots[index] ?? Number.NaN) ?? null;
    let tree: ProofTree | null = null;
    return { text, root, tree: () => (root === null ? null : (tree ??= treeOf(steps, root.id))) };
  });
}

/** Returns true if the proof consists of more than a fact. */
export function isProved({ root }: ProvedAnswer): boolean {
  return root !== null && root.premises.length > 0;
}

/** Returns true if the line has something to unfold. */
export function canUnfold({ step, isReference }: ForestRow): boolean {
  return step !== null && !isReference && step.premises.length > 0;
}

/** Returns true if the line is unfolded. */
export function isUnfolded(row: ForestRow, unfolded: Unfolded): boolean {
  return row.step !== null && unfolded.get(row.index)?.has(row.step.id) === true;
}

/** Returns the number of steps below the line when all are unfolded. */
export function stepsUnder({ step, conclusion }: ForestRow): number {
  return step === null ? 0 : (conclusion.tree()?.sizeOf.get(step.id) ?? 1) - 1;
}

/** Returns the key of the line that shows a step of an answer in full. */
export function keyIn(index: number, id: number): string {
  return `${index}:${keyOfStep(id)}`;
}

/** Returns the lines from top to bottom. */
export function forestRows(conclusions: readonly ProvedAnswer[], unfolded: Unfolded): ForestRow[] {
  const rows: ForestRow[] = [];
  for (const [index, conclusion] of conclusions.entries()) {
    const shown = unfolded.get(index);
    const isOpen = conclusion.root !== null && shown?.has(conclusion.root.id) === true;
    const place = { conclusion, index };
    const tree = isOpen ? conclusion.tree() : null;
    if (tree === null || shown === undefined) {
      rows.push({ ...place, ...foldedLine(conclusion, index), siblings: conclusions.length });
      continue;
    }
    for (const row of visibleRows(tree, shown)) {
      const isTop = row.parent === null;
      rows.push({
        ...row,
        ...place,
        key: `${index}:${row.key}`,
        parent: isTop ? null : `${index}:${row.parent}`,
        position: isTop ? index + 1 : row.position,
        siblings: isTop ? conclusions.length : row.siblings,
      });
    }
  }
  return rows;
}

function foldedLine({ root }: ProvedAnswer, index: number) {
  const key = root === null ? `${index}:` : keyIn(index, root.id);
  const line = { key, step: root, level: 1, position: index + 1, parent: null };
  return { ...line, isReference: false, isCircle: false };
}

/** Returns what is unfolded initially: for a single answer as in the workbench, for several everything or nothing. */
export function unfoldedAtFirst(conclusions: readonly ProvedAnswer[]): Unfolded {
  const [only] = conclusions;
  const tree = conclusions.length === 1 ? only?.tree() : null;
  if (tree !== null && tree !== undefined) return new Map([[0, initiallyUnfolded(tree)]]);
  if (conclusions.length > maxInitialLines) return new Map();
  const unfolded = unfoldedUpTo(conclusions, maxInitialLines);
  const isAll = unfolded.size === conclusions.filter(isProved).length;
  return isAll && forestRows(conclusions, unfolded).length <= maxInitialLines ? unfolded : new Map();
}

/** Returns all answers unfolded completely, from the first on, up to `most` steps. */
export function unfoldedUpTo(conclusions: readonly ProvedAnswer[], most: number): Unfolded {
  const unfolded = new Map<number, ReadonlySet<number>>();
  let left = most;
  for (const [index, conclusion] of conclusions.entries()) {
    if (!isProved(conclusion)) continue;
    const tree = conclusion.tree();
    const size = tree?.sizeOf.get(tree.root) ?? 0;
    if (tree === null || size > left) break;
    left -= size;
    unfolded.set(index, stepsBelow(tree, tree.root));
  }
  return unfolded;
}

/** Unfolds the line's premises, or with `all` everything below it. */
export function withUnfolded(unfolded: Unfolded, row: ForestRow, all = false): Unfolded {
  const tree = row.conclusion.tree();
  if (row.step === null || tree === null) return unfolded;
  const added = all ? stepsBelow(tree, row.step.id) : [row.step.id];
  return withSteps(unfolded, row.index, [...(unfolded.get(row.index) ?? []), ...added]);
}

/** Folds the line. */
export function withFolded(unfolded: Unfolded, row: ForestRow): Unfolded {
  const kept = new Set(unfolded.get(row.index));
  if (row.step !== null) kept.delete(row.step.id);
  return withSteps(unfolded, row.index, kept);
}

/** Unfolds what hides the line that shows the step in full. */
export function withUnfoldedTo(unfolded: Unfolded, row: ForestRow): Unfolded {
  const tree = row.conclusion.tree();
  if (row.step === null || tree === null) return unfolded;
  const above = stepsAbove(tree, row.step.id);
  return withSteps(unfolded, row.index, [...(unfolded.get(row.index) ?? []), ...above]);
}

function withSteps(unfolded: Unfolded, index: number, steps: Iterable<number>): Unfolded {
  return new Map([...unfolded, [index, new Set(steps)]]);
}
