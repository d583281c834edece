/** Signing out: the key goes, and with it all that it has shown. What was typed stays where drafts are kept. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { signOut } from './credential.ts';

export function useSignOut(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    client.clear();
    signOut();
  }, [client]);
}
