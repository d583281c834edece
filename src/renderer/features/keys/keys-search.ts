/** What the address of the keys says. */
export interface KeysSearch {
  /** A part of what is shown of a key. */
  q?: string | undefined;
  /** Id of the key that is being changed. */
  key?: string | undefined;
  /** The dialog that makes one is open. */
  make?: 'true' | undefined;
}

/** Reads search parameters; what is not understood is dropped. */
export function keysSearchOf(search: Record<string, unknown>): KeysSearch {
  const result: KeysSearch = {};
  const { q, key, make } = search;
  if (typeof q === 'string' && q !== '') result.q = q;
  if (typeof key === 'string' && key !== '') result.key = key;
  if (make === 'true') result.make = 'true';
  return result;
}
