/**
 * What a context window has room for: facts, characters, facts of a predicate, facts of a bucket.
 *
 * Whatever was taken fits, and what is taken only ever leaves less room: what was refused once is refused for good,
 * unless something is given back. A fact counts in the first bucket that names its predicate. What is worth taking is
 * for others to say.
 */
import { present } from '../base/assert.ts';
import type { Bucket, OmissionReason } from '../contract/context.ts';

export interface BudgetLimits {
  readonly maxFacts: number;
  /** null: any number. */
  readonly maxChars: number | null;
  readonly maxFactsPerPredicate: number | null;
  /** The only predicates that are wanted; null: all. */
  readonly predicates: readonly string[] | null;
  readonly relevanceBuckets: readonly Bucket[] | null;
}

/** What the budget looks at in an entry. */
export interface Sized {
  readonly predicate: string;
  readonly charCount: number;
}

/** No atom is shorter: `p()`. */
const leastChars = 3;

export class WindowBudget {
  readonly #maxFacts: number;
  readonly #maxChars: number;
  readonly #maxOfPredicate: number;
  readonly #wanted: ReadonlySet<string> | null;
  readonly #bucketOf = new Map<string, number>();
  readonly #ofPredicate = new Map<string, number>();
  readonly #inBucket: number[];
  /** Of every bucket, in the order given. */
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
    for (const [place, { predicates }] of buckets.entries())
      for (const predicate of predicates)
        if (!this.#bucketOf.has(predicate)) this.#bucketOf.set(predicate, place);
  }

  /** True where nothing fits any more. */
  get isFull(): boolean {
    return this.#facts >= this.#maxFacts || this.#chars + leastChars > this.#maxChars;
  }

  /** How many facts there is room for. */
  get room(): number {
    return this.#maxFacts - this.#facts;
  }

  /** The place of the first bucket that names the predicate; -1 where none does. */
  bucketOf(predicate: string): number {
    return this.#bucketOf.get(predicate) ?? -1;
  }

  /** True where no fact of the predicate fits, however short. */
  isClosed(predicate: string): boolean {
    return this.isFull || this.#refusalOfPredicate(predicate) !== null;
  }

  /** Why the entry does not fit; null where it does. */
  refusal({ predicate, charCount }: Sized): OmissionReason | null {
    const refused = this.#refusalOfPredicate(predicate);
    if (refused !== null) return refused;
    if (this.#facts >= this.#maxFacts || this.#chars + charCount > this.#maxChars) return 'budget';
    return null;
  }

  /**
   * Why the entries, each another one, do not fit together; null where they do. Of several reasons the first in the
   * order filtered, cap of a predicate, bucket, budget.
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

  /** Takes the entry. Why it does not fit where it does not; null where it was taken. */
  add(entry: Sized): OmissionReason | null {
    const refused = this.refusal(entry);
    if (refused === null) this.#count(entry, 1);
    return refused;
  }

  /** Gives back what was taken. */
  remove(entry: Sized): void {
    this.#count(entry, -1);
  }

  #refusalOfPredicate(predicate: string): OmissionReason | null {
    if (this.#wanted?.has(predicate) === false) return 'filtered';
    if ((this.#ofPredicate.get(predicate) ?? 0) >= this.#maxOfPredicate) return 'predicate_cap';
    const bucket = this.bucketOf(predicate);
    if (bucket < 0) return null;
    const inBucket = present(this.#inBucket[bucket], 'a bucket is counted');
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
