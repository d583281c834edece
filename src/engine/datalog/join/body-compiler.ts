import { assert, present } from '../../base/assert.ts';
import {
  type AggregateLiteral,
  type AtomLiteral,
  isVariable,
  type Literal,
} from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import {
  isAbsence,
  isAggregate,
  isNamedVariable,
  isPositiveAtom,
  relationOf,
  wildcard,
} from '../../language/terms.ts';
import { type AdornedRule, atomWaitedFor, type RuleSpace } from './compile-rule.ts';
import {
  type Barrier,
  type GroupSource,
  type BodyAtom,
  type DerivedSource,
  type Argument,
  type BuiltBody,
  type BuiltGroup,
  type Relation,
  shapeOf,
  type Table,
} from '../model/table.ts';
import type { MemoryMeter } from '../../store/memory-meter.ts';
import { type Derived, newDerived, type Watcher } from '../model/derived.ts';
import { boundArguments, cheapest, filtersOf, spread } from '../plan/join-order.ts';
import { type Filter } from '../../language/order.ts';
import { viewKey } from '../model/reader.ts';
import type { Constants } from '../model/constants.ts';
import type { Program } from '../model/program.ts';

/** A body to compile. */
export interface Body {
  readonly view: ScopeChoice;
  readonly literals: readonly Literal[];
  /** The filters of the body. The plan of the whole rule decided which of them bind a variable. */
  readonly filters: readonly Filter[];
}

/** The relation to which the conclusions are added, and the demand that wants them. */
export type Conclusion = Pick<
  AdornedRule,
  'target' | 'headTerms' | 'heightIncrement' | 'tally' | 'demand' | 'demandTerms'
>;

/** A table's rule while the order of its atoms is chosen. */
interface CurrentRule {
  readonly table: Table;
  readonly demandTerms: readonly string[];
  readonly body: readonly Literal[];
}

/** Assumed cost of an atom in the table's own recursive component. */
const likelyRowsOfOwnComponent = 1000;

/**
 * Compiles a body to adorned rules: the order in which its atoms pass bindings on (sideways information
 * passing), what each reads, and where it must wait.
 *
 * A negated derived atom, or an aggregate, is a statement about all rows with its key. So the key is demanded
 * first, and the partial matches wait in a relation of their own until everything below is at its fixpoint
 * (`WorkList`). A body with such literals becomes a chain of rules: join and demand, wait, test and demand
 * again, and finally the head.
 *
 * `extra` collects the relations made for the body; `table` is the table of the rule, null for a question and
 * for the body of an aggregate.
 */
export class BodyCompiler {
  readonly #set: TableSpace;
  readonly #table: Table | null;
  readonly #extra: Derived[];
  readonly #isQuestion: boolean;
  /** True if the conclusions outlive this question. */
  readonly #isMaintained: boolean;
  readonly #stops: (() => void)[] = [];
  readonly #removals: (() => void)[] = [];

  constructor(set: TableSpace, table: Table | null, extra: Derived[], isQuestion: boolean) {
    this.#set = set;
    this.#table = table;
    this.#extra = extra;
    this.#isQuestion = isQuestion;
    this.#isMaintained = set.isMaintained && !isQuestion;
  }

  /** Ends every join compiled so far. Their conclusions are still maintained. */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** Undoes every compilation so far. */
  remove(): void {
    this.stop();
    for (const removal of this.#removals.splice(0)) removal();
  }

  compile(body: Body, conclusion: Conclusion): BuiltBody {
    const rule = this.#table === null ? null : { ...conclusion, table: this.#table, body: body.literals };
    return this.#compile(body, conclusion, rule, this.#stops);
  }

  /** Compiles the body; adds to `ends` the functions that end its joins. */
  #compile(body: Body, conclusion: Conclusion, rule: CurrentRule | null, ends: (() => void)[]): BuiltBody {
    const waiting = body.filters.filter((filter) => this.#mustWait(body.view, filter));
    const immediate = body.filters.filter((filter) => !waiting.includes(filter));
    const bound = new Set(conclusion.demandTerms.filter(isNamedVariable));
    const atoms = this.#passBindings(body, immediate, bound, rule);
    const built: BuiltBody = { ...body, atoms, barriers: new Map(), groups: new Map() };
    let stage = { demand: conclusion.demand, demandTerms: conclusion.demandTerms, atoms };
    let current: readonly Filter[] = [];
    let done: Filter[] = [];
    let open = spread(immediate, bound);
    let later = waiting;
    while (later.length > 0) {
      const ready = later.filter(({ needs }) => needs.every((variable) => bound.has(variable)));
      assert(ready.length > 0, 'a safe body can be evaluated to its end');
      const variables = [...bound];
      const { level } = conclusion.target;
      const waits = this.#relation('waiting', variables.length, level, this.#set.withHeights);
      const all = stage.demandTerms.length === 0 && immediate.length === 0 ? built.atoms : [];
      for (const filter of ready) this.#barrier(body.view, filter, conclusion, built, all);
      const nowDone = immediate.filter((filter) => !open.includes(filter) && !done.includes(filter));
      const first = {
        ...stage,
        target: waits,
        headTerms: variables,
        view: body.view,
        filters: [...current, ...nowDone],
        barriers: barriersOf(built, current),
        isQuestion: this.#isQuestion,
        announced: ready.flatMap((filter) => announcements(filter, built.barriers.get(filter.literal))),
      };
      this.#set.addRule(first, ends, this.#removals);
      if (this.#isMaintained) for (const filter of ready) this.#watch(filter, built, waits, variables);
      done = [...done, ...nowDone];
      stage = { demand: waits, demandTerms: variables, atoms: [] };
      current = ready;
      later = later.filter((filter) => !ready.includes(filter));
      for (const { binds } of ready) if (binds !== null) bound.add(binds);
      open = spread(open, bound);
    }
    const last = {
      ...conclusion,
      ...stage,
      view: body.view,
      filters: [...current, ...immediate.filter((filter) => !done.includes(filter))],
      barriers: barriersOf(built, current),
      isQuestion: this.#isQuestion,
    };
    this.#set.addRule(last, ends, this.#removals);
    return built;
  }

  #relation(name: string, arity: number, level: number, withHeights: boolean): Derived {
    const derived = newDerived({ name, arity, level, withHeights, memory: this.#set.memory });
    if (this.#isMaintained) this.#set.justifications.track(derived, null);
    this.#extra.push(derived);
    return derived;
  }

  /**
   * Maintained rules wait at every negated atom, so that a change of a stored fact finds the rows that it
   * affects.
   */
  #mustWait(view: ScopeChoice, { literal }: Filter): boolean {
    if (isAggregate(literal)) return true;
    return isAbsence(literal) && (this.#isMaintained || this.#set.isDerived(view, relationOf(literal)));
  }

  /**
   * Prepares what the filter waits for. `all`: the atom whose every match demands it, if nothing else
   * restricts the matches; else empty.
   */
  #barrier(
    view: ScopeChoice,
    filter: Filter,
    conclusion: Conclusion,
    built: BuiltBody,
    all: readonly BodyAtom[],
  ): void {
    const { literal } = filter;
    if (isAggregate(literal) && !this.#readsAtom(filter, literal)) {
      const group = this.#group(view, filter, literal, conclusion.target.level);
      built.groups.set(literal, group);
      built.barriers.set(literal, group.source);
      return;
    }
    const atom = atomWaitedFor(literal);
    if (!this.#set.isDerived(view, relationOf(atom))) return;
    const terms = sharedTerms(literal);
    const positions = [...terms.keys()].filter((position) => terms[position] !== wildcard);
    const bound = this.#isAskedWhole(view, atom, positions, all) ? [] : positions;
    built.barriers.set(literal, this.#tableSource(view, atom, bound));
  }

  /**
   * True if the aggregate's tuples are the matches of one atom, each once; it then reads the atom directly.
   * Proofs and traces need a relation of their own for the tuples.
   */
  #readsAtom({ shared }: Filter, { body, over }: AggregateLiteral): boolean {
    const [atom] = body;
    return (
      this.#set.mayRewrite &&
      body.length === 1 &&
      atom !== undefined &&
      isPositiveAtom(atom) &&
      !over.some((variable) => shared.includes(variable)) &&
      atom.args.every((term) => !isVariable(term) || over.includes(term) || shared.includes(term))
    );
  }

  /** Watches the relation for which the filter waits, so that its changes find the waiting rows. */
  #watch(filter: Filter, built: BuiltBody, waits: Derived, variables: readonly string[]): void {
    const { literal } = filter;
    const barrier = built.barriers.get(literal);
    const terms = barrier?.kind === 'group' ? barrier.shared : sharedTerms(literal);
    const watcher = watcherOf(terms, waits, variables, this.#set.constants);
    if (barrier === undefined) {
      this.#removals.push(this.#set.watchStored(relationOf(atomWaitedFor(literal)), watcher));
      return;
    }
    const { watchers } = present(barrier.rows.support, 'what is kept reads what is kept');
    watchers.push(watcher);
    this.#removals.push(() => void watchers.splice(watchers.indexOf(watcher), 1));
  }

  /**
   * Makes the relation of an aggregate's tuples: below the rule that waits for it, above everything that it
   * reads.
   */
  #group(view: ScopeChoice, filter: Filter, literal: AggregateLiteral, above: number): BuiltGroup {
    const { shared } = filter;
    const level = (above + Math.ceil(above) - 1) / 2;
    const demand = this.#relation('demand of a group', shared.length, level, false);
    const rows = this.#relation('group', shared.length + literal.over.length, level, this.#set.withHeights);
    const inner = {
      view,
      literals: literal.body,
      filters: filtersOf(literal.body, present(filter.inner, 'of braces')),
    };
    const headTerms = [...shared, ...literal.over];
    const conclusion = {
      target: rows,
      headTerms,
      demand,
      demandTerms: shared,
    };
    const source: GroupSource = { kind: 'group', rows, demand, shared };
    // Maintenance needs the whole group, whether or not the rule itself goes on.
    return { source, headTerms, body: this.#compile(inner, conclusion, null, this.#removals) };
  }

  /** Orders the atoms by how they pass bindings on. Adds the variables that they bind to `bound`. */
  #passBindings(
    body: Body,
    immediate: readonly Filter[],
    bound: Set<string>,
    rule: CurrentRule | null,
  ): BodyAtom[] {
    const open: AtomLiteral[] = body.literals.filter(isPositiveAtom);
    const atoms: BodyAtom[] = [];
    const isFree = bound.size === 0;
    spread(immediate, bound);
    while (open.length > 0) {
      const cost = (literal: AtomLiteral, names: ReadonlySet<string>): number =>
        this.#passingCost(body.view, literal, names, rule);
      const next = present(cheapest(open, bound, cost), 'an atom is left');
      open.splice(open.indexOf(next), 1);
      const all = isFree && spread(immediate, bound).length === immediate.length ? atoms : [];
      atoms.push({ literal: next, source: this.#source(body.view, next, bound, rule, all) });
      for (const term of next.args) if (isNamedVariable(term)) bound.add(term);
      spread(immediate, bound);
    }
    return atoms;
  }

  #source(
    view: ScopeChoice,
    literal: AtomLiteral,
    bound: ReadonlySet<string>,
    rule: CurrentRule | null,
    all: readonly BodyAtom[],
  ): BodyAtom['source'] {
    if (!this.#set.isDerived(view, relationOf(literal))) return { kind: 'stored' };
    const isFree =
      rule !== null &&
      rule.table.boundPositions.length === 0 &&
      this.#isOwnComponent(view, literal, rule.table);
    const positions = [...literal.args.keys()].filter((position) => {
      const term = literal.args[position] as string;
      return !isFree && (!isVariable(term) || bound.has(term));
    });
    const isWhole = this.#isAskedWhole(view, literal, positions, all);
    return this.#tableSource(view, literal, isWhole ? [] : positions);
  }

  /**
   * True if every match of a single atom demands the literal by one argument, and these values cover nearly
   * all possible ones.
   */
  #isAskedWhole(
    view: ScopeChoice,
    literal: AtomLiteral,
    positions: readonly number[],
    all: readonly BodyAtom[],
  ): boolean {
    const [first] = all;
    const [position] = positions;
    if (first === undefined || all.length > 1 || position === undefined || positions.length > 1) return false;
    const { args } = first.literal;
    const at = args.indexOf(literal.args[position] as string);
    const isPlain = args.every(
      (term, index) => isVariable(term) && (term === wildcard || args.indexOf(term) === index),
    );
    if (at < 0 || !isPlain) return false;
    const argument = (atom: AtomLiteral, argumentPosition: number): Argument => ({
      relation: shapeOf(atom),
      view,
      position: argumentPosition,
    });
    return this.#set.coversMost(argument(first.literal, at), argument(literal, position));
  }

  #tableSource(view: ScopeChoice, literal: AtomLiteral, boundPositions: readonly number[]): DerivedSource {
    const { rows, demand } = this.#set.table({ view, ...shapeOf(literal) }, boundPositions);
    return { kind: 'derived', rows, demand, boundPositions };
  }

  #isOwnComponent(view: ScopeChoice, literal: AtomLiteral, table: Table): boolean {
    if (viewKey(view) !== viewKey(table.view)) return false;
    const { program } = this.#set;
    const own = program.component(view, table.relation);
    return own >= 0 && program.component(view, relationOf(literal)) === own;
  }

  /**
   * The estimate, except that recursion costs more than stored facts unless it asks for the table's own
   * demand, which is never new. Recursion that comes first in the body and keeps a bound argument in its
   * position is joined first: all its rows share that argument.
   */
  #passingCost(
    view: ScopeChoice,
    literal: AtomLiteral,
    bound: ReadonlySet<string>,
    rule: CurrentRule | null,
  ): number {
    const cost = this.#set.estimate(view, literal, bound);
    if (rule === null || !this.#isOwnComponent(view, literal, rule.table)) return cost;
    const { table, demandTerms, body } = rule;
    if (table.boundPositions.length > 0 && relationOf(literal) === table.relation) {
      const kept = table.boundPositions.filter((position, at) => literal.args[position] === demandTerms[at]);
      if (kept.length === table.boundPositions.length) return 0;
      if (kept.length > 0 && body.find(isPositiveAtom) === literal) return 1;
    }
    return boundArguments(literal, bound) > 0 ? Math.max(cost, likelyRowsOfOwnComponent) : cost;
  }
}

/**
 * The terms of the atom for which the literal waits, with wildcards for the terms before an aggregate's
 * colon.
 */
function sharedTerms(literal: Literal): readonly string[] {
  const { args } = atomWaitedFor(literal);
  return isAggregate(literal) ? args.map((term) => (literal.over.includes(term) ? wildcard : term)) : args;
}

/** The relations for which the filters wait, without stored ones. */
function barriersOf(built: BuiltBody, filters: readonly Filter[]): Map<Literal, Barrier> {
  const barriers = new Map<Literal, Barrier>();
  for (const { literal } of filters) {
    const barrier = built.barriers.get(literal);
    if (barrier !== undefined) barriers.set(literal, barrier);
  }
  return barriers;
}

/** The demand that must be made before the filter can be evaluated. */
function announcements(
  filter: Filter,
  barrier: Barrier | undefined,
): { demand: Derived; terms: readonly string[] }[] {
  if (barrier === undefined) return [];
  if (barrier.kind === 'group') return [{ demand: barrier.demand, terms: barrier.shared }];
  const { args } = atomWaitedFor(filter.literal);
  const terms = barrier.boundPositions.map((position) => args[position] as string);
  return [{ demand: barrier.demand, terms }];
}

/**
 * A watcher that maps a changed row, whose first columns are `terms`, to the affected rows of `waits`, whose
 * columns are `variables`.
 */
function watcherOf(
  terms: readonly string[],
  waits: Derived,
  variables: readonly string[],
  of: Constants,
): Watcher {
  const constants: { position: number; id: number }[] = [];
  const equal: [number, number][] = [];
  const key: { from: number; to: number }[] = [];
  for (const [position, term] of terms.entries()) {
    if (term === wildcard) continue;
    const first = terms.indexOf(term);
    if (!isVariable(term)) constants.push({ position, id: of.ofRule(term) });
    else if (first !== position) equal.push([first, position]);
    else key.push({ from: position, to: variables.indexOf(term) });
  }
  key.sort((left, right) => left.to - right.to);
  return { waits, constants, equal, from: key.map(({ from }) => from), to: key.map(({ to }) => to) };
}

/** The part of a table set that compiling a body needs. */
export interface TableSpace extends RuleSpace {
  /** What the relations that it makes ask before they grow. */
  readonly memory: MemoryMeter;
  readonly program: Program;
  readonly withHeights: boolean;
  /** True if rules may be rewritten: neither heights nor an observer depend on their steps. */
  readonly mayRewrite: boolean;
  /** True if derived rows are maintained when facts change. */
  readonly isMaintained: boolean;
  /** Compiles the rule. Adds the functions that end its joins to `stops`, and its maintenance to `removals`. */
  addRule(rule: AdornedRule, stops: (() => void)[], removals: (() => void)[]): void;
  /**
   * Notifies the watcher when stored facts of the relation are added or removed. Returns a function that ends
   * this.
   */
  watchStored(relation: string, watcher: Watcher): () => void;
  isDerived(view: ScopeChoice, relation: string): boolean;
  table(relation: Relation, boundPositions: readonly number[]): Table;
  /** True if the values of `from` certainly cover most values that `asked` can have. */
  coversMost(from: Argument, asked: Argument): boolean;
}
