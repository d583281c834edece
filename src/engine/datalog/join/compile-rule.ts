import {
  type AggregateLiteral,
  type AtomLiteral,
  isVariable,
  type Literal,
} from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { SortedRuns } from '../../store/sorted-runs.ts';
import type { TupleBatch } from '../../store/tuples.ts';
import { isAbsence, relationOf, wildcard } from '../../language/terms.ts';
import { assert, present } from '../../base/assert.ts';
import {
  AbsentStep,
  AggregateStep,
  ChangedRowsDelta,
  DerivedDelta,
  DerivedStep,
  RederivationDelta,
} from './derived-steps.ts';
import { inBatches } from './batch-join.ts';
import type { Constants } from '../model/constants.ts';
import {
  type AbsenceWatcher,
  type Consumer,
  type Derived,
  put,
  type StoredDelta,
  type WorkList,
} from '../model/derived.ts';
import type { Tally } from '../model/program.ts';
import { hasFacts, type Reader } from '../model/reader.ts';
import {
  atomWaitedFor,
  type Columns,
  innerTerms,
  type JoinPlan,
  type JoinStart,
  type JoinStep,
  type LiteralColumns,
  localName,
  planJoin,
  filterTerms,
  type ValueUse,
  type Window,
} from '../plan/join-plan.ts';
import type { Stage } from '../plan/body-plan.ts';
import type { LimitedVariable } from '../plan/semi-joins.ts';
import type { Planner } from '../plan/planner.ts';
import type { JoinCounts, Profile } from '../plan/profile.ts';
import type { Filter } from '../../language/order.ts';
import {
  type Guard,
  type GuardUse,
  type KeyedStep,
  accessOf,
  Machine,
  type AtomShape,
  type Step,
} from './machine.ts';
import { ExistenceStep } from './existence-step.ts';
import {
  IntersectionStep,
  Intersections,
  KeyedSemiJoin,
  Sorted,
  type SortedScan,
} from './intersection-step.ts';
import { CountedJoin, countedRows, countedSteps, timedGuard } from './counted-steps.ts';
import type { Justifications } from '../model/justifications.ts';
import { SeenBindings } from './seen-bindings.ts';
import { SemiJoins, type ValueSet } from './semi-joins.ts';
import { SortableStep } from './sortable-step.ts';
import { ChangedFactsDelta, StoredRowsDelta, StoredStep } from './stored-steps.ts';
import type { Barrier, BodyAtom, DerivedSource, Observer, Source } from '../model/table.ts';

const noTerms = new Int32Array(0);

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
  /** The stage of the plan that the rule carries out; by default it is from no plan. */
  readonly stage?: Stage;
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
  readonly profile: Profile | null;
  /** Takes the sorted runs that joins use. */
  readonly usedRuns: Set<SortedRuns>;
  readonly planner: Planner;
}

/**
 * Compiles the rule to join machines and registers them as consumers. Returns a function that removes them.
 *
 * One machine starts at the demand, and one at each atom over a derived relation; together they meet every
 * combination of rows exactly once (semi-naive). Whatever the join order, an atom is demanded only after
 * everything before it in the passing order was joined.
 */
export function compileRule(rule: AdornedRule, set: RuleSpace): () => void {
  const { observer, profile } = set;
  let registers: Registers | null = null;
  const derivedAt = rule.atoms.findIndex(({ source }) => source.kind === 'derived');
  const whole = profile === null ? wholeAt(rule, derivedAt) : null;
  const storedOnly = derivedAt < 0 && profile === null;
  const first = storedOnly ? rule.atoms : whole === null ? [] : rule.atoms.slice(0, derivedAt);
  const stored = first.map(({ literal }) => literal);
  const ends: (() => void)[] = [];
  const add = (
    derived: Derived,
    gate: Derived | null,
    make: (builder: MachineBuilder) => Machine,
    only: DerivedSource | null = null,
  ): void => {
    const build = (intersections: Intersections | null, semiJoins: SemiJoins | null): Consumer => {
      registers ??= new Registers(rule, set.constants);
      const builder = new MachineBuilder(rule, set, { registers, intersections, semiJoins });
      const machine = make(builder);
      return builder.counts === null ? inBatches(machine) : new CountedJoin(machine, builder.counts);
    };
    const machine =
      observer === null
        ? new LateMachine({ gate, stored, whole: only }, build, set)
        : observer.timed(build(null, null));
    ends.push(added(derived.consumers, machine));
  };
  add(rule.demand, null, (builder) => builder.startingAtDemand(), whole);
  for (const [at, { source }] of rule.atoms.entries())
    if (source.kind === 'derived')
      add(source.rows, gateOf(rule), (builder) => builder.startingAt(at, source.rows));
  return () => {
    for (const end of ends) end();
  };
}

/**
 * The first derived atom, if a join from the demand demands it whole: until it has rows, the join can only demand it. Before it
 * there may be one stored atom, each of whose facts leads to it. null: there is more to do.
 */
function wholeAt({ demandTerms, atoms, filters }: AdornedRule, at: number): DerivedSource | null {
  const source = atoms[at]?.source;
  if (at > 1 || demandTerms.length > 0 || filters.length > 0 || source?.kind !== 'derived') return null;
  if (source.isComplete || source.boundPositions.length > 0) return null;
  const before = at === 1 ? (atoms[0] as BodyAtom).literal.args : [];
  const isFree = before.every((term, position) => isVariable(term) && before.indexOf(term) === position);
  return isFree ? source : null;
}

/** Adds the item. Returns a function that removes it. */
export function added<Item>(list: Item[], item: Item): () => void {
  list.push(item);
  return () => void list.splice(list.indexOf(item), 1);
}

/** Without which a machine need not run. */
interface Needs {
  /** A demand without arguments. */
  readonly gate: Derived | null;
  /** Stored atoms that are joined before anything is demanded. */
  readonly stored: readonly AtomLiteral[];
  /** Until it has rows, it is only demanded: see `wholeAt`. */
  readonly whole: DerivedSource | null;
}

/**
 * A machine made on first use: most machines of many rules never get a row to start with, and most derived relations
 * have no stored facts. If it can intersect literals, there are two, and each start chooses one. Both share their
 * semi-joins, which are worked out as they run.
 */
class LateMachine implements Consumer {
  readonly #needs: Needs;
  readonly #make: (intersections: Intersections | null, semiJoins: SemiJoins) => Consumer;
  readonly #set: RuleSpace;
  #intersections: Intersections | null = null;
  #semiJoins: SemiJoins | null = null;
  #intersecting: Consumer | null = null;
  #chained: Consumer | null = null;
  #started: Consumer | null = null;

  constructor(
    needs: Needs,
    make: (intersections: Intersections | null, semiJoins: SemiJoins) => Consumer,
    set: RuleSpace,
  ) {
    this.#needs = needs;
    this.#make = make;
    this.#set = set;
  }

  get matches(): number {
    return (this.#intersecting?.matches ?? 0) + (this.#chained?.matches ?? 0);
  }

  get isIdle(): boolean {
    const { gate } = this.#needs;
    return gate !== null && gate.done === 0;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    const { stored, whole } = this.#needs;
    this.#started = null;
    // A fact that comes later starts a join of its own, with all demand so far; so does a row.
    if (!stored.every((atom) => hasFacts(atom, reader))) return;
    if (whole !== null && whole.rows.done === 0) {
      put(whole.demand, noTerms, 0, this.#set.work);
      return;
    }
    const semiJoins = (this.#semiJoins ??= new SemiJoins(this.#set.constants.memory));
    this.#started = this.#choose(reader, list === null ? to - from : list.length, semiJoins);
    this.#started.start(reader, from, to, list, done);
    if (!semiJoins.isEmpty) semiJoins.begin(reader);
  }

  #choose(reader: Reader, rows: number, semiJoins: SemiJoins): Consumer {
    const { usedRuns, constants } = this.#set;
    const intersections = (this.#intersections ??= new Intersections(usedRuns, constants.memory));
    this.#intersecting ??= this.#make(intersections, semiJoins);
    if (intersections.isEmpty || intersections.pay(reader, rows)) return this.#intersecting;
    return (this.#chained ??= this.#make(null, semiJoins));
  }

  run(budget: number): number {
    const machine = this.#started;
    const [intersections, semiJoins] = [this.#intersections, this.#semiJoins];
    if (machine === null || intersections === null || semiJoins === null) return budget;
    const isIntersecting = machine === this.#intersecting && !intersections.isEmpty;
    if (isIntersecting && !intersections.prepare()) return 0;
    const left = machine.run(budget);
    if (left > 0 && isIntersecting) intersections.release();
    if (semiJoins.isEmpty) return left;
    if (left > 0) semiJoins.end();
    else semiJoins.work();
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
  /** The absences that its join tests, with what a change of their atoms starts. */
  readonly absences: readonly { readonly literal: AtomLiteral; readonly watcher: AbsenceWatcher }[];

  constructor(rule: AdornedRule, set: RuleSpace) {
    this.#rule = rule;
    this.#set = set;
    this.stored = rule.atoms.flatMap((atom, at) =>
      atom.source.kind === 'stored' ? [{ relation: relationOf(atom.literal), delta: this.#deltaOf(at) }] : [],
    );
    // Without atoms it tests rows that have waited; those have a watcher of their own.
    const filters = rule.atoms.length === 0 ? [] : rule.filters;
    this.absences = filters.flatMap((filter) =>
      isAbsence(filter.literal) ? [{ literal: filter.literal, watcher: this.#watcherOf(filter) }] : [],
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
    return this.#delta(() => this.#builder().startingAtStored(at));
  }

  #watcherOf(filter: Filter): AbsenceWatcher {
    return {
      kind: 'absence',
      demand: this.#rule.demand,
      loss: this.#delta(() => this.#builder().startingAtAbsence(filter, true)),
      gain: this.#delta(() => this.#builder().startingAtAbsence(filter, false)),
    };
  }

  #delta(build: () => Machine): StoredDelta {
    let machine: Machine | null = null;
    const { target } = this.#rule;
    return {
      get level() {
        return target.level;
      },
      queued: 0,
      rows: [],
      machine: () => (machine ??= build()),
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
      for (const term of [...filterTerms(filter), ...innerTerms(filter, rule.barriers)]) note(term);
    for (const { terms } of rule.announced ?? []) for (const term of terms) note(term);
    for (const term of rule.headTerms) note(term);
    this.initial = Int32Array.from(values);
  }

  of(term: string): number {
    return this.#of.get(term) as number;
  }
}

const noColumns: Columns = { key: [], bind: [], same: [] };

class MachineBuilder {
  readonly #rule: AdornedRule;
  readonly #set: RuleSpace;
  readonly #registers: Registers;
  readonly #values: Int32Array;
  readonly #steps: Step[] = [];
  readonly #seen: SeenBindings[] = [];
  readonly #tests: ExistenceStep[] = [];
  /** null: every literal is joined on its own. */
  readonly #intersections: Intersections | null;
  /** null: no values are limited. */
  readonly #semiJoins: SemiJoins | null;
  /** By guard that tests it. */
  readonly #keyed = new Map<Guard, KeyedSemiJoin>();
  readonly #guardUses = new Map<Guard, GuardUse>();
  #rowRegisters = 0;
  /** What a profile counts of the join; null if nothing is counted. */
  counts: JoinCounts | null = null;
  /** The number of the step of the plan that is carried out, and by step of the machine, the one it is from. */
  #at = 0;
  readonly #planned: number[] = [];

  /**
   * `intersections`: takes the steps that intersect literals; absent or null: every literal is joined on its own.
   * `semiJoins`: takes the scans that limit values; absent or null: none are limited.
   */
  constructor(
    rule: AdornedRule,
    set: RuleSpace,
    {
      registers = new Registers(rule, set.constants),
      intersections = null,
      semiJoins = null,
    }: {
      readonly registers?: Registers;
      readonly intersections?: Intersections | null;
      readonly semiJoins?: SemiJoins | null;
    } = {},
  ) {
    this.#intersections = intersections;
    this.#semiJoins = semiJoins;
    this.#rule = rule;
    this.#set = set;
    this.#registers = registers;
    const { initial } = registers;
    // Each step (start, atoms, filters, demand) may also need a register for its row.
    this.#values = new Int32Array(initial.length + rule.atoms.length + rule.filters.length + 2);
    this.#values.set(initial);
  }

  startingAtDemand(): Machine {
    const { demand } = this.#rule;
    this.#build({ kind: 'demand' }, (shape) => new DerivedDelta(demand, shape));
    return this.#machine();
  }

  startingAt(atom: number, delta: Derived): Machine {
    this.#build({ kind: 'rows', atom }, (shape) => new DerivedDelta(delta, shape));
    return this.#machine(gateOf(this.#rule));
  }

  startingAtStored(atom: number): Machine {
    const { atoms, view } = this.#rule;
    const { literal, source } = atoms[atom] as BodyAtom;
    assert(source.kind === 'stored', 'stored rows start at a stored atom');
    this.#build({ kind: 'stored', atom }, (shape) => new StoredRowsDelta(literal, view, shape));
    return this.#machine(gateOf(this.#rule));
  }

  /** Starts at changed rows of a negated atom. If `isLoss`, it overdeletes what may have followed from its absence. */
  startingAtAbsence(filter: Filter, isLoss: boolean): Machine {
    const atom = atomWaitedFor(filter.literal);
    const { barriers, view } = this.#rule;
    const barrier = barriers.get(filter.literal);
    this.#build({ kind: 'absence', filter, isLoss }, (shape) =>
      barrier === undefined
        ? new ChangedFactsDelta(atom, view, shape)
        : new ChangedRowsDelta(barrier.rows, shape),
    );
    return this.#machine(gateOf(this.#rule), false, isLoss);
  }

  checking(): Machine {
    const { target, demand } = this.#rule;
    const withDemand = demand.support !== null;
    this.#build({ kind: 'check', withDemand }, (shape) => new RederivationDelta(target, shape));
    return this.#machine(null, target.rows.heights === null);
  }

  explaining(): Machine {
    const { demand } = this.#rule;
    this.#build({ kind: 'explain' }, (shape) => new DerivedDelta(demand, shape));
    return this.#machine();
  }

  #build(start: JoinStart, first: (shape: AtomShape) => Step): void {
    const { stage } = this.#rule;
    const { planner, profile } = this.#set;
    const means = { intersects: this.#intersections !== null, reduces: this.#semiJoins !== null };
    const plan = planJoin(this.#rule, start, planner, means);
    this.#takeScans(plan);
    this.counts = stage === undefined ? null : (profile?.join(stage, plan) ?? null);
    for (let at = 0; at < plan.steps.length; at++) {
      const before = this.#steps.length;
      this.#at = at;
      this.#carryOut(plan.steps[at] as JoinStep, first);
      if (this.counts === null) continue;
      this.#test(countedRows(this.counts, at));
      if (this.#steps.length > before) this.#planned.push(at);
    }
  }

  #carryOut(step: JoinStep, first: (shape: AtomShape) => Step): void {
    switch (step.kind) {
      case 'start':
        return this.#add(first(this.#shape(step.terms, step.columns)));
      case 'demand':
        return this.#demand(this.#rule.atoms[step.atom] as BodyAtom);
      case 'rows':
        return this.#rows(step);
      case 'intersection':
        return this.#intersect(step);
      case 'distinct':
        return this.#distinct(step.variables);
      case 'semi-join':
        return this.#semiJoin(step);
      case 'comparison':
        return this.#comparison(step.filter, step.way);
      case 'arithmetic':
        return this.#arithmetic(step.filter, step.way);
      // Tested at once against stored facts; for a derived relation, after the fixpoint below.
      case 'absence':
        return this.#add(new AbsentStep(this.#reading(step.filter.literal, step)));
      case 'aggregate':
        return this.#aggregate(step);
    }
  }

  #demand({ literal, source }: BodyAtom): void {
    assert(source.kind === 'derived', 'a derived atom is demanded');
    const terms = source.boundPositions.map((position) => literal.args[position] as string);
    this.#announce(source.demand, terms, literal);
  }

  #announce(target: Derived, terms: readonly string[], literal: AtomLiteral | null): void {
    const registers = terms.map((term) => this.#registers.of(term));
    const values = this.#values;
    const tuple = new Int32Array(registers.length);
    const { work, observer } = this.#set;
    const seen = observer?.demands(this.#source(), target, literal) ?? null;
    const isWhole = registers.length === 0 && seen === null;
    this.#guard(() => {
      // The whole relation is demanded once; demand is never withdrawn.
      if (isWhole && target.rows.count > 0) return true;
      for (let index = 0; index < registers.length; index++)
        tuple[index] = values[registers[index] as number] as number;
      const isNew = put(target, tuple, 0, work);
      if (seen !== null) seen(tuple, isNew);
      return true;
    }, accessOf(registers));
  }

  #source(): Source {
    const { demand, demandTerms } = this.#rule;
    const registers = demandTerms.map((term) => this.#registers.of(term));
    return { demand, registers, values: this.#values };
  }

  /** Adds a step for rows; if all columns are bound, the step before tests it in a guard. */
  #rows({ atom: at, terms, columns, access, window }: JoinStep & { readonly kind: 'rows' }): void {
    const shape = this.#shape(terms, columns);
    const rows = this.#rowsOf(at, shape, window);
    if (access === 'existence') {
      const test = new ExistenceStep(rows, this.#values);
      this.#tests.push(test);
      this.#guard(() => test.holds(), { ...accessOf([]), isLookAhead: true });
      this.#add(test);
    } else this.#add(rows);
  }

  /** Adds the step that binds the variable of several atoms. */
  #intersect({ literals, candidates }: JoinStep & { readonly kind: 'intersection' }): void {
    const sorted = literals.map((literal) => {
      const each = this.#sorted(literal);
      each.rows.rowRegister = this.#newRowRegister();
      return each;
    });
    const step = new IntersectionStep(sorted);
    present(this.#intersections, 'the plan may intersect').add(step, candidates);
    this.#steps.push(step);
  }

  /** Makes the scans of the plan, which fill its sets; the other machine of the join may have made them. */
  #takeScans({ passes }: JoinPlan): void {
    if (passes.length === 0) return;
    const semiJoins = present(this.#semiJoins, 'the plan may reduce');
    if (!semiJoins.isEmpty) return;
    const { atoms, view } = this.#rule;
    const scans = passes.map(({ atom, tests, collects }) => {
      const { literal } = atoms[atom] as BodyAtom;
      const { args } = literal;
      const columns = ({ variable, set }: LimitedVariable): { position: number; set: ValueSet } => ({
        position: args.indexOf(variable),
        set: semiJoins.set(set),
      });
      const constants = [...args.keys()].filter((position) => !isVariable(args[position] as string));
      return {
        rows: new StoredStep(literal, view, this.#shape(args, noColumns)),
        constants: constants.map((position) => ({
          position,
          id: this.#constantAt(args[position] as string),
        })),
        tests: tests.map(columns),
        collects: collects.map(columns),
      };
    });
    semiJoins.take(scans);
  }

  #constantAt(term: string): number {
    return this.#registers.initial[this.#registers.of(term)] as number;
  }

  /** Limits a variable that the step before has bound. */
  #semiJoin({ variable, way }: JoinStep & { readonly kind: 'semi-join' }): void {
    const values = this.#values;
    const register = this.#registers.of(variable);
    if (way.kind === 'set') {
      const set = present(this.#semiJoins, 'the plan may reduce').set(way.set);
      return this.#guard(() => set.admits(values[register] as number), accessOf([register]));
    }
    const keyed = new KeyedSemiJoin(
      this.#sorted(way.far),
      this.#sorted(way.near),
      this.#registers.of(way.key),
      values,
    );
    present(this.#intersections, 'the plan may intersect').addSemiJoin(keyed);
    const guard = (): boolean => keyed.admits(values[register] as number);
    this.#guard(guard);
    if (this.counts === null) this.#keyed.set(guard, keyed);
  }

  #sorted({ atom, terms, columns }: LiteralColumns): Sorted {
    const { atoms, view } = this.#rule;
    const shape = this.#shape(terms, columns);
    const { literal, source } = atoms[atom] as BodyAtom;
    const rows =
      source.kind === 'stored'
        ? new StoredStep(literal, view, shape)
        : new DerivedStep(source.rows, shape, 'done');
    return new Sorted(rows, present(shape.binds, 'it binds one variable'));
  }

  /** The rows of an atom; null: those of the demand. */
  #rowsOf(at: number | null, shape: AtomShape, window: Window): KeyedStep {
    const { atoms, demand, view } = this.#rule;
    if (at === null) return new DerivedStep(demand, shape, window);
    const { literal, source } = atoms[at] as BodyAtom;
    return source.kind === 'stored'
      ? new StoredStep(literal, view, shape)
      : new DerivedStep(source.rows, shape, window);
  }

  /** Skips bindings that differ only in variables that nothing needs any more. */
  #distinct(variables: readonly string[]): void {
    const registers = variables.map((variable) => this.#registers.of(variable));
    const seen = new SeenBindings(registers, this.#values);
    this.#seen.push(seen);
    this.#guard(() => seen.isNew(), accessOf(registers));
  }

  #add(step: Step): void {
    step.rowRegister = this.#newRowRegister();
    this.#steps.push(step);
  }

  #newRowRegister(): number {
    return this.#registers.initial.length + this.#rowRegisters++;
  }

  /** The columns with the registers of their terms. */
  #shape(terms: readonly string[], { key, bind, same }: Columns): AtomShape {
    const registersOf = (positions: readonly number[]): number[] =>
      positions.map((position) => this.#registers.of(terms[position] as string));
    const bindRegisters = registersOf(bind);
    const [position, register] = [bind[0], bindRegisters[0]];
    const isSingle = bind.length === 1 && same.length === 0;
    const binds =
      isSingle && position !== undefined && register !== undefined ? { position, register } : null;
    return {
      keyPositions: key,
      keyRegisters: registersOf(key),
      bindPositions: bind,
      bindRegisters,
      samePositions: same,
      sameRegisters: registersOf(same),
      binds,
    };
  }

  /** `use`: what it reads and does; absent: it must see one binding after the other. */
  #guard(guard: Guard, use?: GuardUse): void {
    if (use !== undefined) this.#guardUses.set(guard, use);
    this.#test(this.counts === null ? guard : timedGuard(guard, this.counts, this.#at));
  }

  #test(guard: Guard): void {
    const step = this.#steps[this.#steps.length - 1] as Step;
    step.guards = [...step.guards, guard];
  }

  #comparison({ literal, binds }: Filter, way: ValueUse): void {
    const values = this.#values;
    const { args, predicate: operator } = literal as AtomLiteral;
    const [leftTerm, rightTerm] = args as [string, string];
    const left = this.#registers.of(leftTerm);
    const right = this.#registers.of(rightTerm);
    if (way === 'compare') {
      const { constants } = this.#set;
      this.#guard(() => constants.compare(operator, values[left] as number, values[right] as number));
      return;
    }
    const [target, from] = binds === leftTerm ? [left, right] : [right, left];
    if (way === 'match') this.#guard(() => values[target] === values[from], accessOf([target, from]));
    else
      this.#guard(
        () => {
          values[target] = values[from] as number;
          return true;
        },
        accessOf([from], target),
      );
  }

  #arithmetic({ literal }: Filter, way: ValueUse): void {
    const values = this.#values;
    const { constants } = this.#set;
    const { args, predicate: operator } = literal as AtomLiteral;
    const [left, right, result] = args.map((term) => this.#registers.of(term)) as [number, number, number];
    this.#guard(() => {
      const id = constants.calculate(operator, values[left] as number, values[right] as number);
      if (id < 0) return false;
      if (way === 'bind') values[result] = id;
      else return way === 'compare' ? constants.equal(values[result] as number, id) : values[result] === id;
      return true;
    });
  }

  #aggregate(step: JoinStep & { readonly kind: 'aggregate' }): void {
    const literal = step.filter.literal as AggregateLiteral;
    const inner = this.#reading(literal, step);
    const [first] = literal.over;
    const value = this.#registers.of(localName(present(first, 'an aggregate is over a variable')));
    const result = this.#registers.of(literal.result);
    const repeated = step.terms.includes(wildcard)
      ? literal.over.map((term) => this.#registers.of(localName(term)))
      : null;
    const { constants } = this.#set;
    this.#add(new AggregateStep(literal.aggregate, inner, value, result, step.way, constants, repeated));
  }

  /** The step over the relation for which the filter waits, or over stored facts. */
  #reading(
    literal: Literal,
    { columns, ...step }: JoinStep & { readonly kind: 'absence' | 'aggregate' },
  ): StoredStep | DerivedStep {
    const terms = step.kind === 'aggregate' ? step.terms : atomWaitedFor(literal).args;
    const shape = this.#shape(terms, columns);
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
      if (!(step instanceof SortableStep)) continue;
      const replaced = intersections.inPlaceOf(step);
      if (replaced === null) continue;
      this.#takeGuards(replaced, step);
      replaced.rowRegister = step.rowRegister;
      this.#steps[at] = replaced;
    }
  }

  /** A single sorted literal tests candidates before it looks at their rows. */
  #takeGuards(replaced: IntersectionStep | SortedScan, { guards }: Step): void {
    replaced.guards = guards;
    const tested = guards.find((guard) => this.#keyed.has(guard));
    if (tested === undefined || !(replaced instanceof IntersectionStep)) return;
    replaced.limit = this.#keyed.get(tested) ?? null;
    replaced.guards = guards.filter((guard) => guard !== tested);
  }

  #machine(gate: Derived | null = null, once = false, overdeletes = false): Machine {
    const { target, headTerms, heightIncrement = 0, tally = null, announced = [] } = this.#rule;
    for (const { demand, terms } of announced) this.#announce(demand, terms, null);
    this.#readRuns();
    const registers = headTerms.map((term) => this.#registers.of(term));
    const { work, justifications, batch, observer, constants } = this.#set;
    const seen = observer?.concludes(this.#source(), target) ?? null;
    const emission = { target, registers, heightIncrement, tally, seen };
    const { counts } = this;
    const steps =
      counts === null ? this.#steps : countedSteps(this.#steps, (at) => this.#planned[at] as number, counts);
    return new Machine(steps, {
      emission,
      registers: this.#values,
      work,
      gate,
      constants,
      justifications,
      batch,
      once,
      overdeletes,
      seen: this.#seen,
      tests: this.#tests,
      guardUses: this.#guardUses,
    });
  }
}
