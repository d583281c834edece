/** The search parameters of the Facts view: the selection, its order, and the open fact. */
import { type FactSort, factSortKeys, sortedPosition } from '../../../engine/contract/fact-order.ts';

/** A key that the grid can be sorted by. */
export type FactSortKey = FactSort;

/** What the address of the Facts view contains. */
export interface FactsSearch {
  predicate?: string | undefined;
  /** A substring of the rendered fact. */
  q?: string | undefined;
  truth?: 'true' | 'false' | undefined;
  /** Include conclusions; only with a predicate. */
  derived?: 'true' | undefined;
  sort?: FactSortKey | undefined;
  order?: 'asc' | 'desc' | undefined;
  /** Id of the open fact. */
  fact?: string | undefined;
  /** The dialog above the view. */
  transfer?: 'import' | 'export' | undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

/** Sorting by an argument requires a predicate. */
function sortOf(value: unknown, predicate: string | undefined): FactSortKey | undefined {
  const known = oneOf(factSortKeys, value);
  if (known !== undefined || predicate === undefined || typeof value !== 'string') return known;
  const argument = value as FactSortKey;
  return sortedPosition(argument) === null ? undefined : argument;
}

/** Reads search parameters; drops those it does not understand. */
export function factsSearchOf(search: Record<string, unknown>): FactsSearch {
  const predicate = text(search['predicate']);
  const found = {
    predicate,
    q: text(search['q']),
    truth: oneOf(['true', 'false'] as const, search['truth']),
    derived: predicate === undefined ? undefined : oneOf(['true'] as const, search['derived']),
    sort: sortOf(search['sort'], predicate),
    order: oneOf(['asc', 'desc'] as const, search['order']),
    fact: text(search['fact']),
    transfer: oneOf(['import', 'export'] as const, search['transfer']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
