import type { Metadata } from '../contract/facts.ts';
import type { FactRow } from '../store/fact-store.ts';

/** Why decay evicts a stored fact: its validity has ended, or its salience is below the threshold. */
export type Fate = 'expired' | 'faded';

/** True if decay must not evict the fact and consolidation must not retract it. */
export function isPinned(metadata: Metadata | null | undefined): boolean {
  return metadata?.['pinned'] === true;
}

/**
 * What decay does at this time to a live version; null: it stays. An expired fact goes even if pinned. A fact that is
 * not yet valid does not fade.
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
