import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import { invalid } from '../base/errors.ts';
import { type ReadContext, storedFact } from '../session/read-context.ts';
import { isTextSort } from '../contract/fact-order.ts';
import type { FactList, ListFactsQuery, StoredFact } from '../contract/facts.ts';
import { hintsOfFilter, hintsPart } from './hints.ts';
import { KnownNames } from './known-names.ts';
import type { Concluded, Listing, RelationName } from '../session/caches.ts';
import { shownConclusions } from './listed-conclusions.ts';
import type { ListingQuery, SortValue } from './listing-order.ts';
import {
  comparePositions,
  compareRelations,
  conclusionAt,
  type ConclusionName,
  factAt,
  listingOf,
  type ListingPosition,
  positionAt,
} from './listing.ts';

/**
 * GET /facts: one page of a listing.
 *
 * A page is located by the sort key of its first entry, not by its number, so that facts that come and go between pages
 * neither repeat nor hide others. `offset` addresses any page by number, in the list that the cursor saw if one is
 * given. Descending order is ascending order reversed, ties included, so that a reader can page from either end.
 */
export async function listFacts(context: ReadContext, query: ListFactsQuery): Promise<FactList> {
  const after = query.cursor === null ? null : readCursor(query.cursor, query.sort);
  const listed: ListingQuery = { context, query, time: after?.time ?? context.reader.time };
  const isByPlace = after !== null && query.offset === null;
  const offset = query.offset ?? 0;
  const { listing, first } = isByPlace
    ? await listingAfter(listed, after)
    : await listingFrom(listed, offset);
  const total = listing.rows.length;
  const step = query.order === 'asc' ? 1 : -1;
  const page: number[] = [];
  let at = first;
  for (; page.length < query.limit && at >= 0 && at < total; at += step) page.push(at);
  const facts = await shown(listed, listing, page);
  const hasMore = facts.length > 0 && at >= 0 && at < total;
  const before = step > 0 ? at : total - 1 - at;
  return {
    facts,
    total,
    nextCursor: hasMore ? writeCursor(positionAt(listed, listing, at - step), before, listed, listing) : null,
    ...(total === 0 ? hintsPart(hintsOfFilter(KnownNames.of(context), query)) : {}),
  };
}

/** A listing of which the entries of the page are in order, and the index of the first of them. */
interface ListingOfPage {
  readonly listing: Listing;
  readonly first: number;
}

async function listingFrom(listed: ListingQuery, offset: number): Promise<ListingOfPage> {
  const { limit, order } = listed.query;
  const listing = await listingOf(listed, offset + limit);
  return { listing, first: order === 'asc' ? offset : listing.rows.length - 1 - offset };
}

/**
 * The page after a cursor. It begins after as many entries as when the cursor was written, unless some came or went: the
 * position decides, and if the page is not among the entries that were selected for that, all are sorted.
 */
async function listingAfter(listed: ListingQuery, after: Cursor): Promise<ListingOfPage> {
  const { limit, order } = listed.query;
  const firstIn = (listing: Listing): number =>
    firstAfter(listed, listing, placeOf(after, listing.relations));
  const isPageIn = (listing: Listing): boolean => {
    const { from, to } = listing.sorted;
    const first = firstIn(listing);
    return order === 'asc' ? first + limit <= to : first - limit >= from - 1;
  };
  const listing = await listingOf(listed, after.before + entriesThatMayCome + limit, isPageIn);
  return { listing, first: firstIn(listing) };
}

/** The index of the first entry after this position among those in order, in the direction of the query. */
function firstAfter(listed: ListingQuery, listing: Listing, position: ListingPosition): number {
  const isAscending = listed.query.order === 'asc';
  let { from: start, to: end } = listing.sorted;
  while (start < end) {
    const middle = (start + end) >>> 1;
    const order = comparePositions(positionAt(listed, listing, middle), position);
    if (order < 0 || (isAscending && order === 0)) start = middle + 1;
    else end = middle;
  }
  return isAscending ? start : start - 1;
}

/** Between two pages so many entries may come before the second one without a sort of everything. */
const entriesThatMayCome = 100;

/** Approximate bytes of a listed fact beside its arguments. */
const bytesOfFact = 600;

/** The entries at these indexes; the conclusions of one relation are proved together. */
async function shown(
  { context, time }: ListingQuery,
  listing: Listing,
  page: readonly number[],
): Promise<StoredFact[]> {
  const facts: StoredFact[] = [];
  const meter = new ByteMeter();
  const concluded = new Map<number, { readonly rows: number[]; readonly indexes: number[] }>();
  for (const [index, at] of page.entries()) {
    const fact = factAt(context, listing, at);
    if (fact !== null) {
      const stored = storedFact(context, fact, time);
      facts[index] = stored;
      const characters = charactersOf(stored.args);
      context.pacer.memory.take(bytesOfFact + characters);
      if (meter.counts(characters)) await context.pacer.breathe();
      continue;
    }
    const { relation, row } = conclusionAt(listing, at);
    const of = concluded.get(relation) ?? { rows: [], indexes: [] };
    concluded.set(relation, of);
    of.rows.push(row);
    of.indexes.push(index);
  }
  for (const [relation, { rows, indexes }] of concluded) {
    const { matches } = listing.conclusions[relation] as Concluded;
    const conclusions = await shownConclusions(context, matches, rows, time);
    for (const [at, conclusion] of conclusions.entries()) facts[indexes[at] as number] = conclusion;
  }
  return facts;
}

/** A position in a cursor: relations are stored by name because their index can change. */
interface Cursor {
  readonly sort: ListFactsQuery['sort'];
  readonly value: SortValue | RelationName;
  readonly number: number | null;
  readonly conclusion: ConclusionName | null;
  readonly time: number;
  /** How many entries came up to this one, in the order of the query; Infinity: unknown. */
  readonly before: number;
}

function writeCursor(
  { sort, number, conclusion }: ListingPosition,
  before: number,
  { query, time }: ListingQuery,
  { relations }: Listing,
): string {
  const relation = query.sort === 'predicate' ? relations[sort as number] : undefined;
  const value = relation === undefined ? sort : [relation.predicate, relation.arity, relation.negated];
  const name = conclusion === null ? null : [conclusion.negated, conclusion.args];
  return JSON.stringify([query.sort, value, number, name, time, before]);
}

function placeOf({ value, number, conclusion }: Cursor, relations: readonly RelationName[]): ListingPosition {
  if (value === null || typeof value !== 'object') return { sort: value, number, conclusion };
  const at = relations.findIndex((relation) => compareRelations(relation, value) >= 0);
  if (at < 0) return { sort: relations.length, number, conclusion };
  const isThere = compareRelations(relations[at] as RelationName, value) === 0;
  return { sort: isThere ? at : at - 0.5, number, conclusion };
}

function readCursor(cursor: string, wanted: ListFactsQuery['sort']): Cursor {
  const refused = invalid('cursor', 'cursor must be the nextCursor of the previous page of the same query');
  let parts: unknown;
  try {
    parts = JSON.parse(cursor);
  } catch {
    throw refused;
  }
  if (!Array.isArray(parts)) throw refused;
  const [sort, given, number, name, time, before = Number.POSITIVE_INFINITY] = parts as unknown[];
  if (sort !== wanted || (number !== null && typeof number !== 'number') || typeof time !== 'number')
    throw refused;
  const value = valueNamed(given, wanted);
  const conclusion = conclusionNamed(name);
  // A stored fact has its number, a conclusion its name.
  if (value === undefined || (number === null) !== (conclusion !== null)) throw refused;
  if (typeof before !== 'number' || !(before >= 0)) throw refused;
  return { sort: wanted, value, number, conclusion, time, before };
}

function conclusionNamed(name: unknown): ConclusionName | null {
  if (!Array.isArray(name)) return null;
  const [negated, args] = name as unknown[];
  if (typeof negated !== 'boolean' || !Array.isArray(args)) return null;
  return args.every((arg) => typeof arg === 'string') ? { negated, args } : null;
}

/** The sort value in a cursor of this sort; undefined if it is not valid. */
function valueNamed(value: unknown, sort: ListFactsQuery['sort']): Cursor['value'] | undefined {
  if (sort === 'predicate') return relationNamed(value) ?? undefined;
  if (!isTextSort(sort)) return typeof value === 'number' ? value : undefined;
  return value === null || typeof value === 'string' ? value : undefined;
}

function relationNamed(given: unknown): RelationName | null {
  if (!Array.isArray(given)) return null;
  const [predicate, arity, negated] = given as unknown[];
  return typeof predicate === 'string' && typeof arity === 'number' && typeof negated === 'boolean'
    ? { predicate, arity, negated }
    : null;
}
