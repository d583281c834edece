import { everywhere } from './decay.ts';
import type { LiveState } from '../session/live-state.ts';
import { withoutCancellation, type Writer } from '../session/writer.ts';
import type { Caller } from '../base/caller.ts';
import { type ClockSetting, maxClockStepMs } from '../base/clock.ts';

interface ClockCorrectionHost {
  readonly writer: Writer & { readonly live: Pick<LiveState, 'everyTenant' | 'storeOf' | 'showTime'> };
  /** False if another service stores the writes: it corrects what its clock did. */
  readonly mayWrite: () => boolean;
  readonly onWarn: (message: string) => void;
  readonly onBug: (error: unknown) => void;
}

/**
 * Moves the ends of validity that a `ttl` gave by a clock that was ahead, once it is put right: by a write in each tenant,
 * so that the log, followers and nodes have it. If the clock is set forward again past the time at which a `ttl` was told,
 * the earlier end was right, and returns.
 *
 * A step is known from the monotonic clock. After a start, a promotion or a take of the log, a `ttl` that was told in the
 * future shows it. Writes that fail for want of storage are tried again at the next look.
 */
export class ClockCorrection {
  readonly #host: ClockCorrectionHost;
  readonly #closing = new AbortController();
  /** Not yet worked off, in order, each with the tenants that it is done for. */
  readonly #settings: { readonly setting: ClockSetting; readonly done: Set<string> }[] = [];
  #running: Promise<void> | null = null;

  constructor(host: ClockCorrectionHost) {
    this.#host = host;
  }

  /** Called when the clock was set. */
  set(setting: ClockSetting): void {
    if (this.#host.mayWrite()) this.#settings.push({ setting, done: new Set() });
  }

  /** True if nothing is known that is to be corrected. */
  get isDone(): boolean {
    return this.#settings.length === 0;
  }

  /** Begins to correct what is to be corrected, unless that is under way. */
  look(): void {
    if (this.#running !== null || this.#closing.signal.aborted || !this.#host.mayWrite()) return;
    if (this.#settings.length === 0) this.#findFuture();
    if (this.#settings.length === 0) return;
    this.#running = this.#correct()
      .catch(this.#host.onBug)
      .finally(() => {
        this.#running = null;
      });
  }

  /** Corrects nothing more; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Finds a `ttl` that was told in the future by more than clocks may differ. */
  #findFuture(): void {
    const { live } = this.#host.writer;
    const to = live.showTime();
    let from = Number.NEGATIVE_INFINITY;
    for (const { tenant } of live.everyTenant()) from = Math.max(from, tenant.facts.past.latestTold);
    if (from > to + maxClockStepMs) this.set({ from, to, after: to });
  }

  async #correct(): Promise<void> {
    for (let next = this.#settings[0]; next !== undefined; next = this.#settings[0]) {
      const { setting, done } = next;
      const isComplete = await everywhere(
        {
          ...this.#host,
          actor: 'clock-correction',
          work: 'The ends of validity by a ttl were not corrected',
        },
        this.#closing.signal,
        async (caller) => {
          const place = JSON.stringify([caller.database, caller.tenant]);
          if (done.has(place)) return;
          await this.#moveEnds(caller, setting);
          done.add(place);
        },
      );
      if (!isComplete) return;
      this.#settings.shift();
    }
  }

  async #moveEnds(caller: Caller, setting: ClockSetting): Promise<void> {
    const { writer } = this.#host;
    const hasMoves = (time: number): boolean => {
      const moves = writer.live.storeOf(caller)?.past.moves(setting, time);
      return moves !== undefined && moves.next().done !== true;
    };
    if (!hasMoves(writer.live.showTime())) return;
    await writer.write({
      caller: withoutCancellation(caller),
      isOfTenant: true,
      operation: (time) => {
        const operation = { kind: 'moveEnds', tenant: caller.tenant, ...setting } as const;
        return Promise.resolve(hasMoves(time) ? { operation, isUnjudged: true } : null);
      },
    });
  }
}
