/** Runs a task for all who ask for it: one run at a time, and each begins after everyone whom it serves has asked. */
export class SharedRun {
  readonly #task: () => Promise<void>;
  #present: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Resolves, or rejects, as a run does that begins after the call. */
  run(): Promise<void> {
    this.#next ??= this.#afterPresent();
    return this.#next;
  }

  /** Resolves when no run is under way or asked for. Never rejects. */
  async idle(): Promise<void> {
    for (let last = this.#next ?? this.#present; last !== null; last = this.#next ?? this.#present)
      await ended(last);
  }

  async #afterPresent(): Promise<void> {
    await (this.#present === null ? Promise.resolve() : ended(this.#present));
    this.#next = null;
    this.#present = this.#task();
    try {
      await this.#present;
    } finally {
      this.#present = null;
    }
  }
}

async function ended(run: Promise<void>): Promise<void> {
  try {
    await run;
  } catch {
    // Those whom it served are told.
  }
}
