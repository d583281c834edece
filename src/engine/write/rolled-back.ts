import { EngineError } from '../base/errors.ts';

/** When a write that is refused takes its whole transaction with it, and how that is told. */

const rollingBack: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 507]);

/** True for refusals of a write for its content or outcome; what refuses the caller is none. */
export function rollsBack(error: EngineError): boolean {
  return rollingBack.has(error.status);
}

/** The refusal, saying that it rolled back the transaction. */
export function asRolledBack(error: EngineError): EngineError {
  const members = { ...error.members, transaction: 'rolled_back' };
  return new EngineError(error.code, error.message, members, { cause: error });
}
