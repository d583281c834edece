import type { Proof } from '../contract/inference.ts';
import type { FactRow, FactStore } from '../facts/fact-store.ts';
import { Tuples } from '../facts/tuples.ts';
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import { renderAtom } from '../logic/print.ts';
import { relationKey, relationOf } from '../logic/terms.ts';
import { type Limits, Pacer, type Pause, sliceMs } from './evaluation.ts';
import { type Candidates, isCandidate, KnownConclusions, plainRows, tupleAt } from './known-conclusions.ts';
import { Losses } from './losses.ts';
import type { Holder, MemoryBudget } from './memory-budget.ts';
import { type Program, relationsRead } from './program.ts';
import { type GroundAtom, ProofBuilder } from './proof.ts';
import {
  copyMatches,
  type Matches,
  matchesOf,
  onlyDerivedAtom,
  type Question,
  settledTableFor,
} from './question.ts';
import { type Reader, sees, viewKey } from './reader.ts';
import { rowsByText } from './sorted.ts';
import { TableSet, type Tallies } from './table-set.ts';
import type { Relation, Table } from './table.ts';
import { keepTrue } from './keep-true.ts';
import { abandon } from './upkeep.ts';
import { Withdrawals } from './withdrawals.ts';

/**
 * Reasoning over one tenant's facts: tables that questions share, and what becomes of them when facts change.
 *
 * A change is noted. Upkeep makes the shared tables true again (`keepTrue`), or drops those that the change reaches
 * where that is less work; it is begun by whoever needs them first, a question or the run in the background, and goes
 * on whether or not that one stays. A question is pinned to the state it was asked in. It waits for upkeep that it
 * needs and uses the shared tables where they hold its state and no other question is at them, else tables of its own:
 * so no question ever waits for another, nor a write for a question. What an ended question left unfinished is dropped.
 */
export interface PinnedReader extends Reader {
  /** The rules it was pinned with. */
  readonly program: Program;
  /** The reasoner's state of change when the reader was made. */
  readonly version: number;
}

export interface AnswerPage {
  readonly matches: Matches;
  /** Numbers of the rows on the page, in order. */
  readonly page: readonly number[];
  readonly isTruncated: boolean;
  readonly proof: { readonly proof: Proof; readonly facts: readonly FactRow[] } | null;
}

export interface Page {
  readonly offset: number;
  readonly limit: number | null;
  readonly withProof: boolean;
  /** With the proof: the other ways to every conclusion in it. */
  readonly withAlternatives: boolean;
}

/** How many conclusions of a relation are known, with one of them rendered. */
export interface KnownCount {
  readonly of: { readonly predicate: string; readonly arity: number; readonly negated: boolean };
  count: number;
  example: string | null;
}

/** A table whose rows hold, with those rows. */
type HeldTable = { readonly table: Table } & Pick<Candidates, 'rows' | 'count' | 'dead'>;

const mostMsForDependents = 1000;
const goalsAtOnce = 256;

interface SharedSet extends Holder {
  set: TableSet;
  /** The version that the set is true to. */
  trueTo: number;
  /** Numbers of the stored facts that changed since then. */
  changed: number[];
  /** While it is made true again: then the rows that this reaches are not to be read. */
  upkeep: Upkeep | null;
}

export interface Upkeep {
  /** The state that it makes the set true to. */
  readonly reader: PinnedReader;
  /** The relations whose rows it can change. */
  readonly reached: ReadonlySet<string>;
  readonly ending: AbortController;
  /** Resolves at its end. */
  done: Promise<void>;
}

/**
 * Upkeep is bounded as a question is that names no limits, and has more time: what goes on for longer, since a fact
 * that came lets rules count without end, is dropped and left to those who ask for it.
 */
const upkeepLimits = { timeoutMs: 60_000, maxDerivations: 10_000_000 };

/** So many changes are taken in one by one, whatever the tables hold. */
const fewChanges = 10_000;

export class Reasoner {
  readonly facts: FactStore;
  readonly known = new KnownConclusions();
  readonly withdrawals = new Withdrawals();
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
  readonly #lastChange = { generation: 0, time: Number.NEGATIVE_INFINITY };
  #program: Program;
  readonly #answers: SharedSet;
  readonly #proofs: SharedSet;
  readonly #tallies: Tallies;
  readonly #pause: Pause;
  readonly #memory: MemoryBudget;

  constructor(facts: FactStore, program: Program, tallies: Tallies, pause: Pause, memory: MemoryBudget) {
    this.facts = facts;
    this.#program = program;
    this.#tallies = tallies;
    this.#pause = pause;
    this.#memory = memory;
    this.#answers = this.#shared(false);
    this.#proofs = this.#shared(true);
    this.#internConstants();
  }

  get program(): Program {
    return this.#program;
  }

  get bytes(): number {
    return this.#answers.set.bytes + this.#proofs.set.bytes + this.known.bytes;
  }

  /** Takes new rules, and forgets what was derived with those that are no more and without those that are new. */
  use(program: Program): void {
    const changed = program.changedFrom(this.#program);
    const affected = this.#program.reachedFrom(changed);
    for (const relation of program.reachedFrom(changed)) affected.add(relation);
    this.#program = program;
    this.#internConstants();
    this.version++;
    this.endUpkeep();
    this.known.clear();
    for (const shared of this.#both) {
      const { set } = shared;
      const isBusy = set.owner !== null || shared.changed.length > 0;
      // A constant that the set made may be one of the new rules: one text would have two ids.
      if (isBusy || set.constants.ownCount > 0 || set.isLittered) this.#renew(shared);
      else {
        this.#tellLosses(set, affected);
        set.take(program, affected);
        this.#hasUnknown = true;
        shared.trueTo = this.version;
      }
    }
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

  get #both(): readonly SharedSet[] {
    return [this.#answers, this.#proofs];
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

  pacer(limits: Omit<Limits, 'memory'>): Pacer {
    return new Pacer({ ...limits, memory: this.#memory }, this.#pause);
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

  /** True while stored facts are noted as changed: what is left of them must not be lost. */
  get holdsFacts(): boolean {
    return this.withdrawals.isPending || this.#both.some(({ changed }) => changed.length > 0);
  }

  /** The version that all shared tables are true to, or a later one. */
  get trueTo(): number {
    return Math.min(this.#answers.trueTo, this.#proofs.trueTo);
  }

  /** True while changes are still to be taken in, or are being taken in. */
  get isBehind(): boolean {
    return this.#both.some(({ changed, upkeep }) => changed.length > 0 || upkeep !== null);
  }

  /** True while a question fills shared tables that changes wait for. */
  get isInUse(): boolean {
    return this.#both.some(
      ({ set, changed, upkeep }) => changed.length > 0 && upkeep === null && set.owner !== null,
    );
  }

  #changed(numbers: readonly number[]): void {
    this.version++;
    if (this.withdrawals.hasUnwatched) this.withdrawals.doubt(this.#reachedBy(numbers));
    if (this.#both.some(({ set }) => set.tables.size > 0) || this.withdrawals.hasUnwatched)
      this.withdrawals.note(this.version, numbers);
    for (const shared of this.#both) {
      this.#noteChanged(shared, numbers);
      if (shared.changed.length === 0 && shared.upkeep === null) shared.trueTo = this.version;
    }
    if (this.known.bytes > this.#memory.limit / 4) this.known.clear();
    if (this.withdrawals.bytes > this.#memory.limit / 4) this.withdrawals.evict();
  }

  /**
   * Notes the facts for the set, unless it reads none of them and nobody can use it in the state that they changed: a
   * question about that state may yet have it read them.
   */
  #noteChanged(shared: SharedSet, numbers: readonly number[]): void {
    const { set, changed } = shared;
    if (set.tables.size === 0 && set.owner === null) return;
    const keys = new Set<string>();
    for (const number of numbers) {
      const { relation, row } = this.facts.versionOf(number);
      keys.add(relationKey(relation.predicate, relation.arity, relation.negated));
      // The dictionary has come to know a constant that the set made for itself: one text would have two ids.
      if (row >= 0 && set.constants.clashes(relation, row)) return this.#replace(shared, numbers);
    }
    const isAtRest = set.owner === null && changed.length === 0;
    if (isAtRest && ![...keys].some((key) => set.reads(key))) return;
    for (const number of numbers) changed.push(number);
    if (changed.length > fewChanges && changed.length > set.rowCount && set.owner === null)
      this.#dropChanged(shared, changed);
  }

  /**
   * Takes in what changed, so that the shared tables hold what the reader sees. False where a question is at one of
   * them, or something changed since the reader was pinned.
   */
  async keepUp(reader: PinnedReader, pacer: Pacer): Promise<boolean> {
    this.#beginUpkeep(reader);
    for (const shared of this.#both) await this.#caughtUp(shared, reader, pacer, null);
    return this.trueTo >= reader.version;
  }

  /** The upkeep under way that a question about these relations has to wait for; null: about anything. */
  upkeepOf(relations: readonly string[] | null): Upkeep | null {
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

  /**
   * What is derived of these relations, to be compared with what will be derived after a change. To be taken in
   * the same turn as the change, before it. What is known from tables long gone is handed over for good, unless it
   * is to be kept (`keepKnown`).
   */
  candidates(relations: ReadonlySet<string>, keepKnown = false): Candidates[] {
    const found: Candidates[] = [];
    for (const { set, changed, upkeep } of this.#both) {
      const doubtful = this.#reachedBy(changed);
      for (const relation of relations)
        for (const table of set.tablesOf(relation)) {
          const { rows } = table.rows;
          if (rows.live === 0 || !table.isKnown) continue;
          const demand = plainRows(table.demand.rows, set.constants).rows;
          const demanded = { boundPositions: table.boundPositions, demand: { rows: demand } };
          const isCertain = upkeep === null && !doubtful.has(relation);
          found.push({ ...table, ...plainRows(rows, set.constants), table: demanded, isCertain });
        }
    }
    const known = this.known.take(relations);
    if (keepKnown) for (const each of known) this.known.add(each, each.rows);
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
    if (reader.overlay !== null) {
      const { program, overlay } = reader;
      return work(new TableSet(this.facts, program, { withHeights, isKept: false, overlay }, new Map()));
    }
    await this.#caughtUp(shared, reader, pacer, about);
    const { set } = shared;
    if (set.owner !== null || reader.version !== shared.trueTo)
      return this.#evaluateApart(reader, withHeights, work);
    const wasUsed = set.tables.size > 0;
    set.owner = reader;
    let isSettled = false;
    try {
      const result = await work(set);
      isSettled = true;
      return result;
    } catch (error) {
      if (!wasUsed || !isOverMemory(error)) throw error;
    } finally {
      set.owner = null;
      this.#release(shared, set, isSettled);
    }
    // What earlier questions had left has been let go with it: now it has all the memory there is.
    return this.evaluate(reader, withHeights, pacer, work, about);
  }

  /** In tables of its own, for a reader who cannot use the shared ones. */
  async #evaluateApart<Result>(
    reader: PinnedReader,
    withHeights: boolean,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<Result> {
    const own = new TableSet(this.facts, reader.program, { withHeights, isKept: false }, this.#tallies);
    own.holder = own;
    this.#memory.use(own);
    try {
      const result = await work(own);
      if (this.#program === reader.program) await this.#keepOwn(own, reader);
      return result;
    } finally {
      this.#memory.forget(own);
    }
  }

  /** True where `evaluate` would use the shared tables for answers if it were called in this turn. */
  isShared(reader: PinnedReader): boolean {
    const { set, trueTo, upkeep } = this.#answers;
    return set.owner === null && upkeep === null && trueTo === reader.version;
  }

  /**
   * Waits until the shared set holds what the reader sees, having it made so where need be. Ends early where waiting
   * does not help: a question is at the set, the reader's state is gone by, or `about` is not concerned.
   */
  async #caughtUp(
    shared: SharedSet,
    reader: PinnedReader,
    pacer: Pacer,
    about: readonly string[] | null,
  ): Promise<void> {
    while (reader.overlay === null && reader.version >= 0) {
      this.#begin(shared, reader);
      const { upkeep } = shared;
      if (upkeep === null || (upkeep.reader.version !== reader.version && reader.version !== this.version))
        return;
      if (about !== null && !about.some((relation) => upkeep.reached.has(relation))) return;
      if (!(await waitFor(upkeep.done, pacer))) return;
      if (shared.trueTo === reader.version) return;
      // Others waited for what has ended, and are content with it: they come first.
      await pacer.rest();
    }
  }

  /** Begins the upkeep of every shared set that needs it and that nobody is at. */
  #beginUpkeep(reader: PinnedReader): void {
    for (const shared of this.#both) this.#begin(shared, reader);
  }

  #begin(shared: SharedSet, reader: PinnedReader): void {
    const { set, changed, upkeep: present } = shared;
    if (reader.overlay !== null || reader.version !== this.version) return;
    if (present !== null || changed.length === 0 || set.owner !== null) return;
    const ending = new AbortController();
    const reached = this.#reachedBy(changed);
    const upkeep: Upkeep = { reader, reached, ending, done: Promise.resolve() };
    shared.changed = [];
    shared.upkeep = upkeep;
    set.owner = upkeep;
    // A question that waits goes on without what a bug left behind.
    upkeep.done = this.#keepTrue(shared, upkeep, changed, reader).catch(this.onBug);
  }

  async #keepTrue(
    shared: SharedSet,
    { reached, ending }: Upkeep,
    changed: readonly number[],
    reader: PinnedReader,
  ): Promise<void> {
    const { set, trueTo: from } = shared;
    const to = reader.version;
    const losses = new Losses(true, () => {});
    set.lost = (table, row) => {
      if (!table.isKnown) return;
      losses.add(table, row, set.constants);
      for (const each of this.#losses) {
        each.add(table, row, set.constants);
        each.through = Math.max(each.through, to);
      }
    };
    let isSettled = false;
    let isTold = false;
    this.readers++;
    try {
      const pacer = this.pacer({ ...upkeepLimits, signal: ending.signal });
      if (await keepTrue(set, changed, reader, pacer)) {
        this.#dropWorn(set);
        isTold = true;
      } else {
        abandon(set);
        // Some of these rows have gone: subscribers are told to read again, and retractions find out.
        this.#tellLosses(set, reached);
        for (const table of this.#tablesOf(set, reached)) {
          if (table.isKnown) this.known.add(table, plainRows(table.rows.rows, set.constants).rows);
          set.reset(table);
        }
      }
      isSettled = true;
    } catch (error) {
      // A limit: the set is dropped. An end: it was dropped already.
      if (!(error instanceof EngineError) && !ending.signal.aborted) throw error;
    } finally {
      this.readers--;
      set.owner = null;
      if (!ending.signal.aborted) this.withdrawals.add({ from, to, losses: isTold ? losses : null });
      if (shared.set === set) {
        shared.upkeep = null;
        shared.trueTo = to;
        this.#release(shared, set, isSettled);
      }
    }
  }

  /** One page of the answers to a question, ordered by the texts of their arguments. */
  async answer(asked: Question, reader: PinnedReader, pacer: Pacer, page: Page): Promise<AnswerPage> {
    pacer.look();
    if (reader.overlay === null) this.#noteAsked(asked);
    // Begun together they come to hold the same state.
    if (page.withProof) this.#beginUpkeep(reader);
    const work = (set: TableSet): Promise<Matches> => matchesOf(asked, set, reader, pacer);
    const matches =
      this.settledMatches(asked, reader) ??
      (await this.evaluate(reader, false, pacer, work, relationsRead(asked.body)));
    const width = asked.variables.length;
    const end = page.limit === null ? matches.count : Math.min(matches.count, page.offset + page.limit);
    const order = await rowsByText(matches.ids, matches.count, width, matches.constants, pacer, end);
    const rows = Array.from(order.subarray(Math.min(page.offset, end)));
    const isTruncated = end < matches.count;
    if (!page.withProof) return { matches, page: rows, isTruncated, proof: null };
    const proof = await this.evaluate(reader, true, pacer, async (set) => {
      const builder = new ProofBuilder(set, reader, pacer);
      return { proof: await builder.prove(matches, rows, page.withAlternatives), facts: builder.facts };
    });
    return { matches, page: rows, isTruncated, proof };
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
    if (atom === null || !this.#holdsFor(reader, this.#answers)(relationOf(atom))) return null;
    const place = settledTableFor(atom, asked.view, set);
    return place === null ? null : copyMatches(asked, atom, place, set);
  }

  /** Distinct known conclusions that hold and are not stored, by relation, whatever the view. */
  async knownByRelation(reader: PinnedReader, pacer: Pacer): Promise<KnownCount[]> {
    const found = new Map<string, KnownCount & { seen: Tuples }>();
    const { dictionary } = this.facts;
    await this.keepUp(reader, pacer);
    for (const { table, rows, count, dead } of this.#heldTables(reader)) {
      const of = { predicate: table.predicate, arity: table.arity, negated: table.negated };
      let entry = found.get(table.relation);
      if (entry === undefined)
        found.set(table.relation, (entry = { of, count: 0, example: null, seen: new Tuples(of.arity) }));
      const tuple = new Int32Array(of.arity);
      for (let row = 0; row < count; row++) {
        if ((row & 0x3fff) === 0x3fff) await pacer.breathe();
        if (!isCandidate({ dead }, row)) continue;
        tupleAt(rows, row, tuple);
        if (entry.seen.insert(tuple) < 0 || this.#isStored(table, tuple, reader)) continue;
        entry.count++;
        entry.example ??= renderAtom({ ...of, args: Array.from(tuple, (id) => dictionary.text(id)) });
      }
    }
    return [...found.values()].filter((entry) => entry.count > 0);
  }

  /** Known conclusions, rendered and sorted, whose canonical proof uses the stored fact: as many as a second finds. */
  async provedWith(fact: FactRow, reader: PinnedReader, pacer: Pacer): Promise<string[]> {
    const { predicate, arity, negated } = fact.relation;
    const reached = this.reached([relationKey(predicate, arity, negated)]);
    await this.keepUp(reader, pacer);
    const tables = this.#heldTables(reader).filter(({ table }) => reached.has(table.relation));
    const used = new Set<string>();
    for (const held of tables) {
      for (let at = 0; at < held.count && pacer.elapsedMs < mostMsForDependents; at += goalsAtOnce) {
        const goals = this.#goals(held, at, Math.min(held.count, at + goalsAtOnce));
        const found = await this.evaluate(reader, true, pacer, (set) =>
          new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY).dependentsOf(fact, goals),
        );
        for (const atom of found) used.add(atom);
      }
    }
    return [...used].sort(compareText);
  }

  /** The rows from `start` to `end` of a table as atoms. */
  #goals({ table, rows, dead }: HeldTable, start: number, end: number): GroundAtom[] {
    const { view, predicate, arity, negated } = table;
    const tuple = new Int32Array(arity);
    const goals: GroundAtom[] = [];
    for (let row = start; row < end; row++) {
      if (!isCandidate({ dead }, row)) continue;
      const args = Array.from(tupleAt(rows, row, tuple), (id) => this.facts.dictionary.text(id));
      goals.push({ view, literal: { predicate, args, negated, naf: false } });
    }
    return goals;
  }

  /** Tables whose rows hold for the reader, with those rows. */
  #heldTables(reader: PinnedReader): HeldTable[] {
    const found: HeldTable[] = [];
    for (const shared of this.#both) {
      const { set } = shared;
      const holds = this.#holdsFor(reader, shared);
      for (const table of set.tables.values())
        if (table.isKnown && table.rows.rows.live > 0 && holds(table.relation))
          found.push({ table, ...plainRows(table.rows.rows, set.constants) });
    }
    return found;
  }

  /** True for the relations whose rows in the set are those that the reader sees. */
  #holdsFor(reader: PinnedReader, { trueTo, changed, upkeep }: SharedSet): (relation: string) => boolean {
    if (upkeep === null && trueTo === reader.version) return () => true;
    if (reader.version !== this.version) return () => false;
    const doubtful = this.#reachedBy(changed);
    return (relation) => !doubtful.has(relation) && upkeep?.reached.has(relation) !== true;
  }

  /** True where a shared table that is true has the row now. */
  holds(of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    return this.#both.some(
      ({ set, changed, upkeep }) => changed.length === 0 && upkeep === null && this.#stands(set, of, tuple),
    );
  }

  #stands(set: TableSet, of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    const view = viewKey(of.view);
    const ids = set.constants.ownCount === 0 ? tuple : tuple.map((id) => set.constants.local(id));
    return set
      .tablesOf(of.relation)
      .some((table) => viewKey(table.view) === view && table.rows.rows.find(ids) >= 0);
  }

  #isStored(of: Table, tuple: Int32Array, reader: Reader): boolean {
    const relation = this.facts.relation(of.predicate, of.arity, of.negated);
    if (relation === null) return false;
    const rows = this.facts.rowsOf(relation, tuple, { kind: 'all' });
    return rows.some((newest) => {
      const row = relation.versionAt(newest, reader.generation);
      return row >= 0 && sees(reader, relation, row);
    });
  }

  #shared(withHeights: boolean): SharedSet {
    const shared: SharedSet = {
      set: this.#keptSet(withHeights),
      changed: [],
      trueTo: this.version,
      upkeep: null,
      get bytes() {
        return shared.set.bytes;
      },
      evict: () => {
        if (shared.set.owner !== null) return false;
        this.#renew(shared);
        return true;
      },
    };
    shared.set.holder = shared;
    return shared;
  }

  #keptSet(withHeights: boolean): TableSet {
    const set = new TableSet(this.facts, this.#program, { withHeights, isKept: true }, this.#tallies);
    return set;
  }

  #release(shared: SharedSet, set: TableSet, isSettled: boolean): void {
    if (shared.set === set) {
      const { holder } = set;
      if (!isSettled || this.isRetired || !this.#memory.fits(set.bytes, holder)) {
        if (shared.changed.length > 0) this.#tooMuch(shared.trueTo);
        this.#renew(shared);
      } else if (holder !== null) this.#memory.use(holder);
    }
    if (this.isBehind || this.withdrawals.isPending) this.onLeft();
  }

  /** Puts a new set in the place of one that is not to be used again; what it held becomes known. */
  #replace(shared: SharedSet, numbers: readonly number[]): void {
    const { set, trueTo, changed, upkeep } = shared;
    if (upkeep !== null) this.#tooMuch(trueTo);
    upkeep?.ending.abort();
    for (const table of set.tables.values()) this.#keep(table, set);
    this.withdrawals.doubt(this.#reachedBy([...changed, ...numbers]));
    this.#renew(shared);
  }

  /** What changed after this version took away more than can be told one by one. */
  #tooMuch(from: number): void {
    this.withdrawals.add({ from, to: this.version, losses: null });
  }

  #renew(shared: SharedSet): void {
    this.#tellLosses(shared.set, new Set([...shared.set.tables.values()].map(({ relation }) => relation)));
    shared.set = this.#keptSet(shared.set.withHeights);
    shared.set.holder = shared;
    shared.changed = [];
    shared.upkeep = null;
    shared.trueTo = this.version;
    this.#memory.forget(shared);
  }

  /** The relations of these stored facts, and all that is concluded from them. */
  #reachedBy(facts: readonly number[]): Set<string> {
    const relations = new Set<string>();
    for (const number of facts) {
      const { predicate, arity, negated } = this.facts.versionOf(number).relation;
      relations.add(relationKey(predicate, arity, negated));
    }
    return this.reached(relations);
  }

  #dropChanged(shared: SharedSet, changed: readonly number[]): void {
    const reached = this.#reachedBy(changed);
    this.#drop(shared.set, reached);
    this.withdrawals.doubt(reached);
    shared.changed = [];
  }

  /** Drops tables most of whose rows are dead, and a whole set most of whose justifications are garbage. */
  #dropWorn(set: TableSet): void {
    const worn = new Set<string>();
    for (const table of set.tables.values()) if (isWorn(table.rows.rows)) worn.add(table.relation);
    if (worn.size > 0) this.#drop(set, this.reached(worn));
  }

  /** Tells who watches that these tables will be dropped. */
  #tellLosses(set: TableSet, relations: ReadonlySet<string>): void {
    if (this.#losses.size === 0) return;
    for (const relation of relations)
      for (const table of set.tablesOf(relation))
        if (table.isKnown) for (const losses of this.#losses) losses.drop(table, set.constants);
  }

  #drop(set: TableSet, relations: ReadonlySet<string>): void {
    this.#tellLosses(set, relations);
    for (const table of this.#tablesOf(set, relations)) {
      this.#keep(table, set);
      set.reset(table);
    }
  }

  #tablesOf(set: TableSet, relations: ReadonlySet<string>): Table[] {
    return [...relations].flatMap((relation) => [...set.tablesOf(relation)]);
  }

  /** The rows of a table that is given up hold, and are kept true no longer. */
  #keep(table: Table, set: TableSet): void {
    if (!table.isKnown) return;
    const { rows } = plainRows(table.rows.rows, set.constants);
    this.known.add(table, rows);
    this.withdrawals.unwatch(table, rows);
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
        if (!this.#both.some(({ set }) => this.#stands(set, table, tupleAt(rows, row, tuple))))
          kept.insert(tuple);
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

  /**
   * To be called in the turn in which rules change that conclude these relations, before `use`: what stands in the
   * tables is in doubt. False where nothing does.
   */
  doubtConcluded(heads: readonly string[]): boolean {
    for (const { set, trueTo, changed, upkeep } of this.#both) {
      if (upkeep !== null) this.#tooMuch(trueTo);
      const reached = new Set([...this.reached(heads), ...this.#reachedBy(changed)]);
      for (const table of this.#tablesOf(set, reached))
        if (table.isKnown) this.withdrawals.unwatch(table, plainRows(table.rows.rows, set.constants).rows);
      this.withdrawals.doubt(reached);
    }
    return this.withdrawals.isPending;
  }

  /** Constants of rules are known before questions look theirs up, so that a question can name them. */
  #internConstants(): void {
    for (const text of this.#program.constants) this.facts.dictionary.intern(text);
  }
}

/** True when the work is done, false when patience is; rejects with what a limit says that is met before. */
export async function waitFor(work: Promise<void>, pacer: Pacer): Promise<boolean> {
  let isOver = false;
  const over = work.then(() => {
    isOver = true;
  });
  while (!isOver && pacer.isPatient) {
    const start = performance.now();
    await Promise.race([over, pacer.rest()]);
    pacer.waitedMs += performance.now() - start;
  }
  return isOver;
}

function isWorn(rows: Tuples): boolean {
  return rows.deadCount > 1000 && rows.deadCount * 2 > rows.count;
}

function isOverMemory(error: unknown): boolean {
  return error instanceof EngineError && error.members['limit'] === 'memory';
}
