/**
 * Answers that cross piece by piece: a reader that is slow holds back the writer on the other thread, and no more than
 * `maxPiecesUnderWay` pieces lie between them.
 */
import type { ReadContext } from '../session/read-context.ts';

/** Takes an answer that crosses piece by piece. */
export interface PieceTaker {
  /** Called in the turn in which the task is posted, with what it sees; again if the task begins again. */
  begun(now: ReadContext): void;
  /** Takes the next piece; the next one comes when it has resolved. If it rejects, the task is cancelled. */
  take(piece: Uint8Array): Promise<void>;
}

/** Pieces that the writer may post: it waits if there are none. */
export class Credits {
  #left: number;
  readonly #signal: AbortSignal;
  #wake = (): void => {};

  /** The signal ends the wait. */
  constructor(count: number, signal: AbortSignal) {
    this.#left = count;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake());
  }

  give(): void {
    this.#left++;
    this.#wake();
  }

  /** One writer at a time. Rejects if the signal is aborted. */
  async take(): Promise<void> {
    while (this.#left === 0 && !this.#signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#signal.throwIfAborted();
    this.#left--;
  }
}

/** The pieces of one answer that were not taken yet, in their order. */
export class Pieces {
  /** True once the first one came: from then on the task cannot begin again. */
  hasBegun = false;
  readonly #taker: PieceTaker;
  #taken = (): void => {};
  #failed = (_error: unknown): void => {};
  #taking: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(taker: PieceTaker) {
    this.#taker = taker;
  }

  /** From now on `taken` is called after each piece, or `failed`, at most once, instead. */
  start(taken: () => void, failed: (error: unknown) => void): void {
    this.#taken = taken;
    this.#failed = failed;
  }

  add(piece: Uint8Array): void {
    this.hasBegun = true;
    this.#taking = this.#taking.then(() => this.#take(piece));
  }

  async #take(piece: Uint8Array): Promise<void> {
    if (this.#isOver) return;
    try {
      await this.#taker.take(piece);
      if (!this.#isOver) this.#taken();
    } catch (error) {
      // What has ended it is known already, such as that its reader has gone.
      if (this.#isOver) return;
      this.end();
      this.#failed(error);
    }
  }

  /** Resolves when all that came were taken, or it has ended. */
  taken(): Promise<void> {
    return this.#taking;
  }

  /** No piece is taken any more. */
  end(): void {
    this.#isOver = true;
  }
}

/** The thread that streamed an answer ended in the middle: some of it was taken. */
export class AnswerLost extends Error {
  constructor() {
    super('the reasoning thread that wrote the answer ended in the middle');
    this.name = 'AnswerLost';
  }
}
