import {
  type AggregateLiteral,
  type AtomLiteral,
  isVariable,
  type Literal,
} from '../../contract/language.ts';
import type { FactRow, ScopeChoice } from '../../store/fact-store.ts';
import { Tuples } from '../../store/tuples.ts';
import { isNamedVariable, relationOf, wildcard } from '../../language/terms.ts';
import type { Constants } from '../model/constants.ts';
import type { Pacer } from './evaluation.ts';
import { matchesOf, question } from './question.ts';
import { matching, type Reader } from '../model/reader.ts';
import type { TableSet } from './table-set.ts';

/** The distinct matches of an atom. */
export interface Rows {
  /**
   * One row of `width` ids each: the values of the atom's variables in order of first occurrence. Values of
   * `?_` may be included or not.
   */
  readonly ids: Int32Array;
  readonly count: number;
  readonly width: number;
}

const rowsBetweenBreaths = 1024;
const maxRowsAtOnce = 4096;

/**
 * Reads one literal in one view: the rows of an atom, or the value of an aggregate.
 *
 * For a derived relation it adds demand and settles the table set; stored facts are read directly, each atom
 * once whatever scopes it is in. Ids are those of the set's constants. The caller must have exclusive use of
 * the set.
 */
export class LiteralReader {
  readonly set: TableSet;
  readonly reader: Reader;
  readonly pacer: Pacer;
  readonly view: ScopeChoice;

  constructor(set: TableSet, reader: Reader, pacer: Pacer, view: ScopeChoice) {
    this.set = set;
    this.reader = reader;
    this.pacer = pacer;
    this.view = view;
  }

  /** Every match of the atom, ignoring `not`; each distinct row once. */
  async rows(atom: AtomLiteral): Promise<Rows> {
    if (!this.#isDerived(atom)) return this.#stored(atom);
    const { body, variables } = question(this.view, [{ ...atom, naf: false }]);
    const asked = { view: this.view, body, variables };
    const { columns, count } = await matchesOf(asked, this.set, this.reader, this.pacer);
    const width = variables.length;
    const ids = new Int32Array(count * width);
    for (const [at, column] of columns.entries())
      for (let row = 0; row < count; row++) ids[row * width + at] = column[row] as number;
    return { ids, count, width };
  }

  /** Like `rows`, but synchronous; null if that could take long: a derived relation, or many stored facts. */
  rowsAtOnce(atom: AtomLiteral): Rows | null {
    if (atom.args.every(isVariable) || this.#isDerived(atom)) return null;
    const found = this.#collector(atom);
    for (const fact of this.#matching(atom)) {
      found.add(fact);
      if (found.count === 0) continue;
      if (found.width === 0) break;
      if (found.count > maxRowsAtOnce) return null;
    }
    return found.rows();
  }

  /** True if the view has a match of the atom. */
  async holds(atom: AtomLiteral): Promise<boolean> {
    return (await this.rows(atom)).count > 0;
  }

  /**
   * The id of the aggregate's value, -1 if it does not match. `shared` are the variables of its braces that
   * have a value outside, with that value.
   */
  async aggregate(literal: AggregateLiteral, shared: ReadonlyMap<string, string>): Promise<number> {
    const given = [...shared].map(
      ([variable, text]): Literal => ({ predicate: '=', args: [variable, text], negated: false, naf: false }),
    );
    const asked = question(this.view, [...given, { ...literal, result: valueOfAggregate }]);
    const { columns, count } = await matchesOf(asked, this.set, this.reader, this.pacer);
    const values = columns[asked.variables.indexOf(valueOfAggregate)] as Int32Array;
    return count === 0 ? -1 : (values[0] as number);
  }

  #isDerived(atom: AtomLiteral): boolean {
    return this.set.isDerived(this.view, relationOf(atom));
  }

  async #stored(atom: AtomLiteral): Promise<Rows> {
    const found = this.#collector(atom);
    let looked = 0;
    for (const fact of this.#matching(atom)) {
      if (++looked % rowsBetweenBreaths === 0) await this.pacer.breathe();
      found.add(fact);
    }
    return found.rows();
  }

  #matching({ predicate, args, negated }: AtomLiteral): Generator<FactRow> {
    return matching(this.reader, { predicate, args, truthVal: !negated, scope: this.view });
  }

  #collector(atom: AtomLiteral): RowCollector {
    return new RowCollector(this.set.constants, atom, this.view.kind === 'all');
  }
}

/** Collects the rows of stored and supposed facts. */
class RowCollector {
  readonly width: number;
  count = 0;
  readonly #constants: Constants;
  readonly #positions: readonly number[];
  readonly #mayRepeat: boolean;
  readonly #ids: number[] = [];

  constructor(constants: Constants, atom: AtomLiteral, mayRepeat: boolean) {
    this.#constants = constants;
    this.#mayRepeat = mayRepeat || atom.args.includes(wildcard);
    this.#positions = variablesOfAtom(atom).map((variable) => atom.args.indexOf(variable));
    this.width = this.#positions.length;
  }

  add({ relation, row }: FactRow): void {
    this.count++;
    for (const position of this.#positions)
      this.#ids.push(this.#constants.local((relation.columns[position] as Int32Array)[row] as number));
  }

  rows(): Rows {
    const { width, count } = this;
    if (count === 0) return noRows;
    if (width === 0) return oneRow;
    const ids = Int32Array.from(this.#ids);
    if (count === 1 || !this.#mayRepeat) return { ids, count, width };
    const distinct = new Tuples(width);
    for (let row = 0; row < count; row++) distinct.insert(ids.subarray(row * width, (row + 1) * width));
    if (distinct.count === count) return { ids, count, width };
    for (let row = 0; row < distinct.count; row++)
      for (let at = 0; at < width; at++)
        ids[row * width + at] = (distinct.columns[at] as Int32Array)[row] as number;
    return { ids: ids.slice(0, distinct.count * width), count: distinct.count, width };
  }
}

const noRows: Rows = { ids: new Int32Array(0), count: 0, width: 0 };
const oneRow: Rows = { ids: new Int32Array(0), count: 1, width: 0 };

/** A variable name that no rule can contain. */
const valueOfAggregate = '?_ value';

/** The distinct variables of an atom in order of first occurrence, without `?_`. */
export function variablesOfAtom(atom: AtomLiteral): string[] {
  return [...new Set(atom.args.filter(isNamedVariable))];
}
