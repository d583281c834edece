import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { signOut } from './credential.ts';

/** Returns a function that removes the key and everything it has shown. Drafts stay. */
export function useSignOut(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    client.clear();
    signOut();
  }, [client]);
}
