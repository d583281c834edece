/**
 * Writes that are seen together or not at all.
 *
 * One transaction of the service around a list of writes, made in their order: where one is refused, or the caller
 * gives up, it is rolled back and nothing of it was ever seen. What is to be written is the caller's business.
 */
import type { OperationRequest } from '../../engine/contract/operations.ts';
import type { Committed } from '../../engine/contract/transactions.ts';
import { call, type Endpoint } from './client.ts';

type WriteOf<Name extends 'assertFact' | 'retract'> = {
  readonly operation: Name;
  readonly input: OperationRequest<Name>['body'];
};

/** One write: an operation that can be part of a transaction, and its body. */
export type TransactionWrite = WriteOf<'assertFact'> | WriteOf<'retract'>;

export interface TransactionOptions {
  /** Works out what a commit would do, then rolls back. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Told after each write how many were made. */
  readonly onProgress?: (made: number) => void;
}

/**
 * Makes the writes as one transaction, and answers what the commit answered. Errors: the ApiError of whatever was
 * refused first, or AbortError; in both cases nothing is stored.
 */
export async function runTransaction(
  endpoint: Endpoint,
  writes: readonly TransactionWrite[],
  options: TransactionOptions = {},
): Promise<Committed> {
  const { dryRun = false, signal, onProgress } = options;
  const { id } = await call(endpoint, 'beginTransaction', {}, signal === undefined ? {} : { signal });
  const within = { transaction: id, ...(signal === undefined ? {} : { signal }) };
  try {
    for (const [index, write] of writes.entries()) {
      if (write.operation === 'assertFact') await call(endpoint, 'assertFact', { body: write.input }, within);
      else await call(endpoint, 'retract', { body: write.input }, within);
      onProgress?.(index + 1);
    }
    signal?.throwIfAborted();
    // From here on it is decided there: giving up now would leave open whether it was committed.
    const committed = await call(endpoint, 'commitTransaction', { params: { id }, body: { dryRun } });
    if (dryRun) await rollBack(endpoint, id);
    return committed;
  } catch (error) {
    await rollBack(endpoint, id);
    throw error;
  }
}

/** Rolls back what may be rolled back already: a refused write takes its transaction with it. */
async function rollBack(endpoint: Endpoint, id: string): Promise<void> {
  try {
    await call(endpoint, 'rollbackTransaction', { params: { id } });
  } catch {
    // Not told: it has ended already, or ends by itself when it has been idle for some minutes.
  }
}
