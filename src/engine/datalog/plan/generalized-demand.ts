import { isVariable } from '../../contract/language.ts';
import type { FactStore } from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { Tuples } from '../../store/tuples.ts';
import { isPositiveAtom, relationKey, relationOf, wildcard } from '../../language/terms.ts';
import type { Program, ViewRule } from '../model/program.ts';
import { type Overlay, viewKey } from '../model/reader.ts';
import type { Argument, Table } from '../model/table.ts';

/**
 * Where binding an argument is not worth its while.
 *
 * A table derives for the keys that are demanded of it and pays for every key. Where most of what an argument can be is
 * demanded, its relation derived for whatever that argument is costs little more than the keys do, and in a recursion
 * often much less: every key has its own fixpoint, whole relations share one. What an argument can be is bounded by the
 * stored columns that its values come from. It is an estimate of cost alone: either way gives the same answers.
 */

/** From so many keys on it is worth a look. */
export const fewKeys = 16;
/** An argument is left free once this part of its values is demanded. */
const greatPart = 1 / 4;
/** A whole relation is demanded at once where this part of an argument's values is certain to be. */
const greatestPart = 3 / 4;
/** Rules are followed so far down. */
const deepest = 3;
/** Columns that have grown by less are not looked at again. */
const grownPart = 1.1;
/** Rows of a column that are looked at for each value that there may be. */
const rowsForValue = 64;

/** What is known of stored facts and rules. */
interface Known {
  readonly facts: FactStore;
  readonly program: Program;
  readonly overlay: Overlay | null;
  readonly values: ColumnValues;
}

/** An argument position of a stored relation. */
interface Column {
  readonly stored: StoredRelation;
  readonly position: number;
}

/** How many different values stored columns have together, counted again when they have grown. */
export class ColumnValues {
  readonly #counted = new Map<string, { readonly rows: number; readonly values: number }>();

  /** About so many; dead rows count. */
  of(columns: readonly Column[]): number {
    const key = columns.map(nameOf).sort().join('\n');
    const rows = rowsOf(columns);
    const known = this.#counted.get(key);
    if (known !== undefined && known.rows <= rows && rows <= known.rows * grownPart) return known.values;
    const values = countOf(columns);
    this.#counted.set(key, { rows, values });
    return values;
  }

  /** True unless they certainly have at most `most` values: where it is not worth counting too. */
  areMore(columns: readonly Column[], most: number): boolean {
    const rows = rowsOf(columns);
    return rows > most && (rows > most * rowsForValue || this.of(columns) > most);
  }
}

/** How many different ids; a bit for each, since there may be millions and this is done in one turn. */
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
 * The bound positions of the table (ascending) without those that are to be left free, for the keys in its demand. One is
 * left free where each combination of the others is demanded with a great part of all the values that it can have.
 */
export function positionsToBind(table: Table, known: Known): readonly number[] {
  let positions = table.boundPositions;
  let keys = table.demand.rows;
  for (let at = 0; at < positions.length; ) {
    const rest = positions.filter((_, index) => index !== at);
    const others = projected(keys, at);
    const most = Math.floor(keys.count / others.count / greatPart);
    const argument = { relation: table, view: table.view, position: positions[at] as number };
    if (hasMoreValues(argument, most, known)) at++;
    else [positions, keys, at] = [rest, others, 0];
  }
  return positions;
}

/** The tuples without one of their columns. */
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
 * True where the values that the first argument takes are certain to be most of those that the other can have: to demand all
 * of the other's relation at once is less work than to demand it value by value.
 */
export function coversMost(from: Argument, asked: Argument, known: Known): boolean {
  const least = leastValues(from, known, 0);
  return least >= fewKeys && !hasMoreValues(asked, Math.floor(least / greatestPart), known);
}

/** The argument takes about so many values at least: those stored, or those of one of its rules that is a single atom. */
function leastValues({ relation, view, position }: Argument, known: Known, depth: number): number {
  const { predicate, arity, negated } = relation;
  const stored = known.facts.relation(predicate, arity, negated);
  const isSeen = stored !== null && view.kind === 'all';
  let most = isSeen ? Math.min(stored.live, known.values.of([{ stored, position }])) : 0;
  if (depth === deepest) return most;
  for (const { record, bodyView } of known.program.rulesFor(view, relationKey(predicate, arity, negated))) {
    const { head, body } = record.rule;
    const [atom] = body;
    if (body.length !== 1 || atom === undefined || !isPositiveAtom(atom)) continue;
    const at = atom.args.indexOf(head.args[position] as string);
    const terms = atom.args.filter((term) => term !== wildcard);
    if (at < 0 || !terms.every(isVariable) || new Set(terms).size < terms.length) continue;
    const read = { predicate: atom.predicate, arity: atom.args.length, negated: atom.negated };
    most = Math.max(most, leastValues({ relation: read, view: bodyView, position: at }, known, depth + 1));
  }
  return most;
}

/**
 * True unless the argument certainly has at most `most` values. Looks at as many columns and rules as that is worth: where
 * they are more, the answer is yes.
 */
function hasMoreValues(asked: Argument, most: number, known: Known): boolean {
  const open = [asked];
  const seen = new Set([keyOf(asked)]);
  const columns = new Map<string, Column>();
  let others = 0;
  for (const argument of open) {
    if (open.length > most + fewKeys) return true;
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
 * The argument of the body that the variable's values come from: one that counts already, else the smallest stored one, else
 * one that is derived. null where no atom binds it.
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
    const relation = { predicate: atom.predicate, arity: atom.args.length, negated: atom.negated };
    const argument = { relation, view: bodyView, position };
    if (seen.has(keyOf(argument))) return argument;
    const isDerived = program.rulesFor(bodyView, relationOf(atom)).length > 0;
    const stored = facts.relation(relation.predicate, relation.arity, relation.negated);
    const size = isDerived ? Number.MAX_VALUE : (stored?.count ?? 0);
    if (size < least) [best, least] = [argument, size];
  }
  return best;
}
