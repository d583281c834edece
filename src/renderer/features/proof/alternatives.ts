/**
 * Choice among alternative derivations of a proof's steps: "2 of 5".
 *
 * The first is the proof's own; the others follow in the service's order. All use steps of the same proof. The proof's
 * own derivations are well-founded together; others need not be: two steps may derive each other. The outline shows
 * such a step once and marks the cycle.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';

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

/** Returns `2 of 5`. */
export function wayInWords(chosen: Chosen, step: ProofStep): string {
  return `${(chosen.get(step.id) ?? 0) + 1} of ${waysTo(step)}`;
}
