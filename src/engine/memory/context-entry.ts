import { type ReadContext, storedFact } from '../session/read-context.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { Category, ContextEntry } from '../contract/memory.ts';
import type { FactRow } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';

/** Facts as windows and memory show them. */

/** Asserted no longer ago than this counts as recent. */
const recentMs = 5 * 60_000;

/** The stored fact, as what it is by itself; what goals make of it the caller says. */
export function entryOf(context: ReadContext, fact: FactRow, category?: Category): ContextEntry {
  return entryOfStored(storedFact(context, fact), context.reader.time, category);
}

/** As `entryOf`, of a stored fact or a conclusion as they are listed. `time`: now. */
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

/** The first that fits of those that do not depend on goals. */
function categoryOf(fact: StoredFact, time: number): Category {
  if (fact.derived) return 'inferred';
  if ('consolidated' in fact.metadata) return 'consolidated';
  if (fact.validUntil !== null) return 'ephemeral';
  return time - fact.createdAt <= recentMs ? 'recent' : 'asserted';
}
