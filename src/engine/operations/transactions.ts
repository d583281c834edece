/** Operations on transactions. */
import type { Caller } from '../base/caller.ts';
import { notLeader } from '../base/errors.ts';
import { consequencesTimeoutMs } from '../session/consequences.ts';
import type { Committed, TransactionBegun } from '../contract/transactions.ts';
import { outcomeAs } from '../state/operation.ts';
import type { EngineContext } from './engine-context.ts';

/** Opens a transaction of the caller's database and tenant; refused on a follower. */
export async function beginTransaction(engine: EngineContext, caller: Caller): Promise<TransactionBegun> {
  engine.live.refuseClosed();
  if (engine.parts.leaderUrl !== null) throw notLeader(engine.parts.leaderUrl);
  return engine.transactions.begin(caller);
}

/** `timeoutMs`: how long a dry run works out what would follow. */
export async function commitTransaction(
  engine: EngineContext,
  caller: Caller,
  id: string,
  dryRun: boolean,
  timeoutMs = consequencesTimeoutMs,
): Promise<Committed> {
  // After a restart the transaction is gone, and what became of its commit is remembered all the same.
  const kept = dryRun ? null : engine.earlierOutcome(caller);
  if (kept === null) return engine.transactions.commit(caller, id, dryRun, timeoutMs);
  const { operations, generation } = outcomeAs(kept, 'committed');
  return { id, status: 'committed', operations, generation };
}
