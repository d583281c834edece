/**
 * A proof as indented text: each conclusion, and below it its premises.
 *
 * A step that was already shown is named again but not unfolded, so the length of the text is bounded by the number of
 * premises. It is written without recursion and with bounded indentation, so long chains are safe.
 */
import type { Proof, ProofStep } from '../../engine/contract/inference.ts';
import { present } from '../../engine/index.ts';

const words: Readonly<Record<Exclude<ProofStep['kind'], 'rule'>, string>> = {
  fact: 'stored',
  absence: 'does not follow',
  builtin: 'computed',
  aggregate: 'computed over',
};

/** The lines of the proofs of all answers, in their order. */
export function proofText(proof: Proof): string[] {
  const steps = new Map(proof.steps.map((step) => [step.id, step]));
  const shown = new Set<number>();
  const lines: string[] = [];
  const waiting = proof.roots.toReversed().map((id) => ({ id, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const step = present(steps.get(next.id), 'a proof holds every step that it names');
    const isRepeated = shown.has(step.id) && step.premises.length > 0;
    lines.push(`${indentation(next.depth)}${step.atom}  [${isRepeated ? 'shown above' : reason(step)}]`);
    if (isRepeated) continue;
    shown.add(step.id);
    for (const premise of step.premises.toReversed()) waiting.push({ id: premise, depth: next.depth + 1 });
  }
  if (proof.truncated === true) lines.push('… the proof has further steps');
  return lines;
}

/** Two spaces per level; beyond the deepest readable level, the level as a number. */
function indentation(depth: number): string {
  return depth <= deepestIndented ? '  '.repeat(depth) : `${'  '.repeat(deepestIndented)}${depth}: `;
}

const deepestIndented = 40;

function reason(step: ProofStep): string {
  const within = step.scope === null ? '' : ` in ${step.scope}`;
  if (step.kind === 'rule') return `by ${step.rule ?? 'a rule'}${within}`;
  return `${words[step.kind]}${within}`;
}
