/** Loads a sample knowledge base the way everyone writes: facts in batches, then rule by rule. */
import { factsInputSchema } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import type { Sample } from '../../../engine/contract/samples.ts';
import type { WorkbenchSession } from '../../api/session.tsx';

export interface SampleProgress {
  readonly facts: number;
  readonly rules: number;
  /** Of facts and rules together. */
  readonly total: number;
}

const batch = 500;

/** Reports after every step. Errors are those of the calls; what was written until then stays. */
export async function openSample(
  { call }: WorkbenchSession,
  sample: Sample,
  onProgress: (progress: SampleProgress) => void,
): Promise<void> {
  const total = sample.facts.length + sample.rules.length;
  const checked = validate(factsInputSchema, sample.facts);
  if (!checked.ok)
    throw new Error(`The sample is damaged: ${checked.errors[0]?.path} ${checked.errors[0]?.message}`);
  let facts = 0;
  for (; facts < sample.facts.length; facts += batch) {
    onProgress({ facts, rules: 0, total });
    await call(
      'assertFacts',
      { body: { facts: sample.facts.slice(facts, facts + batch) } },
      { isWanted: true },
    );
  }
  facts = sample.facts.length;
  for (const [index, rule] of sample.rules.entries()) {
    onProgress({ facts, rules: index, total });
    const { text, name, description } = rule;
    await call('assertRule', { body: { text, name, description } }, { isWanted: true });
  }
  onProgress({ facts, rules: sample.rules.length, total });
}
