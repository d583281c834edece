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
import type { PastMoment } from './moment.ts';
import type { Space } from './space.ts';

/** `isWanted`: as in `asSignedIn`. */
type SessionCallOptions = CallOptions & { readonly isWanted?: boolean };

/** What views need to call the service. */
export interface WorkbenchSession {
  /** At the moment that is shown. Its `key` is read at the moment of use. */
  readonly endpoint: ApiEndpoint;
  /** The same space in the present; its identity outlives a look at the past. */
  readonly present: ApiEndpoint;
  readonly space: Space;
  /** The moment of the past that is shown; null: the present. */
  readonly moment: PastMoment | null;
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

interface SessionProviderProps {
  space: Space;
  /** Absent: the present. */
  moment?: PastMoment | null;
  children: ReactNode;
}

/** Provides the session of a space, at a moment. */
export function SessionProvider({ space, moment = null, children }: SessionProviderProps) {
  const { database, tenant } = space;
  const present = useMemo(() => endpointOf(database, tenant, null), [database, tenant]);
  const endpoint = useMemo(
    () => (moment === null ? present : endpointOf(database, tenant, moment)),
    [database, tenant, moment, present],
  );
  const session = useMemo<WorkbenchSession>(
    () => ({
      endpoint,
      present,
      space,
      moment,
      call: (name, request, { isWanted = false, ...options } = {}) => {
        const work = () => call(endpoint, name, request, options);
        // An operation without a key requirement says nothing about the current key.
        if (operations[name].role === 'public') return work();
        return asSignedIn(work, { signal: options.signal, isWanted });
      },
    }),
    [endpoint, present, space, moment],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

function endpointOf(database: string, tenant: string, moment: PastMoment | null): ApiEndpoint {
  return {
    origin: window.location.origin,
    database,
    tenant,
    moment,
    get key() {
      return currentKey();
    },
  };
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
