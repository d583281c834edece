/**
 * The plan of a body: the order in which its atoms pass bindings on (sideways information passing), the
 * arguments with which each derived atom is demanded, and the stages at whose ends it waits.
 *
 * A negated derived atom, or an aggregate, is a statement about all rows with its key. So the key is demanded
 * first, and the partial matches wait until everything below is at its fixpoint: a stage ends. A body with
 * such literals is a chain of stages: join and demand, wait, test and demand again, and finally the head.
 *
 * If a rule is asked as a whole, and each of its negated atoms is stored or demanded as a whole, no match is needed to demand
 * them: the rule waits before its join, and the join itself tests them. It waits there too for derived atoms that it intersects.
 */
import { assert, present } from '../../base/assert.ts';
import {
  type AggregateLiteral,
  type AtomLiteral,
  isVariable,
  type Literal,
} from '../../contract/language.ts';
import { type Filter } from '../../language/order.ts';
import {
  isAbsence,
  isAggregate,
  isNamedVariable,
  isPositiveAtom,
  relationOf,
  wildcard,
} from '../../language/terms.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { Program } from '../model/program.ts';
import { viewKey } from '../model/reader.ts';
import { type Argument, shapeOf } from '../model/table.ts';
import { boundArguments, cheapest, filtersOf, onlyUnbound, spread } from './join-order.ts';
import { atomWaitedFor } from './join-plan.ts';
import type { Asked } from './linear-recursion.ts';

/** A body to plan. */
export interface Body {
  readonly view: ScopeChoice;
  readonly literals: readonly Literal[];
  /** The filters of the body. The plan of the whole rule decided which of them bind a variable. */
  readonly filters: readonly Filter[];
}

/** A body with what is asked of it. */
export interface AskedBody extends Body {
  /** The terms of the demand: bound when the body is joined. */
  readonly demandTerms: readonly string[];
  /** The table of the rule; null for a question and for the body of an aggregate. */
  readonly table: Asked | null;
  /** True if the conclusions are maintained when facts change. */
  readonly isMaintained: boolean;
}

/** An atom in passing order. */
export interface PlannedAtom {
  readonly literal: AtomLiteral;
  /** The arguments with which the atom's table is demanded; null if the atom is stored. */
  readonly boundPositions: readonly number[] | null;
  /** True if its table is demanded whole, since nearly every key would be. */
  readonly isWhole: boolean;
  /** True if the stage before waits until its table, demanded whole, is complete. */
  readonly isComplete: boolean;
}

/** What a filter waits for at the end of a stage. */
type FilterWait = { readonly filter: Filter } & (
  | { readonly kind: 'stored' }
  | { readonly kind: 'table'; readonly boundPositions: readonly number[]; readonly isWhole: boolean }
  /** The tuples of an aggregate. */
  | { readonly kind: 'group'; readonly body: PlannedBody }
);

/** What a stage waits for: for its filters, or for an atom of the next stage, demanded whole. */
export type PlannedWait = FilterWait | { readonly kind: 'atom'; readonly literal: AtomLiteral };

/** A join, and what the next stage waits for. */
export interface Stage {
  readonly atoms: readonly PlannedAtom[];
  /** Those that are evaluated in this stage. */
  readonly filters: readonly Filter[];
  /** Demanded by every match of the stage; empty in the last stage. */
  readonly waits: readonly PlannedWait[];
  /** The variables of the waiting rows; empty in the last stage. */
  readonly variables: readonly string[];
}

/** The stages of a body, at least one. Only one has atoms: the first, or the last if the rule waits before its join. */
export type BodyStages = readonly Stage[];

/** A body with its stages. */
export interface PlannedBody extends Body {
  readonly stages: BodyStages;
}

/** What planning a body needs to know. */
export interface BodySpace {
  readonly program: Program;
  /** True if rules may be rewritten: neither heights nor an observer depend on their steps. */
  readonly mayRewrite: boolean;
  isDerived(view: ScopeChoice, relation: string): boolean;
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number;
  /** This order of the atoms of a body in which nothing is bound, or one that is much cheaper as a whole. */
  cheaperOrder(view: ScopeChoice, order: readonly AtomLiteral[]): readonly AtomLiteral[];
  /** True if the values of `from` certainly cover most values that `asked` can have. */
  coversMost(from: Argument, asked: Argument): boolean;
}

/** Plans the body. */
export function planStages(body: AskedBody, space: BodySpace): BodyStages {
  return new BodyPlanner(body, space).plan();
}

/** Assumed cost of an atom in the table's own recursive component. */
const likelyRowsOfOwnComponent = 1000;

class BodyPlanner {
  readonly #body: AskedBody;
  readonly #space: BodySpace;
  readonly #bound: Set<string>;

  constructor(body: AskedBody, space: BodySpace) {
    this.#body = body;
    this.#space = space;
    this.#bound = new Set(body.demandTerms.filter(isNamedVariable));
  }

  plan(): BodyStages {
    const { filters, demandTerms } = this.#body;
    const bound = this.#bound;
    const waiting = filters.filter((filter) => this.#mustWait(filter));
    const immediate = filters.filter((filter) => !waiting.includes(filter));
    const passing = this.#passBindings(immediate);
    const first = this.#waitFirst(waiting, immediate, passing);
    if (first !== null) return first;
    const stages: Stage[] = [];
    let atoms: readonly PlannedAtom[] = passing;
    let isFree = demandTerms.length === 0;
    let current: readonly Filter[] = [];
    let done: Filter[] = [];
    let open = spread(immediate, bound);
    for (let later = waiting; later.length > 0; ) {
      const ready = later.filter(({ needs }) => needs.every((variable) => bound.has(variable)));
      assert(ready.length > 0, 'a safe body can be evaluated to its end');
      const variables = [...bound];
      const all = isFree && immediate.length === 0 ? passing : [];
      const nowDone = immediate.filter((filter) => !open.includes(filter) && !done.includes(filter));
      const waits = ready.map((filter) => this.#wait(filter, all));
      stages.push({ atoms, filters: [...current, ...nowDone], waits, variables });
      done = [...done, ...nowDone];
      atoms = [];
      isFree = variables.length === 0;
      current = ready;
      later = later.filter((filter) => !ready.includes(filter));
      for (const { binds } of ready) if (binds !== null) bound.add(binds);
      open = spread(open, bound);
    }
    const last = [...current, ...immediate.filter((filter) => !done.includes(filter))];
    return [...stages, { atoms, filters: last, waits: [], variables: [] }];
  }

  /**
   * The stages of a body that joins after it has waited; null if nothing waits, or its matches have to. A change of a negated
   * atom then starts a join. So that this costs no more than to find the rows that waited, the rule must be asked as a whole,
   * and atoms must have all variables of the negated ones.
   */
  #waitFirst(
    waiting: readonly Filter[],
    immediate: readonly Filter[],
    atoms: readonly PlannedAtom[],
  ): BodyStages | null {
    const { demandTerms, filters } = this.#body;
    // Without atoms there is no join that a change could start.
    if (!this.#space.mayRewrite || atoms.length === 0 || demandTerms.length > 0) return null;
    const whole = this.#toIntersect(atoms);
    if (waiting.length === 0 && whole.length === 0) return null;
    if (!waiting.every(({ literal }) => isAbsence(literal) && isBoundBy(literal, atoms))) return null;
    const isFree = immediate.length === 0;
    const waits = waiting.map((filter) => this.#wait(filter, isFree ? atoms : []));
    if (!waits.every((wait) => wait.kind === 'stored' || (wait.kind === 'table' && wait.isWhole)))
      return null;
    const completed = atoms.map((atom) =>
      atom.boundPositions === null || whole.length === 0
        ? atom
        : { ...atom, boundPositions: [], isComplete: true },
    );
    const last = { atoms: completed, filters, waits: [], variables: [] };
    const derived = [...waits.filter(({ kind }) => kind === 'table'), ...whole];
    return derived.length === 0 ? [last] : [{ atoms: [], filters: [], waits: derived, variables: [] }, last];
  }

  /**
   * If the join can intersect derived atoms: the waits that complete the tables of all derived ones; else empty. They must
   * be below the rule, and demanded as a whole, or read what an earlier atom demands as a whole.
   */
  #toIntersect(atoms: readonly PlannedAtom[]): PlannedWait[] {
    const { view, table } = this.#body;
    const { program } = this.#space;
    const level = table === null ? Infinity : program.level(table.view, table.relation);
    const whole = new Map<string, PlannedWait>();
    for (const { literal, boundPositions } of atoms) {
      const relation = relationOf(literal);
      if (boundPositions === null || whole.has(relation)) continue;
      if (boundPositions.length > 0 || program.level(view, relation) >= level) return [];
      whole.set(relation, { kind: 'atom', literal });
    }
    return this.#intersectsDerived(atoms) ? [...whole.values()] : [];
  }

  /** True if a derived atom and another one bind a variable together, when they are joined in this order. */
  #intersectsDerived(atoms: readonly PlannedAtom[]): boolean {
    const bound = new Set<string>();
    for (const [at, { literal }] of atoms.entries()) {
      const variable = onlyUnbound(literal, bound);
      const together = atoms.slice(at).filter((each) => onlyUnbound(each.literal, bound) === variable);
      const isDerived = together.some(({ boundPositions }) => boundPositions !== null);
      if (variable !== null && together.length > 1 && isDerived) return true;
      for (const term of literal.args) if (isNamedVariable(term)) bound.add(term);
    }
    return false;
  }

  /**
   * Maintained rules wait at every negated atom, so that a change of a stored fact finds the rows that it
   * affects.
   */
  #mustWait({ literal }: Filter): boolean {
    if (isAggregate(literal)) return true;
    const { view, isMaintained } = this.#body;
    return isAbsence(literal) && (isMaintained || this.#space.isDerived(view, relationOf(literal)));
  }

  /**
   * What the filter waits for. `all`: the atom whose every match demands it, if nothing else restricts the
   * matches; else empty.
   */
  #wait(filter: Filter, all: readonly PlannedAtom[]): FilterWait {
    const { literal, shared } = filter;
    const { view, isMaintained } = this.#body;
    if (isAggregate(literal) && !this.#readsAtom(filter, literal)) {
      const filters = filtersOf(literal.body, present(filter.inner, 'of braces'));
      const inner = { view, literals: literal.body, filters };
      const asked = { ...inner, demandTerms: shared, table: null, isMaintained };
      return { kind: 'group', filter, body: { ...inner, stages: planStages(asked, this.#space) } };
    }
    const atom = atomWaitedFor(literal);
    if (!this.#space.isDerived(view, relationOf(atom))) return { kind: 'stored', filter };
    const terms = sharedTerms(literal);
    const positions = [...terms.keys()].filter((position) => terms[position] !== wildcard);
    const isWhole = this.#isAskedWhole(atom, positions, all);
    return { kind: 'table', filter, boundPositions: isWhole ? [] : positions, isWhole };
  }

  /**
   * True if the aggregate's tuples are in the matches of one atom; it then reads the atom directly, and those that
   * differ only in a `?_` once. Proofs and traces need a relation of their own for the tuples.
   */
  #readsAtom({ shared }: Filter, { body, over }: AggregateLiteral): boolean {
    const [atom] = body;
    return (
      this.#space.mayRewrite &&
      body.length === 1 &&
      atom !== undefined &&
      isPositiveAtom(atom) &&
      !over.some((variable) => shared.includes(variable)) &&
      atom.args.every((term) => !isNamedVariable(term) || over.includes(term) || shared.includes(term))
    );
  }

  /** Orders the atoms by how they pass bindings on. Adds the variables that they bind to `bound`. */
  #passBindings(immediate: readonly Filter[]): PlannedAtom[] {
    const bound = this.#bound;
    const atoms: PlannedAtom[] = [];
    const isFree = bound.size === 0;
    const order = this.#inOrder(immediate);
    spread(immediate, bound);
    for (const next of order) {
      const all = isFree && spread(immediate, bound).length === immediate.length ? atoms : [];
      atoms.push(this.#source(next, all));
      for (const term of next.args) if (isNamedVariable(term)) bound.add(term);
      spread(immediate, bound);
    }
    return atoms;
  }

  /** The atoms one by one, cheapest first, unless another order as a whole is much cheaper. */
  #inOrder(immediate: readonly Filter[]): readonly AtomLiteral[] {
    const { view, table, literals } = this.#body;
    const bound = new Set(this.#bound);
    const open: AtomLiteral[] = literals.filter(isPositiveAtom);
    const order: AtomLiteral[] = [];
    spread(immediate, bound);
    const isAsked =
      bound.size > 0 || (table !== null && open.some((each) => this.#isOwnComponent(each, table)));
    while (open.length > 0) {
      const cost = (literal: AtomLiteral, names: ReadonlySet<string>): number =>
        this.#passingCost(literal, names);
      const next = present(cheapest(open, bound, cost), 'an atom is left');
      open.splice(open.indexOf(next), 1);
      order.push(next);
      for (const term of next.args) if (isNamedVariable(term)) bound.add(term);
      spread(immediate, bound);
    }
    return isAsked ? order : this.#space.cheaperOrder(view, order);
  }

  #source(literal: AtomLiteral, all: readonly PlannedAtom[]): PlannedAtom {
    const { view, table } = this.#body;
    if (!this.#space.isDerived(view, relationOf(literal)))
      return { literal, boundPositions: null, isWhole: false, isComplete: false };
    const isFree =
      table !== null && table.boundPositions.length === 0 && this.#isOwnComponent(literal, table);
    const positions = [...literal.args.keys()].filter((position) => {
      const term = literal.args[position] as string;
      return !isFree && (!isVariable(term) || this.#bound.has(term));
    });
    const isWhole = this.#isAskedWhole(literal, positions, all);
    return { literal, boundPositions: isWhole ? [] : positions, isWhole, isComplete: false };
  }

  /**
   * True if the matches demand the literal by one argument of each atom, the atoms share no variable, and the values
   * of each cover nearly all that the argument can have: then they demand nearly every key.
   */
  #isAskedWhole(literal: AtomLiteral, positions: readonly number[], all: readonly PlannedAtom[]): boolean {
    if (positions.length === 0 || positions.length !== all.length) return false;
    const terms = all.flatMap((atom) => atom.literal.args.filter((term) => term !== wildcard));
    if (!terms.every(isVariable) || new Set(terms).size < terms.length) return false;
    const { view } = this.#body;
    const used = new Set<AtomLiteral>();
    return positions.every((position) => {
      const term = literal.args[position] as string;
      const from = all.find((atom) => atom.literal.args.includes(term))?.literal;
      if (from === undefined || used.has(from)) return false;
      used.add(from);
      const argument = (atom: AtomLiteral, at: number): Argument => ({
        relation: shapeOf(atom),
        view,
        position: at,
      });
      return this.#space.coversMost(argument(from, from.args.indexOf(term)), argument(literal, position));
    });
  }

  #isOwnComponent(literal: AtomLiteral, table: Asked): boolean {
    const { view } = this.#body;
    if (viewKey(view) !== viewKey(table.view)) return false;
    const { program } = this.#space;
    const own = program.component(view, table.relation);
    return own >= 0 && program.component(view, relationOf(literal)) === own;
  }

  /**
   * The estimate, except that recursion costs more than stored facts unless it asks for the table's own
   * demand, which is never new. Recursion that comes first in the body and keeps a bound argument in its
   * position is joined first: all its rows share that argument.
   */
  #passingCost(literal: AtomLiteral, bound: ReadonlySet<string>): number {
    const { view, table, demandTerms, literals } = this.#body;
    const cost = this.#space.estimate(view, literal, bound);
    if (table === null || !this.#isOwnComponent(literal, table)) return cost;
    if (table.boundPositions.length > 0 && relationOf(literal) === table.relation) {
      const kept = table.boundPositions.filter((position, at) => literal.args[position] === demandTerms[at]);
      if (kept.length === table.boundPositions.length) return 0;
      if (kept.length > 0 && literals.find(isPositiveAtom) === literal) return 1;
    }
    return boundArguments(literal, bound) > 0 ? Math.max(cost, likelyRowsOfOwnComponent) : cost;
  }
}

/** True if the atoms have all variables of the literal. */
function isBoundBy(literal: AtomLiteral, atoms: readonly PlannedAtom[]): boolean {
  return literal.args.every(
    (term) => !isNamedVariable(term) || atoms.some((atom) => atom.literal.args.includes(term)),
  );
}

/**
 * The terms of the atom for which the literal waits, with wildcards for the terms before an aggregate's
 * colon.
 */
export function sharedTerms(literal: Literal): readonly string[] {
  const { args } = atomWaitedFor(literal);
  return isAggregate(literal) ? args.map((term) => (literal.over.includes(term) ? wildcard : term)) : args;
}
