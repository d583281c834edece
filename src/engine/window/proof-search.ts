/**
 * Finds the smallest proof that fits, by searching an AND/OR graph of conclusions and the ways to derive them.
 *
 * A proof chooses one way for each part of each of its nodes and has no cycles. Its size is the number of entries that
 * the window does not have yet; ties are broken by fewest characters, then by the sorted atoms. The search finds this
 * minimum if it ends within `maxChoices`, otherwise the best proof found so far. Callers build the graph; the trial
 * decides what fits.
 */
import { TextMap } from '../base/text-map.ts';
import { present } from '../base/assert.ts';
import { compareText, compareTexts } from '../base/text-order.ts';

/** A node of the graph. */
export interface ProofNode {
  /** The atom that it adds to a window; null: none, for an absence, a built-in or an aggregate. */
  readonly atom: string | null;
  /**
   * Each part must be proved in one of its ways, which are lists of node numbers; an empty list needs nothing. null:
   * unusable.
   */
  readonly parts: readonly ProofGoal[] | null;
}

type ProofGoal = readonly (readonly number[])[];

/** The window into which the proof must fit. */
export interface ProofTrial {
  /** True if the atom is in the window. */
  has(atom: string): boolean;
  /** Adds the atom if it fits. */
  add(atom: string): boolean;
  /** Removes the atom that was added last. */
  remove(atom: string): void;
}

interface SearchLimits {
  readonly maxChoices: number;
  /** Lets others run; called now and then. */
  readonly breathe: () => Promise<void>;
}

const choicesBetweenBreaths = 64;

/** The chosen way of each part of a node, by index, and its height: for an atom one more than its highest premise. */
interface FoundProof {
  readonly ways: readonly number[];
  readonly height: number;
}

/**
 * What the allowed nodes can prove, each after its premises: at minimal height, and for each part the first way that
 * achieves it.
 */
export async function provable(
  nodes: readonly ProofNode[],
  isAllowed: (node: number) => boolean,
  breathe: () => Promise<void>,
): Promise<Map<number, FoundProof>> {
  const proved = new Map<number, FoundProof>();
  const waits = new DependencyCounters();
  let ready: number[] = [];
  for (const [node, { parts }] of nodes.entries()) {
    if ((node & 0xff) === 0xff) await breathe();
    if (parts !== null && isAllowed(node) && waits.enter(node, parts)) ready.push(node);
  }
  for (let height = 0; ready.length > 0; height++) {
    // Aggregates have the height of their premises and become ready at once.
    const higher: number[] = [];
    while (ready.length > 0) {
      const found: [number, number[]][] = [];
      for (const node of ready) {
        if ((found.length & 0xff) === 0xff) await breathe();
        found.push([node, waysProved(nodes[node], proved)]);
      }
      ready = [];
      for (const [node, ways] of found) proved.set(node, { ways, height });
      for (const [node] of found)
        for (const next of waits.proved(node))
          if (nodes[next]?.atom === null) ready.push(next);
          else higher.push(next);
      await breathe();
    }
    ready = higher;
  }
  return proved;
}

/** For each part of the node, its first way whose premises are all proved. */
function waysProved(node: ProofNode | undefined, proved: ReadonlyMap<number, FoundProof>): number[] {
  return (node?.parts ?? []).map((part) =>
    part.findIndex((way) => way.every((premise) => proved.has(premise))),
  );
}

/** Dependency counters: for every way its unproved premises, for every node its open parts. */
class DependencyCounters {
  readonly #ofPremise = new Map<number, { node: number; part: object; way: { left: number } }[]>();
  readonly #parts = new Map<number, Set<object>>();

  /** Adds a node. True if it waits for nothing. */
  enter(node: number, parts: readonly ProofGoal[]): boolean {
    const open = new Set<object>(parts);
    this.#parts.set(node, open);
    for (const part of parts)
      for (const premises of part) {
        const way = { left: premises.length };
        if (way.left === 0) open.delete(part);
        for (const premise of premises) {
          const readers = this.#ofPremise.get(premise);
          if (readers === undefined) this.#ofPremise.set(premise, [{ node, part, way }]);
          else readers.push({ node, part, way });
        }
      }
    return open.size === 0;
  }

  /** Marks the node as proved and returns the nodes that became ready. */
  proved(proved: number): number[] {
    const ready: number[] = [];
    for (const { node, part, way } of this.#ofPremise.get(proved) ?? []) {
      const open = this.#parts.get(node);
      if (--way.left > 0 || open === undefined || !open.delete(part)) continue;
      if (open.size === 0) ready.push(node);
    }
    return ready;
  }
}

/** The new atoms of the smallest proof of the root that fits; null: none found. Leaves the trial unchanged. */
export async function smallestProof(
  nodes: readonly ProofNode[],
  root: number,
  trial: ProofTrial,
  limits: SearchLimits,
): Promise<readonly string[] | null> {
  const { maxChoices, breathe } = limits;
  const proved = await provable(nodes, () => true, breathe);
  if (!proved.has(root)) return null;
  const search = new Search(nodes, proved, trial);
  try {
    search.begin(root);
    for (let choices = 0; choices < maxChoices && search.step(); choices++)
      if ((choices & (choicesBetweenBreaths - 1)) === 0) await breathe();
  } finally {
    search.end();
  }
  return search.best?.atoms ?? null;
}

/** A part of a node for which a way must be chosen. */
interface Item {
  readonly node: number;
  readonly part: number;
}

/** A choice point of the search. */
interface Frame extends Item {
  /** Indexes of its ways in the order in which they are tried. */
  readonly ways: readonly number[];
  next: number;
  /** Nodes that the current way added. */
  added: readonly number[];
  /** The remaining choices. */
  readonly others: readonly Item[];
}

interface Found {
  /** Sorted. */
  readonly atoms: readonly string[];
  readonly chars: number;
}

/** Depth-first branch and bound over choices of ways, bounded by the best proof so far. */
class Search {
  best: Found | null = null;
  readonly #nodes: readonly ProofNode[];
  readonly #proved: ReadonlyMap<number, FoundProof>;
  readonly #trial: ProofTrial;
  readonly #frames: Frame[] = [];
  /** The nodes of the current proof with the way chosen for each part; -1: none yet. */
  readonly #chosen = new Map<number, number[]>();
  /** By atom, the number of its nodes in the proof; without atoms that the window already has. */
  readonly #counts = new TextMap<number>();
  #chars = 0;
  #rootAdded: readonly number[] = [];

  constructor(nodes: readonly ProofNode[], proved: ReadonlyMap<number, FoundProof>, trial: ProofTrial) {
    this.#nodes = nodes;
    this.#proved = proved;
    this.#trial = trial;
  }

  begin(root: number): void {
    const { added, fits } = this.#addNodes([root]);
    this.#rootAdded = added;
    if (fits) this.#choose(added.flatMap((node) => this.#itemsOf(node)));
  }

  /** Removes everything that was added. */
  end(): void {
    for (let top = this.#frames.pop(); top !== undefined; top = this.#frames.pop()) this.#remove(top.added);
    this.#remove(this.#rootAdded);
  }

  /** Tries the next way; false if all were tried. */
  step(): boolean {
    const top = this.#frames.at(-1);
    if (top === undefined) return false;
    this.#remove(top.added);
    top.added = [];
    const choices = present(this.#chosen.get(top.node), 'its node is in the proof');
    choices[top.part] = -1;
    const way = top.ways[top.next++];
    if (way === undefined) {
      this.#frames.pop();
      return true;
    }
    const premises = this.#premises(top, way);
    if (this.#dependsOn(premises, top.node)) return true;
    choices[top.part] = way;
    const { added, fits } = this.#addNodes(premises);
    top.added = added;
    if (fits && !this.#isWorse())
      this.#choose([...top.others, ...added.flatMap((node) => this.#itemsOf(node))]);
    return true;
  }

  /** Continues with the item that has the fewest ways; if none is left, the proof is complete. */
  #choose(items: readonly Item[]): void {
    let next: Item | null = null;
    let minWays = Number.POSITIVE_INFINITY;
    for (const item of items) {
      const count = this.#part(item).length;
      if (count >= minWays) continue;
      next = item;
      minWays = count;
    }
    if (next === null) {
      this.#keepIfBetter();
      return;
    }
    const others = items.filter((item) => item !== next);
    this.#frames.push({ ...next, ways: this.#sortedWays(next), next: 0, added: [], others });
  }

  /** The provable ways, those with the fewest new atoms first. */
  #sortedWays(item: Item): number[] {
    const part = this.#part(item);
    const news = part.map((way) => {
      let count = 0;
      for (const premise of new Set(way)) if (this.#isNew(premise)) count++;
      return count;
    });
    return [...part.keys()]
      .filter((way) => part[way]?.every((premise) => this.#proved.has(premise)))
      .sort((left, right) => (news[left] as number) - (news[right] as number) || left - right);
  }

  #isNew(node: number): boolean {
    const { atom } = this.#nodes[node] as ProofNode;
    return atom !== null && !this.#counts.has(atom) && !this.#trial.has(atom);
  }

  #part({ node, part }: Item): ProofGoal {
    return this.#nodes[node]?.parts?.[part] ?? [];
  }

  #premises(item: Item, way: number): readonly number[] {
    return this.#part(item)[way] ?? [];
  }

  #itemsOf(node: number): Item[] {
    return (this.#nodes[node]?.parts ?? []).map((_, part) => ({ node, part }));
  }

  /** True if one of these nodes is the given node or depends on it through the chosen ways. */
  #dependsOn(premises: readonly number[], node: number): boolean {
    const seen = new Set<number>();
    const open = [...premises];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === node) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      for (const [part, way] of (this.#chosen.get(next) ?? []).entries())
        if (way >= 0) open.push(...this.#premises({ node: next, part }, way));
    }
    return false;
  }

  /** Adds nodes to the proof. `added`: the new ones up to the first that does not fit. */
  #addNodes(nodes: readonly number[]): { added: readonly number[]; fits: boolean } {
    const added: number[] = [];
    for (const node of nodes) {
      if (this.#chosen.has(node)) continue;
      const { atom, parts } = this.#nodes[node] as ProofNode;
      if (atom !== null && !this.#addAtom(atom)) return { added, fits: false };
      this.#chosen.set(
        node,
        (parts ?? []).map(() => -1),
      );
      added.push(node);
    }
    return { added, fits: true };
  }

  #addAtom(atom: string): boolean {
    const count = this.#counts.get(atom) ?? 0;
    if (count === 0) {
      if (this.#trial.has(atom)) return true;
      if (!this.#trial.add(atom)) return false;
      this.#chars += atom.length;
    }
    this.#counts.set(atom, count + 1);
    return true;
  }

  #remove(added: readonly number[]): void {
    for (let at = added.length - 1; at >= 0; at--) {
      const node = added[at] as number;
      this.#chosen.delete(node);
      const { atom } = this.#nodes[node] as ProofNode;
      const count = atom === null ? undefined : this.#counts.get(atom);
      if (atom === null || count === undefined) continue;
      if (count > 1) this.#counts.set(atom, count - 1);
      else {
        this.#counts.delete(atom);
        this.#chars -= atom.length;
        this.#trial.remove(atom);
      }
    }
  }

  /** True if every completion of the proof is worse than the best. */
  #isWorse(): boolean {
    if (this.best === null) return false;
    const count = this.#counts.size - this.best.atoms.length;
    return count > 0 || (count === 0 && this.#chars > this.best.chars);
  }

  #keepIfBetter(): void {
    if (this.#isWorse()) return;
    const atoms = [...this.#counts.keys()].sort(compareText);
    const { best } = this;
    const isBetter =
      best === null ||
      atoms.length < best.atoms.length ||
      this.#chars < best.chars ||
      compareTexts(atoms, best.atoms) < 0;
    if (isBetter) this.best = { atoms, chars: this.#chars };
  }
}
