import type { OperationSpec } from '../../engine/contract/operation-spec.ts';

/** True where a request can carry an Idempotency-Key: a write that holds nothing to be guessed. */
export function takesKey(spec: OperationSpec): boolean {
  return spec.kind === 'write' && spec.guessable !== true;
}
