import { invalid } from './base/errors.ts';
import { compareText } from './base/text-order.ts';
import type { FactList, ListFactsQuery, StoredFact } from './contract/facts.ts';
import type { Proof } from './contract/inference.ts';
import type { FactRow, ScopeChoice } from './facts/fact-store.ts';
import { renderAtom } from './logic/print.ts';
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

/** An entry before it is written out: where it stands in the order, and what it is. */
interface Entry {
  readonly sort: number;
  /** Number of a stored fact; conclusions come after, in the order of their atoms. */
  readonly tie: number;
  readonly fact: FactRow | null;
  readonly conclusion: StoredFact | null;
}

export function storedFact(context: BrowseContext, fact: FactRow): StoredFact {
  const { database, tenant, reader } = context;
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
    salience: uses.salience(fact, createdAt, reader.time).salience,
    derived: false,
    provenance: null,
  };
}

export async function listFacts(context: BrowseContext, query: ListFactsQuery): Promise<FactList> {
  const scope = scopeChoice(query);
  const entries = await storedEntries(context, query, scope);
  if (query.derived && query.predicate !== null) entries.push(...(await conclusions(context, query, scope)));
  const direction = query.order === 'asc' ? 1 : -1;
  const compare = (left: Entry, right: Entry): number =>
    direction * (left.sort - right.sort || left.tie - right.tie);
  const order = await sortedOrder(
    entries.length,
    (left, right) => compare(entries[left] as Entry, entries[right] as Entry),
    context.pacer,
  );
  const after = query.cursor === null ? null : readCursor(query.cursor);
  let start = 0;
  if (after !== null) {
    let end = order.length;
    while (start < end) {
      const middle = (start + end) >>> 1;
      const entry = entries[order[middle] as number] as Entry;
      if (direction * (entry.sort - after.sort || entry.tie - after.tie) <= 0) start = middle + 1;
      else end = middle;
    }
  }
  const page = Array.from(order.subarray(start, start + query.limit), (at) => entries[at] as Entry);
  const last = page.at(-1);
  return {
    facts: page.map((entry) => entry.conclusion ?? storedFact(context, entry.fact as FactRow)),
    total: entries.length,
    nextCursor: last !== undefined && start + page.length < order.length ? writeCursor(last) : null,
  };
}

export function scopeChoice(choice: { scope: string | null; unscoped: boolean }): ScopeChoice {
  if (choice.unscoped) return { kind: 'unscoped' };
  return choice.scope === null ? { kind: 'all' } : { kind: 'scope', scope: choice.scope };
}

/** Stored facts that the query takes, with the value that they are sorted by. */
async function storedEntries(
  context: BrowseContext,
  query: ListFactsQuery,
  scope: ScopeChoice,
): Promise<Entry[]> {
  const { tenant, reader, pacer } = context;
  const { facts } = tenant;
  const wantedScope =
    scope.kind === 'all' ? null : scope.kind === 'unscoped' ? 0 : facts.scopeNumber(scope.scope);
  const part = query.q?.toLowerCase() ?? null;
  const relations = [...facts.relations.values()]
    .filter((relation) => query.predicate === null || relation.predicate === query.predicate)
    .filter((relation) => query.truthVal === null || relation.negated !== query.truthVal)
    .sort(
      (a, b) =>
        compareText(a.predicate, b.predicate) || a.arity - b.arity || Number(a.negated) - Number(b.negated),
    );
  const entries: Entry[] = [];
  for (const [place, relation] of relations.entries()) {
    const scopes = relation.columns[relation.arity] as Int32Array;
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      const fact = { relation, row };
      if (!isListed(context, fact) || (wantedScope !== null && scopes[row] !== wantedScope)) continue;
      if (part !== null && !rendered(context, fact).toLowerCase().includes(part)) continue;
      const sort = query.sort === 'predicate' ? place : sortValue(context, fact, query.sort);
      entries.push({ sort, tie: relation.number[row] as number, fact, conclusion: null });
    }
  }
  return entries;
}

/** Alive in the reader's generation, and its validity has not ended. */
function isListed({ reader }: BrowseContext, { relation, row }: FactRow): boolean {
  const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
  const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
  return death > reader.generation && until > reader.time;
}

function sortValue(
  context: BrowseContext,
  fact: FactRow,
  sort: Exclude<ListFactsQuery['sort'], 'predicate'>,
): number {
  const { database, tenant, reader } = context;
  if (sort === 'validUntil')
    return Math.min(Number.MAX_VALUE, fact.relation.validUntil?.[fact.row] ?? Number.MAX_VALUE);
  const { createdAt, updatedAt } = database.timesOf(tenant.facts, fact);
  if (sort === 'createdAt') return createdAt;
  return sort === 'updatedAt' ? updatedAt : tenant.uses.salience(fact, createdAt, reader.time).salience;
}

function rendered({ tenant }: BrowseContext, fact: FactRow): string {
  const { predicate, negated } = fact.relation;
  return renderAtom({ predicate, args: tenant.facts.argsOf(fact), negated });
}

/** The derivable conclusions of the query's predicate that are not stored, of every arity and truth value. */
async function conclusions(
  context: BrowseContext,
  query: ListFactsQuery,
  scope: ScopeChoice,
): Promise<Entry[]> {
  const { reasoner } = context;
  const found: StoredFact[] = [];
  for (const of of reasoner.program.conclusionsOf(query.predicate as string)) {
    if (query.truthVal !== null && of.negated === query.truthVal) continue;
    const args = Array.from({ length: of.arity }, (_, position) => `?v${position}`);
    found.push(
      ...(await conclusionsOf(context, { predicate: of.predicate, args, negated: of.negated }, scope)),
    );
  }
  const part = query.q?.toLowerCase() ?? null;
  const firstTie = 2 ** 32;
  const listed = found
    .map((conclusion) => ({ conclusion, atom: atomOf(conclusion) }))
    .filter(({ atom }) => part === null || atom.toLowerCase().includes(part))
    .sort((left, right) => compareText(left.atom, right.atom));
  return listed.map(({ conclusion }, at) => ({
    sort:
      query.sort === 'predicate'
        ? 0
        : query.sort === 'validUntil'
          ? (conclusion.validUntil ?? Number.MAX_VALUE)
          : conclusion[query.sort],
    tie: firstTie + at,
    fact: null,
    conclusion,
  }));
}

function atomOf(fact: StoredFact): string {
  return renderAtom({ predicate: fact.predicate, args: fact.args, negated: !fact.truthVal });
}

async function conclusionsOf(
  context: BrowseContext,
  atom: { predicate: string; args: string[]; negated: boolean },
  view: ScopeChoice,
): Promise<StoredFact[]> {
  const { reasoner, reader, pacer } = context;
  const asked = question(view, [{ ...atom, naf: false }]);
  const { matches } = await reasoner.answer(asked, reader, pacer, {
    offset: 0,
    limit: null,
    withProof: false,
  });
  const derived = await reasoner.evaluate(reader, true, async (set) => {
    const builder = new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY);
    const rows: number[] = [];
    for (let row = 0; row < matches.count; row++)
      if (builder.storedFact(view, { ...atom, args: argsAt(matches, row), naf: false }) === null)
        rows.push(row);
    return { rows, proof: await builder.prove(matches, rows), facts: builder.facts };
  });
  const supports = supportOf(context, derived.proof, derived.facts);
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
function supportOf(context: BrowseContext, proof: Proof, facts: readonly FactRow[]): Support[] {
  let next = 0;
  const support: Support[] = [];
  for (const step of proof.steps) {
    let own = noSupport;
    if (step.kind === 'fact') {
      const fact = storedFact(context, facts[next++] as FactRow);
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

function writeCursor(entry: Entry): string {
  return `${entry.sort}~${entry.tie}`;
}

function readCursor(cursor: string): { sort: number; tie: number } {
  const parts = cursor.split('~').map(Number);
  const [sort, tie] = parts;
  if (
    parts.length !== 2 ||
    sort === undefined ||
    tie === undefined ||
    !Number.isFinite(sort) ||
    !Number.isFinite(tie)
  )
    throw invalid('cursor', 'a cursor is what nextCursor of the page before gave');
  return { sort, tie };
}
