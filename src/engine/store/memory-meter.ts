import { EngineError } from '../base/errors.ts';

/**
 * The bytes that one question may take for what it builds. Whatever grows asks before it grows, so a question
 * is refused before the memory is allocated, however large the step.
 */
export class QuestionMemory {
  readonly limit: number;
  /** Bytes taken and not given back. */
  used = 0;
  /** True once a request was refused. */
  isExhausted = false;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Takes the bytes, or throws 422 InferenceLimitExceeded if the question would have more than its limit. */
  take(bytes: number): void {
    if (this.used + bytes <= this.limit) {
      this.used += bytes;
      return;
    }
    this.isExhausted = true;
    throw new EngineError(
      'InferenceLimitExceeded',
      `the question needed more than the ${this.limit} bytes that one question may take; ask something narrower, bind an argument, or raise QUESTION_MEMORY_BYTES`,
      { limit: 'memory' },
    );
  }

  /** Gives bytes back. Those that an earlier question had taken count as nothing. */
  free(bytes: number): void {
    this.used = Math.max(0, this.used - bytes);
  }
}

/**
 * Where the structures of one table set ask for memory: the question that uses the set pays for what it adds.
 * Without a payer, as during maintenance, everything is granted.
 */
export class MemoryMeter {
  payer: QuestionMemory | null = null;

  /** Called before a structure grows. Throws 422 InferenceLimitExceeded if the payer has no more. */
  take(bytes: number): void {
    this.payer?.take(bytes);
  }

  /** Called when a structure has shrunk or is dropped. */
  free(bytes: number): void {
    this.payer?.free(bytes);
  }
}
