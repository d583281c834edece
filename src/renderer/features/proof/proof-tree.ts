/**
 * A proof as an outline: its graph of steps laid out as a tree in which every step is expanded at one place.
 *
 * A shared step is shown in full at its first occurrence in the outline and referenced elsewhere. Only unfolded parts
 * are laid out and no function recurses, so that proofs of a hundred thousand steps and chains of ten thousand work
 * like small ones.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';

/** The tree of a proof. */
export interface ProofTree {
  readonly root: number;
  readonly steps: ReadonlyMap<number, ProofStep>;
  /** The step under which a step is shown in full; the root has none. */
  readonly parentOf: ReadonlyMap<number, number>;
  /** Number of steps below a step when all are unfolded, itself included. */
  readonly sizeOf: ReadonlyMap<number, number>;
  /** Position of a step when all are unfolded, without references, from 0. */
  readonly positionOf: ReadonlyMap<number, number>;
}

/** One visible line of the outline. */
export interface OutlineRow {
  /** Identifies the line while the proof is shown. */
  readonly key: string;
  readonly step: ProofStep;
  /** From 1. */
  readonly level: number;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** Key of the parent line; null for the root. */
  readonly parent: string | null;
  /** True if the step is shown in full elsewhere. */
  readonly isReference: boolean;
  /** True if the step is one of its own ancestors: the chosen alternative is circular. */
  readonly isCircle: boolean;
}

/** The steps that a search shows. */
export interface Narrowing {
  readonly matches: ReadonlySet<number>;
  /** The matches and their ancestors. */
  readonly shown: ReadonlySet<number>;
}

/** Returns true if the step has premises. */
export function isFoldable(row: OutlineRow): boolean {
  return !row.isReference && row.step.premises.length > 0;
}

/** Returns the key of the line that shows a step in full. */
export function keyOfStep(id: number): string {
  return String(id);
}

/** Returns the steps of a proof by id, shared by the trees of its roots. */
export function stepsById(proof: Proof): ReadonlyMap<number, ProofStep> {
  return new Map(proof.steps.map((step) => [step.id, step]));
}

/** Builds the tree of `root`, one of the proof's roots. */
export function buildTree(proof: Proof, root: number): ProofTree {
  return treeOf(stepsById(proof), root);
}

/** Builds the same from steps by id. */
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
  const positionOf = new Map(order.map((id, place) => [id, place]));
  const sizeOf = new Map<number, number>();
  for (const id of order.reverse()) {
    const size = (sizeOf.get(id) ?? 0) + 1;
    sizeOf.set(id, size);
    const parent = parentOf.get(id);
    if (parent !== undefined) sizeOf.set(parent, (sizeOf.get(parent) ?? 0) + size);
  }
  return { root, steps, parentOf, sizeOf, positionOf };
}

/**
 * Returns the visible lines from top to bottom. `unfolded` contains the ids of unfolded steps. A search restricts the
 * lines to matches and their ancestors, and references to matches.
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

/** The visible lines, with positions among one another. */
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
    // A body may contain a premise twice: it is in full the first time.
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

/** True if a step is `other` or an ancestor of it. */
function isAtOrAbove(tree: ProofTree, id: number, other: number): boolean {
  const from = (tree.positionOf.get(other) ?? -1) - (tree.positionOf.get(id) ?? 0);
  return from >= 0 && from < (tree.sizeOf.get(id) ?? 0);
}

/** Returns the steps to unfold to show `depth` levels below `from`, by default all. */
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

/** Returns the steps to unfold so that a step is visible. */
export function stepsAbove(tree: ProofTree, id: number): Set<number> {
  const found = new Set<number>();
  for (let parent = tree.parentOf.get(id); parent !== undefined; parent = tree.parentOf.get(parent))
    found.add(parent);
  return found;
}

const maxInitialSteps = 40;

/** Returns the initial state: a small proof unfolded completely, the first levels of a large one. */
export function initiallyUnfolded(tree: ProofTree): Set<number> {
  const size = tree.sizeOf.get(tree.root) ?? 0;
  return size <= maxInitialSteps ? stepsBelow(tree, tree.root) : stepsBelow(tree, tree.root, 3);
}
