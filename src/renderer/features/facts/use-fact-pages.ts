/** The pages of facts for what the address says, in step with the knowledge base. */
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { FactPages, type FactPagesState } from './fact-pages.ts';
import type { FactsSearch } from './facts-search.ts';

export function useFactPages(search: FactsSearch): { pages: FactPages; state: FactPagesState } {
  const {
    call,
    space: { scope },
  } = useSession();
  const { predicate, q, truth, derived, sort = 'predicate', order = 'asc' } = search;
  const pages = useMemo(() => {
    const { scope: name, unscoped } = scopeFieldsOf(scope);
    return new FactPages(({ offset, limit, cursor }, signal) =>
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
            order,
            limit: String(limit),
            offset: String(offset),
            cursor,
          },
        },
        { signal },
      ),
    );
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
