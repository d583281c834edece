import { type Pause, Slices } from '../base/slices.ts';
import type { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { FactStore } from '../store/fact-store.ts';
import { WordIndex } from './word-index.ts';

/** The index of fewer constants is made by the first search in no time. */
const minConstants = 1000;
/** Time without a question or a write before the work begins, and before it goes on. */
const quietMs = 300;

interface IndexAtStartHost {
  /** The facts of every tenant. */
  readonly stores: () => Iterable<FactStore>;
  readonly memory: Pick<MemoryBudget, 'limit' | 'heldBytes' | 'use' | 'fits'>;
  readonly pause: Pause;
  /** Milliseconds since the last question or write. */
  readonly quietForMs: () => number;
  /** Waits; resolves at once when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Receives internal errors that no caller sees: bugs. */
  readonly onBug: (error: unknown) => void;
}

/**
 * Makes the index of words of what was stored before the start, so that the first search need not. Works in slices, while
 * nothing else is asked or written, and takes at most half of the memory for derived data. A search in the meantime takes
 * in the rest itself.
 */
export class IndexAtStart {
  readonly #host: IndexAtStartHost;
  readonly #ending = new AbortController();
  /** Resolves when the work has ended. */
  readonly done: Promise<void>;

  constructor(host: IndexAtStartHost) {
    this.#host = host;
    this.done = this.#run().catch((error: unknown) => {
      if (!this.#ending.signal.aborted) host.onBug(error);
    });
  }

  /** Ends the work; resolves when it has ended. */
  close(): Promise<void> {
    this.#ending.abort();
    return this.done;
  }

  async #run(): Promise<void> {
    const { stores, memory, pause } = this.#host;
    const wanted = [...stores()].filter(({ dictionary }) => dictionary.size >= minConstants);
    if (wanted.length === 0) return;
    // The start comes first.
    await this.#host.wait(quietMs, this.#ending.signal);
    await this.#quiet();
    const slices = new Slices(async () => {
      await pause();
      await this.#quiet();
    });
    for (const facts of wanted) {
      if (memory.heldBytes > memory.limit / 2) return;
      await WordIndex.using(
        facts,
        () => slices.breathe(),
        async (index) => memory.use(index),
      );
      // An index that is larger than what is left goes again, and so do others.
      memory.fits(0, null);
    }
  }

  /** Resolves when nothing was asked or written for a while. */
  async #quiet(): Promise<void> {
    const { signal } = this.#ending;
    signal.throwIfAborted();
    for (;;) {
      const left = quietMs - this.#host.quietForMs();
      if (left <= 0) return;
      await this.#host.wait(left, signal);
      signal.throwIfAborted();
    }
  }
}
