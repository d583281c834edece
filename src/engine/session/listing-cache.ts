import { LruCache } from '../base/lru-cache.ts';
import type { FactStore } from '../store/fact-store.ts';
import type { Program } from '../datalog/model/program.ts';
import type { Matches } from '../datalog/tables/question.ts';

/** One query's listing, to cut pages from. */
export interface Listing {
  /** The relations that the query can list, in the order of `sort=predicate`. */
  readonly relations: readonly RelationName[];
  /** In ascending order: of a stored fact the place of its relation; of a conclusion -1 - the place in `conclusions`. */
  readonly places: Int32Array;
  /** Beside it: the row in the relation, or among those conclusions. */
  readonly rows: Int32Array;
  /** Relation by relation, in the order of `relations`. */
  readonly conclusions: readonly Concluded[];
}

/** The conclusions of a relation that are listed. */
export interface Concluded {
  /** The place of the relation. */
  readonly place: number;
  /** Ordered by their arguments. */
  readonly matches: Matches;
  /** What each of them is sorted by where only its proof says that; else null. */
  readonly values: Float64Array | readonly (string | null)[] | null;
}

export interface RelationName {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
}

/** What a listing depends on, at the time it is made and at the time it is wanted. */
export interface ListingState {
  /** The query, and whatever else of the request its order depends on. */
  readonly key: string;
  readonly facts: FactStore;
  /** `FactStore.version` in the turn in which the reader was pinned. */
  readonly version: number;
  /** null: uses do not matter to it. */
  readonly usesVersion: number | null;
  /** null: rules do not matter to it. */
  readonly program: Program | null;
  /** The reader's time, and the first instant after it at which a validity begins or ends. */
  readonly time: number;
  readonly until: number;
}

interface CachedListing {
  readonly state: Omit<ListingState, 'facts'>;
  readonly listing: Listing;
}

export const maxListings = 64;

/**
 * Listings for their next pages, as numbers of relations and rows.
 *
 * A listing is used only where it would come out the same: the tenant's facts did not change since, no validity began or
 * ended, and neither rules nor uses changed where it depends on them. So callers cannot tell whether a page is cached.
 */
export class ListingCache {
  readonly #listings: LruCache<FactStore, CachedListing>;

  constructor(maxBytes: number) {
    this.#listings = new LruCache(maxListings, maxBytes);
  }

  get bytes(): number {
    return this.#listings.bytes;
  }

  get count(): number {
    return this.#listings.size;
  }

  /** The listing that holds in this state; null: there is none. Evicts one of an earlier state. */
  find(wanted: ListingState): Listing | null {
    const found = this.#listings.get(wanted.facts, wanted.key);
    if (found === undefined) return null;
    if (isSameState(found.state, wanted)) return found.listing;
    this.#listings.delete(wanted.facts, wanted.key);
    return null;
  }

  /** Caches a listing, unless it is larger than the cache may be. */
  keep({ facts, ...state }: ListingState, listing: Listing): void {
    this.#listings.set(facts, state.key, { state, listing }, bytesOf(state.key, listing));
  }

  /** Evicts the listings of a tenant that is gone. */
  forget(facts: FactStore): void {
    this.#listings.deleteOwner(facts);
  }
}

function isSameState(made: CachedListing['state'], wanted: ListingState): boolean {
  return (
    made.version === wanted.version &&
    made.usesVersion === wanted.usesVersion &&
    made.program === wanted.program &&
    made.time <= wanted.time &&
    wanted.time < made.until
  );
}

/** About what the listing takes: two bytes a character, its columns, and the constants that conclusions made. */
function bytesOf(key: string, { places, rows, conclusions, relations }: Listing): number {
  let characters = key.length;
  for (const { predicate } of relations) characters += predicate.length + 50;
  let bytes = places.byteLength + rows.byteLength + 2 * characters;
  const made = new Set<Matches['constants']>();
  for (const { matches, values } of conclusions) {
    for (const column of matches.columns) bytes += column.byteLength;
    bytes += 8 * (values?.length ?? 0);
    made.add(matches.constants);
  }
  for (const constants of made) bytes += constants.bytes;
  return bytes;
}
