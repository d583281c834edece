/**
 * A proof in which other ways to its steps can be chosen: "2 of 5".
 *
 * The first way is the proof's own; the others are in the order that the service gives. All are ways over the steps
 * of the same proof, and the own ways are well-founded together. Others need not be: two steps may each be led
 * back to the other. The outline shows such a step once, and says where the way runs in a circle.
 */
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';

/** The way that was chosen for a step, from 0; steps that are not named have their own. */
export type Chosen = ReadonlyMap<number, number>;

/** How many ways to a step are known, its own included. */
export function waysTo(step: ProofStep): number {
  return 1 + (step.alternatives?.length ?? 0);
}

function alongWay(step: ProofStep, way: number): ProofStep {
  const other = way === 0 ? undefined : step.alternatives?.[way - 1];
  return other === undefined ? step : { ...step, ...other, kind: 'rule' };
}

/** The proof with the chosen ways in place of the steps' own. */
export function withChosen(proof: Proof, chosen: Chosen): Proof {
  if (chosen.size === 0) return proof;
  return { ...proof, steps: proof.steps.map((step) => alongWay(step, chosen.get(step.id) ?? 0)) };
}

/** The choice after going on by `by` ways from the one that is shown, round and round. */
export function turned(chosen: Chosen, step: ProofStep, by: number): Chosen {
  const ways = waysTo(step);
  const next = ((((chosen.get(step.id) ?? 0) + by) % ways) + ways) % ways;
  const result = new Map(chosen);
  if (next === 0) result.delete(step.id);
  else result.set(step.id, next);
  return result;
}

/** `2 of 5`. */
export function wayInWords(chosen: Chosen, step: ProofStep): string {
  return `${(chosen.get(step.id) ?? 0) + 1} of ${waysTo(step)}`;
}
