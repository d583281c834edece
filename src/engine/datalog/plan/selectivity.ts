import type { StoredRelation } from '../../store/stored-relation.ts';

/**
 * How many rows of a stored relation have one value in a column, on average: estimated from a sample, so that it takes as long
 * for a million rows as for a thousand. It chooses between orders of a join, and answers never depend on it.
 */
const mostSampled = 1024;
/** Columns that have grown or shrunk by less are not looked at again. */
const grownPart = 1.5;
/** Halvings after which the number of values is near enough. */
const halvings = 24;

export class Selectivity {
  readonly #values = new WeakMap<
    StoredRelation,
    Map<number, { readonly rows: number; readonly values: number }>
  >();

  /** Rows with one value at the position; dead rows count as others do. At least 1, but for an empty relation. */
  of(stored: StoredRelation, position: number): number {
    const { count, live } = stored;
    if (count === 0) return 0;
    let byPosition = this.#values.get(stored);
    if (byPosition === undefined) this.#values.set(stored, (byPosition = new Map()));
    let known = byPosition.get(position);
    if (known === undefined || count > known.rows * grownPart || count * grownPart < known.rows) {
      known = { rows: count, values: valuesOf(stored.columns[position] as Int32Array, count) };
      byPosition.set(position, known);
    }
    return Math.max(1, live / known.values);
  }
}

/** About how many different values the first `count` rows have. */
function valuesOf(column: Int32Array, count: number): number {
  const sampled = Math.min(count, mostSampled);
  const seen = new Set<number>();
  for (let at = 0; at < sampled; at++) seen.add(column[Math.floor((at * count) / sampled)] as number);
  return sampled === count ? seen.size : likelyValues(seen.size, sampled, count);
}

/** Of `most` values or fewer, all equally frequent: how many there are where so many rows taken at random have `seen`. */
function likelyValues(seen: number, sampled: number, most: number): number {
  let [low, high] = [seen, most];
  for (let step = 0; step < halvings; step++) {
    const middle = (low + high) / 2;
    if (middle * -Math.expm1(-sampled / middle) < seen) low = middle;
    else high = middle;
  }
  return high;
}
