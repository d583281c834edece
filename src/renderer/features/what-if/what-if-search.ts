import { unaskedOf, type UnaskedSearch } from '../../api/question-search.ts';

/** Search parameters of the What-if view: the changes and what to compare, all as text. */
export interface WhatIfSearch extends UnaskedSearch {
  /** Facts and rules to add, in the language. */
  add?: string | undefined;
  /** Facts to retract, in the language. */
  retract?: string | undefined;
  /** Ids of the rules to exclude, separated by commas. */
  without?: string | undefined;
  /** Patterns to compare, one per line; absent: everything that the changes can reach. */
  goals?: string | undefined;
}

const fields = ['add', 'retract', 'without', 'goals'] as const;

/** Reads search parameters; invalid ones are dropped. */
export function whatIfSearchOf(search: Record<string, unknown>): WhatIfSearch {
  const found: WhatIfSearch = unaskedOf(search);
  for (const field of fields) {
    const value = search[field];
    if (typeof value === 'string' && value.trim() !== '') found[field] = value;
  }
  return found;
}

/** Returns true if two searches are equal. */
export function isSameSearch(left: WhatIfSearch, right: WhatIfSearch): boolean {
  return fields.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}
