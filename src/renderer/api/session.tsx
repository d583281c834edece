/**
 * The session: endpoint and space of this window's views, and the current key.
 *
 * A sign-in does not change its identity, so no view restarts.
 */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useMemo } from 'react';
import { operations } from '../../../client/src/operations.ts';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { type ApiEndpoint, call, type CallOptions } from './client.ts';
import { asSignedIn, currentKey, signOut } from './credential.ts';
import type { Space } from './space.ts';

/** `isWanted`: as in `asSignedIn`. */
type SessionCallOptions = CallOptions & { readonly isWanted?: boolean };

/** What views need to call the service. */
export interface WorkbenchSession {
  /** Its `key` is read at the moment of use. */
  readonly endpoint: ApiEndpoint;
  readonly space: Space;
  /**
   * Performs an operation in the session's space. After a refused key the call is retried with the next key, once the
   * user has signed in. Errors as in `client.ts`.
   */
  call<Name extends OperationName>(
    name: Name,
    request: OperationRequest<Name>,
    options?: SessionCallOptions,
  ): Promise<OperationOutput<Name>>;
}

const SessionContext = createContext<WorkbenchSession | null>(null);

/** Provides the session of a space. */
export function SessionProvider({ space, children }: { space: Space; children: ReactNode }) {
  const { database, tenant } = space;
  const endpoint = useMemo<ApiEndpoint>(
    () => ({
      origin: window.location.origin,
      database,
      tenant,
      get key() {
        return currentKey();
      },
    }),
    [database, tenant],
  );
  const session = useMemo<WorkbenchSession>(
    () => ({
      endpoint,
      space,
      call: (name, request, { isWanted = false, ...options } = {}) => {
        const work = () => call(endpoint, name, request, options);
        // An operation without a key requirement says nothing about the current key.
        if (operations[name].role === 'public') return work();
        return asSignedIn(work, { signal: options.signal, isWanted });
      },
    }),
    [endpoint, space],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Returns the session of the view. Throws outside a `SessionProvider`. */
export function useSession(): WorkbenchSession {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession was called outside of a SessionProvider');
  return session;
}

/** Returns a function that removes the key and everything it has shown. Drafts stay. */
export function useSignOut(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    client.clear();
    signOut();
  }, [client]);
}
