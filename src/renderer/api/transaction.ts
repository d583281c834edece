/**
 * Several writes as one transaction.
 *
 * The writes run in order; the first refusal rolls everything back. To refuse a concurrent change, guard the writes
 * with `ifGeneration`.
 */
import type { OperationName, OperationRequest, Operations } from '../../engine/contract/operations.ts';
import type { Committed } from '../../engine/contract/transactions.ts';
import { call, type CallOptions, type ApiEndpoint } from './client.ts';
import { asSignedIn } from './credential.ts';
import { ApiError } from './problem.ts';

type TransactionOperation = {
  [Name in OperationName]: Operations[Name] extends { transaction: 'write' } ? Name : never;
}[OperationName];

/** One write: the operation and its request, as outside of a transaction. */
export type TransactionWrite = {
  [Name in TransactionOperation]: {
    readonly operation: Name;
    readonly input: OperationRequest<Name>;
    /** As in `CallOptions`, for rules. */
    readonly ifMatch?: string;
  };
}[TransactionOperation];

/** Options of a transaction. */
interface TransactionOptions {
  /** True: the commit is a dry run, which reports gained and lost conclusions and changes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Called after each write with the number of writes made. */
  readonly onProgress?: (made: number) => void;
}

/** Statuses of a refused commit that has rolled the transaction back. */
const endingCommit = new Set<number | null>([404, 409, 422]);

/**
 * Makes the writes as one transaction. Throws the errors of `call` from the refused write or commit; nothing has
 * changed then, except that a commit whose response was lost (`Unreachable`) may have succeeded. A transaction belongs
 * to its key: if that is refused midway, everything is repeated with the next one.
 */
export function runTransaction(
  endpoint: ApiEndpoint,
  writes: readonly TransactionWrite[],
  options: TransactionOptions = {},
): Promise<Committed> {
  const { signal, dryRun } = options;
  return asSignedIn(() => transact(endpoint, writes, options), { signal, isWanted: dryRun !== true });
}

async function transact(
  endpoint: ApiEndpoint,
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

/** Ends the transaction by rolling it back. */
async function rollBack(endpoint: ApiEndpoint, id: string): Promise<void> {
  try {
    await call(endpoint, 'rollbackTransaction', { params: { id } });
  } catch (error) {
    // It has ended or will: the service rolls back idle transactions. The actual error was reported already.
    if (!(error instanceof ApiError)) throw error;
  }
}
