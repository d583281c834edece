/** The keys there are, as far as this caller covers them, and writes of them. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSession } from '../../api/session.tsx';

/** No stream tells of keys: they are read again so often while they are seen, in milliseconds. */
const keysEveryMs = 10_000;

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

/** To be called when a key was made, changed or revoked. */
export function useKeysChanged(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    void client.invalidateQueries({ queryKey: ['keys'] });
    void client.invalidateQueries({ queryKey: ['service', 'whoami'] });
  }, [client]);
}
