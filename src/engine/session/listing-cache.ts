import type { FactStore } from '../store/fact-store.ts';
import type { Program } from '../datalog/model/program.ts';
import type { Matches } from '../datalog/tables/question.ts';

/**
 * Listings that were made, kept so that the next page need not make them again.
 *
 * A listing is kept as numbers of relations and rows, and used only where it would come out the same: the tenant's
 * facts did not change since, no validity began or ended, and neither rules nor uses changed where it depends on
 * them. So nobody can tell whether a page came from a kept one. Those used longest ago go first.
 */
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

interface Kept {
  readonly state: Omit<ListingState, 'facts'>;
  /** What is kept here shall not keep a tenant that has gone. */
  readonly facts: WeakRef<FactStore>;
  readonly listing: Listing;
  readonly bytes: number;
}

export const mostListings = 64;

export class ListingCache {
  readonly #mostBytes: number;
  /** The one used last comes last. */
  readonly #kept: Kept[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#kept.length;
  }

  /** The listing where one is kept that holds in this state. One of an earlier state is let go. */
  find(wanted: ListingState): Listing | null {
    const at = this.#kept.findIndex(
      ({ state, facts }) => state.key === wanted.key && facts.deref() === wanted.facts,
    );
    if (at < 0) return null;
    const found = this.#take(at);
    if (!holds(found.state, wanted)) return null;
    this.#add(found);
    return found.listing;
  }

  /** Keeps a listing, unless it is larger than all that may be kept. */
  keep({ facts, ...state }: ListingState, listing: Listing): void {
    const bytes = bytesOf(state.key, listing);
    if (bytes > this.#mostBytes) return;
    const same = this.#kept.findIndex((each) => each.state.key === state.key && each.facts.deref() === facts);
    if (same >= 0) this.#take(same);
    this.#add({ state, facts: new WeakRef(facts), listing, bytes });
    while (this.#kept.length > mostListings || this.#bytes > this.#mostBytes) this.#take(0);
  }

  /** Lets go of the listings of a tenant that has gone, and of those whose facts nobody has any more. */
  forget(facts: FactStore): void {
    for (let at = this.#kept.length - 1; at >= 0; at--) {
      const kept = this.#kept[at]?.facts.deref();
      if (kept === undefined || kept === facts) this.#take(at);
    }
  }

  #take(at: number): Kept {
    const [taken] = this.#kept.splice(at, 1) as [Kept];
    this.#bytes -= taken.bytes;
    return taken;
  }

  #add(kept: Kept): void {
    this.#kept.push(kept);
    this.#bytes += kept.bytes;
  }
}

function holds(made: Kept['state'], wanted: ListingState): boolean {
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
