/** What the address of the What-if view says: the changes that are tried, and what is looked at. All as text. */
export interface WhatIfSearch {
  /** Facts and rules to add, in the language. */
  add?: string | undefined;
  /** Facts to take away, in the language. */
  retract?: string | undefined;
  /** Ids of the rules to leave out, by commas. */
  without?: string | undefined;
  /** Patterns to compare, one a line; absent: all that the changes can reach. */
  goals?: string | undefined;
}

const fields = ['add', 'retract', 'without', 'goals'] as const;

/** Reads search parameters; what is not understood is dropped. */
export function whatIfSearchOf(search: Record<string, unknown>): WhatIfSearch {
  const found: WhatIfSearch = {};
  for (const field of fields) {
    const value = search[field];
    if (typeof value === 'string' && value.trim() !== '') found[field] = value;
  }
  return found;
}

/** True where the two say the same. */
export function isSameSearch(left: WhatIfSearch, right: WhatIfSearch): boolean {
  return fields.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}
