import { type Pause, sliceMs } from './scheduler.ts';

/**
 * Cooperative scheduling: splits long work into slices and yields to the event loop between them.
 *
 * Other code can observe intermediate state between two slices unless the caller hides it. The clock decides how long a
 * slice lasts, so nothing that must be deterministic may depend on where a slice ends.
 */
export class Slices {
  readonly #pause: Pause;
  #startedAt = performance.now();

  /** `pause`: from `Scheduler.pauseOf`. */
  constructor(pause: Pause) {
    this.#pause = pause;
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
