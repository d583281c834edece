/** A bucket being edited; the address stores buckets as JSON in the shape of the request, valid or not. */
export interface BucketDraft {
  readonly name: string;
  readonly predicates: readonly string[];
  readonly weight: number;
  /** null: limited only by its weight. */
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

/** Parses the buckets of an address; null if the text is not a list. */
export function readBuckets(text: string | undefined): BucketDraft[] | null {
  if (text === undefined || text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.flatMap(draftOf) : null;
  } catch {
    // The address was written by hand; the form reports it.
    return null;
  }
}

/** The inverse of `readBuckets`, without defaults; undefined for no buckets. */
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

/** A new bucket with an unused name. */
export function newBucket(buckets: readonly BucketDraft[]): BucketDraft {
  const names = new Set(buckets.map(({ name }) => name));
  let number = buckets.length + 1;
  while (names.has(`bucket ${number}`)) number += 1;
  return { name: `bucket ${number}`, predicates: [], weight: 1, maxFacts: null };
}

/**
 * The stops of a slider, dense at small values so that budgets of 10 and of 10,000 are both within reach. A
 * value between two stops is shown at the nearest; typed values stay unchanged.
 */
export const factStops = [
  1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 750, 1_000, 2_000, 5_000,
  10_000,
] as const;

/** The stop after the last one means no limit. */
export const charStops = [
  50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 32_000,
  64_000, 128_000, 256_000,
] as const;

/** The stops for a bucket's weight. */
export const weightStops = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10] as const;

/** The index of the proportionally nearest stop; the lower one on a tie. */
export function nearestStop(stops: readonly number[], value: number): number {
  const distance = (stop: number) => Math.abs(Math.log(Math.max(stop, 1e-9) / Math.max(value, 1e-9)));
  let nearest = 0;
  for (const [index, stop] of stops.entries())
    if (distance(stop) < distance(stops[nearest] ?? stop)) nearest = index;
  return nearest;
}
