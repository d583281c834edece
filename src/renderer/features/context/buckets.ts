/** Buckets as they are edited: as JSON in the address, just as the request takes them, whether or not it would. */
export interface BucketDraft {
  readonly name: string;
  readonly predicates: readonly string[];
  readonly weight: number;
  /** null: as its weight allows. */
  readonly maxFacts: number | null;
}

function draftOf(value: unknown): BucketDraft[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, predicates, weight, maxFacts } = value as Record<string, unknown>;
  return [
    {
      name: typeof name === 'string' ? name : '',
      predicates: Array.isArray(predicates) ? predicates.filter((each) => typeof each === 'string') : [],
      weight: typeof weight === 'number' ? weight : 1,
      maxFacts: typeof maxFacts === 'number' ? maxFacts : null,
    },
  ];
}

/** The buckets of an address; null where the text is no list of them. */
export function readBuckets(text: string | undefined): BucketDraft[] | null {
  if (text === undefined || text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.flatMap(draftOf) : null;
  } catch {
    // Somebody wrote the address by hand; the form says so.
    return null;
  }
}

/** The inverse of `readBuckets`; what has its default is left out. undefined for none. */
export function bucketsText(buckets: readonly BucketDraft[]): string | undefined {
  if (buckets.length === 0) return undefined;
  return JSON.stringify(
    buckets.map(({ name, predicates, weight, maxFacts }) => ({
      name,
      predicates,
      ...(weight === 1 ? {} : { weight }),
      ...(maxFacts === null ? {} : { maxFacts }),
    })),
  );
}

/** A bucket to begin with, by a name that is free. */
export function newBucket(buckets: readonly BucketDraft[]): BucketDraft {
  const names = new Set(buckets.map(({ name }) => name));
  let number = buckets.length + 1;
  while (names.has(`bucket ${number}`)) number += 1;
  return { name: `bucket ${number}`, predicates: [], weight: 1, maxFacts: null };
}
