import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { type Metadata } from '../contract/facts.ts';
import { relationKey } from '../logic/terms.ts';
import { Boundaries } from './boundaries.ts';
import { type ConstantIds, Dictionary } from './dictionary.ts';
import { type EndedFact, EndedFacts, endRememberedFor } from './ended-facts.ts';
import { StoredRelation } from './stored-relation.ts';

/**
 * The facts of one tenant: the dictionary, the stored relations, and how a fact is found by its id.
 *
 * Facts are numbered in the order of their assertion; the id is text made of the generation that asserted the
 * fact and its place among the new facts of that write, so that every replica gives the same ids. Everything here
 * is changed by `apply` only. Uses of facts are observed elsewhere (`FactUses`).
 */
export interface FactToStore {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  /** Absent: as it was. 'always' and 'never' clear the bound. */
  readonly validFrom?: number | 'always';
  readonly validUntil?: number | 'never';
  readonly metadata?: Metadata;
}

/** What makes two facts the same fact. */
export type FactIdentity = Pick<FactToStore, 'predicate' | 'args' | 'truthVal' | 'scope'>;

/** A version of a stored fact: where it lies. */
export interface FactRow {
  readonly relation: StoredRelation;
  readonly row: number;
}

export interface FactPattern {
  readonly predicate: string;
  /** Constants, and variables that start with `?`. A variable twice matches equal constants. */
  readonly args: readonly string[];
  /** null: both truth values. */
  readonly truthVal: boolean | null;
  readonly scope: ScopeChoice;
}

/** null: every scope; '' cannot be a scope's name, so `unscoped` is a choice of its own. */
export type ScopeChoice =
  | { readonly kind: 'all' }
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'scope'; readonly scope: string };

/** When a fact is valid: from, inclusive, until, exclusive; infinite where it is open. */
export interface Bounds {
  readonly from: number;
  readonly until: number;
}

export const openBounds: Bounds = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

export type StoreOutcome = { readonly status: 'asserted' | 'updated' | 'unchanged' } & FactRow;

/** Up to so many scopes an atom is looked for in one after the other, which takes no index. */
const fewScopes = 8;

export class FactStore {
  readonly createdAt: number;
  /** Moves with every change of what is stored, and of where it lies. */
  version = 0;
  /** While a write is applied in slices: rows must stay where they lie. */
  isBeingWritten = false;
  readonly dictionary: ConstantIds;
  readonly boundaries = new Boundaries();
  readonly #ended = new EndedFacts();
  readonly relations = new Map<string, StoredRelation>();
  /** Names of scopes by their number; 0 is "without scope". */
  readonly scopeNames: (string | null)[] = [null];
  readonly #scopeNumbers = new Map<string, number>();
  /** By the number of a fact: its relation, and the row of its newest version. */
  #relationOf = new Int32Array(64);
  #rowOf = new Int32Array(64);
  #facts = 0;
  readonly #relationList: StoredRelation[] = [];
  readonly #relationNumbers = new Map<StoredRelation, number>();
  /** Writes that asserted something, ascending: the generation and the number of its first new fact. */
  readonly #writes: { generation: number; first: number }[] = [];
  /** Facts that changed after their assertion, by number: the generations of those changes, the last ten. */
  readonly #changes = new Map<number, number[]>();

  constructor(createdAt: number, dictionary: ConstantIds = new Dictionary()) {
    this.createdAt = createdAt;
    this.dictionary = dictionary;
  }

  /** Facts that count as stored at this time, in this generation, the last one: alive, their validity not ended. */
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
    let bytes = this.dictionary.bytes + this.#relationOf.byteLength + this.#rowOf.byteLength;
    bytes += this.#ended.bytes;
    for (const relation of this.relations.values()) bytes += relation.bytes;
    return bytes;
  }

  scopeNumber(scope: string | null): number {
    return scope === null ? 0 : (this.#scopeNumbers.get(scope) ?? -1);
  }

  relation(predicate: string, arity: number, negated: boolean): StoredRelation | null {
    return this.relations.get(relationKey(predicate, arity, negated)) ?? null;
  }

  /** The newest version of exactly this fact, dead or alive, or null where there was none. */
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

  /** Versions of exactly this atom in the scopes of the choice, in no order: see `rowsOf`. */
  versionsOf(predicate: string, args: readonly string[], truthVal: boolean, choice: ScopeChoice): FactRow[] {
    const relation = this.relation(predicate, args.length, !truthVal);
    const identity = relation === null ? null : this.#identityOf(args);
    if (relation === null || identity === null) return [];
    return this.rowsOf(relation, identity, choice).map((row) => ({ relation, row }));
  }

  /**
   * Rows of the relation with these argument ids, in no order: of every scope of the choice at least the newest,
   * dead or alive. Costs in proportion to how many rows the atom has, however many scopes there are; in the view of
   * many scopes by an index over all arguments.
   */
  rowsOf(relation: StoredRelation, ids: Int32Array, choice: ScopeChoice): number[] {
    const { arity } = relation;
    const scopes =
      choice.kind === 'all'
        ? Array.from({ length: Math.min(this.scopeNames.length, fewScopes + 1) }, (_, number) => number)
        : [choice.kind === 'unscoped' ? 0 : this.scopeNumber(choice.scope)];
    const rows: number[] = [];
    if (scopes.length <= fewScopes) {
      const identity = new Int32Array(arity + 1);
      identity.set(ids.subarray(0, arity));
      for (const scope of scopes) {
        identity[arity] = scope;
        const row = scope < 0 ? -1 : relation.find(identity);
        if (row >= 0) rows.push(row);
      }
    } else if (arity === 0) for (let row = 0; row < relation.count; row++) rows.push(row);
    else {
      const index = relation.index(Array.from({ length: arity }, (_, position) => position));
      for (let next = index.first(ids); next !== 0; next = index.next[next - 1] as number)
        rows.push(next - 1);
    }
    return rows;
  }

  /** True where the version counts as stored at this time: alive, its validity not ended. */
  isStored(fact: FactRow, time: number): boolean {
    const until = fact.relation.validUntil?.[fact.row] ?? Number.POSITIVE_INFINITY;
    return fact.relation.isAlive(fact.row) && until > time;
  }

  /**
   * Stores the fact in this generation at this logical time: a new fact, a new version of it, or nothing where
   * all that is given is as it was.
   */
  store(fact: FactToStore, generation: number, time: number): StoreOutcome {
    const relation = this.#relationFor(fact.predicate, fact.args.length, !fact.truthVal);
    const identity = new Int32Array(fact.args.length + 1);
    for (const [position, text] of fact.args.entries()) identity[position] = this.dictionary.intern(text);
    identity[fact.args.length] = this.#internScope(fact.scope);
    const known = relation.find(identity);
    if (known >= 0 && relation.isAlive(known)) {
      if (this.isStored({ relation, row: known }, time))
        return this.#update(relation, known, identity, fact, generation, time);
      relation.kill(known, generation);
      const ended = { identity, until: relation.validUntil?.[known] as number, replacedIn: generation };
      this.#ended.remember(keyOf(relation), ended, time);
    }
    this.version++;
    const { from, until } = boundsAfter(fact, openBounds);
    const number = this.#newNumber(relation, generation);
    const row = relation.append(identity, generation, number, from, until, nonEmpty(fact.metadata ?? null));
    this.#rowOf[number] = row;
    this.#noteBounds(number, from, until, time);
    return { status: 'asserted', relation, row };
  }

  /** True where storing the fact would find it unchanged. */
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

  /** Ends a fact that is alive. */
  retract(fact: FactRow, generation: number): void {
    this.version++;
    fact.relation.kill(fact.row, generation);
    this.#noteChange(fact.relation.number[fact.row] as number, generation);
  }

  /** The bounds of validity of exactly this fact as it is stored at this time; open where it is not. */
  boundsOf(fact: FactToStore, time: number): Bounds {
    const known = this.find(fact.predicate, fact.args, fact.truthVal, fact.scope);
    if (known === null || !this.isStored(known, time)) return openBounds;
    return {
      from: known.relation.validFrom?.[known.row] ?? Number.NEGATIVE_INFINITY,
      until: known.relation.validUntil?.[known.row] ?? Number.POSITIVE_INFINITY,
    };
  }

  /**
   * The generation that last changed exactly this fact, retractions included; 0 where it never was. Of a fact that
   * is not there and may have been forgotten, the latest generation that can have retracted it.
   */
  changedAt(predicate: string, args: readonly string[], truthVal: boolean, scope: string | null): number {
    const known = this.find(predicate, args, truthVal, scope);
    if (known === null) return this.relation(predicate, args.length, !truthVal)?.forgottenThrough ?? 0;
    const death = known.relation.death?.[known.row] ?? Number.POSITIVE_INFINITY;
    return death === Number.POSITIVE_INFINITY ? (known.relation.birth[known.row] as number) : death;
  }

  /**
   * Lets go of rows that died up to this generation, in relations most of whose rows did. Nobody may be reading at an
   * earlier generation than the last. Returns those of the relations that are to be looked at again, since their
   * dead rows are still held. Afterwards the id of a fact whose rows went names nothing.
   */
  compact(relations: Iterable<string>, generation: number): string[] {
    const left: string[] = [];
    for (const key of relations) {
      const old = this.relations.get(key);
      if (old === undefined || (!this.isBeingWritten && !old.isMostlyDead)) continue;
      if (this.isBeingWritten || !old.isMostlyDeadThrough(generation)) left.push(key);
      else this.#compactRelation(key, old, generation);
    }
    return left;
  }

  #compactRelation(key: string, old: StoredRelation, generation: number): void {
    this.version++;
    const fresh = old.compacted(generation);
    for (let row = 0; row < old.count; row++)
      if (this.#rowOf[old.number[row] as number] === row) this.#rowOf[old.number[row] as number] = -1;
    for (let row = 0; row < fresh.count; row++) this.#rowOf[fresh.number[row] as number] = row;
    const place = present(this.#relationNumbers.get(old), 'a relation has its number');
    this.relations.set(key, fresh);
    this.#relationList[place] = fresh;
    this.#relationNumbers.delete(old);
    this.#relationNumbers.set(fresh, place);
  }

  idOf(fact: FactRow): string {
    const number = fact.relation.number[fact.row] as number;
    const write = this.#writeOf(number);
    return `f${write.generation}-${number - write.first}`;
  }

  /** The generation that asserted the fact. */
  assertedIn(fact: FactRow): number {
    return this.#writeOf(fact.relation.number[fact.row] as number).generation;
  }

  /** The newest version of the fact with this id, dead or alive; null where no fact of this tenant has it. */
  byId(id: string): FactRow | null {
    const parts = /^f(\d{1,15})-(\d{1,15})$/.exec(id);
    if (parts === null) return null;
    const generation = Number(parts[1]);
    const place = Number(parts[2]);
    const at = this.#firstWriteAfter(generation) - 1;
    const write = this.#writes[at];
    if (write === undefined || write.generation !== generation) return null;
    const end = this.#writes[at + 1]?.first ?? this.#facts;
    const number = write.first + place;
    if (number >= end || (this.#rowOf[number] as number) < 0) return null;
    return {
      relation: present(this.#relationList[this.#relationOf[number] as number], 'a fact has its relation'),
      row: this.#rowOf[number] as number,
    };
  }

  /** The newest version, dead or alive, of the fact with this number; row -1 where compaction has let it go. */
  versionOf(number: number): FactRow {
    const relation = present(
      this.#relationList[this.#relationOf[number] as number],
      'a fact has its relation',
    );
    return { relation, row: this.#rowOf[number] as number };
  }

  /** The version of the fact that a reader at this generation and time takes as stored, or null where there is none. */
  heldAt(fact: FactRow, generation: number, time: number): FactRow | null {
    const { relation } = fact;
    const row = relation.versionAt(fact.row, generation);
    return row >= 0 && relation.isHeld(row, generation, time) ? { relation, row } : null;
  }

  /** Generations of the last changes of a fact after its assertion, ascending, at most ten. */
  changesOf(fact: FactRow): readonly number[] {
    return this.#changes.get(fact.relation.number[fact.row] as number) ?? [];
  }

  /**
   * The facts that match, as seen at this generation and time; `notYetValid` takes in those whose validity has
   * not begun. Rows of several scopes come one by one. In the order of assertion within a relation.
   */
  match(pattern: FactPattern, generation: number, time: number, notYetValid = false): Generator<FactRow> {
    return this.#matchWhere(pattern, (relation, row) =>
      notYetValid ? relation.isHeld(row, generation, time) : relation.isVisible(row, generation, time),
    );
  }

  /** The facts that match and were stored in this generation, but are valid only after this time. */
  matchPending(pattern: FactPattern, generation: number, time: number): Generator<FactRow> {
    return this.#matchWhere(
      pattern,
      (relation, row) =>
        relation.wasAlive(row, generation) &&
        (relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY) > time &&
        (relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) > time,
    );
  }

  /**
   * The ends of validity, in the day before this time, of facts that match and had not been retracted before their
   * end: of those that nobody asserted again, and of those asserted again, perhaps retracted since. In no order.
   */
  *matchEnded(
    pattern: FactPattern & { readonly truthVal: boolean },
    generation: number,
    time: number,
  ): Generator<{ readonly args: string[]; readonly scope: string | null; readonly until: number }> {
    const isRemembered = (until: number): boolean => until <= time && until > time - endRememberedFor;
    const hasEnded = (relation: StoredRelation, row: number): boolean =>
      isRemembered(relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) &&
      relation.wasAlive(row, generation);
    for (const fact of this.#matchWhere(pattern, hasEnded)) {
      const until = fact.relation.validUntil?.[fact.row] as number;
      yield { args: this.argsOf(fact), scope: this.scopeOf(fact), until };
    }
    for (const { identity, until, replacedIn } of this.#remembered(pattern)) {
      if (replacedIn > generation || !isRemembered(until)) continue;
      const args = Array.from(identity.subarray(0, -1), (id) => this.dictionary.text(id));
      yield { args, scope: this.scopeNames[identity.at(-1) as number] ?? null, until };
    }
  }

  /** The ends that are remembered of facts that match, since the facts were asserted again. */
  *#remembered(pattern: FactPattern & { readonly truthVal: boolean }): Generator<EndedFact> {
    const { predicate, args, truthVal, scope } = pattern;
    const key = relationKey(predicate, args.length, !truthVal);
    const ids = args.map((term) => (term.startsWith('?') ? anyId : this.dictionary.find(term)));
    if (ids.includes(-1)) return;
    const isOfOne = scope.kind !== 'all';
    const number = isOfOne ? this.scopeNumber(scope.kind === 'unscoped' ? null : scope.scope) : anyId;
    if (number === -1) return;
    if (!ids.includes(anyId)) {
      const scopes = isOfOne ? [number] : this.scopeNames.keys();
      for (const each of scopes) {
        const ended = this.#ended.find(key, Int32Array.of(...ids, each));
        if (ended !== null) yield ended;
      }
      return;
    }
    const wanted = [...ids, number];
    const equal = equalPositions(args);
    for (const ended of this.#ended.of(key)) {
      const { identity } = ended;
      if (
        wanted.every((id, at) => id === anyId || id === identity[at]) &&
        equal.every(([left, right]) => identity[left] === identity[right])
      )
        yield ended;
    }
  }

  *#matchWhere(
    pattern: FactPattern,
    isWanted: (relation: StoredRelation, row: number) => boolean,
  ): Generator<FactRow> {
    for (const negated of pattern.truthVal === null ? [false, true] : [!pattern.truthVal]) {
      const relation = this.relation(pattern.predicate, pattern.args.length, negated);
      if (relation !== null) yield* this.#matchIn(relation, pattern, isWanted);
    }
  }

  *#matchIn(
    relation: StoredRelation,
    pattern: FactPattern,
    isWanted: (relation: StoredRelation, row: number) => boolean,
  ): Generator<FactRow> {
    const positions: number[] = [];
    const key: number[] = [];
    for (const [position, term] of pattern.args.entries()) {
      if (term.startsWith('?')) continue;
      const id = this.dictionary.find(term);
      if (id < 0) return;
      positions.push(position);
      key.push(id);
    }
    if (pattern.scope.kind !== 'all') {
      const scope = pattern.scope.kind === 'unscoped' ? 0 : this.scopeNumber(pattern.scope.scope);
      if (scope < 0) return;
      positions.push(relation.arity);
      key.push(scope);
    }
    const equal = equalPositions(pattern.args);
    const counts = (row: number): boolean =>
      isWanted(relation, row) &&
      equal.every(
        ([a, b]) => (relation.columns[a] as Int32Array)[row] === (relation.columns[b] as Int32Array)[row],
      );
    if (positions.length === 0) {
      for (let row = 0; row < relation.count; row++) if (counts(row)) yield { relation, row };
      return;
    }
    const index = relation.index(positions);
    const rows: number[] = [];
    for (let next = index.first(Int32Array.from(key)); next !== 0; next = index.next[next - 1] as number)
      if (counts(next - 1)) rows.push(next - 1);
    for (let at = rows.length - 1; at >= 0; at--) yield { relation, row: rows[at] as number };
  }

  argsOf(fact: FactRow): string[] {
    return Array.from({ length: fact.relation.arity }, (_, position) =>
      this.dictionary.text((fact.relation.columns[position] as Int32Array)[fact.row] as number),
    );
  }

  identityOf(fact: FactRow): FactIdentity {
    const { predicate, negated } = fact.relation;
    return { predicate, args: this.argsOf(fact), truthVal: !negated, scope: this.scopeOf(fact) };
  }

  scopeOf(fact: FactRow): string | null {
    const number = (fact.relation.columns[fact.relation.arity] as Int32Array)[fact.row] as number;
    return this.scopeNames[number] ?? null;
  }

  metadataOf(fact: FactRow): Metadata {
    return fact.relation.metadata.get(fact.row) ?? {};
  }

  #update(
    relation: StoredRelation,
    known: number,
    identity: Int32Array,
    fact: FactToStore,
    generation: number,
    time: number,
  ): StoreOutcome {
    const oldFrom = relation.validFrom?.[known] ?? Number.NEGATIVE_INFINITY;
    const oldUntil = relation.validUntil?.[known] ?? Number.POSITIVE_INFINITY;
    const oldMetadata = relation.metadata.get(known) ?? null;
    const { from, until } = boundsAfter(fact, { from: oldFrom, until: oldUntil });
    const metadata = fact.metadata === undefined ? oldMetadata : nonEmpty(fact.metadata);
    if (from === oldFrom && until === oldUntil && sameJson(metadata, oldMetadata))
      return { status: 'unchanged', relation, row: known };
    this.version++;
    relation.kill(known, generation);
    const number = relation.number[known] as number;
    const row = relation.append(identity, generation, number, from, until, metadata);
    this.#rowOf[number] = row;
    this.#noteBounds(number, from, until, time);
    this.#noteChange(number, generation);
    return { status: 'updated', relation, row };
  }

  /** The ids of the arguments, with room for the scope behind them; null where one was never interned. */
  #identityOf(args: readonly string[]): Int32Array | null {
    const identity = new Int32Array(args.length + 1);
    for (const [position, text] of args.entries()) {
      const id = this.dictionary.find(text);
      if (id < 0) return null;
      identity[position] = id;
    }
    return identity;
  }

  #noteBounds(number: number, from: number, until: number, time: number): void {
    for (const instant of [from, until])
      if (Number.isFinite(instant) && instant > time) this.boundaries.add(instant, number);
  }

  #relationFor(predicate: string, arity: number, negated: boolean): StoredRelation {
    const key = relationKey(predicate, arity, negated);
    let relation = this.relations.get(key);
    if (relation === undefined) {
      relation = new StoredRelation(predicate, arity, negated);
      this.relations.set(key, relation);
      this.#relationNumbers.set(relation, this.#relationList.length);
      this.#relationList.push(relation);
    }
    return relation;
  }

  #internScope(scope: string | null): number {
    if (scope === null) return 0;
    let number = this.#scopeNumbers.get(scope);
    if (number === undefined) {
      number = this.scopeNames.length;
      this.scopeNames.push(scope);
      this.#scopeNumbers.set(scope, number);
    }
    return number;
  }

  #newNumber(relation: StoredRelation, generation: number): number {
    const number = this.#facts;
    if (number === 0x7fff_ffff)
      throw new EngineError('StorageUnavailable', 'a tenant holds at most 2^31 - 1 facts');
    if (number === this.#relationOf.length) {
      const relations = new Int32Array(number * 2);
      relations.set(this.#relationOf);
      this.#relationOf = relations;
      const rows = new Int32Array(number * 2);
      rows.set(this.#rowOf);
      this.#rowOf = rows;
    }
    this.#relationOf[number] = present(this.#relationNumbers.get(relation), 'a relation has its number');
    this.#facts = number + 1;
    const last = this.#writes.at(-1);
    assert(last === undefined || last.generation <= generation, 'generations never go back');
    if (last?.generation !== generation) this.#writes.push({ generation, first: number });
    return number;
  }

  #writeOf(number: number): { generation: number; first: number } {
    let low = 0;
    let high = this.#writes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#writes[middle] as { first: number }).first <= number) low = middle + 1;
      else high = middle;
    }
    return present(this.#writes[low - 1], 'every fact belongs to a write');
  }

  /** The place in `#writes` of the first write after this generation. */
  #firstWriteAfter(generation: number): number {
    let low = 0;
    let high = this.#writes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#writes[middle] as { generation: number }).generation <= generation) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #noteChange(number: number, generation: number): void {
    const changes = this.#changes.get(number) ?? [];
    changes.push(generation);
    if (changes.length > 10) changes.shift();
    this.#changes.set(number, changes);
  }
}

/** In place of an id: whatever stands there. */
const anyId = -2;

function keyOf({ predicate, arity, negated }: StoredRelation): string {
  return relationKey(predicate, arity, negated);
}

/** Pairs of positions that hold the same variable; `?_` matches anything each time. */
export function equalPositions(args: readonly string[]): [number, number][] {
  const first = new Map<string, number>();
  const pairs: [number, number][] = [];
  for (const [position, term] of args.entries()) {
    if (!term.startsWith('?') || term === '?_') continue;
    const earlier = first.get(term);
    if (earlier === undefined) first.set(term, position);
    else pairs.push([earlier, position]);
  }
  return pairs;
}

/** The bounds of validity that a fact gives, the kept ones where it gives none. */
export function boundsAfter(fact: FactToStore, kept: Bounds): Bounds {
  const { validFrom = kept.from, validUntil = kept.until } = fact;
  return {
    from: validFrom === 'always' ? Number.NEGATIVE_INFINITY : validFrom,
    until: validUntil === 'never' ? Number.POSITIVE_INFINITY : validUntil,
  };
}

function nonEmpty(metadata: Metadata | null): Metadata | null {
  return metadata === null || Object.keys(metadata).length === 0 ? null : metadata;
}

/** Equality of JSON values, whatever the order of keys. */
function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      sameJson((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}
