import type { Proof } from '../contract/inference.ts';
import type { FactRow, FactStore } from '../facts/fact-store.ts';
import { Tuples } from '../facts/tuples.ts';
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import { renderAtom } from '../logic/print.ts';
import { relationKey } from '../logic/terms.ts';
import { type Limits, Pacer, type Pause } from './evaluation.ts';
import { type Candidates, isCandidate, KnownConclusions, plainRows, tupleAt } from './known-conclusions.ts';
import { Losses } from './losses.ts';
import type { Holder, MemoryBudget } from './memory-budget.ts';
import type { Program } from './program.ts';
import { type GroundAtom, ProofBuilder } from './proof.ts';
import {
  copyMatches,
  type Matches,
  matchesOf,
  onlyDerivedAtom,
  type Question,
  settledTableFor,
} from './question.ts';
import { type Reader, sees } from './reader.ts';
import { rowsByText } from './sorted.ts';
import { TableSet, type Tallies } from './table-set.ts';
import type { Table } from './table.ts';
import { keepTrue } from './keep-true.ts';
import { abandon } from './upkeep.ts';

/**
 * Reasoning over one tenant's facts: tables that questions share, and what becomes of them when facts change.
 *
 * A change is noted; the next question makes the shared tables true again before it reads them (`keepTrue`), or drops
 * those that the change reaches where that is less work. A question is pinned to the state it was asked in: it uses the
 * shared tables where no other question is at it and nothing changed since it was pinned, and tables of its own
 * otherwise, so no question ever waits for another, nor a write for a question. What an ended question left unfinished
 * is dropped.
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
  /** Numbers of the stored facts that changed since the set was true. */
  changed: number[];
  /** True while it is made true again: then its rows are not to be read. */
  isInFlux: boolean;
}

/** So many changes are taken in one by one, whatever the tables hold. */
const fewChanges = 10_000;

export class Reasoner {
  readonly facts: FactStore;
  readonly known = new KnownConclusions();
  /** Moves with every change that an answer can notice. */
  version = 0;
  /** Who reads now and must not lose what died since: `FactStore.compact` waits for them. */
  readers = 0;
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
    this.known.clear();
    for (const shared of [this.#answers, this.#proofs]) {
      const { set } = shared;
      // A constant that the set made may be one of the new rules: one text would have two ids.
      if (set.owner !== null || set.constants.ownCount > 0 || set.isLittered) this.#renew(shared);
      else {
        this.#tellLosses(set, affected);
        set.take(program, affected);
      }
    }
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
    this.#lastChange.time = time;
    this.#changed(facts);
  }

  /** True while rows of stored relations are noted as changed: those must not be lost. */
  get holdsFacts(): boolean {
    return this.#answers.changed.length > 0 || this.#proofs.changed.length > 0;
  }

  #changed(numbers: readonly number[]): void {
    this.version++;
    for (const shared of [this.#answers, this.#proofs]) {
      const { set, changed } = shared;
      if (set.tables.size === 0) continue;
      const isUsed = new Map<string, boolean>();
      for (const number of numbers) {
        const { relation, row } = this.facts.versionOf(number);
        const key = relationKey(relation.predicate, relation.arity, relation.negated);
        let used = isUsed.get(key);
        if (used === undefined) isUsed.set(key, (used = set.owner !== null || set.reads(key)));
        if (used) changed.push(number);
        // The dictionary has come to know a constant that the set made for itself: one text would have two ids.
        if (row >= 0 && set.constants.clashes(relation, row)) {
          this.#replace(shared);
          break;
        }
      }
      if (changed.length > fewChanges && changed.length > set.rowCount && set.owner === null)
        this.#dropChanged(shared, changed);
    }
    if (this.known.bytes > this.#memory.limit / 4) this.known.clear();
  }

  /**
   * Takes in what changed, so that the shared tables hold what the reader sees. False where a question is at one of
   * them, or something changed since the reader was pinned.
   */
  async keepUp(reader: PinnedReader, pacer: Pacer): Promise<boolean> {
    let isUpToDate = true;
    for (const shared of [this.#answers, this.#proofs]) {
      if (shared.changed.length === 0) continue;
      if (shared.set.owner === null && reader.version === this.version)
        await this.evaluate(reader, shared === this.#proofs, pacer, () => Promise.resolve());
      else isUpToDate = false;
    }
    return isUpToDate;
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
    for (const { set, changed, isInFlux } of [this.#answers, this.#proofs]) {
      const doubtful = this.#reachedBy(changed);
      for (const relation of relations)
        for (const table of set.tablesOf(relation)) {
          const { rows } = table.rows;
          if (rows.live === 0) continue;
          const demand = plainRows(table.demand.rows, set.constants).rows;
          const demanded = { boundPositions: table.boundPositions, demand: { rows: demand } };
          const isCertain = !isInFlux && !doubtful.has(relation);
          found.push({ ...table, ...plainRows(rows, set.constants), table: demanded, isCertain });
        }
    }
    const known = this.known.take(relations);
    if (keepKnown) for (const each of known) this.known.add(each, each.rows);
    return [...found, ...known];
  }

  /** What changes of facts take away from the shared tables from now on, until its `end`. */
  watchLosses(): Losses {
    const isUpToDate = [this.#answers, this.#proofs].every(
      ({ changed, isInFlux }) => changed.length === 0 && !isInFlux,
    );
    const losses: Losses = new Losses(isUpToDate, () => this.#losses.delete(losses));
    this.#losses.add(losses);
    return losses;
  }

  /**
   * Lets `work` fill tables for the reader: the shared ones where that is possible, else some of its own. It is done
   * again from the start where tables of earlier questions left too little memory for it. With an overlay the tables
   * are always its own, and nothing of them is remembered.
   */
  async evaluate<Result>(
    reader: PinnedReader,
    withHeights: boolean,
    pacer: Pacer,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<Result> {
    const shared = withHeights ? this.#proofs : this.#answers;
    if (reader.overlay !== null) {
      const { program, overlay } = reader;
      return work(new TableSet(this.facts, program, { withHeights, isKept: false, overlay }, new Map()));
    }
    if (shared.set.owner !== null || reader.version !== this.version)
      return this.#evaluateApart(reader, withHeights, work);
    const { set } = shared;
    const wasUsed = set.tables.size > 0;
    set.owner = reader;
    let isSettled = false;
    try {
      await this.#keepTrue(shared, reader, pacer);
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
    return this.evaluate(reader, withHeights, pacer, work);
  }

  /** In tables of its own, for a reader who cannot use the shared ones. */
  async #evaluateApart<Result>(
    { program }: PinnedReader,
    withHeights: boolean,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<Result> {
    const own = new TableSet(this.facts, program, { withHeights, isKept: false }, this.#tallies);
    own.holder = own;
    this.#memory.use(own);
    try {
      const result = await work(own);
      if (this.#program === program) for (const table of own.tables.values()) this.#keep(table, own);
      return result;
    } finally {
      this.#memory.forget(own);
    }
  }

  async #keepTrue(shared: SharedSet, reader: PinnedReader, pacer: Pacer): Promise<void> {
    const { set, changed } = shared;
    if (changed.length === 0) return;
    shared.changed = [];
    shared.isInFlux = true;
    try {
      if (await keepTrue(set, changed, reader, pacer)) this.#dropWorn(set);
      else {
        abandon(set);
        this.#drop(set, this.#reachedBy(changed));
      }
    } finally {
      shared.isInFlux = false;
    }
  }

  /** One page of the answers to a question, ordered by the texts of their arguments. */
  async answer(asked: Question, reader: PinnedReader, pacer: Pacer, page: Page): Promise<AnswerPage> {
    pacer.look();
    const matches =
      this.settledMatches(asked, reader) ??
      (await this.evaluate(reader, false, pacer, (set) => matchesOf(asked, set, reader, pacer)));
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

  /** The answers where a shared table has them all already, else null. */
  settledMatches(asked: Question, reader: PinnedReader): Matches | null {
    const { set, changed, isInFlux } = this.#answers;
    if (reader.version !== this.version || reader.overlay !== null) return null;
    if (isInFlux || changed.length > 0) return null;
    const atom = onlyDerivedAtom(asked, set);
    if (atom === null) return null;
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
    if (reader.version !== this.version) return [];
    const found: HeldTable[] = [];
    for (const { set, changed, isInFlux } of [this.#answers, this.#proofs]) {
      if (isInFlux) continue;
      const doubtful = this.#reachedBy(changed);
      for (const table of set.tables.values())
        if (table.rows.rows.live > 0 && !doubtful.has(table.relation))
          found.push({ table, ...plainRows(table.rows.rows, set.constants) });
    }
    return found;
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
      isInFlux: false,
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
    set.lost = (table, row) => {
      for (const losses of this.#losses) losses.add(table, row, set.constants);
    };
    return set;
  }

  #release(shared: SharedSet, set: TableSet, isSettled: boolean): void {
    if (shared.set !== set) return;
    const { holder } = set;
    if (!isSettled || !this.#memory.fits(set.bytes, holder)) this.#renew(shared);
    else if (holder !== null) this.#memory.use(holder);
  }

  /** Puts a new set in the place of one that is not to be used again; what it held becomes known. */
  #replace(shared: SharedSet): void {
    for (const table of shared.set.tables.values()) this.#keep(table, shared.set);
    this.#renew(shared);
  }

  #renew(shared: SharedSet): void {
    this.#tellLosses(shared.set, new Set([...shared.set.tables.values()].map(({ relation }) => relation)));
    shared.set = this.#keptSet(shared.set.withHeights);
    shared.set.holder = shared;
    shared.changed = [];
    shared.isInFlux = false;
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
    this.#drop(shared.set, this.#reachedBy(changed));
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
        for (const losses of this.#losses) losses.drop(table, set.constants);
  }

  #drop(set: TableSet, relations: ReadonlySet<string>): void {
    this.#tellLosses(set, relations);
    for (const relation of relations)
      for (const table of set.tablesOf(relation)) {
        this.#keep(table, set);
        set.reset(table);
      }
  }

  #keep(table: Table, set: TableSet): void {
    this.known.add(table, plainRows(table.rows.rows, set.constants).rows);
  }

  /** Constants of rules are known before questions look theirs up, so that a question can name them. */
  #internConstants(): void {
    for (const text of this.#program.constants) this.facts.dictionary.intern(text);
  }
}

function isWorn(rows: Tuples): boolean {
  return rows.deadCount > 1000 && rows.deadCount * 2 > rows.count;
}

function isOverMemory(error: unknown): boolean {
  return error instanceof EngineError && error.members['limit'] === 'memory';
}
