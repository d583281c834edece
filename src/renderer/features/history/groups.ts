/** Generations grouped by who made them and how: what one client did in one go stands together. */
import type { GenerationEntry } from '../../../engine/contract/history.ts';

/** Generations of one actor, client and session that follow each other on one day, newest first. */
export interface EntryGroup {
  readonly key: string;
  readonly entries: readonly GenerationEntry[];
}

/** Returns the groups of the entries, both newest first. `dayOf` names the day of an instant. */
export function groupsOf(entries: readonly GenerationEntry[], dayOf: (time: number) => string): EntryGroup[] {
  const groups: { key: string; by: string; entries: GenerationEntry[] }[] = [];
  for (const entry of entries) {
    const { actor, surface, client, session, time, generation } = entry;
    const by = JSON.stringify([actor?.id ?? null, surface, client, session, dayOf(time)]);
    const last = groups.at(-1);
    if (last?.by === by) last.entries.push(entry);
    else groups.push({ key: `${generation} ${by}`, by, entries: [entry] });
  }
  return groups;
}

/** The facts that the generations of a group added, removed and changed, together. */
export function changedFactsOf(
  entries: readonly GenerationEntry[],
): Record<'added' | 'removed' | 'changed', number> {
  const totals = { added: 0, removed: 0, changed: 0 };
  for (const { added, removed, changed } of entries) {
    totals.added += added.count;
    totals.removed += removed.count;
    totals.changed += changed.count;
  }
  return totals;
}
