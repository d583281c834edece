import {
  type AggregateLiteral,
  type AtomLiteral,
  isVariable,
  type Literal,
} from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { SortedRuns } from '../../store/sorted-runs.ts';
import type { TupleBatch } from '../../store/tuples.ts';
import {
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  relationOf,
  wildcard,
} from '../../language/terms.ts';
import { assert, present } from '../../base/assert.ts';
import { AbsentStep, AggregateStep, DerivedDelta, DerivedStep, RederivationDelta } from './derived-steps.ts';
import type { Constants } from '../model/constants.ts';
import { type Consumer, type Derived, put, type StoredDelta, type WorkList } from '../model/derived.ts';
import type { Tally } from '../model/program.ts';
import type { Reader } from '../model/reader.ts';
import { cheapest } from '../plan/join-order.ts';
import type { Filter } from '../../language/order.ts';
import { type Guard, type KeyedStep, Machine, type AtomShape, type Step, type Window } from './machine.ts';
import { ExistenceStep } from './existence-step.ts';
import { IntersectionStep, Intersections, Sorted } from './intersection-step.ts';
import type { Justifications } from '../model/justifications.ts';
import { SeenBindings } from './seen-bindings.ts';
import { StoredRowsDelta, StoredStep } from './stored-steps.ts';
import type { Barrier, BodyAtom, DerivedSource, Observer, Source } from '../model/table.ts';

/**
 * One rule of an adorned program: `head :- demand, atoms, filters`. The demand gives the bound arguments for
 * which the head is wanted.
 */
export interface AdornedRule {
  readonly target: Derived;
  readonly headTerms: readonly string[];
  /** Added to the greatest height of the premises: 1 for a rule, by default 0 for a step that proofs do not show. */
  readonly heightIncrement?: number;
  /** Counts the new tuples; by default they are not counted. */
  readonly tally?: Tally | null;
  readonly demand: Derived;
  readonly demandTerms: readonly string[];
  /** The view in which the body is read. */
  readonly view: ScopeChoice;
  /** In the order in which bindings are passed on. */
  readonly atoms: readonly BodyAtom[];
  readonly filters: readonly Filter[];
  /** The relations that its waiting filters read; they are at their fixpoint when the rule is joined. */
  readonly barriers: ReadonlyMap<Literal, Barrier>;
  /** True for the rule of a question, whose constants may be local. */
  readonly isQuestion?: boolean;
  /** Demanded for every match of the body: what a later rule of the same body waits for. */
  readonly announced?: readonly { readonly demand: Derived; readonly terms: readonly string[] }[];
}

/** What compiling a rule needs of the table set. */
export interface RuleSpace {
  readonly work: WorkList;
  readonly justifications: Justifications;
  /** Shared buffer for the conclusions of machines. */
  readonly batch: TupleBatch;
  readonly constants: Constants;
  readonly observer: Observer | null;
  /** Takes the sorted runs that joins use. */
  readonly usedRuns: Set<SortedRuns>;
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number;
}

/**
 * Compiles the rule to join machines and registers them as consumers. Returns a function that removes them.
 *
 * One machine starts at the demand, and one at each atom over a derived relation; together they meet every
 * combination of rows exactly once (semi-naive). Whatever the join order, an atom is demanded only after
 * everything before it in the passing order was joined.
 */
export function compileRule(rule: AdornedRule, set: RuleSpace): () => void {
  const registers = new Registers(rule, set.constants);
  const { observer } = set;
  const ends: (() => void)[] = [];
  const add = (derived: Derived, gate: Derived | null, make: (builder: MachineBuilder) => Machine): void => {
    const build = (intersections: Intersections | null): Machine =>
      make(new MachineBuilder(rule, set, registers, intersections));
    const machine =
      observer === null ? new LateMachine(gate, build, set.usedRuns) : observer.timed(build(null));
    ends.push(added(derived.consumers, machine));
  };
  add(rule.demand, null, (builder) => builder.startingAtDemand());
  for (const [at, { source }] of rule.atoms.entries())
    if (source.kind === 'derived')
      add(source.rows, gateOf(rule), (builder) => builder.startingAt(at, source.rows));
  return () => {
    for (const end of ends) end();
  };
}

/** Adds the item. Returns a function that removes it. */
export function added<Item>(list: Item[], item: Item): () => void {
  list.push(item);
  return () => void list.splice(list.indexOf(item), 1);
}

/**
 * A machine made on first use: most machines of many rules never get a row to start with. If it can intersect
 * literals, there are two, and each start chooses one.
 */
class LateMachine implements Consumer {
  readonly #gate: Derived | null;
  readonly #make: (intersections: Intersections | null) => Machine;
  readonly #intersections: Intersections;
  #intersecting: Machine | null = null;
  #chained: Machine | null = null;
  #started: Machine | null = null;

  constructor(
    gate: Derived | null,
    make: (intersections: Intersections | null) => Machine,
    usedRuns: Set<SortedRuns>,
  ) {
    this.#gate = gate;
    this.#make = make;
    this.#intersections = new Intersections(usedRuns);
  }

  get matches(): number {
    return (this.#intersecting?.matches ?? 0) + (this.#chained?.matches ?? 0);
  }

  get isIdle(): boolean {
    return this.#gate !== null && this.#gate.done === 0;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    this.#started = this.#choose(reader, list === null ? to - from : list.length);
    this.#started.start(reader, from, to, list, done);
  }

  #choose(reader: Reader, rows: number): Machine {
    this.#intersecting ??= this.#make(this.#intersections);
    if (this.#intersections.isEmpty || this.#intersections.pay(reader, rows)) return this.#intersecting;
    return (this.#chained ??= this.#make(null));
  }

  run(budget: number): number {
    const machine = present(this.#started, 'a join is started before it runs');
    if (machine !== this.#intersecting || this.#intersections.isEmpty) return machine.run(budget);
    if (!this.#intersections.prepare()) return 0;
    const left = machine.run(budget);
    if (left > 0) this.#intersections.release();
    return left;
  }
}

/**
 * Demand without arguments is no step of joins that start elsewhere; it is a gate, and they are idle until it
 * is met.
 */
function gateOf({ demand, demandTerms }: AdornedRule): Derived | null {
  return demandTerms.length === 0 ? demand : null;
}

/**
 * A rule whose conclusions are maintained: the joins needed only after a change of facts, made on first use.
 */
export class MaintainedRule {
  readonly #rule: AdornedRule;
  readonly #set: RuleSpace;
  #check: Machine | null = null;
  /** The deltas of its stored atoms, with the keys of their relations. */
  readonly stored: readonly { readonly relation: string; readonly delta: StoredDelta }[];

  constructor(rule: AdornedRule, set: RuleSpace) {
    this.#rule = rule;
    this.#set = set;
    this.stored = rule.atoms.flatMap((atom, at) =>
      atom.source.kind === 'stored' ? [{ relation: relationOf(atom.literal), delta: this.#deltaOf(at) }] : [],
    );
  }

  /**
   * The rederive join: looks for another derivation of the dead rows with which it starts, from live rows.
   */
  check(): Machine {
    this.#check ??= this.#builder().checking();
    return this.#check;
  }

  #deltaOf(at: number): StoredDelta {
    let machine: Machine | null = null;
    const { target } = this.#rule;
    return {
      get level() {
        return target.level;
      },
      queued: 0,
      rows: [],
      machine: () => (machine ??= this.#builder().startingAtStored(at)),
    };
  }

  #builder(): MachineBuilder {
    return new MachineBuilder(this.#rule, this.#set);
  }
}

/**
 * A machine that finds every instance of the rule for its demand among the rows already derived. It demands
 * nothing, and joins cheapest first with the whole head bound.
 */
export function compileExplainer(rule: AdornedRule, set: RuleSpace): Machine {
  return new MachineBuilder(rule, set).explaining();
}

/** Assigns a register to every variable and constant of a rule. */
class Registers {
  readonly #of = new Map<string, number>();
  readonly initial: Int32Array;

  constructor(rule: AdornedRule, constants: Constants) {
    const constant = (text: string): number =>
      rule.isQuestion === true ? constants.idOf(text) : constants.ofRule(text);
    const values: number[] = [];
    const note = (term: string): void => {
      if (term === wildcard || this.#of.has(term)) return;
      this.#of.set(term, values.length);
      values.push(isVariable(term) ? 0 : constant(term));
    };
    for (const term of rule.demandTerms) note(term);
    for (const atom of rule.atoms) for (const term of atom.literal.args) note(term);
    for (const filter of rule.filters)
      for (const term of [...termsOf(filter), ...innerTerms(filter, rule.barriers)]) note(term);
    for (const { terms } of rule.announced ?? []) for (const term of terms) note(term);
    for (const term of rule.headTerms) note(term);
    this.initial = Int32Array.from(values);
  }

  of(term: string): number {
    return this.#of.get(term) as number;
  }
}

class MachineBuilder {
  readonly #rule: AdornedRule;
  readonly #set: RuleSpace;
  readonly #registers: Registers;
  readonly #values: Int32Array;
  readonly #bound = new Set<string>();
  readonly #steps: Step[] = [];
  #filters: readonly Filter[];
  /** The terms of the atoms still to join, and of the demand if it is joined. */
  #open: (readonly string[])[] = [];
  /** Bound variables that nothing needs any more. */
  readonly #left = new Set<string>();
  readonly #seen: SeenBindings[] = [];
  readonly #tests: ExistenceStep[] = [];
  readonly #intersections: Intersections | null;
  /** Expected matches of the steps so far for one row of the delta. */
  #expected = 1;
  #rowRegisters = 0;

  /** `intersections`: takes the steps that intersect literals; null: every literal is joined on its own. */
  constructor(
    rule: AdornedRule,
    set: RuleSpace,
    registers = new Registers(rule, set.constants),
    intersections: Intersections | null = null,
  ) {
    this.#intersections = intersections;
    this.#rule = rule;
    this.#set = set;
    this.#registers = registers;
    const { initial } = registers;
    // Each step (start, atoms, filters, demand) may also need a register for its row.
    this.#values = new Int32Array(initial.length + rule.atoms.length + rule.filters.length + 2);
    this.#values.set(initial);
    this.#filters = rule.filters;
  }

  startingAtDemand(): Machine {
    const { demand, demandTerms, atoms } = this.#rule;
    this.#expect(atoms, false);
    this.#push(demandTerms, (shape) => new DerivedDelta(demand, shape));
    this.#joinInOrder(atoms, null);
    return this.#machine();
  }

  startingAt(start: number, delta: Derived): Machine {
    const { atoms, demandTerms } = this.#rule;
    const atom = atoms[start] as BodyAtom;
    const isDemanded = demandTerms.length === 0 || this.#isOwnDemand(atom);
    this.#expect(atoms.toSpliced(start, 1), !isDemanded);
    this.#push(atom.literal.args, (shape) => new DerivedDelta(delta, shape));
    this.#joinCheapestFirst(atoms.slice(0, start), !isDemanded, delta);
    this.#joinInOrder(atoms.slice(start + 1), delta);
    return this.#machine(gateOf(this.#rule));
  }

  startingAtStored(start: number): Machine {
    const { atoms, demandTerms } = this.#rule;
    const { literal, source } = atoms[start] as BodyAtom;
    assert(source.kind === 'stored', 'stored rows start at a stored atom');
    this.#expect(atoms.toSpliced(start, 1), demandTerms.length > 0);
    this.#push(literal.args, (shape) => new StoredRowsDelta(literal, this.#rule.view, shape));
    this.#joinCheapestFirst(atoms.slice(0, start), demandTerms.length > 0, null);
    for (const atom of atoms.slice(start + 1)) this.#join(atom, 'done');
    return this.#machine(gateOf(this.#rule));
  }

  /**
   * Starts at the head. Its demand exists already; a demand that is a relation of premises is joined as one.
   */
  checking(): Machine {
    const { target, headTerms, atoms, demand } = this.#rule;
    this.#push(headTerms, (shape) => new RederivationDelta(target, shape));
    this.#joinCheapestFirst(atoms, demand.support !== null, null);
    return this.#machine(null, target.rows.heights === null);
  }

  explaining(): Machine {
    const { demand, demandTerms, atoms } = this.#rule;
    this.#push(demandTerms, (shape) => new DerivedDelta(demand, shape));
    this.#joinCheapestFirst(atoms, false, demand);
    return this.#machine();
  }

  /** Joins the atoms, and if `withDemand` the demand, cheapest first. */
  #joinCheapestFirst(atoms: readonly BodyAtom[], withDemand: boolean, delta: Derived | null): void {
    const { demand, demandTerms } = this.#rule;
    const wanted: AtomLiteral = { predicate: '', args: [...demandTerms], negated: false, naf: false };
    const bySource = new Map<AtomLiteral, BodyAtom>(atoms.map((atom) => [atom.literal, atom]));
    const open: AtomLiteral[] = atoms.map((atom) => atom.literal);
    if (withDemand) open.push(wanted);
    while (open.length > 0) {
      const next = cheapest(open, this.#bound, (literal, bound) =>
        literal === wanted
          ? demandCost(demandTerms, bound)
          : this.#set.estimate(this.#rule.view, literal, bound),
      ) as AtomLiteral;
      open.splice(open.indexOf(next), 1);
      const atom = bySource.get(next);
      if (atom === undefined) this.#pushRows(demandTerms, (shape) => new DerivedStep(demand, shape, 'done'));
      else this.#lookUp(atom, windowOf(atom, delta, 'through'));
    }
  }

  /** Demands and joins the atoms one by one; those that bind no more than one of them does, with that one. */
  #joinInOrder(atoms: readonly BodyAtom[], delta: Derived | null): void {
    const open = [...atoms];
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const literals = this.#intersectable(next, open);
      this.#expected *= Math.max(1, this.#set.estimate(this.#rule.view, next.literal, this.#bound));
      if (literals.length < 2) this.#join(next, windowOf(next, delta, 'before'));
      else {
        this.#intersect(literals);
        for (const literal of literals.slice(1)) open.splice(open.indexOf(literal), 1);
      }
    }
  }

  /**
   * The atom, and those of `others` that have no unbound variable but the one that the atom binds, if all are
   * stored. A derived atom is demanded when everything before it was joined, so it has to wait.
   */
  #intersectable(atom: BodyAtom, others: readonly BodyAtom[]): readonly BodyAtom[] {
    const variable = this.#intersections === null ? null : this.#onlyUnbound(atom);
    if (variable === null) return [];
    return [atom, ...others.filter((other) => this.#onlyUnbound(other) === variable)];
  }

  /** The variable of a stored atom that alone is unbound and occurs once in it; null if there is none. */
  #onlyUnbound({ literal, source }: BodyAtom): string | null {
    if (source.kind !== 'stored') return null;
    const unbound = literal.args.filter(
      (term) => term !== wildcard && isVariable(term) && !this.#bound.has(term),
    );
    return unbound.length === 1 ? (unbound[0] as string) : null;
  }

  /** Adds the step that binds the variable of the atoms. */
  #intersect(atoms: readonly BodyAtom[]): void {
    const { view } = this.#rule;
    const literals = atoms.map(({ literal }) => {
      const shape = this.#shapeOf(literal.args);
      const rows = new StoredStep(literal, view, shape);
      rows.rowRegister = this.#newRowRegister();
      return new Sorted(rows, present(shape.binds, 'it binds the variable'));
    });
    const step = new IntersectionStep(literals);
    this.#intersections?.add(step, this.#expected);
    this.#steps.push(step);
    for (const { literal } of atoms) for (const term of literal.args) this.#bind(term);
    this.#joined(atoms.map(({ literal }) => literal.args));
  }

  #bind(term: string): void {
    if (isNamedVariable(term)) this.#bound.add(term);
  }

  /** Called after a step: adds what its variables decide. */
  #joined(atoms: readonly (readonly string[])[]): void {
    this.#settleFilters();
    this.#open = this.#open.filter((terms) => !atoms.includes(terms));
    if (this.#open.length > 0) this.#project();
  }

  /** Demands the atom if it is derived, then joins it. */
  #join(atom: BodyAtom, window: Window): void {
    if (atom.source.kind === 'derived') this.#demand(atom.literal, atom.source);
    this.#lookUp(atom, window);
  }

  #lookUp({ literal, source }: BodyAtom, window: Window): void {
    this.#pushRows(literal.args, (shape) =>
      source.kind === 'stored'
        ? new StoredStep(literal, this.#rule.view, shape)
        : new DerivedStep(source.rows, shape, window),
    );
  }

  #demand(literal: AtomLiteral, source: DerivedSource): void {
    const terms = source.boundPositions.map((position) => literal.args[position] as string);
    // The rule's own demand is never new, but an observer sees the demand.
    if (!this.#isOwnDemand({ literal, source }) || this.#set.observer !== null)
      this.#announce(source.demand, terms, literal);
  }

  /**
   * True if the atom is demanded by the very tuple that demands the rule, so that its demand is already met.
   */
  #isOwnDemand({ literal, source }: BodyAtom): boolean {
    const { demand, demandTerms } = this.#rule;
    return (
      source.kind === 'derived' &&
      source.demand === demand &&
      source.boundPositions.every((position, index) => literal.args[position] === demandTerms[index])
    );
  }

  #announce(target: Derived, terms: readonly string[], literal: AtomLiteral | null): void {
    const registers = terms.map((term) => this.#registers.of(term));
    const values = this.#values;
    const tuple = new Int32Array(registers.length);
    const { work, observer } = this.#set;
    const seen = observer?.demands(this.#source(), target, literal) ?? null;
    this.#guard(() => {
      for (let index = 0; index < registers.length; index++)
        tuple[index] = values[registers[index] as number] as number;
      const isNew = put(target, tuple, 0, work);
      if (seen !== null) seen(tuple, isNew);
      return true;
    });
  }

  #source(): Source {
    const { demand, demandTerms } = this.#rule;
    const registers = demandTerms.map((term) => this.#registers.of(term));
    return { demand, registers, values: this.#values };
  }

  /** Adds a step for rows; if all columns are bound, the step before tests it in a guard. */
  #pushRows(terms: readonly string[], make: (shape: AtomShape) => KeyedStep): void {
    this.#push(terms, (shape) => {
      const rows = make(shape);
      if (terms.length === 0 || shape.keyPositions.length < terms.length) return rows;
      const test = new ExistenceStep(rows, this.#values);
      this.#tests.push(test);
      this.#guard(() => test.holds());
      return test;
    });
  }

  #push(terms: readonly string[], make: (shape: AtomShape) => Step): void {
    const shape = this.#shape(terms);
    this.#add(make(shape));
    this.#joined([terms]);
  }

  /**
   * Called first, with everything to be joined: enables projection with duplicate elimination, see
   * `SeenBindings`.
   */
  #expect(atoms: readonly BodyAtom[], withDemand: boolean): void {
    const { target, demandTerms } = this.#rule;
    // With heights, a later binding may give a lower proof of the same conclusion; an observer sees every
    // binding.
    if (target.rows.heights !== null || this.#set.observer !== null) return;
    this.#open = atoms.map((atom) => atom.literal.args);
    if (withDemand) this.#open.push(demandTerms);
  }

  /** After an atom that leaves a variable unneeded: skips bindings that differ only in such variables. */
  #project(): void {
    const { headTerms, announced = [] } = this.#rule;
    const needed = new Set([...headTerms, ...this.#open.flat(), ...this.#filters.flatMap(termsOf)]);
    for (const { terms } of announced) for (const term of terms) needed.add(term);
    const unneeded = [...this.#bound].filter(
      (variable) => !needed.has(variable) && !this.#left.has(variable),
    );
    if (unneeded.length === 0) return;
    for (const variable of unneeded) this.#left.add(variable);
    const remaining = [...this.#bound].filter((variable) => needed.has(variable));
    const seen = new SeenBindings(
      remaining.map((variable) => this.#registers.of(variable)),
      this.#values,
    );
    this.#seen.push(seen);
    this.#guard(() => seen.isNew());
  }

  #add(step: Step): void {
    step.rowRegister = this.#newRowRegister();
    this.#steps.push(step);
  }

  #newRowRegister(): number {
    return this.#registers.initial.length + this.#rowRegisters++;
  }

  /** The shape of a step's literal, whose variables are bound from now on. */
  #shape(terms: readonly string[]): AtomShape {
    const shape = this.#shapeOf(terms);
    for (const term of terms) this.#bind(term);
    return shape;
  }

  #shapeOf(terms: readonly string[]): AtomShape {
    const shape = {
      keyPositions: [] as number[],
      keyRegisters: [] as number[],
      bindPositions: [] as number[],
      bindRegisters: [] as number[],
      samePositions: [] as number[],
      sameRegisters: [] as number[],
    };
    const here = new Set<string>();
    for (const [position, term] of terms.entries()) {
      if (term === wildcard) continue;
      const register = this.#registers.of(term);
      if (!isVariable(term) || this.#bound.has(term)) {
        shape.keyPositions.push(position);
        shape.keyRegisters.push(register);
      } else if (here.has(term)) {
        shape.samePositions.push(position);
        shape.sameRegisters.push(register);
      } else {
        here.add(term);
        shape.bindPositions.push(position);
        shape.bindRegisters.push(register);
      }
    }
    const [position, register] = [shape.bindPositions[0], shape.bindRegisters[0]];
    const isSingle = shape.bindPositions.length === 1 && shape.samePositions.length === 0;
    const binds =
      isSingle && position !== undefined && register !== undefined ? { position, register } : null;
    return { ...shape, binds };
  }

  #guard(guard: Guard): void {
    const step = this.#steps[this.#steps.length - 1] as Step;
    step.guards = [...step.guards, guard];
  }

  /** Adds a guard or step for every filter whose needs are bound. */
  #settleFilters(): void {
    for (let before = -1; before !== this.#filters.length; ) {
      before = this.#filters.length;
      this.#filters = this.#filters.filter((filter) => !this.#settle(filter));
    }
  }

  #settle(filter: Filter): boolean {
    if (!filter.needs.every((variable) => this.#bound.has(variable))) return false;
    const { literal, binds } = filter;
    // A variable already bound by the demand is compared with the text that it would get.
    const isNew = binds !== null && !this.#bound.has(binds);
    if (isAggregate(literal)) this.#aggregate(filter, literal, isNew);
    else if (isComparison(literal)) this.#comparison(literal, binds, isNew);
    else if (isArithmetic(literal)) this.#arithmetic(literal, binds, isNew);
    else this.#absence(literal);
    if (binds !== null) this.#bound.add(binds);
    return true;
  }

  #comparison(literal: AtomLiteral, binds: string | null, isNew: boolean): void {
    const values = this.#values;
    const [leftTerm, rightTerm] = literal.args as [string, string];
    const left = this.#registers.of(leftTerm);
    const right = this.#registers.of(rightTerm);
    if (binds === null) {
      const { constants } = this.#set;
      const operator = literal.predicate;
      this.#guard(() => constants.compare(operator, values[left] as number, values[right] as number));
      return;
    }
    const [target, from] = binds === leftTerm ? [left, right] : [right, left];
    if (!isNew) this.#guard(() => values[target] === values[from]);
    else
      this.#guard(() => {
        values[target] = values[from] as number;
        return true;
      });
  }

  #arithmetic(literal: AtomLiteral, binds: string | null, isNew: boolean): void {
    const values = this.#values;
    const { constants } = this.#set;
    const [left, right, result] = literal.args.map((term) => this.#registers.of(term)) as [
      number,
      number,
      number,
    ];
    const operator = literal.predicate;
    this.#guard(() => {
      const id = constants.calculate(operator, values[left] as number, values[right] as number);
      if (id < 0) return false;
      if (isNew) values[result] = id;
      else return binds === null ? constants.equal(values[result] as number, id) : values[result] === id;
      return true;
    });
  }

  /** `not p(..)`: tested at once against stored facts; for a derived relation, after the fixpoint below. */
  #absence(literal: AtomLiteral): void {
    this.#add(new AbsentStep(this.#reading(literal, this.#shape(literal.args))));
  }

  #aggregate(filter: Filter, literal: AggregateLiteral, isNew: boolean): void {
    const inner = this.#reading(literal, this.#shape(innerTerms(filter, this.#rule.barriers)));
    // Variables before the colon are local to the braces.
    for (const variable of literal.over) this.#bound.delete(localName(variable));
    const way = isNew ? 'bind' : filter.binds === null ? 'compare' : 'match';
    const [first] = literal.over;
    const value = this.#registers.of(localName(present(first, 'an aggregate is over a variable')));
    const result = this.#registers.of(literal.result);
    this.#add(new AggregateStep(literal.aggregate, inner, value, result, way, this.#set.constants));
  }

  /** The step over the relation for which the filter waits, or over stored facts. */
  #reading(literal: Literal, shape: AtomShape): Step {
    const barrier = this.#rule.barriers.get(literal);
    return barrier === undefined
      ? new StoredStep(atomWaitedFor(literal), this.#rule.view, shape)
      : new DerivedStep(barrier.rows, shape, 'done');
  }

  /** Lets other steps read the runs too that intersections need: neighbouring memory in place of chains. */
  #readRuns(): void {
    const intersections = this.#intersections;
    if (intersections === null || intersections.isEmpty) return;
    for (const [at, step] of this.#steps.entries()) {
      if (!(step instanceof StoredStep)) continue;
      const replaced = intersections.inPlaceOf(step);
      if (replaced === null) continue;
      replaced.guards = step.guards;
      replaced.rowRegister = step.rowRegister;
      this.#steps[at] = replaced;
    }
  }

  #machine(gate: Derived | null = null, once = false): Machine {
    const { target, headTerms, heightIncrement = 0, tally = null, announced = [] } = this.#rule;
    for (const { demand, terms } of announced) this.#announce(demand, terms, null);
    this.#readRuns();
    const registers = headTerms.map((term) => this.#registers.of(term));
    const { work, justifications, batch, observer, constants } = this.#set;
    const seen = observer?.concludes(this.#source(), target) ?? null;
    const emission = { target, registers, heightIncrement, tally, seen };
    return new Machine(this.#steps, {
      emission,
      registers: this.#values,
      work,
      gate,
      constants,
      justifications,
      batch,
      once,
      seen: this.#seen,
      tests: this.#tests,
    });
  }
}

/**
 * The register name of a variable before the colon, which is distinct from the same name outside the braces.
 */
function localName(variable: string): string {
  return `${variable} {}`;
}

/** The atom that a negation tests, or that an aggregate without a relation of its own reads. */
export function atomWaitedFor(literal: Literal): AtomLiteral {
  return isAggregate(literal) ? present(literal.body.find(isPositiveAtom), 'it reads an atom') : literal;
}

/** The terms as which an aggregate reads the columns of its tuples. */
function innerTerms({ literal, shared }: Filter, barriers: AdornedRule['barriers']): readonly string[] {
  if (!isAggregate(literal)) return [];
  if (barriers.get(literal)?.kind === 'group') return [...shared, ...literal.over.map(localName)];
  const { args } = atomWaitedFor(literal);
  return args.map((term) => (literal.over.includes(term) ? localName(term) : term));
}

function termsOf({ literal, shared }: Filter): readonly string[] {
  return isAggregate(literal) ? [...shared, literal.result] : literal.args;
}

function windowOf(atom: BodyAtom, delta: Derived | null, own: Window): Window {
  return atom.source.kind === 'derived' && atom.source.rows === delta ? own : 'done';
}

function demandCost(terms: readonly string[], bound: ReadonlySet<string>): number {
  const open = terms.filter((term) => isVariable(term) && !bound.has(term)).length;
  return open === 0 ? 0 : open < terms.length ? 100 : 10_000;
}
