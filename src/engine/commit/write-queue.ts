/**
 * Maximum of durable writes waiting to be applied. Later writes wait before they are stamped, since waiting records are
 * held in memory.
 */
const maxBehind = 64;

/**
 * The writes of one database: it admits them to the log in order of arrival, exclusive ones alone, and applies what is
 * durable one after another.
 */
export class WriteQueue {
  /** Resolves when the last durable record is applied; null: none is being applied. */
  applying: Promise<void> | null = null;
  /** Durable records that wait for an earlier one to be applied. */
  #behind = 0;
  /** Resolves when the previous write is stamped; writes are stamped in order of arrival. */
  #turn: Promise<void> = Promise.resolve();
  /** Writes that were called and have not ended. */
  #writes = 0;
  #underWay = 0;
  #isExclusive = false;
  #waiting: (() => void)[] = [];

  /** True if nothing is being written or applied. */
  get isIdle(): boolean {
    return this.#writes === 0 && this.applying === null;
  }

  /**
   * Calls `start` when it is this write's turn, there is `room`, and no exclusive write is in progress; an exclusive one
   * when none is.
   */
  async run<Result>(
    isExclusive: boolean,
    room: () => Promise<void>,
    start: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.#turn;
    let pass = (): void => {};
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    this.#writes++;
    try {
      let started: Promise<Result>;
      try {
        await before;
        await room();
        while (this.#isExclusive || (isExclusive && this.#underWay > 0) || this.#behind >= maxBehind)
          await this.#change();
        this.#isExclusive = isExclusive;
        this.#underWay++;
        started = start();
      } finally {
        pass();
      }
      try {
        return await started;
      } finally {
        this.#underWay--;
        if (isExclusive) this.#isExclusive = false;
        this.#wake();
      }
    } finally {
      this.#writes--;
    }
  }

  /** Applies a durable record after `before`, null: at once; later ones wait, even if it fails. */
  apply<Result>(before: Promise<unknown> | null, run: () => Promise<Result>): Promise<Result> {
    if (before === null) return this.#last(run());
    this.#behind++;
    return this.#last(
      before.then(() => {
        this.#behind--;
        return run();
      }),
    );
  }

  /** Lets later records wait for `cut`, which ends no earlier than the present ones are applied. */
  hold(cut: Promise<void>): void {
    void this.#last(cut);
  }

  #last<Result>(applied: Promise<Result>): Promise<Result> {
    const ended = applied.then(
      () => {},
      // The write's caller receives the error.
      () => {},
    );
    const isLast = ended.then(() => {
      if (this.applying === isLast) this.applying = null;
    });
    this.applying = isLast;
    return applied;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
