import { invalid } from './base/errors.ts';
import { compareText } from './base/text-order.ts';
import type { FactList, ListFactsQuery, StoredFact } from './contract/facts.ts';
import type { Proof } from './contract/inference.ts';
import type { FactRow, ScopeChoice } from './facts/fact-store.ts';
import { renderAtom } from './logic/print.ts';
import { relationKey } from './logic/terms.ts';
import type { Pacer } from './solve/evaluation.ts';
import type { Matches } from './solve/question.ts';
import { ProofBuilder } from './solve/proof.ts';
import { question } from './solve/question.ts';
import type { PinnedReader, Reasoner } from './solve/reasoner.ts';
import { sortedOrder } from './solve/sorted.ts';
import type { DatabaseState, TenantState } from './state.ts';

/**
 * Browsing: stored facts, and the conclusions of a predicate beside them, page by page.
 *
 * A page is found by the place of its first entry in the order, not by its number, so that facts that come and go
 * between two pages neither repeat nor hide others. Facts that are stored but not valid yet are listed too: they
 * can be changed and retracted. Descending is ascending read backwards, ties included, so that a reader can page from
 * either end.
 */
export interface BrowseContext {
  readonly database: DatabaseState;
  readonly tenant: TenantState;
  readonly reasoner: Reasoner;
  readonly reader: PinnedReader;
  readonly pacer: Pacer;
}

/** Where an entry stands in the order: compared from the first field to the last. */
interface Place {
  readonly sort: number;
  /** Number of a stored fact; conclusions come after all of those. */
  readonly tie: number;
  /** The atom of a conclusion, '' of a stored fact. */
  readonly atom: string;
}

/** An entry before it is written out: where it stands, and what it is. */
interface Entry extends Place {
  readonly fact: FactRow | null;
  readonly conclusion: StoredFact | null;
}

/** The stored fact as it is shown, its salience as of `time`. */
export function storedFact(
  context: BrowseContext,
  fact: FactRow,
  time: number = context.reader.time,
): StoredFact {
  const { database, tenant } = context;
  const { facts, uses } = tenant;
  const { createdAt, updatedAt } = database.timesOf(facts, fact);
  const from = fact.relation.validFrom?.[fact.row] ?? Number.NEGATIVE_INFINITY;
  const until = fact.relation.validUntil?.[fact.row] ?? Number.POSITIVE_INFINITY;
  return {
    id: facts.idOf(fact),
    predicate: fact.relation.predicate,
    args: facts.argsOf(fact),
    truthVal: !fact.relation.negated,
    scope: facts.scopeOf(fact),
    validFrom: Number.isFinite(from) ? from : null,
    validUntil: Number.isFinite(until) ? until : null,
    metadata: facts.metadataOf(fact),
    createdAt,
    updatedAt,
    importId: null,
    salience: uses.salience(fact, createdAt, time).salience,
    derived: false,
    provenance: null,
  };
}

export async function listFacts(context: BrowseContext, query: ListFactsQuery): Promise<FactList> {
  const after = query.cursor === null ? null : readCursor(query.cursor, query.sort);
  const listing: Listing = {
    context,
    query,
    view: scopeChoice(query),
    relations: listedRelations(context, query),
    time: after?.time ?? context.reader.time,
  };
  const entries = await storedEntries(listing);
  if (query.derived && query.predicate !== null)
    for (const entry of await conclusions(listing, query.predicate)) entries.push(entry);
  const direction = query.order === 'asc' ? 1 : -1;
  const order = await sortedOrder(
    entries.length,
    (left, right) => direction * comparePlaces(entries[left] as Entry, entries[right] as Entry),
    context.pacer,
  );
  let start = 0;
  if (after !== null) {
    const place = placeOf(after, listing.relations);
    let end = order.length;
    while (start < end) {
      const middle = (start + end) >>> 1;
      const entry = entries[order[middle] as number] as Entry;
      if (direction * comparePlaces(entry, place) <= 0) start = middle + 1;
      else end = middle;
    }
  }
  const page = Array.from(order.subarray(start, start + query.limit), (at) => entries[at] as Entry);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + page.length < order.length;
  return {
    facts: page.map((entry) => entry.conclusion ?? storedFact(context, entry.fact as FactRow, listing.time)),
    total: entries.length,
    nextCursor: hasMore ? writeCursor(last, listing) : null,
  };
}

/** What one listing goes by from its first page to its last. */
interface Listing {
  readonly context: BrowseContext;
  readonly query: ListFactsQuery;
  readonly view: ScopeChoice;
  /** In the order of `sort=predicate`, the place of a relation being its index. */
  readonly relations: readonly RelationName[];
  /** Saliences are those of the first page, or facts would change places between pages as time goes by. */
  readonly time: number;
}

interface RelationName {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
}

/** The relations that the query can list, stored and concluded, in order, each once. */
function listedRelations({ tenant, reader }: BrowseContext, query: ListFactsQuery): RelationName[] {
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

function compareRelations(left: RelationName, right: RelationName): number {
  return (
    compareText(left.predicate, right.predicate) ||
    left.arity - right.arity ||
    Number(left.negated) - Number(right.negated)
  );
}

function comparePlaces(left: Place, right: Place): number {
  return left.sort - right.sort || left.tie - right.tie || compareText(left.atom, right.atom);
}

export function scopeChoice(choice: { scope: string | null; unscoped: boolean }): ScopeChoice {
  if (choice.unscoped) return { kind: 'unscoped' };
  return choice.scope === null ? { kind: 'all' } : { kind: 'scope', scope: choice.scope };
}

/** Stored facts that the query takes, with the value that they are sorted by. */
async function storedEntries(listing: Listing): Promise<Entry[]> {
  const { context, query, view, relations } = listing;
  const { tenant, reader, pacer } = context;
  const { facts } = tenant;
  const wantedScope =
    view.kind === 'all' ? null : view.kind === 'unscoped' ? 0 : facts.scopeNumber(view.scope);
  const part = query.q?.toLowerCase() ?? null;
  const entries: Entry[] = [];
  for (const [place, { predicate, arity, negated }] of relations.entries()) {
    const relation = facts.relation(predicate, arity, negated);
    if (relation === null) continue;
    const scopes = relation.columns[relation.arity] as Int32Array;
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (
        !relation.isHeld(row, reader.generation, reader.time) ||
        (wantedScope !== null && scopes[row] !== wantedScope)
      )
        continue;
      const fact = { relation, row };
      if (part !== null && !rendered(context, fact).toLowerCase().includes(part)) continue;
      const sort = query.sort === 'predicate' ? place : sortValue(listing, fact, query.sort);
      entries.push({ sort, tie: relation.number[row] as number, atom: '', fact, conclusion: null });
    }
  }
  return entries;
}

function sortValue(
  { context, time }: Listing,
  fact: FactRow,
  sort: Exclude<ListFactsQuery['sort'], 'predicate'>,
): number {
  const { database, tenant } = context;
  if (sort === 'validUntil')
    return Math.min(Number.MAX_VALUE, fact.relation.validUntil?.[fact.row] ?? Number.MAX_VALUE);
  const { createdAt, updatedAt } = database.timesOf(tenant.facts, fact);
  if (sort === 'createdAt') return createdAt;
  return sort === 'updatedAt' ? updatedAt : tenant.uses.salience(fact, createdAt, time).salience;
}

function rendered({ tenant }: BrowseContext, fact: FactRow): string {
  const { predicate, negated } = fact.relation;
  return renderAtom({ predicate, args: tenant.facts.argsOf(fact), negated });
}

/** After the number of every stored fact. */
const tieOfConclusions = 2 ** 32;

/** The derivable conclusions of the predicate that are not stored, of every arity and truth value. */
async function conclusions(listing: Listing, predicate: string): Promise<Entry[]> {
  const { context, query, relations } = listing;
  const { sort } = query;
  const part = query.q?.toLowerCase() ?? null;
  const entries: Entry[] = [];
  for (const of of context.reader.program.conclusionsOf(predicate)) {
    const place = relations.findIndex((relation) => compareRelations(relation, of) === 0);
    if (place < 0) continue;
    const args = Array.from({ length: of.arity }, (_, position) => `?v${position}`);
    for (const conclusion of await conclusionsOf(listing, { predicate, args, negated: of.negated })) {
      const atom = atomOf(conclusion);
      if (part !== null && !atom.toLowerCase().includes(part)) continue;
      const value = sort === 'predicate' ? place : (conclusion[sort] ?? Number.MAX_VALUE);
      entries.push({ sort: value, tie: tieOfConclusions, atom, fact: null, conclusion });
    }
  }
  return entries;
}

function atomOf(fact: StoredFact): string {
  return renderAtom({ predicate: fact.predicate, args: fact.args, negated: !fact.truthVal });
}

async function conclusionsOf(
  listing: Listing,
  atom: { predicate: string; args: string[]; negated: boolean },
): Promise<StoredFact[]> {
  const { view } = listing;
  const { reasoner, reader, pacer } = listing.context;
  const asked = question(view, [{ ...atom, naf: false }]);
  const { matches } = await reasoner.answer(asked, reader, pacer, {
    offset: 0,
    limit: null,
    withProof: false,
    withAlternatives: false,
  });
  const derived = await reasoner.evaluate(reader, true, async (set) => {
    const builder = new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY);
    const rows: number[] = [];
    for (let row = 0; row < matches.count; row++)
      if (builder.storedFact(view, { ...atom, args: argsAt(matches, row), naf: false }) === null)
        rows.push(row);
    return { rows, proof: await builder.prove(matches, rows), facts: builder.facts };
  });
  const supports = supportOf(listing, derived.proof, derived.facts);
  return derived.proof.roots.map((root, at) => {
    const step = derived.proof.steps[root] as Proof['steps'][number];
    const premises = step.premises.map((premise) => derived.proof.steps[premise]?.atom ?? '');
    const support = supports[root] as Support;
    return {
      id: null,
      predicate: atom.predicate,
      args: argsAt(matches, derived.rows[at] as number),
      truthVal: !atom.negated,
      scope: step.scope,
      validFrom: Number.isFinite(support.from) ? support.from : null,
      validUntil: Number.isFinite(support.until) ? support.until : null,
      metadata: {},
      createdAt: support.createdAt,
      updatedAt: support.updatedAt,
      importId: null,
      salience: support.salience,
      derived: true,
      provenance: { rule: step.rule ?? '', premises },
    };
  });
}

/** What a conclusion takes from the stored premises of its proof; of no premises the neutral values. */
interface Support {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly from: number;
  readonly until: number;
  readonly salience: number;
}

const noSupport: Support = {
  createdAt: 0,
  updatedAt: 0,
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  salience: 1,
};

function both(left: Support, right: Support): Support {
  return {
    createdAt: Math.max(left.createdAt, right.createdAt),
    updatedAt: Math.max(left.updatedAt, right.updatedAt),
    from: Math.max(left.from, right.from),
    until: Math.min(left.until, right.until),
    salience: Math.min(left.salience, right.salience),
  };
}

/** The support of every step, each from those before it. `facts` are those of the fact steps, in their order. */
function supportOf({ context, time }: Listing, proof: Proof, facts: readonly FactRow[]): Support[] {
  let next = 0;
  const support: Support[] = [];
  for (const step of proof.steps) {
    let own = noSupport;
    if (step.kind === 'fact') {
      const fact = storedFact(context, facts[next++] as FactRow, time);
      const from = fact.validFrom ?? Number.NEGATIVE_INFINITY;
      own = { ...fact, from, until: fact.validUntil ?? Number.POSITIVE_INFINITY };
    }
    for (const premise of step.premises) own = both(own, support[premise] as Support);
    support.push(own);
  }
  return support;
}

function argsAt(matches: Matches, row: number): string[] {
  const width = matches.question.variables.length;
  return Array.from({ length: width }, (_, at) =>
    matches.constants.text(matches.ids[row * width + at] as number),
  );
}

/** A place as a cursor names it: by the relation's name where its place can move. */
interface Cursor {
  readonly sort: ListFactsQuery['sort'];
  readonly value: number | RelationName;
  readonly tie: number;
  readonly atom: string;
  readonly time: number;
}

function writeCursor({ sort, tie, atom }: Place, { query, relations, time }: Listing): string {
  const relation = query.sort === 'predicate' ? relations[sort] : undefined;
  const value = relation === undefined ? sort : [relation.predicate, relation.arity, relation.negated];
  return JSON.stringify([query.sort, value, tie, atom, time]);
}

function placeOf({ value, tie, atom }: Cursor, relations: readonly RelationName[]): Place {
  if (typeof value === 'number') return { sort: value, tie, atom };
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
  const value = sort === 'predicate' ? relationNamed(place) : place;
  if (sort !== wanted || typeof tie !== 'number' || typeof atom !== 'string' || typeof time !== 'number')
    throw refused;
  if (value === null || (typeof value !== 'number' && typeof value !== 'object')) throw refused;
  return { sort: wanted, value: value as number | RelationName, tie, atom, time };
}

function relationNamed(place: unknown): RelationName | null {
  if (!Array.isArray(place)) return null;
  const [predicate, arity, negated] = place as unknown[];
  return typeof predicate === 'string' && typeof arity === 'number' && typeof negated === 'boolean'
    ? { predicate, arity, negated }
    : null;
}
