/**
 * Filters that were used, switched on or off: what is on is in the address, what is off is kept here. Pure.
 *
 * The service filters by one text and one truth value at a time, so to switch one on switches another of its kind off.
 */
import type { FactsSearch } from './facts-search.ts';

export type FactFilter =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'truth'; readonly value: 'true' | 'false' };

export interface FilterChip {
  readonly filter: FactFilter;
  readonly isOn: boolean;
}

type Filters = Pick<FactsSearch, 'q' | 'truth'>;

const mostKept = 8;

export function isSameFilter(one: FactFilter, other: FactFilter): boolean {
  if (one.kind === 'text') return other.kind === 'text' && one.text === other.text;
  return other.kind === 'truth' && one.value === other.value;
}

/** What the address filters by. */
function activeFilters({ q, truth }: Filters): FactFilter[] {
  return [
    ...(q === undefined ? [] : [{ kind: 'text', text: q } as const]),
    ...(truth === undefined ? [] : [{ kind: 'truth', value: truth } as const]),
  ];
}

/**
 * The filters with those of the address. A text that was typed on takes the place of its beginning, and one that is being
 * deleted is not kept, so that what is left is what was meant. `before`: the text of the address before.
 */
export function withActive(
  kept: readonly FactFilter[],
  search: Filters,
  before: string | undefined,
): readonly FactFilter[] {
  const { q } = search;
  const isBeingDeleted =
    q !== undefined && before !== undefined && before.length > q.length && before.startsWith(q);
  const fresh = activeFilters(search).filter(
    (filter) =>
      !(filter.kind === 'text' && isBeingDeleted) && !kept.some((each) => isSameFilter(each, filter)),
  );
  if (fresh.length === 0) return kept;
  const isTypedOn = q !== undefined && before !== undefined && q.startsWith(before) && q !== before;
  const others = isTypedOn ? kept.filter((filter) => filter.kind !== 'text' || filter.text !== before) : kept;
  return [...others, ...fresh].slice(-mostKept);
}

/** Those kept and those of the address, each once, in the order in which they came. */
export function chipsOf(kept: readonly FactFilter[], search: Filters): FilterChip[] {
  const active = activeFilters(search);
  const isIn = (list: readonly FactFilter[], filter: FactFilter) =>
    list.some((each) => isSameFilter(each, filter));
  const others = active.filter((filter) => !isIn(kept, filter));
  return [...kept, ...others].map((filter) => ({ filter, isOn: isIn(active, filter) }));
}

/** What the address becomes when a filter is switched on or off. */
export function switched({ filter, isOn }: FilterChip): Partial<Filters> {
  return filter.kind === 'text'
    ? { q: isOn ? undefined : filter.text }
    : { truth: isOn ? undefined : filter.value };
}

/** The filters as they were kept; null where they cannot be read. */
export function readFilters(value: unknown): readonly FactFilter[] | null {
  if (!Array.isArray(value)) return null;
  const filters = value.map(readFilter).filter((filter) => filter !== null);
  return filters.length === value.length ? filters : null;
}

function readFilter(value: unknown): FactFilter | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, text, value: truth } = value as Record<string, unknown>;
  if (kind === 'text' && typeof text === 'string' && text !== '') return { kind, text };
  return kind === 'truth' && (truth === 'true' || truth === 'false') ? { kind, value: truth } : null;
}
