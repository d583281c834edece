/** The pages of facts for what the address says, in step with the knowledge base. */
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey } from '../../api/space.ts';
import { FactPages, type FactPagesState } from './fact-pages.ts';
import type { FactsSearch } from './facts-search.ts';

export function useFactPages(search: FactsSearch): { pages: FactPages; state: FactPagesState } {
  const { call, space } = useSession();
  const { predicate, q, truth, derived, sort = 'predicate', order = 'asc' } = search;
  const scope = scopeKey(space.scope);
  const pages = useMemo(() => {
    const { scope: name, unscoped } = scopeFieldsOf(space.scope);
    return new FactPages((cursor, isReversed, limit, signal) =>
      call(
        'listFacts',
        {
          query: {
            predicate,
            q,
            truthVal: truth,
            derived,
            scope: name,
            unscoped: unscoped === true ? 'true' : undefined,
            sort,
            order: isReversed ? (order === 'asc' ? 'desc' : 'asc') : order,
            limit: String(limit),
            cursor,
          },
        },
        { signal },
      ),
    );
    // `scope` stands for the scope in `space`, whose object is made anew by every navigation.
  }, [call, scope, predicate, q, truth, derived, sort, order]);

  useEffect(() => () => pages.close(), [pages]);
  const version = useLive((live) => live.versions.facts);
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current === version) return;
    seen.current = version;
    pages.refresh();
  }, [version, pages]);
  const state = useSyncExternalStore(pages.subscribe, pages.state);
  return { pages, state };
}
