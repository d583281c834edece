/**
 * Several answers and their proofs as one outline: each answer a line, its proof under it.
 *
 * Every answer's proof is whole by itself: a step that it uses in several places is shown once there, and referred to
 * from the others. A tree is laid out when its answer is first looked into, so that thousands of answers that share
 * a proof of thousands of steps cost no more than what is unfolded of them.
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

/** One answer; without `root` it came without its proof. */
export interface ProvedAnswer {
  readonly text: string;
  readonly root: ProofStep | null;
  /** Laid out when first called; null without a root. */
  tree(): ProofTree | null;
}

/** One visible line. A line without `step` is that of an answer without proof. */
export interface ForestRow extends Omit<OutlineRow, 'step'> {
  readonly conclusion: ProvedAnswer;
  /** Place of the answer among all, from 0. */
  readonly index: number;
  readonly step: ProofStep | null;
}

/** Ids of the steps whose premises are shown, by the place of their answer. */
export type Unfolded = ReadonlyMap<number, ReadonlySet<number>>;

/** Lines that unfolding everything makes at most. */
export const mostUnfolded = 20_000;
/** Lines of several answers that are shown with their proofs at first: what is in sight without scrolling. */
const fewLines = 16;

/** The answers of a page with their proofs. A root whose step is missing counts as no proof. */
export function provedAnswersOf({ results, proof }: Answer): ProvedAnswer[] {
  const steps = proof === undefined ? new Map<number, ProofStep>() : stepsById(proof);
  return results.map((text, index) => {
    const root = steps.get(proof?.roots[index] ?? Number.NaN) ?? null;
    let tree: ProofTree | null = null;
    return { text, root, tree: () => (root === null ? null : (tree ??= treeOf(steps, root.id))) };
  });
}

/** True where the answer's proof is more than the fact that it is. */
export function isProved({ root }: ProvedAnswer): boolean {
  return root !== null && root.premises.length > 0;
}

/** True where something can be unfolded under the line. */
export function canUnfold({ step, isReference }: ForestRow): boolean {
  return step !== null && !isReference && step.premises.length > 0;
}

export function isUnfolded(row: ForestRow, unfolded: Unfolded): boolean {
  return row.step !== null && unfolded.get(row.index)?.has(row.step.id) === true;
}

/** Steps under the line when all is unfolded. */
export function stepsUnder({ step, conclusion }: ForestRow): number {
  return step === null ? 0 : (conclusion.tree()?.sizeOf.get(step.id) ?? 1) - 1;
}

/** The key of the line in which a step of an answer is shown whole. */
export function keyIn(index: number, id: number): string {
  return `${index}:${keyOfStep(id)}`;
}

/** The lines from top to bottom. */
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

/** What is unfolded at first: of a single answer what the workbench unfolds, of several everything or nothing. */
export function unfoldedAtFirst(conclusions: readonly ProvedAnswer[]): Unfolded {
  const [only] = conclusions;
  const tree = conclusions.length === 1 ? only?.tree() : null;
  if (tree !== null && tree !== undefined) return new Map([[0, initiallyUnfolded(tree)]]);
  if (conclusions.length > fewLines) return new Map();
  const unfolded = unfoldedUpTo(conclusions, fewLines);
  const isAll = unfolded.size === conclusions.filter(isProved).length;
  return isAll && forestRows(conclusions, unfolded).length <= fewLines ? unfolded : new Map();
}

/** Every answer unfolded to its last step, from the first on, while there are no more than `most` steps. */
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

/** With the line's premises shown, or with `all` everything under it. */
export function withUnfolded(unfolded: Unfolded, row: ForestRow, all = false): Unfolded {
  const tree = row.conclusion.tree();
  if (row.step === null || tree === null) return unfolded;
  const added = all ? stepsBelow(tree, row.step.id) : [row.step.id];
  return withSteps(unfolded, row.index, [...(unfolded.get(row.index) ?? []), ...added]);
}

export function withFolded(unfolded: Unfolded, row: ForestRow): Unfolded {
  const kept = new Set(unfolded.get(row.index));
  if (row.step !== null) kept.delete(row.step.id);
  return withSteps(unfolded, row.index, kept);
}

/** With everything unfolded that hides the place where the line's step is shown whole. */
export function withUnfoldedTo(unfolded: Unfolded, row: ForestRow): Unfolded {
  const tree = row.conclusion.tree();
  if (row.step === null || tree === null) return unfolded;
  const above = stepsAbove(tree, row.step.id);
  return withSteps(unfolded, row.index, [...(unfolded.get(row.index) ?? []), ...above]);
}

function withSteps(unfolded: Unfolded, index: number, steps: Iterable<number>): Unfolded {
  return new Map([...unfolded, [index, new Set(steps)]]);
}
