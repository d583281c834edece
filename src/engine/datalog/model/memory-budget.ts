/**
 * The memory that everything derived may take, of all tenants together.
 *
 * Whoever keeps something beyond one question holds it here; what was used longest ago is let go first when a question
 * needs the room. A holder that is being worked with is never asked to let go.
 */
export interface MemoryHolder {
  readonly bytes: number;
  /** Lets go of what it holds. False where somebody is at it. */
  evict(): boolean;
}

export class MemoryBudget {
  readonly limit: number;
  /** What each took when it was last measured, those used longest ago first. */
  readonly #held = new Map<MemoryHolder, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** What all holders took when they were last measured. */
  get heldBytes(): number {
    let bytes = 0;
    for (const held of this.#held.values()) bytes += held;
    return bytes;
  }

  /** Notes that the holder was used, and what it takes now. */
  use(holder: MemoryHolder): void {
    this.#held.delete(holder);
    this.#held.set(holder, holder.bytes);
  }

  /** Forgets a holder that is no more. */
  forget(holder: MemoryHolder): void {
    this.#held.delete(holder);
  }

  /**
   * True where `bytes` fit in beside what the others hold (`own` does not count against itself), once those have let
   * go of what is in the way.
   */
  fits(bytes: number, own: MemoryHolder | null): boolean {
    if (own !== null && this.#held.has(own)) this.#held.set(own, bytes);
    let total = bytes;
    for (const [holder, held] of this.#held) if (holder !== own) total += held;
    for (const [holder, held] of this.#held) {
      if (total <= this.limit) return true;
      if (bytes > this.limit) return false;
      if (holder === own || !holder.evict()) continue;
      this.#held.delete(holder);
      total -= held;
    }
    return total <= this.limit;
  }
}
