/**
 * Semi-join reduction: which values of a variable the rest of a body can match, worked out backwards, from the last
 * atom to the first, before the join follows them (the bottom-up pass of Yannakakis's algorithm).
 *
 * Only stored atoms up to the next derived one take part. A derived atom is demanded for every binding of the atoms
 * before it, whatever comes after: maintenance relies on that when a later atom gets a row.
 */
import { type AtomLiteral, isVariable } from '../../contract/language.ts';
import { isNamedVariable } from '../../language/terms.ts';

/** An atom of a join, by its number in the rule. */
export interface NumberedAtom {
  readonly at: number;
  readonly literal: AtomLiteral;
}

/** A variable with the number of the set of values that it may have. */
export interface LimitedVariable {
  readonly variable: string;
  readonly set: number;
}

/** One scan of a stored relation: rows whose values are in the sets tested give the sets collected. */
export interface SemiJoinPass {
  readonly atom: number;
  readonly tests: readonly LimitedVariable[];
  readonly collects: readonly LimitedVariable[];
}

/** The values of a variable that later atoms can match. */
export interface Limit extends LimitedVariable {
  /** Expected number of these values, and their part of those that the variable has without it. */
  readonly values: number;
  readonly share: number;
  /** The atoms that leave them, in the order of the join. */
  readonly atoms: readonly number[];
}

/** The scans in the order in which they are made, and the limits of the variables. */
export interface Reduction {
  readonly passes: readonly SemiJoinPass[];
  readonly limits: ReadonlyMap<string, Limit>;
}

/** What planning semi-joins needs to know of stored facts. */
export interface SemiJoinSpace {
  /** The number of facts that match the constants of the atom. */
  matching(literal: AtomLiteral): number;
  /** The number of distinct values of a column. */
  valuesAt(literal: AtomLiteral, position: number): number;
}

/** A limit is worth a test if it leaves at most this part of the values. */
const mostShare = 0.5;
const nothing: Reduction = { passes: [], limits: new Map() };

/**
 * Plans the reduction of these stored atoms, given in the order in which they are joined. `firstSet`: the number of
 * the first set that it may use.
 */
export function planReduction(
  atoms: readonly NumberedAtom[],
  bound: ReadonlySet<string>,
  space: SemiJoinSpace,
  firstSet: number,
): Reduction {
  if (!mayReduce(atoms, space)) return nothing;
  const binders = new Map<string, { readonly literal: AtomLiteral; readonly position: number }>();
  for (const { literal } of atoms)
    for (const [position, term] of literal.args.entries())
      if (isNamedVariable(term) && !bound.has(term) && !binders.has(term))
        binders.set(term, { literal, position });
  const limits = new Map<string, Limit>();
  const passes: SemiJoinPass[] = [];
  let nextSet = firstSet;
  for (const { at, literal } of atoms.toReversed()) {
    const variables = new Set(literal.args.filter(isNamedVariable));
    const known = [...variables].flatMap((variable) => limits.get(variable) ?? []);
    const tests = known.map(({ variable, set }) => ({ variable, set }));
    let rows = space.matching(literal);
    for (const { variable, values } of known)
      rows *= Math.min(1, values / Math.max(1, space.valuesAt(literal, literal.args.indexOf(variable))));
    const collects: LimitedVariable[] = [];
    for (const variable of variables) {
      const binder = binders.get(variable);
      // It is bound before this atom, so that later it is too late for a limit.
      if (binder?.literal === literal) continue;
      const all = space.valuesAt(literal, literal.args.indexOf(variable));
      const values = Math.min(rows, all, limits.get(variable)?.values ?? rows);
      const domain = binder === undefined ? all : space.valuesAt(binder.literal, binder.position);
      if (values > domain * mostShare || values >= (limits.get(variable)?.values ?? Infinity)) continue;
      const limit = { variable, set: nextSet++ };
      collects.push(limit);
      const by = new Set([at, ...known.flatMap((each) => each.atoms)]);
      const share = domain === 0 ? 0 : values / domain;
      limits.set(variable, { ...limit, values, share, atoms: inOrder(atoms, by) });
    }
    if (collects.length > 0) passes.push({ atom: at, tests, collects });
  }
  return { passes, limits };
}

function inOrder(atoms: readonly NumberedAtom[], numbers: ReadonlySet<number>): readonly number[] {
  return atoms.filter(({ at }) => numbers.has(at)).map(({ at }) => at);
}

/** True if an atom is so much smaller than another that its values may be few: sizes are known without a sample. */
function mayReduce(atoms: readonly NumberedAtom[], space: SemiJoinSpace): boolean {
  if (atoms.length < 2) return false;
  const sizes = atoms.map(({ literal }) => space.matching(literal));
  return Math.min(...sizes.slice(1)) <= Math.max(...sizes) * mostShare;
}

/** Two stored atoms with a variable of their own between them, that leads back to a bound one. */
export interface WayBack {
  /** The atom with the variable that is limited, and the one with the bound variable, `key`. */
  readonly near: number;
  readonly far: number;
  /** The variable that only they have. */
  readonly between: string;
  readonly key: string;
}

/**
 * Of a body with a cycle of four or more sides: the two atoms by which the variable leads back to one of the `keys`,
 * bound before it; null if there are none. Their values are found once for each key, however many candidates it has.
 */
export function wayBack(
  variable: string,
  atoms: readonly NumberedAtom[],
  keys: ReadonlySet<string>,
  bound: ReadonlySet<string>,
): WayBack | null {
  const pairs = atoms.flatMap(({ at, literal }) => {
    const variables = literal.args.filter(isNamedVariable);
    const isPlain = literal.args.every((term) => isVariable(term));
    const [left, right] = variables;
    if (!isPlain || left === undefined || right === undefined || left === right) return [];
    return variables.length === 2 ? [{ at, left, right }] : [];
  });
  const other = (pair: { left: string; right: string }, term: string): string | null =>
    pair.left === term ? pair.right : pair.right === term ? pair.left : null;
  for (const near of pairs) {
    const between = other(near, variable);
    if (between === null || bound.has(between)) continue;
    for (const far of pairs) {
      const key = far === near ? null : other(far, between);
      if (key !== null && keys.has(key)) return { near: near.at, far: far.at, between, key };
    }
  }
  return null;
}
