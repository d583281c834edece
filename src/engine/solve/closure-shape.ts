import { type AtomLiteral, isVariable, type Literal } from '../contract/language.ts';
import { planRule } from '../logic/order.ts';
import { isNamedVariable, isPositiveAtom, relationOf } from '../logic/terms.ts';
import { filtersOf, spread } from './join-order.ts';
import { recursionOf } from './linear-recursion.ts';
import type { Program, ViewRule } from './program.ts';
import type { Relation } from './table.ts';

/**
 * Which relations are closures: all that is concluded is a base, and the base with steps put before or behind it.
 *
 *     left    r(x, z) :- r(x, y), step(y, z).
 *     right   r(x, z) :- step(x, y), r(y, z).
 *     double  r(x, z) :- r(x, y), r(y, z).        the step is the base itself
 *
 * One rule recurs; every other rule of the relation, and what is stored of it, is the base. A step is one atom with
 * whatever filters of its variables; a longer join could cost more asked freely than it does as a part of the rule.
 */
export interface ClosureShape {
  readonly kind: 'left' | 'right' | 'double';
  readonly recursive: ViewRule;
  readonly base: readonly ViewRule[];
  /** The literals of the step and its two terms; empty where the step is the base. */
  readonly literals: readonly Literal[];
  readonly terms: readonly string[];
}

/** The shape of a relation whose rules in its view are these; null where it is no closure. */
export function closureShape(
  relation: Relation & { readonly relation: string },
  rules: readonly ViewRule[],
  program: Program,
): ClosureShape | null {
  if (relation.arity !== 2) return null;
  const asked = { ...relation, boundPositions: [0], freePositions: [1] };
  let shape: ClosureShape | null = null;
  const base: ViewRule[] = [];
  for (const rule of rules) {
    const recursion = recursionOf(asked, rule, program);
    if (recursion?.kind === 'exit') {
      base.push(rule);
      continue;
    }
    if (shape !== null) return null;
    shape = recursion === null ? doubleShape(relation, rule) : linearShape(rule, recursion);
    if (shape === null) return null;
  }
  return shape === null ? null : { ...shape, base };
}

function linearShape(
  rule: ViewRule,
  { kind, recursive }: { readonly kind: 'left' | 'right'; readonly recursive: AtomLiteral },
): ClosureShape | null {
  const { head, body } = rule.kept.rule;
  const literals = body.filter((literal) => literal !== recursive);
  const [first, second] = kind === 'left' ? [recursive, head] : [head, recursive];
  const at = kind === 'left' ? 1 : 0;
  const terms = [first.args[at] as string, second.args[at] as string];
  const atoms = literals.filter(isPositiveAtom);
  if (atoms.length !== 1) return null;
  const bound = new Set(atoms.flatMap(({ args }) => args.filter(isNamedVariable)));
  if (spread(stepFilters(rule, literals), bound).length > 0) return null;
  if (!terms.every((term) => !isVariable(term) || bound.has(term))) return null;
  return { kind, recursive: rule, base: [], literals, terms };
}

/** The filters of a step; which of them bind was decided by the whole rule. */
export function stepFilters({ kept }: ViewRule, literals: readonly Literal[]): ReturnType<typeof filtersOf> {
  return filtersOf(kept.rule.body, planRule(kept.rule)).filter(({ literal }) => literals.includes(literal));
}

/** `r(x, z) :- r(x, y), r(y, z)`, in either order, and nothing else. */
function doubleShape({ relation }: { readonly relation: string }, rule: ViewRule): ClosureShape | null {
  const { head, body } = rule.kept.rule;
  const atoms = body.filter(isPositiveAtom).filter((atom) => relationOf(atom) === relation);
  if (body.length !== 2 || atoms.length !== 2) return null;
  const [x, z] = head.args as [string, string];
  const isChain = ([one, other]: AtomLiteral[]): boolean => {
    const [from, middle] = (one as AtomLiteral).args as [string, string];
    const [next, to] = (other as AtomLiteral).args as [string, string];
    const variables = new Set([x, middle, z]);
    if (variables.size !== 3 || ![...variables].every(isNamedVariable)) return false;
    return from === x && middle === next && to === z;
  };
  if (!isChain(atoms) && !isChain([...atoms].reverse())) return null;
  return { kind: 'double', recursive: rule, base: [], literals: [], terms: [] };
}
