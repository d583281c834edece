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
import {
  type AdornedRule,
  atomWaitedFor,
  type CompilerContext,
  compileRule,
  MaintainedRule,
} from './compile-rule.ts';
import { type Barrier } from '../model/table.ts';
import { type GroupSource } from '../model/table.ts';
import { type BodyAtom } from '../model/table.ts';
import { type DerivedSource } from '../model/table.ts';
import { type Derived, newDerived, type Support, type Watcher } from '../model/derived.ts';
import { boundArguments, cheapest, filtersOf, spread } from '../plan/join-order.ts';
import { type Filter } from '../../language/order.ts';
import { viewKey } from '../model/reader.ts';
import type { Argument, BuiltBody, BuiltGroup, Relation, Table } from '../model/table.ts';
import type { Justifications } from '../model/justifications.ts';
import type { Program } from '../model/program.ts';

/**
 * A body to adorned rules: in which order its atoms pass bindings on, what each reads, and where it must wait.
 *
 * An absence over a derived relation and an aggregate say something of all the rows for their key, so the key is
 * demanded first, and what has been joined so far waits in a relation of its own until everything below is at its
 * fixpoint (`WorkList`). A body with such literals becomes a chain of rules: join and demand, wait, test and demand
 * again, and at last the head.
 */
export interface Body {
  readonly view: ScopeChoice;
  readonly literals: readonly Literal[];
  /** The filters of the body; which of them bind was decided by the whole rule. */
  readonly filters: readonly Filter[];
}

/** Where the conclusions go, and for which demand. */
export type Conclusion = Pick<
  AdornedRule,
  'target' | 'headTerms' | 'heightIncrement' | 'tally' | 'demand' | 'demandTerms'
>;

/** A rule of a table while the order of its atoms is chosen. */
interface RuleInHand {
  readonly table: Table;
  readonly demandTerms: readonly string[];
  readonly body: readonly Literal[];
}

const likelyRowsOfOwnComponent = 1000;

/**
 * Compiles the body for the set. `extra` is given the relations that are made for it; `table` is the one whose rule
 * it is, null for a question and for what stands in braces. Returns what proofs read, and how to take it all away.
 */
export class BodyCompiler {
  readonly #set: TableSpace;
  readonly #table: Table | null;
  readonly #extra: Derived[];
  readonly #isQuestion: boolean;
  /** True for a rule whose conclusions are kept beyond this question. */
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

  /** Ends every join that was compiled so far. What they concluded is looked after still. */
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

  /** How to end the joins of the body is put into `ends`. */
  #compile(body: Body, conclusion: Conclusion, rule: RuleInHand | null, ends: (() => void)[]): BuiltBody {
    const waiting = body.filters.filter((filter) => this.#mustWait(body.view, filter));
    const immediate = body.filters.filter((filter) => !waiting.includes(filter));
    const bound = new Set(conclusion.demandTerms.filter(isNamedVariable));
    const atoms = this.#passBindings(body, immediate, bound, rule);
    const built: BuiltBody = { ...body, atoms, barriers: new Map(), groups: new Map() };
    let stage = { demand: conclusion.demand, demandTerms: conclusion.demandTerms, atoms };
    let inHand: readonly Filter[] = [];
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
        heightIncrement: 0,
        tally: null,
        view: body.view,
        filters: [...inHand, ...nowDone],
        barriers: barriersOf(built, inHand),
        announced: ready.flatMap((filter) => announcements(filter, built.barriers.get(filter.literal))),
      };
      this.#rule(first, ends);
      if (this.#isMaintained) for (const filter of ready) this.#watch(filter, built, waits, variables);
      done = [...done, ...nowDone];
      stage = { demand: waits, demandTerms: variables, atoms: [] };
      inHand = ready;
      later = later.filter((filter) => !ready.includes(filter));
      for (const { binds } of ready) if (binds !== null) bound.add(binds);
      open = spread(open, bound);
    }
    const rest = immediate.filter((filter) => !done.includes(filter));
    const barriers = barriersOf(built, inHand);
    const filters = [...inHand, ...rest];
    this.#rule({ ...conclusion, ...stage, view: body.view, filters, barriers, announced: [] }, ends);
    return built;
  }

  #rule(rule: AdornedRule, ends: (() => void)[]): void {
    const context = this.#set.context(rule.view, this.#isQuestion);
    ends.push(compileRule(rule, context));
    const { support } = rule.target;
    if (support !== null)
      this.#removals.push(this.#set.maintainRule(support, new MaintainedRule(rule, context)));
  }

  #relation(name: string, arity: number, level: number, withHeights: boolean): Derived {
    const derived = newDerived({ name, arity, level, withHeights });
    if (this.#isMaintained) this.#set.justifications.track(derived, null);
    this.#extra.push(derived);
    return derived;
  }

  /** What is kept waits at every absence: so it is known which rows a stored fact that comes or goes concerns. */
  #mustWait(view: ScopeChoice, { literal }: Filter): boolean {
    if (isAggregate(literal)) return true;
    return isAbsence(literal) && (this.#isMaintained || this.#set.isDerived(view, relationOf(literal)));
  }

  /** `all`: the atoms whose every match asks for what the filter waits for; none where anything else chooses among them. */
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
   * True where the tuples of the aggregate are the matches of an atom, each once: then it reads these as they are. Proofs and
   * traces know tuples by a relation of their own.
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

  /** Has changes of what the filter says something of looked up among the rows that wait for it. */
  #watch(filter: Filter, built: BuiltBody, waits: Derived, variables: readonly string[]): void {
    const { literal } = filter;
    const barrier = built.barriers.get(literal);
    const terms = barrier?.kind === 'group' ? barrier.shared : sharedTerms(literal);
    const { constant } = this.#set.context(built.view, this.#isQuestion);
    const watcher = watcherOf(terms, waits, variables, constant);
    if (barrier === undefined) {
      this.#removals.push(this.#set.watchStored(relationOf(atomWaitedFor(literal)), watcher));
      return;
    }
    const { watchers } = present(barrier.rows.support, 'what is kept reads what is kept');
    watchers.push(watcher);
    this.#removals.push(() => void watchers.splice(watchers.indexOf(watcher), 1));
  }

  /** The relation of an aggregate's tuples, below the rule that waits for it and above all that it reads. */
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
      heightIncrement: 0,
      tally: null,
      demand,
      demandTerms: shared,
    };
    const source: GroupSource = { kind: 'group', rows, demand, shared };
    // Who keeps what was concluded from the group true has to have all of it, whether or not the rule goes on.
    return { source, headTerms, body: this.#compile(inner, conclusion, null, this.#removals) };
  }

  /** The atoms in the order in which bindings are passed on. Adds what they bind to `bound`. */
  #passBindings(
    body: Body,
    immediate: readonly Filter[],
    bound: Set<string>,
    rule: RuleInHand | null,
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
    rule: RuleInHand | null,
    all: readonly BodyAtom[],
  ): BodyAtom['source'] {
    const { predicate, negated } = literal;
    const arity = literal.args.length;
    if (!this.#set.isDerived(view, relationOf(literal)))
      return { kind: 'stored', find: (reader) => reader.facts.relation(predicate, arity, negated), view };
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

  /** True where every match of one atom asks for the literal, by one argument whose values are nearly all there can be. */
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
    const argument = (atom: AtomLiteral, place: number): Argument => ({
      relation: { predicate: atom.predicate, arity: atom.args.length, negated: atom.negated },
      view,
      position: place,
    });
    return this.#set.coversMost(argument(first.literal, at), argument(literal, position));
  }

  #tableSource(view: ScopeChoice, literal: AtomLiteral, boundPositions: readonly number[]): DerivedSource {
    const { predicate, negated } = literal;
    const { rows, demand } = this.#set.table(
      { view, predicate, arity: literal.args.length, negated },
      boundPositions,
    );
    return { kind: 'derived', rows, demand, boundPositions };
  }

  #isOwnComponent(view: ScopeChoice, literal: AtomLiteral, table: Table): boolean {
    if (viewKey(view) !== viewKey(table.view)) return false;
    const { program } = this.#set;
    const own = program.component(view, table.relation);
    return own >= 0 && program.component(view, relationOf(literal)) === own;
  }

  /**
   * As the estimate, but recursion costs more than stored facts, unless it asks for the table's own demand again:
   * that is never news. Recursion that is written first and keeps a bound argument in its place goes first: all
   * that it asks for shares that argument.
   */
  #passingCost(
    view: ScopeChoice,
    literal: AtomLiteral,
    bound: ReadonlySet<string>,
    rule: RuleInHand | null,
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

/** The terms of the atom that the literal waits for, with what stands before the colon of an aggregate left open. */
function sharedTerms(literal: Literal): readonly string[] {
  const { args } = atomWaitedFor(literal);
  return isAggregate(literal) ? args.map((term) => (literal.over.includes(term) ? wildcard : term)) : args;
}

/** What the filters read, but for stored facts. */
function barriersOf(built: BuiltBody, filters: readonly Filter[]): Map<Literal, Barrier> {
  const barriers = new Map<Literal, Barrier>();
  for (const { literal } of filters) {
    const barrier = built.barriers.get(literal);
    if (barrier !== undefined) barriers.set(literal, barrier);
  }
  return barriers;
}

/** What must be demanded before the filter can be done. */
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

/** Which rows of `waits`, whose columns are the variables, a row whose first columns are the terms concerns. */
function watcherOf(
  terms: readonly string[],
  waits: Derived,
  variables: readonly string[],
  constant: (text: string) => number,
): Watcher {
  const constants: { position: number; id: number }[] = [];
  const equal: [number, number][] = [];
  const key: { from: number; to: number }[] = [];
  for (const [position, term] of terms.entries()) {
    if (term === wildcard) continue;
    const first = terms.indexOf(term);
    if (!isVariable(term)) constants.push({ position, id: constant(term) });
    else if (first !== position) equal.push([first, position]);
    else key.push({ from: position, to: variables.indexOf(term) });
  }
  key.sort((left, right) => left.to - right.to);
  return { waits, constants, equal, from: key.map(({ from }) => from), to: key.map(({ to }) => to) };
}

/** What compiling a body needs of the set of tables that it is compiled for. */
export interface TableSpace {
  readonly program: Program;
  readonly withHeights: boolean;
  /** True where rules need not be followed as they were taught: neither heights nor an observer count their steps. */
  readonly mayRewrite: boolean;
  /** True where what is derived is kept true when facts change. */
  readonly isMaintained: boolean;
  readonly justifications: Justifications;
  /** Has the rule look after the rows that it concludes. Returns how to end that. */
  maintainRule(support: Support, rule: MaintainedRule): () => void;
  /** Has the watcher told of stored facts of the relation that come and go. Returns how to end that. */
  watchStored(relation: string, watcher: Watcher): () => void;
  isDerived(view: ScopeChoice, relation: string): boolean;
  table(relation: Relation, boundPositions: readonly number[]): Table;
  /** True where the values that `from` takes are certain to be most of those that `asked` can have. */
  coversMost(from: Argument, asked: Argument): boolean;
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number;
  context(view: ScopeChoice, isQuestion: boolean): CompilerContext;
}
