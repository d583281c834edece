import type { AtomLiteral, Literal } from '../contract/language.ts';
import { isVariable } from '../contract/language.ts';
import { planBody } from '../logic/order.ts';
import { isAggregate, isComparison } from '../logic/terms.ts';

/**
 * The order in which the literals of a body are joined: greedy, by what is bound and how much is expected to match.
 *
 * Comparisons stand as early as their variables are bound. An `=` binds where a side is bound by nothing else, and
 * compares otherwise; which of the two it is depends on the rule alone, never on the order or on what is asked.
 */
export interface Assignment {
  readonly target: string;
  readonly from: string;
}

/** For each `=` of a rule's whole body that binds: its variable and where the value comes from. */
export function assignments(body: readonly Literal[]): Map<Literal, Assignment> {
  const found = new Map<Literal, Assignment>();
  for (const { index, binds } of planBody(body, new Set(), new Set()).steps) {
    const literal = body[index] as Literal;
    if (binds === null || isAggregate(literal) || !isComparison(literal)) continue;
    const [left, right] = literal.args as [string, string];
    found.set(literal, { target: binds, from: binds === left ? right : left });
  }
  return found;
}

/** Rows that a literal is expected to match for one binding of what is bound so far. */
export type Estimate = (literal: AtomLiteral, bound: ReadonlySet<string>) => number;

/** The first atom to join next, or null where none is left: the least estimate, then the order of the body. */
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

/** How many arguments are constants or bound variables. */
export function boundArguments(literal: AtomLiteral, bound: ReadonlySet<string>): number {
  let count = 0;
  for (const term of literal.args) if (!isVariable(term) || bound.has(term)) count++;
  return count;
}
