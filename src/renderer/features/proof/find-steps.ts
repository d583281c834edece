/** Searching in a proof: the steps whose statements contain a text, with those that they stand under. */
import { type Narrowing, type ProofTree, stepsAbove } from './proof-tree.ts';

export interface FoundSteps extends Narrowing {
  /** What must be unfolded for all matches to be seen. */
  readonly above: ReadonlySet<number>;
  /** The matches in the order of the outline. */
  readonly inOrder: readonly number[];
}

/** The steps whose statements contain the text, whatever the case. */
export function findSteps(tree: ProofTree, text: string): FoundSteps {
  const wanted = text.trim().toLowerCase();
  const inOrder: number[] = [];
  const above = new Set<number>();
  for (const id of tree.placeOf.keys()) {
    const step = tree.steps.get(id);
    if (step?.atom.toLowerCase().includes(wanted) !== true) continue;
    inOrder.push(id);
    // Where one step above was noted, those above it were too.
    for (let at = tree.parentOf.get(id); at !== undefined && !above.has(at); at = tree.parentOf.get(at))
      above.add(at);
  }
  const matches = new Set(inOrder);
  return { inOrder, above, matches, shown: new Set([...above, ...matches, tree.root]) };
}

/** The match after (or with -1 before) a step in the order of the outline, round and round; null where there is none. */
export function nextMatch(tree: ProofTree, found: FoundSteps, from: number, by: 1 | -1): number | null {
  const { inOrder } = found;
  const place = tree.placeOf.get(from) ?? -1;
  const placeOf = (id: number) => tree.placeOf.get(id) ?? 0;
  const next =
    by === 1
      ? (inOrder.find((id) => placeOf(id) > place) ?? inOrder[0])
      : (inOrder.findLast((id) => placeOf(id) < place) ?? inOrder.at(-1));
  return next ?? null;
}

/** What stays unfolded when the search ends at a step: what was, and what hides the step. */
export function unfoldedAfter(tree: ProofTree, unfolded: ReadonlySet<number>, at: number): Set<number> {
  return new Set([...unfolded, ...stepsAbove(tree, at)]);
}
