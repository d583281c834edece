import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { QuestionHeap } from '../store/memory-meter.ts';
import { AnswerCache, ListingCache } from './caches.ts';

/** Listings and answers may use these fractions of the memory for derived data: one eighth and one sixty-fourth. */
const listingsDivisor = 8;
const answersDivisor = 64;

/** The memory for what is derived from knowledge, and the caches in it. All engines of a process can share one. */
export class DerivedMemory {
  readonly budget: MemoryBudget;
  readonly listings: ListingCache;
  readonly answers: AnswerCache;

  /** Of so many bytes; one question may take `questionBytes` of them, and looks at `heap` while it grows. */
  constructor(bytes: number, questionBytes: number, heap: QuestionHeap | null = null) {
    this.budget = new MemoryBudget(bytes, questionBytes, heap);
    this.listings = new ListingCache(bytes / listingsDivisor);
    this.answers = new AnswerCache(bytes / answersDivisor);
  }

  /** Frees what no question is using. */
  free(): void {
    this.answers.clear();
    this.listings.clear();
    this.budget.fits(this.budget.limit, null);
  }
}
