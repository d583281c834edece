/** What the key in use may do here, by what the service says of it. */
import { useQuery } from '@tanstack/react-query';
import type { WhoAmI } from '../../../engine/contract/authentication.ts';
import { useSession } from '../../api/session.tsx';

export interface Rights {
  /** Why nothing can be imported; null where it can, or while it is not known. */
  readonly cannotImport: string | null;
  /** True where the service will refuse every rule of a file. */
  readonly rulesAreRefused: boolean;
}

export function rightsOf(who: WhoAmI): Rights {
  const mayWrite = who.role === 'writer' || who.role === 'admin';
  return {
    cannotImport: mayWrite
      ? null
      : `The key in use has the role ${who.role}: it may look, but importing takes the role writer or admin.`,
    rulesAreRefused: mayWrite && who.tenants.length > 0,
  };
}

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
