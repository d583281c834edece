import type { Change } from './engine.ts';

/**
 * The changes of all databases as they happen, and the last of them for who comes back.
 *
 * A subscriber who falls behind is told to start again rather than held in memory without end.
 */
const remembered = 10_000;
const mostWaiting = 10_000;

export class ChangeFeed {
  #recent: Change[] = [];
  readonly #listeners = new Set<(change: Change) => void>();

  publish(change: Change): void {
    this.#recent.push(change);
    if (this.#recent.length > 2 * remembered) this.#recent = this.#recent.slice(-remembered);
    for (const listener of this.#listeners) listener(change);
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Changes that `concerns` takes, from this call on or after `lastId`. Where that one is no longer remembered the
   * first is `reset`. Ends when the signal aborts or the reader leaves.
   */
  stream(
    concerns: (change: Change) => boolean,
    lastId: string | null,
    reset: () => Change,
    signal: AbortSignal,
  ): AsyncIterableIterator<Change> {
    const missed = lastId === null ? [] : this.#after(lastId, concerns, reset);
    const subscription = new Subscription(missed, reset, signal);
    if (!signal.aborted)
      subscription.onEnd = this.subscribe((change) => {
        if (concerns(change)) subscription.add(change);
      });
    return subscription;
  }

  #after(lastId: string, concerns: (change: Change) => boolean, reset: () => Change): Change[] {
    const mine = this.#recent.filter(concerns);
    const at = mine.findLastIndex((change) => change.id === lastId);
    return at < 0 ? [reset()] : mine.slice(at + 1);
  }
}

/** One subscriber's changes, from the feed to whoever reads them. */
class Subscription implements AsyncIterableIterator<Change> {
  onEnd: () => void = () => {};
  #waiting: Change[];
  #wake: (() => void) | null = null;
  #isOver = false;
  readonly #reset: () => Change;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#end();

  constructor(waiting: Change[], reset: () => Change, signal: AbortSignal) {
    this.#waiting = waiting;
    this.#reset = reset;
    this.#signal = signal;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#onAbort);
  }

  add(change: Change): void {
    if (this.#waiting.length >= mostWaiting) this.#waiting = [this.#reset()];
    else this.#waiting.push(change);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Change>> {
    while (!this.#isOver) {
      const change = this.#waiting.shift();
      if (change !== undefined) return { done: false, value: change };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Change>> {
    this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.onEnd();
    this.#wake?.();
  }
}
