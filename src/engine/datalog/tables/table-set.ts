import type { FactStore, ScopeChoice } from '../../store/fact-store.ts';
import { MemoryMeter, type QuestionMemory } from '../../store/memory-meter.ts';
import type { SortedRuns } from '../../store/sorted-runs.ts';
import { TupleBatch } from '../../store/tuples.ts';
import { present } from '../../base/assert.ts';
import { relationKey, relationOf } from '../../language/terms.ts';
import { BitsetClosure, BitsetRecursion } from '../closure/bitset-closure.ts';
import { BitsetTable } from '../closure/bitset-table.ts';
import { BodyCompiler, type TableSpace } from '../join/body-compiler.ts';
import type { ClosureShape } from '../plan/closure-shape.ts';
import { variablesFor } from '../plan/linear-recursion.ts';
import type { Profile } from '../plan/profile.ts';
import { firstLook, Planner, type Strategy, tableKey, type TablePart } from '../plan/planner.ts';
import { added, type AdornedRule, compileRule, MaintainedRule } from '../join/compile-rule.ts';
import type { Relation, Table, Observer } from '../model/table.ts';
import { Constants } from '../model/constants.ts';
import {
  clear,
  drop,
  type Derived,
  newDerived,
  phases,
  type StoredDelta,
  type AbsenceWatcher,
  type Watcher,
  WorkList,
} from '../model/derived.ts';
import type { MemoryHolder } from '../model/memory-budget.ts';
import { listOf, type Program, type Tallies, type Tally } from '../model/program.ts';
import type { Overlay } from '../model/reader.ts';
import { Justifications } from '../model/justifications.ts';

/** How a table set is used. */
export interface TableSetKind {
  readonly withHeights: boolean;
  /** True if it is incrementally maintained when facts change. */
  readonly isMaintained: boolean;
  /** If given, recursion is not rewritten: the observer sees the rules as written. */
  readonly observer?: Observer;
  /** If given, the set is only for readers with this overlay. */
  readonly overlay?: Overlay;
  /** If given, it counts what the steps of the plan do; for the set's whole life. */
  readonly profile?: Profile;
}

const minCountedRows = 1000;

/** The relations of the table that the parts of its plan name; others are added. */
function relationsOf({ demand, rows }: Table): Map<string, Derived> {
  return new Map([
    ['demand', demand],
    ['rows', rows],
  ]);
}

/**
 * The tables of one evaluation (tabling): each has the derived rows of one relation in one view for the
 * demanded bound arguments.
 *
 * This is the adorned program of magic sets, built on demand: a table compiles its relation's rules when it
 * is first demanded. Once the work list is empty, a table has all answers for every tuple of its demand;
 * demand only grows. A set belongs to one tenant and one version of the rules. With heights no recursion is
 * rewritten, so that heights are those of the rules as written.
 */
export class TableSet implements TableSpace {
  readonly facts: FactStore;
  program: Program;
  readonly withHeights: boolean;
  readonly isMaintained: boolean;
  readonly constants: Constants;
  /** What everything in the set asks before it grows. */
  readonly memory = new MemoryMeter();
  /** What relations that serve one question or proof ask: they are counted apart, in `passing`. */
  readonly passingMemory = this.memory.apart();
  readonly justifications = new Justifications(this.memory);
  readonly batch = new TupleBatch();
  readonly work = new WorkList();
  /** Runs of stored facts that joins have used since the last fixpoint. */
  readonly usedRuns = new Set<SortedRuns>();
  readonly #storedDeltas = new Map<string, StoredDelta[]>();
  readonly #storedWatchers = new Map<string, Watcher[]>();
  readonly #absences: AbsenceWatcher[] = [];
  readonly tables = new Map<string, Table>();
  /** Temporary relations of questions and proofs, counted like tables while they exist. */
  readonly passing = new Set<Derived>();
  readonly #byRelation = new Map<string, Table[]>();
  /** Tables whose rows are computed as a bitset relation. */
  readonly #withBits = new Set<Table>();
  /** The cache entry that holds the set beyond one question. */
  holder: MemoryHolder | null = null;
  /** The evaluation that is currently filling the set, if any. */
  owner: object | null = null;
  /** Called for every row of a table that a change of facts deleted. */
  lost: ((table: Table, row: number) => void) | null = null;

  readonly #tallies: Tallies;
  readonly observer: Observer | null;
  readonly profile: Profile | null;
  /** Decides how everything here is evaluated. */
  readonly planner: Planner;

  constructor(facts: FactStore, program: Program, kind: TableSetKind, tallies: Tallies) {
    const { withHeights, isMaintained } = kind;
    this.observer = kind.observer ?? null;
    this.profile = kind.profile ?? null;
    const overlay = kind.overlay ?? null;
    this.#tallies = tallies;
    this.isMaintained = isMaintained;
    this.facts = facts;
    this.program = program;
    this.withHeights = withHeights;
    this.constants = overlay?.constants ?? new Constants(facts.dictionary, this.memory);
    const isObserved = this.observer !== null;
    this.planner = new Planner({ facts, program, overlay, withHeights, isObserved, isMaintained });
  }

  /** From now on this question pays for what the set grows by; null: nobody. */
  charge(payer: QuestionMemory | null): void {
    this.memory.payer = payer;
    this.constants.memory.payer = payer;
  }

  /** A running total; of tables with bits, and of temporary relations, there are few. */
  get bytes(): number {
    let bytes = this.memory.held + (this.observer?.bytes ?? 0);
    if (this.constants.memory !== this.memory) bytes += this.constants.bytes;
    for (const { bits } of this.#withBits) bytes += bits?.bytes ?? 0;
    // A few rows take next to nothing, and a question of stored facts alone needs no budget.
    for (const { rows } of this.passing) if (rows.count > minCountedRows) bytes += rows.bytes;
    return bytes;
  }

  /** True if most maintenance data belongs to tables that no longer exist. */
  get hasMuchGarbage(): boolean {
    return this.justifications.supports.length > 1000 + 20 * this.tables.size;
  }

  /** A set in use by a question is never evicted. */
  evict(): boolean {
    return false;
  }

  /** Rows of all tables and of their auxiliary relations. */
  get rowCount(): number {
    let count = 0;
    for (const table of this.tables.values()) {
      count += table.rows.rows.count;
      for (const extra of table.extra) count += extra.rows.count;
    }
    return count;
  }

  /** The tables of a relation, in every view and adornment. */
  tablesOf(relation: string): readonly Table[] {
    return this.#byRelation.get(relation) ?? [];
  }

  isDerived(view: ScopeChoice, relation: string): boolean {
    return this.planner.isDerived(view, relation);
  }

  /** The table of the relation for these bound positions (ascending); makes it if there is none. */
  table(relation: Relation, boundPositions: readonly number[]): Table {
    const name = relationKey(relation.predicate, relation.arity, relation.negated);
    const key = tableKey({ view: relation.view, relation: name, boundPositions });
    const known = this.tables.get(key);
    if (known !== undefined) return known;
    const { view, predicate, arity, negated } = relation;
    const level = this.program.level(view, name);
    const table: Table = {
      view,
      predicate,
      arity,
      negated,
      key,
      relation: name,
      boundPositions,
      freePositions: Array.from({ length: arity }, (_, position) => position).filter(
        (position) => !boundPositions.includes(position),
      ),
      demand: newDerived({
        name: `demand of ${name}`,
        arity: boundPositions.length,
        level,
        prepare: () => this.#prepare(table),
        memory: this.memory,
      }),
      rows: newDerived({
        name,
        arity,
        level,
        withHeights: this.withHeights,
        memory: this.memory,
      }),
      rules: [],
      extra: [],
      bits: null,
      isKnown: true,
      way: 'none',
      nextLook: firstLook,
      lacksStored: false,
      stops: [],
      removals: [],
    };
    if (this.isMaintained) this.justifications.track(table.rows, (row) => this.lost?.(table, row));
    this.tables.set(key, table);
    this.observer?.table(table);
    listOf(this.#byRelation, name).push(table);
    return table;
  }

  addRule(rule: AdornedRule, stops: (() => void)[], removals: (() => void)[]): void {
    stops.push(compileRule(rule, this));
    const { support } = rule.target;
    if (support === null) return;
    const maintained = new MaintainedRule(rule, this);
    support.rules.push(maintained);
    for (const { relation, delta } of maintained.stored)
      removals.push(added(listOf(this.#storedDeltas, relation), delta));
    for (const { literal, watcher } of maintained.absences) {
      const barrier = rule.barriers.get(literal);
      const watchers =
        barrier === undefined ? null : present(barrier.rows.support, 'it is maintained too').watchers;
      removals.push(
        watchers === null ? this.watchStored(relationOf(literal), watcher) : added(watchers, watcher),
        added(this.#absences, watcher),
      );
    }
  }

  watchStored(relation: string, watcher: Watcher): () => void {
    return added(listOf(this.#storedWatchers, relation), watcher);
  }

  /**
   * Switches to new rules and drops the tables of the `affected` relations: those whose rules differ, and all
   * that depend on them by the old rules or the new. Requires exclusive access.
   */
  take(program: Program, affected: ReadonlySet<string>): void {
    for (const relation of affected) {
      for (const table of this.tablesOf(relation)) {
        this.reset(table);
        this.#takeRules(table);
        for (const derived of [table.demand, table.rows, ...table.extra]) derived.rows.release();
        this.#withBits.delete(table);
        this.tables.delete(table.key);
      }
      this.#byRelation.delete(relation);
    }
    this.program = program;
    this.planner.use(program);
    for (const table of this.tables.values()) {
      table.isKnown = false;
      const change = program.level(table.view, table.relation) - table.rows.level;
      for (const derived of [table.demand, table.rows, ...table.extra]) derived.level += change;
    }
  }

  /** The deltas to fill when stored facts of the relation are added; the first ones give tables a part that they lacked. */
  deltasOf(relation: string): readonly StoredDelta[] {
    for (const table of this.tablesOf(relation)) {
      if (!table.lacksStored) continue;
      table.lacksStored = false;
      this.#compileParts(table, [this.planner.planStored(table)], relationsOf(table), 'rules');
    }
    return this.#storedDeltas.get(relation) ?? [];
  }

  /** The watchers to notify when stored facts of the relation are added or removed. */
  watchersOf(relation: string): readonly Watcher[] {
    return this.#storedWatchers.get(relation) ?? [];
  }

  /** Discards the pending deltas of stored facts. */
  clearDeltas(): void {
    for (const list of this.#storedDeltas.values()) for (const news of list) news.rows = [];
    for (const { loss, gain } of this.#absences) [loss.rows, gain.rows] = [[], []];
  }

  /** True if a compiled rule reads stored facts of the relation. */
  reads(relation: string): boolean {
    return (
      this.#storedDeltas.has(relation) ||
      this.#storedWatchers.has(relation) ||
      this.tablesOf(relation).some(({ lacksStored }) => lacksStored)
    );
  }

  /** Empties the table. Every table that reads it must be reset in the same turn. */
  reset(table: Table): void {
    const { justifications } = this;
    for (const derived of [table.rows, ...table.extra]) justifications.garbage += derived.support?.edges ?? 0;
    clear(table.demand);
    clear(table.rows);
    for (const extra of table.extra) clear(extra);
    table.bits?.forget();
    // The next question may ask for one key.
    if (table.way !== 'generalized') return;
    this.#takeRules(table);
    for (const extra of table.extra.splice(0)) extra.rows.release();
    table.way = 'none';
    table.nextLook = firstLook;
  }

  #takeRules(table: Table): void {
    table.lacksStored = false;
    for (const stop of table.stops.splice(0)) stop();
    for (const remove of table.removals.splice(0)) remove();
  }

  /** True if the table's recursion is factored. */
  isFactored(table: Table): boolean {
    return this.planner.factored(table) !== null;
  }

  /**
   * Called before new demand is joined: compiles the rules, and generalizes the demand if there are too many
   * keys.
   */
  #prepare(table: Table): void {
    if (table.way === 'generalized') return;
    const positions = this.planner.positionsToBind(table);
    if (positions.length < table.boundPositions.length) this.#generalize(table, positions);
    else if (table.way === 'none') {
      table.way = 'keyed';
      this.#build(table);
    }
  }

  /**
   * Generalizes the demand: from now on the rows come from the table that binds only these positions.
   * Existing rows stay, with their justifications; running joins end, since the other table will provide
   * everything that they would find.
   */
  #generalize(table: Table, positions: readonly number[]): void {
    table.way = 'generalized';
    table.lacksStored = false;
    for (const stop of table.stops.splice(0)) stop();
    const { predicate, negated } = table;
    const wide = this.table(table, positions);
    this.profile?.generalized(table, wide);
    const headTerms = variablesFor(table);
    const demandTerms = table.boundPositions.map((position) => headTerms[position] as string);
    const literal = { predicate, args: headTerms, negated, naf: false };
    const { rows, demand } = wide;
    const source = { kind: 'derived' as const, rows, demand, boundPositions: positions, isComplete: false };
    const rule = {
      target: table.rows,
      headTerms,
      demand: table.demand,
      demandTerms,
      view: table.view,
      atoms: [{ literal, source }],
      filters: [],
      barriers: new Map(),
    };
    this.addRule(rule, table.stops, table.removals);
    for (let row = 0; row < table.demand.done; row++) table.demand.again.push(row);
  }

  /** Compiles the program of the table as planned. */
  #build(table: Table, plan = this.planner.planTable(table)): void {
    const { shape, parts } = plan;
    this.profile?.table(table, plan);
    const relations = relationsOf(table);
    const [first] = parts;
    const isLate = first !== undefined && this.#mayComeLater(table, first);
    table.lacksStored = isLate;
    this.#compileParts(table, isLate ? parts.slice(1) : parts, relations, plan.strategy);
    if (shape !== null) this.#addBits(table, shape, relations);
  }

  /** True for the stored facts of a relation that has none: its first ones compile them. */
  #mayComeLater({ predicate, arity, negated }: Table, { body, target }: TablePart): boolean {
    const isCounted = this.observer !== null || this.profile !== null;
    if (body !== null || target !== 'rows' || isCounted || this.planner.isOverlaid) return false;
    return (this.facts.relation(predicate, arity, negated)?.count ?? 0) === 0;
  }

  #compileParts(
    table: Table,
    parts: readonly TablePart[],
    relations: Map<string, Derived>,
    strategy: Strategy,
  ): void {
    const { level } = table.rows;
    const relation = (name: string, arity: number): Derived => {
      let derived = relations.get(name);
      if (derived === undefined) {
        // The base and the steps of a closure are below it.
        const isBelow = strategy === 'bitset' && name !== 'turn';
        derived = this.#extra(table, name, arity, isBelow ? level - 0.5 : level);
        relations.set(name, derived);
      }
      return derived;
    };
    const compiler = new BodyCompiler(this, table.extra, false);
    table.stops.push(() => compiler.stop());
    table.removals.push(() => compiler.remove());
    for (const part of parts) {
      const { rule, headTerms, demandTerms, concludes } = part;
      const demand = relation(part.demand, demandTerms.length);
      const target = relation(part.target, headTerms.length);
      this.observer?.compiling(rule);
      const tally = rule === null || !concludes ? null : this.#tally(rule.record.id);
      const heightIncrement = concludes ? 1 : 0;
      const conclusion = { target, headTerms, demand, demandTerms, heightIncrement, tally };
      const planned = this.planner.planPart(table, part);
      this.profile?.part(part, planned);
      const body = compiler.compile(planned, conclusion);
      if (this.withHeights && rule !== null) table.rules.push({ ...rule, body });
    }
    this.observer?.compiling(null);
  }

  /** Fills the table from the base and the steps of its closure, which are relations below it. */
  #addBits(table: Table, { recursive }: ClosureShape, relations: ReadonlyMap<string, Derived>): void {
    const base = present(relations.get('base'), 'a closure has a base');
    const turn = present(relations.get('turn'), 'a closure has turns');
    const [before = null, behind = null] = [relations.get('before'), relations.get('behind')];
    const watcher = { kind: 'waiting' as const, waits: turn, constants: [], equal: [], from: [], to: [] };
    for (const read of [base, before, behind])
      if (read !== null && read.support !== null) table.removals.push(added(read.support.watchers, watcher));
    table.bits = new BitsetTable({
      make: () =>
        before !== null && behind !== null
          ? new BitsetRecursion(base, before, behind)
          : new BitsetClosure(behind === null ? 'before' : 'behind', base, before ?? behind ?? base),
      base,
      target: table.rows,
      work: this.work,
      tally: this.#tally(recursive.record.id),
      onSparse: () => this.#buildInstead(table),
    });
    this.#withBits.add(table);
    turn.consumers.push(this.profile?.timedTable(table, table.bits) ?? table.bits);
  }

  /** Falls back to the rules for a closure that proved sparse. */
  #buildInstead(table: Table): void {
    this.#takeRules(table);
    for (const extra of table.extra.splice(0)) {
      this.justifications.garbage += extra.support?.edges ?? 0;
      drop(extra);
    }
    table.bits = null;
    this.#withBits.delete(table);
    this.#build(table, this.planner.planSparse(table));
    for (let row = 0; row < table.demand.done; row++) table.demand.again.push(row);
    this.work.add(table.demand, phases.join);
  }

  /** Makes an auxiliary relation for the table's rules. */
  #extra(table: Table, name: string, arity: number, level: number): Derived {
    const extra = newDerived({ name: `${name} of ${table.relation}`, arity, level, memory: this.memory });
    if (this.isMaintained) this.justifications.track(extra, null);
    table.extra.push(extra);
    return extra;
  }

  /** Proofs derive again what answers have derived, so only answers count. */
  #tally(ruleId: string): Tally | null {
    if (this.withHeights) return null;
    let tally = this.#tallies.get(ruleId);
    if (tally === undefined) this.#tallies.set(ruleId, (tally = { fired: 0 }));
    return tally;
  }
}
