/**
 * The session: which endpoint and space the views of this window talk to, with the key of the moment.
 *
 * It stays the same when somebody signs in, so that no view begins anew for that.
 */
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { operations } from '../../../client/src/operations.ts';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { call, type CallOptions, type ServiceEndpoint } from './client.ts';
import { asSignedIn, currentKey } from './credential.ts';
import type { Space } from './space.ts';

/** `isWanted`: as in `asSignedIn`. */
export type SessionCallOptions = CallOptions & { readonly isWanted?: boolean };

export interface WorkbenchSession {
  /** Its `key` is that of the moment in which it is read. */
  readonly endpoint: ServiceEndpoint;
  readonly space: Space;
  /**
   * Performs an operation in this session's space. A call whose key is refused is made again with the next key, once
   * somebody has signed in. Errors as in `client.ts`.
   */
  call<Name extends OperationName>(
    name: Name,
    request: OperationRequest<Name>,
    options?: SessionCallOptions,
  ): Promise<OperationOutput<Name>>;
}

const SessionContext = createContext<WorkbenchSession | null>(null);

export function SessionProvider({ space, children }: { space: Space; children: ReactNode }) {
  const { database, tenant } = space;
  const endpoint = useMemo<ServiceEndpoint>(
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
        // What needs no key says nothing of the one there is.
        if (operations[name].role === 'public') return work();
        return asSignedIn(work, { signal: options.signal, isWanted });
      },
    }),
    [endpoint, space],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): WorkbenchSession {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('a view stands outside of its session');
  return session;
}
