/** What the key in use may do here; everything while that is not known, since the service decides. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../api/session.tsx';
import { type Rights, rightsOf } from './rights.ts';

const unknown: Rights = { cannotImport: null, rulesAreRefused: false };

export function useRights(): Rights {
  const { call, endpoint } = useSession();
  const { data } = useQuery({
    queryKey: ['transfer', 'whoami', endpoint.key],
    queryFn: ({ signal }) => call('whoami', {}, { signal }),
    staleTime: 30_000,
  });
  return data === undefined ? unknown : rightsOf(data);
}
