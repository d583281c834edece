import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { compareText, compareTexts } from '../base/text-order.ts';
import { overSeeds } from '../testing/twin.ts';
import { type ProofNode, provable, smallestProof, type ProofTrial } from './proof-search.ts';

/** The search for the smallest proof against all sets of atoms, over random graphs with cycles and shared premises. */

const breathe = () => Promise.resolve();

/** Nodes 0 to `count` - 1, one in six of them an aggregate or the like, some without a derivation. */
function randomGraph(prng: Prng, count: number): ProofNode[] {
  const node = (): number => prng.below(count);
  return Array.from({ length: count }, (_, at) => {
    const isAtom = at === 0 || !prng.chance(0.16);
    // Two views of one atom are two nodes.
    const atom = prng.chance(0.15) ? `a${prng.below(count)}` : `a${at}${'x'.repeat(prng.below(3))}`;
    const way = (): number[] => Array.from({ length: prng.below(4) }, node);
    const part = (): number[][] => Array.from({ length: prng.below(4) }, way);
    const parts = isAtom
      ? at > 0 && prng.chance(0.35)
        ? []
        : [part()]
      : Array.from({ length: prng.below(3) }, part);
    return { atom: isAtom ? atom : null, parts: prng.chance(0.05) ? null : parts };
  });
}

/** What can be proved, round by round. */
function naive(nodes: readonly ProofNode[], isAllowed: (node: ProofNode) => boolean): Set<number> {
  const proved = new Set<number>();
  for (let size = -1; size < proved.size; ) {
    size = proved.size;
    for (const [at, node] of nodes.entries())
      if (
        isAllowed(node) &&
        node.parts?.every((part) => part.some((way) => way.every((premise) => proved.has(premise)))) === true
      )
        proved.add(at);
  }
  return proved;
}

/** The first set of new atoms by size, characters and order from which the node 0 can be proved and that fits. */
function smallestSet(
  nodes: readonly ProofNode[],
  has: (atom: string) => boolean,
  fits: (set: readonly string[]) => boolean,
): string[] | null {
  const atoms = [...new Set(nodes.flatMap(({ atom }) => (atom === null || has(atom) ? [] : [atom])))];
  let best: string[] | null = null;
  for (let bits = 0; bits < 1 << atoms.length; bits++) {
    const set = atoms.filter((_, at) => (bits >> at) & 1).sort(compareText);
    if (best !== null && !isBefore(set, best)) continue;
    if (!fits(set)) continue;
    if (naive(nodes, ({ atom }) => atom === null || has(atom) || set.includes(atom)).has(0)) best = set;
  }
  return best;
}

function isBefore(left: readonly string[], right: readonly string[]): boolean {
  const [shorter, fewer] = [left.length - right.length, left.join('').length - right.join('').length];
  return shorter < 0 || (shorter === 0 && (fewer < 0 || (fewer === 0 && compareTexts(left, right) < 0)));
}

test('finds the smallest proof that fits, and leaves the window unchanged', { timeout: 600_000 }, () =>
  overSeeds({ name: 'graphs', few: 150, many: 20_000 }, async (seed) => {
    const prng = new Prng(seed);
    const nodes = randomGraph(prng, 3 + prng.below(8));
    const inWindow = new Set(nodes.flatMap(({ atom }) => (atom !== null && prng.chance(0.15) ? [atom] : [])));
    const room = 1 + prng.below(8);
    const chars = 4 + prng.below(20);
    const taken: string[] = [];
    const fits = (set: readonly string[]): boolean => set.length <= room && set.join('').length <= chars;
    const trial: ProofTrial = {
      has: (atom) => inWindow.has(atom),
      add: (atom) => {
        if (!fits([...taken, atom])) return false;
        taken.push(atom);
        return true;
      },
      remove: (atom) => expect(taken.pop()).toBe(atom),
    };
    const found = await smallestProof(nodes, 0, trial, { maxChoices: 100_000, breathe });
    expect(taken).toEqual([]);
    expect(found).toEqual(smallestSet(nodes, (atom) => inWindow.has(atom), fits));
    const proved = await provable(nodes, () => true, breathe);
    expect([...proved.keys()].sort((left, right) => left - right)).toEqual(
      [...naive(nodes, () => true)].sort((left, right) => left - right),
    );
  }),
);

test('returns the best proof so far if it is interrupted', async () => {
  const wide: ProofNode = { atom: 'root', parts: [[[1, 2, 3], [4]]] };
  const leaf = (atom: string): ProofNode => ({ atom, parts: [] });
  const nodes = [wide, leaf('a'), leaf('b'), leaf('c'), leaf('d')];
  const trial: ProofTrial = { has: () => false, add: () => true, remove: () => undefined };
  expect(await smallestProof(nodes, 0, trial, { maxChoices: 1, breathe })).toEqual(['d', 'root']);
  expect(await smallestProof(nodes, 0, trial, { maxChoices: 0, breathe })).toBeNull();
});
