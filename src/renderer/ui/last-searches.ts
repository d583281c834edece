/**
 * What each tool last showed, so that coming back to it finds it as it was.
 *
 * Kept for this window only; other knowledge (another database or tenant) starts afresh.
 */
import { create } from 'zustand';

type Search = Readonly<Record<string, unknown>>;

interface LastSearches {
  /** Database and tenant that the searches are about. */
  readonly about: string;
  readonly searches: Readonly<Record<string, Search>>;
}

const useStore = create<LastSearches>()(() => ({ about: '', searches: {} }));

/** Notes what the tool at `path` shows. */
export function noteSearch(path: string, search: Search): void {
  const about = JSON.stringify([search['database'], search['tenant']]);
  useStore.setState((state) => ({
    about,
    searches: { ...(state.about === about ? state.searches : {}), [path]: search },
  }));
}

/** What the tool at `path` last showed. The space is no part of it: that is where one is now. */
export function useLastSearch(path: string): Search {
  const search = useStore((state) => state.searches[path]) ?? {};
  const { database: _database, tenant: _tenant, scope: _scope, unscoped: _unscoped, ...rest } = search;
  return rest;
}
