/**
 * A proof as an outline: the graph of steps laid out as a tree in which every step is unfolded in one place.
 *
 * A step that several others stand on is shown whole where the outline first meets it; everywhere else stands a
 * reference to that place. Only what is unfolded is laid out, and no function recurses, so that proofs of a
 * hundred thousand steps and chains of ten thousand are as good as small ones.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';

export interface ProofTree {
  readonly root: number;
  readonly steps: ReadonlyMap<number, ProofStep>;
  /** The step under which a step is shown whole; the root has none. */
  readonly parentOf: ReadonlyMap<number, number>;
  /** Steps shown under a step when all is unfolded, itself included. */
  readonly sizeOf: ReadonlyMap<number, number>;
  /** The place of a step when all is unfolded, references aside, from 0. */
  readonly placeOf: ReadonlyMap<number, number>;
}

/** One visible line of the outline. */
export interface OutlineRow {
  /** Names the line as long as the proof is shown. */
  readonly key: string;
  readonly step: ProofStep;
  /** From 1. */
  readonly level: number;
  /** Place among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** Key of the line it stands under; null for the root. */
  readonly parent: string | null;
  /** True where the step is shown whole elsewhere. */
  readonly isReference: boolean;
  /** True where the step is one of those it stands under: the way that was chosen there runs in a circle. */
  readonly isCircle: boolean;
}

/** Which steps of a proof are shown while one searches in it. */
export interface Narrowing {
  readonly matches: ReadonlySet<number>;
  /** The matches, and the steps that they stand under. */
  readonly shown: ReadonlySet<number>;
}

/** True where a step stands on others. */
export function isFoldable(row: OutlineRow): boolean {
  return !row.isReference && row.step.premises.length > 0;
}

/** The key of the line where a step is shown whole. */
export function keyOfStep(id: number): string {
  return String(id);
}

/** Steps of a proof by their ids: what the trees of several of its roots share. */
export function stepsById(proof: Proof): ReadonlyMap<number, ProofStep> {
  return new Map(proof.steps.map((step) => [step.id, step]));
}

/** Lays out the proof of `root`, one of the proof's roots. */
export function buildTree(proof: Proof, root: number): ProofTree {
  return treeOf(stepsById(proof), root);
}

/** The same where the steps are at hand by their ids. */
export function treeOf(steps: ReadonlyMap<number, ProofStep>, root: number): ProofTree {
  const parentOf = new Map<number, number>();
  const order: number[] = [];
  const met = new Set<number>();
  const pending: { id: number; parent: number | null }[] = [{ id: root, parent: null }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const step = steps.get(next.id);
    if (step === undefined || met.has(next.id)) continue;
    met.add(next.id);
    order.push(next.id);
    if (next.parent !== null) parentOf.set(next.id, next.parent);
    for (const premise of [...step.premises].reverse()) pending.push({ id: premise, parent: next.id });
  }
  const placeOf = new Map(order.map((id, place) => [id, place]));
  const sizeOf = new Map<number, number>();
  for (const id of order.reverse()) {
    const size = (sizeOf.get(id) ?? 0) + 1;
    sizeOf.set(id, size);
    const parent = parentOf.get(id);
    if (parent !== undefined) sizeOf.set(parent, (sizeOf.get(parent) ?? 0) + size);
  }
  return { root, steps, parentOf, sizeOf, placeOf };
}

/**
 * The lines of the outline from top to bottom. `unfolded` holds the ids of steps whose premises are shown.
 * Narrowed down, only matches and what they stand under have lines; one that is shown elsewhere, if it matches.
 */
export function visibleRows(
  tree: ProofTree,
  unfolded: ReadonlySet<number>,
  narrowing: Narrowing | null = null,
): OutlineRow[] {
  const rows: OutlineRow[] = [];
  const root = tree.steps.get(tree.root);
  if (root === undefined) return rows;
  const pending: OutlineRow[] = [
    {
      key: keyOfStep(root.id),
      step: root,
      level: 1,
      position: 1,
      siblings: 1,
      parent: null,
      isReference: false,
      isCircle: false,
    },
  ];
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    rows.push(row);
    if (!isFoldable(row) || !unfolded.has(row.step.id)) continue;
    const all = childrenOf(tree, row);
    const children = narrowing === null ? all : narrowed(all, narrowing);
    for (const child of children.reverse()) pending.push(child);
  }
  return rows;
}

/** Those of the lines that are shown, with their places among one another. */
function narrowed(rows: readonly OutlineRow[], { matches, shown }: Narrowing): OutlineRow[] {
  const left = rows.filter((row) => (row.isReference ? matches : shown).has(row.step.id));
  return left.map((row, index) => ({ ...row, position: index + 1, siblings: left.length }));
}

function childrenOf(tree: ProofTree, row: OutlineRow): OutlineRow[] {
  const { premises, id } = row.step;
  const children: OutlineRow[] = [];
  const shown = new Set<number>();
  for (const [index, premise] of premises.entries()) {
    const step = tree.steps.get(premise);
    if (step === undefined) continue;
    // A premise may stand twice in one body: whole the first time.
    const isReference = tree.parentOf.get(premise) !== id || shown.has(premise);
    shown.add(premise);
    children.push({
      key: isReference ? `${row.key}.${index}` : keyOfStep(premise),
      step,
      level: row.level + 1,
      position: index + 1,
      siblings: premises.length,
      parent: row.key,
      isReference,
      isCircle: isReference && isAtOrAbove(tree, premise, id),
    });
  }
  return children;
}

/** True where a step is the other, or one of those that the other stands under. */
function isAtOrAbove(tree: ProofTree, id: number, other: number): boolean {
  const from = (tree.placeOf.get(other) ?? -1) - (tree.placeOf.get(id) ?? 0);
  return from >= 0 && from < (tree.sizeOf.get(id) ?? 0);
}

/** The steps to unfold so that `depth` levels below `from` are shown; all where not given. */
export function stepsBelow(tree: ProofTree, from: number, depth = Number.POSITIVE_INFINITY): Set<number> {
  const found = new Set<number>();
  const pending = [{ id: from, left: depth }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { id, left } = next;
    const step = tree.steps.get(id);
    if (step === undefined || left <= 0 || found.has(id)) continue;
    found.add(id);
    for (const premise of step.premises)
      if (tree.parentOf.get(premise) === id) pending.push({ id: premise, left: left - 1 });
  }
  return found;
}

/** The steps that must be unfolded for a step to be seen. */
export function stepsAbove(tree: ProofTree, id: number): Set<number> {
  const found = new Set<number>();
  for (let parent = tree.parentOf.get(id); parent !== undefined; parent = tree.parentOf.get(parent))
    found.add(parent);
  return found;
}

const fewSteps = 40;

/** What is unfolded at first: all of a small proof, the first levels of a large one. */
export function initiallyUnfolded(tree: ProofTree): Set<number> {
  const size = tree.sizeOf.get(tree.root) ?? 0;
  return size <= fewSteps ? stepsBelow(tree, tree.root) : stepsBelow(tree, tree.root, 3);
}
