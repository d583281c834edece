import { type AtomLiteral, isVariable } from '../../contract/language.ts';
import type { FactStore, ScopeChoice } from '../../store/fact-store.ts';
import { MemoryMeter, type QuestionMemory } from '../../store/memory-meter.ts';
import type { SortedRuns } from '../../store/sorted-runs.ts';
import { TupleBatch } from '../../store/tuples.ts';
import { planRule } from '../../language/order.ts';
import { relationKey, relationOf } from '../../language/terms.ts';
import { BitsetClosure, BitsetRecursion } from '../closure/bitset-closure.ts';
import {
  BitsetTable,
  closureShape,
  type ClosureShape,
  stepFilters,
  type StepShape,
} from '../closure/bitset-table.ts';
import { type Body, BodyCompiler, type Conclusion, type TableSpace } from '../join/body-compiler.ts';
import { added, type AdornedRule, compileRule, MaintainedRule } from '../join/compile-rule.ts';
import type { BodyAtom, Argument, BuiltBody, Relation, Table, Observer } from '../model/table.ts';
import { Constants } from '../model/constants.ts';
import {
  clear,
  type Derived,
  newDerived,
  phases,
  type StoredDelta,
  type Watcher,
  WorkList,
} from '../model/derived.ts';
import { boundArguments, filtersOf, Selectivity } from '../plan/join-order.ts';
import { type FactoredPart, factorLinearRecursion } from '../plan/linear-recursion.ts';
import type { MemoryHolder } from '../model/memory-budget.ts';
import { ColumnValues, coversMost, minKeys, positionsToBind } from '../plan/generalized-demand.ts';
import { listOf, type Program, type ViewRule, type Tallies, type Tally } from '../model/program.ts';
import { type Overlay, viewKey } from '../model/reader.ts';
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
}

const minCountedRows = 1000;
// Estimates for derived atoms.
const likelyRowsOfBoundAtom = 100;
const likelyRowsOfFreeAtom = 1_000_000;
/**
 * Asking a derived relation for one key costs about as much as matching this many stored facts, and more if
 * it is recursive.
 */
const costOfKey = 2;
const costOfFixpoint = 4;

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
  readonly justifications = new Justifications(this.memory);
  readonly batch = new TupleBatch();
  readonly work = new WorkList();
  /** Runs of stored facts that joins have used since the last fixpoint. */
  readonly usedRuns = new Set<SortedRuns>();
  readonly #storedDeltas = new Map<string, StoredDelta[]>();
  readonly #storedWatchers = new Map<string, Watcher[]>();
  readonly tables = new Map<string, Table>();
  /** Temporary relations of questions and proofs, counted like tables while they exist. */
  readonly passing = new Set<Derived>();
  readonly #byRelation = new Map<string, Table[]>();
  #keyCosts = new WeakMap<AtomLiteral, { readonly view: ScopeChoice; readonly cost: number }>();
  /** The cache entry that holds the set beyond one question. */
  holder: MemoryHolder | null = null;
  /** The evaluation that is currently filling the set, if any. */
  owner: object | null = null;
  /** Called for every row of a table that a change of facts deleted. */
  lost: ((table: Table, row: number) => void) | null = null;

  readonly #tallies: Tallies;
  readonly observer: Observer | null;
  readonly #overlay: Overlay | null;
  readonly #values = new ColumnValues();
  readonly #selectivity = new Selectivity();

  constructor(facts: FactStore, program: Program, kind: TableSetKind, tallies: Tallies) {
    const { withHeights, isMaintained } = kind;
    this.observer = kind.observer ?? null;
    this.#overlay = kind.overlay ?? null;
    this.#tallies = tallies;
    this.isMaintained = isMaintained;
    this.facts = facts;
    this.program = program;
    this.withHeights = withHeights;
    this.constants = this.#overlay?.constants ?? new Constants(facts.dictionary, this.memory);
  }

  /** From now on this question pays for what the set grows by; null: nobody. */
  charge(payer: QuestionMemory | null): void {
    this.memory.payer = payer;
    this.constants.memory.payer = payer;
  }

  get bytes(): number {
    let bytes = this.constants.bytes + this.justifications.bytes + (this.observer?.bytes ?? 0);
    for (const table of this.tables.values()) bytes += tableBytes(table);
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
    return this.program.rulesFor(view, relation).length > 0;
  }

  /** The table of the relation for these bound positions (ascending); makes it if there is none. */
  table(relation: Relation, boundPositions: readonly number[]): Table {
    const name = relationKey(relation.predicate, relation.arity, relation.negated);
    const key = `${viewKey(relation.view)}\n${name}\n${boundPositions.join(',')}`;
    const known = this.tables.get(key);
    if (known !== undefined) return known;
    const bound = new Set(boundPositions);
    const level = this.program.level(relation.view, name);
    const table: Table = {
      ...relation,
      key,
      relation: name,
      boundPositions,
      freePositions: Array.from({ length: relation.arity }, (_, position) => position).filter(
        (p) => !bound.has(p),
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
        arity: relation.arity,
        level,
        withHeights: this.withHeights,
        memory: this.memory,
      }),
      rules: [],
      extra: [],
      bits: null,
      isKnown: true,
      way: 'none',
      nextLook: minKeys,
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
        this.tables.delete(table.key);
      }
      this.#byRelation.delete(relation);
    }
    this.program = program;
    this.#keyCosts = new WeakMap();
    for (const table of this.tables.values()) {
      table.isKnown = false;
      const change = program.level(table.view, table.relation) - table.rows.level;
      for (const derived of [table.demand, table.rows, ...table.extra]) derived.level += change;
    }
  }

  /** The deltas to fill when stored facts of the relation are added. */
  deltasOf(relation: string): readonly StoredDelta[] {
    return this.#storedDeltas.get(relation) ?? [];
  }

  /** The watchers to notify when stored facts of the relation are added or removed. */
  watchersOf(relation: string): readonly Watcher[] {
    return this.#storedWatchers.get(relation) ?? [];
  }

  /** Discards the pending deltas of stored facts. */
  clearDeltas(): void {
    for (const list of this.#storedDeltas.values()) for (const news of list) news.rows = [];
  }

  /** True if a compiled rule reads stored facts of the relation. */
  reads(relation: string): boolean {
    return this.#storedDeltas.has(relation) || this.#storedWatchers.has(relation);
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
    table.extra.length = 0;
    table.way = 'none';
    table.nextLook = minKeys;
  }

  #takeRules(table: Table): void {
    for (const stop of table.stops.splice(0)) stop();
    for (const remove of table.removals.splice(0)) remove();
  }

  /**
   * The cost of asking for one key of the atom: 0 if it is stored. A long body asks for it many times over.
   */
  #costOfKey(view: ScopeChoice, literal: AtomLiteral): number {
    let known = this.#keyCosts.get(literal);
    if (known?.view !== view) {
      const relation = relationOf(literal);
      const ofDerived = (): number => (this.program.isRecursive(view, relation) ? costOfFixpoint : costOfKey);
      known = { view, cost: this.isDerived(view, relation) ? ofDerived() : 0 };
      this.#keyCosts.set(literal, known);
    }
    return known.cost;
  }

  /**
   * The number of rows that an atom is expected to match for one binding of the bound variables, plus the
   * cost of asking for a key of a derived relation. If variables are bound but the atom contains none of
   * them, it is a cross product: all its rows match for every binding.
   */
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number {
    const arity = literal.args.length;
    const count = boundArguments(literal, bound);
    const keyCost = this.#costOfKey(view, literal);
    if (count === arity) return keyCost;
    const isJoined = literal.args.some((term) => bound.has(term));
    if (keyCost > 0) {
      const isNarrow = isJoined || (count > 0 && bound.size === 0);
      return isNarrow ? likelyRowsOfBoundAtom : likelyRowsOfFreeAtom ** (1 - count / arity);
    }
    const rows = this.#rowsOf(literal, bound);
    return isJoined ? Math.min(rows, likelyRowsOfBoundAtom / 2) : rows;
  }

  /**
   * Stored facts with the bound values: the most selective argument counts in full, each further one for
   * less.
   */
  #rowsOf({ predicate, args, negated }: AtomLiteral, bound: ReadonlySet<string>): number {
    const size = this.#sizeOf(predicate, args.length, negated);
    const stored = this.facts.relation(predicate, args.length, negated);
    if (stored === null || stored.live === 0) return size;
    const shares: number[] = [];
    for (const [position, term] of args.entries())
      if (!isVariable(term) || bound.has(term))
        shares.push(this.#selectivity.of(stored, position) / stored.live);
    shares.sort((left, right) => left - right);
    return shares.reduce((rows, share, at) => rows * Math.min(1, share) ** (1 / 2 ** at), size);
  }

  /** The approximate number of stored facts, including those of the overlay. */
  #sizeOf(predicate: string, arity: number, negated: boolean): number {
    const stored = this.facts.relation(predicate, arity, negated)?.live ?? 0;
    return stored + (this.#overlay?.added.facts.relation(predicate, arity, negated)?.live ?? 0);
  }

  /** The factored program of a table with linear recursion; null if factoring does not apply. */
  factored(table: Table): FactoredPart[] | null {
    return factorLinearRecursion(table, this.program.rulesFor(table.view, table.relation), this.program);
  }

  coversMost(from: Argument, asked: Argument): boolean {
    return this.mayRewrite && coversMost(from, asked, this.#known);
  }

  get #known(): Parameters<typeof coversMost>[2] {
    return { facts: this.facts, program: this.program, overlay: this.#overlay, values: this.#values };
  }

  get mayRewrite(): boolean {
    return !this.withHeights && this.observer === null;
  }

  /**
   * Called before new demand is joined: compiles the rules, and generalizes the demand if there are too many
   * keys.
   */
  #prepare(table: Table): void {
    if (table.way === 'generalized') return;
    const positions = this.#positionsToBind(table);
    if (positions.length < table.boundPositions.length) this.#generalize(table, positions);
    else if (table.way === 'none') {
      table.way = 'keyed';
      this.#build(table);
    }
  }

  /**
   * The positions to bind of a recursive relation, whose keys cost a fixpoint each; reconsidered whenever the
   * number of keys has doubled.
   */
  #positionsToBind(table: Table): readonly number[] {
    const { boundPositions, view, relation, demand } = table;
    const { count } = demand.rows;
    const isToLook = this.mayRewrite && boundPositions.length > 0 && count >= table.nextLook;
    if (!isToLook || !this.program.isRecursive(view, relation)) return boundPositions;
    table.nextLook = 2 * count;
    return positionsToBind(table, this.#known);
  }

  /**
   * Generalizes the demand: from now on the rows come from the table that binds only these positions.
   * Existing rows stay, with their justifications; running joins end, since the other table will provide
   * everything that they would find.
   */
  #generalize(table: Table, positions: readonly number[]): void {
    table.way = 'generalized';
    for (const stop of table.stops.splice(0)) stop();
    const { predicate, negated } = table;
    const wide = this.table(table, positions);
    const conclusion = this.#ownConclusion(table, table.rows);
    const literal = { predicate, args: [...conclusion.headTerms], negated, naf: false };
    const source = {
      kind: 'derived' as const,
      rows: wide.rows,
      demand: wide.demand,
      boundPositions: positions,
    };
    this.#addPlain(table, conclusion, { literal, source });
    for (let row = 0; row < table.demand.done; row++) table.demand.again.push(row);
  }

  #build(table: Table): void {
    const isRewritten = this.mayRewrite;
    const factored = isRewritten ? this.factored(table) : null;
    if (factored !== null) {
      const reach = this.#extra(table, 'reach', table.boundPositions.length * 2, table.rows.level);
      for (const part of factored) this.#add(table, reach, part);
      return;
    }
    const isFree = isRewritten && table.boundPositions.length === 0;
    const shape = isFree ? closureShape(table, this.program, this.facts) : null;
    if (shape === null) this.#buildRules(table);
    else this.#buildBits(table, shape);
  }

  #buildRules(table: Table): void {
    this.#addStored(table, this.#ownConclusion(table, table.rows));
    for (const rule of this.program.rulesFor(table.view, table.relation)) {
      this.observer?.compiling(rule);
      const built = this.#addRule(table, rule, table.rows);
      if (this.withHeights) table.rules.push({ ...rule, body: built });
    }
    this.observer?.compiling(null);
  }

  /** Builds the base and the steps of a closure as relations below it, and the bitset table over them. */
  #buildBits(table: Table, shape: ClosureShape): void {
    const { level } = table.rows;
    const { recursive } = shape;
    const base = this.#extra(table, 'base', 2, level - 0.5);
    this.#addStored(table, this.#ownConclusion(table, base));
    for (const rule of shape.base) this.#addRule(table, rule, base);
    const demanded = { demand: table.demand, demandTerms: [] };
    const step = (of: StepShape | null): Derived | null => {
      if (of === null) return null;
      const target = this.#extra(table, 'step', 2, level - 0.5);
      const filters = stepFilters(recursive, of.literals);
      const body = { view: recursive.bodyView, literals: of.literals, filters };
      this.#compile(table, body, { ...demanded, target, headTerms: of.terms });
      return target;
    };
    const [before, behind] = [step(shape.before), step(shape.behind)];
    const turn = this.#extra(table, 'turn', 0, level);
    const nothing = { view: table.view, literals: [], filters: [] };
    this.#compile(table, nothing, { ...demanded, target: turn, headTerms: [] });
    const watcher = { waits: turn, constants: [], equal: [], from: [], to: [] };
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
    turn.consumers.push(table.bits);
  }

  /** Falls back to the rules for a closure that proved sparse. */
  #buildInstead(table: Table): void {
    this.#takeRules(table);
    for (const extra of table.extra.splice(0)) {
      this.justifications.garbage += extra.support?.edges ?? 0;
      clear(extra);
    }
    table.bits = null;
    this.#buildRules(table);
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

  /** A conclusion of the table's own relation from its stored facts. */
  #ownConclusion(table: Table, target: Derived): Conclusion {
    const all = Array.from({ length: table.arity }, (_, position) => `?${position}`);
    const demandTerms = table.boundPositions.map((position) => all[position] as string);
    return { target, headTerms: all, demand: table.demand, demandTerms };
  }

  #addRule(table: Table, rule: ViewRule, target: Derived): BuiltBody {
    const { head, body } = rule.record.rule;
    const filters = filtersOf(body, planRule(rule.record.rule));
    return this.#compile(
      table,
      { view: rule.bodyView, literals: body, filters },
      {
        target,
        headTerms: head.args,
        heightIncrement: 1,
        tally: this.#tally(rule.record.id),
        demand: table.demand,
        demandTerms: table.boundPositions.map((position) => head.args[position] as string),
      },
    );
  }

  #compile(table: Table, body: Body, conclusion: Conclusion): BuiltBody {
    const compiler = new BodyCompiler(this, table, table.extra, false);
    table.stops.push(() => compiler.stop());
    table.removals.push(() => compiler.remove());
    return compiler.compile(body, conclusion);
  }

  /** Adds one part of a factored linear recursion; see `linear-recursion.ts`. */
  #add(table: Table, reach: Derived, part: FactoredPart): void {
    const { rule, body, headTerms, demandTerms } = part;
    const relations = { demand: table.demand, reach, rows: table.rows };
    const conclusion = {
      target: relations[part.target],
      headTerms,
      heightIncrement: 1,
      tally: rule === null ? null : this.#tally(rule.record.id),
      demand: relations[part.demand],
      demandTerms,
    };
    if (body === null) return this.#addStored(table, conclusion);
    const filters = rule === null ? [] : filtersOf(rule.record.rule.body, planRule(rule.record.rule));
    this.#compile(table, { view: rule?.bodyView ?? table.view, literals: body, filters }, conclusion);
  }

  /** Adds the stored facts of the table's relation, as if by a rule. */
  #addStored(table: Table, conclusion: Conclusion): void {
    const { predicate, arity, negated } = table;
    const args = Array.from({ length: arity }, (_, position) => `?${position}`);
    const literal = { predicate, args, negated, naf: false };
    this.#addPlain(table, conclusion, { literal, source: { kind: 'stored' } });
  }

  /** Adds a rule of a single atom. */
  #addPlain(table: Table, conclusion: Conclusion, atom: BodyAtom): void {
    const rule = { ...conclusion, view: table.view, atoms: [atom], filters: [], barriers: new Map() };
    this.addRule(rule, table.stops, table.removals);
  }

  /** Proofs derive again what answers have derived, so only answers count. */
  #tally(ruleId: string): Tally | null {
    if (this.withHeights) return null;
    let tally = this.#tallies.get(ruleId);
    if (tally === undefined) this.#tallies.set(ruleId, (tally = { fired: 0 }));
    return tally;
  }
}

/** Bytes of the table's rows, demand, auxiliary relations and bits. */
export function tableBytes(table: Table): number {
  let bytes = table.demand.rows.bytes + table.rows.rows.bytes;
  for (const extra of table.extra) bytes += extra.rows.bytes;
  return bytes + (table.bits?.bytes ?? 0);
}
