/**
 * The plan of one join: its steps in the order in which the join machine takes them.
 *
 * A rule has one join for its demand and one for each atom whose rows can be new. Everything about a join is
 * decided here: the order of the atoms, the columns by which each is looked up, when a filter is evaluated,
 * and which bindings are the same for the rest of the body. `MachineBuilder` carries it out step by step.
 */
import { type AtomLiteral, isVariable, type Literal } from '../../contract/language.ts';
import type { Filter } from '../../language/order.ts';
import {
  isAbsence,
  isAggregate,
  isArithmetic,
  isComparison,
  isPositiveAtom,
  wildcard,
} from '../../language/terms.ts';
import { present } from '../../base/assert.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { cheapest, onlyUnbound } from './join-order.ts';
import {
  type Limit,
  type NumberedAtom,
  planReduction,
  type SemiJoinPass,
  type SemiJoinSpace,
  wayBack,
} from './semi-joins.ts';

/** How the columns of a literal meet the bindings made before it. */
export interface Columns {
  /** With a value before the literal is reached. */
  readonly key: readonly number[];
  /** Those that bind a variable. */
  readonly bind: readonly number[];
  /** Those that repeat a variable bound by this same literal. */
  readonly same: readonly number[];
}

/** How rows are found: all of them, by an index on the key, or the one row that has all columns. */
export type AccessPath = 'scan' | 'index' | 'existence';

/**
 * The rows of a derived relation that a literal may read, given the current delta: all joined ones, those
 * before the delta's chunk, or those through its end.
 */
export type Window = 'done' | 'before' | 'through';

/** What starts a join: new demand, new rows of an atom, new stored facts of an atom, dead rows, a head to explain. */
export type JoinStart =
  | { readonly kind: 'demand' | 'explain' }
  | { readonly kind: 'rows' | 'stored'; readonly atom: number }
  /** A changed row of a negated atom. `isLoss`: whether the atom was absent before is unknown, so no absence is tested. */
  | { readonly kind: 'absence'; readonly filter: Filter; readonly isLoss: boolean }
  /** `withDemand`: the demand is a relation of premises, and is joined. */
  | { readonly kind: 'check'; readonly withDemand: boolean };

/** What to do with a computed value: bind the variable, require the same text, or compare it as `=` does. */
export type ValueUse = 'bind' | 'match' | 'compare';

/** An atom as a step reads it. */
export interface LiteralColumns {
  readonly atom: number;
  readonly terms: readonly string[];
  readonly columns: Columns;
}

/** One step of a join. */
export type JoinStep =
  /** The rows that start the join. */
  | { readonly kind: 'start'; readonly terms: readonly string[]; readonly columns: Columns }
  /** Demands the atom's table for the key. */
  | { readonly kind: 'demand'; readonly atom: number }
  /** Looks up rows of an atom; `atom` is null for the demand of the rule. */
  | {
      readonly kind: 'rows';
      readonly atom: number | null;
      readonly terms: readonly string[];
      readonly columns: Columns;
      readonly access: AccessPath;
      readonly window: Window;
    }
  /**
   * Binds the one variable that several stored or complete atoms lack, to the values that it has in all of them. `candidates` are
   * the rows expected before it for each row that starts the join, which say how much is saved.
   */
  | {
      readonly kind: 'intersection';
      readonly literals: readonly LiteralColumns[];
      readonly candidates: number;
    }
  /** Goes on only with values of the variable that later atoms can match. */
  | {
      readonly kind: 'semi-join';
      readonly variable: string;
      readonly atoms: readonly number[];
      readonly way:
        | { readonly kind: 'set'; readonly set: number; readonly share: number }
        /** For each value of the key: those that two atoms match, with a variable between them. */
        | {
            readonly kind: 'keyed';
            readonly key: string;
            readonly far: LiteralColumns;
            readonly near: LiteralColumns;
          };
    }
  | { readonly kind: 'comparison' | 'arithmetic'; readonly filter: Filter; readonly way: ValueUse }
  | {
      readonly kind: 'absence';
      readonly filter: Filter;
      readonly columns: Columns;
    }
  | {
      readonly kind: 'aggregate';
      readonly filter: Filter;
      readonly terms: readonly string[];
      readonly columns: Columns;
      readonly way: ValueUse;
    }
  /** Continues once for all bindings that agree in these variables. */
  | { readonly kind: 'distinct'; readonly variables: readonly string[] };

/** The steps of one join, in order. */
export interface JoinPlan {
  readonly start: JoinStart;
  readonly steps: readonly JoinStep[];
  /** The scans that make the sets of its semi-joins, in order. */
  readonly passes: readonly SemiJoinPass[];
}

/** What a join may use beside looking up one atom after the other. */
export interface JoinMeans {
  /** Stored atoms that bind one variable may be intersected, and complete ones. */
  readonly intersects: boolean;
  /** Values may be limited to those that later atoms can match. */
  readonly reduces: boolean;
}

/** An atom as a join reads it. Relations are compared by identity; a planner without tables gives their names. */
export interface JoinAtom {
  readonly literal: AtomLiteral;
  readonly source:
    | { readonly kind: 'stored' }
    | {
        readonly kind: 'derived';
        readonly rows: unknown;
        readonly demand: unknown;
        readonly boundPositions: readonly number[];
        /** True if all its rows were there before the rule was demanded: no binding demands any. */
        readonly isComplete: boolean;
      };
  /** If its rows are all there already: how many it is expected to have for each value of these columns. */
  readonly matching?: (positions: readonly number[]) => number;
}

/** The part of an adorned rule that decides about its joins. */
export interface JoinRule {
  readonly view: ScopeChoice;
  readonly headTerms: readonly string[];
  readonly demand: unknown;
  readonly demandTerms: readonly string[];
  readonly atoms: readonly JoinAtom[];
  readonly filters: readonly Filter[];
  readonly barriers: ReadonlyMap<Literal, { readonly kind: 'derived' | 'group' }>;
  readonly announced?: readonly { readonly terms: readonly string[] }[];
}

/** What planning a join needs to know. */
export interface JoinSpace extends SemiJoinSpace {
  /** True if every binding counts: for heights, or for an observer. */
  readonly isExhaustive: boolean;
  /** True if conclusions are maintained when facts change. */
  readonly isMaintained: boolean;
  /** True if demand that is never new is demanded too. */
  readonly isObserved: boolean;
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number;
}

/** Plans the join of a rule that starts so. */
export function planJoin(rule: JoinRule, start: JoinStart, space: JoinSpace, means: JoinMeans): JoinPlan {
  return new JoinPlanner(rule, space, means).plan(start);
}

class JoinPlanner {
  readonly #rule: JoinRule;
  readonly #space: JoinSpace;
  readonly #means: JoinMeans;
  /** True if the join starts at the demand of the rule: complete atoms do not grow while it runs. */
  #isFromDemand = false;
  /** Expected matches of the atoms joined in order so far, for one row that starts the join. */
  #expected = 1;
  readonly #bound = new Set<string>();
  readonly #steps: JoinStep[] = [];
  #filters: readonly Filter[];
  /** The terms of the atoms still to join, and of the demand if it is joined. */
  #open: (readonly string[])[] = [];
  /**
   * Derived atoms still to demand. Until then a maintained join tests no absence: if it ended, the join should find the
   * rows of what comes after it.
   */
  #toDemand = 0;
  /** Bound variables that nothing needs any more. */
  readonly #left = new Set<string>();

  /** Limits of variables by the atoms up to the next derived one; those of bound variables are tested already. */
  #limits: ReadonlyMap<string, Limit> = new Map();
  readonly #passes: SemiJoinPass[] = [];
  #sets = 0;

  constructor(rule: JoinRule, space: JoinSpace, means: JoinMeans) {
    this.#rule = rule;
    this.#space = space;
    this.#means = means;
    this.#filters = rule.filters;
  }

  plan(start: JoinStart): JoinPlan {
    if (start.kind === 'demand') this.#fromDemand();
    else if (start.kind === 'rows') this.#fromRows(start.atom);
    else if (start.kind === 'stored') this.#fromStored(start.atom);
    else if (start.kind === 'absence') this.#fromAbsence(start.filter, start.isLoss);
    else this.#fromHead(start);
    return { start, steps: this.#steps, passes: this.#passes };
  }

  #fromDemand(): void {
    const { demandTerms, atoms } = this.#rule;
    this.#isFromDemand = true;
    this.#expect(atoms, false);
    this.#willDemand(atoms);
    this.#start(demandTerms);
    this.#joinInOrder([...atoms.keys()], null);
  }

  #fromRows(start: number): void {
    const { atoms, demandTerms } = this.#rule;
    const atom = atoms[start] as JoinAtom;
    const delta = atom.source.kind === 'derived' ? atom.source.rows : null;
    const isDemanded = demandTerms.length === 0 || this.#isOwnDemand(atom);
    this.#expect(atoms.toSpliced(start, 1), !isDemanded);
    this.#willDemand(atoms.slice(start + 1));
    this.#start(atom.literal.args);
    this.#joinCheapestFirst(start, !isDemanded, delta);
    this.#joinInOrder([...atoms.keys()].slice(start + 1), delta);
  }

  #fromStored(start: number): void {
    const { atoms, demandTerms } = this.#rule;
    this.#expect(atoms.toSpliced(start, 1), demandTerms.length > 0);
    this.#willDemand(atoms.slice(start + 1));
    this.#start((atoms[start] as JoinAtom).literal.args);
    this.#joinCheapestFirst(start, demandTerms.length > 0, null);
    for (let at = start + 1; at < atoms.length; at++) this.#join(at, 'done');
  }

  #willDemand(atoms: readonly JoinAtom[]): void {
    if (!this.#space.isMaintained) return;
    this.#toDemand = atoms.filter(isDemanded).length;
  }

  #fromAbsence({ literal }: Filter, isLoss: boolean): void {
    const { atoms, demandTerms } = this.#rule;
    const withDemand = demandTerms.length > 0;
    if (isLoss) this.#filters = this.#filters.filter((filter) => !isAbsence(filter.literal));
    this.#expect(atoms, withDemand);
    this.#start(atomWaitedFor(literal).args);
    this.#joinCheapestFirst(atoms.length, withDemand, null);
  }

  /** Starts at the head. Its demand exists already; a demand that is a relation of premises is joined as one. */
  #fromHead(start: JoinStart): void {
    const { atoms, demand, demandTerms, headTerms } = this.#rule;
    this.#start(start.kind === 'check' ? headTerms : demandTerms);
    if (start.kind === 'check') this.#joinCheapestFirst(atoms.length, start.withDemand, null);
    else this.#joinCheapestFirst(atoms.length, false, demand);
  }

  /** Joins the first atoms, and if `withDemand` the demand, cheapest first. */
  #joinCheapestFirst(end: number, withDemand: boolean, delta: unknown): void {
    const { atoms, demandTerms, view } = this.#rule;
    const wanted: AtomLiteral = { predicate: '', args: [...demandTerms], negated: false, naf: false };
    const numbers = new Map<AtomLiteral, number>();
    const open: AtomLiteral[] = [];
    for (let at = 0; at < end; at++) {
      const { literal } = atoms[at] as JoinAtom;
      numbers.set(literal, at);
      open.push(literal);
    }
    if (withDemand) open.push(wanted);
    while (open.length > 0) {
      const next = cheapest(open, this.#bound, (literal, bound) => {
        if (literal === wanted) return demandCost(demandTerms, bound);
        const { matching } = atoms[numbers.get(literal) as number] as JoinAtom;
        const { key } = columnsOf(literal.args, bound);
        return matching === undefined || key.length === literal.args.length
          ? this.#space.estimate(view, literal, bound)
          : matching(key);
      }) as AtomLiteral;
      open.splice(open.indexOf(next), 1);
      const at = numbers.get(next);
      if (at === undefined) this.#lookUp(null, 'done');
      else this.#lookUp(at, windowOf(atoms[at] as JoinAtom, delta, 'through'));
    }
  }

  /** Demands and joins the atoms one by one; those that bind no more than one of them does, with that one. */
  #joinInOrder(open: number[], delta: unknown): void {
    const { atoms, view } = this.#rule;
    this.#reduce(open);
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const atom = atoms[next] as JoinAtom;
      const together = this.#intersectable(next, open);
      const before = new Set(this.#bound);
      this.#expected *= Math.max(1, this.#space.estimate(view, atom.literal, this.#bound));
      if (together.length < 2) {
        this.#join(next, windowOf(atom, delta, 'before'), () => this.#lookBack(next, before, open));
        if (isDemanded(atom)) this.#reduce(open);
      } else {
        this.#intersect(together);
        open = open.filter((at) => !together.includes(at));
      }
    }
  }

  /** Plans limits by the stored atoms that are joined before the next demanded one, and tests those of bound variables. */
  #reduce(open: readonly number[]): void {
    if (!this.#means.reduces) return;
    const stored = this.#first(open).filter(({ at }) => this.#rule.atoms[at]?.source.kind === 'stored');
    const { passes, limits } = planReduction(stored, this.#bound, this.#space, this.#sets);
    for (const { collects } of passes) this.#sets += collects.length;
    this.#passes.push(...passes);
    this.#limits = limits;
    this.#limit(this.#bound);
  }

  /** The first of these atoms, up to the next one that bindings demand. */
  #first(open: readonly number[]): readonly NumberedAtom[] {
    const { atoms } = this.#rule;
    const demanded = open.findIndex((at) => isDemanded(atoms[at] as JoinAtom));
    const first = demanded < 0 ? open : open.slice(0, demanded);
    return first.map((at) => ({ at, literal: (atoms[at] as JoinAtom).literal }));
  }

  /** Tests the limits of these variables, if they have one. */
  #limit(variables: Iterable<string>): void {
    for (const variable of variables) {
      const limit = this.#limits.get(variable);
      if (limit === undefined) continue;
      const { atoms, set, share } = limit;
      this.#expected *= share;
      this.#steps.push({ kind: 'semi-join', variable, atoms, way: { kind: 'set', set, share } });
    }
  }

  /**
   * If a single literal has bound one variable: limits it to values that lead back to one of those bound before that
   * the literal lacks, so that candidates of many rows share the key.
   */
  #lookBack(next: number, before: ReadonlySet<string>, open: readonly number[]): void {
    const [variable, ...others] = [...this.#bound].filter((each) => !before.has(each));
    if (!this.#means.intersects || variable === undefined || others.length > 0) return;
    const { args } = (this.#rule.atoms[next] as JoinAtom).literal;
    const keys = new Set([...before].filter((each) => !args.includes(each)));
    const sortable = this.#first(open).filter(({ at }) => this.#isSortable(at));
    const way = wayBack(variable, sortable, keys, this.#bound);
    if (way === null) return;
    const columns = (atom: number, bound: string): LiteralColumns => {
      const terms = (this.#rule.atoms[atom] as JoinAtom).literal.args;
      return { atom, terms, columns: columnsOf(terms, new Set([bound])) };
    };
    const { key, between, near, far } = way;
    const atoms = [near, far];
    const keyed = { kind: 'keyed' as const, key, far: columns(far, key), near: columns(near, between) };
    this.#steps.push({ kind: 'semi-join', variable, atoms, way: keyed });
  }

  /**
   * The atom, and those of `others` that have no unbound variable but the one that the atom binds, if all can be sorted. An
   * atom that is demanded when everything before it was joined has to wait.
   */
  #intersectable(at: number, others: readonly number[]): readonly number[] {
    const variable = this.#means.intersects ? this.#onlyUnbound(at) : null;
    if (variable === null) return [];
    return [at, ...others.filter((other) => this.#onlyUnbound(other) === variable)];
  }

  /** The variable of an atom that can be sorted, if it alone is unbound and occurs once in it; else null. */
  #onlyUnbound(at: number): string | null {
    return this.#isSortable(at) ? onlyUnbound((this.#rule.atoms[at] as JoinAtom).literal, this.#bound) : null;
  }

  /** True if the rows of the atom do not grow during the join. */
  #isSortable(at: number): boolean {
    const { source } = this.#rule.atoms[at] as JoinAtom;
    return source.kind === 'stored' || (source.isComplete && this.#isFromDemand);
  }

  #intersect(together: readonly number[]): void {
    const before = new Set(this.#bound);
    const literals = together.map((atom) => {
      const terms = (this.#rule.atoms[atom] as JoinAtom).literal.args;
      return { atom, terms, columns: columnsOf(terms, before) };
    });
    this.#steps.push({ kind: 'intersection', literals, candidates: this.#expected });
    for (const { terms } of literals) this.#columns(terms);
    this.#limit([...this.#bound].filter((variable) => !before.has(variable)));
    this.#joined(literals.map(({ terms }) => terms));
  }

  /** Demands the atom if it is derived, then joins it; `limit` adds steps before repetitions are eliminated. */
  #join(at: number, window: Window, limit?: () => void): void {
    const atom = this.#rule.atoms[at] as JoinAtom;
    if (isDemanded(atom) && this.#toDemand > 0) this.#toDemand--;
    // The rule's own demand is never new, but an observer sees the demand.
    if (isDemanded(atom) && (!this.#isOwnDemand(atom) || this.#space.isObserved))
      this.#steps.push({ kind: 'demand', atom: at });
    this.#lookUp(at, window, limit);
  }

  #lookUp(at: number | null, window: Window, limit?: () => void): void {
    const { atoms, demandTerms } = this.#rule;
    const terms = at === null ? demandTerms : (atoms[at] as JoinAtom).literal.args;
    const before = new Set(this.#bound);
    const columns = this.#columns(terms);
    const isWhole = terms.length > 0 && columns.key.length === terms.length;
    const access = isWhole ? 'existence' : columns.key.length === 0 ? 'scan' : 'index';
    this.#steps.push({ kind: 'rows', atom: at, terms, columns, access, window });
    this.#limit([...this.#bound].filter((variable) => !before.has(variable)));
    limit?.();
    this.#joined([terms]);
  }

  #start(terms: readonly string[]): void {
    this.#steps.push({ kind: 'start', terms, columns: this.#columns(terms) });
    this.#joined([terms]);
  }

  /** Evaluates what the new bindings make possible. */
  #joined(atoms: readonly (readonly string[])[]): void {
    this.#settleFilters();
    this.#open = this.#open.filter((terms) => !atoms.includes(terms));
    if (this.#open.length > 0) this.#project();
  }

  /**
   * True if the atom is demanded by the very tuple that demands the rule, so that its demand is already met.
   */
  #isOwnDemand({ literal, source }: JoinAtom): boolean {
    const { demand, demandTerms } = this.#rule;
    return (
      source.kind === 'derived' &&
      source.demand === demand &&
      source.boundPositions.every((position, index) => literal.args[position] === demandTerms[index])
    );
  }

  /**
   * Called first, with everything to be joined: enables projection with duplicate elimination, see
   * `SeenBindings`.
   */
  #expect(atoms: readonly JoinAtom[], withDemand: boolean): void {
    // With heights, a later binding may give a lower proof of the same conclusion; an observer sees every
    // binding.
    if (this.#space.isExhaustive) return;
    this.#open = atoms.map((atom) => atom.literal.args);
    if (withDemand) this.#open.push(this.#rule.demandTerms);
  }

  /** After an atom that leaves a variable unneeded: skips bindings that differ only in such variables. */
  #project(): void {
    const { headTerms, announced = [] } = this.#rule;
    const needed = new Set([...headTerms, ...this.#open.flat(), ...this.#filters.flatMap(filterTerms)]);
    for (const { terms } of announced) for (const term of terms) needed.add(term);
    const unneeded = [...this.#bound].filter(
      (variable) => !needed.has(variable) && !this.#left.has(variable),
    );
    if (unneeded.length === 0) return;
    for (const variable of unneeded) this.#left.add(variable);
    const variables = [...this.#bound].filter((variable) => needed.has(variable));
    this.#steps.push({ kind: 'distinct', variables });
  }

  /** The columns of a literal, whose variables are bound from now on. */
  #columns(terms: readonly string[]): Columns {
    const columns = columnsOf(terms, this.#bound);
    for (const position of columns.bind) this.#bound.add(terms[position] as string);
    return columns;
  }

  /** Adds a step for every filter whose needs are bound. */
  #settleFilters(): void {
    for (let before = -1; before !== this.#filters.length; ) {
      before = this.#filters.length;
      this.#filters = this.#filters.filter((filter) => !this.#settle(filter));
    }
  }

  #settle(filter: Filter): boolean {
    if (!filter.needs.every((variable) => this.#bound.has(variable))) return false;
    const { literal, binds } = filter;
    if (this.#toDemand > 0 && isAbsence(literal)) return false;
    // A variable already bound by the demand is compared with the text that it would get.
    const isNew = binds !== null && !this.#bound.has(binds);
    const way: ValueUse = isNew ? 'bind' : binds === null ? 'compare' : 'match';
    if (isAggregate(literal)) {
      const terms = innerTerms(filter, this.#rule.barriers);
      this.#steps.push({ kind: 'aggregate', filter, terms, columns: this.#columns(terms), way });
      // Variables before the colon are local to the braces.
      for (const variable of literal.over) this.#bound.delete(localName(variable));
    } else if (isComparison(literal)) this.#steps.push({ kind: 'comparison', filter, way });
    else if (isArithmetic(literal)) this.#steps.push({ kind: 'arithmetic', filter, way });
    else this.#steps.push({ kind: 'absence', filter, columns: this.#columns(literal.args) });
    if (binds !== null) this.#bound.add(binds);
    return true;
  }
}

function columnsOf(terms: readonly string[], bound: ReadonlySet<string>): Columns {
  const [key, bind, same]: [number[], number[], number[]] = [[], [], []];
  const here = new Set<string>();
  for (const [position, term] of terms.entries()) {
    if (term === wildcard) continue;
    if (!isVariable(term) || bound.has(term)) key.push(position);
    else if (here.has(term)) same.push(position);
    else {
      here.add(term);
      bind.push(position);
    }
  }
  return { key, bind, same };
}

/**
 * The register name of a variable before the colon, which is distinct from the same name outside the braces.
 */
export function localName(variable: string): string {
  return `${variable} {}`;
}

/** The atom that a negation tests, or that an aggregate without a relation of its own reads. */
export function atomWaitedFor(literal: Literal): AtomLiteral {
  return isAggregate(literal) ? present(literal.body.find(isPositiveAtom), 'it reads an atom') : literal;
}

/** The terms as which an aggregate reads the columns of its tuples. */
export function innerTerms({ literal, shared }: Filter, barriers: JoinRule['barriers']): readonly string[] {
  if (!isAggregate(literal)) return [];
  if (barriers.get(literal)?.kind === 'group') return [...shared, ...literal.over.map(localName)];
  const { args } = atomWaitedFor(literal);
  return args.map((term) => (literal.over.includes(term) ? localName(term) : term));
}

/** The terms that a filter reads or binds. */
export function filterTerms({ literal, shared }: Filter): readonly string[] {
  return isAggregate(literal) ? [...shared, literal.result] : literal.args;
}

/** True if bindings demand the atom: it is derived, and was not complete before the join. */
function isDemanded({ source }: JoinAtom): boolean {
  return source.kind === 'derived' && !source.isComplete;
}

function windowOf(atom: JoinAtom, delta: unknown, own: Window): Window {
  return atom.source.kind === 'derived' && atom.source.rows === delta ? own : 'done';
}

function demandCost(terms: readonly string[], bound: ReadonlySet<string>): number {
  const open = terms.filter((term) => isVariable(term) && !bound.has(term)).length;
  return open === 0 ? 0 : open < terms.length ? 100 : 10_000;
}
