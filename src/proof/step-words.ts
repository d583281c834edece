/** Words for the steps of a proof. */
import type { ProofStep } from '../engine/contract/inference.ts';

interface StepWords {
  /** One word, so that colour is never the only cue. */
  readonly word: string;
  readonly tone: 'good' | 'derived' | 'warn' | 'computed';
  /** Why a step without a rule is true. */
  readonly reason: string;
}

/** The words for each kind of step. */
export const stepWords: Readonly<Record<ProofStep['kind'], StepWords>> = {
  fact: { word: 'asserted', tone: 'good', reason: 'It was asserted.' },
  // A question of several literals is proved by its parts, without a rule.
  rule: { word: 'derived', tone: 'derived', reason: 'All its parts are true, each by a step below it.' },
  absence: { word: 'absent', tone: 'warn', reason: 'Nothing matches it, so its negation is true.' },
  builtin: { word: 'computed', tone: 'computed', reason: 'It is true by comparison or arithmetic.' },
  aggregate: { word: 'computed', tone: 'computed', reason: 'It was computed over the steps below it.' },
};

/** Returns where a step is shown that is not shown here. */
export function elsewhere(isCircle: boolean): string {
  return isCircle ? 'in a circle: shown above' : 'shown above';
}

/** Returns the metadata of a fact, each as `name: value`. */
export function metadataInWords({ metadata = {} }: Pick<ProofStep, 'metadata'>): string[] {
  return Object.entries(metadata).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
}
