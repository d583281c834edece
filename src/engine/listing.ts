import { AtomPart } from './atom-part.ts';
import { type BrowseContext, scopeChoice } from './browse.ts';
import { present } from './base/assert.ts';
import { compareText } from './base/text-order.ts';
import { isTextSort, type ListFactsQuery, sortedPosition, type StoredFact } from './contract/facts.ts';
import type { FactRow, FactStore } from './facts/fact-store.ts';
import type { StoredRelation } from './facts/stored-relation.ts';
import type { ListedConclusion, Listing, ListingState, RelationName, SortValue } from './kept-listings.ts';
import { listedConclusions } from './listed-conclusions.ts';
import { argumentRanks, compareArguments } from './argument-order.ts';
import { renderAtom } from './logic/print.ts';
import { relationKey } from './logic/terms.ts';
import type { Pacer } from './solve/evaluation.ts';
import { sortedOrder } from './solve/sorted.ts';

/**
 * A listing: everything that a query of GET /facts lists, in ascending order.
 *
 * Facts that are stored but not valid yet are listed too: they can be changed and retracted. Conclusions come after
 * all stored facts of the same value.
 */
export interface Listed {
  readonly context: BrowseContext;
  readonly query: ListFactsQuery;
  /** Saliences are those of the first page, or facts would change places between pages as time goes by. */
  readonly time: number;
}

/** Where an entry stands in the order: compared from the first field to the last. */
export interface Place {
  readonly sort: SortValue;
  /** Number of a stored fact; conclusions come after all of those. */
  readonly tie: number;
  /** The atom of a conclusion, '' of a stored fact. */
  readonly atom: string;
}

/** After the number of every stored fact. */
const tieOfConclusions = 2 ** 32;

export function comparePlaces(left: Place, right: Place): number {
  return compareSorts(left.sort, right.sort) || left.tie - right.tie || compareText(left.atom, right.atom);
}

function compareSorts(left: SortValue, right: SortValue): number {
  return typeof left === 'number' && typeof right === 'number'
    ? left - right
    : compareArguments(left as string | null, right as string | null);
}

export function compareRelations(left: RelationName, right: RelationName): number {
  return (
    compareText(left.predicate, right.predicate) ||
    left.arity - right.arity ||
    Number(left.negated) - Number(right.negated)
  );
}

/** The listing, a kept one where that is the same. To be called in the turn in which the reader was pinned. */
export async function listingOf(listed: Listed): Promise<Listing> {
  const { context } = listed;
  const state = stateOf(listed);
  const kept = context.listings.find(state);
  if (kept !== null) return kept;
  const relations = listedRelations(listed);
  const stored = await storedRows(listed, relations);
  const conclusions = await concluded(listed, relations);
  const listing = await inOrder(listed, relations, stored, conclusions);
  const now = stateOf(listed);
  if (now.version === state.version && now.usesVersion === state.usesVersion)
    context.listings.keep(state, listing);
  return listing;
}

function stateOf({ context, query, time }: Listed): ListingState {
  const { tenant, reader } = context;
  const { predicate, scope, unscoped, q, truthVal, derived, sort } = query;
  const hasSaliences = sort === 'salience' || derived;
  return {
    key: JSON.stringify([predicate, scope, unscoped, q, truthVal, derived, sort, hasSaliences ? time : null]),
    facts: tenant.facts,
    version: tenant.facts.version,
    usesVersion: hasSaliences ? tenant.uses.version : null,
    program: derived ? reader.program : null,
    time: reader.time,
    until: tenant.facts.boundaries.next,
  };
}

/** Where the entry at this place of the listing stands. */
export function placeAt(listed: Listed, listing: Listing, at: number): Place {
  const fact = factAt(listed.context, listing, at);
  if (fact !== null) {
    const sort = sortValue(listed, fact, listing.places[at] as number);
    return { sort, tie: numberOf(fact), atom: '' };
  }
  const { sort, atom } = listing.conclusions[listing.rows[at] as number] as ListedConclusion;
  return { sort, tie: tieOfConclusions, atom };
}

/** The stored fact at this place of the listing, or null where a conclusion stands there. */
export function factAt({ tenant }: BrowseContext, listing: Listing, at: number): FactRow | null {
  const place = listing.places[at] as number;
  if (place < 0) return null;
  const { predicate, arity, negated } = listing.relations[place] as RelationName;
  const relation = tenant.facts.relation(predicate, arity, negated);
  return relation === null ? null : { relation, row: listing.rows[at] as number };
}

/** The relations that the query can list, stored and concluded, in order, each once. */
function listedRelations({ context: { tenant, reader }, query }: Listed): RelationName[] {
  const named = new Map<string, RelationName>();
  const concluded = query.derived ? reader.program.conclusionsOf(query.predicate ?? '') : [];
  for (const { predicate, arity, negated } of [...tenant.facts.relations.values(), ...concluded])
    if (
      (query.predicate === null || predicate === query.predicate) &&
      (query.truthVal === null || negated !== query.truthVal)
    )
      named.set(relationKey(predicate, arity, negated), { predicate, arity, negated });
  return [...named.values()].sort(compareRelations);
}

/** Stored rows that the query takes, each with the place of its relation, relation by relation. */
interface StoredRows {
  readonly places: Int32Array;
  readonly rows: Int32Array;
}

const rowsBetweenBreaths = 4096;

/** What gathers stored rows: `scope` by number, 0 for the facts without one; null: of all. */
interface Gathering {
  readonly context: BrowseContext;
  readonly scope: number | null;
  readonly found: GrowingPairs;
}

async function storedRows(
  { context, query }: Listed,
  relations: readonly RelationName[],
): Promise<StoredRows> {
  const { facts } = context.tenant;
  const view = scopeChoice(query);
  const scope = view.kind === 'all' ? null : view.kind === 'unscoped' ? 0 : facts.scopeNumber(view.scope);
  const part = query.q === null ? null : new AtomPart(query.q);
  const gathering: Gathering = { context, scope, found: new GrowingPairs() };
  for (const [place, { predicate, arity, negated }] of relations.entries()) {
    const relation = facts.relation(predicate, arity, negated);
    if (relation === null) continue;
    const count = relation.rowsAt(context.reader.generation);
    const isWhole = part === null || part.isInName(predicate);
    for (let row = 0; row < count; ) {
      const end = Math.min(count, row + rowsBetweenBreaths);
      row = isWhole
        ? takeListed(gathering, relation, place, row, end)
        : takeMatching(gathering, part, relation, place, row, end);
      await context.pacer.breathe();
    }
  }
  return gathering.found.taken();
}

/** Takes the listed rows from one to another, the last exclusive; answers where it stopped. */
function takeListed(
  { context: { reader }, scope, found }: Gathering,
  relation: StoredRelation,
  place: number,
  from: number,
  to: number,
): number {
  if (scope === null && relation.death === null && relation.validUntil === null) {
    found.addRange(place, from, to);
    return to;
  }
  const scopes = relation.columns[relation.arity] as Int32Array;
  for (let row = from; row < to; row++)
    if ((scope === null || scopes[row] === scope) && isListed(relation, row, reader)) found.add(place, row);
  return to;
}

/** As `takeListed`, of rows whose atom has the part; stops as soon as it was enough for a slice. */
function takeMatching(
  { context, scope, found }: Gathering,
  part: AtomPart,
  relation: StoredRelation,
  place: number,
  from: number,
  to: number,
): number {
  const scopes = relation.columns[relation.arity] as Int32Array;
  const work = { steps: 0 };
  let row = from;
  for (; row < to && work.steps < rowsBetweenBreaths; row++) {
    work.steps++;
    if ((scope !== null && scopes[row] !== scope) || !isListed(relation, row, context.reader)) continue;
    if (part.isIn(context.tenant.facts, { relation, row }, work)) found.add(place, row);
  }
  return row;
}

/** Alive in the reader's generation, and its validity has not ended. */
function isListed(relation: StoredRelation, row: number, reader: BrowseContext['reader']): boolean {
  const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
  const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
  return death > reader.generation && until > reader.time;
}

/** Pairs of numbers in two columns that grow. */
class GrowingPairs {
  #left = new Int32Array(1024);
  #right = new Int32Array(1024);
  #count = 0;

  add(left: number, right: number): void {
    if (this.#count === this.#left.length) {
      this.#left = enlarged(this.#left);
      this.#right = enlarged(this.#right);
    }
    this.#left[this.#count] = left;
    this.#right[this.#count++] = right;
  }

  /** Pairs of the one number with each of the others, the last exclusive. */
  addRange(left: number, from: number, to: number): void {
    const end = this.#count + to - from;
    while (this.#left.length < end) {
      this.#left = enlarged(this.#left);
      this.#right = enlarged(this.#right);
    }
    this.#left.fill(left, this.#count, end);
    for (let at = this.#count, right = from; right < to; at++, right++) this.#right[at] = right;
    this.#count = end;
  }

  taken(): StoredRows {
    return { places: this.#left.subarray(0, this.#count), rows: this.#right.subarray(0, this.#count) };
  }
}

function enlarged(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(column.length * 2);
  grown.set(column);
  return grown;
}

/** The derivable conclusions of the query's predicate that are not stored, of every arity and truth value. */
async function concluded(listed: Listed, relations: readonly RelationName[]): Promise<ListedConclusion[]> {
  const { context, query, time } = listed;
  const { predicate, sort } = query;
  if (!query.derived || predicate === null) return [];
  const part = query.q?.toLowerCase() ?? null;
  const entries: ListedConclusion[] = [];
  for (const relation of context.reader.program.conclusionsOf(predicate)) {
    const place = relations.findIndex((each) => compareRelations(each, relation) === 0);
    if (place < 0) continue;
    for (const fact of await listedConclusions(context, scopeChoice(query), relation, time)) {
      const atom = atomOf(fact);
      if (part !== null && !atom.toLowerCase().includes(part)) continue;
      entries.push({ sort: sortOfConclusion(fact, sort, place), atom, fact });
    }
  }
  return entries;
}

function sortOfConclusion(fact: StoredFact, sort: ListFactsQuery['sort'], place: number): SortValue {
  if (sort === 'predicate') return place;
  if (sort === 'createdAt' || sort === 'updatedAt' || sort === 'salience') return fact[sort];
  if (sort === 'validUntil') return fact.validUntil ?? Number.MAX_VALUE;
  if (sort === 'scope') return fact.scope;
  if (sort === 'truthVal' || sort === 'derived') return Number(fact[sort]);
  return fact.args[present(sortedPosition(sort), 'all else is an argument')] ?? null;
}

function atomOf(fact: StoredFact): string {
  return renderAtom({ predicate: fact.predicate, args: fact.args, negated: !fact.truthVal });
}

async function inOrder(
  listed: Listed,
  relations: readonly RelationName[],
  stored: StoredRows,
  conclusions: readonly ListedConclusion[],
): Promise<Listing> {
  const { pacer, tenant } = listed.context;
  const ofPlace = relations.map(({ predicate, arity, negated }) =>
    tenant.facts.relation(predicate, arity, negated),
  );
  if (listed.query.sort === 'predicate' && conclusions.length === 0)
    return { relations, conclusions, ...(await byNumbers(stored, ofPlace, pacer)) };
  const storedCount = stored.rows.length;
  const count = storedCount + conclusions.length;
  const numbers = new Int32Array(storedCount);
  const values: SortValue[] = [];
  for (let at = 0; at < storedCount; at++) {
    const place = stored.places[at] as number;
    const fact = { relation: ofPlace[place] as StoredRelation, row: stored.rows[at] as number };
    values.push(sortValue(listed, fact, place));
    numbers[at] = numberOf(fact);
    if ((at & 0xfff) === 0xfff) await pacer.breathe();
  }
  for (const { sort } of conclusions) values.push(sort);
  const sorts =
    isTextSort(listed.query.sort)
      ? await argumentRanks(values as (string | null)[], pacer)
      : Float64Array.from(values as number[]);
  const atomAt = (entry: number): string => (conclusions[entry - storedCount] as ListedConclusion).atom;
  const compare = (left: number, right: number): number => {
    const difference = (sorts[left] as number) - (sorts[right] as number);
    if (difference !== 0) return difference;
    if (left >= storedCount && right >= storedCount) return compareText(atomAt(left), atomAt(right));
    if (left >= storedCount || right >= storedCount) return left - right;
    return (numbers[left] as number) - (numbers[right] as number);
  };
  const order = await sortedOrder(count, compare, pacer);
  const places = new Int32Array(count);
  const rows = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const entry = order[at] as number;
    const isStored = entry < storedCount;
    places[at] = isStored ? (stored.places[entry] as number) : -1;
    rows[at] = isStored ? (stored.rows[entry] as number) : entry - storedCount;
  }
  return { relations, places, rows, conclusions };
}

/**
 * Rows by relation, which they are, and there by number. Rows are born in that order, but versions of facts that were
 * changed come later: where there are none, nothing has to be moved.
 */
async function byNumbers(
  { places, rows }: StoredRows,
  ofPlace: readonly (StoredRelation | null)[],
  pacer: Pacer,
): Promise<StoredRows> {
  for (let start = 0; start < rows.length; ) {
    const place = places[start] as number;
    const { number } = ofPlace[place] as StoredRelation;
    let end = start;
    let isInOrder = true;
    for (; end < rows.length && places[end] === place; end++) {
      if (end > start)
        isInOrder &&= (number[rows[end - 1] as number] as number) < (number[rows[end] as number] as number);
      if ((end & 0x3fff) === 0x3fff) await pacer.breathe();
    }
    if (!isInOrder) {
      const part = rows.slice(start, end);
      const order = await sortedOrder(
        part.length,
        (left, right) => (number[part[left] as number] as number) - (number[part[right] as number] as number),
        pacer,
      );
      for (let at = 0; at < part.length; at++) rows[start + at] = part[order[at] as number] as number;
    }
    start = end;
  }
  return { places, rows };
}

/** What the entry is sorted by; `place` is that of its relation. */
function sortValue({ context, query, time }: Listed, fact: FactRow, place: number): SortValue {
  const { database, tenant } = context;
  const { sort } = query;
  if (sort === 'predicate') return place;
  const position = sortedPosition(sort);
  if (position !== null) return argumentAt(tenant.facts, fact, position);
  if (sort === 'validUntil')
    return Math.min(Number.MAX_VALUE, fact.relation.validUntil?.[fact.row] ?? Number.MAX_VALUE);
  if (sort === 'scope') return tenant.facts.scopeOf(fact);
  if (sort === 'truthVal') return Number(!fact.relation.negated);
  if (sort === 'derived') return 0;
  const { createdAt, updatedAt } = database.timesOf(tenant.facts, fact);
  if (sort === 'createdAt') return createdAt;
  return sort === 'updatedAt' ? updatedAt : tenant.uses.salience(fact, createdAt, time).salience;
}

function argumentAt({ dictionary }: FactStore, { relation, row }: FactRow, position: number): string | null {
  return position < relation.arity
    ? dictionary.text((relation.columns[position] as Int32Array)[row] as number)
    : null;
}

function numberOf(fact: FactRow): number {
  return fact.relation.number[fact.row] as number;
}
