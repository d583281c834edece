/**
 * The last search of each tool, so that returning to it restores its state.
 *
 * Kept for this window; another database or tenant starts afresh.
 */
import { create } from 'zustand';

type Search = Readonly<Record<string, unknown>>;

interface LastSearches {
  /** Database and tenant of the searches. */
  readonly about: string;
  readonly searches: Readonly<Record<string, Search>>;
}

const useStore = create<LastSearches>()(() => ({ about: '', searches: {} }));

/** Records the search of the tool at `path`. */
export function noteSearch(path: string, search: Search): void {
  const about = JSON.stringify([search['database'], search['tenant']]);
  useStore.setState((state) => ({
    about,
    searches: { ...(state.about === about ? state.searches : {}), [path]: search },
  }));
}

/** Returns the last search of the tool at `path`, without the space and the moment, which are the current ones. */
export function useLastSearch(path: string): Search {
  const search = useStore((state) => state.searches[path]) ?? {};
  const { database: _database, tenant: _tenant, scope: _scope, unscoped: _unscoped, ...own } = search;
  const { asOf: _asOf, asKnown: _asKnown, ...rest } = own;
  return rest;
}
