import { type AtomLiteral, type Literal, isVariable } from '../../contract/language.ts';
import type { BodyPlan, Filter } from '../../language/order.ts';
import { isAggregate, isNamedVariable, isPositiveAtom } from '../../language/terms.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { Tuples } from '../../store/tuples.ts';

/** The filters of a body, in the order of its plan. */
export function filtersOf(body: readonly Literal[], plan: BodyPlan): Filter[] {
  const filters: Filter[] = [];
  for (const { index, binds, shared, inner } of plan.steps) {
    const literal = body[index] as Literal;
    if (isPositiveAtom(literal)) continue;
    const used = isAggregate(literal) ? [...shared, literal.result] : literal.args;
    const needs = [...new Set(used.filter((term) => isVariable(term) && term !== '?_' && term !== binds))];
    filters.push({ literal, needs, binds, shared, inner });
  }
  return filters;
}

/**
 * Adds to `bound` the variables that filters bind once their needs are met; returns the filters whose needs
 * are not.
 */
export function spread(filters: readonly Filter[], bound: Set<string>): Filter[] {
  let open = [...filters];
  for (let before = -1; before !== open.length; ) {
    before = open.length;
    open = open.filter(({ needs, binds }) => {
      if (!needs.every((variable) => bound.has(variable))) return true;
      if (binds !== null) bound.add(binds);
      return false;
    });
  }
  return open;
}

/**
 * The atom to join next, greedily; ties in list order; null if none is left. `estimate` gives the number of
 * rows that a literal is expected to match for one binding of the bound variables.
 */
export function cheapest(
  atoms: readonly AtomLiteral[],
  bound: ReadonlySet<string>,
  estimate: (literal: AtomLiteral, bound: ReadonlySet<string>) => number,
): AtomLiteral | null {
  // Estimates would take most of the time.
  if (atoms.length < 2) return atoms[0] ?? null;
  let best: AtomLiteral | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const atom of atoms) {
    const cost = estimate(atom, bound);
    if (cost < least) {
      best = atom;
      least = cost;
    }
  }
  return best;
}

/** The variable of the literal that alone is unbound and occurs once in it; null if there is none. */
export function onlyUnbound({ args }: AtomLiteral, bound: ReadonlySet<string>): string | null {
  const unbound = args.filter((term) => isNamedVariable(term) && !bound.has(term));
  return unbound.length === 1 ? (unbound[0] as string) : null;
}

/** The number of arguments that are constants or bound variables. */
export function boundArguments(literal: AtomLiteral, bound: ReadonlySet<string>): number {
  let count = 0;
  for (const term of literal.args) if (!isVariable(term) || bound.has(term)) count++;
  return count;
}

/** Rows sampled of a column. */
const maxSampled = 1024;
/** Columns are sampled again after they grew or shrank by this factor. */
const resampleGrowth = 1.5;
/** Bisection steps of the estimate. */
const halvings = 24;

/**
 * Estimates how many rows of a stored relation share one value of a column, on average. The estimate comes
 * from a sample, so it takes as long for a million rows as for a thousand; it only affects join order, never
 * answers.
 */
export class Selectivity {
  readonly #samples = new WeakMap<StoredRelation | Tuples, Map<number, Sample>>();

  /**
   * The average number of rows per value at the position, counting tombstones among the rows sampled. At
   * least 1, but 0 for an empty relation.
   */
  of(stored: StoredRelation | Tuples, position: number): number {
    if (stored.count === 0) return 0;
    return Math.max(1, stored.live / this.#sampleOf(stored, position).values);
  }

  /** The approximate part of the rows that have this value at the position. */
  shareOf(stored: StoredRelation, position: number, value: number): number {
    if (stored.count === 0) return 0;
    const { sampled, seen } = this.#sampleOf(stored, position);
    return (seen.get(value) ?? unseen) / sampled;
  }

  #sampleOf(stored: StoredRelation | Tuples, position: number): Sample {
    const { count } = stored;
    let byPosition = this.#samples.get(stored);
    if (byPosition === undefined) this.#samples.set(stored, (byPosition = new Map()));
    let known = byPosition.get(position);
    if (known === undefined || count > known.rows * resampleGrowth || count * resampleGrowth < known.rows) {
      known = sampleOf(stored.columns[position] as Int32Array, count);
      byPosition.set(position, known);
    }
    return known;
  }
}

/** Some values of a column. */
interface Sample {
  /** The number of rows of the column, and of the sample. */
  readonly rows: number;
  readonly sampled: number;
  /** How often the sample has each value. */
  readonly seen: ReadonlyMap<number, number>;
  /** The approximate number of distinct values of the column. */
  readonly values: number;
}

/** As often as this a sample is taken to have a value that it lacks. */
const unseen = 0.5;

/** A sample of the first `count` rows. */
function sampleOf(column: Int32Array, count: number): Sample {
  const sampled = Math.min(count, maxSampled);
  const seen = new Map<number, number>();
  for (let at = 0; at < sampled; at++) {
    const value = column[Math.floor((at * count) / sampled)] as number;
    seen.set(value, (seen.get(value) ?? 0) + 1);
  }
  const values = sampled === count ? seen.size : likelyValues(seen.size, sampled, count);
  return { rows: count, sampled, seen, values };
}

/**
 * Estimates the number of equally frequent values, at most `most`, from the number seen in a random sample.
 */
function likelyValues(seen: number, sampled: number, most: number): number {
  let [low, high] = [seen, most];
  for (let step = 0; step < halvings; step++) {
    const middle = (low + high) / 2;
    if (middle * -Math.expm1(-sampled / middle) < seen) low = middle;
    else high = middle;
  }
  return high;
}
