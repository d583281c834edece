import { EngineError } from '../base/errors.ts';

/** Statuses of refusals that roll back the whole transaction. */

const rollingBack: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 507]);

/** True if this refusal of a write rolls back its transaction: it concerns content or outcome, not the caller. */
export function rollsBack(error: EngineError): boolean {
  return rollingBack.has(error.status);
}

/** The refusal, marked as having rolled back the transaction. */
export function asRolledBack(error: EngineError): EngineError {
  const members = { ...error.members, transaction: 'rolled_back' };
  return new EngineError(error.code, error.message, members, { cause: error });
}
