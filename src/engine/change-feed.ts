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
   * Changes that `concerns` takes, from now on or after `lastId`. Where that one is no longer remembered the first
   * is `reset`. Ends when the signal aborts.
   */
  async *stream(
    concerns: (change: Change) => boolean,
    lastId: string | null,
    reset: () => Change,
    signal: AbortSignal,
  ): AsyncGenerator<Change> {
    let waiting: Change[] = lastId === null ? [] : this.#after(lastId, concerns, reset);
    let wake: (() => void) | null = null;
    const stop = this.subscribe((change) => {
      if (!concerns(change)) return;
      if (waiting.length >= mostWaiting) waiting = [reset()];
      else waiting.push(change);
      wake?.();
    });
    const onAbort = (): void => wake?.();
    signal.addEventListener('abort', onAbort);
    try {
      while (!signal.aborted) {
        const batch = waiting;
        waiting = [];
        for (const change of batch) {
          yield change;
          if (signal.aborted) return;
        }
        if (waiting.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (signal.aborted || waiting.length > 0) resolve();
        });
        wake = null;
      }
    } finally {
      stop();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #after(lastId: string, concerns: (change: Change) => boolean, reset: () => Change): Change[] {
    const mine = this.#recent.filter(concerns);
    const at = mine.findLastIndex((change) => change.id === lastId);
    return at < 0 ? [reset()] : mine.slice(at + 1);
  }
}
