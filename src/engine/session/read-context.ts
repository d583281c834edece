import type { StoredFact } from '../contract/facts.ts';
import type { Caller } from '../base/caller.ts';
import type { TokenCounter } from '../base/token-counter.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { ListingCache } from './caches.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { PinnedReader, Reasoner, RelationCount } from '../datalog/maintain/reasoner.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { sees } from '../datalog/model/reader.ts';

/** The context of a read: one tenant of one database, as a pinned reader sees it. */
export interface ReadContext {
  readonly database: DatabaseState;
  readonly tenant: TenantState;
  readonly reasoner: Reasoner;
  readonly reader: PinnedReader;
  readonly pacer: Pacer;
  readonly listings: ListingCache;
  /** null: no provider of embeddings is configured. */
  readonly meaning: FactMeaning | null;
  readonly tokens: TokenCounter;
  /** null: what was concluded, the reasoner has. */
  readonly elsewhere: ConclusionsElsewhere | null;
}

/**
 * What questions of a tenant concluded on another thread. Empty if the state has changed since the context was pinned, or
 * if the thread does not say in time: it is about what happens to be known.
 */
export interface ConclusionsElsewhere {
  /** Conclusions whose canonical proof uses the fact, as text. */
  dependentsOf(context: ReadContext, fact: FactRow): Promise<readonly string[]>;
  counts(context: ReadContext, view: ScopeChoice): Promise<readonly RelationCount[]>;
  /** Conclusions of the view that mention one of these constants. */
  mentions(context: ReadContext, view: ScopeChoice, names: readonly string[]): Promise<readonly KnownAtoms[]>;
}

/** Conclusions of one relation, by the texts of their arguments. */
export interface KnownAtoms extends RelationShape {
  readonly atoms: readonly (readonly string[])[];
}

/** A fact and the cosine of its meaning and that of a text. */
export interface Similar {
  readonly fact: FactRow;
  readonly cosine: number;
}

/** Finds facts by what a text means. */
export interface FactMeaning {
  /** The visible facts that mean the most similar to the text, best first, at most `most`. */
  similar(context: ReadContext, view: ScopeChoice, text: string, most: number): Promise<readonly Similar[]>;
}

/** Copies of tenants' facts elsewhere, which follow every change. */
export interface FactCopies {
  /** Stored facts of the tenant changed, by number. */
  changed(tenant: TenantState, facts: readonly number[]): void;
  /** The tenant is gone, or its clock went back: what was copied is of no use. */
  forget(tenant: TenantState): void;
  /** null: the tenant has no copy. */
  conclusionsOf(
    caller: Pick<Caller, 'database' | 'tenant' | 'signal'>,
    tenant: TenantState,
  ): ConclusionsElsewhere | null;
}

/** The context of a synchronous read, which begins and ends in one turn. */
export type LookupContext = Pick<ReadContext, 'database' | 'tenant' | 'reader'>;

/** The stored fact as answers show it, with its salience as of `time`. */
export function storedFact(
  context: ReadContext,
  fact: FactRow,
  time: number = context.reader.time,
): StoredFact {
  const { database, tenant } = context;
  const { facts, uses } = tenant;
  const { createdAt, updatedAt } = database.timesOf(facts, fact);
  const { from, until } = fact.relation.boundsOf(fact.row);
  const { predicate } = fact.relation;
  const args = facts.argsOf(fact);
  return {
    id: facts.idOf(fact),
    predicate,
    args,
    ...database.declarations.names.part(predicate, args),
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

/** The scope that a request selects. */
export function scopeChoice(choice: { scope: string | null; unscoped: boolean }): ScopeChoice {
  if (choice.unscoped) return { kind: 'unscoped' };
  return choice.scope === null ? { kind: 'all' } : { kind: 'scope', scope: choice.scope };
}

/** The fields of a request that select the scope of a question or window. */
export interface ViewFields {
  readonly scope: string | null;
  readonly unscoped: boolean;
}

/** True if the reader sees the row in the view. */
export type IsVisible = (relation: StoredRelation, row: number) => boolean;

/**
 * Returns a test for rows that the context's reader sees in the view: stored, valid at its time, and of the view's
 * scope.
 */
export function visibleIn({ tenant, reader }: ReadContext, view: ScopeChoice): IsVisible {
  const scope = tenant.facts.chosenScope(view);
  if (scope === null) return (relation, row) => sees(reader, relation, row);
  return (relation, row) =>
    (relation.columns[relation.arity] as Int32Array)[row] === scope && sees(reader, relation, row);
}

const rowsBetweenBreaths = 0xfff;

/** The number of stored facts that the context's reader sees in the view. */
export async function countVisible(context: ReadContext, view: ScopeChoice): Promise<number> {
  const { tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  let count = 0;
  for (const relation of tenant.facts.relations.values()) {
    const isOpen = relation.validFrom === null && relation.validUntil === null;
    const live = isOpen && reader.overlay === null ? relation.liveIn(reader.generation) : null;
    if (live !== null && view.kind === 'all') {
      count += live;
      continue;
    }
    const rows = relation.rowsAt(reader.generation);
    for (let row = 0; row < rows; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (isVisible(relation, row)) count++;
    }
  }
  return count;
}
