/** What ends a pause before its turn comes: then the task looks at its limits, and ends. */
export interface Wake {
  /** By `performance.now()`. */
  readonly deadline: number;
  readonly signal: Pick<AbortSignal, 'aborted'>;
}

/** Lets all other waiting work run, then resolves. */
export interface Pause {
  (wake?: Wake): Promise<void>;
  /** When the slice of a task that begins now began, by `performance.now()`; absent: now. */
  readonly sliceSince?: () => number;
}

/** How long a slice may hold the thread, in milliseconds. */
export const sliceMs = 5;

/**
 * Cooperative scheduling: splits long work into slices and yields to the event loop between them.
 *
 * Other code can observe intermediate state between two slices unless the caller hides it. The clock decides how long a
 * slice lasts, so nothing that must be deterministic may depend on where a slice ends.
 */
export class Slices {
  readonly #pause: Pause;
  #startedAt: number;

  /** `pause`: from `Scheduler.pauseOf`. */
  constructor(pause: Pause) {
    this.#pause = pause;
    this.#startedAt = pause.sliceSince?.() ?? performance.now();
  }

  /** True when the current slice has used up its time. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt > sliceMs;
  }

  /** Yields, then begins a new slice. */
  async pause(): Promise<void> {
    await this.#pause();
    this.#startedAt = performance.now();
  }

  /** Yields if the slice is over. Call it every few hundred small steps. */
  async breathe(): Promise<void> {
    if (this.isOver) await this.pause();
  }
}

/** Runs a generator of small steps to its result and calls `breathe` after each step. */
export async function runInSlices<Result>(
  steps: Generator<'more', Result, undefined>,
  breathe: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await breathe();
  }
}

/** Runs the same generator synchronously, without yielding. */
export function runAtOnce<Result>(steps: Generator<'more', Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
