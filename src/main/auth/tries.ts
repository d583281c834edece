/**
 * Limits password attempts per address within a minute.
 *
 * Refused attempts do not count, so a caller who waits a minute can always try again. Addresses without an attempt for
 * a minute are dropped at the next attempt of another address.
 */
import { EngineError } from '../../engine/index.ts';

const maxTries = 5;
const minuteMs = 60_000;

/** A sliding window of attempts per address. */
export class Tries {
  readonly #now: () => number;
  /** When each address tried within the last minute, oldest first; the address with the latest attempt comes last. */
  readonly #tries = new Map<string, number[]>();

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Refuses an address that has used up its attempts with RateLimited and the seconds to wait. */
  admit(address: string): void {
    const tries = this.#recent(normal(address));
    const [oldest] = tries;
    if (oldest === undefined || tries.length < maxTries) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + minuteMs - this.#now()) / 1000));
    throw new EngineError(
      'RateLimited',
      `more than ${maxTries} tries in a minute from this address: try again in ${retryAfterSeconds} s`,
      { retryAfterSeconds },
    );
  }

  /** Like `admit`, and counts one attempt. */
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

/** An IPv4 address mapped into IPv6 counts as the same address. */
function normal(address: string): string {
  return address.replace(/^::ffff:/i, '');
}
