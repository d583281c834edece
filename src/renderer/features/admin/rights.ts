/**
 * Whether administration is offered: to admins, until the service refuses it to the key in use.
 *
 * An operation refused once is not offered again with that key, unless the user asks to try again. An
 * operation that the role does not allow is never offered.
 */
import { useEffect } from 'react';
import { create } from 'zustand';
import type { OperationName } from '../../../engine/contract/operations.ts';
import type { Topic } from '../../api/live.ts';
import { ApiError, type ApiFailure } from '../../api/problem.ts';
import { useWhoAmI, useWrite } from '../../api/queries.ts';
import { reasonAgainst } from '../../api/rights.ts';
import { useCredential } from '../../api/credential.ts';

interface Refused {
  readonly key: string | null;
  readonly failure: ApiFailure;
}

const useRefused = create<{ readonly refused: Refused | null }>()(() => ({ refused: null }));

/** The role does not allow it (`reason`), or the service has refused it (`failure`). */
type Refusal = { readonly reason: string } | { readonly failure: ApiFailure };

/** Why administration is not offered to the key in use; null: it is, as far as known. */
export function useRefusal(): Refusal | null {
  const key = useCredential((credential) => credential.key);
  const refused = useRefused((state) => state.refused);
  const who = useWhoAmI().data;
  const reason =
    who === undefined ? null : reasonAgainst(who, 'takeSnapshot', { database: null, tenant: null });
  if (reason !== null) return { reason };
  return refused !== null && refused.key === key ? { failure: refused.failure } : null;
}

/** Offers administration again. */
export function forgetRefusal(): void {
  useRefused.setState({ refused: null });
}

/** `useWrite` for operations that only an admin may use; remembers a refusal. */
export function useAdminWrite<Name extends OperationName>(name: Name, stale?: readonly Topic[]) {
  const write = useWrite(name, stale);
  const key = useCredential((credential) => credential.key);
  const { error } = write;
  useEffect(() => {
    if (error instanceof ApiError && error.code === 'Forbidden')
      useRefused.setState({ refused: { key, failure: error } });
  }, [error, key]);
  return write;
}
