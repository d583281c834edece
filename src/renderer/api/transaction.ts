/**
 * Several writes as one transaction: all of them or none.
 *
 * The writes are made in their order; the first that is refused ends it, and nothing of it is left open. Who wants
 * somebody else's change in between to be refused guards the writes with `ifGeneration`.
 */
import type { OperationName, OperationRequest, Operations } from '../../engine/contract/operations.ts';
import type { Committed } from '../../engine/contract/transactions.ts';
import { call, type CallOptions, type ServiceEndpoint } from './client.ts';
import { asSignedIn } from './credential.ts';
import { ApiError } from './problem.ts';

type TransactionOperation = {
  [Name in OperationName]: Operations[Name] extends { transaction: 'write' } ? Name : never;
}[OperationName];

/** One write: the operation, and the request that it takes outside of a transaction. */
export type TransactionWrite = {
  [Name in TransactionOperation]: {
    readonly operation: Name;
    readonly input: OperationRequest<Name>;
    /** As in `CallOptions`, for rules. */
    readonly ifMatch?: string;
  };
}[TransactionOperation];

export interface TransactionOptions {
  /** True: the commit is only tried. The answer tells the conclusions gained and lost, and nothing is changed. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Told after each write how many were made. */
  readonly onProgress?: (made: number) => void;
}

/** What a refused commit answers where it has rolled the transaction back. */
const endingCommit = new Set<number | null>([404, 409, 422]);

/**
 * Makes the writes as one transaction. Errors: those of `call`, of the write or the commit that was refused; nothing
 * is changed then, unless the answer to the commit itself was lost (`Unreachable`), which may or may not have been made.
 * A transaction belongs to its key: where that is refused on the way, all is done again with the next one.
 */
export function runTransaction(
  endpoint: ServiceEndpoint,
  writes: readonly TransactionWrite[],
  options: TransactionOptions = {},
): Promise<Committed> {
  const { signal, dryRun } = options;
  return asSignedIn(() => transact(endpoint, writes, options), { signal, isWanted: dryRun !== true });
}

async function transact(
  endpoint: ServiceEndpoint,
  writes: readonly TransactionWrite[],
  { dryRun = false, signal, onProgress }: TransactionOptions,
): Promise<Committed> {
  const options: CallOptions = signal === undefined ? {} : { signal };
  const { id } = await call(endpoint, 'beginTransaction', {}, options);
  try {
    for (const [index, { operation, input, ifMatch }] of writes.entries()) {
      const guard = ifMatch === undefined ? {} : { ifMatch };
      await call(endpoint, operation, input, { ...options, ...guard, transaction: id });
      onProgress?.(index + 1);
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.endedTransaction)) await rollBack(endpoint, id);
    throw error;
  }
  const request = { params: { id }, body: { dryRun } };
  const committed = await call(endpoint, 'commitTransaction', request, options).catch(
    async (error: unknown) => {
      const hasEnded =
        error instanceof ApiError && (error.endedTransaction || endingCommit.has(error.status));
      if (!hasEnded) await rollBack(endpoint, id);
      throw error;
    },
  );
  if (dryRun) await rollBack(endpoint, id);
  return committed;
}

/** Ends the transaction, given up or not. */
async function rollBack(endpoint: ServiceEndpoint, id: string): Promise<void> {
  try {
    await call(endpoint, 'rollbackTransaction', { params: { id } });
  } catch (error) {
    // It has ended by itself, or will: the service rolls back what is not used. What matters was told already.
    if (!(error instanceof ApiError)) throw error;
  }
}
