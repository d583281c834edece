import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { decayInputSchema } from '../contract/memory.ts';
import { decay } from './decay.ts';
import type { Writer } from '../session/writer.ts';

/** Who evicts by the clock: the actor of the record, and the id of its request. */
export const decayActor = 'scheduled-decay';

export interface ScheduledDecayHost {
  readonly writer: Writer;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
  readonly onBug: (error: unknown) => void;
}

/**
 * Decay with its defaults over every database and tenant, one after the other, until the signal. A log that takes no
 * writes ends the run and is told; the next run tries again.
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
      // The end of the service ends the run.
      if (signal.aborted) return;
      const code = error instanceof EngineError ? error.code : null;
      // It has been deleted since the run began.
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
