import type { Metadata } from '../contract/facts.ts';
import type { FactRow } from '../store/fact-store.ts';

/** Why decay takes a stored fact: its validity has ended, or its salience is below the threshold. */
export type Fate = 'expired' | 'faded';

/** True where nobody but who asserted the fact may let go of it. */
export function isPinned(metadata: Metadata | null | undefined): boolean {
  return metadata?.['pinned'] === true;
}

/**
 * What decay does at this time to a version that is alive; null: it stays. Pinned or not, what has ended goes. What is
 * valid only later is seen by nobody yet, and does not fade before it was.
 */
export function fateOf(
  { relation, row }: FactRow,
  time: number,
  threshold: number,
  salience: () => number,
): Fate | null {
  if ((relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) <= time) return 'expired';
  if ((relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY) > time) return null;
  if (isPinned(relation.metadata.get(row))) return null;
  return salience() < threshold ? 'faded' : null;
}
