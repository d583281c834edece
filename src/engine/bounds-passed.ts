import type { FactStore } from './facts/fact-store.ts';
import type { FactChange } from './state.ts';

/**
 * What the passing of time changed for who reads, told in the words of writes: a stored fact whose validity ended, or
 * began, from the instant `since` up to `time`. `passed` are the facts of which a bound lies there or lay there once;
 * one that was put off, taken back or replaced is no change. In their order.
 */
export function boundsPassed(
  facts: FactStore,
  passed: readonly number[],
  since: number,
  time: number,
): FactChange[] {
  const changes: FactChange[] = [];
  for (const number of passed) {
    const fact = facts.versionOf(number);
    const { relation, row } = fact;
    if (row < 0 || !relation.isAlive(row)) continue;
    const from = relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY;
    const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    if (until <= time) {
      if (until >= since) changes.push({ kind: 'fact.retracted', fact });
    } else if (from >= since && from <= time) changes.push({ kind: 'fact.asserted', fact });
  }
  return changes;
}
