import type { FactStore } from '../store/fact-store.ts';
import type { FactChange } from '../state/fact-changes.ts';

/**
 * What the passing of time changed for who reads, told in the words of writes: a stored fact whose validity ended, or
 * began, from the instant `since` up to `time`. `passed` are the facts of which a bound lies there or lay there once;
 * one that was put off, taken back or replaced up to this generation is no change. In their order.
 */
export function boundsPassed(
  facts: FactStore,
  passed: readonly number[],
  generation: number,
  { since, time }: { readonly since: number; readonly time: number },
): FactChange[] {
  const changes: FactChange[] = [];
  for (const number of passed) {
    const { relation, row: newest } = facts.versionOf(number);
    // A write that nobody sees yet may be under way.
    const row = relation.versionAt(newest, generation);
    if (row < 0 || !relation.wasAlive(row, generation)) continue;
    const fact = { relation, row };
    const from = relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY;
    const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    if (until <= time) {
      if (until >= since) changes.push({ kind: 'fact.retracted', fact });
    } else if (from >= since && from <= time) changes.push({ kind: 'fact.asserted', fact });
  }
  return changes;
}
