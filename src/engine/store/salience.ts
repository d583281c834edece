/**
 * Salience: how present a fact is, 0..1, by when it was used.
 *
 * Base-level learning of ACT-R with decay d = 0.5 (Anderson and Lebiere 1998), turned into a probability by
 * the logistic function: X = sum of age^-0.5 over the uses, activation A = X / (1 + X). The eight latest uses
 * count exactly, older ones by Petrov's approximation (2006). Importance and confidence in the metadata
 * weight the result: S = (1 - (1 - A)^(2 * importance)) * confidence.
 */
import type { Metadata } from '../contract/facts.ts';

/** Uses that are stored exactly. */
export const keptUses = 8;

/** When a fact was used: epoch milliseconds. `latest` has at most `keptUses` times, oldest first. */
export interface Uses {
  count: number;
  first: number;
  latest: number[];
}

/** A salience and what it is computed from. */
export interface SalienceBreakdown {
  uses: number;
  lastUsedAt: number | null;
  activation: number;
  importance: number;
  confidence: number;
  salience: number;
}

const dayInMilliseconds = 86_400_000;
const minAgeInDays = 1000 / dayInMilliseconds;

/**
 * The uses with one more at `time`, which may be before the latest: a long question is recorded at its end.
 */
export function used(uses: Uses, time: number): Uses {
  const latest = [...uses.latest];
  let at = latest.length;
  while (at > 0 && (latest[at - 1] as number) > time) at--;
  latest.splice(at, 0, time);
  if (latest.length > keptUses) latest.shift();
  return { count: uses.count + 1, first: uses.first, latest };
}

/** A, 0..1, at the time `now`; later uses do not count. Asserted by a clock that was ahead is asserted just now. */
export function activation(uses: Uses, now: number): number {
  const { count, first, latest } = uses;
  if (count === 1) return activationOnce(first, now);
  let sum = 0;
  for (const time of latest) if (time <= now) sum += 1 / Math.sqrt(ageInDays(time, now));
  const older = count - latest.length;
  const oldest = latest[0];
  if (older > 0 && oldest !== undefined)
    sum += (2 * older) / (Math.sqrt(ageInDays(first, now)) + Math.sqrt(ageInDays(oldest, now)));
  return sum / (1 + sum);
}

function ageInDays(time: number, now: number): number {
  return Math.max(minAgeInDays, (now - time) / dayInMilliseconds);
}

/** A number 0..1 of the metadata; anything else counts as absent. */
export function unitNumber(value: unknown, fallback: number): number {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : fallback;
}

/** The metadata that weight salience. */
interface Weights {
  readonly importance: number;
  readonly confidence: number;
}

const plainWeights: Weights = { importance: 0.5, confidence: 1 };

function weightsOf(metadata: Metadata): Weights {
  return {
    importance: unitNumber(metadata.importance, plainWeights.importance),
    confidence: unitNumber(metadata.confidence, plainWeights.confidence),
  };
}

/** True if the metadata change a fact's salience. */
export function isWeighted(metadata: Metadata): boolean {
  const { importance, confidence } = weightsOf(metadata);
  return importance !== plainWeights.importance || confidence !== plainWeights.confidence;
}

function weighted(active: number, { importance, confidence }: Weights): number {
  const missing = 1 - active;
  // Most facts have power 1, which needs no computation.
  return (1 - (importance === plainWeights.importance ? missing : missing ** (2 * importance))) * confidence;
}

/** S, 0..1, at the time `now`. Without further uses it only falls with time. */
export function salienceOf(uses: Uses, metadata: Metadata, now: number): number {
  return weighted(activation(uses, now), weightsOf(metadata));
}

/** A of a fact that was used once, at `time`: equals `activation`. */
export function activationOnce(time: number, now: number): number {
  const sum = 1 / Math.sqrt(ageInDays(time, now));
  return sum / (1 + sum);
}

/** S of a fact of this activation; without metadata, unweighted. */
export function salienceAt(active: number, metadata: Metadata | undefined): number {
  return weighted(active, metadata === undefined ? plainWeights : weightsOf(metadata));
}

/** S at the time `now`, with the values from which it is computed. */
export function breakdown(uses: Uses, metadata: Metadata, now: number): SalienceBreakdown {
  const weights = weightsOf(metadata);
  const active = activation(uses, now);
  return {
    uses: uses.count,
    lastUsedAt: uses.latest.at(-1) ?? null,
    activation: active,
    ...weights,
    salience: weighted(active, weights),
  };
}
