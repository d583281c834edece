/**
 * The session: which endpoint and space the views of this window talk to, and the credential they carry.
 *
 * The key is kept for this tab only and never written to disk by the workbench.
 */
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { create } from 'zustand';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { call, type CallOptions, type Endpoint } from './client.ts';
import type { Space } from './space.ts';

const keyStorage = 'corollary.key';

interface Credential {
  readonly key: string | null;
  /** True while the service refuses the key there is, or the want of one. */
  readonly refused: boolean;
}

export const useCredential = create<Credential>()(() => ({
  key: sessionStorage.getItem(keyStorage),
  refused: false,
}));

/** Signs in with a key, or out with null. */
export function setKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(keyStorage);
  else sessionStorage.setItem(keyStorage, key);
  useCredential.setState({ key, refused: false });
}

/** To be told when a call was answered 401. */
export function noteRefused(): void {
  useCredential.setState({ refused: true });
}

export interface Session {
  readonly endpoint: Endpoint;
  readonly space: Space;
  /** Performs an operation in this session's space. Errors as in `client.ts`. */
  call<Name extends OperationName>(
    name: Name,
    request: OperationRequest<Name>,
    options?: CallOptions,
  ): Promise<OperationOutput<Name>>;
}

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ space, children }: { space: Space; children: ReactNode }) {
  const key = useCredential((credential) => credential.key);
  const { database, tenant } = space;
  const endpoint = useMemo<Endpoint>(
    () => ({ origin: window.location.origin, database, tenant, key }),
    [database, tenant, key],
  );
  const session = useMemo<Session>(
    () => ({ endpoint, space, call: (name, request, options) => call(endpoint, name, request, options) }),
    [endpoint, space],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('a view stands outside of its session');
  return session;
}
