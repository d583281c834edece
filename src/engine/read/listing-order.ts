import { ByteMeter } from '../base/byte-meter.ts';
import { TextMap } from '../base/text-map.ts';
import type { ReadContext } from '../session/read-context.ts';
import { isTextSort, sortedPosition } from '../contract/fact-order.ts';
import type { ListFactsQuery } from '../contract/facts.ts';
import type { FactRow } from '../store/fact-store.ts';
import { SalienceReader } from '../store/salience-reader.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { Concluded, Listing, RelationName } from '../session/caches.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { leastRows, sortedOrder } from '../datalog/tables/sorted.ts';
import { compareText, TextComparisons } from '../base/text-order.ts';
import { compareNumbersFirst, isNumber } from '../language/numbers.ts';

/** A listing query in its context. */
export interface ListingQuery {
  readonly context: ReadContext;
  readonly query: ListFactsQuery;
  /** Saliences are those of the first page; otherwise facts would move between pages as time passes. */
  readonly time: number;
}

/** The sort value of an entry: a number, or the text of an argument; null if it has none. */
export type SortValue = number | string | null;

/** Selected stored rows, each with the index of its relation, relation by relation. */
export interface StoredRows {
  readonly places: Int32Array;
  readonly rows: Int32Array;
}

/** What a listing has, unordered. */
interface Unordered {
  readonly stored: StoredRows;
  readonly conclusions: readonly Concluded[];
}

/** At most this part of the entries is selected by a heap; more are sorted. */
const mostSelected = 1 / 8;

/**
 * Stored rows and conclusions in ascending order; ties by fact number, conclusions after all stored facts. If only a few
 * are `wanted`, those at the beginning of the query's order are there.
 */
export async function sortedListing(
  listed: ListingQuery,
  relations: readonly RelationName[],
  { stored, conclusions }: Unordered,
  wanted: number,
): Promise<Pick<Listing, 'places' | 'rows' | 'sorted'>> {
  const { pacer, tenant } = listed.context;
  const relationAt = relations.map(({ predicate, arity, negated }) =>
    tenant.facts.relation(predicate, arity, negated),
  );
  const concluded = conclusions.reduce((sum, { matches }) => sum + matches.count, 0);
  const storedCount = stored.rows.length;
  const count = storedCount + concluded;
  const whole = { from: 0, to: count };
  if (listed.query.sort === 'predicate' && concluded === 0)
    return { ...(await byNumbers(stored, relationAt, pacer)), sorted: whole };
  const part = wanted < count * mostSelected ? { wanted, isLast: listed.query.order === 'desc' } : null;
  const places = new Int32Array(count);
  const rows = new Int32Array(count);
  places.set(stored.places);
  rows.set(stored.rows);
  let at = storedCount;
  for (const [relation, { matches }] of conclusions.entries())
    for (let row = 0; row < matches.count; row++, at++) {
      places[at] = -1 - relation;
      rows[at] = row;
      if ((row & 0x3fff) === 0x3fff) await pacer.breathe();
    }
  const entries: Entries = { listed, relationAt, conclusions, places, rows };
  const numbers = new Int32Array(storedCount);
  for (let entry = 0; entry < storedCount; entry++) {
    numbers[entry] = rowNumberOf(storedAt(entries, entry));
    if ((entry & 0xfff) === 0xfff) await pacer.breathe();
  }
  const sorts = await sortsOf(entries, part);
  const compare = (left: number, right: number): number =>
    (sorts[left] as number) - (sorts[right] as number) ||
    (left < storedCount && right < storedCount
      ? (numbers[left] as number) - (numbers[right] as number)
      : left - right);
  const order =
    part === null ? await sortedOrder(count, compare, pacer) : await selected(count, part, compare, pacer);
  const from = part?.isLast === true ? count - order.length : 0;
  const sorted = { from, to: from + order.length };
  const ordered = { places: new Int32Array(count), rows: new Int32Array(count), sorted };
  for (let at = 0; at < order.length; at++) {
    ordered.places[from + at] = places[order[at] as number] as number;
    ordered.rows[from + at] = rows[order[at] as number] as number;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  return ordered;
}

/** Which entries are wanted: so many at the beginning of the order, or at its end. */
interface Part {
  readonly wanted: number;
  readonly isLast: boolean;
}

/** Of the numbers 0 to `count` - 1 those of the part, in ascending order. */
async function selected(
  count: number,
  { wanted, isLast }: Part,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
  texts?: TextComparisons,
): Promise<Int32Array> {
  const how = texts === undefined ? {} : { cost: texts };
  if (!isLast) return leastRows(count, wanted, compare, pacer, how);
  // Facts lie in the order of their times: from the end, the latest of them are met first.
  const last = count - 1;
  const order = await leastRows(
    count,
    wanted,
    (left, right) => compare(last - right, last - left),
    pacer,
    how,
  );
  return order.reverse().map((at) => last - at);
}

/** Unordered entries: stored facts, then conclusions, encoded as in a `Listing`. */
interface Entries {
  readonly listed: ListingQuery;
  readonly relationAt: readonly (StoredRelation | null)[];
  readonly conclusions: readonly Concluded[];
  readonly places: Int32Array;
  readonly rows: Int32Array;
}

function storedAt({ relationAt, places, rows }: Entries, entry: number): FactRow {
  return { relation: relationAt[places[entry] as number] as StoredRelation, row: rows[entry] as number };
}

/** Numbers in the same order as the sort values of the entries, if they are in the part. */
async function sortsOf(entries: Entries, part: Part | null): Promise<Float64Array> {
  const { listed, conclusions, places, rows } = entries;
  const { pacer } = listed.context;
  const { sort } = listed.query;
  const position = sortedPosition(sort);
  if (isTextSort(sort)) {
    const textAt = (entry: number): string | null =>
      position === null ? scopeAt(entries, entry) : argumentAt(entries, entry, position);
    return argumentRanks(places.length, textAt, pacer, part);
  }
  const sorts = new Float64Array(places.length);
  const numberOf = sortNumbers(listed);
  for (let entry = 0; entry < places.length; entry++) {
    const place = places[entry] as number;
    const of = conclusions[-1 - place];
    sorts[entry] =
      of === undefined
        ? numberOf(storedAt(entries, entry), place)
        : ((of.values?.[rows[entry] as number] as number | undefined) ?? of.place);
    if ((entry & 0xfff) === 0xfff) await pacer.breathe();
  }
  return sorts;
}

/** The scope of an entry; null: none. */
function scopeAt(entries: Entries, entry: number): string | null {
  const { listed, conclusions, places, rows } = entries;
  const of = conclusions[-1 - (places[entry] as number)];
  if (of === undefined) return listed.context.tenant.facts.scopeOf(storedAt(entries, entry));
  return (of.values?.[rows[entry] as number] as string | null | undefined) ?? null;
}

/** The text of an entry's argument; null: none at this position. */
function argumentAt(entries: Entries, entry: number, position: number): string | null {
  const { listed, conclusions, places, rows } = entries;
  const of = conclusions[-1 - (places[entry] as number)];
  if (of === undefined) return argumentOf(listed, storedAt(entries, entry), position);
  const column = of.matches.columns[position];
  return column === undefined ? null : of.matches.constants.text(column[rows[entry] as number] as number);
}

/**
 * Sorts rows by fact number within each relation. Rows are born in that order except for later versions of changed
 * facts; without those nothing moves.
 */
async function byNumbers(
  { places, rows }: StoredRows,
  relationAt: readonly (StoredRelation | null)[],
  pacer: Pacer,
): Promise<StoredRows> {
  for (let start = 0; start < rows.length; ) {
    const place = places[start] as number;
    const { number } = relationAt[place] as StoredRelation;
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

/**
 * `sortValueOf` for many stored facts and a sort by numbers: what facts have in common that were asserted together is worked
 * out once for all of them.
 */
function sortNumbers(listed: ListingQuery): (fact: FactRow, relationIndex: number) => number {
  const { database, tenant } = listed.context;
  const { facts, uses } = tenant;
  const timeOf = (generation: number): number => database.timeOf(generation);
  const each = (fact: FactRow, relationIndex: number): number =>
    sortValueOf(listed, fact, relationIndex) as number;
  const reader = new SalienceReader(facts, uses, timeOf, listed.time);
  switch (listed.query.sort) {
    case 'updatedAt':
      return ({ relation, row }) => database.timeOf(relation.bornIn(row));
    case 'createdAt':
      return (fact) => facts.createdAtOf(fact) ?? reader.assertedAtOf(rowNumberOf(fact));
    case 'salience':
      // Of a restored fact the reader does not know when it first existed.
      return (fact, relationIndex) =>
        facts.createdAtOf(fact) === null ? reader.of(fact.relation, fact.row) : each(fact, relationIndex);
    default:
      return each;
  }
}

/** The sort value of a stored fact; `relationIndex`: the index of its relation. */
export function sortValueOf(
  { context, query, time }: ListingQuery,
  fact: FactRow,
  relationIndex: number,
): SortValue {
  const { database, tenant } = context;
  const { sort } = query;
  if (sort === 'predicate') return relationIndex;
  if (sort === 'validUntil')
    return Math.min(Number.MAX_VALUE, fact.relation.validUntil?.[fact.row] ?? Number.MAX_VALUE);
  const position = sortedPosition(sort);
  if (position !== null) return argumentOf({ context }, fact, position);
  if (sort === 'scope') return tenant.facts.scopeOf(fact);
  if (sort === 'truthVal') return Number(!fact.relation.negated);
  if (sort === 'derived') return 0;
  const { createdAt, updatedAt } = database.timesOf(tenant.facts, fact);
  if (sort === 'createdAt') return createdAt;
  return sort === 'updatedAt' ? updatedAt : tenant.uses.salience(fact, createdAt, time).salience;
}

function argumentOf(
  { context }: Pick<ListingQuery, 'context'>,
  { relation, row }: FactRow,
  position: number,
): string | null {
  if (position >= relation.arity) return null;
  return context.tenant.facts.dictionary.text((relation.columns[position] as Int32Array)[row] as number);
}

/** The number of a stored fact, which breaks ties. */
export function rowNumberOf(fact: FactRow): number {
  return fact.relation.number[fact.row] as number;
}

/**
 * Compares argument values: numbers first, in numeric order, then text by code point, then null (no such argument). Equal
 * numbers are ordered by their texts, so the order is total.
 */
export function compareArguments(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return compareNumbersFirst(left, right) || compareText(left, right);
}

/**
 * For each of `count` values, the number of distinct values before it; with a part, only for its values, and all others lie
 * behind, or before, those.
 */
export async function argumentRanks(
  count: number,
  valueAt: (at: number) => string | null,
  pacer: Pacer,
  part: Part | null = null,
): Promise<Float64Array> {
  const texts = new TextComparisons();
  const indexOf = new TextMap<number, string | null>();
  const indexes = new Int32Array(count);
  const distinct: (string | null)[] = [];
  const meter = new ByteMeter();
  for (let at = 0; at < count; at++) {
    const value = valueAt(at);
    let index = indexOf.get(value);
    if (index === undefined) {
      index = distinct.push(value) - 1;
      indexOf.set(texts.see(value), index);
    }
    indexes[at] = index;
    if (meter.counts(value?.length ?? 0)) await pacer.breathe();
  }
  // Distinct doubles are in the order of their exact values, which decides most comparisons.
  const doubles = new Float64Array(distinct.length);
  for (const [at, value] of distinct.entries()) {
    doubles[at] = value !== null && isNumber(value) ? Number(value) : Number.NaN;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  const compare = (left: number, right: number): number => {
    const difference = (doubles[left] as number) - (doubles[right] as number);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
    const [one, other] = [distinct[left] as string | null, distinct[right] as string | null];
    texts.work += Math.min(one?.length ?? 0, other?.length ?? 0);
    return compareArguments(one, other);
  };
  // No entry of the part has a value beyond as many distinct ones.
  const order =
    part === null
      ? await sortedOrder(distinct.length, compare, pacer, texts)
      : await selected(distinct.length, part, compare, pacer, texts);
  const rankOf = new Float64Array(distinct.length).fill(part?.isLast === true ? -1 : order.length);
  for (let rank = 0; rank < order.length; rank++) rankOf[order[rank] as number] = rank;
  const ranks = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    ranks[at] = rankOf[indexes[at] as number] as number;
    if ((at & 0xffff) === 0xffff) await pacer.breathe();
  }
  return ranks;
}
