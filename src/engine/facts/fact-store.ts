import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { type Metadata } from '../contract/facts.ts';
import { relationKey } from '../logic/terms.ts';
import { Boundaries } from './boundaries.ts';
import { Dictionary } from './dictionary.ts';
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

export class FactStore {
  readonly createdAt: number;
  readonly dictionary = new Dictionary();
  readonly boundaries = new Boundaries();
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

  constructor(createdAt: number) {
    this.createdAt = createdAt;
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
    const identity = new Int32Array(args.length + 1);
    for (const [position, text] of args.entries()) {
      const id = this.dictionary.find(text);
      if (id < 0) return null;
      identity[position] = id;
    }
    identity[args.length] = scopeNumber;
    const row = relation.find(identity);
    return row < 0 ? null : { relation, row };
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
    }
    const { from, until } = boundsAfter(fact, openBounds);
    const number = this.#newNumber(relation, generation);
    const row = relation.append(identity, generation, number, from, until, nonEmpty(fact.metadata ?? null));
    this.#rowOf[number] = row;
    this.#noteBounds(relation, from, until, time);
    return { status: 'asserted', relation, row };
  }

  /** Ends a fact that is alive. */
  retract(fact: FactRow, generation: number): void {
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
   * Lets go of the dead rows of relations that are mostly dead. Nobody may be reading at an earlier generation.
   * Afterwards the id of a fact that was retracted before names nothing.
   */
  compact(relations: Iterable<string>, generation: number): void {
    for (const key of relations) {
      const old = this.relations.get(key);
      if (old === undefined || !old.isMostlyDead) continue;
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
   * The facts that match, as seen at this generation and time; `storedOnly` takes in those whose validity has
   * not begun. Rows of several scopes come one by one. In the order of assertion within a relation.
   */
  *match(pattern: FactPattern, generation: number, time: number, notYetValid = false): Generator<FactRow> {
    for (const negated of pattern.truthVal === null ? [false, true] : [!pattern.truthVal]) {
      const relation = this.relation(pattern.predicate, pattern.args.length, negated);
      if (relation !== null) yield* this.#matchIn(relation, pattern, generation, time, notYetValid);
    }
  }

  *#matchIn(
    relation: StoredRelation,
    pattern: FactPattern,
    generation: number,
    time: number,
    notYetValid: boolean,
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
      (relation.isVisible(row, generation, time) ||
        (notYetValid && relation.isHeld(row, generation, time))) &&
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
    relation.kill(known, generation);
    const number = relation.number[known] as number;
    const row = relation.append(identity, generation, number, from, until, metadata);
    this.#rowOf[number] = row;
    this.#noteBounds(relation, from, until, time);
    this.#noteChange(number, generation);
    return { status: 'updated', relation, row };
  }

  #noteBounds(relation: StoredRelation, from: number, until: number, time: number): void {
    const key = relationKey(relation.predicate, relation.arity, relation.negated);
    for (const instant of [from, until])
      if (Number.isFinite(instant) && instant > time) this.boundaries.add(instant, key);
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
