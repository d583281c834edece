import { type AtomLiteral, type Literal, isVariable } from '../../contract/language.ts';
import type { BodyPlan, Filter } from '../../language/order.ts';
import { isAggregate, isPositiveAtom } from '../../language/terms.ts';

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

/** The number of rows that a literal is expected to match for one binding of the bound variables. */
export type Estimate = (literal: AtomLiteral, bound: ReadonlySet<string>) => number;

/** The atom to join next, greedily: the least estimate, ties in list order; null if none is left. */
export function cheapest(
  atoms: readonly AtomLiteral[],
  bound: ReadonlySet<string>,
  estimate: Estimate,
): AtomLiteral | null {
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

/** The number of arguments that are constants or bound variables. */
export function boundArguments(literal: AtomLiteral, bound: ReadonlySet<string>): number {
  let count = 0;
  for (const term of literal.args) if (!isVariable(term) || bound.has(term)) count++;
  return count;
}
