import { assert, present } from '../base/assert.ts';
import type { Numbers } from '../base/number-list.ts';
import type { Slices } from '../base/slices.ts';
import type { Metadata } from '../contract/facts.ts';
import { relationKey } from '../language/terms.ts';
import { aliveIn, Boundaries } from './validity-boundaries.ts';
import { type ConstantIds, Dictionary } from './dictionary.ts';
import {
  type EndedFact,
  EndedFacts,
  endRememberedFor,
  type PinnedEnds,
  type FactVersion,
  type ArchivedVersions,
  type PinnedArchive,
  VersionArchive,
} from './version-archive.ts';
import {
  type FactPattern,
  type FactRow,
  matchFacts,
  matchFactsInSlices,
  matchRemembered,
  rowsOfAtom,
  type ScopeChoice,
} from './fact-matching.ts';
import type { FetchedRun } from './fact-extras.ts';
import {
  areAlike,
  boundsAfter,
  type FactIdentity,
  type FactToStore,
  isPlain,
  nonEmpty,
  openBounds,
  plainVersion,
  sameJson,
  versionAfter,
} from './fact-to-store.ts';
import { noteAppended } from './appended-facts.ts';
import { type AssertingWrite, FactNumbers, type NumberedFacts } from './fact-numbers.ts';
import { MergeBases, type SavedBases } from './merge-bases.ts';
import { tupleAt } from './tuples.ts';
import { PastFacts, type PastNumbers } from './past-facts.ts';
import { ScopeNames, type SavedScopes, ScopeRecords } from './scope-records.ts';
import { noteRestored } from './restored-facts.ts';
import { RelationNames } from './relation-names.ts';
import { type Bounds, StoredRelation } from './stored-relation.ts';
import type { StoredAmounts } from './stored-amounts.ts';

export type { FactPattern, FactRow, ScopeChoice } from './fact-matching.ts';
export type { FactIdentity, FactToStore } from './fact-to-store.ts';
export { boundsAfter, openBounds } from './fact-to-store.ts';
export type { Bounds } from './stored-relation.ts';
export type { FactVersion } from './version-archive.ts';

/** The facts of a tenant at one moment; see `FactStore.pin`. */
export interface PinnedFacts {
  readonly createdAt: number;
  readonly dictionary: Dictionary;
  readonly constants: number;
  /** By number, from 1 on. */
  readonly forgottenThrough: number;
  readonly scopes: readonly string[];
  readonly scopeRecords: SavedScopes;
  readonly mergeBases: SavedBases;
  /** Dead versions that merge bases need, with their number. */
  readonly archive: readonly PinnedArchive[];
  /** By number. */
  readonly relations: readonly { readonly relation: StoredRelation; readonly rows: number }[];
  readonly numbers: FactNumbers;
  readonly count: number;
  readonly writes: number;
  readonly ended: PinnedEnds;
  readonly past: PastNumbers;
}

/** What a store is restored from. */
interface RestoredFacts {
  readonly createdAt: number;
  readonly dictionary: Dictionary;
  readonly forgottenThrough: number;
  readonly scopes: readonly string[];
  readonly scopeRecords: SavedScopes;
  readonly mergeBases: SavedBases;
  readonly archive: readonly Pick<PinnedArchive, 'relation' | 'versions'>[];
  readonly relations: readonly StoredRelation[];
  readonly numbers: NumberedFacts;
  readonly ended: PinnedEnds;
  readonly past: PastNumbers;
}

/** What `store` did, and the fact's newest version. */
export type StoreOutcome = { readonly status: 'asserted' | 'updated' | 'unchanged' } & FactRow;

/**
 * The facts of one tenant (MVCC): the dictionary, the relations with their versions, and facts by id.
 *
 * Facts are numbered in order of assertion; the id is made of the generation that asserted the fact and its
 * index among the new facts of that write, so that every replica assigns the same ids. Only `apply` changes
 * the store. Uses of facts are recorded elsewhere (`FactUses`).
 */
export class FactStore {
  readonly createdAt: number;
  /** What was stored for this tenant up to this generation is no longer known. */
  forgottenThrough = 0;
  /** Incremented whenever stored facts, or their rows, change. */
  version = 0;
  readonly dictionary: ConstantIds;
  readonly boundaries = new Boundaries();
  /** What is stored, in numbers; null until somebody asks for it. */
  amounts: StoredAmounts | null = null;
  /** Ends of facts that were asserted again since. */
  readonly ended = new EndedFacts();
  readonly past = new PastFacts();
  readonly relations = new Map<string, StoredRelation>();
  /** The same by predicate alone, for look-ups without a key. */
  readonly #byPredicate = new Map<string, StoredRelation[]>();
  /** Made on first use. */
  #names: RelationNames | null = null;
  readonly #scopeNames = new ScopeNames();
  readonly scopes = new ScopeRecords();
  /** The merge bases from forks and merges; see `changeBases`. */
  #mergeBases = new MergeBases();
  readonly #archive = new VersionArchive();
  readonly numbers: FactNumbers;
  /** By number, which compaction keeps. */
  readonly #relationList: StoredRelation[] = [];
  /** See `#room`. */
  #identity = new Int32Array(1);

  constructor(createdAt: number, dictionary: ConstantIds = new Dictionary(), numbers = new FactNumbers()) {
    this.createdAt = createdAt;
    this.dictionary = dictionary;
    this.numbers = numbers;
  }

  /**
   * Restores a store, ready for reads and writes. `time`: the logical time at which the facts were saved;
   * validity boundaries after it are still to come.
   */
  static async restored(kept: RestoredFacts, time: number, slices: Slices): Promise<FactStore> {
    const store = new FactStore(kept.createdAt, kept.dictionary, new FactNumbers(kept.numbers));
    store.forgottenThrough = kept.forgottenThrough;
    for (const scope of kept.scopes) store.#scopeNames.intern(scope);
    store.scopes.restore(kept.scopeRecords);
    for (const relation of kept.relations) {
      store.register(relation);
      await noteRestored(relation, store, time, slices);
    }
    store.#mergeBases = new MergeBases(kept.mergeBases);
    store.#archive.keepFor(store.#mergeBases.pins());
    for (const { relation, versions } of kept.archive) store.#archive.restore(relation, versions);
    store.ended.restore(kept.ended);
    store.past.restore(kept.past);
    return store;
  }

  /**
   * Pins the current state, to be read while writes go on; call it between writes. Read everything only up to
   * the given counts; a version that died later was alive then. The numbers must be unpinned at the end. One
   * moment at a time.
   */
  pin(): PinnedFacts {
    const { dictionary } = this;
    assert(dictionary instanceof Dictionary, 'what is pinned has a dictionary of its own');
    this.numbers.pin();
    return {
      createdAt: this.createdAt,
      dictionary,
      constants: dictionary.size,
      scopes: this.#scopeNames.names.slice(1) as string[],
      scopeRecords: this.scopes.saved(),
      mergeBases: this.#mergeBases.saved(),
      archive: this.#archive.pinned(),
      forgottenThrough: this.forgottenThrough,
      relations: this.#relationList.map((relation) => ({ relation, rows: relation.count })),
      numbers: this.numbers,
      count: this.numbers.count,
      writes: this.numbers.writes,
      ended: this.ended.pin(),
      past: this.past.pinned(),
    };
  }

  /** Number of facts stored at this time in the last generation: alive, their validity not ended. */
  countStored(generation: number, time: number): number {
    let count = 0;
    for (const relation of this.relations.values()) {
      if (relation.validUntil === null) {
        count += relation.liveAt(generation);
        continue;
      }
      for (let row = 0; row < relation.count; row++) if (relation.isHeld(row, generation, time)) count++;
    }
    return count;
  }

  get bytes(): number {
    let bytes = this.dictionary.bytes + this.numbers.bytes + this.past.bytes;
    bytes += this.ended.bytes + this.#archive.bytes;
    for (const relation of this.relations.values()) bytes += relation.bytes;
    return bytes;
  }

  /** Names of scopes by number; 0 is "without scope". */
  get scopeNames(): readonly (string | null)[] {
    return this.#scopeNames.names;
  }

  /** The number of the scope; -1 if it never had a fact. */
  scopeNumber(scope: string | null): number {
    return this.#scopeNames.numberOf(scope);
  }

  /** The number of the scope of a view, -1 if it never had a fact; null: the view includes all scopes. */
  chosenScope(choice: ScopeChoice): number | null {
    if (choice.kind === 'all') return null;
    return this.scopeNumber(choice.kind === 'scope' ? choice.scope : null);
  }

  /** The names of all relations, including those that have no facts any more. */
  get names(): RelationNames {
    if (this.#names === null) {
      this.#names = new RelationNames();
      for (const { predicate, arity } of this.#relationList) this.#names.add(predicate, arity);
    }
    return this.#names;
  }

  /** The relations of this predicate, including those that have no facts any more. */
  relationsOf(predicate: string): readonly StoredRelation[] {
    return this.#byPredicate.get(predicate) ?? [];
  }

  relation(predicate: string, arity: number, negated: boolean): StoredRelation | null {
    const relations = this.#byPredicate.get(predicate);
    if (relations !== undefined)
      for (const relation of relations)
        if (relation.arity === arity && relation.negated === negated) return relation;
    return null;
  }

  /** The newest version of exactly this fact, dead or alive; null if there was none. */
  find(predicate: string, args: readonly string[], truthVal: boolean, scope: string | null): FactRow | null {
    const relation = this.relation(predicate, args.length, !truthVal);
    const scopeNumber = this.scopeNumber(scope);
    if (relation === null || scopeNumber < 0) return null;
    const identity = this.#identityOf(args);
    if (identity === null) return null;
    identity[args.length] = scopeNumber;
    const row = relation.find(identity);
    return row < 0 ? null : { relation, row };
  }

  /** Versions of exactly this atom in the scopes of the choice, unordered; see `rowsOfAtom`. */
  versionsOf(predicate: string, args: readonly string[], truthVal: boolean, choice: ScopeChoice): FactRow[] {
    const relation = this.relation(predicate, args.length, !truthVal);
    const identity = relation === null ? null : this.#identityOf(args);
    if (relation === null || identity === null) return [];
    return rowsOfAtom(this, relation, identity, this.chosenScope(choice)).map((row) => ({ relation, row }));
  }

  /** True if the version counts as stored at this time: alive, its validity not ended. */
  isStored({ relation, row }: FactRow, time: number): boolean {
    return this.#isStored(relation, row, time);
  }

  #isStored(relation: StoredRelation, row: number, time: number): boolean {
    const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    return relation.isAlive(row) && until > time;
  }

  /**
   * Stores the fact in this generation at this logical time: a new fact, a new version of it, or nothing if
   * everything given is unchanged.
   */
  store(fact: FactToStore, generation: number, time: number): StoreOutcome {
    const relation = this.relationFor(fact.predicate, fact.args.length, !fact.truthVal);
    const arity = fact.args.length;
    const identity = this.#room(arity);
    for (let position = 0; position < arity; position++)
      identity[position] = this.dictionary.intern(fact.args[position] as string);
    identity[arity] = this.internScope(fact.scope);
    return this.storeAs(isPlain(fact) ? null : fact, relation, identity, generation, time);
  }

  /**
   * Stores new facts, from one index of a fetched run up to another or the first that has a version; returns how many. See
   * `StoredRelation.appendNew`.
   */
  appendNew(relation: StoredRelation, run: FetchedRun, generation: number, time: number): number {
    const { scopes, from, end, extras } = run;
    if (this.numbers.isPassing) return 0;
    this.#settle(time);
    this.numbers.reserve(end - from);
    const row = relation.count;
    const count = relation.appendNew(run, generation, this.numbers.count);
    if (count === 0) return 0;
    this.version += count;
    const number = this.numbers.giveAll(relation.storeIndex, generation, row, count);
    noteAppended(this, { relation, row, number, count, scopes, from, extras, generation, time });
    return count;
  }

  /**
   * `store` for a fact with these ids: of its arguments, then the scope. `fact` is null if it gives neither validity nor
   * metadata.
   */
  storeAs(
    fact: FactToStore | null,
    relation: StoredRelation,
    identity: Int32Array,
    generation: number,
    time: number,
  ): StoreOutcome {
    const known = relation.find(identity);
    const kept =
      known >= 0 && this.#isStored(relation, known, time) ? versionAt(relation, known) : plainVersion;
    const version = fact === null ? kept : versionAfter(fact, kept);
    const stored = this.#put(relation, identity, known, version, generation, time);
    const told = fact?.endsByTtl === true ? time : null;
    if (fact?.validUntil !== undefined) this.past.noteEnd(numberOf(stored), told);
    return stored;
  }

  /** Scratch space for the ids of a fact's arguments and its scope, valid until the next call. */
  #room(arity: number): Int32Array {
    if (this.#identity.length !== arity + 1) this.#identity = new Int32Array(arity + 1);
    return this.#identity;
  }

  /**
   * Stores the fact with these ids (its arguments, then the scope) in exactly this version: a new fact, a
   * replacement of the previous version, or nothing if that is equal.
   */
  put(
    relation: StoredRelation,
    identity: Int32Array,
    version: FactVersion,
    generation: number,
    time: number,
  ): StoreOutcome {
    return this.#put(relation, identity, relation.find(identity), version, generation, time);
  }

  /** `put`, where `known` is the newest row with these ids, negative if there is none. */
  #put(
    relation: StoredRelation,
    identity: Int32Array,
    known: number,
    version: FactVersion,
    generation: number,
    time: number,
  ): StoreOutcome {
    this.#settle(time);
    if (known >= 0 && relation.isAlive(known)) {
      if (this.#isStored(relation, known, time))
        return this.#update(relation, known, identity, version, generation, time);
      // The ended life stays, for readers of earlier instants.
      this.past.add(relation.number[known] as number);
      const ended = {
        identity: identity.slice(),
        until: relation.validUntil?.[known] as number,
        replacedIn: generation,
      };
      this.ended.remember(keyOf(relation), ended, time);
    }
    this.version++;
    const { from, until, metadata } = version;
    const number = this.numbers.give(relation.storeIndex, generation);
    const row = relation.append(identity, generation, number, from, until, metadata);
    this.numbers.move(number, row);
    this.boundaries.note(number, from, until, time);
    this.scopes.asserted(identity[relation.arity] as number, number, until, time, generation);
    this.amounts?.added(relation, row);
    return { status: 'asserted', relation, row };
  }

  /** True if the newest version of the fact is alive, ended or not, and has the validity and metadata that are given. */
  isExactly(fact: FactToStore): boolean {
    const known = this.find(fact.predicate, fact.args, fact.truthVal, fact.scope);
    if (known === null || !known.relation.isAlive(known.row)) return false;
    const version = this.versionAt(known);
    return areAlike(version, versionAfter(fact, version));
  }

  /** True if storing the fact would change nothing. */
  isAlready(fact: FactToStore, time: number): boolean {
    const known = this.find(fact.predicate, fact.args, fact.truthVal, fact.scope);
    if (known === null || !this.isStored(known, time)) return false;
    const kept = this.boundsOf(fact, time);
    const { from, until } = boundsAfter(fact, kept);
    const metadata = known.relation.metadata.get(known.row) ?? null;
    return (
      from === kept.from &&
      until === kept.until &&
      (fact.metadata === undefined || sameJson(nonEmpty(fact.metadata), metadata))
    );
  }

  /** Ends a live fact. */
  retract(fact: FactRow, generation: number): void {
    this.version++;
    this.past.forget(numberOf(fact));
    const version = this.versionAt(fact);
    this.#archiveDead(fact, version, generation);
    fact.relation.kill(fact.row, generation);
    this.amounts?.removed(fact.relation, fact.row);
    this.numbers.noteChange(numberOf(fact), generation);
    this.scopes.retracted(this.#scopeNumberOf(fact), version.until, generation);
  }

  /** Replaces a live version, whether or not its validity has ended, unless a later life of the fact is stored. */
  replace(fact: FactRow, version: FactVersion, generation: number, time: number): StoreOutcome | null {
    const { relation, row } = fact;
    const identity = tupleAt(relation, row, new Int32Array(relation.arity + 1));
    if (relation.find(identity) !== row) return null;
    return this.#update(relation, row, identity, version, generation, time);
  }

  /** Takes facts whose validity has ended out of the present; the past keeps them. */
  leavePresent(ended: Numbers): void {
    this.version++;
    ended.forEach((number) => this.past.add(number));
  }

  get mergeBases(): MergeBases {
    return this.#mergeBases;
  }

  /** The dead versions of facts in merge bases, by relation; later changes only add to it. */
  get archive(): ReadonlyMap<string, ArchivedVersions> {
    return this.#archive.byRelation;
  }

  /**
   * Replaces the merge bases, in slices: versions that `writes` ends are archived if the new bases need them,
   * and versions that only the old bases needed are dropped. The returned step makes the new bases current.
   */
  *changeBases(
    bases: MergeBases,
    writes: Generator<'more', void, undefined>,
  ): Generator<'more', () => void, undefined> {
    this.#archive.keepFor(bases.pins());
    yield* writes;
    const drop = yield* this.#archive.pruned();
    return () => {
      this.#mergeBases = bases;
      drop();
    };
  }

  /** Archives a dying version; one whose validity has ended is in no base any more. */
  #archiveDead({ relation, row }: FactRow, version: FactVersion, generation: number): void {
    if (version.until > this.scopes.settledThrough) this.#archive.died(relation, row, version, generation);
  }

  /** True if remembered ends of facts in these scopes, asserted again since, exist. */
  hasEnds(choice: ScopeChoice): boolean {
    return this.ended.has(this.#isEndIn(choice));
  }

  /** Forgets remembered ends of facts in these scopes that were asserted again since. */
  forgetEnds(choice: ScopeChoice): void {
    this.version++;
    this.ended.forget(this.#isEndIn(choice));
  }

  /** Drops what merge bases and remembered ends have of these facts: see `erased-facts.ts`. */
  forgetTraces(isErased: (args: Int32Array, metadata: Metadata | null) => boolean): void {
    this.version++;
    this.ended.forget(({ identity }) => isErased(identity.subarray(0, -1), null));
    this.#archive.erase(isErased);
  }

  #isEndIn(choice: ScopeChoice): (ended: EndedFact) => boolean {
    const scope = this.chosenScope(choice);
    return ({ identity }) => scope === null || identity.at(-1) === scope;
  }

  /**
   * Processes, in slices, the validities that ended up to this time; see `ScopeRecords`. At a time before an earlier one,
   * facts that had ended then count again.
   */
  settleScopes(time: number): Generator<'more', void, undefined> {
    if (this.scopes.settledThrough > time) this.scopes.turnBack(time, aliveIn(this.relations.values()));
    return this.scopes.settle(time, (number, instant) => {
      const fact = this.versionOf(number);
      const { relation, row } = fact;
      return row >= 0 && relation.isAlive(row) && relation.validUntil?.[row] === instant
        ? this.#scopeNumberOf(fact)
        : 0;
    });
  }

  /** See `Boundaries.turnBack`. */
  turnBack(time: number, from: number): number[] {
    // Facts count again that had ended: whoever asks next counts anew.
    if (time < from) this.amounts = null;
    return this.boundaries.turnBack(time, from, aliveIn(this.relations.values()));
  }

  #settle(time: number): void {
    if (this.scopes.settledThrough === time) return;
    for (const slice of this.settleScopes(time)) assert(slice === 'more', 'every slice is worked off');
  }

  versionAt({ relation, row }: FactRow): FactVersion {
    return versionAt(relation, row);
  }

  /** The validity bounds of exactly this fact as stored at this time; open if it is not stored. */
  boundsOf(fact: FactToStore, time: number): Bounds {
    const known = this.find(fact.predicate, fact.args, fact.truthVal, fact.scope);
    return known === null || !this.isStored(known, time) ? openBounds : known.relation.boundsOf(known.row);
  }

  /**
   * The generation that last changed exactly this fact, including retractions; 0 if none did. For a fact that
   * is not stored and may have been forgotten, the latest generation that can have retracted it.
   */
  changedAt(predicate: string, args: readonly string[], truthVal: boolean, scope: string | null): number {
    const known = this.find(predicate, args, truthVal, scope);
    if (known === null) return this.forgottenOf(predicate, args.length, !truthVal);
    const { relation, row } = known;
    const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
    if (death !== Number.POSITIVE_INFINITY) return death;
    // Of an ended fact that was asserted again, the later versions may have been retracted and dropped.
    const forgotten = this.past.has(numberOf(known)) ? relation.forgottenThrough : 0;
    return Math.max(relation.bornIn(row), forgotten);
  }

  /**
   * The latest generation that can have retracted a fact of this relation of which nothing is known any more.
   */
  forgottenOf(predicate: string, arity: number, negated: boolean): number {
    return Math.max(this.forgottenThrough, this.relation(predicate, arity, negated)?.forgottenThrough ?? 0);
  }

  /** The matching versions that were born or died after this generation. */
  matchChanged(pattern: FactPattern, generation: number): Generator<FactRow> {
    return matchFacts(this, pattern, (relation, row) => {
      const diedIn = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
      return relation.bornIn(row) > generation || (diedIn > generation && Number.isFinite(diedIn));
    });
  }

  /**
   * Drops tombstones up to this generation where most rows are dead; where there are many, once most are copied. Requires
   * that no reader is at an earlier generation than the last. Returns the relations to try again.
   */
  compact(relations: Iterable<string>, generation: number): string[] {
    const left: string[] = [];
    for (const key of relations) {
      const old = this.relations.get(key);
      if (old?.isMostlyDead !== true) old?.endCompaction();
      else if (!old.isMostlyDeadThrough(generation) || !old.compaction(generation).isNearlyWhole)
        left.push(key);
      else this.#compactRelation(key, old, generation);
    }
    return left;
  }

  #compactRelation(key: string, old: StoredRelation, generation: number): void {
    this.version++;
    const fresh = old.compaction(generation).finish();
    for (let row = 0; row < old.count; row++) {
      const number = old.number[row] as number;
      if (this.numbers.place(number).row === row) this.numbers.move(number, -1);
    }
    for (let row = 0; row < fresh.count; row++) this.numbers.move(fresh.number[row] as number, row);
    const { storeIndex } = old;
    this.relations.set(key, fresh);
    const others = present(this.#byPredicate.get(old.predicate), 'a relation is found by its predicate');
    others[others.indexOf(old)] = fresh;
    this.#relationList[storeIndex] = fresh;
    fresh.storeIndex = storeIndex;
  }

  idOf(fact: FactRow): string {
    return this.numbers.idOf(numberOf(fact));
  }

  /** The generation that asserted the fact. */
  assertedIn(fact: FactRow): number {
    return this.numbers.assertedIn(numberOf(fact));
  }

  /** The numbers of the facts that this generation asserted; see `FactNumbers.numbersOf`. */
  numbersOf(generation: number): { readonly first: number; readonly end: number } {
    return this.numbers.numbersOf(generation);
  }

  /** The write that asserted the fact with this number; see `FactNumbers`. */
  writeOf(number: number, near?: number): AssertingWrite {
    return this.numbers.writeOf(number, near);
  }

  /** When a restored fact first existed; null if it was not restored. See `FactNumbers.createdAtOf`. */
  createdAtOf(fact: FactRow): number | null {
    return this.numbers.createdAtOf(numberOf(fact));
  }

  /** Sets when a fact asserted by the current write first existed. */
  setCreatedAt(fact: FactRow, time: number): void {
    this.numbers.setCreatedAt(numberOf(fact), time);
  }

  /** The newest version of the fact with this id, dead or alive; null if this tenant has no such fact. */
  byId(id: string): FactRow | null {
    const number = this.numbers.numberOf(id);
    if (number < 0) return null;
    const version = this.versionOf(number);
    return version.row < 0 ? null : version;
  }

  /** The newest version, dead or alive, of the fact with this number; row -1 if compaction dropped it. */
  versionOf(number: number): FactRow {
    const { relation, row } = this.numbers.place(number);
    const of = this.#relationList[relation] ?? (row < 0 ? noRelation : null);
    return { relation: present(of, 'a fact has its relation'), row };
  }

  /** The version that a reader at this generation and time counts as stored, or null. */
  heldAt(fact: FactRow, generation: number, time: number): FactRow | null {
    const { relation } = fact;
    const row = relation.versionAt(fact.row, generation);
    return row >= 0 && relation.isHeld(row, generation, time) ? { relation, row } : null;
  }

  /** Generations of a fact's last changes after its assertion, ascending, at most ten. */
  changesOf(fact: FactRow): readonly number[] {
    return this.numbers.changesOf(numberOf(fact));
  }

  /**
   * The matching facts, as seen at this generation and time; `notYetValid` includes those whose validity has
   * not begun. Copies in several scopes come one by one. In order of assertion within a relation.
   */
  match(pattern: FactPattern, generation: number, time: number, notYetValid = false): Generator<FactRow> {
    const isWanted = (relation: StoredRelation, row: number): boolean =>
      notYetValid ? relation.isHeld(row, generation, time) : relation.isVisible(row, generation, time);
    return matchFacts(this, pattern, isWanted, generation);
  }

  /** The same with `notYetValid`, and null now and then; see `matchFactsInSlices`. */
  matchInSlices(pattern: FactPattern, generation: number, time: number): Generator<FactRow | null> {
    if (!pattern.args.some((term) => term.startsWith('?')))
      return this.match(pattern, generation, time, true);
    return matchFactsInSlices(this, pattern, (relation, row) => relation.isHeld(row, generation, time));
  }

  /** The matching facts that were stored in this generation but become valid only after this time. */
  matchPending(pattern: FactPattern, generation: number, time: number): Generator<FactRow> {
    return matchFacts(
      this,
      pattern,
      (relation, row) => relation.isHeld(row, generation, time) && !relation.isVisible(row, generation, time),
    );
  }

  /**
   * The validities that ended in the day before this time, of matching facts that were not retracted before:
   * both facts not asserted again, and facts asserted again, perhaps retracted since. Unordered.
   */
  *matchEnded(
    pattern: FactPattern & { readonly truthVal: boolean },
    generation: number,
    time: number,
  ): Generator<{ readonly args: string[]; readonly scope: string | null; readonly until: number }> {
    const isRemembered = (until: number): boolean => until <= time && until > time - endRememberedFor;
    const hasEnded = (relation: StoredRelation, row: number): boolean =>
      isRemembered(relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) &&
      relation.wasAlive(row, generation) &&
      (!this.past.has(relation.number[row] as number) || relation.wasReplacedAfter(row, generation));
    for (const fact of matchFacts(this, pattern, hasEnded)) {
      const until = fact.relation.validUntil?.[fact.row] as number;
      yield { args: this.argsOf(fact), scope: this.scopeOf(fact), until };
    }
    for (const { identity, until, replacedIn } of matchRemembered(this, this.ended, pattern)) {
      if (replacedIn > generation || !isRemembered(until)) continue;
      const args = Array.from(identity.subarray(0, -1), (id) => this.dictionary.text(id));
      yield { args, scope: this.scopeNames[identity.at(-1) as number] ?? null, until };
    }
  }

  argsOf(fact: FactRow): string[] {
    const { relation, row } = fact;
    const args: string[] = [];
    for (let position = 0; position < relation.arity; position++)
      args.push(this.dictionary.text((relation.columns[position] as Int32Array)[row] as number));
    return args;
  }

  identityOf(fact: FactRow): FactIdentity {
    const { predicate, negated } = fact.relation;
    return { predicate, args: this.argsOf(fact), truthVal: !negated, scope: this.scopeOf(fact) };
  }

  scopeOf(fact: FactRow): string | null {
    return this.scopeNames[this.#scopeNumberOf(fact)] ?? null;
  }

  #scopeNumberOf({ relation, row }: FactRow): number {
    return (relation.columns[relation.arity] as Int32Array)[row] as number;
  }

  metadataOf(fact: FactRow): Metadata {
    return fact.relation.metadata.get(fact.row) ?? {};
  }

  #update(
    relation: StoredRelation,
    known: number,
    identity: Int32Array,
    version: FactVersion,
    generation: number,
    time: number,
  ): StoreOutcome {
    const before = this.versionAt({ relation, row: known });
    if (areAlike(before, version)) return { status: 'unchanged', relation, row: known };
    const { from, until, metadata } = version;
    this.version++;
    this.#archiveDead({ relation, row: known }, before, generation);
    relation.kill(known, generation);
    this.amounts?.removed(relation, known);
    const number = relation.number[known] as number;
    const row = relation.append(identity, generation, number, from, until, metadata);
    this.numbers.move(number, row);
    this.boundaries.note(number, from, until, time);
    this.amounts?.added(relation, row);
    const scope = identity[relation.arity] as number;
    if (before.until <= this.scopes.settledThrough)
      this.scopes.asserted(scope, number, until, time, generation);
    else if (until !== before.until) this.scopes.moved(scope, number, until, time, generation);
    this.numbers.noteChange(number, generation);
    return { status: 'updated', relation, row };
  }

  /** The ids of the arguments, with room for the scope after them; null if one was never interned. */
  #identityOf(args: readonly string[]): Int32Array | null {
    const identity = new Int32Array(args.length + 1);
    for (let position = 0; position < args.length; position++) {
      const id = this.dictionary.find(args[position] as string);
      if (id < 0) return null;
      identity[position] = id;
    }
    return identity;
  }

  /** The relation; a new one if there is none. */
  relationFor(predicate: string, arity: number, negated: boolean): StoredRelation {
    const known = this.relation(predicate, arity, negated);
    if (known !== null) return known;
    const relation = new StoredRelation(predicate, arity, negated);
    this.register(relation);
    return relation;
  }

  /** The number of the scope; assigns one if it is new. */
  internScope(scope: string | null): number {
    return this.#scopeNames.intern(scope);
  }

  /** Adds a relation that it does not have, and assigns it its number. */
  register(relation: StoredRelation): void {
    this.relations.set(keyOf(relation), relation);
    const others = this.#byPredicate.get(relation.predicate);
    if (others === undefined) this.#byPredicate.set(relation.predicate, [relation]);
    else others.push(relation);
    this.#names?.add(relation.predicate, relation.arity);
    relation.storeIndex = this.#relationList.length;
    this.#relationList.push(relation);
  }
}

/** Stands for the relation of a fact of which nothing is known any more. */
const noRelation = new StoredRelation('', 0, false);

function numberOf({ relation, row }: FactRow): number {
  return relation.number[row] as number;
}

function keyOf({ predicate, arity, negated }: StoredRelation): string {
  return relationKey(predicate, arity, negated);
}

function versionAt(relation: StoredRelation, row: number): FactVersion {
  const { validFrom, validUntil, metadata } = relation;
  if (validFrom === null && validUntil === null && metadata.size === 0) return plainVersion;
  const { from, until } = relation.boundsOf(row);
  return { from, until, metadata: metadata.get(row) ?? null };
}
