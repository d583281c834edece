import { present } from '../../base/assert.ts';
import {
  type AggregateLiteral,
  type AtomLiteral,
  isVariable,
  type Literal,
} from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { relationOf, wildcard } from '../../language/terms.ts';
import type { AdornedRule, RuleSpace } from './compile-rule.ts';
import {
  type Barrier,
  type GroupSource,
  type BodyAtom,
  type DerivedSource,
  type BuiltBody,
  type BuiltGroup,
  type Relation,
  shapeOf,
  type Table,
} from '../model/table.ts';
import type { MemoryMeter } from '../../store/memory-meter.ts';
import { type Derived, newDerived, type Watcher } from '../model/derived.ts';
import { type PlannedAtom, type PlannedBody, type PlannedWait, sharedTerms } from '../plan/body-plan.ts';
import { atomWaitedFor } from '../plan/join-plan.ts';
import { type Filter } from '../../language/order.ts';
import type { Constants } from '../model/constants.ts';

/** The relation to which the conclusions are added, and the demand that wants them. */
export type Conclusion = Pick<
  AdornedRule,
  'target' | 'headTerms' | 'heightIncrement' | 'tally' | 'demand' | 'demandTerms'
>;

/**
 * Compiles a body to adorned rules as its plan says (`plan/body-plan.ts`): what each atom reads, and where it
 * must wait. Every stage of the plan is a rule; the matches of all but the last are the rows of a relation of
 * its own, which wait until everything below is at its fixpoint (`WorkList`).
 *
 * `extra` collects the relations made for the bodies.
 */
export class BodyCompiler {
  readonly #set: TableSpace;
  readonly #extra: Derived[];
  readonly #isQuestion: boolean;
  /** True if the conclusions outlive this question. */
  readonly #isMaintained: boolean;
  readonly #stops: (() => void)[] = [];
  readonly #removals: (() => void)[] = [];

  constructor(set: TableSpace, extra: Derived[], isQuestion: boolean) {
    this.#set = set;
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

  compile(body: PlannedBody, conclusion: Conclusion): BuiltBody {
    return this.#compile(body, conclusion, this.#stops);
  }

  /** Compiles the body; adds to `ends` the functions that end its joins. */
  #compile(body: PlannedBody, conclusion: Conclusion, ends: (() => void)[]): BuiltBody {
    const { view, literals, filters: all, stages } = body;
    const atoms = stages.flatMap((stage) => stage.atoms.map((atom) => this.#atom(view, atom)));
    const built: BuiltBody = {
      view,
      literals,
      filters: all,
      atoms,
      barriers: new Map(),
      groups: new Map(),
    };
    let { demand, demandTerms } = conclusion;
    let read = nothingRead;
    for (const stage of stages) {
      const { filters, variables, waits } = stage;
      const rule = {
        demand,
        demandTerms,
        view,
        atoms: stage.atoms.length > 0 ? atoms : [],
        filters,
        barriers: read,
        isQuestion: this.#isQuestion,
        stage,
      };
      if (stage === stages.at(-1)) {
        this.#set.addRule(concluding(conclusion, rule, []), ends, this.#removals);
        break;
      }
      // What waits before any join is demand, which is no premise.
      const isDemand = stage.atoms.length === 0 && demand === conclusion.demand && atoms.length > 0;
      const { level } = conclusion.target;
      const { withHeights } = this.#set;
      const waiting = this.#relation('waiting', variables.length, level, withHeights, isDemand);
      const nowRead = new Map<Literal, Barrier>();
      read = nowRead;
      const announced: { demand: Derived; terms: readonly string[] }[] = [];
      for (const wait of waits) {
        if (wait.kind === 'atom') {
          announced.push({ demand: this.#tableSource(view, wait.literal, []).demand, terms: [] });
          continue;
        }
        const barrier = this.#barrier(view, wait, conclusion, built);
        if (barrier !== null) nowRead.set(wait.filter.literal, barrier);
        announced.push(...announcements(wait.filter, barrier));
      }
      for (const [literal, barrier] of read) built.barriers.set(literal, barrier);
      const first = { target: waiting, headTerms: variables };
      this.#set.addRule(concluding(first, rule, announced), ends, this.#removals);
      if (this.#isMaintained && !isDemand)
        for (const wait of waits)
          if (wait.kind !== 'atom') this.#watch(wait.filter, built, waiting, variables);
      [demand, demandTerms] = [waiting, variables];
    }
    return built;
  }

  #relation(name: string, arity: number, level: number, withHeights: boolean, isDemand = false): Derived {
    const memory = this.#isQuestion ? this.#set.passingMemory : this.#set.memory;
    const derived = newDerived({ name, arity, level, withHeights, memory });
    if (this.#isMaintained && !isDemand) this.#set.justifications.track(derived, null);
    this.#extra.push(derived);
    return derived;
  }

  #atom(view: ScopeChoice, { literal, boundPositions, isComplete }: PlannedAtom): BodyAtom {
    if (boundPositions === null) return { literal, source: { kind: 'stored' } };
    return { literal, source: { ...this.#tableSource(view, literal, boundPositions), isComplete } };
  }

  /** Prepares what the filter waits for; null if it is stored. */
  #barrier(
    view: ScopeChoice,
    wait: Exclude<PlannedWait, { kind: 'atom' }>,
    conclusion: Conclusion,
    built: BuiltBody,
  ): Barrier | null {
    if (wait.kind === 'stored') return null;
    const { literal } = wait.filter;
    if (wait.kind === 'table') return this.#tableSource(view, atomWaitedFor(literal), wait.boundPositions);
    const aggregate = literal as AggregateLiteral;
    const group = this.#group(wait, aggregate, conclusion.target.level);
    built.groups.set(aggregate, group);
    return group.source;
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
  #group(
    { filter, body }: PlannedWait & { readonly kind: 'group' },
    literal: AggregateLiteral,
    above: number,
  ): BuiltGroup {
    const { shared } = filter;
    const level = (above + Math.ceil(above) - 1) / 2;
    const demand = this.#relation('demand of a group', shared.length, level, false);
    const rows = this.#relation('group', shared.length + literal.over.length, level, this.#set.withHeights);
    const headTerms = [...shared, ...literal.over];
    const conclusion = {
      target: rows,
      headTerms,
      demand,
      demandTerms: shared,
    };
    const source: GroupSource = { kind: 'group', rows, demand, shared };
    // Maintenance needs the whole group, whether or not the rule itself goes on.
    return { source, headTerms, body: this.#compile(body, conclusion, this.#removals) };
  }

  #tableSource(view: ScopeChoice, literal: AtomLiteral, boundPositions: readonly number[]): DerivedSource {
    const { rows, demand } = this.#set.table({ view, ...shapeOf(literal) }, boundPositions);
    return { kind: 'derived', rows, demand, boundPositions, isComplete: false };
  }
}

const nothingRead: ReadonlyMap<Literal, Barrier> = new Map();

/** The rule with its conclusion. The members are named one by one, since V8 takes kilobytes for an object that spreads two others. */
function concluding(
  { target, headTerms, heightIncrement = 0, tally = null }: Omit<Conclusion, 'demand' | 'demandTerms'>,
  rule: Required<Omit<AdornedRule, 'target' | 'headTerms' | 'heightIncrement' | 'tally' | 'announced'>>,
  announced: Required<AdornedRule>['announced'],
): AdornedRule {
  const { demand, demandTerms, view, atoms, filters, barriers, isQuestion, stage } = rule;
  return {
    target,
    headTerms,
    heightIncrement,
    tally,
    demand,
    demandTerms,
    view,
    atoms,
    filters,
    barriers,
    isQuestion,
    stage,
    announced,
  };
}

/** The demand that must be made before the filter can be evaluated. */
function announcements(
  filter: Filter,
  barrier: Barrier | null,
): { demand: Derived; terms: readonly string[] }[] {
  if (barrier === null) return [];
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
  return {
    kind: 'waiting',
    waits,
    constants,
    equal,
    from: key.map(({ from }) => from),
    to: key.map(({ to }) => to),
  };
}

/** The part of a table set that compiling a body needs. */
export interface TableSpace extends RuleSpace {
  /** What the relations of tables ask before they grow, and those of a question. */
  readonly memory: MemoryMeter;
  readonly passingMemory: MemoryMeter;
  readonly withHeights: boolean;
  /** True if derived rows are maintained when facts change. */
  readonly isMaintained: boolean;
  /** Compiles the rule. Adds the functions that end its joins to `stops`, and its maintenance to `removals`. */
  addRule(rule: AdornedRule, stops: (() => void)[], removals: (() => void)[]): void;
  /**
   * Notifies the watcher when stored facts of the relation are added or removed. Returns a function that ends
   * this.
   */
  watchStored(relation: string, watcher: Watcher): () => void;
  table(relation: Relation, boundPositions: readonly number[]): Table;
}
