import type { AggregateLiteral, AtomLiteral, Literal } from '../contract/language.ts';
import type { ScopeChoice } from '../facts/fact-store.ts';
import { Tuples } from '../facts/tuples.ts';
import { isNamedVariable, isPositiveAtom, relationOf } from '../logic/terms.ts';
import type { Pacer } from './evaluation.ts';
import { matchesOf, question } from './question.ts';
import { type Reader, sees } from './reader.ts';
import type { TableSet } from './table-set.ts';

/**
 * What one view says of one literal: the rows of an atom, the value of an aggregate.
 *
 * Of a derived relation it demands what is asked for and settles the set; stored facts are read directly, each atom
 * once whatever scopes hold it. Ids are those of the set's constants. The set belongs to the caller meanwhile.
 */
export interface Rows {
  /** One row of `width` ids each: the values of the atom's variables in the order of their first occurrence. */
  readonly ids: Int32Array;
  readonly count: number;
  readonly width: number;
}

const rowsBetweenBreaths = 1024;

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

  /** Every match of the atom, whether it stands under `not` or not; each distinct row once. */
  async rows(atom: AtomLiteral): Promise<Rows> {
    const { body, variables } = question(this.view, [{ ...atom, naf: false }]);
    const pattern = body.find(isPositiveAtom) as AtomLiteral;
    if (!this.set.isDerived(this.view, relationOf(pattern))) return this.#stored(pattern, variables);
    const asked = { view: this.view, body: [pattern], variables };
    const { ids, count } = await matchesOf(asked, this.set, this.reader, this.pacer);
    return { ids, count, width: variables.length };
  }

  /** True where the view has a match of the atom. */
  async holds(atom: AtomLiteral): Promise<boolean> {
    return (await this.rows(atom)).count > 0;
  }

  /**
   * The id of what the aggregate comes to, -1 where it does not match. `shared` are the variables of its braces that
   * have a value outside, with that value.
   */
  async aggregate(literal: AggregateLiteral, shared: ReadonlyMap<string, string>): Promise<number> {
    const given = [...shared].map(
      ([variable, text]): Literal => ({ predicate: '=', args: [variable, text], negated: false, naf: false }),
    );
    const asked = question(this.view, [...given, { ...literal, result: valueOfAggregate }]);
    const { ids, count } = await matchesOf(asked, this.set, this.reader, this.pacer);
    return count === 0 ? -1 : (ids[asked.variables.indexOf(valueOfAggregate)] as number);
  }

  async #stored(pattern: AtomLiteral, variables: readonly string[]): Promise<Rows> {
    const { facts, generation, time } = this.reader;
    const { constants } = this.set;
    const width = variables.length;
    const positions = variables.map((variable) => pattern.args.indexOf(variable));
    const distinct = new Tuples(width);
    const tuple = new Int32Array(width);
    const { predicate, args, negated } = pattern;
    const wanted = { predicate, args, truthVal: !negated, scope: this.view };
    let looked = 0;
    for (const { relation, row } of facts.match(wanted, generation, time)) {
      if (++looked % rowsBetweenBreaths === 0) await this.pacer.breathe();
      if (!sees(this.reader, relation, row)) continue;
      for (let at = 0; at < width; at++)
        tuple[at] = constants.local((relation.columns[positions[at] as number] as Int32Array)[row] as number);
      distinct.insert(tuple);
      if (width === 0) break;
    }
    const ids = new Int32Array(distinct.count * width);
    for (let row = 0; row < distinct.count; row++)
      for (let at = 0; at < width; at++)
        ids[row * width + at] = (distinct.columns[at] as Int32Array)[row] as number;
    return { ids, count: distinct.count, width };
  }
}

/** A variable that no rule can name. */
const valueOfAggregate = '?_ value';

/** The distinct variables of an atom in the order of their first occurrence, `?_` left out. */
export function variablesOfAtom(atom: AtomLiteral): string[] {
  return [...new Set(atom.args.filter(isNamedVariable))];
}
