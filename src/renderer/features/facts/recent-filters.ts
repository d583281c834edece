/**
 * Recently used filters: the address contains those switched on, this list also those switched off. Pure.
 *
 * The service filters by one text and one truth value at a time, so switching a filter on switches another of
 * its kind off.
 */
import type { FactsSearch } from './facts-search.ts';

/** A filter by text or by truth value. */
export type FactFilter =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'truth'; readonly value: 'true' | 'false' };

/** A filter, and whether the address contains it. */
export interface FilterChip {
  readonly filter: FactFilter;
  readonly isOn: boolean;
}

type Filters = Pick<FactsSearch, 'q' | 'truth'>;

const maxFilters = 8;

/** True if both filter by the same value. */
export function isSameFilter(one: FactFilter, other: FactFilter): boolean {
  if (one.kind === 'text') return other.kind === 'text' && one.text === other.text;
  return other.kind === 'truth' && one.value === other.value;
}

/** The filters in the address. */
function activeFilters({ q, truth }: Filters): FactFilter[] {
  return [
    ...(q === undefined ? [] : [{ kind: 'text', text: q } as const]),
    ...(truth === undefined ? [] : [{ kind: 'truth', value: truth } as const]),
  ];
}

/**
 * Adds the filters of the address to the list. A longer text replaces the prefix it was typed from, and a
 * text being deleted is not added, so that only intended filters remain. `before`: the previous text.
 */
export function withActiveFilters(
  recent: readonly FactFilter[],
  search: Filters,
  before: string | undefined,
): readonly FactFilter[] {
  const { q } = search;
  const isBeingDeleted =
    q !== undefined && before !== undefined && before.length > q.length && before.startsWith(q);
  const fresh = activeFilters(search).filter(
    (filter) =>
      !(filter.kind === 'text' && isBeingDeleted) && !recent.some((each) => isSameFilter(each, filter)),
  );
  if (fresh.length === 0) return recent;
  const isTypedOn = q !== undefined && before !== undefined && q.startsWith(before) && q !== before;
  const others = isTypedOn
    ? recent.filter((filter) => filter.kind !== 'text' || filter.text !== before)
    : recent;
  return [...others, ...fresh].slice(-maxFilters);
}

/** The listed filters and those of the address, without duplicates, in order of first use. */
export function chipsOf(recent: readonly FactFilter[], search: Filters): FilterChip[] {
  const active = activeFilters(search);
  const isIn = (list: readonly FactFilter[], filter: FactFilter) =>
    list.some((each) => isSameFilter(each, filter));
  const others = active.filter((filter) => !isIn(recent, filter));
  return [...recent, ...others].map((filter) => ({ filter, isOn: isIn(active, filter) }));
}

/** The change of the address when a filter is switched on or off. */
export function switched({ filter, isOn }: FilterChip): Partial<Filters> {
  return filter.kind === 'text'
    ? { q: isOn ? undefined : filter.text }
    : { truth: isOn ? undefined : filter.value };
}

/** Parses stored filters; null if malformed. */
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
