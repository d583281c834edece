/** The pages of the history that pass the filters, and whether there is something newer. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSession } from '../../api/session.tsx';
import { historyFilterOf, type HistorySearch } from './history-search.ts';

const pageLength = 50;

/** The generations, newest first, page by page. Changes do not ask again: a page costs the service a replay. */
export function useChanges(search: HistorySearch) {
  const { call, endpoint } = useSession();
  const filter = historyFilterOf(search);
  return useInfiniteQuery({
    queryKey: ['history', endpoint.database, endpoint.tenant, filter],
    queryFn: ({ pageParam, signal }) =>
      call('history', { query: { ...filter, limit: String(pageLength), cursor: pageParam } }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}
