/** A window and what was left out of it as one list, with the line where the budget ended. */
import type { ContextWindow, OmissionReason } from '../../../engine/contract/context.ts';
import type { ContextEntry } from '../../../engine/contract/memory.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import type { RowFilter } from './context-search.ts';

export type WindowRow =
  | {
      readonly kind: 'entry';
      /** Counted from 1, in the order in which an agent reads. */
      readonly place: number;
      readonly atom: string;
      readonly entry: ContextEntry;
    }
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'omitted';
      readonly atom: string;
      readonly salience: number;
      readonly reason: OmissionReason;
    };

export function atomOf({
  predicate,
  args,
  negated,
}: Pick<ContextEntry, 'predicate' | 'args' | 'negated'>): string {
  return renderAtom({ predicate, args: [...args], negated });
}

/** How often each reason for leaving out occurs, in the order in which reasons first occur. */
export function reasonCounts(window: ContextWindow): Map<OmissionReason, number> {
  const counts = new Map<OmissionReason, number>();
  for (const { reason } of window.omitted ?? []) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/**
 * The entries in order; then, where the budget left something out, the line and what is below it; then what was left
 * out for other reasons. `filter`: only those in the window, or only those left out; `reason`: only left out for it.
 */
export function windowRows(
  window: ContextWindow,
  filter: RowFilter | undefined,
  reason: OmissionReason | null = null,
): WindowRow[] {
  const entries = window.entries.map(
    (entry, index): WindowRow => ({ kind: 'entry', place: index + 1, atom: atomOf(entry), entry }),
  );
  if (filter === 'in') return entries;
  const omitted = (window.omitted ?? [])
    .filter((each) => reason === null || each.reason === reason)
    .map((each) => ({ kind: 'omitted', ...each }) as const);
  const below = omitted.filter((each) => each.reason === 'budget');
  const others = omitted.filter((each) => each.reason !== 'budget');
  if (filter === 'out') return [...below, ...others];
  return [...entries, ...(below.length > 0 ? [{ kind: 'cut' } as const, ...below] : []), ...others];
}
