/**
 * Work in slices: a long piece of work lets everything else run every few milliseconds.
 *
 * What it does between two slices is visible to others unless it takes care; how long a slice lasts is measured by
 * the clock, so nothing that must be deterministic may depend on where slices end.
 */
export class Slices {
  readonly #pause: () => Promise<void>;
  #startedAt = performance.now();

  /** `pause` lets everything else that waits run, then resolves. */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** True when it is time to let others run. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt > sliceMs;
  }

  /** Lets others run. */
  async pause(): Promise<void> {
    await this.#pause();
    this.#startedAt = performance.now();
  }

  /** Lets others run where the slice is over. To be called every few hundred small steps. */
  async breathe(): Promise<void> {
    if (this.isOver) await this.pause();
  }
}

/** How long a slice holds the thread, in milliseconds. */
const sliceMs = 5;

/** Does work that comes in small steps, with a breath between any two. */
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

/** Does the same without a breath, where nobody waits. */
export function runAtOnce<Result>(steps: Generator<'more', Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
