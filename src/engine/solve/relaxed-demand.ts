import { isVariable } from '../contract/language.ts';
import type { FactStore, ScopeChoice } from '../facts/fact-store.ts';
import type { StoredRelation } from '../facts/stored-relation.ts';
import { Tuples } from '../facts/tuples.ts';
import { isPositiveAtom, relationKey, relationOf } from '../logic/terms.ts';
import type { Program, ViewRule } from './program.ts';
import { type Overlay, viewKey } from './reader.ts';
import type { Relation, Table } from './table.ts';

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
/** Rows of a column that are looked at for each value that there may be. */
const rowsForValue = 64;

interface Asked {
  readonly facts: FactStore;
  readonly program: Program;
  readonly overlay: Overlay | null;
}

/**
 * The bound positions of the table (ascending) without those that are to be left free, for the keys in its demand. One is
 * left free where each combination of the others is demanded with a great part of all the values that it can have.
 */
export function positionsToBind(table: Table, asked: Asked): readonly number[] {
  let positions = table.boundPositions;
  let keys = table.demand.rows;
  for (let at = 0; at < positions.length; ) {
    const rest = positions.filter((_, index) => index !== at);
    const others = projected(keys, at);
    const most = Math.floor(keys.count / others.count / greatPart);
    if (hasMoreValues(table, positions[at] as number, most, asked)) at++;
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

/** An argument of a relation in a view. */
interface Argument {
  readonly relation: Pick<Relation, 'predicate' | 'arity' | 'negated'>;
  readonly view: ScopeChoice;
  readonly position: number;
}

/**
 * True unless the argument certainly has at most `most` values. Looks at as many columns and rules as that is worth: where
 * they are more, the answer is yes.
 */
function hasMoreValues(table: Table, position: number, most: number, asked: Asked): boolean {
  const open: Argument[] = [{ relation: table, view: table.view, position }];
  const seen = new Set([keyOf(open[0] as Argument)]);
  const columns = new Set<string>();
  let values = 0;
  for (const argument of open) {
    if (open.length > most + fewKeys) return true;
    values += storedValues(argument, columns, most - values, asked);
    const { relation, view } = argument;
    const { predicate, arity, negated } = relation;
    for (const rule of asked.program.rulesFor(view, relationKey(predicate, arity, negated))) {
      const term = rule.kept.rule.head.args[argument.position] as string;
      if (!isVariable(term)) values++;
      else {
        const source = sourceOf(term, rule, asked, seen);
        if (source === null) return true;
        if (!seen.has(keyOf(source))) open.push(source);
        seen.add(keyOf(source));
      }
    }
    if (values > most) return true;
  }
  return false;
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
  { kept, bodyView }: ViewRule,
  { facts, program }: Asked,
  seen: ReadonlySet<string>,
): Argument | null {
  let best: Argument | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const atom of kept.rule.body.filter(isPositiveAtom)) {
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

/** At most so many values are stored for the argument; more than `most` where they are more, or not worth counting. */
function storedValues(
  { relation: { predicate, arity, negated }, position }: Argument,
  columns: Set<string>,
  most: number,
  { facts, overlay }: Asked,
): number {
  const column = `${relationKey(predicate, arity, negated)}\n${position}`;
  if (columns.has(column)) return 0;
  columns.add(column);
  const added = overlay?.added.facts.relation(predicate, arity, negated)?.count ?? 0;
  const stored = facts.relation(predicate, arity, negated);
  return stored === null ? added : added + distinctValues(stored, position, most);
}

function distinctValues({ count, columns }: StoredRelation, position: number, most: number): number {
  if (count <= most) return count;
  if (count > most * rowsForValue) return most + 1;
  const column = columns[position] as Int32Array;
  const seen = new Set<number>();
  for (let row = 0; row < count && seen.size <= most; row++) seen.add(column[row] as number);
  return seen.size;
}
