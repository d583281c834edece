import { EngineError } from '../base/errors.ts';

/** The heap of V8, in which the texts and objects of all questions lie: a process that fills it dies for everybody. */
export interface QuestionHeap {
  /** True if the heap is nearly full. May collect garbage. */
  isNearlyFull(): boolean;
  /** How to have a larger one, for whoever was refused. */
  readonly remedy: string;
}

/** Bytes that a question takes between two looks at the heap; with fewer it is never refused for the heap. */
const bytesBetweenHeapLooks = 2 * 1024 * 1024;

/** Characters of a text that is put in one piece when it is counted. */
const longText = 1024;

/**
 * The bytes that one question may take for what it builds. Whatever grows asks before it grows, so a question
 * is refused before the memory is allocated, however large the step. If the heap is nearly full, those that go on growing
 * are refused before their limit.
 */
export class QuestionMemory {
  limit: number;
  readonly #heap: QuestionHeap | null;
  /** Bytes taken and not given back. */
  used = 0;
  /** Up to this many bytes, the heap is not looked at. */
  #nextLook = bytesBetweenHeapLooks;
  /** Written so that reading a text is not optimized away. */
  lastRead = 0;
  /** True once a request was refused. */
  isExhausted = false;

  constructor(limit: number, heap: QuestionHeap | null = null) {
    this.limit = limit;
    this.#heap = heap;
  }

  /** Takes the bytes, or throws 422 InferenceLimitExceeded if the question would have more than its limit. */
  take(bytes: number): void {
    if (this.used + bytes > this.limit)
      throw this.#exhausted(
        `the question needed more than the ${this.limit} bytes that one question may take; ask something narrower, bind an argument, or raise QUESTION_MEMORY_BYTES`,
      );
    if (this.used + bytes > this.#nextLook) {
      if (this.#heap?.isNearlyFull() === true)
        throw this.#exhausted(
          `the heap is nearly full, and the question needed more of it; ask something narrower, bind an argument, or ${this.#heap.remedy}`,
        );
      this.#nextLook = this.used + bytes + bytesBetweenHeapLooks;
    }
    this.used += bytes;
  }

  /**
   * Takes the bytes of a text and those beside it. V8 keeps a concatenation as its parts until somebody reads it, and takes
   * the memory only then: a long one is put in one piece now, so that the heap shows it.
   */
  takeText(text: string, beside: number): void {
    this.take(beside + text.length);
    if (text.length >= longText) this.lastRead = text.charCodeAt(text.length >>> 1);
  }

  /** From now on everything is granted: for work that must be possible when there is no memory left, since it frees some. */
  refuseNothing(): void {
    this.limit = this.#nextLook = Number.POSITIVE_INFINITY;
  }

  #exhausted(detail: string): EngineError {
    this.isExhausted = true;
    return new EngineError('InferenceLimitExceeded', detail, { limit: 'memory' });
  }

  /** Gives bytes back. Those that an earlier question had taken count as nothing. */
  free(bytes: number): void {
    this.used = Math.max(0, this.used - bytes);
    this.#nextLook = Math.min(this.#nextLook, this.used + bytesBetweenHeapLooks);
  }
}

/**
 * Where the structures of one table set ask for memory: the question that uses the set pays for what it adds, and the
 * meter counts what they have. Without a payer, as during maintenance, everything is granted.
 */
export class MemoryMeter {
  /** Bytes of the structures that ask here: a running total, so that reading it costs nothing. */
  held = 0;
  readonly #account: { payer: QuestionMemory | null };

  constructor(account: { payer: QuestionMemory | null } = { payer: null }) {
    this.#account = account;
  }

  get payer(): QuestionMemory | null {
    return this.#account.payer;
  }

  set payer(payer: QuestionMemory | null) {
    this.#account.payer = payer;
  }

  /** A meter with the same payer and a total of its own. */
  apart(): MemoryMeter {
    return new MemoryMeter(this.#account);
  }

  /** Called before a structure grows. Throws 422 InferenceLimitExceeded if the payer has no more. */
  take(bytes: number): void {
    this.#account.payer?.take(bytes);
    this.held += bytes;
  }

  /** Called when a structure has shrunk or is dropped. */
  free(bytes: number): void {
    this.#account.payer?.free(bytes);
    this.held -= bytes;
  }

  /** Counts bytes that were paid for elsewhere. */
  adopt(bytes: number): void {
    this.held += bytes;
  }
}
