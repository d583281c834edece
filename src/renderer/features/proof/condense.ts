/**
 * A proof without what its reader knows already: condensation.
 *
 * Steps about known predicates are left out, with all that only they stand on. The step above says how many of its
 * premises are hidden, so that nothing is missing in silence; the root is always shown.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { isAggregate } from '../../../engine/language/terms.ts';

/** The name for comparisons and arithmetic together. */
export const computedName = 'computed';

/**
 * What a step is known by: `parent/2`, `not parent/2` for an absence, `computed`; null for an aggregate, which is no
 * statement about a predicate.
 */
export function knownNameOf(step: Pick<ProofStep, 'atom' | 'kind'>): string | null {
  if (step.kind === 'builtin') return computedName;
  if (step.kind === 'aggregate') return null;
  const [literal, another] = parseBody(step.atom);
  // A question of several literals is no statement about one predicate.
  if (literal === undefined || another !== undefined || isAggregate(literal)) return null;
  const sign = literal.naf ? 'not ' : literal.negated ? '-' : '';
  return `${sign}${literal.predicate}/${literal.args.length}`;
}

export interface Known {
  readonly name: string;
  /** How many steps are known by it. */
  readonly count: number;
}

/** The names in a proof, from the most frequent on. */
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

export interface Condensed {
  readonly proof: Proof;
  /** How many premises of a step are hidden; steps that are not named have none. */
  readonly hiddenUnder: ReadonlyMap<number, number>;
}

const nothingHidden: ReadonlyMap<number, number> = new Map();

/** The proof without the steps that are known by one of the names; premises keep their order. */
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
