import { TextMap } from '../../base/text-map.ts';
import { present } from '../../base/assert.ts';
import { compareText } from '../../base/text-order.ts';
import { type Atom, type AtomLiteral, isVariable, type Literal, type Rule } from '../../contract/language.ts';
import { planRule, type Filter } from '../../language/order.ts';
import { renderLiteral } from '../../language/print.ts';
import {
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  relationOf,
  variablesAtLevel,
} from '../../language/terms.ts';
import { filtersOf } from '../plan/join-order.ts';
import { type LiteralReader, type Rows, variablesOfAtom } from '../tables/literal-reader.ts';
import { isNamed, substitute, withoutWildcards } from '../tables/question.ts';

/** The best binding of a rule's body, and what is missing under it. */
export interface Furthest {
  /** The value of each bound variable, by its name without `?`, in the order of the rule. */
  readonly bindings: Record<string, string>;
  readonly satisfied: readonly string[];
  /** The positions of these in the body, ascending. */
  readonly satisfiedAt: readonly number[];
  /** Rendered, with variables that are not bound. */
  readonly missing: readonly string[];
  /** The missing literals that are atoms, with the values that are bound. */
  readonly missingAtoms: readonly AtomLiteral[];
}

/**
 * How far the rule gets towards the atom in the reader's view: the binding under which most literals of its
 * body are true. null if its head does not match. Variables of the atom are bound by the body alone.
 *
 * A binding consists of supported constants: those of the conclusion, those of true atoms, and what is
 * computed from these. A variable that occurs in an atom, but in no true one, takes its value from the first
 * literal of the body that computes one; any other is computed by the literal that computes it in the rule.
 * The best binding satisfies the most literals; then the most atoms; then the literals that come first in the
 * body; then it has the least constants by code point, variable by variable in the order of the rule.
 *
 * The search is exact (branch and bound). It branches over the matches of an atom, and over leaving the atom
 * out if that can still be best; groups of literals without a common open variable are searched separately,
 * and the result for a set of literals and the constants they see is memoized. So the work is about that of
 * the rule's joins. A limit of the pacer ends it.
 */
export async function furthest(rule: Rule, goal: Atom, reader: LiteralReader): Promise<Furthest | null> {
  const given = headBindings(rule.head, goal);
  return given === null ? null : new FurthestSearch(rule, given, reader).run();
}

/** The bindings that the atom's constants give to the head's variables; null if they do not match. */
function headBindings(head: Atom, goal: Atom): Map<string, string> | null {
  const bound = new Map<string, string>();
  for (const [position, term] of head.args.entries()) {
    const wanted = goal.args[position] as string;
    if (isVariable(wanted)) continue;
    const known = isVariable(term) ? bound.get(term) : term;
    if (known !== undefined && known !== wanted) return null;
    if (isVariable(term)) bound.set(term, wanted);
  }
  return bound;
}

/** A variable by its number, or a constant by its id. */
interface Term {
  readonly variable: number;
  readonly id: number;
}

interface Part {
  readonly literal: Literal;
  /** null: a positive atom. */
  readonly filter: Filter | null;
  /** The arguments of a filter; for an aggregate its result alone. */
  readonly terms: readonly Term[];
  /** Variables that need a value before the literal can be decided. */
  readonly needs: readonly number[];
  /** The variable that the filter computes in the rule, or -1. */
  readonly binds: number;
  readonly variables: readonly number[];
}

interface Binding {
  readonly variable: number;
  readonly id: number;
}

/** The result for some literals: those that are true, by their positions in the body, ascending. */
interface Outcome {
  readonly satisfied: readonly number[];
  readonly atoms: number;
  /** Ascending by variable. */
  readonly bound: readonly Binding[];
}

/** Something to wait for before the search can go on. */
type Wait = () => Promise<void>;
type Steps<Result> = Generator<Wait, Result, void>;

const nothing: Outcome = { satisfied: [], atoms: 0, bound: [] };
const maxMemoized = 100_000;
const bytesOfMemoized = 400;
const rowsBetweenChecks = 256;
const likelyRowsOfDerived = 1_000_000;

class FurthestSearch {
  readonly #reader: LiteralReader;
  readonly #literals: readonly Literal[];
  readonly #original: readonly Literal[];
  readonly #variables: readonly string[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #parts: readonly Part[];
  /** Variables that occur in an atom of the body. */
  readonly #inAtoms: ReadonlySet<number>;
  /** The ids of variables, -1 if not bound. */
  readonly #values: Int32Array;
  readonly #rows = new TextMap<Rows>();
  readonly #aggregates = new TextMap<number>();
  readonly #memo = new TextMap<Outcome>();
  #rowBytes = 0;
  #looked = 0;

  constructor(rule: Rule, given: ReadonlyMap<string, string>, reader: LiteralReader) {
    this.#reader = reader;
    this.#original = rule.body;
    this.#literals = withoutWildcards(rule.body);
    const inHead = rule.head.args.filter(isNamedVariable);
    this.#variables = [...new Set([...inHead, ...variablesAtLevel(this.#literals)])];
    this.#numbers = new Map(this.#variables.map((variable, at) => [variable, at]));
    const { constants } = reader.set;
    this.#values = Int32Array.from(this.#variables, (variable) => {
      const text = given.get(variable);
      return text === undefined ? -1 : constants.idOf(text);
    });
    const filters = new Map(filtersOf(rule.body, planRule(rule)).map((filter) => [filter.literal, filter]));
    this.#parts = this.#literals.map((literal) => this.#part(literal, filters.get(literal) ?? null));
    this.#inAtoms = new Set(
      this.#parts.flatMap(({ filter, variables }) => (filter === null ? variables : [])),
    );
  }

  async run(): Promise<Furthest> {
    const search = this.#solve([...this.#parts.keys()]);
    let next = search.next();
    while (next.done !== true) {
      await next.value();
      next = search.next();
    }
    return this.#written(next.value);
  }

  #written({ satisfied, bound }: Outcome): Furthest {
    const { constants } = this.#reader.set;
    for (const { variable, id } of bound) this.#values[variable] = id;
    const valueOf = (variable: string): string | undefined => {
      const id = this.#values[this.#numbers.get(variable) ?? -1] ?? -1;
      return id < 0 ? undefined : constants.text(id);
    };
    const bindings: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const variable of this.#variables) {
      const text = isNamed(variable) ? valueOf(variable) : undefined;
      if (text !== undefined) bindings[variable.slice(1)] = text;
    }
    const holding = new Set(satisfied);
    const missing = [...this.#parts.keys()].filter((position) => !holding.has(position));
    const shown = missing.map((position) => substitute(this.#original[position] as Literal, valueOf));
    return {
      bindings,
      satisfied: satisfied.map((position) =>
        renderLiteral(substitute(this.#literals[position] as Literal, valueOf)),
      ),
      satisfiedAt: satisfied,
      missing: shown.map(renderLiteral),
      missingAtoms: shown.filter(isPositiveAtom),
    };
  }

  #part(literal: Literal, filter: Filter | null): Part {
    const number = (variable: string): number => this.#numbers.get(variable) as number;
    const term = (text: string): Term =>
      isVariable(text)
        ? { variable: number(text), id: -1 }
        : { variable: -1, id: this.#reader.set.constants.idOf(text) };
    if (filter === null) {
      const variables = variablesOfAtom(literal as AtomLiteral).map(number);
      return { literal, filter, terms: [], needs: variables, binds: -1, variables };
    }
    const needs = filter.needs.map(number);
    const binds = filter.binds === null ? -1 : number(filter.binds);
    const terms = isAggregate(literal)
      ? [term(literal.result)]
      : literal.naf
        ? []
        : literal.args.map((each) => term(each));
    return { literal, filter, terms, needs, binds, variables: binds < 0 ? needs : [...needs, binds] };
  }

  #value(term: Term): number {
    return term.variable < 0 ? term.id : (this.#values[term.variable] as number);
  }

  #isBound(variable: number): boolean {
    return (this.#values[variable] as number) >= 0;
  }

  /** The best outcome for these literals under the current values. */
  *#solve(open: readonly number[]): Steps<Outcome> {
    const bound: number[] = [];
    const satisfied: number[] = [];
    let left = open;
    for (let before = -1; left.length > 0 && left.length !== before; ) {
      before = left.length;
      const undecided: number[] = [];
      for (const position of left) {
        const holds = yield* this.#decide(position, bound);
        if (holds === null) undecided.push(position);
        else if (holds) satisfied.push(position);
      }
      left = undecided;
    }
    let outcome = this.#outcomeOf(satisfied, bound);
    for (const component of this.#components(left)) {
      const hasAtom = component.some((position) => this.#partAt(position).filter === null);
      outcome = together(outcome, yield* hasAtom ? this.#best(component) : this.#computed(component));
    }
    for (const variable of bound) this.#values[variable] = -1;
    return outcome;
  }

  /** The best outcome for literals connected by open variables, at least one of them an atom. */
  *#best(component: readonly number[]): Steps<Outcome> {
    const key = this.#keyOf(component);
    const known = this.#memo.get(key);
    if (known !== undefined) return known;
    const atom = this.#cheapest(component);
    const rest = component.filter((position) => position !== atom);
    const free = this.#partAt(atom).variables.filter((variable) => !this.#isBound(variable));
    const { ids, count, width } = yield* this.#rowsOf(atom);
    let best: Outcome | null = null;
    for (let row = 0; row < count; row++) {
      if ((++this.#looked & (rowsBetweenChecks - 1)) === 0) yield this.#look;
      this.#reader.pacer.derivations++;
      for (let at = 0; at < width; at++) this.#values[free[at] as number] = ids[row * width + at] as number;
      const found = together(this.#outcomeOf([atom], free), yield* this.#solve(rest));
      if (best === null || this.#compare(found, best) < 0) best = found;
    }
    for (const variable of free) this.#values[variable] = -1;
    if (best === null || this.#compare(this.#most(rest), best) < 0) {
      const found = yield* this.#solve(rest);
      if (best === null || this.#compare(found, best) < 0) best = found;
    }
    if (this.#memo.size >= maxMemoized) this.#memo.clear();
    this.#memo.set(key, best);
    return best;
  }

  /** For literals without an open atom: the first that can computes the value of a variable, and so on. */
  *#computed(component: readonly number[]): Steps<Outcome> {
    for (const position of component) {
      const given = yield* this.#computes(position);
      if (given === null) continue;
      this.#values[given.variable] = given.id;
      const outcome = together(this.#outcomeOf([], [given.variable]), yield* this.#solve(component));
      this.#values[given.variable] = -1;
      return outcome;
    }
    return nothing;
  }

  /**
   * Whether the literal is true; null if that cannot be decided yet. Variables that it binds are added to
   * `bound`.
   */
  *#decide(position: number, bound: number[]): Steps<boolean | null> {
    const { literal, filter, terms, needs, binds } = this.#partAt(position);
    for (const variable of needs) if (!this.#isBound(variable)) return null;
    if (filter === null) return (yield* this.#rowsOf(position)).count > 0;
    const { constants } = this.#reader.set;
    if (!isAggregate(literal) && !isArithmetic(literal) && !isComparison(literal))
      return (yield* this.#rowsOf(position)).count === 0;
    if (isComparison(literal) && binds < 0)
      return constants.compare(
        literal.predicate,
        this.#value(terms[0] as Term),
        this.#value(terms[1] as Term),
      );
    const id = yield* this.#resultOf(position);
    if (id < 0) return false;
    const result = isComparison(literal) ? binds : (terms.at(-1) as Term).variable;
    const expected = result < 0 ? (terms.at(-1) as Term).id : (this.#values[result] as number);
    if (binds < 0) return constants.equal(expected, id);
    // A computed value must be this same text: another text would be another conclusion.
    if (expected >= 0) return expected === id;
    this.#values[binds] = id;
    bound.push(binds);
    return true;
  }

  /**
   * The id that the literal computes from bound variables: for `=` its other side; -1 if it has no result.
   */
  *#resultOf(position: number): Steps<number> {
    const { literal, terms, binds } = this.#partAt(position);
    if (isAggregate(literal)) return yield* this.#aggregateOf(position);
    const [left, right] = terms as [Term, Term];
    if (isComparison(literal)) return this.#value(left.variable === binds ? right : left);
    return this.#reader.set.constants.calculate(literal.predicate, this.#value(left), this.#value(right));
  }

  /** The value that the literal computes for an unbound variable of an atom. */
  *#computes(position: number): Steps<Binding | null> {
    const { literal, filter, terms } = this.#partAt(position);
    const isOpen = ({ variable }: Term): boolean => variable >= 0 && !this.#isBound(variable);
    if (filter === null) return null;
    if (isComparison(literal)) {
      const open = terms.filter(isOpen);
      const [target] = open;
      if (literal.predicate !== '=' || open.length !== 1 || target === undefined) return null;
      if (!this.#inAtoms.has(target.variable)) return null;
      const other = present(
        terms.find((term) => term !== target),
        'a comparison has two sides',
      );
      return { variable: target.variable, id: this.#value(other) };
    }
    if (!isAggregate(literal) && !isArithmetic(literal)) return null;
    const target = terms.at(-1) as Term;
    if (!isOpen(target) || !this.#inAtoms.has(target.variable)) return null;
    const inputs = isAggregate(literal)
      ? filter.shared.map((variable) => ({ variable: this.#numbers.get(variable) as number, id: -1 }))
      : terms.slice(0, 2);
    if (inputs.some(isOpen)) return null;
    const id = yield* this.#resultOf(position);
    return id < 0 ? null : { variable: target.variable, id };
  }

  /** The rows of an atom, positive or under `not`, under the current values. */
  *#rowsOf(position: number): Steps<Rows> {
    const literal = this.#literals[position] as AtomLiteral;
    const { constants } = this.#reader.set;
    const args = literal.args.map((term) => {
      const id = isNamedVariable(term) ? (this.#values[this.#numbers.get(term) as number] as number) : -1;
      return id < 0 ? term : constants.text(id);
    });
    const atom = { ...literal, args };
    const quick = this.#reader.rowsAtOnce(atom);
    if (quick !== null) return quick;
    const key = this.#keyOf([position]);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const read: Rows[] = [];
    yield async () => {
      read.push(await this.#reader.rows(atom));
      await this.#look();
    };
    const rows = present(read[0], 'the search goes on when they were read');
    this.#rowBytes += bytesOfMemoized + rows.ids.byteLength;
    if (this.#rowBytes > this.#reader.pacer.limits.memory.limit / 8) {
      this.#rows.clear();
      this.#rowBytes = bytesOfMemoized + rows.ids.byteLength;
    }
    this.#rows.set(key, rows);
    return rows;
  }

  *#aggregateOf(position: number): Steps<number> {
    const { literal, filter } = this.#partAt(position);
    if (!isAggregate(literal) || filter === null) throw new Error('assertion failed: an aggregate');
    const { constants } = this.#reader.set;
    const shared = new Map(
      filter.shared.map((variable) => [
        variable,
        constants.text(this.#values[this.#numbers.get(variable) as number] as number),
      ]),
    );
    const key = JSON.stringify([position, ...shared.values()]);
    const known = this.#aggregates.get(key);
    if (known !== undefined) return known;
    let id = -1;
    yield async () => {
      id = await this.#reader.aggregate(literal, shared);
      await this.#look();
    };
    if (this.#aggregates.size >= maxMemoized) this.#aggregates.clear();
    this.#aggregates.set(key, id);
    return id;
  }

  /** Checks the limits and lets others run. */
  readonly #look = async (): Promise<void> => {
    const { pacer } = this.#reader;
    if (pacer.isSliceOver) pacer.lookAtMemory(this);
    await pacer.breathe();
  };

  /** Memory of the search and of the tables that it reads. */
  get bytes(): number {
    const memo = this.#memo.size + this.#aggregates.size;
    return this.#reader.set.bytes + this.#rowBytes + bytesOfMemoized * memo;
  }

  /** Groups the literals by common open variables; each group ascending. */
  #components(left: readonly number[]): number[][] {
    const components: { positions: number[]; open: Set<number> }[] = [];
    for (const position of left) {
      const own = {
        positions: [position],
        open: new Set(this.#partAt(position).variables.filter((variable) => !this.#isBound(variable))),
      };
      for (let at = components.length - 1; at >= 0; at--) {
        const other = components[at] as (typeof components)[number];
        if (![...own.open].some((variable) => other.open.has(variable))) continue;
        own.positions.push(...other.positions);
        for (const variable of other.open) own.open.add(variable);
        components.splice(at, 1);
      }
      components.push(own);
    }
    return components.map(({ positions }) => positions.sort((a, b) => a - b));
  }

  /** The atom that probably has the fewest matches. The outcome does not depend on it. */
  #cheapest(component: readonly number[]): number {
    const { set, view, reader } = this.#reader;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (const position of component) {
      const { filter, literal, variables } = this.#partAt(position);
      if (filter !== null || isAggregate(literal)) continue;
      const relation = reader.facts.relation(literal.predicate, literal.args.length, literal.negated);
      const size = set.isDerived(view, relationOf(literal)) ? likelyRowsOfDerived : (relation?.live ?? 0);
      const open = variables.filter((variable) => !this.#isBound(variable)).length;
      const cost = size ** (open / literal.args.length);
      if (cost >= least) continue;
      least = cost;
      best = position;
    }
    return best;
  }

  /** An upper bound: the outcome if all these literals are true. */
  #most(positions: readonly number[]): Outcome {
    return { satisfied: positions, atoms: this.#atomsAmong(positions), bound: [] };
  }

  #outcomeOf(satisfied: readonly number[], variables: readonly number[]): Outcome {
    if (satisfied.length === 0 && variables.length === 0) return nothing;
    const bound = variables.map((variable) => ({ variable, id: this.#values[variable] as number }));
    return {
      satisfied: [...satisfied].sort((a, b) => a - b),
      atoms: this.#atomsAmong(satisfied),
      bound: bound.sort((a, b) => a.variable - b.variable),
    };
  }

  #atomsAmong(positions: readonly number[]): number {
    return positions.reduce((sum, position) => sum + (this.#partAt(position).filter === null ? 1 : 0), 0);
  }

  /** Negative if the left outcome is better. */
  #compare(left: Outcome, right: Outcome): number {
    const most = right.satisfied.length - left.satisfied.length || right.atoms - left.atoms;
    if (most !== 0) return most;
    for (const [at, position] of left.satisfied.entries())
      if (position !== right.satisfied[at]) return position - (right.satisfied[at] as number);
    const { constants } = this.#reader.set;
    const length = Math.min(left.bound.length, right.bound.length);
    for (let at = 0; at < length; at++) {
      const a = left.bound[at] as Binding;
      const b = right.bound[at] as Binding;
      if (a.variable !== b.variable) return a.variable - b.variable;
      if (a.id !== b.id) return compareText(constants.text(a.id), constants.text(b.id));
    }
    return right.bound.length - left.bound.length;
  }

  /** A key of the literals and the values they see. */
  #keyOf(positions: readonly number[]): string {
    let key = positions.join(',');
    for (const position of positions)
      for (const variable of this.#partAt(position).variables) key += `;${this.#values[variable] as number}`;
    return key;
  }

  #partAt(position: number): Part {
    return this.#parts[position] as Part;
  }
}

/** Combines two outcomes of literals without a common variable. */
function together(left: Outcome, right: Outcome): Outcome {
  if (left === nothing) return right;
  if (right === nothing) return left;
  return {
    satisfied: [...left.satisfied, ...right.satisfied].sort((a, b) => a - b),
    atoms: left.atoms + right.atoms,
    bound: [...left.bound, ...right.bound].sort((a, b) => a.variable - b.variable),
  };
}
