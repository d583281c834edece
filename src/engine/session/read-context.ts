import type { StoredFact } from '../contract/facts.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { ListingCache } from './listing-cache.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';

/** What every read works with: one tenant of one database as a pinned reader sees it. */
export interface ReadContext {
  readonly database: DatabaseState;
  readonly tenant: TenantState;
  readonly reasoner: Reasoner;
  readonly reader: PinnedReader;
  readonly pacer: Pacer;
  readonly listings: ListingCache;
}

/** What a read needs that ends in the turn that it begins in. */
export type LookupContext = Pick<ReadContext, 'database' | 'tenant' | 'reader'>;

/** The stored fact as it is shown, its salience as of `time`. */
export function storedFact(
  context: ReadContext,
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
    importId: database.importOf(facts, fact),
    salience: uses.salience(fact, createdAt, time).salience,
    derived: false,
    provenance: null,
  };
}

export function scopeChoice(choice: { scope: string | null; unscoped: boolean }): ScopeChoice {
  if (choice.unscoped) return { kind: 'unscoped' };
  return choice.scope === null ? { kind: 'all' } : { kind: 'scope', scope: choice.scope };
}

/** Which facts a question or a window is about, as in every request. */
export interface ViewFields {
  readonly scope: string | null;
  readonly unscoped: boolean;
}
