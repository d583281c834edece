import { type AtomLiteral, isVariable, type Literal } from '../../contract/language.ts';
import {
  compileAtom,
  indexedRows,
  scannedRows,
  selectedRows,
  type Selection,
} from '../../store/fact-matching.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { Tuples } from '../../store/tuples.ts';
import { renderBody } from '../../language/print.ts';
import { isAggregate, isPositiveAtom, relationOf, variablesAtLevel, wildcard } from '../../language/terms.ts';
import { BodyCompiler } from '../join/body-compiler.ts';
import type { Constants } from '../model/constants.ts';
import { type Derived, newDerived, put } from '../model/derived.ts';
import { demand, type Pacer, settle } from './evaluation.ts';
import { questionLevel } from '../model/program.ts';
import { type Reader, viewKey } from '../model/reader.ts';
import type { TableSet } from './table-set.ts';
import type { Table } from '../model/table.ts';

/**
 * A question: a body whose ground instances are the answers.
 *
 * Each `?_` becomes a variable of its own here, since an instance has a constant in its tableKey. A question of
 * one derived atom reads that atom's table; any other is evaluated as an anonymous rule whose conclusions are
 * the answers.
 */
export interface Question {
  readonly view: ScopeChoice;
  /** With every `?_` of an atom replaced by a fresh variable. */
  readonly body: readonly Literal[];
  /** In order of first occurrence, including those made for `?_`. */
  readonly variables: readonly string[];
}

/** The distinct answers, as ids. */
export interface Matches {
  readonly question: Question;
  /** The constants to which the ids belong. */
  readonly constants: Constants;
  /**
   * By variable, then by row; at least `count` rows. Contents never change, but may be the columns of a
   * growing table.
   */
  readonly columns: readonly Int32Array[];
  readonly count: number;
}

const noIds = new Int32Array(0);
const madeVariable = '?_ ';

/** A question for the body in the view. */
export function question(view: ScopeChoice, body: readonly Literal[]): Question {
  const concrete = withoutWildcards(body);
  return { view, body: concrete, variables: [...variablesAtLevel(concrete)] };
}

/** The body with every `?_` of a positive atom replaced by a fresh variable. */
export function withoutWildcards(body: readonly Literal[]): Literal[] {
  let made = 0;
  return body.map((literal) => {
    if (!isPositiveAtom(literal) || !literal.args.includes(wildcard)) return literal;
    return {
      ...literal,
      args: literal.args.map((term) => (term === wildcard ? `${madeVariable}${made++}` : term)),
    };
  });
}

/** True for a variable that the question names, false for one made for `?_`. */
export function isNamed(variable: string): boolean {
  return !variable.startsWith(madeVariable);
}

/** The constant for a variable; undefined for a variable local to an aggregate's braces. */
export type ValueOf = (variable: string) => string | undefined;

/**
 * The literal with constants for the variables that have one. Terms before the colon of braces stay
 * variables.
 */
export function substitute<Kind extends Literal>(literal: Kind, valueOf: ValueOf): Kind {
  const value = (term: string): string => (isVariable(term) ? (valueOf(term) ?? term) : term);
  if (!isAggregate(literal)) return { ...literal, args: literal.args.map(value) };
  const body = literal.body.map((inner) => substitute(inner, valueOf));
  return { ...literal, result: value(literal.result), body };
}

/** The question with a row's constants for its variables. */
export function instance(asked: Question, valueOf: ValueOf): Literal[] {
  return asked.body.map((literal) => substitute(literal, valueOf));
}

/** The text of `instance`. */
export function renderInstance(asked: Question, valueOf: ValueOf): string {
  return renderBody(instance(asked, valueOf));
}

/** The question's atom if it is a single derived atom, else null. */
export function derivedAtomOf(asked: Question, rules: Pick<TableSet, 'isDerived'>): AtomLiteral | null {
  const [literal] = asked.body;
  if (asked.body.length !== 1 || literal === undefined || !isPositiveAtom(literal)) return null;
  return rules.isDerived(asked.view, relationOf(literal)) ? literal : null;
}

/** An atom and the table asked for it: its constants are the key. */
export interface TableKey extends Selection {
  readonly table: Table;
}

/** The atom, compiled with a key of exactly its constants; null if no table can have one of them. */
function compiled({ args }: AtomLiteral, { program, constants }: TableSet): Selection | null {
  const known = program.makesConstants ? { find: (text: string) => constants.idOf(text) } : constants;
  const selection = compileAtom(args, known);
  return selection && { ...selection, key: selection.key.subarray(0, selection.positions.length) };
}

/**
 * The table that answers the atom, to be demanded for the key; null if no table can have one of the
 * constants.
 */
export function tableFor(atom: AtomLiteral, view: ScopeChoice, set: TableSet): TableKey | null {
  const asked = compiled(atom, set);
  if (asked === null) return null;
  const relation = { view, predicate: atom.predicate, arity: atom.args.length, negated: atom.negated };
  return { table: set.table(relation, asked.positions), ...asked };
}

/**
 * A table that already has all answers to the atom, with the same or fewer bound arguments; null if there is
 * none.
 */
export function settledTableFor(atom: AtomLiteral, view: ScopeChoice, set: TableSet): TableKey | null {
  const asked = compiled(atom, set);
  if (asked === null) return null;
  const { positions, key } = asked;
  for (const table of set.tablesOf(relationOf(atom))) {
    if (viewKey(table.view) !== viewKey(view)) continue;
    if (!table.boundPositions.every((position) => positions.includes(position))) continue;
    const demanded = table.boundPositions.map((position) => key[positions.indexOf(position)] as number);
    const row = table.demand.rows.find(Int32Array.from(demanded));
    if (row >= 0 && row < table.demand.settled) return { table, ...asked };
  }
  return null;
}

/** Every answer to the question for the pinned reader. Requires exclusive use of the set until it ends. */
export async function matchesOf(
  asked: Question,
  set: TableSet,
  reader: Reader,
  pacer: Pacer,
): Promise<Matches> {
  const atom = derivedAtomOf(asked, set);
  if (atom === null) return matchBody(asked, set, reader, pacer);
  const held = set.work.isEmpty ? settledTableFor(atom, asked.view, set) : null;
  if (held !== null) return answersOf(asked, atom, held, set) ?? copiedAnswers(asked, atom, held, set, pacer);
  const tableKey = tableFor(atom, asked.view, set);
  if (tableKey === null)
    return { question: asked, constants: set.constants, columns: asked.variables.map(() => noIds), count: 0 };
  const { table, key } = tableKey;
  const isNew = demand(set, table, key);
  set.observer?.asked(table.demand, key);
  if (isNew || !set.work.isEmpty) await settle(set, reader, pacer);
  return answersOf(asked, atom, tableKey, set) ?? copiedAnswers(asked, atom, tableKey, set, pacer);
}

/** Answers that are copied out of a table, or rows that are scanned for them, in one turn. */
const maxCopiedAtOnce = 0x1_0000;

/**
 * The current answers of a settled table: its own columns if all rows are answers, else a copy. null if
 * copying takes longer than a turn: `copiedAnswers` then needs exclusive use of the set.
 */
export function answersOf(
  asked: Question,
  atom: AtomLiteral,
  tableKey: TableKey,
  set: TableSet,
): Matches | null {
  const { table, ...selection } = tableKey;
  const { rows } = table.rows;
  const { key, equal } = selection;
  const columns = columnsOf(asked, atom, rows);
  const about = { question: asked, constants: set.constants };
  const isOnlyKey = table.boundPositions.length === key.length && table.demand.rows.count === 1;
  if (isOnlyKey && equal.length === 0 && rows.deadCount === 0)
    return { ...about, columns, count: rows.count };
  const isAlive = aliveIn(rows);
  const isKeyed = key.length > 0;
  if (!isKeyed && rows.count > maxCopiedAtOnce) return null;
  if (isKeyed && !selection.isGround && !rows.hasIndex(selection.positions, maxCopiedAtOnce)) return null;
  const found = selection.isGround
    ? [rows.find(key)].filter((row) => row >= 0)
    : isKeyed
      ? indexedRows(selection, rows, isAlive, maxCopiedAtOnce)
      : [...scannedRows(rows, selection, isAlive)];
  if (found === null) return null;
  return {
    ...about,
    columns: columns.map((column) => Int32Array.from(found, (row) => column[row] as number)),
    count: found.length,
  };
}

function aliveIn(rows: Tuples): (row: number) => boolean {
  return (row) => !rows.isDead(row);
}

function columnsOf({ variables }: Question, { args }: AtomLiteral, rows: Tuples): Int32Array[] {
  return variables.map((variable) => rows.columns[args.indexOf(variable)] as Int32Array);
}

/** A copy of the answers in a settled table, made in slices. Requires exclusive use of the set. */
async function copiedAnswers(
  asked: Question,
  atom: AtomLiteral,
  { table, ...selection }: TableKey,
  set: TableSet,
  pacer: Pacer,
): Promise<Matches> {
  const { rows } = table.rows;
  const isAlive = aliveIn(rows);
  if (selection.key.length > 0) {
    const index = rows.indexToBuild(selection.positions);
    while (!index.takeIn(rows.count, maxCopiedAtOnce)) await pacer.breathe();
  }
  let count = 0;
  const each = async (visit: (row: number) => void): Promise<void> => {
    let seen = 0;
    for (const row of selectedRows(rows, selection, isAlive)) {
      if (row >= 0) visit(row);
      if (++seen % maxCopiedAtOnce === 0) await pacer.breathe();
    }
  };
  await each(() => count++);
  const from = columnsOf(asked, atom, rows);
  pacer.memory.take(count * 4 * from.length);
  const columns = from.map(() => new Int32Array(count));
  let at = 0;
  await each((row) => {
    for (const [index, column] of columns.entries()) column[at] = (from[index] as Int32Array)[row] as number;
    at++;
  });
  return { question: asked, constants: set.constants, columns, count };
}

/** Evaluates the body as an anonymous rule, for this evaluation only. */
async function matchBody(asked: Question, set: TableSet, reader: Reader, pacer: Pacer): Promise<Matches> {
  const level = questionLevel;
  const demand = newDerived({ name: 'question', arity: 0, level, memory: set.passingMemory });
  const target = newDerived({
    name: 'answers',
    arity: asked.variables.length,
    level,
    memory: set.passingMemory,
  });
  const extra: Derived[] = [];
  const compiler = new BodyCompiler(set, extra, true);
  const conclusion = {
    target,
    headTerms: asked.variables,
    heightIncrement: 0,
    tally: null,
    demand,
    demandTerms: [],
  };
  set.observer?.question(demand, target);
  try {
    const planned = set.planner.planQuestion(asked.view, asked.body);
    if (set.profile !== null) set.profile.question = planned;
    compiler.compile(planned, conclusion);
    for (const derived of [target, ...extra]) set.passing.add(derived);
    const key = new Int32Array(0);
    put(demand, key, 0, set.work);
    set.observer?.asked(demand, key);
    await settle(set, reader, pacer);
  } finally {
    compiler.remove();
    for (const derived of [target, ...extra]) set.passing.delete(derived);
  }
  const { columns, count } = target.rows;
  return { question: asked, constants: set.constants, columns, count };
}
