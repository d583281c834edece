import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { decayInputSchema } from '../contract/memory.ts';
import { decay } from './decay.ts';
import type { Writer } from '../session/barrier.ts';

/** Actor and request id in the records of scheduled decay. */
export const decayActor = 'scheduled-decay';

export interface ScheduledDecayHost {
  readonly writer: Writer;
  /** Receives messages for the operator. */
  readonly onWarn: (message: string) => void;
  readonly onBug: (error: unknown) => void;
}

/**
 * Runs decay with default settings in every database and tenant, one after the other, until the signal. If the log
 * cannot be written, it warns and ends the run; the next run tries again.
 */
export async function decayEverywhere(
  { writer, onWarn, onBug }: ScheduledDecayHost,
  signal: AbortSignal,
): Promise<void> {
  const places = Array.from(
    writer.live.everyTenant(),
    ({ database, name }) => [database.name, name] as const,
  );
  for (const [database, tenant] of places) {
    if (signal.aborted) return;
    try {
      await decay(writer, callerAt(database, tenant, signal), decayInputSchema.parse({}));
    } catch (error) {
      // The service is shutting down.
      if (signal.aborted) return;
      const code = error instanceof EngineError ? error.code : null;
      // Deleted since the run began.
      if (code === 'DatabaseNotFound') continue;
      if (code === 'StorageUnavailable') {
        onWarn(`Scheduled decay evicted nothing more: ${(error as EngineError).message}`);
        return;
      }
      onBug(error);
    }
  }
}

function callerAt(database: string, tenant: string, signal: AbortSignal): Caller {
  return {
    credential: decayActor,
    role: 'writer',
    databases: [],
    tenants: [],
    database,
    tenant,
    client: null,
    transaction: null,
    idempotency: null,
    requestId: decayActor,
    signal,
  };
}
