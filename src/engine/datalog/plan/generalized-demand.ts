import { isVariable } from '../../contract/language.ts';
import type { FactStore } from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { Tuples } from '../../store/tuples.ts';
import { isPositiveAtom, relationKey, relationOf, wildcard } from '../../language/terms.ts';
import type { Program, ViewRule } from '../model/program.ts';
import { type Overlay, viewKey } from '../model/reader.ts';
import { type Argument, shapeOf, type Table } from '../model/table.ts';

/** With fewer keys, generalization is not considered. */
export const minKeys = 16;
/** An argument is left free once this share of its values is demanded. */
const minDemandedShare = 1 / 4;
/** A whole relation is demanded at once if this share of an argument's values is certain to be. */
const minCoveredShare = 3 / 4;
/** Rules are followed to this depth. */
const maxDepth = 3;
/** Counts are repeated only after a column has grown by this factor. */
const recountGrowth = 1.1;
/** Rows scanned at most per possible value. */
const maxRowsPerValue = 64;

/** The facts and rules from which estimates are made. */
interface Known {
  readonly facts: FactStore;
  readonly program: Program;
  readonly overlay: Overlay | null;
  readonly values: ColumnValues;
}

/** A column of a stored relation. */
interface Column {
  readonly stored: StoredRelation;
  readonly position: number;
}

/** Counts the distinct values of stored columns, cached until the columns have grown. */
export class ColumnValues {
  readonly #counted = new Map<string, { readonly rows: number; readonly values: number }>();

  /** The approximate number of distinct values in all columns together, dead rows included. */
  of(columns: readonly Column[]): number {
    const key = columns.map(nameOf).sort().join('\n');
    const rows = rowsOf(columns);
    const known = this.#counted.get(key);
    if (known !== undefined && known.rows <= rows && rows <= known.rows * recountGrowth) return known.values;
    const values = countOf(columns);
    this.#counted.set(key, { rows, values });
    return values;
  }

  /**
   * True unless the columns certainly have at most `most` values; true as well if counting is not worth it.
   */
  areMore(columns: readonly Column[], most: number): boolean {
    const rows = rowsOf(columns);
    return rows > most && (rows > most * maxRowsPerValue || this.of(columns) > most);
  }
}

/** The number of distinct ids, by a bitset, since there may be millions and this runs in one turn. */
function countOf(columns: readonly Column[]): number {
  let greatest = 0;
  for (const { stored, position } of columns) {
    const column = stored.columns[position] as Int32Array;
    for (let row = 0; row < stored.count; row++) greatest = Math.max(greatest, column[row] as number);
  }
  const seen = new Uint32Array((greatest >>> 5) + 1);
  let count = 0;
  for (const { stored, position } of columns) {
    const column = stored.columns[position] as Int32Array;
    for (let row = 0; row < stored.count; row++) {
      const id = column[row] as number;
      const bit = 1 << (id & 31);
      const word = seen[id >>> 5] as number;
      if ((word & bit) !== 0) continue;
      seen[id >>> 5] = word | bit;
      count++;
    }
  }
  return count;
}

function nameOf({ stored: { predicate, arity, negated }, position }: Column): string {
  return `${relationKey(predicate, arity, negated)} ${position}`;
}

function rowsOf(columns: readonly Column[]): number {
  let rows = 0;
  for (const { stored } of columns) rows += stored.count;
  return rows;
}

/**
 * Generalizes demand: the table's bound positions (ascending) without those to leave free, given the keys in
 * its demand. A position is left free if each combination of the others is demanded with at least
 * `minDemandedShare` of the values that it can have.
 *
 * A table derives per demanded key and pays for every key. If most values that an argument can have are
 * demanded, deriving the relation for any value costs little more, and in a recursion often much less: every
 * key has its own fixpoint, a whole relation shares one. The possible values are bounded by the stored
 * columns from which they come. The choice is by estimated cost alone; the answers are the same.
 */
export function positionsToBind(table: Table, known: Known): readonly number[] {
  let positions = table.boundPositions;
  let keys = table.demand.rows;
  for (let at = 0; at < positions.length; ) {
    const rest = positions.filter((_, index) => index !== at);
    const others = projected(keys, at);
    const most = Math.floor(keys.count / others.count / minDemandedShare);
    const argument = { relation: table, view: table.view, position: positions[at] as number };
    if (hasMoreValues(argument, most, known)) at++;
    else [positions, keys, at] = [rest, others, 0];
  }
  return positions;
}

/** The tuples without one column. */
function projected(rows: Tuples, without: number): Tuples {
  const kept = [...rows.columns.keys()].filter((column) => column !== without);
  const found = new Tuples(kept.length);
  const tuple = new Int32Array(kept.length);
  for (let row = 0; row < rows.count; row++) {
    for (let at = 0; at < kept.length; at++)
      tuple[at] = (rows.columns[kept[at] as number] as Int32Array)[row] as number;
    found.insert(tuple);
  }
  return found;
}

/**
 * True if the values of the first argument certainly cover most values that the other can have: demanding the
 * other's whole relation is then less work than value by value.
 */
export function coversMost(from: Argument, asked: Argument, known: Known): boolean {
  const least = leastValues(from, known, 0);
  return least >= minKeys && !hasMoreValues(asked, Math.floor(least / minCoveredShare), known);
}

/**
 * A lower bound, about, of the argument's number of values: those stored, or those of a rule whose body is
 * one atom.
 */
function leastValues({ relation, view, position }: Argument, known: Known, depth: number): number {
  const { predicate, arity, negated } = relation;
  const stored = known.facts.relation(predicate, arity, negated);
  const isSeen = stored !== null && view.kind === 'all';
  let most = isSeen ? Math.min(stored.live, known.values.of([{ stored, position }])) : 0;
  if (depth === maxDepth) return most;
  for (const { record, bodyView } of known.program.rulesFor(view, relationKey(predicate, arity, negated))) {
    const { head, body } = record.rule;
    const [atom] = body;
    if (body.length !== 1 || atom === undefined || !isPositiveAtom(atom)) continue;
    const at = atom.args.indexOf(head.args[position] as string);
    const terms = atom.args.filter((term) => term !== wildcard);
    if (at < 0 || !terms.every(isVariable) || new Set(terms).size < terms.length) continue;
    const read = { relation: shapeOf(atom), view: bodyView, position: at };
    most = Math.max(most, leastValues(read, known, depth + 1));
  }
  return most;
}

/**
 * True unless the argument certainly has at most `most` values. Looks at no more columns and rules than that
 * pays; beyond, the answer is true.
 */
function hasMoreValues(asked: Argument, most: number, known: Known): boolean {
  const open = [asked];
  const seen = new Set([keyOf(asked)]);
  const columns = new Map<string, Column>();
  let others = 0;
  for (const argument of open) {
    if (open.length > most + minKeys) return true;
    const { relation, view, position } = argument;
    const { predicate, arity, negated } = relation;
    const stored = known.facts.relation(predicate, arity, negated);
    if (stored !== null) columns.set(nameOf({ stored, position }), { stored, position });
    others += known.overlay?.added.facts.relation(predicate, arity, negated)?.count ?? 0;
    for (const rule of known.program.rulesFor(view, relationKey(predicate, arity, negated))) {
      const term = rule.record.rule.head.args[position] as string;
      const source = isVariable(term) ? sourceOf(term, rule, known, seen) : argument;
      if (source === null) return true;
      if (!isVariable(term)) others++;
      if (!seen.has(keyOf(source))) open.push(source);
      seen.add(keyOf(source));
    }
  }
  return others > most || known.values.areMore([...columns.values()], most - others);
}

function keyOf({ relation: { predicate, arity, negated }, view, position }: Argument): string {
  return `${viewKey(view)}\n${relationKey(predicate, arity, negated)}\n${position}`;
}

/**
 * The body argument from which the variable's values come: preferably one already counted, else the smallest
 * stored one, else a derived one. null if no atom binds it.
 */
function sourceOf(
  variable: string,
  { record, bodyView }: ViewRule,
  { facts, program }: Known,
  seen: ReadonlySet<string>,
): Argument | null {
  let best: Argument | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const atom of record.rule.body.filter(isPositiveAtom)) {
    const position = atom.args.indexOf(variable);
    if (position < 0) continue;
    const relation = shapeOf(atom);
    const argument = { relation, view: bodyView, position };
    if (seen.has(keyOf(argument))) return argument;
    const isDerived = program.rulesFor(bodyView, relationOf(atom)).length > 0;
    const stored = facts.relation(relation.predicate, relation.arity, relation.negated);
    const size = isDerived ? Number.MAX_VALUE : (stored?.count ?? 0);
    if (size < least) [best, least] = [argument, size];
  }
  return best;
}
