/** The page of an entity, fetched again on changes of the knowledge. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey } from '../../api/space.ts';

/** Returns the query of the page with so many entries of each list. */
export function useEntity(constant: string, infer: boolean, limit: number) {
  const { call, endpoint, space } = useSession();
  const { scope } = space;
  return useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'entity', constant, scopeKey(scope), infer, limit),
    queryFn: ({ signal }) =>
      call('describeEntity', { body: { constant, infer, limit, ...scopeFieldsOf(scope) } }, { signal }),
    placeholderData: keepPreviousData,
  });
}
