/**
 * Condensation: a proof without what its reader knows already.
 *
 * Steps about known predicates are removed, with all steps that only they use. The parent shows how many premises are
 * hidden, so that nothing is missing silently; the root always stays.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { isAggregate } from '../../../engine/language/terms.ts';

/** The name shared by comparisons and arithmetic. */
export const computedName = 'computed';

/**
 * Returns the name by which a step can be hidden: `parent/2`, `not parent/2` for an absence, `computed`; null for an
 * aggregate, which is not about one predicate.
 */
export function knownNameOf(step: Pick<ProofStep, 'atom' | 'kind'>): string | null {
  if (step.kind === 'builtin') return computedName;
  if (step.kind === 'aggregate') return null;
  const [literal, another] = parseBody(step.atom);
  // A question of several literals is not about one predicate.
  if (literal === undefined || another !== undefined || isAggregate(literal)) return null;
  const sign = literal.naf ? 'not ' : literal.negated ? '-' : '';
  return `${sign}${literal.predicate}/${literal.args.length}`;
}

/** A name that can be hidden. */
export interface Known {
  readonly name: string;
  /** Number of its steps. */
  readonly count: number;
}

/** Returns the names in a proof, most frequent first. */
export function namesIn(proof: Proof): Known[] {
  const counts = new Map<string, number>();
  for (const step of proof.steps) {
    const name = knownNameOf(step);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((left, right) => right.count - left.count || (left.name < right.name ? -1 : 1));
}

/** A condensed proof. */
export interface Condensed {
  readonly proof: Proof;
  /** Number of hidden premises per step; absent means none. */
  readonly hiddenUnder: ReadonlyMap<number, number>;
}

const nothingHidden: ReadonlyMap<number, number> = new Map();

/** Returns the proof without the steps of the given names; premises keep their order. */
export function condensed(proof: Proof, names: ReadonlySet<string>): Condensed {
  if (names.size === 0) return { proof, hiddenUnder: nothingHidden };
  const known = new Set<number>();
  for (const step of proof.steps) {
    const name = knownNameOf(step);
    if (name !== null && names.has(name)) known.add(step.id);
  }
  const hiddenUnder = new Map<number, number>();
  const steps = proof.steps.map((step): ProofStep => {
    const premises = step.premises.filter((id) => !known.has(id));
    if (premises.length === step.premises.length) return step;
    hiddenUnder.set(step.id, step.premises.length - premises.length);
    return { ...step, premises };
  });
  return { proof: { ...proof, steps }, hiddenUnder };
}
