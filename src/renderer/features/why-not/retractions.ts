/**
 * Minimal sets of stored facts whose retraction would make a true statement no longer true.
 *
 * Every derivation of it has to lose a premise. The search goes through the proof with all its alternatives; a derivation
 * that rests on its own conclusion supports nothing. It is bounded, and says when a bound ended it. Every set is tried
 * with /whatIf before it is shown, and none of its retractions can be left out.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import type { Atom } from '../../../engine/contract/language.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { ChangeSets, type Remedies, type Remedy, triedSets } from './change-sets.ts';

/** The questions that the search asks. */
export interface RetractionWorld {
  /** The proof of a true atom, with all alternatives; its first root is the atom. */
  proofOf(atom: Atom): Promise<Proof>;
  /** Whether the statement is true after the changes. */
  holdsWith(changes: Remedy): Promise<boolean>;
}

/** Maximum number of steps looked at; one that is reached in several ways counts each time. */
const MAX_STEPS = 5000;

class RetractionSearch {
  readonly #steps: ReadonlyMap<number, ProofStep>;
  readonly #isPermitted: (atom: Atom) => boolean;
  readonly #sets = new ChangeSets();
  readonly outOfReach = new Set<string>();
  #looked = 0;

  constructor(proof: Proof, isPermitted: (atom: Atom) => boolean) {
    this.#steps = new Map(proof.steps.map((step) => [step.id, step]));
    this.#isPermitted = isPermitted;
    this.#sets.isCut = proof.truncated === true;
  }

  get isCut(): boolean {
    return this.#sets.isCut;
  }

  /** The sets that end all derivations of a step. `above`: the steps that the search came through. */
  waysToEnd(id: number, above: ReadonlySet<number> = new Set()): readonly Remedy[] {
    // Resting on itself, it is no support.
    if (above.has(id)) return [[]];
    const step = this.#steps.get(id);
    this.#looked += 1;
    if (step === undefined || this.#looked > MAX_STEPS) {
      this.#sets.isCut = true;
      return [];
    }
    const within = new Set([...above, id]);
    const parts: (readonly Remedy[])[] = [];
    if (step.kind === 'fact') parts.push(this.#endOfFact(step));
    else if (step.kind === 'rule') parts.push(this.#endOfDerivation(step.premises, within));
    else {
      this.outOfReach.add(step.atom);
      return [];
    }
    for (const { premises } of step.alternatives ?? []) parts.push(this.#endOfDerivation(premises, within));
    return parts.every((ways) => ways.length > 0) ? this.#sets.together(parts) : [];
  }

  #endOfFact({ atom: text }: ProofStep): Remedy[] {
    const atom = parseAtom(text);
    if (this.#isPermitted(atom)) return [[{ kind: 'retract', atom }]];
    return [];
  }

  /** One premise less is enough. */
  #endOfDerivation(premises: readonly number[], above: ReadonlySet<number>): readonly Remedy[] {
    return this.#sets.any(premises.map((premise) => this.waysToEnd(premise, above)));
  }
}

/** Searches for the minimal retractions that make a true atom no longer true. Rejects with the errors of the world. */
export async function findRetractions(
  goal: Atom,
  world: RetractionWorld,
  isPermitted: (atom: Atom) => boolean,
): Promise<Remedies> {
  const proof = await world.proofOf(goal);
  const [root] = proof.roots;
  if (root === undefined) return { sets: [], isCut: false, outOfReach: [] };
  const search = new RetractionSearch(proof, isPermitted);
  const candidates = search.waysToEnd(root).filter((set) => set.length > 0);
  const found = await triedSets(candidates, async (set) => !(await world.holdsWith(set)));
  // A set that did not help tells of a derivation that the proof does not show.
  const isCut = search.isCut || found.isCut || found.failed > 0;
  return { sets: found.sets, isCut, outOfReach: [...search.outOfReach].sort() };
}
