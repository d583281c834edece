/**
 * Proofs as an outline: each answer is a line, and its graph of steps a tree in which every step is expanded at one
 * place.
 *
 * A shared step is shown in full at its first occurrence in its answer's tree and referenced elsewhere. Only unfolded
 * parts are laid out and no function recurses, so that proofs of a hundred thousand steps, chains of ten thousand and
 * pages of thousands of answers work like small ones.
 */
import type { Answer, Proof } from '../engine/contract/inference.ts';
import type { ChainedStep } from './chains.ts';

interface Layout {
  readonly parentOf: ReadonlyMap<number, number>;
  readonly sizeOf: ReadonlyMap<number, number>;
  readonly positionOf: ReadonlyMap<number, number>;
}

/** The tree of one answer's proof, laid out when it is first unfolded. */
export class ProofTree {
  readonly steps: ReadonlyMap<number, ChainedStep>;
  readonly root: ChainedStep;
  /** Index of the answer, from 0, and its text. */
  readonly answer: number;
  readonly text: string;
  #layout: Layout | null = null;

  /** `steps` by id. Without `root` among them the tree is the line `text` alone, an answer without its proof. */
  constructor(steps: ReadonlyMap<number, ChainedStep>, root: number, answer = 0, text = '') {
    this.steps = steps;
    this.root = steps.get(root) ?? {
      id: -1,
      atom: text,
      kind: 'fact',
      rule: null,
      ruleId: null,
      premises: [],
      scope: null,
    };
    this.answer = answer;
    this.text = text;
  }

  /** The step under which a step is shown in full; the root has none. */
  get parentOf(): ReadonlyMap<number, number> {
    return this.#laidOut.parentOf;
  }

  /** Position of a step when all are unfolded, without references, from 0. */
  get positionOf(): ReadonlyMap<number, number> {
    return this.#laidOut.positionOf;
  }

  /** Returns the number of steps shown from a step on when all are unfolded, itself included. */
  sizeOf(id: number): number {
    return this.#laidOut.sizeOf.get(id) ?? 1;
  }

  get #laidOut(): Layout {
    return (this.#layout ??= layoutOf(this));
  }
}

/** Returns false if the answer came without its proof. */
export function isProved({ steps, root }: ProofTree): boolean {
  return steps.has(root.id);
}

/** One visible line of the outline. */
export interface OutlineRow {
  /** Identifies the line while the proof is shown. */
  readonly key: string;
  readonly tree: ProofTree;
  readonly step: ChainedStep;
  /** From 1. */
  readonly level: number;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** Key of the parent line; null for a root. */
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

/** Returns true if the line has premises to fold and unfold. */
export function isFoldable(row: OutlineRow): boolean {
  return !row.isReference && row.step.premises.length > 0;
}

/** Returns true if the line is a folded chain with nothing below it: what can be unfolded is the chain itself. */
export function isClosedChain(row: Pick<OutlineRow, 'step' | 'isReference'>): boolean {
  return !row.isReference && row.step.chain !== undefined && row.step.premises.length === 0;
}

/** Returns true if the line stands for premises that are shown elsewhere. */
export function isPointer(row: OutlineRow): boolean {
  return row.isReference && row.step.premises.length > 0;
}

/** Returns the key of the line that shows a step of an answer in full. */
export function keyOfStep(id: number, answer = 0): string {
  return `${answer}:${id}`;
}

/** Returns the tree of one step of a proof. */
export function treeOf(proof: Proof, root: number): ProofTree {
  return new ProofTree(new Map(proof.steps.map((step) => [step.id, step])), root);
}

interface Part {
  readonly roots: readonly number[];
  readonly steps: readonly {
    readonly id: number;
    readonly premises?: readonly number[] | undefined;
    readonly alternatives?: readonly { readonly premises: readonly number[] }[] | undefined;
  }[];
}

/** Returns what a proof has of some of its steps: all that they rest on, alternatives included, in its order. */
export function partOf<Whole extends Part>(proof: Whole, roots: number[]): Whole {
  const steps = new Map(proof.steps.map((step) => [step.id, step]));
  const needed = new Set<number>();
  const pending = [...roots];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    const { premises = [], alternatives = [] } = steps.get(id) ?? {};
    for (const derivation of [{ premises }, ...alternatives])
      for (const premise of derivation.premises) pending.push(premise);
  }
  return { ...proof, roots, steps: proof.steps.filter(({ id }) => needed.has(id)) };
}

/** Returns the trees of a page of answers, of which `first` precede it. */
export function treesOf({ results, proof }: Pick<Answer, 'results' | 'proof'>, first = 0): ProofTree[] {
  const steps = new Map(proof?.steps.map((step) => [step.id, step]));
  return results.map(
    (text, index) => new ProofTree(steps, proof?.roots[index] ?? Number.NaN, first + index, text),
  );
}

function layoutOf({ root, steps }: ProofTree): Layout {
  const parentOf = new Map<number, number>();
  const order: number[] = [];
  const met = new Set<number>();
  const pending: { id: number; parent: number | null }[] = [{ id: root.id, parent: null }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const step = steps.get(next.id);
    if (step === undefined || met.has(next.id)) continue;
    met.add(next.id);
    order.push(next.id);
    if (next.parent !== null) parentOf.set(next.id, next.parent);
    for (const premise of step.premises.toReversed()) pending.push({ id: premise, parent: next.id });
  }
  const positionOf = new Map(order.map((id, place) => [id, place]));
  const sizeOf = new Map<number, number>();
  for (const id of order.reverse()) {
    const size = (sizeOf.get(id) ?? 0) + 1;
    sizeOf.set(id, size);
    const parent = parentOf.get(id);
    if (parent !== undefined) sizeOf.set(parent, (sizeOf.get(parent) ?? 0) + size);
  }
  return { parentOf, sizeOf, positionOf };
}

/**
 * Returns the visible lines from top to bottom. `unfolded`: keys of the unfolded lines. A search restricts the lines to
 * matches and their ancestors, and references to matches.
 */
export function visibleRows(
  trees: readonly ProofTree[],
  unfolded: ReadonlySet<string>,
  narrowing: Narrowing | null = null,
): OutlineRow[] {
  const rows: OutlineRow[] = [];
  for (const [index, tree] of trees.entries()) {
    const pending: OutlineRow[] = [
      {
        key: keyOfStep(tree.root.id, tree.answer),
        tree,
        step: tree.root,
        level: 1,
        position: index + 1,
        siblings: trees.length,
        parent: null,
        isReference: false,
        isCircle: false,
      },
    ];
    for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
      rows.push(row);
      if (!isFoldable(row) || !unfolded.has(row.key)) continue;
      const all = childrenOf(row);
      const children = narrowing === null ? all : narrowed(all, narrowing);
      for (const child of children.reverse()) pending.push(child);
    }
  }
  return rows;
}

/** The visible lines, with positions among one another. */
function narrowed(rows: readonly OutlineRow[], { matches, shown }: Narrowing): OutlineRow[] {
  const left = rows.filter((row) => (row.isReference ? matches : shown).has(row.step.id));
  return left.map((row, index) => ({ ...row, position: index + 1, siblings: left.length }));
}

function childrenOf({ tree, step: { id, premises }, key, level }: OutlineRow): OutlineRow[] {
  const children: OutlineRow[] = [];
  const shown = new Set<number>();
  for (const [index, premise] of premises.entries()) {
    const step = tree.steps.get(premise);
    if (step === undefined) continue;
    // A body may contain a premise twice: it is in full the first time.
    const isReference = tree.parentOf.get(premise) !== id || shown.has(premise);
    shown.add(premise);
    children.push({
      key: isReference ? `${key}.${index}` : keyOfStep(premise, tree.answer),
      tree,
      step,
      level: level + 1,
      position: index + 1,
      siblings: premises.length,
      parent: key,
      isReference,
      isCircle: isReference && isAtOrAbove(tree, premise, id),
    });
  }
  return children;
}

/** True if a step is `other` or an ancestor of it. */
function isAtOrAbove(tree: ProofTree, id: number, other: number): boolean {
  const from = (tree.positionOf.get(other) ?? -1) - (tree.positionOf.get(id) ?? 0);
  return from >= 0 && from < tree.sizeOf(id);
}

/** Returns the lines to unfold to show `depth` levels below a step, by default all. */
export function keysBelow(tree: ProofTree, from: number, depth = Number.POSITIVE_INFINITY): Set<string> {
  const found = new Set<string>();
  const pending = [{ id: from, left: depth }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { id, left } = next;
    const key = keyOfStep(id, tree.answer);
    const step = tree.steps.get(id);
    if (step === undefined || left <= 0 || found.has(key)) continue;
    found.add(key);
    for (const premise of step.premises)
      if (tree.parentOf.get(premise) === id) pending.push({ id: premise, left: left - 1 });
  }
  return found;
}
