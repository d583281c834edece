/**
 * How many rows a derived relation has, and values an argument of it, estimated from the facts under it. Constants are
 * followed down the rules, as demand would be: also through a recursion over a small stored relation, as of classes and
 * their subclasses.
 */
import { type AtomLiteral, isVariable, type Rule } from '../../contract/language.ts';
import { isNamedVariable, isPositiveAtom, relationOf, wildcard } from '../../language/terms.ts';
import type { FactStore, ScopeChoice } from '../../store/fact-store.ts';
import type { Program, ViewRule } from '../model/program.ts';
import { viewKey } from '../model/reader.ts';
import type { Selectivity } from './join-order.ts';

/** What is known of rules and facts. */
interface Known {
  readonly program: Program;
  readonly facts: FactStore;
  readonly selectivity: Selectivity;
}

/** Atoms that are followed, at most, and the rows of a stored relation that are looked through for those with a constant. */
const maxAtoms = 32;
const maxRowsToRead = 1024;

/** An atom in a view. */
interface Asked {
  readonly view: ScopeChoice;
  readonly literal: AtomLiteral;
}

/** The approximate number of rows with the constants of the atom; infinite if the rules do not tell. */
export function derivedRows(asked: Asked, known: Known): number {
  const open = [asked];
  const seen = new Set([keyOf(asked)]);
  let rows = 0;
  for (const { view, literal } of open) {
    if (open.length > maxAtoms) return Infinity;
    rows += storedRows(literal, known);
    for (const rule of known.program.rulesFor(view, relationOf(literal))) {
      const under = atomsUnder(rule, literal, known);
      rows += under.rows;
      for (const each of under.followed) if (!seen.has(keyOf(each))) open.push(each);
      for (const each of under.followed) seen.add(keyOf(each));
    }
  }
  return rows;
}

/** The approximate number of values of the argument; infinite if the rules do not tell. */
export function derivedValues(
  asked: Asked,
  position: number,
  known: Known,
  seen = new Set<string>(),
): number {
  const { view, literal } = asked;
  const { predicate, args, negated } = literal;
  const key = `${viewKey(view)}\n${relationOf(literal)}\n${position}`;
  if (seen.has(key)) return 0;
  if (seen.size === maxAtoms) return Infinity;
  seen.add(key);
  const stored = known.facts.relation(predicate, args.length, negated);
  let values =
    stored === null || stored.live === 0 ? 0 : stored.live / known.selectivity.of(stored, position);
  for (const { record, bodyView } of known.program.rulesFor(view, relationOf(literal))) {
    const { head, body } = record.rule;
    const term = head.args[position] as string;
    if (!isVariable(term)) {
      values++;
      continue;
    }
    let least = Infinity;
    for (const atom of body.filter(isPositiveAtom)) {
      const at = atom.args.indexOf(term);
      if (at >= 0) least = Math.min(least, derivedValues({ view: bodyView, literal: atom }, at, known, seen));
    }
    values += least;
  }
  return values;
}

function keyOf({ view, literal }: Asked): string {
  const terms = literal.args.map((term) => (isVariable(term) ? wildcard : term));
  return `${viewKey(view)}\n${relationOf(literal)}\n${terms.join('\n')}`;
}

/** What a rule gives the atom: some rows, and those of the derived atoms to be followed. */
function atomsUnder(
  { record, bodyView }: ViewRule,
  literal: AtomLiteral,
  known: Known,
): { readonly rows: number; readonly followed: readonly Asked[] } {
  const atoms = bodyFor(record.rule, literal);
  if (atoms === null) return { rows: 0, followed: [] };
  const isDerived = (atom: AtomLiteral): boolean =>
    known.program.rulesFor(bodyView, relationOf(atom)).length > 0;
  const stored = atoms.filter((atom) => !isDerived(atom));
  const [only, ...others] = atoms.filter(isDerived);
  if (only !== undefined && others.length === 0) {
    const limited = stored.length === 0 ? [only] : limitedBy(stored, only, known);
    if (limited !== null)
      return { rows: 0, followed: limited.map((each) => ({ view: bodyView, literal: each })) };
  }
  const least = Math.min(Infinity, ...stored.map((atom) => storedRows(atom, known)));
  return { rows: least, followed: [] };
}

/** The atoms of the body for the constants of the atom that it concludes; null: it concludes others. */
function bodyFor({ head, body }: Rule, { args }: AtomLiteral): AtomLiteral[] | null {
  const values = new Map<string, string>();
  for (const [position, term] of args.entries()) {
    const own = head.args[position] as string;
    if (isVariable(term) || own === term) continue;
    if (!isVariable(own)) return null;
    values.set(own, term);
  }
  return body.filter(isPositiveAtom).map((atom) => withValues(atom, values));
}

function withValues(atom: AtomLiteral, values: ReadonlyMap<string, string>): AtomLiteral {
  return { ...atom, args: atom.args.map((term) => values.get(term) ?? term) };
}

/** The derived atom for each value that a small stored one with a constant leaves of a variable; null if none does. */
function limitedBy(stored: readonly AtomLiteral[], derived: AtomLiteral, known: Known): AtomLiteral[] | null {
  const { facts } = known;
  for (const { predicate, args, negated } of stored) {
    const relation = facts.relation(predicate, args.length, negated);
    const position = args.findIndex((term) => isNamedVariable(term) && derived.args.includes(term));
    const key = args.findIndex((term) => !isVariable(term));
    if (relation === null || relation.count > maxRowsToRead || position < 0 || key < 0) continue;
    const column = relation.columns[key] as Int32Array;
    const values = relation.columns[position] as Int32Array;
    const id = facts.dictionary.find(args[key] as string);
    const found = new Set<number>();
    for (let row = column.indexOf(id); row >= 0 && row < relation.count; row = column.indexOf(id, row + 1))
      if (relation.isAlive(row)) found.add(values[row] as number);
    const variable = args[position] as string;
    return Array.from(found, (value) =>
      withValues(derived, new Map([[variable, facts.dictionary.text(value)]])),
    );
  }
  return null;
}

/** The approximate number of stored facts with the constants of the atom, those that differ only in a `?_` once. */
function storedRows({ predicate, args, negated }: AtomLiteral, { facts, selectivity }: Known): number {
  const stored = facts.relation(predicate, args.length, negated);
  if (stored === null || stored.live === 0) return 0;
  let rows = stored.live;
  for (const [position, term] of args.entries())
    if (!isVariable(term)) rows *= selectivity.shareOf(stored, position, facts.dictionary.find(term));
  const named = [...args.keys()].filter((position) => isNamedVariable(args[position] as string));
  const [position] = named;
  if (position === undefined || named.length > 1 || !args.includes(wildcard)) return rows;
  return Math.min(rows, stored.live / selectivity.of(stored, position));
}
