/** Runs operations for a tool: as the caller, one after the other, or several as one transaction. */
import type { OperationName, OperationOutput } from '../../engine/contract/operations.ts';
import type { ProblemDetail } from '../../engine/contract/problems.ts';
import type { Pending } from '../../engine/contract/transactions.ts';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost, OperationParts } from '../base/mcp-host.ts';

export interface ToolContext {
  readonly host: McpHost;
  readonly caller: Caller;
}

/** The host's `perform`, typed by the table, whose schemas its answers satisfy. Not for calls within a transaction. */
export async function perform<Name extends OperationName>(
  { host, caller }: ToolContext,
  operation: Name,
  parts: OperationParts = {},
): Promise<OperationOutput<Name>> {
  return (await host.perform(operation, caller, parts)) as OperationOutput<Name>;
}

type Write = 'assertFacts' | 'assertRule' | 'retractPattern' | 'deleteRule';

/** Makes one write part of the transaction. */
export type WriteWithin = (operation: Write, parts: OperationParts) => Promise<Pending>;

export interface CommittedWork<Result> {
  readonly result: Result;
  readonly generation: number;
  /** Known conclusions that no longer follow. */
  readonly lost: number;
}

/** Commits everything that `work` writes or, if anything is refused, nothing. */
export async function inTransaction<Result>(
  run: ToolContext,
  work: (write: WriteWithin) => Promise<Result>,
): Promise<CommittedWork<Result>> {
  const { id } = await perform(run, 'beginTransaction');
  const caller = { ...run.caller, transaction: id };
  let isCommitted = false;
  try {
    const result = await work(
      async (operation, parts) => (await run.host.perform(operation, caller, parts)) as Pending,
    );
    const tried = await perform(run, 'commitTransaction', { params: { id }, body: { dryRun: true } });
    const { generation } = await perform(run, 'commitTransaction', { params: { id }, body: {} });
    isCommitted = true;
    return { result, generation, lost: tried.lost ?? 0 };
  } finally {
    if (!isCommitted) await rollBack(run, id);
  }
}

async function rollBack(run: ToolContext, id: string): Promise<void> {
  try {
    await perform(run, 'rollbackTransaction', { params: { id } });
  } catch (error) {
    // The refusal has already ended the transaction; the agent gets its reason.
    if (!(error instanceof EngineError)) throw error;
  }
}

/** Refuses the call because of these fields. */
export function invalidCall(errors: readonly ProblemDetail[]): EngineError {
  const [first] = errors;
  return new EngineError('ValidationException', `${first?.path ?? ''}: ${first?.message ?? ''}`, {
    errors: [...errors],
  });
}
