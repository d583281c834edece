import { type AtomLiteral, isVariable, type Literal } from '../contract/language.ts';
import type { ScopeChoice } from '../facts/fact-store.ts';
import { isBuiltin, isComparison, relationOf, wildcard } from '../logic/terms.ts';
import { renderBody } from '../logic/print.ts';
import { compileRule } from './compile-rule.ts';
import type { Constants } from './constants.ts';
import { newDerived } from './derived.ts';
import { demand, type Pacer, settle } from './evaluation.ts';
import { put } from './machine.ts';
import type { Reader } from './reader.ts';
import type { TableSet } from './table-set.ts';
import type { Table } from './table.ts';

/**
 * A question is a body: what it asks for are the ground instances of its literals.
 *
 * `?_` stands for a variable of its own here, since an instance has a constant in its place. A question with one
 * derived atom reads that atom's table; any other is a rule without a name whose conclusions are the answers.
 */
export interface Question {
  readonly view: ScopeChoice;
  /** With every `?_` of an atom replaced by a variable of its own. */
  readonly body: readonly Literal[];
  /** In the order of first occurrence, those made for `?_` included. */
  readonly variables: readonly string[];
}

/** The answers as ids: one row of `variables.length` ids each, distinct. */
export interface Matches {
  readonly question: Question;
  /** What the ids mean. */
  readonly constants: Constants;
  readonly ids: Int32Array;
  readonly count: number;
}

const madeVariable = '?_ ';

export function question(view: ScopeChoice, body: readonly Literal[]): Question {
  let made = 0;
  const concrete = body.map((literal): Literal => {
    if ('aggregate' in literal || literal.naf || isBuiltin(literal)) return literal;
    return {
      ...literal,
      args: literal.args.map((term) => (term === wildcard ? `${madeVariable}${made++}` : term)),
    };
  });
  const variables = new Set<string>();
  for (const literal of concrete)
    if (!('aggregate' in literal)) for (const term of literal.args) if (isVariable(term)) variables.add(term);
  return { view, body: concrete, variables: [...variables] };
}

/** True for a variable of the question that bindings name. */
export function isNamed(variable: string): boolean {
  return !variable.startsWith(madeVariable);
}

/** The body with the row's constants in place of the variables. */
export function instance(asked: Question, constantOf: (variable: string) => string): Literal[] {
  return asked.body.map((literal) =>
    'aggregate' in literal
      ? literal
      : { ...literal, args: literal.args.map((term) => (isVariable(term) ? constantOf(term) : term)) },
  );
}

export function renderInstance(asked: Question, constantOf: (variable: string) => string): string {
  return renderBody(instance(asked, constantOf));
}

/** The only atom of the question where there is one and it is derived. */
export function onlyDerivedAtom(asked: Question, set: TableSet): AtomLiteral | null {
  const [literal] = asked.body;
  if (asked.body.length !== 1 || literal === undefined || 'aggregate' in literal || isBuiltin(literal))
    return null;
  return set.isDerived(asked.view, relationOf(literal)) ? literal : null;
}

/** Positions of the atom that hold constants, and their ids. */
export function boundPart(atom: AtomLiteral, set: TableSet): { positions: number[]; key: Int32Array } {
  const positions: number[] = [];
  const key: number[] = [];
  for (const [position, term] of atom.args.entries()) {
    if (isVariable(term)) continue;
    positions.push(position);
    key.push(set.constants.ofQuestion(term));
  }
  return { positions, key: Int32Array.from(key) };
}

/** The table that answers the atom, and the key that it must be demanded for. */
export function tableFor(
  atom: AtomLiteral,
  view: ScopeChoice,
  set: TableSet,
): { table: Table; key: Int32Array; positions: readonly number[] } {
  const { positions, key } = boundPart(atom, set);
  const relation = { view, predicate: atom.predicate, arity: atom.args.length, negated: atom.negated };
  return { table: set.table(relation, positions), key, positions };
}

/** Every answer to the question, for the pinned reader. The set is the caller's until this has ended. */
export async function matchesOf(
  asked: Question,
  set: TableSet,
  reader: Reader,
  pacer: Pacer,
): Promise<Matches> {
  const atom = onlyDerivedAtom(asked, set);
  if (atom === null) return matchBody(asked, set, reader, pacer);
  const { table, key } = tableFor(atom, asked.view, set);
  if (key.some((id) => id < 0))
    return { question: asked, constants: set.constants, ids: new Int32Array(0), count: 0 };
  if (demand(set, table, key) || !set.work.isEmpty) await settle(set, reader, pacer);
  return copyMatches(asked, atom, table, key, set);
}

/** Copies the answers from a settled table, in one turn. */
export function copyMatches(
  asked: Question,
  atom: AtomLiteral,
  table: Table,
  key: Int32Array,
  set: TableSet,
): Matches {
  const rows = table.rows.rows;
  const positions = asked.variables.map((variable) => atom.args.indexOf(variable));
  const width = positions.length;
  const repeated: [number, number][] = [];
  for (const [position, term] of atom.args.entries())
    if (isVariable(term) && atom.args.indexOf(term) !== position)
      repeated.push([atom.args.indexOf(term), position]);
  const isAnswer = (row: number): boolean => {
    for (const [a, b] of repeated)
      if ((rows.columns[a] as Int32Array)[row] !== (rows.columns[b] as Int32Array)[row]) return false;
    return true;
  };
  const found: number[] = [];
  if (key.length === rows.arity) {
    const row = rows.find(key);
    if (row >= 0) found.push(row);
  } else if (key.length === 0) {
    for (let row = 0; row < rows.count; row++) if (isAnswer(row)) found.push(row);
  } else {
    const index = rows.index(table.boundPositions);
    for (let next = index.first(key); next !== 0; next = index.next[next - 1] as number)
      if (isAnswer(next - 1)) found.push(next - 1);
  }
  const ids = new Int32Array(found.length * width);
  for (let at = 0; at < found.length; at++)
    for (let column = 0; column < width; column++)
      ids[at * width + column] = (rows.columns[positions[column] as number] as Int32Array)[
        found[at] as number
      ] as number;
  return { question: asked, constants: set.constants, ids, count: found.length };
}

/** The body as a rule without a name, for this evaluation only. */
async function matchBody(asked: Question, set: TableSet, reader: Reader, pacer: Pacer): Promise<Matches> {
  const start = newDerived('question', 0, false, null);
  const answers = newDerived('answers', asked.variables.length, false, null);
  const { atoms, assigned } = set.passBindings(asked.view, asked.body, new Set(), null);
  const remove = compileRule(
    {
      target: answers,
      headTerms: asked.variables,
      rise: 0,
      tally: null,
      demand: start,
      demandTerms: [],
      atoms,
      filters: asked.body.filter(isComparison),
      assignments: assigned,
    },
    set.context(asked.view, true),
  );
  try {
    put(start, new Int32Array(0), 0, set.work);
    await settle(set, reader, pacer);
  } finally {
    remove();
  }
  const { rows } = answers;
  const width = asked.variables.length;
  const ids = new Int32Array(rows.count * width);
  for (let row = 0; row < rows.count; row++)
    for (let column = 0; column < width; column++)
      ids[row * width + column] = (rows.columns[column] as Int32Array)[row] as number;
  return { question: asked, constants: set.constants, ids, count: rows.count };
}
