/**
 * Maximum of durable writes waiting to be applied. Later writes wait before they are stamped, since waiting records are
 * held in memory.
 */
const maxBehind = 64;

/** A write in the queue of its database. */
interface QueuedWrite<Result> {
  /** True: no other write of the database may be in progress. */
  readonly isExclusive: boolean;
  /** Resolves when the log has room. */
  readonly room: () => Promise<void>;
  /** Whether a write that need not be exclusive has to be after all; called once, when it is its turn. */
  readonly becomesExclusive: () => boolean;
  readonly start: (isAlone: boolean) => Promise<Result>;
}

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
   * when none is. Then one that need not be exclusive is asked whether it becomes so. `start` is told if it is alone.
   */
  async run<Result>({ isExclusive, room, becomesExclusive, start }: QueuedWrite<Result>): Promise<Result> {
    const before = this.#turn;
    let pass = (): void => {};
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    this.#writes++;
    let isAlone = isExclusive;
    try {
      let started: Promise<Result>;
      try {
        await before;
        await room();
        while (this.#mustWait(isAlone)) await this.#change();
        if (!isAlone) isAlone = becomesExclusive();
        while (this.#mustWait(isAlone)) await this.#change();
        this.#isExclusive = isAlone;
        this.#underWay++;
        started = start(isAlone);
      } finally {
        pass();
      }
      try {
        return await started;
      } finally {
        this.#underWay--;
        if (isAlone) this.#isExclusive = false;
        this.#wake();
      }
    } finally {
      this.#writes--;
    }
  }

  /** True if a write may not be stamped yet: an exclusive one waits for every other. */
  #mustWait(isAlone: boolean): boolean {
    return this.#isExclusive || (isAlone && this.#underWay > 0) || this.#behind >= maxBehind;
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
