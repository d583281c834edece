/**
 * The packages of a tenant and what one of them holds.
 *
 * Every change of a fact, rule, declaration or constraint concerns the topic `predicates`, so what applying and removing
 * change is shown at once.
 */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';

/** Facts of one page. */
const pageLength = 100;

/** All packages, by name. */
export function usePackages() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint, 'packages'),
    queryFn: async ({ signal }) => (await call('listPackages', {}, { signal })).packages,
  });
}

/** What the package holds, facts page by page. */
export function usePackage(name: string) {
  const { call, endpoint } = useSession();
  return useInfiniteQuery({
    queryKey: queryKeyOf('predicates', endpoint, 'packages', name, 'contents'),
    queryFn: ({ pageParam, signal }) =>
      call(
        'getPackage',
        { params: { name }, query: { limit: String(pageLength), offset: String(pageParam) } },
        { signal },
      ),
    initialPageParam: 0,
    getNextPageParam: ({ nextOffset }) => nextOffset,
    // A package that was removed elsewhere stays so.
    retry: false,
  });
}

/** What removing the package would do. */
export function usePackageRemoval(name: string) {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint, 'packages', name, 'removal'),
    queryFn: ({ signal }) =>
      call('deletePackage', { params: { name }, query: { dryRun: 'true' } }, { signal }),
    retry: false,
    gcTime: 0,
    staleTime: 0,
  });
}
