import type { Proof } from '../../contract/inference.ts';
import type { FactRow, FactStore, ScopeChoice } from '../../store/fact-store.ts';
import type { DeclarationStore } from '../../store/declaration-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { tupleAt, Tuples } from '../../store/tuples.ts';
import { compareText } from '../../base/text-order.ts';
import { ArgumentNames } from '../../language/argument-names.ts';
import { relationKey, relationOf } from '../../language/terms.ts';
import { type Pause, sliceMs } from '../../base/slices.ts';
import { type EvaluationLimits, Pacer } from '../tables/evaluation.ts';
import { type ConclusionCount, CountCache, countByRelation, provedBy } from './derived-counts.ts';
import { type Candidates, KnownConclusions, plainRows } from '../model/known-conclusions.ts';
import type { MemoryBudget } from '../model/memory-budget.ts';
import { type Program, type RelationShape, relationsRead, type Tallies } from '../model/program.ts';
import { ProofBuilder } from '../explain/proof.ts';
import {
  answersOf,
  type Matches,
  matchesOf,
  derivedAtomOf,
  type Question,
  settledTableFor,
} from '../tables/question.ts';
import {
  type CachedTable,
  type TableCacheHost,
  type PinnedReader,
  TableCache,
  type MaintenanceRun,
} from './table-cache.ts';
import { type Overlay, viewKey } from '../model/reader.ts';
import { rowsByText } from '../tables/sorted.ts';
import { TableSet, type TableSetKind } from '../tables/table-set.ts';
import type { Profile } from '../plan/profile.ts';
import type { Relation } from '../model/table.ts';
import { Withdrawals, Losses } from './withdrawals.ts';

export { waitFor } from '../tables/evaluation.ts';
export type { PinnedReader } from './table-cache.ts';

/** A page of the answers to a question, in order, with its proof if asked for. */
export interface AnswerPage {
  /** With the page's rows, and maybe others. */
  readonly matches: Matches;
  /** Numbers of the rows on the page, in order. */
  readonly page: readonly number[];
  readonly isTruncated: boolean;
  /** How many answers there are on all pages. */
  readonly total: number;
  readonly proof: { readonly proof: Proof; readonly facts: readonly FactRow[] } | null;
}

/** Which part of the answers to return, and how. */
export interface Page {
  readonly offset: number;
  readonly limit: number | null;
  readonly withProof: boolean;
  /** With the proof: all other derivations of every conclusion in it. */
  readonly withAlternatives: boolean;
  /** If given, the question is evaluated afresh, and this counts what its steps do. */
  readonly profile?: Profile | null;
}

/** The number of conclusions of a relation in a view that are not stored; a lower bound if not complete. */
export interface RelationCount extends ConclusionCount {
  readonly of: RelationShape;
  readonly isComplete: boolean;
}

/**
 * Reasoning over one tenant's facts: the table sets that questions share, and their maintenance when facts
 * change.
 *
 * A change is only recorded. Maintenance brings the shared tables up to date (`TableCache`), or drops the
 * affected ones if that is less work; whoever needs it first starts it, a question or the background run, and
 * it continues even if that one leaves. A question is pinned to the state in which it was asked. It waits for
 * maintenance that it needs, and uses the shared tables if they are valid for its state and free, else
 * private tables: so no question waits for another, and no write for a question. Unfinished work of an ended
 * question is dropped.
 */
export class Reasoner implements TableCacheHost {
  readonly facts: FactStore;
  readonly tallies: Tallies;
  readonly memory: MemoryBudget;
  readonly known = new KnownConclusions();
  readonly withdrawals = new Withdrawals();
  /** Counts over the view of everything, made in tables that no longer exist. */
  readonly counts = new CountCache();
  /** Incremented by every change that can affect an answer. */
  version = 0;
  /** Number of running reads that still need deleted rows: `FactStore.compact` waits for them. */
  readers = 0;
  /** The tenant has been deleted: nothing changes any more, and nothing is cached. */
  isRetired = false;
  /** Called when there is work for the background run. */
  onLeft: () => void = () => {};
  /** Called with an error that reaches no caller: a bug. */
  onBug: (error: unknown) => void = (error) => {
    throw error;
  };
  /** What declares the names of arguments, which the steps of proofs have. */
  declared: Pick<DeclarationStore, 'names'> = { names: new ArgumentNames([]) };
  /** Called with rows that a question of this reader derived in tables of its own, as `addKnown` records them. */
  onKept:
    | ((of: Relation & { readonly relation: string }, rows: Tuples, reader: PinnedReader) => void)
    | null = null;
  /** Called with the relations of each question of this reader, as `noteAsked` gets them. */
  onAsked: ((relations: readonly string[], reader: PinnedReader) => void) | null = null;
  /** True if some table may not be known; see `Table.isKnown`. */
  #hasUnknown = false;
  readonly #losses = new Set<Losses>();
  readonly #lastChange = { generation: 0, time: Number.NEGATIVE_INFINITY };
  #program: Program;
  readonly #answers: TableCache;
  readonly #proofs: TableCache;
  readonly #both: readonly TableCache[];
  readonly #pause: Pause;

  constructor(facts: FactStore, program: Program, tallies: Tallies, pause: Pause, memory: MemoryBudget) {
    this.facts = facts;
    this.tallies = tallies;
    this.memory = memory;
    this.#program = program;
    this.#pause = pause;
    this.#answers = new TableCache(this, false);
    this.#proofs = new TableCache(this, true);
    this.#both = [this.#answers, this.#proofs];
    this.#internConstants(program.constants);
  }

  get program(): Program {
    return this.#program;
  }

  get bytes(): number {
    return this.#answers.bytes + this.#proofs.bytes + this.known.bytes;
  }

  /** Number of conclusions in the shared answer tables. */
  get conclusions(): number {
    let count = 0;
    for (const { rows } of this.#answers.set.tables.values()) count += rows.rows.live;
    return count;
  }

  get watching(): ReadonlySet<Losses> {
    return this.#losses;
  }

  /**
   * Switches to new rules, and drops everything that depends on rules that were added, changed or removed.
   */
  use(program: Program): void {
    const changed = program.changedFrom(this.#program);
    const affected = this.#program.reachedFrom(changed);
    for (const relation of program.reachedFrom(changed)) affected.add(relation);
    this.#internConstants(program.newConstants(this.#program));
    this.#program = program;
    this.counts.forget(affected);
    this.version++;
    this.endMaintenance();
    this.known.clear();
    this.#hasUnknown = true;
    for (const shared of this.#both) shared.takeRules(affected);
  }

  /** Called when the tenant is deleted. Running reads may finish. */
  retire(): void {
    this.isRetired = true;
    this.endMaintenance();
    for (const shared of this.#both) {
      shared.evict();
      this.memory.forget(shared);
    }
  }

  /** A reader like this one, of the last state. */
  lastReader(earlier: PinnedReader): PinnedReader {
    const { generation, time } = this.#lastChange;
    return this.reader(Math.max(generation, earlier.generation), Math.max(time, earlier.time));
  }

  /** Aborts the running maintenance. Its tables are dropped. */
  endMaintenance(): void {
    for (const { maintenance } of this.#both) maintenance?.ending.abort();
  }

  /**
   * A reader of this generation and time, with the current rules unless others are given; a reader of a state
   * before the last change cannot use shared tables.
   */
  reader(generation: number, time: number, program: Program = this.#program): PinnedReader {
    const { generation: changedIn, time: changedAt } = this.#lastChange;
    const isInTime = time >= changedAt && time < this.facts.boundaries.next;
    const isCurrent = generation >= changedIn && isInTime && program === this.#program;
    const version = isCurrent ? this.version : -1;
    const { names } = this.declared;
    return { facts: this.facts, generation, time, overlay: null, program, names, version };
  }

  /** `before`: what comes before each of its pauses. */
  pacer(limits: Omit<EvaluationLimits, 'memory'>, before?: Pause): Pacer {
    const pause = this.#pause;
    const whole = { ...limits, memory: this.memory };
    if (before === undefined) return new Pacer(whole, pause);
    return new Pacer(whole, async (wake) => {
      await before(wake);
      await pause(wake);
    });
  }

  /** Records that these stored facts changed in this generation. */
  touched(facts: readonly number[], generation: number): void {
    this.#lastChange.generation = generation;
    this.#changed(facts);
  }

  /** Records that the validity of these stored facts began or ended, up to this time. */
  passed(facts: readonly number[], time: number): void {
    this.#lastChange.time = Math.max(this.#lastChange.time, time);
    this.#changed(facts);
  }

  /** Records that the time was set back to this one, before bounds of the validity of these stored facts. */
  turnedBack(facts: readonly number[], time: number): void {
    this.#lastChange.time = time;
    this.#changed(facts);
  }

  #changed(numbers: readonly number[]): void {
    this.version++;
    if (!this.counts.isEmpty) this.counts.forget(this.reachedBy(numbers));
    if (this.withdrawals.hasUnwatched) this.withdrawals.doubt(this.reachedBy(numbers));
    if (this.#both.some(({ set }) => set.tables.size > 0) || this.withdrawals.hasUnwatched)
      this.withdrawals.note(this.version, numbers);
    for (const shared of this.#both) shared.note(numbers);
    if (this.known.bytes > this.memory.limit / 4) this.known.clear();
    if (this.withdrawals.bytes > this.memory.limit / 4) this.withdrawals.evict();
  }

  /** True while recorded changes refer to stored facts: their versions must not be compacted away. */
  get holdsFacts(): boolean {
    return this.withdrawals.isPending || this.#both.some(({ hasChanges }) => hasChanges);
  }

  /** The version through which all shared tables are valid. */
  get validThrough(): number {
    return Math.min(this.#answers.validThrough, this.#proofs.validThrough);
  }

  /** True while changes are waiting or being processed. */
  get isBehind(): boolean {
    return this.#both.some(({ isUpToDate }) => !isUpToDate);
  }

  /** True while changes wait for a question that is using a shared set. */
  get isInUse(): boolean {
    return this.#both.some(
      ({ set, hasChanges, maintenance }) => hasChanges && maintenance === null && set.owner !== null,
    );
  }

  /**
   * Runs maintenance until the shared tables are valid for the reader. False if a question uses one of the
   * sets, or if something changed since the reader was pinned.
   */
  async catchUp(reader: PinnedReader, pacer: Pacer): Promise<boolean> {
    for (const shared of this.#both) shared.begin(reader);
    for (const shared of this.#both) await shared.caughtUp(reader, pacer, null);
    return this.validThrough >= reader.version;
  }

  /** The running maintenance for which a question about these relations must wait; null: about any. */
  maintenanceFor(relations: readonly string[] | null): MaintenanceRun | null {
    const all = relations === null ? this.#both : [this.#answers];
    for (const { maintenance } of all)
      if (
        maintenance !== null &&
        (relations === null || relations.some((each) => maintenance.reached.has(each)))
      )
        return maintenance;
    return null;
  }

  /** The relations and all that depend on them. */
  reached(relations: Iterable<string>): Set<string> {
    return this.#program.reachedFrom(relations);
  }

  /** The relations of these stored facts, and all that depend on them. */
  reachedBy(facts: readonly number[]): Set<string> {
    const relations = new Set<string>();
    let last: StoredRelation | null = null;
    for (const number of facts) {
      const { relation } = this.facts.versionOf(number);
      if (relation !== last) relations.add(relationKey(relation.predicate, relation.arity, relation.negated));
      last = relation;
    }
    return this.reached(relations);
  }

  /**
   * The derived rows of these relations, to compare with what will be derived after a change. Call it in the
   * turn of the change, before it. Known conclusions of dropped tables are removed, unless `keepKnown`.
   */
  candidates(relations: ReadonlySet<string>, keepKnown = false): Candidates[] {
    const found = this.#both.flatMap((shared) => shared.candidates(relations));
    const known = keepKnown ? this.known.of(relations) : this.known.take(relations);
    return [...found, ...known];
  }

  /**
   * The shared tables of these relations whose rows the reader sees, with those rows. `isWhole`: it sees those of all of
   * them.
   */
  heldBy(
    reader: PinnedReader,
    relations: ReadonlySet<string>,
  ): { readonly tables: CachedTable[]; readonly isWhole: boolean } {
    const tables = this.#both
      .flatMap((shared) => shared.held(reader))
      .filter(({ table }) => relations.has(table.relation));
    return { tables, isWhole: this.#both.every((shared) => [...relations].every(shared.holdsFor(reader))) };
  }

  /** Records what changes of facts delete from the shared tables, until its `end`. */
  watchLosses(): Losses {
    const losses: Losses = new Losses(!this.isBehind, () => this.#losses.delete(losses));
    this.#losses.add(losses);
    return losses;
  }

  /**
   * Runs `work` on tables for the reader: the shared ones if possible, else private ones. It is run again
   * from the start if tables of earlier questions left too little memory. With an overlay the tables are
   * always private and leave nothing behind. `about`: the relations that the work reads first, null if not
   * known.
   */
  async evaluate<Result>(
    reader: PinnedReader,
    withHeights: boolean,
    pacer: Pacer,
    work: (set: TableSet) => Promise<Result>,
    about: readonly string[] | null = null,
  ): Promise<Result> {
    const shared = withHeights ? this.#proofs : this.#answers;
    const { overlay } = reader;
    if (overlay !== null) {
      const set = this.tablesOver({ ...reader, overlay }, withHeights);
      set.charge(pacer.memory);
      return work(set);
    }
    await shared.caughtUp(reader, pacer, about);
    if (!shared.isFor(reader))
      return this.#evaluateApart(reader, { withHeights, isMaintained: false }, pacer, work);
    const filled = await shared.fill(reader, pacer, work);
    if (filled !== null) return filled.result;
    // The tables of earlier questions were evicted with it: now all the memory is available.
    pacer.memory.free(pacer.memory.used);
    return this.evaluate(reader, withHeights, pacer, work, about);
  }

  /** Tables for readers with this overlay and these rules only, owned by the caller. */
  tablesOver(
    { program, overlay }: PinnedReader & { readonly overlay: Overlay },
    withHeights = false,
  ): TableSet {
    return new TableSet(this.facts, program, { withHeights, isMaintained: false, overlay }, new Map());
  }

  /** Evaluates in empty tables as the shared ones would, and counts what the steps do. */
  async #profiled(
    reader: PinnedReader,
    pacer: Pacer,
    profile: Profile,
    work: (set: TableSet) => Promise<Matches>,
  ): Promise<Matches> {
    const counted = async (set: TableSet): Promise<Matches> => {
      const start = performance.now();
      profile.planner = set.planner;
      const matches = await work(set);
      profile.elapsedMs = performance.now() - start;
      profile.answers = matches.count;
      return matches;
    };
    const { overlay } = reader;
    if (overlay === null)
      return this.#evaluateApart(reader, { withHeights: false, isMaintained: true, profile }, pacer, counted);
    const kind = { withHeights: false, isMaintained: false, overlay, profile };
    const set = new TableSet(this.facts, reader.program, kind, new Map());
    set.charge(pacer.memory);
    return counted(set);
  }

  /** Runs in private tables, for a reader that cannot use the shared ones. */
  async #evaluateApart<Result>(
    reader: PinnedReader,
    kind: TableSetKind,
    pacer: Pacer,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<Result> {
    const own = new TableSet(this.facts, reader.program, kind, this.tallies);
    own.charge(pacer.memory);
    own.holder = own;
    this.memory.use(own);
    try {
      const result = await work(own);
      if (this.#program === reader.program) await this.#keepOwn(own, reader);
      return result;
    } finally {
      this.memory.forget(own);
    }
  }

  /**
   * Records the rows of a question's private tables that no shared table has: they were answers, and later
   * changes check them.
   */
  async #keepOwn(own: TableSet, reader: PinnedReader): Promise<void> {
    let sliceStartedAt = performance.now();
    for (const table of own.tables.values()) {
      const { rows, count } = plainRows(table.rows.rows, own.constants);
      const kept = new Tuples(table.arity);
      const tuple = new Int32Array(table.arity);
      for (let row = 0; row < count; row++) {
        if (!this.#both.some((shared) => shared.hasRow(table, tupleAt(rows, row, tuple)))) kept.insert(tuple);
        if ((row & 0x1ff) !== 0x1ff || performance.now() - sliceStartedAt < sliceMs) continue;
        await this.#pause();
        sliceStartedAt = performance.now();
      }
      if (this.#program !== reader.program) return;
      this.addKnown(table, kept, reader);
      this.onKept?.(table, kept, reader);
    }
    if (this.withdrawals.isPending) this.onLeft();
  }

  /**
   * Records rows that were derived elsewhere for a reader of this state, by dictionary ids; null: too many to list. They
   * must not change any more.
   */
  addKnown(of: Relation & { readonly relation: string }, rows: Tuples | null, reader: PinnedReader): void {
    if (rows !== null) this.known.add(of, rows);
    // Only for the current state, or the one before the last change, can what a change deleted be told.
    if (reader.version < 0) return;
    if (rows === null) this.withdrawals.unwatchUnlisted(of.relation);
    else this.withdrawals.unwatch(of, rows);
    if (reader.version !== this.version) this.withdrawals.doubt(new Set([of.relation]));
  }

  /** True if a shared table has the row, up to date or not. */
  hasDerived(of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    return this.#both.some((shared) => shared.hasRow(of, tuple));
  }

  /** True if `evaluate` would use the shared answer tables if called in this turn. */
  isShared(reader: PinnedReader): boolean {
    return this.#answers.maintenance === null && this.#answers.isFor(reader);
  }

  /** One page of the answers to a question, ordered by the texts of their arguments. */
  async answer(asked: Question, reader: PinnedReader, pacer: Pacer, page: Page): Promise<AnswerPage> {
    const matches = await this.answers(asked, reader, pacer, page.withProof, page.profile ?? null);
    const { columns, count, constants } = matches;
    const end = page.limit === null ? count : Math.min(count, page.offset + page.limit);
    const places = { from: Math.min(page.offset, end), to: end };
    const rows = await listOf(await rowsByText(columns, count, constants, pacer, places), pacer);
    const ordered = { matches, page: rows, isTruncated: end < count, total: count };
    if (!page.withProof) return { ...ordered, proof: null };
    return { ...ordered, proof: await this.prove(matches, rows, reader, pacer, page.withAlternatives) };
  }

  /** The proofs of these rows of the matches, with the roots in the same order, and the stored facts in them. */
  prove(
    matches: Matches,
    rows: readonly number[],
    reader: PinnedReader,
    pacer: Pacer,
    withAlternatives = false,
  ): Promise<NonNullable<AnswerPage['proof']>> {
    return this.evaluate(reader, true, pacer, async (set) => {
      const builder = new ProofBuilder(set, reader, pacer);
      const proof = await builder.prove(matches, rows, withAlternatives);
      return { proof, facts: builder.facts };
    });
  }

  /** All answers to a question, unordered; with `withProof`, proofs are to follow. */
  async answers(
    asked: Question,
    reader: PinnedReader,
    pacer: Pacer,
    withProof = false,
    profile: Profile | null = null,
  ): Promise<Matches> {
    pacer.look();
    if (reader.overlay === null) {
      const relations = relationsRead(asked.body);
      this.noteAsked(relations);
      this.onAsked?.(relations, reader);
    }
    // Started together, both sets become valid for the same state.
    if (withProof) for (const shared of this.#both) shared.begin(reader);
    const work = (set: TableSet): Promise<Matches> => matchesOf(asked, set, reader, pacer);
    if (profile !== null) return this.#profiled(reader, pacer, profile, work);
    return (
      this.settledMatches(asked, reader) ??
      this.evaluate(reader, false, pacer, work, relationsRead(asked.body))
    );
  }

  /** Makes the tables that a question about these relations needs known, wherever it is answered. */
  noteAsked(relations: readonly string[]): void {
    if (!this.#hasUnknown) return;
    const below = this.#program.below(relations);
    this.#hasUnknown = false;
    for (const { set } of this.#both)
      for (const table of set.tables.values())
        if (below.has(table.relation)) table.isKnown = true;
        else if (!table.isKnown) this.#hasUnknown = true;
  }

  /** The answers if a shared table has them all already, and few enough for one turn; else null. */
  settledMatches(asked: Question, reader: PinnedReader): Matches | null {
    const { set } = this.#answers;
    if (reader.overlay !== null) return null;
    const atom = derivedAtomOf(asked, set);
    if (atom === null || !this.#answers.holdsFor(reader)(relationOf(atom))) return null;
    const tableKey = settledTableFor(atom, asked.view, set);
    return tableKey === null ? null : answersOf(asked, atom, tableKey, set);
  }

  /**
   * The number of conclusions in the view that are not stored, for each relation that rules conclude there.
   * For relations not fully derived, counts those already derived.
   */
  async conclusionCounts(
    reader: PinnedReader,
    pacer: Pacer,
    view: ScopeChoice = { kind: 'all' },
  ): Promise<RelationCount[]> {
    await this.catchUp(reader, pacer);
    const whole = new Map<string, CachedTable>();
    for (const shared of this.#both)
      for (const each of shared.whole(reader, view)) whole.set(each.table.relation, each);
    const partly = this.#heldIn(view, reader).filter(({ table }) => !whole.has(table.relation));
    const isNow = reader.version === this.version && view.kind === 'all';
    const worked = isNow ? new Map(this.counts) : new Map<string, ConclusionCount>();
    const known = await countByRelation([...whole.values(), ...partly], reader, pacer);
    const found: RelationCount[] = [];
    for (const of of reader.program.conclusions()) {
      const relation = relationKey(of.predicate, of.arity, of.negated);
      if (reader.program.rulesFor(view, relation).length === 0) continue;
      const { count, example } = (whole.has(relation) ? null : worked.get(relation)) ??
        known.get(relation) ?? { count: 0, example: null };
      found.push({ of, count, example, isComplete: whole.has(relation) || worked.has(relation) });
    }
    return found;
  }

  /** The tables with the conclusions of the view that were derived so far; a conclusion may be in several. */
  async knownConclusions(view: ScopeChoice, reader: PinnedReader, pacer: Pacer): Promise<CachedTable[]> {
    await this.catchUp(reader, pacer);
    return this.#heldIn(view, reader);
  }

  #heldIn(view: ScopeChoice, reader: PinnedReader): CachedTable[] {
    // A conclusion from the facts of one scope is one of all scopes too, unless it depends on negation or
    // aggregates.
    const isOfView = ({ table }: CachedTable): boolean =>
      viewKey(table.view) === viewKey(view) ||
      (view.kind === 'all' && reader.program.isMonotone(table.relation));
    return this.#both.flatMap((shared) => shared.held(reader)).filter(isOfView);
  }

  /**
   * Known conclusions, rendered and sorted, whose canonical proof uses the stored fact, as many as are found
   * within a second.
   */
  async provedWith(fact: FactRow, reader: PinnedReader, pacer: Pacer): Promise<string[]> {
    const { predicate, arity, negated } = fact.relation;
    const reached = this.reached([relationKey(predicate, arity, negated)]);
    await this.catchUp(reader, pacer);
    const held = this.#both
      .flatMap((shared) => shared.held(reader))
      .filter(({ table }) => reached.has(table.relation));
    const used = await provedBy(held, reader, pacer, (goals) =>
      this.evaluate(reader, true, pacer, (set) =>
        new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY).dependentsOf(fact, goals),
      ),
    );
    return [...used].sort(compareText);
  }

  /** True if an up-to-date shared table has the row. */
  holds(of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    return this.#both.some((shared) => shared.isUpToDate && shared.hasRow(of, tuple));
  }

  /**
   * Called in the turn in which rules for these relations change, before `use`: rows in the tables may become
   * false. Returns whether anything is to be reported.
   */
  doubtConcluded(heads: readonly string[]): boolean {
    for (const shared of this.#both) shared.doubtConcluded(heads);
    return this.withdrawals.isPending;
  }

  /** Interns the constants of rules before questions look theirs up, so that a question can name them. */
  #internConstants(constants: ReadonlySet<string>): void {
    for (const text of constants) this.facts.dictionary.intern(text);
  }
}

const elementsBetweenBreaths = 0x4_0000;

/** The numbers as a list, made in slices. */
async function listOf(numbers: Int32Array, pacer: Pacer): Promise<number[]> {
  pacer.memory.take(numbers.length * 8);
  const list: number[] = [];
  for (let from = 0; from < numbers.length; from += elementsBetweenBreaths) {
    if (from > 0) await pacer.breathe();
    for (const number of numbers.subarray(from, from + elementsBetweenBreaths)) list.push(number);
  }
  return list;
}
