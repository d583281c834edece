import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { decayInputSchema } from '../contract/memory.ts';
import { decay } from './decay.ts';
import type { Writer } from '../session/writer.ts';
import type { Clock } from '../base/clock.ts';

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

/** What the schedule needs of its host. */
export interface DecayScheduleHost {
  readonly clock: Clock;
  /** Milliseconds between the starts of two runs. */
  readonly intervalMs: number;
  /** Never rejects. Ends soon after the signal. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Maximum time between looks at the clock, in milliseconds, since clocks are set and machines sleep. */
const maxWaitMs = 30_000;

/**
 * Runs decay periodically: one run when the interval has passed since the last one began, never two at once.
 *
 * The clock decides: a timer that fires early is set again, and after a machine's sleep there is one run, not several.
 * The host reports failures; the next run comes as usual. After a long run the pause is at least as long. The timer
 * does not keep the process alive.
 */
export class DecaySchedule {
  readonly #host: DecayScheduleHost;
  readonly #closing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the next run begins, and the delay with which it was scheduled, in milliseconds. */
  #due = 0;
  #delay = 0;
  #running: Promise<void> | null = null;

  constructor(host: DecayScheduleHost) {
    this.#host = host;
    this.#schedule(host.intervalMs);
  }

  /** Starts no further run; resolves when the current one has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Schedules the next run after this many milliseconds. */
  #schedule(ms: number): void {
    this.#delay = ms;
    this.#due = this.#host.clock.now() + ms;
    this.#wait();
  }

  #wait(): void {
    if (this.#closing.signal.aborted) return;
    const now = this.#host.clock.now();
    // If the clock was set back, the delay is at most the scheduled one.
    this.#due = Math.min(this.#due, now + this.#delay);
    this.#timer = setTimeout(() => this.#check(), Math.min(maxWaitMs, Math.max(1, this.#due - now)));
    this.#timer.unref();
  }

  #check(): void {
    this.#timer = null;
    const { clock, intervalMs, run } = this.#host;
    const start = clock.now();
    if (start < this.#due) {
      this.#wait();
      return;
    }
    this.#running = run(this.#closing.signal).finally(() => {
      this.#running = null;
      const took = clock.now() - start;
      this.#schedule(Math.max(intervalMs - took, took, 0));
    });
  }
}
