import type { Proof } from '../../contract/inference.ts';
import type { FactRow, FactStore, ScopeChoice } from '../../store/fact-store.ts';
import { Tuples } from '../../store/tuples.ts';
import { compareText } from '../../base/text-order.ts';
import { relationKey, relationOf } from '../../language/terms.ts';
import { type EvaluationLimits, Pacer, type Pause, sliceMs } from '../tables/evaluation.ts';
import { type ConclusionCount, countByRelation, provedBy } from './derived-counts.ts';
import { type Candidates, KnownConclusions, plainRows, tupleAt } from '../model/known-conclusions.ts';
import { PageCache, type OrderedPage } from './page-cache.ts';
import { Losses } from '../model/delta.ts';
import type { MemoryBudget } from '../model/memory-budget.ts';
import { type Program, type RelationShape, relationsRead } from '../model/program.ts';
import { ProofBuilder } from '../explain/proof.ts';
import {
  answersOf,
  type Matches,
  matchesOf,
  onlyDerivedAtom,
  type Question,
  settledTableFor,
  storedMatches,
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
import { TableSet } from '../tables/table-set.ts';
import { type Tallies } from '../model/rule-tallies.ts';
import type { Relation } from '../model/table.ts';
import { Withdrawals } from './withdrawals.ts';

export { waitFor } from '../tables/evaluation.ts';
export type { PinnedReader } from './table-cache.ts';

/**
 * Reasoning over one tenant's facts: tables that questions share, and what becomes of them when facts change.
 *
 * A change is noted. Upkeep makes the shared tables true again (`SharedTables`), or drops those that the change reaches
 * where that is less work; it is begun by whoever needs them first, a question or the run in the background, and goes
 * on whether or not that one stays. A question is pinned to the state it was asked in. It waits for upkeep that it
 * needs and uses the shared tables where they hold its state and no other question is at them, else tables of its own:
 * so no question ever waits for another, nor a write for a question. What an ended question left unfinished is dropped.
 */
export interface AnswerPage extends OrderedPage {
  readonly proof: { readonly proof: Proof; readonly facts: readonly FactRow[] } | null;
}

export interface Page {
  readonly offset: number;
  readonly limit: number | null;
  readonly withProof: boolean;
  /** With the proof: the other ways to every conclusion in it. */
  readonly withAlternatives: boolean;
}

/** How many conclusions of a relation hold in a view that are not stored; at least so many where not complete. */
export interface RelationCount extends ConclusionCount {
  readonly of: RelationShape;
  readonly isComplete: boolean;
}

export class Reasoner implements TableCacheHost {
  readonly facts: FactStore;
  readonly tallies: Tallies;
  readonly memory: MemoryBudget;
  readonly known = new KnownConclusions();
  readonly withdrawals = new Withdrawals();
  /** Conclusions that were counted in the view of everything, in tables that are no more. */
  readonly counts = new CountCache();
  /** Moves with every change that an answer can notice. */
  version = 0;
  /** Who reads now and must not lose what died since: `FactStore.compact` waits for them. */
  readers = 0;
  /** The tenant has gone: nothing changes any more, and nothing is kept for those who come later. */
  isRetired = false;
  /** Called where something is left to do for the run in the background. */
  onLeft: () => void = () => {};
  /** Told of an error that no caller hears of: a bug. */
  onBug: (error: unknown) => void = (error) => {
    throw error;
  };
  /** True where a table may be no known one; see `Table.isKnown`. */
  #hasUnknown = false;
  readonly #losses = new Set<Losses>();
  readonly #pages = new PageCache();
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
    this.#internConstants();
  }

  get program(): Program {
    return this.#program;
  }

  get bytes(): number {
    return this.#answers.bytes + this.#proofs.bytes + this.known.bytes;
  }

  /** Conclusions in the tables that later questions share. */
  get conclusions(): number {
    let count = 0;
    for (const { rows } of this.#answers.set.tables.values()) count += rows.rows.live;
    return count;
  }

  get watching(): ReadonlySet<Losses> {
    return this.#losses;
  }

  /** Takes new rules, and forgets what was derived with those that are no more and without those that are new. */
  use(program: Program): void {
    const changed = program.changedFrom(this.#program);
    const affected = this.#program.reachedFrom(changed);
    for (const relation of program.reachedFrom(changed)) affected.add(relation);
    this.#program = program;
    this.#internConstants();
    this.counts.forget(affected);
    this.version++;
    this.endUpkeep();
    this.known.clear();
    this.#hasUnknown = true;
    for (const shared of this.#both) shared.takeRules(affected);
  }

  /** To be called when the tenant goes. Who reads it still may end. */
  retire(): void {
    this.isRetired = true;
    this.endUpkeep();
    for (const shared of this.#both) shared.evict();
  }

  /** A reader, as this one, of the last state that there was. */
  lastReader(earlier: PinnedReader): PinnedReader {
    const { generation, time } = this.#lastChange;
    return this.reader(Math.max(generation, earlier.generation), Math.max(time, earlier.time));
  }

  /** Ends the upkeep that runs now. What it was at is dropped. */
  endUpkeep(): void {
    for (const { upkeep } of this.#both) upkeep?.ending.abort();
  }

  /**
   * A reader of this generation and time, under the rules as they are now unless others are given; one of a state
   * before the last change shares no tables.
   */
  reader(generation: number, time: number, program: Program = this.#program): PinnedReader {
    const { generation: changedIn, time: changedAt } = this.#lastChange;
    const isCurrent = generation >= changedIn && time >= changedAt && program === this.#program;
    const version = isCurrent ? this.version : -1;
    return { facts: this.facts, generation, time, overlay: null, program, version };
  }

  pacer(limits: Omit<EvaluationLimits, 'memory'>): Pacer {
    return new Pacer({ ...limits, memory: this.memory }, this.#pause);
  }

  /** Notes that these stored facts changed in this generation. */
  touched(facts: readonly number[], generation: number): void {
    this.#lastChange.generation = generation;
    this.#changed(facts);
  }

  /** Notes that a validity of these stored facts began or ended up to this time. */
  passed(facts: readonly number[], time: number): void {
    this.#lastChange.time = Math.max(this.#lastChange.time, time);
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

  /** True while stored facts are noted as changed: what is left of them must not be lost. */
  get holdsFacts(): boolean {
    return this.withdrawals.isPending || this.#both.some(({ hasChanges }) => hasChanges);
  }

  /** The version that all shared tables are true to, or a later one. */
  get trueTo(): number {
    return Math.min(this.#answers.trueTo, this.#proofs.trueTo);
  }

  /** True while changes are still to be taken in, or are being taken in. */
  get isBehind(): boolean {
    return this.#both.some(({ isTrue }) => !isTrue);
  }

  /** True while a question fills shared tables that changes wait for. */
  get isInUse(): boolean {
    return this.#both.some(
      ({ set, hasChanges, upkeep }) => hasChanges && upkeep === null && set.owner !== null,
    );
  }

  /**
   * Takes in what changed, so that the shared tables hold what the reader sees. False where a question is at one of
   * them, or something changed since the reader was pinned.
   */
  async keepUp(reader: PinnedReader, pacer: Pacer): Promise<boolean> {
    this.#beginUpkeep(reader);
    for (const shared of this.#both) await shared.caughtUp(reader, pacer, null);
    return this.trueTo >= reader.version;
  }

  /** Begins the upkeep of every shared set that needs it and that nobody is at. */
  #beginUpkeep(reader: PinnedReader): void {
    for (const shared of this.#both) shared.begin(reader);
  }

  /** The upkeep under way that a question about these relations has to wait for; null: about anything. */
  upkeepOf(relations: readonly string[] | null): MaintenanceRun | null {
    const all = relations === null ? this.#both : [this.#answers];
    for (const { upkeep } of all)
      if (upkeep !== null && (relations === null || relations.some((each) => upkeep.reached.has(each))))
        return upkeep;
    return null;
  }

  /** The relations themselves and all that is concluded from them. */
  reached(relations: Iterable<string>): Set<string> {
    return this.#program.reachedFrom(relations);
  }

  /** The relations of these stored facts, and all that is concluded from them. */
  reachedBy(facts: readonly number[]): Set<string> {
    const relations = new Set<string>();
    for (const number of facts) {
      const { predicate, arity, negated } = this.facts.versionOf(number).relation;
      relations.add(relationKey(predicate, arity, negated));
    }
    return this.reached(relations);
  }

  /**
   * What is derived of these relations, to be compared with what will be derived after a change. To be taken in
   * the same turn as the change, before it. What is known from tables long gone is handed over for good, unless it
   * is to be kept (`keepKnown`).
   */
  candidates(relations: ReadonlySet<string>, keepKnown = false): Candidates[] {
    const found = this.#both.flatMap((shared) => shared.candidates(relations));
    const known = keepKnown ? this.known.of(relations) : this.known.take(relations);
    return [...found, ...known];
  }

  /** What changes of facts take away from the shared tables from now on, until its `end`. */
  watchLosses(): Losses {
    const losses: Losses = new Losses(!this.isBehind, () => this.#losses.delete(losses));
    this.#losses.add(losses);
    return losses;
  }

  /**
   * Lets `work` fill tables for the reader: the shared ones where that is possible, else some of its own. It is done
   * again from the start where tables of earlier questions left too little memory for it. With an overlay the tables
   * are always its own, and nothing of them is remembered. `about` are the relations that the work begins with, null
   * where those are not known.
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
    if (overlay !== null) return work(this.tablesOver({ ...reader, overlay }, withHeights));
    await shared.caughtUp(reader, pacer, about);
    if (!shared.isFor(reader)) return this.#evaluateApart(reader, withHeights, work);
    const filled = await shared.fill(reader, work);
    if (filled !== null) return filled.result;
    // What earlier questions had left has been let go with it: now it has all the memory there is.
    return this.evaluate(reader, withHeights, pacer, work, about);
  }

  /** Tables for readers with this overlay and these rules only. They are the caller's. */
  tablesOver(
    { program, overlay }: PinnedReader & { readonly overlay: Overlay },
    withHeights = false,
  ): TableSet {
    return new TableSet(this.facts, program, { withHeights, isMaintained: false, overlay }, new Map());
  }

  /** In tables of its own, for a reader who cannot use the shared ones. */
  async #evaluateApart<Result>(
    reader: PinnedReader,
    withHeights: boolean,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<Result> {
    const own = new TableSet(this.facts, reader.program, { withHeights, isMaintained: false }, this.tallies);
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
   * The rows of a question's own tables, but for those that shared ones have too: these were answers, and are looked at
   * for every later change.
   */
  async #keepOwn(own: TableSet, reader: PinnedReader): Promise<void> {
    let sliceStartedAt = performance.now();
    for (const table of own.tables.values()) {
      const { rows, count } = plainRows(table.rows.rows, own.constants);
      const kept = new Tuples(table.arity);
      const tuple = new Int32Array(table.arity);
      for (let row = 0; row < count; row++) {
        if (!this.#both.some((shared) => shared.stands(table, tupleAt(rows, row, tuple)))) kept.insert(tuple);
        if ((row & 0xfff) !== 0xfff || performance.now() - sliceStartedAt < sliceMs) continue;
        await this.#pause();
        sliceStartedAt = performance.now();
      }
      if (this.#program !== reader.program) return;
      this.known.add(table, kept);
      // The state before a change, and the one right after it, are looked at for what that change took away.
      if (reader.version < 0) continue;
      this.withdrawals.unwatch(table, kept);
      if (reader.version !== this.version) this.withdrawals.doubt(new Set([table.relation]));
    }
    if (this.withdrawals.isPending) this.onLeft();
  }

  /** True where `evaluate` would use the shared tables for answers if it were called in this turn. */
  isShared(reader: PinnedReader): boolean {
    return this.#answers.upkeep === null && this.#answers.isFor(reader);
  }

  /** One page of the answers to a question, ordered by the texts of their arguments. */
  async answer(asked: Question, reader: PinnedReader, pacer: Pacer, page: Page): Promise<AnswerPage> {
    pacer.look();
    if (reader.overlay === null) this.#noteAsked(asked);
    // Begun together they come to hold the same state.
    if (page.withProof) this.#beginUpkeep(reader);
    const ordered = await this.#ordered(asked, reader, pacer, page);
    if (!page.withProof) return { ...ordered, proof: null };
    const proof = await this.evaluate(reader, true, pacer, async (set) => {
      const builder = new ProofBuilder(set, reader, pacer);
      const proved = await builder.prove(ordered.matches, ordered.page, page.withAlternatives);
      return { proof: proved, facts: builder.facts };
    });
    return { ...ordered, proof };
  }

  /** The page's rows in their order, as it was found before where nothing changed. */
  async #ordered(asked: Question, reader: PinnedReader, pacer: Pacer, page: Page): Promise<OrderedPage> {
    const kept = this.#pages.find(asked, reader, page);
    if (kept !== null) return kept;
    const matches = await this.#matches(asked, reader, pacer);
    const end = page.limit === null ? matches.count : Math.min(matches.count, page.offset + page.limit);
    const order = await rowsByText(matches.columns, matches.count, matches.constants, pacer, end);
    const rows = Array.from(order.subarray(Math.min(page.offset, end)));
    const ordered = { matches, page: rows, isTruncated: end < matches.count, total: matches.count };
    this.#pages.keep(ordered, reader, page);
    return ordered;
  }

  /** All answers to a question, in no order. */
  async answers(asked: Question, reader: PinnedReader, pacer: Pacer): Promise<Matches> {
    pacer.look();
    if (reader.overlay === null) this.#noteAsked(asked);
    return this.#matches(asked, reader, pacer);
  }

  async #matches(asked: Question, reader: PinnedReader, pacer: Pacer): Promise<Matches> {
    const work = (set: TableSet): Promise<Matches> => matchesOf(asked, set, reader, pacer);
    return (
      storedMatches(asked, reader) ??
      this.settledMatches(asked, reader) ??
      this.evaluate(reader, false, pacer, work, relationsRead(asked.body))
    );
  }

  /** What the question needs is known from here on. */
  #noteAsked(asked: Question): void {
    if (!this.#hasUnknown) return;
    const below = this.#program.below(relationsRead(asked.body));
    this.#hasUnknown = false;
    for (const { set } of this.#both)
      for (const table of set.tables.values())
        if (below.has(table.relation)) table.isKnown = true;
        else if (!table.isKnown) this.#hasUnknown = true;
  }

  /** The answers where a shared table has them all already, else null. */
  settledMatches(asked: Question, reader: PinnedReader): Matches | null {
    const { set } = this.#answers;
    if (reader.overlay !== null) return null;
    const atom = onlyDerivedAtom(asked, set);
    if (atom === null || !this.#answers.holdsFor(reader)(relationOf(atom))) return null;
    const place = settledTableFor(atom, asked.view, set);
    return place === null ? null : answersOf(asked, atom, place, set);
  }

  /**
   * How many conclusions of the view hold and are not stored, by relation: of every relation that rules conclude there.
   * What nobody has worked out yet is counted as far as it is known.
   */
  async conclusionCounts(
    reader: PinnedReader,
    pacer: Pacer,
    view: ScopeChoice = { kind: 'all' },
  ): Promise<RelationCount[]> {
    await this.keepUp(reader, pacer);
    const whole = new Map<string, CachedTable>();
    for (const shared of this.#both)
      for (const each of shared.whole(reader, view)) whole.set(each.table.relation, each);
    // What holds of the facts of one scope holds of all, unless it rests on an absence.
    const isOfView = ({ table }: CachedTable): boolean =>
      viewKey(table.view) === viewKey(view) ||
      (view.kind === 'all' && reader.program.isMonotone(table.relation));
    const partly = this.#held(reader).filter((each) => !whole.has(each.table.relation) && isOfView(each));
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

  /** Known conclusions, rendered and sorted, whose canonical proof uses the stored fact: as many as a second finds. */
  async provedWith(fact: FactRow, reader: PinnedReader, pacer: Pacer): Promise<string[]> {
    const { predicate, arity, negated } = fact.relation;
    const reached = this.reached([relationKey(predicate, arity, negated)]);
    await this.keepUp(reader, pacer);
    const held = this.#held(reader).filter(({ table }) => reached.has(table.relation));
    const used = await provedBy(held, reader, pacer, (goals) =>
      this.evaluate(reader, true, pacer, (set) =>
        new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY).dependentsOf(fact, goals),
      ),
    );
    return [...used].sort(compareText);
  }

  /** Known tables whose rows hold for the reader. */
  #held(reader: PinnedReader): CachedTable[] {
    return this.#both.flatMap((shared) => shared.held(reader));
  }

  /** True where a shared table that is true has the row now. */
  holds(of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    return this.#both.some((shared) => shared.isTrue && shared.stands(of, tuple));
  }

  /**
   * To be called in the turn in which rules change that conclude these relations, before `use`: what stands in the
   * tables is in doubt. False where nothing does.
   */
  doubtConcluded(heads: readonly string[]): boolean {
    for (const shared of this.#both) shared.doubtConcluded(heads);
    return this.withdrawals.isPending;
  }

  /** Constants of rules are known before questions look theirs up, so that a question can name them. */
  #internConstants(): void {
    for (const text of this.#program.constants) this.facts.dictionary.intern(text);
  }
}

/**
 * How many conclusions relations have, counted once and remembered until something changes that they rest on.
 *
 * A count is begun, and noted at its end: unless it was forgotten in between, since what it counted is no more.
 */
class CountCache {
  readonly #entries = new Map<string, ConclusionCount | 'begun' | 'too much'>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** By the key of the relation those that are known. */
  *[Symbol.iterator](): Generator<readonly [string, ConclusionCount]> {
    for (const [relation, entry] of this.#entries) if (typeof entry === 'object') yield [relation, entry];
  }

  /** True where it is counted, or was found to be more than can be. */
  isSettled(relation: string): boolean {
    const entry = this.#entries.get(relation);
    return entry !== undefined && entry !== 'begun';
  }

  begin(relation: string): void {
    this.#entries.set(relation, 'begun');
  }

  /** What the count that was begun came to. */
  end(relation: string, came: ConclusionCount | 'too much'): void {
    if (this.#entries.get(relation) === 'begun') this.#entries.set(relation, came);
  }

  /** To be called in the turn in which what these relations rest on changed. */
  forget(relations: Iterable<string>): void {
    for (const relation of relations) this.#entries.delete(relation);
  }
}
