/** The search parameters of the Keys view. */
export interface KeysSearch {
  /** Filters keys by any text shown. */
  q?: string | undefined;
  /** Id of the key being changed. */
  key?: string | undefined;
  /** The dialog that makes a key is open. */
  make?: 'true' | undefined;
}

/** Reads search parameters; drops those it does not understand. */
export function keysSearchOf(search: Record<string, unknown>): KeysSearch {
  const result: KeysSearch = {};
  const { q, key, make } = search;
  if (typeof q === 'string' && q !== '') result.q = q;
  if (typeof key === 'string' && key !== '') result.key = key;
  if (make === 'true') result.make = 'true';
  return result;
}
