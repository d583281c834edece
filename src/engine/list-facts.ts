import { invalid } from './base/errors.ts';
import { type BrowseContext, storedFact } from './browse.ts';
import { type FactList, isTextSort, type ListFactsQuery, type StoredFact } from './contract/facts.ts';
import type { ListedConclusion, Listing, RelationName, SortValue } from './kept-listings.ts';
import {
  comparePlaces,
  compareRelations,
  factAt,
  type Listed,
  listingOf,
  type Place,
  placeAt,
} from './listing.ts';

/**
 * GET /facts: one page of a listing.
 *
 * A page is found by the place of its first entry in the order, not by its number, so that facts that come and go
 * between two pages neither repeat nor hide others. Who wants any page at once names it by number (`offset`), in the
 * list as a cursor saw it where one is given. Descending is ascending read backwards, ties included, so that a
 * reader can page from either end.
 */
export async function listFacts(context: BrowseContext, query: ListFactsQuery): Promise<FactList> {
  const after = query.cursor === null ? null : readCursor(query.cursor, query.sort);
  const listed: Listed = { context, query, time: after?.time ?? context.reader.time };
  const listing = await listingOf(listed);
  const total = listing.rows.length;
  const isAscending = query.order === 'asc';
  const step = isAscending ? 1 : -1;
  const isByPlace = after !== null && query.offset === null;
  const offset = query.offset ?? 0;
  const first = isByPlace
    ? firstAfter(listed, listing, placeOf(after, listing.relations))
    : isAscending
      ? offset
      : total - 1 - offset;
  const facts: StoredFact[] = [];
  let at = first;
  for (; facts.length < query.limit && at >= 0 && at < total; at += step)
    facts.push(entryAt(listed, listing, at));
  const hasMore = facts.length > 0 && at >= 0 && at < total;
  return {
    facts,
    total,
    nextCursor: hasMore ? writeCursor(placeAt(listed, listing, at - step), listed, listing) : null,
  };
}

/** Where the entries after this place begin, in the direction of the query. */
function firstAfter(listed: Listed, listing: Listing, place: Place): number {
  const isAscending = listed.query.order === 'asc';
  let start = 0;
  let end = listing.rows.length;
  while (start < end) {
    const middle = (start + end) >>> 1;
    const order = comparePlaces(placeAt(listed, listing, middle), place);
    if (order < 0 || (isAscending && order === 0)) start = middle + 1;
    else end = middle;
  }
  return isAscending ? start : start - 1;
}

function entryAt({ context, time }: Listed, listing: Listing, at: number): StoredFact {
  const fact = factAt(context, listing, at);
  if (fact !== null) return storedFact(context, fact, time);
  return (listing.conclusions[listing.rows[at] as number] as ListedConclusion).fact;
}

/** A place as a cursor names it: by the relation's name where its place can move. */
interface Cursor {
  readonly sort: ListFactsQuery['sort'];
  readonly value: SortValue | RelationName;
  readonly tie: number;
  readonly atom: string;
  readonly time: number;
}

function writeCursor({ sort, tie, atom }: Place, { query, time }: Listed, { relations }: Listing): string {
  const relation = query.sort === 'predicate' ? relations[sort as number] : undefined;
  const value = relation === undefined ? sort : [relation.predicate, relation.arity, relation.negated];
  return JSON.stringify([query.sort, value, tie, atom, time]);
}

function placeOf({ value, tie, atom }: Cursor, relations: readonly RelationName[]): Place {
  if (value === null || typeof value !== 'object') return { sort: value, tie, atom };
  const at = relations.findIndex((relation) => compareRelations(relation, value) >= 0);
  if (at < 0) return { sort: relations.length, tie, atom };
  const isThere = compareRelations(relations[at] as RelationName, value) === 0;
  return { sort: isThere ? at : at - 0.5, tie, atom };
}

function readCursor(cursor: string, wanted: ListFactsQuery['sort']): Cursor {
  const refused = invalid(
    'cursor',
    'a cursor is what nextCursor of the page before gave, for the same query',
  );
  let parts: unknown;
  try {
    parts = JSON.parse(cursor);
  } catch {
    throw refused;
  }
  if (!Array.isArray(parts)) throw refused;
  const [sort, place, tie, atom, time] = parts as unknown[];
  if (sort !== wanted || typeof tie !== 'number' || typeof atom !== 'string' || typeof time !== 'number')
    throw refused;
  const value = valueNamed(place, wanted);
  if (value === undefined) throw refused;
  return { sort: wanted, value, tie, atom, time };
}

/** What a cursor of this sort names as the value of its entry; undefined where it is no such value. */
function valueNamed(value: unknown, sort: ListFactsQuery['sort']): Cursor['value'] | undefined {
  if (sort === 'predicate') return relationNamed(value) ?? undefined;
  if (!isTextSort(sort)) return typeof value === 'number' ? value : undefined;
  return value === null || typeof value === 'string' ? value : undefined;
}

function relationNamed(place: unknown): RelationName | null {
  if (!Array.isArray(place)) return null;
  const [predicate, arity, negated] = place as unknown[];
  return typeof predicate === 'string' && typeof arity === 'number' && typeof negated === 'boolean'
    ? { predicate, arity, negated }
    : null;
}
