/**
 * What is running for clients: calls, which end with an answer, and long-lived streams.
 *
 * The number of streams is bounded, in total and per owner, so that no client takes them from others. At shutdown
 * streams end at once; calls get time to finish before they are cancelled.
 */

import { type Cancellation, CancellationSource, EngineError } from '../../engine/index.ts';
import { limits } from './limits.ts';

/** One call or stream. Cancelled when its client has disconnected or the service can wait no longer. */
export interface Task extends Cancellation {
  /** True if the service aborted it, not the client. */
  readonly isCutOff: boolean;
  cancel(): void;
  done(): void;
}

/** Counts and bounds what is running, and ends it at shutdown. */
export class Activity {
  readonly #calls = new Set<RunningTask>();
  readonly #streams = new Set<RunningTask>();
  /** Open streams by owner. */
  readonly #owned = new Map<string, number>();
  #whenIdle: (() => void) | null = null;
  #started = 0;

  /** Number of running calls. */
  get running(): number {
    return this.#calls.size;
  }

  /** Number of calls so far. */
  get started(): number {
    return this.#started;
  }

  startCall(): Task {
    this.#started++;
    return this.#start(this.#calls);
  }

  /** `owner` is a credential or an address. Refuses with RateLimited. */
  startStream(owner: string): Task {
    const owned = this.#owned.get(owner) ?? 0;
    if (this.#streams.size >= limits.eventStreams) throw tooMany(this.#streams.size, 'of all clients');
    if (owned >= limits.eventStreamsOfOne) throw tooMany(owned, 'of this credential or address');
    this.#owned.set(owner, owned + 1);
    return this.#start(this.#streams, () => {
      const left = (this.#owned.get(owner) ?? 1) - 1;
      if (left === 0) this.#owned.delete(owner);
      else this.#owned.set(owner, left);
    });
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.cutOff();
  }

  cancelCalls(): void {
    for (const call of this.#calls) call.cutOff();
  }

  /** Resolves when no call is running, or after `limitMs`; true if all have finished. */
  async idle(limitMs: number): Promise<boolean> {
    if (this.#calls.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
    this.#whenIdle = null;
    return this.#calls.size === 0;
  }

  #start(tasks: Set<RunningTask>, onDone: () => void = () => {}): Task {
    const task = new RunningTask(() => {
      if (!tasks.delete(task)) return;
      onDone();
      if (this.#calls.size === 0) this.#whenIdle?.();
    });
    tasks.add(task);
    return task;
  }
}

class RunningTask extends CancellationSource implements Task {
  readonly #onDone: () => void;
  isCutOff = false;

  constructor(onDone: () => void) {
    super();
    this.#onDone = onDone;
  }

  cutOff(): void {
    this.isCutOff = true;
    this.cancel();
  }

  done(): void {
    this.#onDone();
  }
}

function tooMany(count: number, whose: string): EngineError {
  return new EngineError(
    'RateLimited',
    `${count} streams ${whose} are open: close some, or try again in 5 s`,
    {
      retryAfterSeconds: 5,
    },
  );
}
