/**
 * The cost of a body in an order, as a whole: what every atom costs for all bindings of those before it. So it weighs a
 * large relation derived once against a recursive one asked for thousands of keys, as one atom after the other does not.
 */
import { type AtomLiteral, isVariable } from '../../contract/language.ts';
import { isNamedVariable } from '../../language/terms.ts';

/** What costs are made of, in the view of the body. */
export interface CostSpace {
  /** How a key of the atom is derived; null if it is stored. */
  derivation(literal: AtomLiteral): 'rules' | 'recursion' | null;
  /** The rows of a derived atom with its constants. */
  derivedRows(literal: AtomLiteral): number;
  /** The stored facts that match for one binding of these variables. */
  storedRows(literal: AtomLiteral, bound: ReadonlySet<string>): number;
  /** The number of values of an argument; infinite if it is unknown. */
  valuesAt(literal: AtomLiteral, position: number): number;
}

/** With more atoms there are too many orders. */
const maxAtoms = 6;
/** An order that costs less is as good as any: looking for another takes about as long. */
const minCost = 10_000;
/** Another order must cost at most this part: estimates are no better. */
const mostOfCost = 1 / 2;
/** What asking a derived relation for one key costs, in rows: it has a fixpoint of its own if it is recursive. */
const rowsOfKey = 4;
const rowsOfFixpoint = 60;
/** Matches for a key of a derived relation of which too little is known. */
const likelyMatches = 100;

/** An atom with what does not depend on the order; estimates are made when they are needed. */
interface Weighed {
  readonly literal: AtomLiteral;
  readonly derivation: 'rules' | 'recursion' | null;
  readonly derivedRows: () => number;
  readonly valuesAt: (position: number) => number;
}

/** Some of the atoms, joined in their order. */
interface Joined {
  readonly order: readonly Weighed[];
  readonly cost: number;
  readonly rows: number;
}

const nothing: Joined = { order: [], cost: 0, rows: 1 };

/**
 * The cheapest order of the atoms, by dynamic programming, if it is much cheaper than the given one; else that. Nothing is
 * bound before, and one of the derived atoms must have a constant.
 */
export function cheaperOrder(order: readonly AtomLiteral[], space: CostSpace): readonly AtomLiteral[] {
  if (order.length < 2 || order.length > maxAtoms) return order;
  if (order.every(({ args }) => args.every(isVariable))) return order;
  const atoms = order.map((literal) => weighed(literal, space));
  const isSelective = ({ derivation, literal }: Weighed): boolean =>
    derivation !== null && !literal.args.every(isVariable);
  if (!atoms.some(isSelective)) return order;
  const given = atoms.reduce((before, atom) => joined(before, atom, space), nothing);
  if (given.cost < minCost) return order;
  const least = cheapestOf(atoms, space);
  return least.cost <= given.cost * mostOfCost ? least.order.map(({ literal }) => literal) : order;
}

function weighed(literal: AtomLiteral, space: CostSpace): Weighed {
  const values: (number | undefined)[] = [];
  let rows: number | null = null;
  return {
    literal,
    derivation: space.derivation(literal),
    derivedRows: () => (rows ??= space.derivedRows(literal)),
    valuesAt: (position) => (values[position] ??= Math.max(1, space.valuesAt(literal, position))),
  };
}

function cheapestOf(atoms: readonly Weighed[], space: CostSpace): Joined {
  // By the set of atoms, as bits: the cheapest order of them.
  const best = new Map<number, Joined>([[0, nothing]]);
  const all = 2 ** atoms.length - 1;
  for (let set = 0; set < all; set++)
    for (const [at, atom] of atoms.entries()) {
      const bit = 1 << at;
      if ((set & bit) !== 0) continue;
      const next = joined(best.get(set) ?? nothing, atom, space);
      const known = best.get(set | bit);
      if (known === undefined || next.cost < known.cost) best.set(set | bit, next);
    }
  return best.get(all) ?? nothing;
}

/** The atoms with one more behind them. */
function joined(before: Joined, atom: Weighed, space: CostSpace): Joined {
  const { literal, derivation } = atom;
  const order = [...before.order, atom];
  const bound = new Set(before.order.flatMap((each) => each.literal.args.filter(isNamedVariable)));
  if (derivation === null) {
    const matches = space.storedRows(literal, bound);
    return { order, cost: before.cost + before.rows * (1 + matches), rows: before.rows * matches };
  }
  const positions = [...literal.args.keys()].filter((position) =>
    bound.has(literal.args[position] as string),
  );
  if (positions.length === 0) {
    const rows = atom.derivedRows();
    return { order, cost: before.cost + rows * (1 + before.rows), rows: before.rows * rows };
  }
  const isWhole = literal.args.every((term) => !isNamedVariable(term) || bound.has(term));
  const rows = before.rows * (isWhole ? 1 : matchesOf(atom, positions));
  const keys = keysOf(before, literal, positions) * (derivation === 'recursion' ? rowsOfFixpoint : rowsOfKey);
  return { order, cost: before.cost + keys + rows, rows };
}

/** How many rows a derived atom has for each value at the positions. */
function matchesOf({ valuesAt, derivedRows }: Weighed, positions: readonly number[]): number {
  const keys = Math.max(...positions.map((position) => valuesAt(position)));
  return Number.isFinite(keys) ? derivedRows() / keys : Math.min(derivedRows(), likelyMatches);
}

/** The number of keys that the bindings ask for: no more than there are values. */
function keysOf({ order, rows }: Joined, { args }: AtomLiteral, positions: readonly number[]): number {
  let keys = 1;
  for (const position of positions) {
    let least = rows;
    for (const { literal, valuesAt } of order) {
      const at = literal.args.indexOf(args[position] as string);
      if (at >= 0) least = Math.min(least, valuesAt(at));
    }
    keys *= least;
  }
  return Math.min(rows, keys);
}
