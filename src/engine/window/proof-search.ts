/**
 * The smallest proof that fits, among all ways to prove something: a search in a graph of conclusions and ways to them.
 *
 * A proof chooses for each part of each of its nodes one way, and no node rests on itself. Its size is the number of
 * entries that the window does not have yet: of several the one with fewest characters, then the one whose atoms, in
 * order, come first. That is what the search finds wherever it ends within `mostChoices`; past that, the best until
 * then. The graph is made elsewhere; what fits, the trial says.
 */
import { present } from '../base/assert.ts';
import { compareText, compareTexts } from '../base/text-order.ts';

/** What can stand in a proof. */
export interface ProofNode {
  /** The atom that it adds to a window; null: none, since it is an absence, a built-in or an aggregate. */
  readonly atom: string | null;
  /**
   * Each part is to be proved in one of its ways, which are lists of numbers of nodes; none: nothing is needed. null:
   * it cannot be used.
   */
  readonly parts: readonly ProofGoal[] | null;
}

export type ProofGoal = readonly (readonly number[])[];

/** The window that the proof is to be put in. */
export interface Trial {
  /** True where the atom is in the window. */
  has(atom: string): boolean;
  /** Takes the atom where it fits. */
  add(atom: string): boolean;
  /** Gives back what was taken last. */
  remove(atom: string): void;
}

export interface SearchLimits {
  readonly mostChoices: number;
  /** Lets others run; called now and then. */
  readonly breathe: () => Promise<void>;
}

const choicesBetweenBreaths = 64;

/** The way of each part of a node, by their places, and its height: one more than its premises' where it is an atom. */
export interface FoundProof {
  readonly ways: readonly number[];
  readonly height: number;
}

/**
 * What can be proved by the nodes that are allowed, each after its premises: at its least height, and of each part in
 * the first way that gives that.
 */
export async function provable(
  nodes: readonly ProofNode[],
  isAllowed: (node: number) => boolean,
  breathe: () => Promise<void>,
): Promise<Map<number, FoundProof>> {
  const proved = new Map<number, FoundProof>();
  const waits = new Waits();
  let ready: number[] = [];
  for (const [node, { parts }] of nodes.entries()) {
    if ((node & 0xff) === 0xff) await breathe();
    if (parts !== null && isAllowed(node) && waits.enter(node, parts)) ready.push(node);
  }
  for (let height = 0; ready.length > 0; height++) {
    // Aggregates are as high as what they rest on, and wait for nothing else.
    const risen: number[] = [];
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
          else risen.push(next);
      await breathe();
    }
    ready = risen;
  }
  return proved;
}

/** For each part of the node its first way whose premises are all proved. */
function waysProved(node: ProofNode | undefined, proved: ReadonlyMap<number, FoundProof>): number[] {
  return (node?.parts ?? []).map((part) =>
    part.findIndex((way) => way.every((premise) => proved.has(premise))),
  );
}

/** What waits for what: of every way the premises that are not proved yet, of every node its parts. */
class Waits {
  readonly #ofPremise = new Map<number, { node: number; part: object; way: { left: number } }[]>();
  readonly #parts = new Map<number, Set<object>>();

  /** Takes in a node. True where it waits for nothing. */
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

  /** Notes that the node is proved. Those that wait for nothing any more. */
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

/** The new atoms of the smallest proof of the root that fits; null where none was found. Leaves the trial as it was. */
export async function smallestProof(
  nodes: readonly ProofNode[],
  root: number,
  trial: Trial,
  limits: SearchLimits,
): Promise<readonly string[] | null> {
  const { mostChoices, breathe } = limits;
  const proved = await provable(nodes, () => true, breathe);
  if (!proved.has(root)) return null;
  const search = new Search(nodes, proved, trial);
  try {
    search.begin(root);
    for (let choices = 0; choices < mostChoices && search.step(); choices++)
      if ((choices & (choicesBetweenBreaths - 1)) === 0) await breathe();
  } finally {
    search.end();
  }
  return search.best?.atoms ?? null;
}

/** A part of a node for which a way is to be chosen. */
interface Item {
  readonly node: number;
  readonly part: number;
}

/** One choice on the way down. */
interface Frame extends Item {
  /** Places of its ways in the order in which they are tried. */
  readonly ways: readonly number[];
  next: number;
  /** Nodes that the way now chosen has brought in. */
  added: readonly number[];
  /** What else is to be chosen. */
  readonly others: readonly Item[];
}

interface Found {
  /** In order. */
  readonly atoms: readonly string[];
  readonly chars: number;
}

/** Depth first over choices of ways, with the best proof found so far as a bound. */
class Search {
  best: Found | null = null;
  readonly #nodes: readonly ProofNode[];
  readonly #proved: ReadonlyMap<number, FoundProof>;
  readonly #trial: Trial;
  readonly #frames: Frame[] = [];
  /** The nodes of the proof as it is, with the way that was chosen for each part, -1 where none is yet. */
  readonly #chosen = new Map<number, number[]>();
  /** By atom: how many of these nodes are it. Atoms that the window has already are not here. */
  readonly #held = new Map<string, number>();
  #chars = 0;
  #rootAdded: readonly number[] = [];

  constructor(nodes: readonly ProofNode[], proved: ReadonlyMap<number, FoundProof>, trial: Trial) {
    this.#nodes = nodes;
    this.#proved = proved;
    this.#trial = trial;
  }

  begin(root: number): void {
    const { added, fits } = this.#bringIn([root]);
    this.#rootAdded = added;
    if (fits) this.#goOn(added.flatMap((node) => this.#itemsOf(node)));
  }

  /** Gives back all that was taken. */
  end(): void {
    for (let top = this.#frames.pop(); top !== undefined; top = this.#frames.pop()) this.#takeOut(top.added);
    this.#takeOut(this.#rootAdded);
  }

  /** Tries the next way. False where all were tried. */
  step(): boolean {
    const top = this.#frames.at(-1);
    if (top === undefined) return false;
    this.#takeOut(top.added);
    top.added = [];
    const choices = present(this.#chosen.get(top.node), 'its node is in the proof');
    choices[top.part] = -1;
    const way = top.ways[top.next++];
    if (way === undefined) {
      this.#frames.pop();
      return true;
    }
    const premises = this.#premises(top, way);
    if (this.#restsOn(premises, top.node)) return true;
    choices[top.part] = way;
    const { added, fits } = this.#bringIn(premises);
    top.added = added;
    if (fits && !this.#isWorse())
      this.#goOn([...top.others, ...added.flatMap((node) => this.#itemsOf(node))]);
    return true;
  }

  /** Goes on with the item that has the fewest ways; where there is none left, the proof is whole. */
  #goOn(items: readonly Item[]): void {
    let least: Item | null = null;
    let leastWays = Number.POSITIVE_INFINITY;
    for (const item of items) {
      const count = this.#part(item).length;
      if (count >= leastWays) continue;
      least = item;
      leastWays = count;
    }
    if (least === null) {
      this.#keepIfBetter();
      return;
    }
    const others = items.filter((item) => item !== least);
    this.#frames.push({ ...least, ways: this.#inOrder(least), next: 0, added: [], others });
  }

  /** The ways that can be proved at all: those that bring in least first. */
  #inOrder(item: Item): number[] {
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
    return atom !== null && !this.#held.has(atom) && !this.#trial.has(atom);
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

  /** True where one of these, by the ways that are chosen, rests on the node or is it. */
  #restsOn(premises: readonly number[], node: number): boolean {
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

  /** Takes the nodes into the proof that are not in it. Those that were, up to the first that does not fit. */
  #bringIn(nodes: readonly number[]): { added: readonly number[]; fits: boolean } {
    const added: number[] = [];
    for (const node of nodes) {
      if (this.#chosen.has(node)) continue;
      const { atom, parts } = this.#nodes[node] as ProofNode;
      if (atom !== null && !this.#hold(atom)) return { added, fits: false };
      this.#chosen.set(
        node,
        (parts ?? []).map(() => -1),
      );
      added.push(node);
    }
    return { added, fits: true };
  }

  #hold(atom: string): boolean {
    const held = this.#held.get(atom) ?? 0;
    if (held === 0) {
      if (this.#trial.has(atom)) return true;
      if (!this.#trial.add(atom)) return false;
      this.#chars += atom.length;
    }
    this.#held.set(atom, held + 1);
    return true;
  }

  #takeOut(added: readonly number[]): void {
    for (let at = added.length - 1; at >= 0; at--) {
      const node = added[at] as number;
      this.#chosen.delete(node);
      const { atom } = this.#nodes[node] as ProofNode;
      const held = atom === null ? undefined : this.#held.get(atom);
      if (atom === null || held === undefined) continue;
      if (held > 1) this.#held.set(atom, held - 1);
      else {
        this.#held.delete(atom);
        this.#chars -= atom.length;
        this.#trial.remove(atom);
      }
    }
  }

  /** True where whatever the proof becomes is worse than the best. */
  #isWorse(): boolean {
    if (this.best === null) return false;
    const count = this.#held.size - this.best.atoms.length;
    return count > 0 || (count === 0 && this.#chars > this.best.chars);
  }

  #keepIfBetter(): void {
    if (this.#isWorse()) return;
    const atoms = [...this.#held.keys()].sort(compareText);
    const { best } = this;
    const isBetter =
      best === null ||
      atoms.length < best.atoms.length ||
      this.#chars < best.chars ||
      compareTexts(atoms, best.atoms) < 0;
    if (isBetter) this.best = { atoms, chars: this.#chars };
  }
}
