/**
 * The part of a proof that is shown: along chosen alternatives, without what its reader knows already, from one step.
 *
 * A step's first derivation is the proof's own; its alternatives follow in the service's order. All use steps of the
 * same proof. The proof's own derivations are well-founded together; others need not be: two steps may derive each
 * other. The outline shows such a step once and marks the cycle.
 *
 * Steps about known predicates are removed, with all steps that only they use. The parent shows how many premises are
 * hidden, so that nothing is missing silently; the root always stays.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { isAggregate } from '../../../engine/language/terms.ts';

/** The alternative chosen for each step, from 0; absent steps use their own. */
export type Chosen = ReadonlyMap<number, number>;

/** Returns the number of known derivations of a step, its own included. */
export function waysTo(step: ProofStep): number {
  return 1 + (step.alternatives?.length ?? 0);
}

function alongWay(step: ProofStep, way: number): ProofStep {
  const other = way === 0 ? undefined : step.alternatives?.[way - 1];
  return other === undefined ? step : { ...step, ...other, kind: 'rule' };
}

/** Returns the proof with the chosen alternatives. */
export function withChosen(proof: Proof, chosen: Chosen): Proof {
  if (chosen.size === 0) return proof;
  return { ...proof, steps: proof.steps.map((step) => alongWay(step, chosen.get(step.id) ?? 0)) };
}

/** Returns the choice moved by `by` alternatives, wrapping around. */
export function turned(chosen: Chosen, step: ProofStep, by: number): Chosen {
  const ways = waysTo(step);
  const next = ((((chosen.get(step.id) ?? 0) + by) % ways) + ways) % ways;
  const result = new Map(chosen);
  if (next === 0) result.delete(step.id);
  else result.set(step.id, next);
  return result;
}

/** Derivations of a step that the service lists at most, its own included; the contract is not loaded for this number. */
export const maxWays = 101;

/** Returns `2 of 5`; `2 of 101 or more` if the service may know others that it does not list. */
export function wayOf(way: number, step: ProofStep): string {
  const ways = waysTo(step);
  return `${way + 1} of ${ways}${ways < maxWays ? '' : ' or more'}`;
}

/** The same of the chosen way. */
export function wayInWords(chosen: Chosen, step: ProofStep): string {
  return wayOf(chosen.get(step.id) ?? 0, step);
}

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
