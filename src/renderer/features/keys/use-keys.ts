/** The keys that this caller can see. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSession } from '../../api/session.tsx';

/** Polling interval while visible, in milliseconds: no event stream covers keys. */
const keysEveryMs = 10_000;

/** The keys that the caller can see. */
export function useKeys(isAdmin: boolean) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['keys'],
    queryFn: async ({ signal }) => (await call('listKeys', {}, { signal })).keys,
    enabled: isAdmin,
    refetchInterval: keysEveryMs,
    refetchOnWindowFocus: true,
  });
}

/** Returns a function to call after a key was made, changed or revoked. */
export function useKeysChanged(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    void client.invalidateQueries({ queryKey: ['keys'] });
    void client.invalidateQueries({ queryKey: ['service', 'whoami'] });
  }, [client]);
}
