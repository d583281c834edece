import { type ReadContext, storedFact } from '../session/read-context.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { Category, ContextEntry } from '../contract/memory.ts';
import type { FactRow } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';

/** Entries of windows and of memory. */

/** Facts asserted within this time are recent, in milliseconds. */
const recentMs = 5 * 60_000;

/** The entry of a stored fact. `category` overrides the category of the fact itself. */
export function entryOf(context: ReadContext, fact: FactRow, category?: Category): ContextEntry {
  return entryOfStored(storedFact(context, fact), context.reader.time, category);
}

/** The entry of a listed fact or conclusion. `time`: now. */
export function entryOfStored(fact: StoredFact, time: number, category?: Category): ContextEntry {
  const { predicate, args, truthVal, scope, salience, provenance, createdAt, validFrom, validUntil } = fact;
  const negated = !truthVal;
  return {
    id: fact.id,
    predicate,
    args,
    negated,
    scope,
    salience,
    category: category ?? categoryOf(fact, time),
    charCount: renderAtom({ predicate, args, negated }).length,
    provenance,
    createdAt,
    validFrom,
    validUntil,
    metadata: fact.metadata,
  };
}

/** The first category that applies among those independent of goals. */
function categoryOf(fact: StoredFact, time: number): Category {
  if (fact.derived) return 'inferred';
  if ('consolidated' in fact.metadata) return 'consolidated';
  if (fact.validUntil !== null) return 'ephemeral';
  return time - fact.createdAt <= recentMs ? 'recent' : 'asserted';
}
