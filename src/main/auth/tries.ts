/**
 * How often somebody may try a password: so many times within a minute from one address.
 *
 * Refused tries do not count, so that who waits a minute can always try again. Addresses that were silent for a
 * minute are forgotten when another one tries.
 */
import { EngineError } from '../../engine/index.ts';

const mostTries = 5;
const minuteMs = 60_000;

export class Tries {
  readonly #now: () => number;
  /** When each address tried in the last minute, the oldest first; the address that tried last comes last. */
  readonly #tries = new Map<string, number[]>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Refuses with RateLimited, and the seconds until it is not, an address that has used up its tries. */
  admit(address: string): void {
    const tries = this.#recent(normal(address));
    const [oldest] = tries;
    if (oldest === undefined || tries.length < mostTries) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + minuteMs - this.#now()) / 1000));
    throw new EngineError(
      'RateLimited',
      `more than ${mostTries} tries in a minute from this address: try again in ${retryAfterSeconds} s`,
      { retryAfterSeconds },
    );
  }

  /** As `admit`, and counts one try. */
  take(address: string): void {
    this.admit(address);
    const name = normal(address);
    const tries = [...this.#recent(name), this.#now()];
    this.#tries.delete(name);
    this.#tries.set(name, tries);
    for (const [other, times] of this.#tries) {
      if ((times.at(-1) ?? 0) > this.#now() - minuteMs) break;
      this.#tries.delete(other);
    }
  }

  #recent(name: string): number[] {
    return (this.#tries.get(name) ?? []).filter((time) => time > this.#now() - minuteMs);
  }
}

/** An IPv4 address that came in by IPv6 is the same address. */
function normal(address: string): string {
  return address.replace(/^::ffff:/i, '');
}
