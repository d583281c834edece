import type { Proof } from '../contract/inference.ts';
import type { FactRow, FactStore } from '../facts/fact-store.ts';
import { Tuples } from '../facts/tuples.ts';
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import { renderAtom } from '../logic/print.ts';
import { relationKey } from '../logic/terms.ts';
import { type Limits, Pacer, type Pause } from './evaluation.ts';
import { type Candidates, KnownConclusions, plainRows, tupleAt } from './known-conclusions.ts';
import type { Program } from './program.ts';
import { type GroundAtom, ProofBuilder } from './proof.ts';
import {
  copyMatches,
  type Matches,
  matchesOf,
  onlyDerivedAtom,
  type Question,
  tableFor,
} from './question.ts';
import { type Reader, sees } from './reader.ts';
import { rowsByText } from './sorted.ts';
import { TableSet, type Tallies } from './table-set.ts';
import type { Table } from './table.ts';

/**
 * Reasoning over one tenant's facts: tables that questions share, and what becomes of them when facts change.
 *
 * A change drops the tables that it reaches. A question is pinned to the state it was asked in: it fills the shared
 * tables where no other question is at it and nothing changed since it was pinned, and tables of its own otherwise,
 * so no question ever waits for another, nor a write for a question. What an ended question left unfinished is
 * dropped.
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

const mostMsForDependents = 1000;
const goalsAtOnce = 256;

interface SharedSet {
  set: TableSet;
  /** Relations that changed while an evaluation was filling the set. */
  changed: Set<string>;
}

export class Reasoner {
  readonly facts: FactStore;
  readonly known = new KnownConclusions();
  /** Moves with every change that an answer can notice. */
  version = 0;
  /** Who reads now and must not lose what died since: `FactStore.compact` waits for them. */
  readers = 0;
  readonly #lastChange = { generation: 0, time: Number.NEGATIVE_INFINITY };
  #program: Program;
  #answers: SharedSet;
  #proofs: SharedSet;
  readonly #tallies: Tallies;
  readonly #pause: Pause;
  readonly #memoryBytes: number;

  constructor(facts: FactStore, program: Program, tallies: Tallies, pause: Pause, memoryBytes: number) {
    this.facts = facts;
    this.#program = program;
    this.#tallies = tallies;
    this.#pause = pause;
    this.#memoryBytes = memoryBytes;
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

  /** Takes new rules, and forgets everything that was derived with the old ones. */
  use(program: Program): void {
    this.#program = program;
    this.#internConstants();
    this.forget();
  }

  /** Forgets everything derived. */
  forget(): void {
    this.version++;
    this.#answers = this.#shared(false);
    this.#proofs = this.#shared(true);
    this.known.clear();
  }

  /**
   * A reader of this generation and time, under the rules as they are now unless others are given; one of a state
   * before the last change shares no tables.
   */
  reader(
    generation: number,
    time: number,
    hidden: Reader['hidden'] = null,
    program: Program = this.#program,
  ): PinnedReader {
    const { generation: changedIn, time: changedAt } = this.#lastChange;
    const isCurrent = generation >= changedIn && time >= changedAt && program === this.#program;
    return { facts: this.facts, generation, time, hidden, program, version: isCurrent ? this.version : -1 };
  }

  pacer(limits: Omit<Limits, 'memoryBytes'>): Pacer {
    return new Pacer({ ...limits, memoryBytes: this.#memoryBytes }, this.#pause);
  }

  /** Drops the tables that a write to these relations in this generation reaches; their rows become known. */
  touched(relations: Iterable<string>, generation: number): void {
    this.#lastChange.generation = generation;
    this.#changed(relations);
  }

  /** Drops the tables reached by the relations in which a validity began or ended up to this time. */
  passed(relations: Iterable<string>, time: number): void {
    this.#lastChange.time = time;
    this.#changed(relations);
  }

  #changed(relations: Iterable<string>): void {
    this.version++;
    const reached = this.reached(relations);
    for (const shared of [this.#answers, this.#proofs]) {
      // A constant that a set made for itself may have come to the dictionary: one text would have two ids.
      if (shared.set.constants.ownCount > 0) this.#replace(shared);
      else if (shared.set.owner !== null) for (const relation of reached) shared.changed.add(relation);
      else this.#drop(shared.set, reached);
    }
    if (this.known.bytes > this.#memoryBytes / 4) this.known.clear();
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
    for (const { set, changed } of [this.#answers, this.#proofs])
      for (const relation of relations)
        for (const table of set.tablesOf(relation)) {
          const { rows } = table.rows;
          if (rows.count === 0) continue;
          const demand = plainRows(table.demand.rows, table.demand.rows.count, set.constants);
          const demanded = { boundPositions: table.boundPositions, demand: { rows: demand } };
          const isCertain = !changed.has(relation);
          const plain = plainRows(rows, rows.count, set.constants);
          found.push({ ...table, rows: plain, count: plain.count, table: demanded, isCertain });
        }
    const known = this.known.take(relations);
    if (keepKnown) for (const each of known) this.known.add(each, each.rows);
    return [...found, ...known];
  }

  /**
   * Lets `work` fill tables for the reader: the shared ones where that is possible, else some of its own. It is done
   * again from the start where tables of earlier questions left too little memory for it.
   */
  async evaluate<Result>(
    reader: PinnedReader,
    withHeights: boolean,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<Result> {
    const shared = withHeights ? this.#proofs : this.#answers;
    if (shared.set.owner !== null || reader.version !== this.version || reader.hidden !== null) {
      const own = new TableSet(this.facts, reader.program, withHeights, this.#tallies);
      const result = await work(own);
      if (reader.hidden === null && this.#program === reader.program)
        for (const table of own.tables.values()) this.#keep(table, own);
      return result;
    }
    const { set } = shared;
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
    return this.evaluate(reader, withHeights, work);
  }

  /** One page of the answers to a question, ordered by the texts of their arguments. */
  async answer(asked: Question, reader: PinnedReader, pacer: Pacer, page: Page): Promise<AnswerPage> {
    pacer.look();
    const matches =
      this.#settledMatches(asked, reader) ??
      (await this.evaluate(reader, false, (set) => matchesOf(asked, set, reader, pacer)));
    const width = asked.variables.length;
    const end = page.limit === null ? matches.count : Math.min(matches.count, page.offset + page.limit);
    const order = await rowsByText(matches.ids, matches.count, width, matches.constants, pacer, end);
    const rows = Array.from(order.subarray(Math.min(page.offset, end)));
    const isTruncated = end < matches.count;
    if (!page.withProof) return { matches, page: rows, isTruncated, proof: null };
    const proof = await this.evaluate(reader, true, async (set) => {
      const builder = new ProofBuilder(set, reader, pacer);
      return { proof: await builder.prove(matches, rows, page.withAlternatives), facts: builder.facts };
    });
    return { matches, page: rows, isTruncated, proof };
  }

  /** The answers where a shared table has them all already. */
  #settledMatches(asked: Question, reader: PinnedReader): Matches | null {
    const { set, changed } = this.#answers;
    if (reader.version !== this.version || reader.hidden !== null || changed.size > 0) return null;
    const atom = onlyDerivedAtom(asked, set);
    if (atom === null) return null;
    const place = tableFor(atom, asked.view, set);
    if (place === null) return null;
    const { table, key } = place;
    const row = table.demand.rows.find(key);
    return row >= 0 && row < table.settled ? copyMatches(asked, atom, table, key, set) : null;
  }

  /** Distinct known conclusions that hold and are not stored, by relation, whatever the view. */
  async knownByRelation(reader: PinnedReader, pacer: Pacer): Promise<KnownCount[]> {
    const found = new Map<string, KnownCount & { seen: Tuples }>();
    const { dictionary } = this.facts;
    for (const { table, rows } of this.#heldTables(reader)) {
      const of = { predicate: table.predicate, arity: table.arity, negated: table.negated };
      let entry = found.get(table.relation);
      if (entry === undefined)
        found.set(table.relation, (entry = { of, count: 0, example: null, seen: new Tuples(of.arity) }));
      const tuple = new Int32Array(of.arity);
      const count = rows.count;
      for (let row = 0; row < count; row++) {
        if ((row & 0x3fff) === 0x3fff) await pacer.breathe();
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
    const tables = this.#heldTables(reader).filter(({ table }) => reached.has(table.relation));
    const used = new Set<string>();
    for (const { table, rows } of tables) {
      const count = rows.count;
      for (let at = 0; at < count && pacer.elapsedMs < mostMsForDependents; at += goalsAtOnce) {
        const goals = this.#goals(table, rows, at, Math.min(count, at + goalsAtOnce));
        const found = await this.evaluate(reader, true, (set) =>
          new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY).dependentsOf(fact, goals),
        );
        for (const atom of found) used.add(atom);
      }
    }
    return [...used].sort(compareText);
  }

  /** The rows from `start` to `end` of a table as atoms. */
  #goals({ view, predicate, arity, negated }: Table, rows: Tuples, start: number, end: number): GroundAtom[] {
    const tuple = new Int32Array(arity);
    return Array.from({ length: end - start }, (_, at) => {
      const args = Array.from(tupleAt(rows, start + at, tuple), (id) => this.facts.dictionary.text(id));
      return { view, literal: { predicate, args, negated, naf: false } };
    });
  }

  /** Tables whose rows hold for the reader, with those rows. */
  #heldTables(reader: PinnedReader): { table: Table; rows: Tuples }[] {
    if (reader.version !== this.version) return [];
    const found: { table: Table; rows: Tuples }[] = [];
    for (const { set, changed } of [this.#answers, this.#proofs])
      for (const table of set.tables.values())
        if (table.rows.rows.count > 0 && !changed.has(table.relation))
          found.push({ table, rows: plainRows(table.rows.rows, table.rows.rows.count, set.constants) });
    return found;
  }

  #isStored(of: Table, tuple: Int32Array, reader: Reader): boolean {
    const relation = this.facts.relation(of.predicate, of.arity, of.negated);
    if (relation === null) return false;
    const identity = new Int32Array(of.arity + 1);
    identity.set(tuple);
    for (let scope = 0; scope < this.facts.scopeNames.length; scope++) {
      identity[of.arity] = scope;
      const row = relation.findAt(identity, reader.generation);
      if (row >= 0 && sees(reader, relation, row)) return true;
    }
    return false;
  }

  #shared(withHeights: boolean): SharedSet {
    return { set: new TableSet(this.facts, this.#program, withHeights, this.#tallies), changed: new Set() };
  }

  #release(shared: SharedSet, set: TableSet, isSettled: boolean): void {
    if (shared.set !== set) return;
    const { changed } = shared;
    shared.changed = new Set();
    if (!isSettled || this.bytes > this.#memoryBytes) shared.set = this.#shared(set.withHeights).set;
    else if (changed.size > 0) this.#drop(set, changed);
  }

  /** Puts a new set in the place of one that is not to be used again; what it held becomes known. */
  #replace(shared: SharedSet): void {
    for (const table of shared.set.tables.values()) this.#keep(table, shared.set);
    shared.set = this.#shared(shared.set.withHeights).set;
    shared.changed = new Set();
  }

  #drop(set: TableSet, relations: ReadonlySet<string>): void {
    for (const relation of relations)
      for (const table of set.tablesOf(relation)) {
        this.#keep(table, set);
        set.reset(table);
      }
  }

  #keep(table: Table, set: TableSet): void {
    const { rows } = table.rows;
    this.known.add(table, plainRows(rows, rows.count, set.constants));
  }

  /** Constants of rules are known before questions look theirs up, so that a question can name them. */
  #internConstants(): void {
    for (const text of this.#program.constants) this.facts.dictionary.intern(text);
  }
}

function isOverMemory(error: unknown): boolean {
  return error instanceof EngineError && error.members['limit'] === 'memory';
}
