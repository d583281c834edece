/** The limits of a window. */
import { present } from '../base/assert.ts';
import type { Bucket, OmissionReason } from '../contract/context.ts';

export interface BudgetLimits {
  readonly maxFacts: number;
  /** null: unlimited. */
  readonly maxChars: number | null;
  readonly maxFactsPerPredicate: number | null;
  /** The only wanted predicates; null: all. */
  readonly predicates: readonly string[] | null;
  readonly relevanceBuckets: readonly Bucket[] | null;
}

/** What the budget counts of an entry. */
export interface Sized {
  readonly predicate: string;
  readonly charCount: number;
}

/** The shortest atom: `p()`. */
const minChars = 3;

/**
 * The remaining room of a window: facts, characters, facts per predicate and per bucket.
 *
 * Entries are accepted only if they fit; a refusal is final unless something is removed. A fact counts in the first
 * bucket that names its predicate. The callers decide what is worth adding.
 */
export class WindowBudget {
  readonly #maxFacts: number;
  readonly #maxChars: number;
  readonly #maxOfPredicate: number;
  readonly #wanted: ReadonlySet<string> | null;
  readonly #bucketOf = new Map<string, number>();
  readonly #ofPredicate = new Map<string, number>();
  readonly #inBucket: number[];
  /** By bucket, in the given order. */
  readonly maxAllocations: readonly number[];
  #facts = 0;
  #chars = 0;

  constructor(limits: BudgetLimits) {
    const buckets = limits.relevanceBuckets ?? [];
    this.#maxFacts = limits.maxFacts;
    this.#maxChars = limits.maxChars ?? Number.POSITIVE_INFINITY;
    this.#maxOfPredicate = limits.maxFactsPerPredicate ?? Number.POSITIVE_INFINITY;
    this.#wanted = limits.predicates === null ? null : new Set(limits.predicates);
    const total = buckets.reduce((sum, { weight }) => sum + weight, 0);
    this.maxAllocations = buckets.map(({ weight, maxFacts }) =>
      Math.min(
        maxFacts ?? Number.POSITIVE_INFINITY,
        Math.max(1, Math.floor((weight / total) * limits.maxFacts)),
      ),
    );
    this.#inBucket = buckets.map(() => 0);
    for (const [index, { predicates }] of buckets.entries())
      for (const predicate of predicates)
        if (!this.#bucketOf.has(predicate)) this.#bucketOf.set(predicate, index);
  }

  /** True if nothing more fits. */
  get isFull(): boolean {
    return this.#facts >= this.#maxFacts || this.#chars + minChars > this.#maxChars;
  }

  /** The number of facts that still fit. */
  get room(): number {
    return this.#maxFacts - this.#facts;
  }

  /** Index of the first bucket that names the predicate; -1: none. */
  bucketOf(predicate: string): number {
    return this.#bucketOf.get(predicate) ?? -1;
  }

  /** True if no fact of the predicate fits, however short. */
  isClosed(predicate: string): boolean {
    return this.isFull || this.#refusalOfPredicate(predicate) !== null;
  }

  /** Why the entry does not fit; null: it fits. */
  refusal({ predicate, charCount }: Sized): OmissionReason | null {
    const refused = this.#refusalOfPredicate(predicate);
    if (refused !== null) return refused;
    if (this.#facts >= this.#maxFacts || this.#chars + charCount > this.#maxChars) return 'budget';
    return null;
  }

  /**
   * Why these distinct entries do not fit together; null: they fit. Of several reasons the first in the order filtered,
   * predicate cap, bucket, budget.
   */
  refusalOf(entries: readonly Sized[]): OmissionReason | null {
    const ofPredicate = new Map<string, number>();
    const inBucket = new Map<number, number>();
    let chars = 0;
    for (const { predicate, charCount } of entries) {
      if (this.#wanted?.has(predicate) === false) return 'filtered';
      ofPredicate.set(predicate, (ofPredicate.get(predicate) ?? 0) + 1);
      const bucket = this.bucketOf(predicate);
      if (bucket >= 0) inBucket.set(bucket, (inBucket.get(bucket) ?? 0) + 1);
      chars += charCount;
    }
    for (const [predicate, count] of ofPredicate)
      if ((this.#ofPredicate.get(predicate) ?? 0) + count > this.#maxOfPredicate) return 'predicate_cap';
    for (const [bucket, count] of inBucket)
      if ((this.#inBucket[bucket] ?? 0) + count > (this.maxAllocations[bucket] ?? 0)) return 'bucket';
    return entries.length > this.room || this.#chars + chars > this.#maxChars ? 'budget' : null;
  }

  /** Adds the entry if it fits; returns why not, or null. */
  add(entry: Sized): OmissionReason | null {
    const refused = this.refusal(entry);
    if (refused === null) this.#count(entry, 1);
    return refused;
  }

  /** Removes an added entry. */
  remove(entry: Sized): void {
    this.#count(entry, -1);
  }

  #refusalOfPredicate(predicate: string): OmissionReason | null {
    if (this.#wanted?.has(predicate) === false) return 'filtered';
    if ((this.#ofPredicate.get(predicate) ?? 0) >= this.#maxOfPredicate) return 'predicate_cap';
    const bucket = this.bucketOf(predicate);
    if (bucket < 0) return null;
    const inBucket = present(this.#inBucket[bucket], 'a bucket has a count');
    return inBucket >= present(this.maxAllocations[bucket], 'a bucket has an allocation') ? 'bucket' : null;
  }

  #count({ predicate, charCount }: Sized, by: 1 | -1): void {
    this.#facts += by;
    this.#chars += by * charCount;
    this.#ofPredicate.set(predicate, (this.#ofPredicate.get(predicate) ?? 0) + by);
    const bucket = this.bucketOf(predicate);
    if (bucket >= 0) this.#inBucket[bucket] = (this.#inBucket[bucket] ?? 0) + by;
  }
}
