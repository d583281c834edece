/**
 * Whether administration is offered: until the service refuses it to the key in use.
 *
 * Which role a key has is known to the service alone. What was refused once is not offered again with that key,
 * unless somebody asks for another try.
 */
import { useEffect } from 'react';
import { create } from 'zustand';
import type { OperationName } from '../../../engine/contract/operations.ts';
import type { Topic } from '../../api/live.ts';
import { ApiError, type Failure } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useCredential } from '../../api/credential.ts';

interface Refused {
  readonly key: string | null;
  readonly failure: Failure;
}

const useRefused = create<{ readonly refused: Refused | null }>()(() => ({ refused: null }));

/** The refusal of an administrative call to the key in use, or null while none is known. */
export function useRefusal(): Failure | null {
  const key = useCredential((credential) => credential.key);
  const refused = useRefused((state) => state.refused);
  return refused !== null && refused.key === key ? refused.failure : null;
}

/** Offers administration again. */
export function forgetRefusal(): void {
  useRefused.setState({ refused: null });
}

/** `useWrite` for what only an administrator may do. */
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
