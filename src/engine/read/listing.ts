import {
  compareArguments,
  sortedListing,
  type ListingQuery,
  rowNumberOf,
  type SortValue,
  type StoredRows,
  sortValueOf,
} from './listing-order.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import { EngineError } from '../base/errors.ts';
import { compareText, compareTexts } from '../base/text-order.ts';
import { sortedPosition } from '../contract/fact-order.ts';
import type { ListFactsQuery } from '../contract/facts.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { Concluded, Listing, ListingState, RelationName } from '../session/caches.ts';
import { answerAt, conclusionsOf, type Concluding, supportsOf } from './listed-conclusions.ts';
import { relationKey } from '../language/terms.ts';
import { Dictionary } from '../store/dictionary.ts';
import { renderAtom } from '../language/print.ts';

/**
 * The listing of a GET /facts query: all entries in ascending order.
 *
 * Facts that are stored but not yet valid are listed too, since they can be changed and retracted. Conclusions come
 * after all stored facts with the same value, by relation and arguments. They are proved only if the sort order needs
 * their proofs.
 */

/** The position of an entry in the order; fields are compared first to last. */
export interface ListingPosition {
  readonly sort: SortValue;
  /** Number of a stored fact; null: a conclusion, which comes after stored facts. */
  readonly number: number | null;
  readonly conclusion: ConclusionName | null;
}

/** A conclusion of the query's predicate. */
export interface ConclusionName {
  readonly negated: boolean;
  readonly args: readonly string[];
}

/** Compares two positions. */
export function comparePositions(left: ListingPosition, right: ListingPosition): number {
  return (
    compareSorts(left.sort, right.sort) ||
    (left.number ?? Number.POSITIVE_INFINITY) - (right.number ?? Number.POSITIVE_INFINITY) ||
    (left.conclusion === null || right.conclusion === null
      ? 0
      : compareConclusions(left.conclusion, right.conclusion))
  );
}

function compareSorts(left: SortValue, right: SortValue): number {
  return typeof left === 'number' && typeof right === 'number'
    ? left - right
    : compareArguments(left as string | null, right as string | null);
}

function compareConclusions(left: ConclusionName, right: ConclusionName): number {
  return (
    left.args.length - right.args.length ||
    Number(left.negated) - Number(right.negated) ||
    compareTexts(left.args, right.args)
  );
}

/** Compares relations by predicate, arity and truth value, true first. */
export function compareRelations(left: RelationName, right: RelationName): number {
  return (
    compareText(left.predicate, right.predicate) ||
    left.arity - right.arity ||
    Number(left.negated) - Number(right.negated)
  );
}

/**
 * The listing, from the cache if it is still current. Call it in the turn in which the reader was pinned. `wanted`: how many
 * entries of the query's order are likely to be needed; all are in order if `isEnough` finds those too few.
 */
export async function listingOf(
  listed: ListingQuery,
  wanted: number,
  isEnough: (listing: Listing) => boolean = () => true,
): Promise<Listing> {
  const { context } = listed;
  const state = stateOf(listed);
  const cached = context.listings.find(state);
  if (cached !== null && hasFirst(listed, cached, wanted) && (isWhole(cached) || isEnough(cached)))
    return cached;
  const relations = listedRelations(listed);
  const stored = await storedRows(listed, relations);
  const conclusions = await concluded(listed, relations);
  const sorted = async (count: number): Promise<Listing> => ({
    relations,
    conclusions,
    ...(await sortedListing(listed, relations, { stored, conclusions }, count)),
  });
  // Who asks for more than was sorted is likely to go on.
  let listing = await sorted(cached === null ? wanted : Math.max(wanted, growth * sortedCount(cached)));
  if (!isWhole(listing) && !isEnough(listing)) listing = await sorted(Number.POSITIVE_INFINITY);
  const now = stateOf(listed);
  if (now.version === state.version && now.usesVersion === state.usesVersion)
    context.listings.keep(state, listing);
  return listing;
}

/** How many times as many entries as before are selected for who goes on: together the pages cost little more than the last one. */
const growth = 8;

function sortedCount({ sorted }: Listing): number {
  return sorted.to - sorted.from;
}

function isWhole(listing: Listing): boolean {
  return sortedCount(listing) === listing.rows.length;
}

/** True if the first entries of the query's order are among the sorted ones. */
function hasFirst({ query }: ListingQuery, { rows, sorted }: Listing, wanted: number): boolean {
  const count = Math.min(wanted, rows.length);
  return query.order === 'asc'
    ? sorted.from === 0 && sorted.to >= count
    : sorted.to === rows.length && sorted.from <= rows.length - count;
}

function stateOf({ context, query, time }: ListingQuery): ListingState {
  const { tenant, reader } = context;
  const { predicate, scope, unscoped, q, truthVal, derived, sort } = query;
  const bySalience = sort === 'salience';
  return {
    key: JSON.stringify([predicate, scope, unscoped, q, truthVal, derived, sort, bySalience ? time : null]),
    facts: tenant.facts,
    version: tenant.facts.version,
    usesVersion: bySalience ? tenant.uses.version : null,
    program: derived ? reader.program : null,
    time: reader.time,
    until: tenant.facts.boundaries.next,
  };
}

/** The position of the entry at this index. */
export function positionAt(listed: ListingQuery, listing: Listing, at: number): ListingPosition {
  const fact = factAt(listed.context, listing, at);
  if (fact !== null) {
    const sort = sortValueOf(listed, fact, listing.places[at] as number);
    return { sort, number: rowNumberOf(fact), conclusion: null };
  }
  const { relation, row } = conclusionAt(listing, at);
  const { matches, values, place } = listing.conclusions[relation] as Concluded;
  const { args, negated } = answerAt(matches, row);
  const position = sortedPosition(listed.query.sort);
  // A conclusion of an unscoped rule has null as its scope.
  const value = values === null ? place : (values[row] as SortValue);
  const sort = position === null ? value : (args[position] ?? null);
  return { sort, number: null, conclusion: { negated, args } };
}

/** The stored fact at this index; null if it is a conclusion. */
export function factAt({ tenant }: ReadContext, listing: Listing, at: number): FactRow | null {
  const place = listing.places[at] as number;
  if (place < 0) return null;
  const { predicate, arity, negated } = listing.relations[place] as RelationName;
  const relation = tenant.facts.relation(predicate, arity, negated);
  return relation === null ? null : { relation, row: listing.rows[at] as number };
}

/** The conclusion at this index: the index of its relation among `conclusions`, and its row there. */
export function conclusionAt({ places, rows }: Listing, at: number): { relation: number; row: number } {
  return { relation: -1 - (places[at] as number), row: rows[at] as number };
}

/** The relations that the query can list, stored and derived, in order, each once. */
function listedRelations({ context: { tenant, reader }, query }: ListingQuery): RelationName[] {
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

const rowsBetweenBreaths = 4096;

/** Collects stored rows. `scope`: by number, 0 for the facts without scope; null: all. */
interface Gathering {
  readonly context: ReadContext;
  readonly scope: number | null;
  readonly part: AtomFilter | null;
  readonly found: GrowingPairs;
}

async function storedRows(
  { context, query }: ListingQuery,
  relations: readonly RelationName[],
): Promise<StoredRows> {
  const { facts } = context.tenant;
  const scope = facts.chosenScope(scopeChoice(query));
  const part = query.q === null ? null : new AtomFilter(query.q);
  const gathering: Gathering = { context, scope, part, found: new GrowingPairs() };
  for (const [relationIndex, { predicate, arity, negated }] of relations.entries()) {
    const relation = facts.relation(predicate, arity, negated);
    if (relation === null) continue;
    const count = relation.rowsAt(context.reader.generation);
    for (let row = 0; row < count; ) {
      const end = Math.min(count, row + rowsBetweenBreaths);
      row = takeListed(gathering, relation, relationIndex, row, end);
      await context.pacer.breathe();
    }
  }
  return gathering.found.taken();
}

/**
 * Collects the listed rows in a range, end exclusive, whose atom the filter passes; returns where it stopped, at
 * the latest when the slice's work is used up.
 */
function takeListed(
  { context: { reader, tenant }, scope, part, found }: Gathering,
  relation: StoredRelation,
  relationIndex: number,
  from: number,
  to: number,
): number {
  const filter = part?.isInName(relation.predicate) === false ? part : null;
  if (filter === null && scope === null && relation.death === null && relation.validUntil === null) {
    found.addRange(relationIndex, from, to);
    return to;
  }
  const scopes = relation.columns[relation.arity] as Int32Array;
  const work = { steps: 0 };
  let row = from;
  for (; row < to && work.steps < rowsBetweenBreaths; row++) {
    work.steps++;
    if (scope !== null && scopes[row] !== scope) continue;
    if (!relation.isHeld(row, reader.generation, reader.time)) continue;
    if (filter === null || filter.isIn(tenant.facts, { relation, row }, work)) found.add(relationIndex, row);
  }
  return row;
}

/** Pairs of numbers in two growing columns. */
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

  /** Adds pairs of one number with each number of a range, end exclusive. */
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

/** The derivable, not stored conclusions of the query's predicate, of every arity and truth value. */
async function concluded(listed: ListingQuery, relations: readonly RelationName[]): Promise<Concluded[]> {
  const { context, query } = listed;
  const { predicate } = query;
  if (!query.derived || predicate === null) return [];
  const part = query.q?.toLowerCase() ?? null;
  const view = scopeChoice(query);
  const shapes = context.reader.program.conclusionsOf(predicate);
  const found: Concluded[] = [];
  for (const [place, name] of relations.entries()) {
    const shape = shapes.find((each) => compareRelations(each, name) === 0);
    if (shape === undefined) continue;
    const matches = await conclusionsOf(context, view, shape, part);
    found.push({ place, matches, values: null });
  }
  const { sort } = query;
  if (sort === 'predicate' || sortedPosition(sort) !== null) return found;
  if (sort !== 'truthVal' && sort !== 'derived') return valued(listed, found);
  // The value is the same for all conclusions of a relation, so no proof is needed.
  return found.map((each) => {
    const value = sort === 'derived' ? true : relations[each.place]?.negated === false;
    return { ...each, values: new Float64Array(each.matches.count).fill(Number(value)) };
  });
}

/** The conclusions with the sort values from their proofs. */
async function valued(
  { context, query, time }: ListingQuery,
  all: readonly Concluded[],
): Promise<Concluded[]> {
  try {
    const relations = all.map(({ matches }) => matches);
    const supports = await supportsOf(context, relations, time);
    return all.map((each, at) => ({
      ...each,
      values: valuesOf(supports[at] ?? [], query.sort),
    }));
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') throw error;
    const count = all.reduce((sum, each) => sum + each.matches.count, 0);
    throw new EngineError(
      error.code,
      `sort=${query.sort} needs the proof of each of ${count} conclusions of ${query.predicate}, which exceeds ` +
        `a limit (${String(error.members['limit'])}); sort=predicate and sort=argN prove only the conclusions of ` +
        `the page, and scope, truthVal or q reduce their number`,
      error.members,
      { cause: error },
    );
  }
}

function valuesOf(supports: readonly Concluding[], sort: ListFactsQuery['sort']): Concluded['values'] {
  if (sort === 'scope') return supports.map(({ scope }) => scope);
  return Float64Array.from(supports, (support) => valueOfSupport(support, sort));
}

function valueOfSupport(support: Concluding, sort: ListFactsQuery['sort']): number {
  if (sort === 'createdAt' || sort === 'updatedAt' || sort === 'salience') return support[sort];
  return Math.min(Number.MAX_VALUE, support.until);
}

/**
 * A case-insensitive substring filter over rendered atoms.
 *
 * A substring of ASCII letters, digits and underscores contains no bracket, comma or quote and so lies within one
 * constant; its bytes decide unless the constant is rendered differently from how it is stored. Other substrings are
 * searched in the rendered atom.
 */
export class AtomFilter {
  readonly #text: string;
  /** null: may span several constants. */
  readonly #bytes: Uint8Array | null;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    this.#bytes = /^[a-z0-9_]+$/.test(this.#text) ? new TextEncoder().encode(this.#text) : null;
  }

  /** True if the predicate's name contains it, and so every atom does. */
  isInName(predicate: string): boolean {
    return predicate.toLowerCase().includes(this.#text);
  }

  /**
   * True if the fact contains it outside the predicate's name. Adds the cost to `work`, in steps of some hundred ns.
   */
  isIn(facts: FactStore, { relation, row }: FactRow, work: { steps: number }): boolean {
    const { predicate, arity, negated, columns } = relation;
    const { dictionary } = facts;
    if (this.#bytes !== null && dictionary instanceof Dictionary) {
      let isSure = true;
      for (let position = 0; position < arity && isSure; position++) {
        const id = (columns[position] as Int32Array)[row] as number;
        work.steps += dictionary.sizeOf(id) / 64;
        const holds = dictionary.holds(id, this.#bytes);
        if (holds === true) return true;
        isSure = holds === false;
      }
      if (isSure) return false;
    }
    const atom = renderAtom({ predicate, args: facts.argsOf({ relation, row }), negated });
    work.steps += 4 + atom.length / 16;
    return atom.toLowerCase().includes(this.#text);
  }
}
