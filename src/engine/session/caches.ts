import { LruCache } from '../base/lru-cache.ts';
import type { Answer, AskInput, Proof } from '../contract/inference.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { Program } from '../datalog/model/program.ts';
import type { Matches } from '../datalog/tables/question.ts';

/** An answer as it is written, but for what is of the moment. */
export type WrittenAnswer = Omit<Answer, 'generation' | 'elapsedMs'>;

/** The parts of a question that its answer depends on, as a text of its own. */
export function askedKey(input: AskInput): string {
  const { predicate, args, negated, body, text, scope, unscoped, withProof, allProofs, limit, offset } =
    input;
  return JSON.stringify([
    predicate,
    args,
    negated,
    body,
    text,
    scope,
    unscoped,
    withProof,
    allProofs,
    limit,
    offset,
  ]);
}

interface CachedAnswer {
  /** Of the reasoner, when the answer was made. */
  readonly version: number;
  readonly answer: WrittenAnswer;
  /** Numbers of the stored facts that it used: a row here would keep a relation that is gone. */
  readonly used: readonly number[];
}

const maxRows = 100;
const maxSteps = 1000;
/** The part of the cache that one answer may take. */
const largestPart = 1 / 16;
/** About what an answer, a row of it and a step of its proof take beside their texts. */
const answerBytes = 600;
const rowBytes = 200;
const stepBytes = 400;

/**
 * Answers that were given, as they were written, for callers that ask the same again before anything changes: their tables
 * are there, but to find, order and write what is in them costs many times what the look-up of an answer costs.
 *
 * An answer is used only for a reader of the version that it was made for, and a version moves with every change that an
 * answer can notice (`Reasoner.version`), so that callers cannot tell. What the answer used counts as used again. Long
 * answers are not cached: to send one costs more than to make it. All tenants share the bytes.
 */
export class AnswerCache {
  readonly #answers: LruCache<Reasoner, CachedAnswer>;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#answers = new LruCache(Number.POSITIVE_INFINITY, maxBytes);
  }

  get bytes(): number {
    return this.#answers.bytes;
  }

  clear(): void {
    this.#answers.clear();
  }

  /** The answer for the state that the reader sees, with the numbers of the facts that it used; null: there is none. */
  find(reasoner: Reasoner, reader: PinnedReader, key: string): Pick<CachedAnswer, 'answer' | 'used'> | null {
    if (reader.overlay !== null) return null;
    const cached = this.#answers.get(reasoner, key);
    return cached?.version === reader.version ? cached : null;
  }

  /** Caches an answer to the question, unless it is long or of a state that has passed. */
  keep(
    reasoner: Reasoner,
    reader: PinnedReader,
    key: string,
    answer: WrittenAnswer,
    used: ReadonlySet<FactRow>,
  ): void {
    const { version } = reader;
    if (reader.overlay !== null || version !== reasoner.version || reasoner.isRetired) return;
    if (answer.count > maxRows || (answer.proof?.steps.length ?? 0) > maxSteps) return;
    const bytes = bytesOf(key, answer, used.size);
    if (bytes > this.#maxBytes * largestPart) return;
    const numbers = Array.from(used, ({ relation, row }) => relation.number[row] as number);
    this.#answers.set(reasoner, key, { version, answer, used: numbers }, bytes);
  }
}

/** About what an answer takes: two bytes a character, and something for each object. */
function bytesOf(key: string, { results, bindings, proof, hints = [] }: WrittenAnswer, used: number): number {
  let characters = key.length;
  for (const text of [...results, ...hints]) characters += text.length;
  for (const binding of bindings)
    for (const name in binding) characters += name.length + (binding[name]?.length ?? 0);
  return (
    answerBytes + 2 * characters + 8 * used + rowBytes * results.length + (proof ? bytesOfProof(proof) : 0)
  );
}

function bytesOfProof({ steps, roots }: Proof): number {
  let bytes = 8 * roots.length + stepBytes * steps.length;
  for (const { atom, rule, premises, metadata, alternatives } of steps) {
    bytes += 2 * (atom.length + (rule?.length ?? 0)) + 8 * premises.length;
    if (metadata !== undefined) bytes += 4 * JSON.stringify(metadata).length;
    for (const other of alternatives ?? []) bytes += 100 + 2 * other.rule.length + 8 * other.premises.length;
  }
  return bytes;
}

/** One query's listing, to cut pages from. */
export interface Listing {
  /** The relations that the query can list, in the order of `sort=predicate`. */
  readonly relations: readonly RelationName[];
  /** In ascending order: of a stored fact the place of its relation; of a conclusion -1 - the place in `conclusions`. */
  readonly places: Int32Array;
  /** Beside it: the row in the relation, or among those conclusions. */
  readonly rows: Int32Array;
  /** Only the entries from `from` to before `to` are there; the others hold nothing. */
  readonly sorted: { readonly from: number; readonly to: number };
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
    this.#listings.set(facts, state.key, { state, listing }, bytesOfListing(state.key, listing));
  }

  clear(): void {
    this.#listings.clear();
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
function bytesOfListing(key: string, { places, rows, conclusions, relations }: Listing): number {
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
