import type { QuestionHeap } from '../../store/memory-meter.ts';
import type { SortedRuns } from '../../store/sorted-runs.ts';

/** Anything derived that outlives a question and occupies memory of the budget. */
export interface MemoryHolder {
  readonly bytes: number;
  /** Frees the memory. False if it is in use. */
  evict(): boolean;
}

/**
 * The memory that derived data of all tenants may take together, as an LRU cache of its holders.
 *
 * When a question needs room, the least recently used holders are evicted first. A holder in use is not
 * evicted.
 */
export class MemoryBudget {
  readonly limit: number;
  /** Bytes that one question may take for what it builds. */
  readonly questionLimit: number;
  /** What questions look at while they grow; null: nothing. */
  readonly heap: QuestionHeap | null;
  /** Bytes of each holder when last measured, least recently used first. */
  readonly #held = new Map<MemoryHolder, number>();

  constructor(limit: number, questionLimit = limit, heap: QuestionHeap | null = null) {
    this.heap = heap;
    this.limit = limit;
    this.questionLimit = questionLimit;
  }

  /** Bytes of all holders when last measured. */
  get heldBytes(): number {
    let bytes = 0;
    for (const held of this.#held.values()) bytes += held;
    return bytes;
  }

  /** Records a use of the holder, and its current bytes: measuring thousands of tables takes a while. */
  use(holder: MemoryHolder, bytes = holder.bytes): void {
    this.#held.delete(holder);
    this.#held.set(holder, bytes);
  }

  /** Forgets a holder that is gone. */
  forget(holder: MemoryHolder): void {
    this.#held.delete(holder);
  }

  /**
   * True if `bytes` fit beside what the other holders take (`own` does not count against itself), after
   * evicting holders as necessary.
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

/** The sorted runs of a relation of stored facts, which may be gone before its runs are evicted. */
class RunsHolder implements MemoryHolder {
  readonly #runs: WeakRef<SortedRuns>;

  constructor(runs: SortedRuns) {
    this.#runs = new WeakRef(runs);
  }

  get bytes(): number {
    return this.#runs.deref()?.bytes ?? 0;
  }

  evict(): boolean {
    this.#runs.deref()?.drop();
    return true;
  }
}

const holders = new WeakMap<SortedRuns, MemoryHolder>();

/** The runs as a holder of memory, the same at each call. */
export function holderOf(runs: SortedRuns): MemoryHolder {
  let holder = holders.get(runs);
  if (holder === undefined) holders.set(runs, (holder = new RunsHolder(runs)));
  return holder;
}
